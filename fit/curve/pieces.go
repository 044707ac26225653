package curve

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

const (
	Fewest  = 3    // sizes of a piece: two would fit any line
	outlier = 3.0  // residual beyond which a cell costs no more: one bad cell is no reason for a piece
	worse   = 3.84 // by so much more a line may cost that holds as well: χ² of one degree of freedom, 95 %
	dear    = 2.5  // price of a piece over that of BIC
	widest  = 128  // places where a piece may begin, so that the search takes no more than a moment
)

// divide finds the pieces.
func (c *Fitted) divide(o clean.Options) {
	p := c.points(o.Tolerance)
	if len(p.x) == 0 {
		return
	}
	known := slices.Clone(p.s)
	p.roughen(c.Scales)
	c.fitted = p
	starts := breaks(p, o.Pieces)
	for i, from := range starts {
		to := len(p.x)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		c.piece(p, known, from, to, o)
	}
}

// points returns the medians with their uncertainties: standard errors, as far as they concern the shape of the curve, and deviations from the line that
// nobody minds. The standard error of a few samples is itself uncertain and so counts for more.
func (c *Fitted) points(tolerance float64) points {
	var p points
	scatters, launched := c.scatters()
	for i, x := range c.Cells {
		p.x = append(p.x, float64(x.Bytes))
		p.y = append(p.y, x.Value)
		se := x.Se * (1 + 4/float64(x.N))
		if launched {
			se = scatters[i]
		}
		p.s = append(p.s, max(math.Hypot(se, tolerance*c.Scales[i]), c.Floor))
	}
	return p
}

// roughen makes uncertainties larger if the curve is rougher than they say: by a part of its scale, the same for all points, so large that the median
// deviation of a point from the line between its neighbours is what is expected. On a real machine no time is a straight line of the length: a message of
// 64 bytes takes longer than one of 128, and no launch shows another curve. A break moves only two of these deviations.
func (p points) roughen(scales []float64) {
	p.widen(scales, func() bool { return p.roughness() > 1 })
}

// loosen makes uncertainties larger if a few points are not on one line: by a part of their scale, the same for all points, so large that they lie as far from it as is expected (Mandel and Paule
// 1970). Else the line would follow those points of which it is known best how far off they are, which changes from run to run. Of many points those that are far off tell themselves.
func (p points) loosen(scales []float64) {
	n := len(p.x)
	if n < Fewest || n > crowd {
		return
	}
	p.widen(scales, func() bool {
		l, sum := weighted(p, nil), 0.0
		for i := range p.x {
			sum += math.Pow(p.residual(l, i), 2)
		}
		return sum > float64(n-2)
	})
}

