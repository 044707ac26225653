package fit

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	fewest  = 3   // sizes of a piece: two would fit any line
	outlier = 3.0 // residual beyond which a cell costs no more: one bad cell is no reason for a piece
	dear    = 2.0 // price of a piece over that of BIC
	widest  = 128 // places where a piece may begin, so that the search takes no more than a moment
)

// cut finds the straight pieces of the curve and fits each, and its replicates.
func (c *curve) cut(o Options) {
	p := c.points(o.Tolerance)
	if len(p.x) == 0 {
		return
	}
	factor := roughness(p)
	for i := range p.s {
		p.s[i] *= factor
	}
	starts := breaks(p, o.Pieces)
	for i, from := range starts {
		to := len(p.x)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		c.piece(p, from, to, factor, o)
	}
}

// points returns the medians with their uncertainties: standard errors, which of a few samples are themselves uncertain and so
// count for more, and deviations from the line that nobody minds.
func (c *curve) points(tolerance float64) points {
	var p points
	for i, x := range c.cells {
		p.x = append(p.x, float64(x.bytes))
		p.y = append(p.y, x.value)
		se := x.se * (1 + 4/float64(x.n))
		p.s = append(p.s, max(math.Hypot(se, tolerance*c.scales[i]), c.floor))
	}
	return p
}

// roughness returns by how much the uncertainties are too small, 1 at least: the median deviation of a point from the line
// between its neighbours, over what is expected. A break moves only two of these.
func roughness(p points) float64 {
	var u []float64
	for i := 1; i+1 < len(p.x); i++ {
		t := (p.x[i] - p.x[i-1]) / (p.x[i+1] - p.x[i-1])
		d := p.y[i] - (1-t)*p.y[i-1] - t*p.y[i+1]
		s := math.Hypot(p.s[i], math.Hypot((1-t)*p.s[i-1], t*p.s[i+1]))
		u = append(u, math.Abs(d)/s)
	}
	if len(u) < 3 {
		return 1
	}
	return max(1, median(u)/0.6745)
}

// breaks returns where pieces begin: those that make Σ min(r², 9) + price·pieces least, with r the residuals in units of their
// uncertainties. That is BIC with the uncertainties known, three parameters a piece (two of the line, one of its place) at
// twice the price, since the place is searched for; and with a bound on what one point may cost (Fearnhead and Rigaill 2019).
func breaks(p points, most int) []int {
	n := len(p.x)
	price := dear * 3 * math.Log(float64(n))
	places := candidates(n)
	m := len(places) - 1 // places[m] is the end
	cost := make([][]float64, m)
	for i := range cost {
		cost[i] = make([]float64, m+1)
		for j := i + 1; j <= m; j++ {
			cost[i][j] = math.Inf(1)
			if from, to := places[i], places[j]; to-from >= fewest || to-from == n {
				cost[i][j] = price + loss(p.cut(from, to))
			}
		}
	}
	// best[k][j] is the least cost of what is before places[j] in k+1 pieces, the last of which begins at places[start[k][j]].
	best, start := [][]float64{slices.Clone(cost[0])}, [][]int{make([]int, m+1)}
	for k := 1; k < most; k++ {
		b, s := make([]float64, m+1), make([]int, m+1)
		for j := range b {
			b[j] = math.Inf(1)
			for i := 1; i < j; i++ {
				if x := best[k-1][i] + cost[i][j]; x < b[j] {
					b[j], s[j] = x, i
				}
			}
		}
		best, start = append(best, b), append(start, s)
	}
	k := 0
	for i := range best {
		if best[i][m] < best[k][m] {
			k = i
		}
	}
	begin := make([]int, k+1)
	for j := m; k >= 0; k-- {
		j = start[k][j]
		begin[k] = places[j]
	}
	return begin
}

// candidates returns where a piece may begin, and n.
func candidates(n int) []int {
	step := (n + widest - 1) / widest
	var places []int
	for i := 0; i < n; i += step {
		places = append(places, i)
	}
	return append(places, n)
}

// loss returns what a single line costs.
func loss(p points) float64 {
	l := fitLine(p)
	sum := 0.0
	for i := range p.x {
		r := p.residual(l, i)
		sum += min(r*r, outlier*outlier)
	}
	return sum
}

// scatter returns what is added to the replicates of a piece's cells, in order. A mean that another tool printed is a cell of one sample,
// whose replicates are all alike: how uncertain it is can only be seen from how far it and its neighbours lie from their line. So the
// residual is added with a random sign, larger by √(n/(n−2)) for the two numbers of the line (wild bootstrap: Liu 1988).
func (c *curve) scatter(p points, l line, from int, o Options) func(i int) float64 {
	n := float64(len(p.x))
	if n < fewest || c.clock != "real" {
		return func(int) float64 { return 0 }
	}
	larger := math.Sqrt(n / (n - 2))
	rng := rand.New(rand.NewPCG(o.Seed, uint64(c.cells[from].bytes)))
	return func(i int) float64 {
		if c.cells[from+i].repeated {
			return 0
		}
		return larger * p.s[i] * p.residual(l, i) * float64(1-2*int(rng.Uint64()>>63))
	}
}

// piece fits the cells from one to before another. The uncertainties have been multiplied by factor.
func (c *curve) piece(p points, from, to int, factor float64, o Options) {
	p = p.cut(from, to)
	l := fitLine(p)
	bent := false
	for i := range p.x {
		r := math.Abs(p.residual(l, i))
		bent = bent || r*factor > 4 && r*p.s[i] > 0.05*c.scales[from+i]
	}
	c.bent = append(c.bent, bent)
	lines := make([]line, o.Replicates)
	values, slopes := make([]float64, o.Replicates), make([]float64, o.Replicates)
	y := make([]float64, len(p.x))
	scatter := c.scatter(p, l, from, o)
	for b := range lines {
		for i := range y {
			y[i] = c.cells[from+i].reps[b] + scatter(i)
		}
		lines[b] = fitLine(points{p.x, y, p.s})
		values[b], slopes[b] = lines[b].value, lines[b].slope
	}
	slices.Sort(values)
	slices.Sort(slopes)
	piece := Piece{From: c.cells[from].bytes, To: c.cells[to-1].bytes, Value: rounded(l.value), Slope: rounded(l.slope)}
	piece.Low, piece.High = interval(values, l.value, o.Level)
	piece.SlopeLow, piece.SlopeHigh = interval(slopes, l.slope, o.Level)
	slack := c.cells[from].slack
	piece.Low, piece.High = rounded(piece.Low-slack), rounded(piece.High+slack)
	piece.SlopeLow, piece.SlopeHigh = rounded(piece.SlopeLow), rounded(piece.SlopeHigh)
	for _, x := range c.cells[from:to] {
		piece.Samples += x.n
	}
	c.pieces, c.replicate = append(c.pieces, piece), append(c.replicate, lines)
}
