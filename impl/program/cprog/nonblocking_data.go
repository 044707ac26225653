//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Non-blocking collective operations that move data.

func ibarrier(r *rank, a args) {
	p := r.pending(a[0])
	p.fromAll(true, func(int) mpi.Buffer { return zero })
	p.toAll(true, func(int) mpi.Buffer { return zero })
	p.under(a[1])
}

func ibcast(r *rank, a args) {
	p := r.pending(a[4])
	p.broadcast(func() mpi.Buffer { return r.buffer(a[0], int(a[1]), a[2]) }, a[3])
	p.under(a[5])
}

func (p *pending) broadcast(b func() mpi.Buffer, at uintptr) {
	switch root, here, there := p.root(at); {
	case here:
		all := b()
		p.toAll(true, func(int) mpi.Buffer { return all })
	case there:
		p.recv(b(), root)
	}
}

// block returns the part of rank i of a buffer that has as much for each rank.
func block(b mpi.Buffer, i int) mpi.Buffer { return b.Part(i*b.Count, b.Count) }

func igather(r *rank, a args) {
	p := r.pending(a[7])
	root, here, there := p.root(a[6])
	if here {
		all := r.blocks(p.ranks, a[3], int(a[4]), a[5])
		p.fromAll(a[0] == inPlace, func(i int) mpi.Buffer { return block(all, i) })
	}
	if there || p.alsoMine(here, a[0]) {
		p.send(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	p.under(a[8])
}

func igatherv(r *rank, a args) {
	p := r.pending(a[8])
	root, here, there := p.root(a[7])
	if here {
		p.fromAll(a[0] == inPlace, r.parts(p.ranks, a[3], a[4], a[5], a[6]).part)
	}
	if there || p.alsoMine(here, a[0]) {
		p.send(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	p.under(a[9])
}

// alsoMine reports whether a root has a part of its own, which is not in place.
func (p *pending) alsoMine(here bool, buffer uintptr) bool {
	return here && p.me >= 0 && buffer != inPlace
}

// fromAll receives a part from each rank, but from this one itself if its part is in place.
func (p *pending) fromAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.me {
			p.recv(part(i), i)
		}
	}
}

// toAll sends a part to each rank in the same way.
func (p *pending) toAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.me {
			p.send(part(i), i)
		}
	}
}

func iscatter(r *rank, a args) {
	p := r.pending(a[7])
	root, here, there := p.root(a[6])
	if there || p.alsoMine(here, a[3]) {
		p.recv(r.buffer(a[3], int(a[4]), a[5]), root)
	}
	if here {
		all := r.blocks(p.ranks, a[0], int(a[1]), a[2])
		p.toAll(a[3] == inPlace, func(i int) mpi.Buffer { return block(all, i) })
	}
	p.under(a[8])
}

func iscatterv(r *rank, a args) {
	p := r.pending(a[8])
	root, here, there := p.root(a[7])
	if there || p.alsoMine(here, a[4]) {
		p.recv(r.buffer(a[4], int(a[5]), a[6]), root)
	}
	if here {
		p.toAll(a[4] == inPlace, r.parts(p.ranks, a[0], a[1], a[2], a[3]).part)
	}
	p.under(a[9])
}

func iallgather(r *rank, a args) {
	p := r.pending(a[6])
	all := r.blocks(p.ranks, a[3], int(a[4]), a[5])
	p.gatherAll(a[0] == inPlace, a, func(i int) mpi.Buffer { return block(all, i) })
	p.under(a[7])
}

func iallgatherv(r *rank, a args) {
	p := r.pending(a[7])
	p.gatherAll(a[0] == inPlace, a, r.parts(p.ranks, a[3], a[4], a[5], a[6]).part)
	p.under(a[8])
}

// gatherAll receives a part from each rank and sends this rank's part to each.
func (p *pending) gatherAll(placed bool, a args, part func(i int) mpi.Buffer) {
	p.fromAll(placed, part)
	var mine mpi.Buffer
	if placed {
		mine = part(p.me)
	} else {
		mine = p.r.buffer(a[0], int(a[1]), a[2])
	}
	p.toAll(placed, func(int) mpi.Buffer { return mine })
}

func ialltoall(r *rank, a args) {
	p := r.pending(a[6])
	into := r.blocks(p.ranks, a[3], int(a[4]), a[5])
	from := clone(into)
	if a[0] != inPlace {
		from = r.blocks(p.ranks, a[0], int(a[1]), a[2])
	}
	p.fromAll(false, func(i int) mpi.Buffer { return block(into, i) })
	p.toAll(false, func(i int) mpi.Buffer { return block(from, i) })
	p.under(a[7])
}

func ialltoallv(r *rank, a args) {
	p := r.pending(a[8])
	into := r.parts(p.ranks, a[4], a[5], a[6], a[7])
	from := into
	if a[0] == inPlace {
		from.all = clone(into.all)
	} else {
		from = r.parts(p.ranks, a[0], a[1], a[2], a[3])
	}
	p.fromAll(false, into.part)
	p.toAll(false, from.part)
	p.under(a[9])
}

func ialltoallw(r *rank, a args) {
	p := r.pending(a[8])
	into := r.buffers(a[4], a[5], ints(a[6], p.ranks), a[7])
	from := make([]mpi.Buffer, len(into))
	if a[0] == inPlace {
		for i := range into {
			from[i] = flatCopy(into[i])
		}
	} else {
		from = r.buffers(a[0], a[1], ints(a[2], p.ranks), a[3])
	}
	p.fromAll(false, func(i int) mpi.Buffer { return into[i] })
	p.toAll(false, func(i int) mpi.Buffer { return from[i] })
	p.under(a[9])
}
