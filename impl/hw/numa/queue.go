package numa

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
)

const none = -1

// queue is what senders share of the queue of a rank: the line from which they take its places.
type queue struct {
	lastSender int32 // in whose cache the line is; none: nobody has sent
	line       sim.Server
}

// takePlace lets a sender take the next place in the queue of a rank, by an atomic operation. That
// needs the line of the queue, which comes from the last sender, after other senders that have
// asked for it before, and all earlier stores of the core to have taken effect. The line comes
// meanwhile.
func (n *network) takePlace(p *core.Port, dst int32) {
	p.ElapseCharges() // others may send before this one does
	q := &n.stateOf(dst).queue
	until, d := n.stateOf(p.ID).storesEnd, n.distance(p.ID, dst)
	if q.lastSender != p.ID && q.lastSender != none {
		d = n.distance(p.ID, q.lastSender)
		line := n.Distances[d].LineTime()
		until = max(until, q.line.Reserve(p.Clock, line)+line)
	}
	q.lastSender = p.ID
	if until > p.Clock {
		p.Clock = until
		p.Probe.ProcessorActivityUntil(p, p.Clock, costKeys.latency[d], model.SendActivity, 0)
	}
}
