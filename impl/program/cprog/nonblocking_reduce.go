//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Non-blocking reductions.

// combine receives operands of the ranks from first on, up to and without last, and leaves their
// combination, in the order of ranks, in out when all are there. mine is that of this rank.
func (p *pending) combine(first, last int, mine, out mpi.Buffer, o *mpi.Op, datatype uintptr) {
	operands := make([]mpi.Buffer, last-first)
	for i := range operands {
		if first+i == p.me {
			operands[i] = flatCopy(mine)
			continue
		}
		operands[i] = flatCopy(out)
		p.recv(operands[i], first+i)
	}
	p.finish = func() {
		if len(operands) == 0 || out.Count == 0 {
			return
		}
		p.r.combined = datatype
		result := operands[len(operands)-1]
		for i := len(operands) - 2; i >= 0; i-- {
			p.c.ReduceLocal(o, operands[i], result)
		}
		flat := make([]byte, result.Len())
		result.Pack(flat, 0)
		out.Unpack(flat, 0)
	}
}

// checkOp fails if an operation is not for elements of a type.
func (r *rank) checkOp(o *mpi.Op, b mpi.Buffer) {
	if err := o.Check(b.Type); err != nil {
		r.raiseError(mpi.ErrOp, "%v", err)
	}
}

// reductionPair returns the buffers of a reduction by its first four arguments.
func (r *rank) reductionPair(a args, o *mpi.Op) (in, out mpi.Buffer) {
	in, out = r.pair(a[0], a[1], int(a[2]), a[3])
	r.checkOp(o, out)
	r.checkDisjoint(in, out)
	return in, out
}

func ireduce(r *rank, a args) *pending {
	p := r.newCollective(a[6])
	o := r.op(a[4], a[3])
	switch root, here, there := p.root(a[5]); {
	case there:
		b := r.buffer(a[0], int(a[2]), a[3])
		r.checkOp(o, b)
		p.send(b, root)
	case here && p.me < 0:
		out := r.buffer(a[1], int(a[2]), a[3])
		r.checkOp(o, out)
		p.combine(0, p.ranks, out, out, o, a[3])
	case here:
		in, out := r.reductionPair(a, o)
		p.combine(0, p.ranks, in, out, o, a[3])
	}
	return p
}

func iallreduce(r *rank, a args) *pending {
	p := r.newCollective(a[5])
	o := r.op(a[4], a[3])
	in, out := r.reductionPair(a, o)
	p.combine(0, p.ranks, in, out, o, a[3])
	p.sendToAll(true, func(int) mpi.Buffer { return in })
	return p
}

func iscan(r *rank, a args) *pending   { return r.scan(a, 1) }
func iexscan(r *rank, a args) *pending { return r.scan(a, 0) }

// scan combines the operands of the ranks before this one, and of as many behind.
func (r *rank) scan(a args, own int) *pending {
	p := r.newCollective(a[5])
	o := r.op(a[4], a[3])
	in, out := r.reductionPair(a, o)
	me := p.c.Rank()
	p.combine(0, me+own, in, out, o, a[3])
	for i := me + 1; i < p.c.Size(); i++ {
		p.send(in, i)
	}
	return p
}

func ireduceScatter(r *rank, a args) *pending {
	p := r.newCollective(a[5])
	counts := r.countsAt(a[2], p.c.Size())
	for _, n := range counts {
		r.checkCount(n, r.datatype(a[3]))
	}
	return p.reduceParts(a, counts)
}

func ireduceScatterBlock(r *rank, a args) *pending {
	p := r.newCollective(a[5])
	counts := make([]int, p.c.Size())
	r.checkCount(int(a[2]), r.datatype(a[3]))
	for i := range counts {
		counts[i] = int(a[2])
	}
	return p.reduceParts(a, counts)
}

func (p *pending) reduceParts(a args, counts []int) *pending {
	r, o := p.r, p.r.op(a[4], a[3])
	offsets, total := make([]int, len(counts)), 0
	for i, n := range counts {
		offsets[i] = total
		total += n
	}
	var in mpi.Buffer
	if a[0] == inPlace {
		in = flatCopy(r.buffer(a[1], total, a[3]))
	} else {
		in = r.buffer(a[0], total, a[3])
	}
	out := r.buffer(a[1], counts[p.c.Rank()], a[3])
	r.checkOp(o, out)
	if p.me < 0 { // the other group divides it in another way: it gets all
		whole := flatCopy(in)
		p.combine(0, p.ranks, whole, whole, o, a[3])
		all := p.finish
		p.finish = func() {
			all()
			mine := whole.SubBuffer(offsets[p.c.Rank()], counts[p.c.Rank()])
			flat := make([]byte, mine.Len())
			mine.Pack(flat, 0)
			out.Unpack(flat, 0)
		}
		p.sendToAll(true, func(int) mpi.Buffer { return in })
		return p
	}
	part := func(i int) mpi.Buffer { return in.SubBuffer(offsets[i], counts[i]) }
	p.combine(0, p.ranks, part(p.me), out, o, a[3])
	p.sendToAll(true, part)
	return p
}
