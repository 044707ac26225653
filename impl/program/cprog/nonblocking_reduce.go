//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Nonblocking reductions.

// receiveAndCombine starts to receive the operands of ranks first to last-1. When all have arrived
// it combines them, in the order of ranks, into out. mine is this rank's operand.
func (p *pendingOperation) receiveAndCombine(first, last int, mine, out mpi.Buffer, o *mpi.Op, datatype uintptr) {
	operands := make([]mpi.Buffer, last-first)
	for i := range operands {
		if first+i == p.myRank {
			operands[i] = packedCopy(mine)
			continue
		}
		operands[i] = packedCopy(out)
		p.startRecv(operands[i], first+i)
	}
	p.onCompletion = func() {
		if len(operands) == 0 || out.Count == 0 {
			return
		}
		p.rank.combinedType = datatype
		result := operands[len(operands)-1]
		for i := len(operands) - 2; i >= 0; i-- {
			p.comm.ReduceLocal(o, operands[i], result)
		}
		flat := make([]byte, result.Len())
		result.Pack(flat, 0)
		out.Unpack(flat, 0)
	}
}

// reductionBuffers returns the buffers in the first four arguments of a reduction.
func (r *rank) reductionBuffers(a args, o *mpi.Op) (in, out mpi.Buffer) {
	in, out = r.resultBuffersAt(a[0], a[1], int(a[2]), a[3])
	r.currentCall.comm.CheckOp(o, out.Type)
	r.checkDisjoint(in, out)
	return in, out
}

func ireduce(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[6])
	o := r.op(a[4], a[3])
	switch root, here, there := p.rootRoles(a[5]); {
	case there:
		b := r.buffer(a[0], int(a[2]), a[3])
		r.currentCall.comm.CheckOp(o, b.Type)
		p.startSend(b, root)
	case here && p.myRank < 0:
		out := r.buffer(a[1], int(a[2]), a[3])
		r.currentCall.comm.CheckOp(o, out.Type)
		p.receiveAndCombine(0, p.ranks, out, out, o, a[3])
	case here:
		in, out := r.reductionBuffers(a, o)
		p.receiveAndCombine(0, p.ranks, in, out, o, a[3])
	}
	return p
}

func iallreduce(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[5])
	o := r.op(a[4], a[3])
	in, out := r.reductionBuffers(a, o)
	p.receiveAndCombine(0, p.ranks, in, out, o, a[3])
	p.startSendsToAll(true, func(int) mpi.Buffer { return in })
	return p
}

func iscan(r *rank, a args) *pendingOperation   { return r.startScan(a, 1) }
func iexscan(r *rank, a args) *pendingOperation { return r.startScan(a, 0) }

// startScan combines the operands of the ranks before this one and the next own operands.
func (r *rank) startScan(a args, own int) *pendingOperation {
	p := r.newCollective(a[5])
	o := r.op(a[4], a[3])
	in, out := r.reductionBuffers(a, o)
	me := p.comm.Rank()
	p.receiveAndCombine(0, me+own, in, out, o, a[3])
	for i := me + 1; i < p.comm.Size(); i++ {
		p.startSend(in, i)
	}
	return p
}

func ireduceScatter(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[5])
	counts := r.countsAt(a[2], p.comm.Size())
	for _, n := range counts {
		r.checkCount(n, r.datatype(a[3]))
	}
	return p.startReduceScatter(a, counts)
}

func ireduceScatterBlock(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[5])
	counts := make([]int, p.comm.Size())
	r.checkCount(int(a[2]), r.datatype(a[3]))
	for i := range counts {
		counts[i] = int(a[2])
	}
	return p.startReduceScatter(a, counts)
}

func (p *pendingOperation) startReduceScatter(a args, counts []int) *pendingOperation {
	r, o := p.rank, p.rank.op(a[4], a[3])
	offsets, total := make([]int, len(counts)), 0
	for i, n := range counts {
		offsets[i] = total
		total += n
	}
	var in mpi.Buffer
	if a[0] == inPlace {
		in = packedCopy(r.buffer(a[1], total, a[3]))
	} else {
		in = r.buffer(a[0], total, a[3])
	}
	out := r.buffer(a[1], counts[p.comm.Rank()], a[3])
	r.currentCall.comm.CheckOp(o, out.Type)
	r.checkDisjoint(in, out)
	if p.myRank < 0 { // the other group divides the result differently, so it gets all of it
		whole := packedCopy(in)
		p.receiveAndCombine(0, p.ranks, whole, whole, o, a[3])
		all := p.onCompletion
		p.onCompletion = func() {
			all()
			mine := whole.SubBuffer(offsets[p.comm.Rank()], counts[p.comm.Rank()])
			flat := make([]byte, mine.Len())
			mine.Pack(flat, 0)
			out.Unpack(flat, 0)
		}
		p.startSendsToAll(true, func(int) mpi.Buffer { return in })
		return p
	}
	part := func(i int) mpi.Buffer { return in.SubBuffer(offsets[i], counts[i]) }
	p.receiveAndCombine(0, p.ranks, part(p.myRank), out, o, a[3])
	p.startSendsToAll(true, part)
	return p
}
