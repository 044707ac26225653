package shm

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
)

// exitNotice is the end of another rank's program, if this rank has asked for a notice.
type exitNotice struct {
	rank        int
	head        device.Head
	isDelivered bool
}

// NotifyExit implements device.Port. The rank itself polls whether others have ended.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.ExitIfJobFailed()
	p.CheckRank(rank)
	known := func(e exitNotice) bool { return e.rank == rank && !e.isDelivered }
	if rank == p.Rank() || slices.ContainsFunc(p.exitNotices, known) {
		return
	}
	p.state.awaitsExit[rank].Store(true)
	p.exitNotices = append(p.exitNotices, exitNotice{rank: rank, head: head})
}

// hasExits reports whether a rank has ended whose exit this rank must be notified of.
func (p *port) hasExits() bool {
	return slices.ContainsFunc(p.exitNotices, func(e exitNotice) bool { return !e.isDelivered && p.ranks[e.rank].hasEnded.Load() })
}

// deliverExits moves all that such ranks have sent to the inbox, followed by the notices of their
// exits. It reports whether there were any.
func (p *port) deliverExits() bool {
	found := false
	for i := range p.exitNotices {
		e := &p.exitNotices[i]
		if e.isDelivered || !p.ranks[e.rank].hasEnded.Load() {
			continue
		}
		r := slices.IndexFunc(p.readers, func(r reader) bool { return r.writerRank == e.rank })
		p.drainRing(&p.readers[r])
		p.EnqueueCopy(e.rank, &e.head, nil)
		e.isDelivered, found = true, true
	}
	return found
}

// removeDeliveredExits removes the notices that were delivered. It is called when the rank's
// wait has ended, so that the rank is not mistaken for one that waits for nothing.
func (p *port) removeDeliveredExits() {
	if p.exitNotices == nil {
		return
	}
	p.exitNotices = slices.DeleteFunc(p.exitNotices, func(e exitNotice) bool {
		if e.isDelivered {
			p.state.awaitsExit[e.rank].Store(false)
		}
		return e.isDelivered
	})
}