// widen makes uncertainties larger by the least part of the scales with which they are not too small.
func (p points) widen(scales []float64, small func() bool) {
	known := slices.Clone(p.s)
	with := func(part float64) bool {
		for i := range p.s {
			p.s[i] = math.Hypot(known[i], part*scales[i])
		}
		return small()
	}
	if !with(0) {
		return
	}
	low, high := 0.0, roughest
	for range 30 {
		if middle := (low + high) / 2; with(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	with(high)
}

// roughest bounds what a curve may deviate from a line as a matter of course.
const roughest = 0.25

// roughness returns the median deviation of a point from the line between its neighbours, over what is expected.
func (p points) roughness() float64 {
	var u []float64
	for i := 1; i+1 < len(p.x); i++ {
		t := (p.x[i] - p.x[i-1]) / (p.x[i+1] - p.x[i-1])
		d := p.y[i] - (1-t)*p.y[i-1] - t*p.y[i+1]
		s := math.Hypot(p.s[i], math.Hypot((1-t)*p.s[i-1], t*p.s[i+1]))
		u = append(u, math.Abs(d)/s)
	}
	if len(u) < 3 {
		return 0
	}
	return clean.Median(u) / 0.6745
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
			if from, to := places[i], places[j]; to-from >= Fewest || to-from == n {
				cost[i][j] = price + p.cut(from, to).cost()
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

// scatter returns what is added to the replicates of a piece's cells, in order. A mean that another tool printed is a cell of one sample,
// whose replicates are all alike: how uncertain it is can only be seen from how far it and its neighbours lie from their line. So the
// residual is added with a random sign, larger by √(n/(n−2)) for the two numbers of the line (wild bootstrap: Liu 1988).
func (c *Fitted) scatter(p points, l Line, from int, o clean.Options) func(i int) float64 {
	n := float64(len(p.x))
	if n < Fewest || c.Clock != "real" {
		return func(int) float64 { return 0 }
	}
	larger := math.Sqrt(n / (n - 2))
	rng := rand.New(rand.NewPCG(o.Seed, uint64(c.Cells[from].Bytes)))
	return func(i int) float64 {
		if c.Cells[from+i].Repeated {
			return 0
		}
		return larger * p.s[i] * p.residual(l, i) * float64(1-2*int(rng.Uint64()>>63))
	}
}

// piece fits the cells from one to before another. Known are their uncertainties without what the curve's roughness adds.
func (c *Fitted) piece(p points, known []float64, from, to int, o clean.Options) {
	p = p.cut(from, to)
	l, low := fitAmong(p)
	l, s := forget(p, l)
	again := fitLine
	if low {
		again = func(p points) Line { return fitLow(p, l) }
	}
	bent := false
	for i := range p.x {
		r := math.Abs(p.residual(l, i)) * p.s[i]
		bent = bent || r > 4*known[from+i] && r > 0.05*c.Scales[from+i]
	}
	c.Bent, c.Off = append(c.Bent, bent), append(c.Off, misfitOf(p, l, c.Scales[from:to]))
	y, scatter := points{p.x, make([]float64, len(p.x)), s}, c.scatter(p, l, from, o)
	all := make([][]float64, o.Replicates) // of each replicate the values
	for b := range all {
		all[b] = make([]float64, len(p.x))
		for i := range all[b] {
			all[b][i] = c.Cells[from+i].Reps[b] + scatter(i)
		}
	}
	fit := func(by func(points) Line) (lines []Line, values, slopes []float64) {
		for b := range all {
			y.y = all[b]
			l := by(y)
			lines, values, slopes = append(lines, l), append(values, l.Value), append(slopes, l.Slope)
		}
		slices.Sort(values)
		slices.Sort(slopes)
		return lines, values, slopes
	}
	lines, values, slopes := fit(again)
	piece := Piece{From: c.Cells[from].Bytes, To: c.Cells[to-1].Bytes}
	piece.SlopeLow, piece.SlopeHigh = clean.Interval(slopes, l.Slope, o.Level)
	flat := fitLevel(p)
	if from+1 < to && piece.SlopeLow <= 0 && piece.SlopeHigh >= 0 && p.loss(flat, 1, math.Inf(1)) <= p.loss(l, 1, math.Inf(1))+worse { // it may as well be level
		l = flat
		lines, values, _ = fit(fitLevel)
		piece.SlopeLow = 0
	}
	if l.Slope >= 0 { // what can only be more than nothing
		piece.SlopeLow, piece.SlopeHigh = max(piece.SlopeLow, 0), max(piece.SlopeHigh, 0)
	}
	piece.Value, piece.Slope = clean.Rounded(l.Value), clean.Rounded(l.Slope)
	piece.Low, piece.High = clean.Interval(values, l.Value, o.Level)
	slack := c.Cells[from].Slack
	piece.Low, piece.High = clean.Rounded(piece.Low-slack), clean.Rounded(piece.High+slack)
	piece.SlopeLow, piece.SlopeHigh = clean.Rounded(piece.SlopeLow), clean.Rounded(piece.SlopeHigh)
	for _, x := range c.Cells[from:to] {
		piece.Samples += x.N
	}
	c.Pieces, c.Replicate = append(c.Pieces, piece), append(c.Replicate, lines)
}

// misfit is how far medians lie from their line, as parts of them: the median of all, and the largest.
type misfit struct{ Middle, Most float64 }

// misfitOf returns that of a line.
func misfitOf(p points, l Line, scales []float64) misfit {
	var off []float64
	for i := range p.x {
		if scales[i] > 0 {
			off = append(off, math.Abs(p.residual(l, i))*p.s[i]/scales[i])
		}
	}
	if len(off) == 0 {
		return misfit{}
	}
	return misfit{Middle: clean.Median(off), Most: off[len(off)-1]}
}
