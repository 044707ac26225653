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
