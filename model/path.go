package model

// Path is the way between two ranks.
type Path struct {
	Tier  Tier
	Hops  int // links from switch to switch; hypernodes on the ring
	Turns int // changes of dimension
}

// Node returns the node of a rank. Where ranks have no near ones, each is its own.
func (m *Machine) Node(rank int) int { return m.hardware().Node(rank) }

// Tier says how near two ranks are.
func (m *Machine) Tier(a, b int) Tier {
	if m.Node(a) == m.Node(b) {
		return Intra
	}
	return Inter
}

// Path returns the way between two ranks of a job.
func (m *Machine) Path(ranks, a, b int) Path {
	h := m.hardware()
	from, to := h.Node(a), h.Node(b)
	if from == to {
		return Path{Tier: Intra}
	}
	return h.way(ranks, from, to)
}
