package torus

// Report gives names to all that packets wait for.
func (n *network) Report(uint64) {
	for i := range n.inject {
		n.j.Probe.Names(&n.engines[i], "%snode %d engine", n.Prefix, i)
		n.j.Probe.Names(&n.inject[i], "%snode %d inject", n.Prefix, i)
		of := n.outputs[numOutputs*i:]
		for d, way := range []string{"+x", "-x", "+y", "-y", "+z", "-z"} {
			n.j.Probe.Names(&of[d].Server, "%snode %d link %s", n.Prefix, i, way)
		}
		n.j.Probe.Names(&of[eject].Server, "%snode %d eject", n.Prefix, i)
	}
	for i := range n.ranks {
		n.j.Probe.Names(&n.ranks[i].memory, "%srank %d memory", n.Prefix, n.First+i)
		n.j.Probe.Names(&n.ranks[i].reg.Server, "%srank %d counters", n.Prefix, n.First+i)
	}
}
