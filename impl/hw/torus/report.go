package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Report gives names to all that packets wait for.
func (n *network) Report(uint64) {
	for i := range n.inject {
		n.j.Probe.Names(&n.engines[i], "%snode %d engine", n.Prefix, i)
		n.j.Probe.Names(&n.inject[i], "%snode %d inject", n.Prefix, i)
		for d, way := range []string{"+x", "-x", "+y", "-y", "+z", "-z"} {
			n.j.Probe.Names(&n.links[6*i+d], "%snode %d link %s", n.Prefix, i, way)
		}
		n.j.Probe.Names(&n.eject[i], "%snode %d eject", n.Prefix, i)
	}
	for i := range n.ranks {
		n.j.Probe.Names(&n.ranks[i].reg.Server, "%srank %d counters", n.Prefix, n.First+i)
	}
}

// packetChunk and accessChunk report how a chunk has just moved.
type (
	packetChunk core.Packet
	accessChunk core.Access
)

// report says how late the network took the chunk.
func (c *packetChunk) Report(late uint64) {
	pk := (*core.Packet)(c)
	p := &pk.J.Ports[pk.Src]
	entered := pk.Net.(*network).moved(pk, p.ID, pk.Dst, &pk.Wire)
	p.Probe.Delays(p, pk, entered-unit.Time(late), unit.Time(late), "network", model.Blocked)
}

func (c *accessChunk) Report(uint64) {
	x := (*core.Access)(c)
	from, to := x.Src, x.Dst
	if x.Get {
		from, to = to, from
	}
	x.Net.(*network).moved(x, from, to, &x.Wire)
}

// moved tells the probe how a chunk of a packet or of an access has just moved: it was the last to
// take each part of its way. It returns when the chunk entered the network.
func (n *network) moved(x any, from, to int32, w *core.Wire) (entered unit.Time) {
	c := w.Pos - max(w.Pos-1, 0)/n.Chunk*n.Chunk
	hold := n.link.Time(c)
	a, b := n.node(from), n.node(to)
	took := func(s *sim.Server) unit.Time {
		t := s.Free() - hold
		n.j.Probe.Takes(s, x, model.Carrying, t, hold, c)
		return t
	}
	if entered = took(&n.inject[a]); w.Pos == c {
		n.j.Probe.Departs(x, entered)
	}
	n.along(a, n.way(a, b), func(link int, _ unit.Time) { took(&n.links[link]) })
	took(&n.eject[b])
	n.j.Probe.Lands(x, w.At) // of all chunks the last counts
	return entered
}
