package collective

import "slices"

// element is how many bytes a number has that is combined, wherever data can be divided into such.
const element = 8

// OperationNamed returns the operation of a name, and whether there is one.
func OperationNamed(name string) (Operation, bool) {
	i := slices.Index(operationNames[:], name)
	return Operation(max(i, 0)), i >= 0
}

// Combines says whether the operation combines elements.
func (o Operation) Combines() bool {
	return o == Reduce || o == Allreduce || o == ReduceScatter || o == Scan
}

// ByBlocks says whether the bytes of a job are those of a block, of which there is one for each rank.
func (o Operation) ByBlocks() bool {
	return o == Scatter || o == Gather || o == Allgather || o == Alltoall || o == ReduceScatter
}

// Job returns the job of the operation that is meant where nothing is said but ranks, their nodes, if they are known, and bytes, as in measurements and
// predictions of it: the root is rank 0, and what is combined are elements of 8 bytes, or of one where bytes are no multiple of that. A barrier has no bytes.
func (o Operation) Job(ranks, bytes int, nodes *Nodes) Job {
	j := Job{Ranks: ranks, Bytes: bytes, Unit: 1, Nodes: nodes}
	if o == Barrier {
		j.Bytes = 0
	}
	if o.Combines() && j.Bytes%element == 0 {
		j.Unit = element
	}
	return j
}
