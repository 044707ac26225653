package torus

// Report names the servers that packets wait for.
func (n *network) Report(uint64) {
	for i := range n.Inject {
		n.J.Probe.Names(&n.engines[i], "%snode %d engine", n.Prefix, i)
		n.J.Probe.Names(&n.Inject[i], "%snode %d inject", n.Prefix, i)
		of := n.Outputs[numOutputs*i:]
		for d, way := range []string{"+x", "-x", "+y", "-y", "+z", "-z"} {
			n.J.Probe.Names(&of[d].Server, "%snode %d link %s", n.Prefix, i, way)
		}
		n.J.Probe.Names(&of[eject].Server, "%snode %d eject", n.Prefix, i)
	}
	for i := range n.ranks {
		n.J.Probe.Names(&n.ranks[i].reg.Server, "%srank %d counters", n.Prefix, n.First+i)
	}
}
