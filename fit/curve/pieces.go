package curve

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/model/quantile"
)

const (
	MinPieceSizes        = 3    // sizes of a piece: two would fit any line
	outlierResidual      = 3.0  // residual beyond which a cell costs no more: one bad cell is no reason for a piece
	maxLikelihoodLoss    = 3.84 // by so much more a line may cost that holds as well: χ² of one degree of freedom, 95 %
	piecePriceFactor     = 2.5  // price of a piece over that of BIC
	maxFirstSearchPlaces = 48   // places where a piece may begin in the first search, so that it takes no more than a moment
)

// splitPieces finds the pieces. The last cells, so many as tail, are a piece of their own.
func (c *Curve) splitPieces(o clean.Options, tail int) {
	c.segments, c.Pieces, c.LineReplicates, c.IsPieceBent, c.PieceDeviations = nil, nil, nil, nil, nil
	p := c.pointsOf(o.Tolerance)
	if len(p.x) == 0 {
		return
	}
	known := slices.Clone(p.uncertainty)
	p.addRoughness(c.Magnitudes)
	c.fitted = p
	n := len(p.x) - tail
	starts := append(findBreaks(p.slice(0, n), o.MaxPieces), n)
	if tail > 0 {
		starts = append(starts, len(p.x))
	}
	for i := range starts[:len(starts)-1] {
		c.addSettledPieces(known, starts[i], starts[i+1], o)
		c.segments = append(c.segments, protocolSegment{starts[i], starts[i+1], len(c.Pieces) - 1})
	}
}

// addSettledPieces adds the piece of the cells from one to before another. A line that misses its
// smallest size is no answer for messages of that size: the fewest small sizes that mend it become
// a piece of their own.
func (c *Curve) addSettledPieces(known []float64, from, to int, o clean.Options) {
	m := 0
	for m < to-from-1 && c.missesSmallest(from+m, to, known) {
		m++
	}
	if m > 0 {
		c.addSettledPieces(known, from, from+m, o)
	}
	c.addPiece(c.fitted, known, from+m, to, o)
}

// A line may miss its smallest size by a twentieth of the time, and by a quarter where the times
// are as uncertain.
const maxSmallestMiss, maxUncertainMiss = 0.05, 0.25

// missesSmallest says whether the line of some cells misses the first.
func (c *Curve) missesSmallest(from, to int, known []float64) bool {
	if to-from == 1 || c.Magnitudes[from] <= 0 {
		return false
	}
	var uncertain []float64 // all of them: that of one cell is itself uncertain
	for i, s := range known {
		uncertain = append(uncertain, s/max(c.Magnitudes[i], c.ZeroThreshold))
	}
	allowed := max(maxSmallestMiss, min((outlierResidual+1)*max(quantile.Median(uncertain), known[from]/c.Magnitudes[from]), maxUncertainMiss))
	p := c.fitted.slice(from, to)
	return math.Abs(p.y[0]-c.lineReplicates(p).Value) > max(allowed*c.Magnitudes[from], c.ZeroThreshold)
}

// lineReplicates fits a line to points; where a level one holds as well, or of a timer that takes
// less time for more bytes, a level one.
func (c *Curve) lineReplicates(p linePoints) Line {
	l, _ := fitWithStrays(p)
	l, _ = dropStrays(p, l)
	if flat := fitLevel(p); c.IsTime && l.Slope < 0 || p.lineLoss(flat, 1, math.Inf(1)) <= p.lineLoss(l, 1, math.Inf(1))+maxLikelihoodLoss {
		return flat
	}
	return l
}

// pointsOf returns the medians with their uncertainties: standard errors, as far as they concern
// the shape of the curve, and tolerated deviations from the line. The standard error of a few
// samples is itself uncertain and so counts for more.
func (c *Curve) pointsOf(tolerance float64) linePoints {
	var p linePoints
	scatters, launched := c.launchScatter()
	for i, x := range c.Cells {
		p.x = append(p.x, float64(x.Bytes))
		p.y = append(p.y, x.Value)
		se := x.StandardError * (1 + 4/float64(x.SampleCount))
		if launched {
			se = scatters[i]
		}
		p.uncertainty = append(p.uncertainty, max(math.Hypot(se, tolerance*c.Magnitudes[i]), c.ZeroThreshold))
	}
	return p
}

