package hw

import (
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// names gives names to all that packets wait for.
func (n *torus) names() {
	for i := range n.inject {
		n.j.probe.names(&n.engines[i], "node %d engine", i)
		n.j.probe.names(&n.inject[i], "node %d inject", i)
		for d, way := range []string{"+x", "-x", "+y", "-y", "+z", "-z"} {
			n.j.probe.names(&n.links[6*i+d], "node %d link %s", i, way)
		}
		n.j.probe.names(&n.eject[i], "node %d eject", i)
	}
	for i := range n.regs {
		n.j.probe.names(&n.regs[i], "rank %d counters", i)
	}
}

// packetChunk and accessChunk report how a chunk has just moved.
type (
	packetChunk packet
	accessChunk access
)

// report says how late the network took the chunk.
func (c *packetChunk) report(late uint64) {
	pk := (*packet)(c)
	p := &pk.j.ports[pk.Src]
	entered := pk.j.net.(*torus).moved(pk, p.rank, pk.dst, &pk.wire)
	p.probe.delays(p, pk, entered-unit.Time(late), unit.Time(late), "network", model.Blocked)
}

func (c *accessChunk) report(uint64) {
	x := (*access)(c)
	from, to := x.src, x.dst
	if x.get {
		from, to = to, from
	}
	x.j.net.(*torus).moved(x, from, to, &x.wire)
}

// moved tells the probe how a chunk of a packet or of an access has just moved: it was the last to take each part of its way. It
// returns when the chunk entered the network.
func (n *torus) moved(x any, from, to int32, w *wire) (entered unit.Time) {
	c := w.pos - max(w.pos-1, 0)/n.Chunk*n.Chunk
	hold := n.link.time(c)
	a, b := n.node(from), n.node(to)
	took := func(s *sim.Server) unit.Time {
		t := s.Free() - hold
		n.j.probe.takes(s, x, model.Carrying, t, hold, c)
		return t
	}
	if entered = took(&n.inject[a]); w.pos == c {
		n.j.probe.departs(x, entered)
	}
	n.along(a, n.way(a, b), func(link int, _ unit.Time) { took(&n.links[link]) })
	took(&n.eject[b])
	n.j.probe.lands(x, w.at) // of all chunks the last counts
	return entered
}
