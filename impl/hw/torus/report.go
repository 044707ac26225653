package torus

// Report names the servers that packets wait for.
func (n *network) Report(uint64) {
	for i := range n.Injectors {
		n.Job.Probe.SetServerName(&n.engines[i], "%snode %d engine", n.NamePrefix, i)
		n.Job.Probe.SetServerName(&n.Injectors[i], "%snode %d inject", n.NamePrefix, i)
		of := n.SwitchOutputs[outputsPerNode*i:]
		for d, way := range []string{"+x", "-x", "+y", "-y", "+z", "-z"} {
			n.Job.Probe.SetServerName(&of[d].Server, "%snode %d link %s", n.NamePrefix, i, way)
		}
		n.Job.Probe.SetServerName(&of[ejectOutput].Server, "%snode %d eject", n.NamePrefix, i)
	}
	for i := range n.ranks {
		n.Job.Probe.SetServerName(&n.ranks[i].registers.Server, "%srank %d counters", n.NamePrefix, n.FirstRank+i)
	}
}
