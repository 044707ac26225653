package model

// Path is the way between two ranks.
type Path struct {
	Tier  Tier
	Hops  int // links from switch to switch; hypernodes on the ring
	Turns int // changes of dimension
}

// Tier says how near two ranks are.
func (m *Machine) Tier(a, b int) Tier {
	switch {
	case a == b:
		return Intra
	case m.Torus != nil && uint32(a)/uint32(m.Torus.PerNode) == uint32(b)/uint32(m.Torus.PerNode):
		return Intra
	case m.Hypernodes != nil && m.Hypernodes.Node(a) == m.Hypernodes.Node(b):
		return Intra
	}
	return Inter
}

// Path returns the way between two ranks of a job. Where there are no nodes all ways are alike but that to itself.
func (m *Machine) Path(ranks, a, b int) Path {
	switch {
	case m.Torus != nil:
		return m.Torus.Path(ranks, a, b)
	case m.Hypernodes != nil:
		return m.Hypernodes.Path(ranks, a, b)
	}
	return Path{Tier: m.Tier(a, b)}
}

// Path returns the way between two ranks of a job of so many: between two hypernodes, all that the job uses. A request and its
// answer together go once round the ring, so it is as long back.
func (h *Hypernodes) Path(ranks, a, b int) Path {
	if h.Node(a) == h.Node(b) {
		return Path{Tier: Intra}
	}
	return Path{Hops: h.Used(ranks)}
}

// Path returns the way between two ranks of a job of so many: the distances of their nodes in each dimension, the shorter
// way round, and a turn between the dimensions in which they differ. It is as long back.
func (t *Torus) Path(ranks, a, b int) Path {
	var p Path
	a, b = a/t.PerNode, b/t.PerNode
	if a == b {
		return Path{Tier: Intra}
	}
	dimensions := 0
	for _, size := range t.Shape(ranks) {
		d := a%size - b%size
		if d < 0 {
			d = -d
		}
		if d > 0 {
			p.Hops += min(d, size-d)
			dimensions++
		}
		a, b = a/size, b/size
	}
	p.Turns = max(dimensions-1, 0)
	return p
}
