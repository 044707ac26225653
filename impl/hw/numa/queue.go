package numa

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
)

const noIndex = -1

// packetQueue is the shared state of the senders to a rank: the cache line of its next slot number.
type packetQueue struct {
	lastSender     int32 // the rank whose cache has the line; none: not used yet
	slotNumberLine sim.Server
}

// takePlace takes the next slot in the queue of a rank by an atomic operation. It needs the cache
// line, which comes from the last sender after the senders that have requested it earlier. It also
// waits for all earlier stores of the core, while the line moves.
func (n *network) takePlace(p *core.Port, dst int32) {
	p.ElapseCharges() // others may send before this one does
	q := &n.stateOf(dst).packetQueue
	until, d := n.stateOf(p.ID).storesEnd, n.distance(p.ID, dst)
	if q.lastSender != p.ID && q.lastSender != noIndex {
		d = n.distance(p.ID, q.lastSender)
		line := n.Distances[d].LineTime()
		until = max(until, q.slotNumberLine.Reserve(p.Clock, line)+line)
	}
	q.lastSender = p.ID
	if until > p.Clock {
		p.Clock = until
		p.Probe.ProcessorActivityUntil(p, p.Clock, costKeys.latency[d], model.SendActivity, 0)
	}
}
