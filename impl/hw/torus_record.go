package hw

import (
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model/unit"
)

// names gives names to all that packets wait for.
func (n *torus) names(r *Recorder) {
	r.called("torus.send.bandwidth", "torus.receive")
	for i := range n.inject {
		r.names(&n.engines[i], "node %d engine", i)
		r.names(&n.inject[i], "node %d inject", i)
		for d, way := range []string{"+x", "-x", "+y", "-y", "+z", "-z"} {
			r.names(&n.links[6*i+d], "node %d link %s", i, way)
		}
		r.names(&n.eject[i], "node %d eject", i)
	}
	for i := range n.regs {
		r.names(&n.regs[i], "rank %d counters", i)
	}
}

// moved writes down how a chunk of the oldest packet that leaves a processor has just moved, and how late.
func (n *torus) moved(p *port, pk *packet, late unit.Time, last bool) {
	entered := n.noted(pk, p.rank, pk.dst, &pk.wire)
	p.lane.left(entered, late, last)
}

// noted writes down how a chunk of a packet or of an access has just moved: it was the last to take each part of its way. It returns when
// the chunk entered the network.
func (n *torus) noted(x any, from, to int32, w *wire) (entered unit.Time) {
	r := n.j.record
	c := w.pos - max(w.pos-1, 0)/n.Chunk*n.Chunk
	hold := n.link.time(c)
	a, b := n.node(from), n.node(to)
	r.moving(x)
	took := func(s *sim.Server) unit.Time {
		t := s.Free() - hold
		r.hold(s, t, hold, c)
		return t
	}
	if entered = took(&n.inject[a]); w.pos == c {
		r.departs(x, entered)
	}
	n.along(a, n.way(a, b), func(link int, _ unit.Time) { took(&n.links[link]) })
	took(&n.eject[b])
	r.lands(x, w.at) // of all chunks the last counts
	return entered
}

// engaged writes down that an access takes the engine of its node for a time.
func (n *torus) engaged(x *access, at, long unit.Time) {
	r := n.j.record
	r.moving(x)
	r.hold(&n.engines[n.node(x.src)], at, long, len(x.b))
	if x.get {
		r.signals(x, "get", x.src, x.dst, at, at+n.latency(x.src, x.dst))
	}
}