// addRoughness makes uncertainties larger if the curve is rougher than they say: by a part of its
// scale, the same for all points, so large that the median deviation of a point from the line
// between its neighbours is what is expected. On a real machine no time is a straight line of the
// length: a message of 64 bytes takes longer than one of 128, and no launch shows another curve. A
// break moves only two of these deviations.
func (p linePoints) addRoughness(scales []float64) {
	p.widenUncertainty(scales, maxRoughness, func() bool { return p.roughness() > 1 })
}

// relaxUncertainty makes uncertainties larger if a few points are not on one line: by a part of
// their scale, the same for all points, so large that they lie as far from it as is expected
// (Mandel and Paule 1970). Otherwise the line would follow the points with the smallest errors,
// which change from run to run. Among many points those that are far off are found without this.
func (p linePoints) relaxUncertainty(scales []float64) {
	n := len(p.x)
	if n < MinPieceSizes || n > minCrowdPoints {
		return
	}
	p.widenUncertainty(scales, maxStrayShare, func() bool {
		l, sum := weightedLine(p, p.leastSquaresWeights()), 0.0
		for i := range p.x {
			sum += math.Pow(p.residual(l, i), 2)
		}
		return sum > float64(n-2)
	})
}

// widenUncertainty makes uncertainties larger by the least part of the scales with which they are
// not too small, or by the most.
func (p linePoints) widenUncertainty(scales []float64, most float64, small func() bool) {
	known := slices.Clone(p.uncertainty)
	with := func(part float64) bool {
		for i := range p.uncertainty {
			p.uncertainty[i] = math.Hypot(known[i], part*scales[i])
		}
		return small()
	}
	if !with(0) {
		return
	}
	low, high := 0.0, most
	for range 30 {
		if middle := (low + high) / 2; with(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	with(high)
}

// A curve may deviate by roughest from a line as a matter of course, and a few points by strewn.
const maxRoughness, maxStrayShare = 0.05, 0.25

// roughness returns the median deviation of a point from the line between its neighbours, over what
// is expected.
func (p linePoints) roughness() float64 {
	var u []float64
	for i := 1; i+1 < len(p.x); i++ {
		t := (p.x[i] - p.x[i-1]) / (p.x[i+1] - p.x[i-1])
		d := p.y[i] - (1-t)*p.y[i-1] - t*p.y[i+1]
		s := math.Hypot(p.uncertainty[i], math.Hypot((1-t)*p.uncertainty[i-1], t*p.uncertainty[i+1]))
		u = append(u, math.Abs(d)/s)
	}
	if len(u) < 3 {
		return 0
	}
	return quantile.Median(u) / 0.6745
}

// findBreaks returns where pieces begin: those that make Σ min(r², 9) + price·pieces least, with r
// the residuals in units of their uncertainties. That is BIC with the uncertainties known, three
// parameters a piece (two of the line, one of its place) at twice the price, since the place is
// searched for; and with a bound on what one point may cost (Fearnhead and Rigaill 2019).
//
// Of many points, the first search takes only some places where a piece may begin. A second one
// takes all places around those that it found.
func findBreaks(p linePoints, most int) []int {
	n := len(p.x)
	step := (n + maxFirstSearchPlaces - 1) / maxFirstSearchPlaces
	var places []int
	for i := 0; i < n; i += step {
		places = append(places, i)
	}
	found := findBreaksAmong(p, most, append(places, n))
	if step == 1 || len(found) == 1 {
		return found
	}
	near := []int{0, n}
	for _, x := range found[1:] {
		for i := max(x-step, 1); i <= min(x+step, n-1); i++ {
			near = append(near, i)
		}
	}
	slices.Sort(near)
	return findBreaksAmong(p, most, slices.Compact(near))
}

// findBreaksAmong takes the places where a piece may begin, which begin with 0, and the number of
// points behind them.
func findBreaksAmong(p linePoints, most int, places []int) []int {
	n := len(p.x)
	price := piecePriceFactor * 3 * math.Log(float64(n))
	m := len(places) - 1 // places[m] is the end
	cost := make([][]float64, m)
	for i := range cost {
		cost[i] = make([]float64, m+1)
		for j := i + 1; j <= m; j++ {
			cost[i][j] = math.Inf(1)
			if from, to := places[i], places[j]; to-from >= MinPieceSizes || to-from == n {
				cost[i][j] = price + p.slice(from, to).bestLineCost()
			}
		}
	}
	// best[k][j] is the least cost of what is before places[j] in k+1 pieces, the last of which
	// begins at places[start[k][j]].
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

// addPiece adds the line of the cells from one to before another. Known are their uncertainties
// without what the curve's roughness adds.
func (c *Curve) addPiece(p linePoints, known []float64, from, to int, o clean.Options) {
	p = p.slice(from, to)
	l, low := fitWithStrays(p)
	falls := -l.Slope*(p.x[len(p.x)-1]-p.x[0]) > o.Tolerance*l.Value
	l, s := dropStrays(p, l)
	again := fitLine
	switch {
	case low:
		again = func(p linePoints) Line { return fitLowestPoints(p, l) }
	case len(p.x) > minRobustPoints && 5*p.countStrays(l) <= len(p.x): // so many determine it: to look for the lowest in each replicate only takes time
		again = fitAllPoints
	}
	bent := false
	for i := range p.x {
		r := math.Abs(p.residual(l, i)) * p.uncertainty[i]
		bent = bent || r > 4*known[from+i] && r > 0.05*c.Magnitudes[from+i]
	}
	c.IsPieceBent, c.PieceDeviations = append(c.IsPieceBent, bent), append(c.PieceDeviations, deviationOf(p, l, c.Magnitudes[from:to]))
	y := linePoints{p.x, make([]float64, len(p.x)), s}
	fit := func(by func(linePoints) Line) (lines []Line, values, slopes []float64) {
		for b := range o.ReplicateCount {
			for i := range y.y {
				y.y[i] = c.Cells[from+i].Replicates[b]
			}
			l := by(y)
			lines, values, slopes = append(lines, l), append(values, l.Value), append(slopes, l.Slope)
		}
		clean.SortExtremes(values, (1-o.ConfidenceLevel)/2)
		clean.SortExtremes(slopes, (1-o.ConfidenceLevel)/2)
		return lines, values, slopes
	}
	lines, values, slopes := fit(again)
	piece := Piece{From: c.Cells[from].Bytes, To: c.Cells[to-1].Bytes, IsFalling: c.IsTime && falls}
	piece.SlopeLow, piece.SlopeHigh = clean.PercentileInterval(slopes, l.Slope, o.ConfidenceLevel)
	if flat := c.lineReplicates(p); flat.Slope == 0 && l.Slope != 0 && (c.IsTime && l.Slope < 0 || piece.SlopeLow <= 0 && piece.SlopeHigh >= 0) {
		l = flat
		lines, values, _ = fit(fitLevel)
		piece.SlopeLow = 0
	}
	if l.Slope >= 0 { // what can only be more than nothing
		piece.SlopeLow, piece.SlopeHigh = max(piece.SlopeLow, 0), max(piece.SlopeHigh, 0)
	}
	piece.Value, piece.Slope = clean.RoundDigits(l.Value), clean.RoundDigits(l.Slope)
	piece.Low, piece.High = clean.PercentileInterval(values, l.Value, o.ConfidenceLevel)
	slack := c.Cells[from].ResolutionError
	piece.Low, piece.High = clean.RoundDigits(piece.Low-slack), clean.RoundDigits(piece.High+slack)
	piece.SlopeLow, piece.SlopeHigh = clean.RoundDigits(piece.SlopeLow), clean.RoundDigits(piece.SlopeHigh)
	piece.FewestSamples = math.MaxInt
	for _, x := range c.Cells[from:to] {
		piece.SampleCount += x.SampleCount
		piece.FewestSamples = min(piece.FewestSamples, x.FewestSamples)
	}
	c.Pieces, c.LineReplicates = append(c.Pieces, piece), append(c.LineReplicates, lines)
}

// lineDeviation is how far medians lie from their line, as parts of them: the median of all, and
// the largest.
type lineDeviation struct{ MedianDeviation, LargestDeviation float64 }

// deviationOf returns that of a line.
func deviationOf(p linePoints, l Line, scales []float64) lineDeviation {
	var off []float64
	for i := range p.x {
		if scales[i] > 0 {
			off = append(off, math.Abs(p.residual(l, i))*p.uncertainty[i]/scales[i])
		}
	}
	if len(off) == 0 {
		return lineDeviation{}
	}
	return lineDeviation{MedianDeviation: quantile.Median(off), LargestDeviation: off[len(off)-1]}
}
