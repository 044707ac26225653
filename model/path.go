package model

// Path is the way between two ranks. That of ranks of one node, which share a switch, is zero.
type Path struct {
	Hops  int // links from switch to switch
	Turns int // changes of dimension
}

// Path returns the way between two ranks of a job. On the LogGP machine all ways are alike.
func (m *Machine) Path(ranks, a, b int) Path {
	if m.Torus == nil {
		return Path{}
	}
	return m.Torus.Path(ranks, a, b)
}

// Path returns the way between two ranks of a job of so many: the distances of their nodes in each dimension, the shorter
// way round, and a turn between the dimensions in which they differ. It is as long back.
func (t *Torus) Path(ranks, a, b int) Path {
	var p Path
	a, b = a/t.PerNode, b/t.PerNode
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
