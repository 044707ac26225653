package model

// Shape returns the dimensions of the torus that holds so many ranks: the most nearly cubic x ≥ y ≥ z with room for
// their nodes, and of those the smallest.
func (t *Torus) Shape(ranks int) [3]int {
	nodes := max(1, (ranks+t.PerNode-1)/t.PerNode)
	z := 1
	for (z+1)*(z+1)*(z+1) <= nodes {
		z++
	}
	for nodes%z != 0 {
		z--
	}
	rest := nodes / z
	y := 1
	for (y+1)*(y+1) <= rest {
		y++
	}
	for rest%y != 0 {
		y--
	}
	return [3]int{rest / y, y, z}
}

// Node returns the node of a rank. To divide 32 bits takes half as long as 64.
func (t *Torus) Node(rank int) int { return int(uint32(rank) / uint32(t.PerNode)) }

// way has the distances of two nodes in each dimension, the shorter way round, and a turn between the dimensions in which they
// differ. It is as long back.
func (t *Torus) way(ranks, from, to int) (p Path) {
	dimensions := 0
	for _, size := range t.Shape(ranks) {
		d := from%size - to%size
		if d < 0 {
			d = -d
		}
		if d > 0 {
			p.Hops += min(d, size-d)
			dimensions++
		}
		from, to = from/size, to/size
	}
	p.Turns = max(dimensions-1, 0)
	return p
}
