package mpi

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// nodes returns which ranks of the communicator are near each other. A rank knows of itself only how near others are, so at the first time they tell each
// other, as a part of the operation that wants to know: the first rank of its node, of each.
func (r *round) nodes() *collective.Nodes {
	x := r.extra()
	if x.nodes != nil {
		return x.nodes
	}
	first := 0
	for r.e.Port().Tier(r.world(first)) != model.Intra {
		first++ // to the rank itself at most
	}
	const word = 4
	mine, all := make([]byte, word), make([]byte, word*r.size)
	binary.LittleEndian.PutUint32(mine, uint32(first))
	tell := &round{Comm: r.Comm, operation: r.operation, root: r.root, sign: engine.Signature(Byte.Sign()), tag: r.tag}
	tell.carry(telling, collective.Job{Ranks: r.size, Bytes: word}, mine, all)
	names := make([]int, r.size)
	for i := range names {
		names[i] = int(binary.LittleEndian.Uint32(all[word*i:]))
	}
	x.nodes = collective.NewNodes(names)
	return x.nodes
}

var telling = collective.Named(collective.Allgather, "bruck")
