package shm

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
)

// mourned is a rank of whose end another is to hear.
type mourned struct {
	rank  int
	head  device.Head
	heard bool
}

// NotifyExit implements device.Port. It is the rank itself that looks whether others have ended.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.leave()
	p.check(rank)
	known := func(m mourned) bool { return m.rank == rank && !m.heard }
	if rank == p.rank || slices.ContainsFunc(p.mourns, known) {
		return
	}
	p.me.mourns[rank].Store(true)
	p.mourns = append(p.mourns, mourned{rank: rank, head: head})
}

// bereaved reports whether a rank has ended of whose end this one is to hear.
func (p *port) bereaved() bool {
	for i := range p.mourns {
		if m := &p.mourns[i]; !m.heard && p.members[m.rank].ended.Load() {
			return true
		}
	}
	return false
}

// bury takes in all that such ranks have sent, and that they have ended, to be received later. It reports whether there were any.
func (p *port) bury() bool {
	found := false
	for i := range p.mourns {
		m := &p.mourns[i]
		if m.heard || !p.members[m.rank].ended.Load() {
			continue
		}
		r := slices.IndexFunc(p.readers, func(r reader) bool { return r.src == m.rank })
		p.empty(&p.readers[r])
		p.stash.put(p.pool.take(m.rank, &m.head, 0))
		m.heard, found = true, true
	}
	return found
}

// goOn forgets those of whose end the rank has heard. That comes when its wait is over, so that nobody takes it for one that waits and has nothing to hear.
func (p *port) goOn() {
	if p.mourns == nil {
		return
	}
	p.mourns = slices.DeleteFunc(p.mourns, func(m mourned) bool {
		if m.heard {
			p.me.mourns[m.rank].Store(false)
		}
		return m.heard
	})
}
