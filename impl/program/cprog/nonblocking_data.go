//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Non-blocking collective operations that move data.

func ibarrier(r *rank, a args) *pending {
	p := r.newCollective(a[0])
	p.receiveFromAll(true, func(int) mpi.Buffer { return zero })
	p.sendToAll(true, func(int) mpi.Buffer { return zero })
	return p
}

func ibcast(r *rank, a args) *pending {
	p := r.newCollective(a[4])
	p.broadcast(func() mpi.Buffer { return r.buffer(a[0], int(a[1]), a[2]) }, a[3])
	return p
}

func (p *pending) broadcast(b func() mpi.Buffer, at uintptr) {
	switch root, here, there := p.root(at); {
	case here:
		all := b()
		p.sendToAll(true, func(int) mpi.Buffer { return all })
	case there:
		p.recv(b(), root)
	}
}

// block returns the part of rank i of a buffer that has as much for each rank.
func block(b mpi.Buffer, i int) mpi.Buffer { return b.SubBuffer(i*b.Count, b.Count) }

func igather(r *rank, a args) *pending {
	p := r.newCollective(a[7])
	root, here, there := p.root(a[6])
	if here {
		all := r.blocks(p.ranks, a[3], int(a[4]), a[5])
		if p.copyRootPart(here, a[0]) {
			r.checkDisjoint(r.buffer(a[0], int(a[1]), a[2]), all.SubBuffer(0, p.ranks*all.Count))
		}
		p.receiveFromAll(a[0] == inPlace, func(i int) mpi.Buffer { return block(all, i) })
	}
	if there || p.copyRootPart(here, a[0]) {
		p.send(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	return p
}

func igatherv(r *rank, a args) *pending {
	p := r.newCollective(a[8])
	root, here, there := p.root(a[7])
	if here {
		p.receiveFromAll(a[0] == inPlace, r.parts(p.ranks, a[3], a[4], a[5], a[6]).part)
	}
	if there || p.copyRootPart(here, a[0]) {
		p.send(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	return p
}

// copyRootPart reports whether a root has a part of its own, which is not in place.
func (p *pending) copyRootPart(here bool, buffer uintptr) bool {
	return here && p.me >= 0 && buffer != inPlace
}

// receiveFromAll receives a part from each rank, but from this one itself if its part is in place.
func (p *pending) receiveFromAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.me {
			p.recv(part(i), i)
		}
	}
}

// sendToAll sends a part to each rank in the same way.
func (p *pending) sendToAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.me {
			p.send(part(i), i)
		}
	}
}

func iscatter(r *rank, a args) *pending {
	p := r.newCollective(a[7])
	root, here, there := p.root(a[6])
	var all mpi.Buffer
	if here {
		all = r.blocks(p.ranks, a[0], int(a[1]), a[2])
	}
	if there || p.copyRootPart(here, a[3]) {
		into := r.buffer(a[3], int(a[4]), a[5])
		if here {
			r.checkDisjoint(all.SubBuffer(0, p.ranks*all.Count), into)
		}
		p.recv(into, root)
	}
	if here {
		p.sendToAll(a[3] == inPlace, func(i int) mpi.Buffer { return block(all, i) })
	}
	return p
}

func iscatterv(r *rank, a args) *pending {
	p := r.newCollective(a[8])
	root, here, there := p.root(a[7])
	if there || p.copyRootPart(here, a[4]) {
		p.recv(r.buffer(a[4], int(a[5]), a[6]), root)
	}
	if here {
		p.sendToAll(a[4] == inPlace, r.parts(p.ranks, a[0], a[1], a[2], a[3]).part)
	}
	return p
}

func iallgather(r *rank, a args) *pending {
	p := r.newCollective(a[6])
	all := r.blocks(p.ranks, a[3], int(a[4]), a[5])
	if a[0] != inPlace {
		r.checkDisjoint(r.buffer(a[0], int(a[1]), a[2]), all.SubBuffer(0, p.ranks*all.Count))
	}
	p.gatherAll(a[0] == inPlace, a, func(i int) mpi.Buffer { return block(all, i) })
	return p
}

func iallgatherv(r *rank, a args) *pending {
	p := r.newCollective(a[7])
	p.gatherAll(a[0] == inPlace, a, r.parts(p.ranks, a[3], a[4], a[5], a[6]).part)
	return p
}

// gatherAll receives a part from each rank and sends this rank's part to each.
func (p *pending) gatherAll(placed bool, a args, part func(i int) mpi.Buffer) {
	p.receiveFromAll(placed, part)
	var mine mpi.Buffer
	if placed {
		mine = part(p.me)
	} else {
		mine = p.r.buffer(a[0], int(a[1]), a[2])
	}
	p.sendToAll(placed, func(int) mpi.Buffer { return mine })
}

func ialltoall(r *rank, a args) *pending {
	p := r.newCollective(a[6])
	into := r.blocks(p.ranks, a[3], int(a[4]), a[5])
	from := cloneBuffer(into)
	if a[0] != inPlace {
		from = r.blocks(p.ranks, a[0], int(a[1]), a[2])
		r.checkDisjoint(from.SubBuffer(0, p.ranks*from.Count), into.SubBuffer(0, p.ranks*into.Count))
	}
	p.receiveFromAll(false, func(i int) mpi.Buffer { return block(into, i) })
	p.sendToAll(false, func(i int) mpi.Buffer { return block(from, i) })
	return p
}

func ialltoallv(r *rank, a args) *pending {
	p := r.newCollective(a[8])
	into := r.parts(p.ranks, a[4], a[5], a[6], a[7])
	from := into
	if a[0] == inPlace {
		from.all = cloneBuffer(into.all)
	} else {
		from = r.parts(p.ranks, a[0], a[1], a[2], a[3])
	}
	p.receiveFromAll(false, into.part)
	p.sendToAll(false, from.part)
	return p
}

func ialltoallw(r *rank, a args) *pending {
	p := r.newCollective(a[8])
	into := r.buffers(a[4], a[5], r.countsAt(a[6], p.ranks), a[7])
	from := make([]mpi.Buffer, len(into))
	if a[0] == inPlace {
		for i := range into {
			from[i] = flatCopy(into[i])
		}
	} else {
		from = r.buffers(a[0], a[1], r.countsAt(a[2], p.ranks), a[3])
	}
	p.receiveFromAll(false, func(i int) mpi.Buffer { return into[i] })
	p.sendToAll(false, func(i int) mpi.Buffer { return from[i] })
	return p
}
