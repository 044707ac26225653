package shm

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
)

// exit is the end of another rank's program, if this rank has asked for a notice.
type exit struct {
	rank int
	head device.Head
	told bool
}

// NotifyExit implements device.Port. The rank itself looks whether others have ended.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.Leave()
	p.Check(rank)
	known := func(e exit) bool { return e.rank == rank && !e.told }
	if rank == p.Rank() || slices.ContainsFunc(p.exits, known) {
		return
	}
	p.me.awaitsExit[rank].Store(true)
	p.exits = append(p.exits, exit{rank: rank, head: head})
}

// exited reports whether a rank has ended whose exit this rank must be notified of.
func (p *port) exited() bool {
	return slices.ContainsFunc(p.exits, func(e exit) bool { return !e.told && p.members[e.rank].ended.Load() })
}

// takeExits moves all that such ranks have sent to the inbox, followed by the notices of their
// exits. It reports whether there were any.
func (p *port) takeExits() bool {
	found := false
	for i := range p.exits {
		e := &p.exits[i]
		if e.told || !p.members[e.rank].ended.Load() {
			continue
		}
		r := slices.IndexFunc(p.readers, func(r reader) bool { return r.src == e.rank })
		p.empty(&p.readers[r])
		p.PutCopy(e.rank, &e.head, nil)
		e.told, found = true, true
	}
	return found
}

// forgetExits removes the exits that the rank was told about. It is called when the rank's wait has
// ended, so that the rank is not mistaken for one that waits for nothing.
func (p *port) forgetExits() {
	if p.exits == nil {
		return
	}
	p.exits = slices.DeleteFunc(p.exits, func(e exit) bool {
		if e.told {
			p.me.awaitsExit[e.rank].Store(false)
		}
		return e.told
	})
}
