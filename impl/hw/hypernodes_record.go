package hw

import (
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// names gives names to all that transfers wait for.
func (n *hypernodes) names(r *Recorder) {
	for i := range n.out {
		r.names(&n.out[i], "block %d out", i)
		r.names(&n.in[i], "block %d in", i)
	}
	for i := range n.rings {
		r.names(&n.rings[i], "ring %d", i)
	}
	for i := range n.regs {
		r.names(&n.regs[i], "rank %d counters", i)
	}
}

// priced is the name of what the memory of a tier costs.
func priced(t model.Tier, key string) string { return "hypernodes." + t.String() + "." + key }

// moves says that the processor has started to send, get or put something and now moves it.
func (l *lane) moves(p *port, x any, t model.Tier, key string) {
	p.note(priced(t, key+".start"), model.Sending)
	l.departs(x, p.clock)
	l.moving(x)
	l.start = len(l.spans)
	l.moved, l.mover, l.storing = l.carried, priced(t, key+".bandwidth"), priced(t, "settle")
}

// enters says that what the processor moves takes a part of the network for a time.
func (l *lane) enters(s *sim.Server, from, long unit.Time) {
	l.carried = l.moved
	l.hold(s, from, long, l.chunk)
}

// passed says that a chunk entered the network at a time, that the processor was through with it at another, and the network at a third.
func (l *lane) passed(entered, end, passed unit.Time) {
	l.until(entered, "network", model.Blocked, 0)
	if n := len(l.spans); n > l.start && l.spans[n-1].name == l.mover && end > l.clock { // nothing came between it and the last chunk
		s := &l.spans[n-1]
		s.long, s.bytes, l.clock = s.long+end-l.clock, s.bytes+l.chunk, end
	}
	l.until(end, l.mover, model.Sending, l.chunk)
	l.until(passed, "network", model.Blocked, 0)
}

// rounds says what a processor that moved the bytes of an access has waited for: until others can see them, and for the ring.
func (l *lane) rounds(p *port, x *access, t model.Tier, round unit.Time) {
	l.until(p.clock-round, priced(t, "latency"), model.Sending, 0)
	p.note("hypernodes.hop", model.Sending)
	l.lands(x, p.clock)
}

// takesOff says that a processor took a packet with so many bytes off the network, and how long it took for these.
func (l *lane) takesOff(p *port, t model.Tier, fetch unit.Time, bytes int) {
	l.waited()
	l.until(p.clock-fetch, priced(t, "receive"), model.Receiving, 0)
	l.until(p.clock, priced(t, "fetch"), model.Receiving, bytes)
}
