package microbench

import "github.com/loggp/loggp/impl/mpi"

// pair is the two ranks that measure, as one of them sees it.
type pair struct {
	roots [2]*mpi.Comm // both ranks, that of P1 first and that of P2 first: the first is the root of barriers
	p1    bool
}

// pair returns the plan's pair of ranks of c, which all ranks call, or nil to a rank that is not of it.
func (p *Plan) pair(c *mpi.Comm) *pair {
	p1, p2 := p.Pair[0], p.Pair[1]
	if p1 == p2 {
		p1, p2 = 0, c.Size()-1
	}
	all := c.Group()
	roots := [2]*mpi.Comm{c.Create(all.Include([]int{p1, p2})), c.Create(all.Include([]int{p2, p1}))}
	if roots[0] == nil {
		return nil
	}
	return &pair{roots, roots[0].Rank() == 0}
}

// bench returns this rank's side of measuring a cell, without buffers.
func (x *pair) bench(p *Plan, cell Cell) *bench {
	c := x.roots[0]
	return &bench{Plan: p, cell: cell, mode: find(cell.Mode), c: c, peer: 1 - c.Rank(), p1: x.p1}
}

// run runs a stage with each root.
func (x *pair) run(b *bench, s *stage, rounds int) {
	for i, r := range x.roots {
		b.root, b.comm = i, r
		s.run(b, rounds)
	}
}
