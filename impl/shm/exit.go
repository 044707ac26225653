package shm

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
)

// exit is the end of another rank's program, of which this one has asked to hear.
type exit struct {
	rank  int
	head  device.Head
	heard bool
}

// NotifyExit implements device.Port. The rank itself looks whether others have ended.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.Leave()
	p.Check(rank)
	known := func(e exit) bool { return e.rank == rank && !e.heard }
	if rank == p.Rank() || slices.ContainsFunc(p.exits, known) {
		return
	}
	p.me.awaitsExit[rank].Store(true)
	p.exits = append(p.exits, exit{rank: rank, head: head})
}

// exited reports whether a rank has ended of which this one is to hear that.
func (p *port) exited() bool {
	return slices.ContainsFunc(p.exits, func(e exit) bool { return !e.heard && p.members[e.rank].ended.Load() })
}

// takeExits puts aside all that such ranks have sent, and that they have ended. It reports whether there were any.
func (p *port) takeExits() bool {
	found := false
	for i := range p.exits {
		e := &p.exits[i]
		if e.heard || !p.members[e.rank].ended.Load() {
			continue
		}
		r := slices.IndexFunc(p.readers, func(r reader) bool { return r.src == e.rank })
		p.empty(&p.readers[r])
		p.PutCopy(e.rank, &e.head, nil)
		e.heard, found = true, true
	}
	return found
}

// forgetExits forgets those of which the rank has heard. That comes when its wait is over, so that it is not taken for one that waits
// and has nothing to hear.
func (p *port) forgetExits() {
	if p.exits == nil {
		return
	}
	p.exits = slices.DeleteFunc(p.exits, func(e exit) bool {
		if e.heard {
			p.me.awaitsExit[e.rank].Store(false)
		}
		return e.heard
	})
}
