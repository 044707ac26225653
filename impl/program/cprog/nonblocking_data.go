//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Nonblocking collective operations that move data.

func ibarrier(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[0])
	p.startReceivesFromAll(true, func(int) mpi.Buffer { return emptyBuffer })
	p.startSendsToAll(true, func(int) mpi.Buffer { return emptyBuffer })
	return p
}

func ibcast(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[4])
	p.broadcast(func() mpi.Buffer { return r.buffer(a[0], int(a[1]), a[2]) }, a[3])
	return p
}

func (p *pendingOperation) broadcast(b func() mpi.Buffer, at uintptr) {
	switch root, here, there := p.rootRoles(at); {
	case here:
		all := b()
		p.startSendsToAll(true, func(int) mpi.Buffer { return all })
	case there:
		p.startRecv(b(), root)
	}
}

// rankBlock returns the part of rank i of a buffer that has equal parts for all ranks.
func rankBlock(b mpi.Buffer, i int) mpi.Buffer { return b.SubBuffer(i*b.Count, b.Count) }

func igather(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[7])
	root, here, there := p.rootRoles(a[6])
	if here {
		all := r.rankBlocksAt(p.ranks, a[3], int(a[4]), a[5])
		if p.hasRootPart(here, a[0]) {
			r.checkDisjoint(r.buffer(a[0], int(a[1]), a[2]), all.SubBuffer(0, p.ranks*all.Count))
		}
		p.startReceivesFromAll(a[0] == inPlace, func(i int) mpi.Buffer { return rankBlock(all, i) })
	}
	if there || p.hasRootPart(here, a[0]) {
		p.startSend(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	return p
}

func igatherv(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[8])
	root, here, there := p.rootRoles(a[7])
	if here {
		all := r.rankPartsAt(p.ranks, a[3], a[4], a[5], a[6])
		if p.hasRootPart(here, a[0]) {
			r.checkPartsDisjoint([]mpi.Buffer{r.buffer(a[0], int(a[1]), a[2])}, all.list())
		}
		p.startReceivesFromAll(a[0] == inPlace, all.part)
	}
	if there || p.hasRootPart(here, a[0]) {
		p.startSend(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	return p
}

// hasRootPart reports whether this rank is the root and its own part is not in place.
func (p *pendingOperation) hasRootPart(here bool, buffer uintptr) bool {
	return here && p.myRank >= 0 && buffer != inPlace
}

// startReceivesFromAll starts to receive a part from each rank. It excludes this rank if placed is
// set: its part is in place.
func (p *pendingOperation) startReceivesFromAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.myRank {
			p.startRecv(part(i), i)
		}
	}
}

// startSendsToAll starts to send a part to each rank. It excludes this rank if placed is set: its
// part is in place.
func (p *pendingOperation) startSendsToAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.myRank {
			p.startSend(part(i), i)
		}
	}
}

func iscatter(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[7])
	root, here, there := p.rootRoles(a[6])
	var all mpi.Buffer
	if here {
		all = r.rankBlocksAt(p.ranks, a[0], int(a[1]), a[2])
	}
	if there || p.hasRootPart(here, a[3]) {
		into := r.buffer(a[3], int(a[4]), a[5])
		if here {
			r.checkDisjoint(all.SubBuffer(0, p.ranks*all.Count), into)
		}
		p.startRecv(into, root)
	}
	if here {
		p.startSendsToAll(a[3] == inPlace, func(i int) mpi.Buffer { return rankBlock(all, i) })
	}
	return p
}

func iscatterv(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[8])
	root, here, there := p.rootRoles(a[7])
	var all rankParts
	if here {
		all = r.rankPartsAt(p.ranks, a[0], a[1], a[2], a[3])
	}
	if there || p.hasRootPart(here, a[4]) {
		into := r.buffer(a[4], int(a[5]), a[6])
		if here {
			r.checkPartsDisjoint(all.list(), []mpi.Buffer{into})
		}
		p.startRecv(into, root)
	}
	if here {
		p.startSendsToAll(a[4] == inPlace, all.part)
	}
	return p
}

func iallgather(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[6])
	all := r.rankBlocksAt(p.ranks, a[3], int(a[4]), a[5])
	if a[0] != inPlace {
		r.checkDisjoint(r.buffer(a[0], int(a[1]), a[2]), all.SubBuffer(0, p.ranks*all.Count))
	}
	p.startAllgather(a[0] == inPlace, a, func(i int) mpi.Buffer { return rankBlock(all, i) })
	return p
}

func iallgatherv(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[7])
	all := r.rankPartsAt(p.ranks, a[3], a[4], a[5], a[6])
	if a[0] != inPlace {
		r.checkPartsDisjoint([]mpi.Buffer{r.buffer(a[0], int(a[1]), a[2])}, all.list())
	}
	p.startAllgather(a[0] == inPlace, a, all.part)
	return p
}

// startAllgather starts to receive a part from each rank and to send this rank's part to each.
func (p *pendingOperation) startAllgather(placed bool, a args, part func(i int) mpi.Buffer) {
	p.startReceivesFromAll(placed, part)
	var mine mpi.Buffer
	if placed {
		mine = part(p.myRank)
	} else {
		mine = p.rank.buffer(a[0], int(a[1]), a[2])
	}
	p.startSendsToAll(placed, func(int) mpi.Buffer { return mine })
}

func ialltoall(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[6])
	into := r.rankBlocksAt(p.ranks, a[3], int(a[4]), a[5])
	from := cloneBuffer(into)
	if a[0] != inPlace {
		from = r.rankBlocksAt(p.ranks, a[0], int(a[1]), a[2])
		r.checkDisjoint(from.SubBuffer(0, p.ranks*from.Count), into.SubBuffer(0, p.ranks*into.Count))
	}
	p.startReceivesFromAll(false, func(i int) mpi.Buffer { return rankBlock(into, i) })
	p.startSendsToAll(false, func(i int) mpi.Buffer { return rankBlock(from, i) })
	return p
}

func ialltoallv(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[8])
	into := r.rankPartsAt(p.ranks, a[4], a[5], a[6], a[7])
	from := into
	if a[0] == inPlace {
		from.buffer = cloneBuffer(into.buffer)
	} else {
		from = r.rankPartsAt(p.ranks, a[0], a[1], a[2], a[3])
		r.checkPartsDisjoint(from.list(), into.list())
	}
	p.startReceivesFromAll(false, into.part)
	p.startSendsToAll(false, from.part)
	return p
}

func ialltoallw(r *rank, a args) *pendingOperation {
	p := r.newCollective(a[8])
	into := r.buffers(a[4], a[5], r.countsAt(a[6], p.ranks), a[7])
	from := make([]mpi.Buffer, len(into))
	if a[0] == inPlace {
		for i := range into {
			from[i] = packedCopy(into[i])
		}
	} else {
		from = r.buffers(a[0], a[1], r.countsAt(a[2], p.ranks), a[3])
		r.checkPartsDisjoint(from, into)
	}
	p.startReceivesFromAll(false, func(i int) mpi.Buffer { return into[i] })
	p.startSendsToAll(false, func(i int) mpi.Buffer { return from[i] })
	return p
}
