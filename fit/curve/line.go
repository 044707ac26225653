package curve

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Line is a straight line: value + slope·(x−x0), where x0 is the first x of what it was fitted to.
type Line struct{ Value, Slope float64 }

// linePoints are what a line is fitted to: y at x, uncertain by s.
type linePoints struct{ x, y, uncertainty []float64 }

func (p linePoints) slice(from, to int) linePoints {
	return linePoints{p.x[from:to], p.y[from:to], p.uncertainty[from:to]}
}

// residual returns how far point i is from the line, in units of its uncertainty.
func (p linePoints) residual(l Line, i int) float64 {
	return (p.y[i] - l.Value - l.Slope*(p.x[i]-p.x[0])) / p.uncertainty[i]
}

// huberTuning is the residual beyond which a point counts linearly; with 1.345 the estimate loses 5
// % of its efficiency on normal errors. Huber 1964.
const huberTuning = 1.345

// fitLine fits a line by Huber's loss on residuals relative to their uncertainties, with weights
// that are found iteratively.
//
// Note: Theil–Sen would not do. FormatSizes grow geometrically, so that most of its pairs are of
// small sizes whose slopes are all noise, and it has no place for uncertainties that grow with the
// value. Samples far off are met by the median of each cell already; Huber's loss is for cells far
// off.
//
// Delays are one-sided: if many points stray from the line, the lowest ones decide, even if they
// are fewer than half.
func fitLine(p linePoints) Line {
	l, _ := fitWithStrays(p)
	return l
}

// fitWithStrays also says whether the line is that of the lowest points.
func fitWithStrays(p linePoints) (l Line, low bool) {
	l = fitAllPoints(p)
	if n := len(p.x); n < minCrowdPoints || 5*p.countStrays(l) <= n {
		return l, false
	}
	if below := fitLowestPoints(p, p.lowestLine()); p.lineLoss(below, 2, math.Inf(1)) < p.lineLoss(l, 2, math.Inf(1)) {
		return below, true
	}
	return l, false
}

// fitAllPoints fits a line to all points, whether they stray or not.
func fitAllPoints(p linePoints) Line {
	return refineLine(p, weightedLine, weightedLine(p, p.leastSquaresWeights()), boundedLoss)
}

// dropStrays returns the line without the points that stray from it, which are too few to have led
// it astray, and the uncertainties with which they count for (almost) nothing. Where pieces are is
// found with them, as one bad point less would make every division look better. Replicates of a
// line forget what the line forgot: a point at the edge, which every other one would forget, makes
// two heaps of them.
func dropStrays(p linePoints, l Line) (Line, []float64) {
	if len(p.x) < minCrowdPoints || p.countStrays(l) == 0 {
		return l, p.uncertainty
	}
	without := fitLowestPoints(p, l)
	if p.lineLoss(without, 1, math.Inf(1)) >= p.lineLoss(l, 1, math.Inf(1)) {
		return l, p.uncertainty
	}
	s := slices.Clone(p.uncertainty)
	for i := range s {
		if math.Abs(p.residual(without, i)) > outlierResidual {
			s[i] *= 1000
		}
	}
	return without, s
}

// fitLowestPoints improves a line of the lowest points.
func fitLowestPoints(p linePoints, l Line) Line {
	return refineLine(p, weightedLine, l, redescendingWeight)
}

const (
	minCrowdPoints  = 5   // fewest points among which strays can be found
	minRobustPoints = 24  // points from which on a few do not mislead the line of a replicate
	strayCostFactor = 3.0 // additional cost of a stray that is e times as far off
	maxLineTries    = 100 // lines through two points that are tried
)

// fitLevel fits a line without slope likewise.
func fitLevel(p linePoints) Line {
	return refineLine(p, levelLine, levelLine(p, p.leastSquaresWeights()), boundedLoss)
}

// refineLine improves a line, solved for again and again with weights of residuals.
func refineLine(p linePoints, solve func(linePoints, []float64) Line, l Line, weight func(r float64) float64) Line {
	if len(p.x) < 3 {
		return l
	}
	w := make([]float64, len(p.x))
	for range 30 {
		for i := range w {
			w[i] = weight(p.residual(l, i)) / (p.uncertainty[i] * p.uncertainty[i])
		}
		next := solve(p, w)
		last := len(p.x) - 1
		moved := math.Max(math.Abs(next.Value-l.Value)/p.uncertainty[0],
			math.Abs(next.Value-l.Value+(next.Slope-l.Slope)*(p.x[last]-p.x[0]))/p.uncertainty[last])
		if l = next; moved < 1e-4 {
			break
		}
	}
	return l
}

// boundedLoss is Huber's weight.
func boundedLoss(r float64) float64 {
	if r = math.Abs(r); r > huberTuning {
		return huberTuning / r
	}
	return 1
}

// redescendingWeight is Huber's weight, but (almost) nothing for what strays.
func redescendingWeight(r float64) float64 {
	if math.Abs(r) > outlierResidual {
		return 1e-6
	}
	return boundedLoss(r)
}

// countStrays counts points that are far from the line.
func (p linePoints) countStrays(l Line) int {
	n := 0
	for i := range p.x {
		if math.Abs(p.residual(l, i)) > outlierResidual {
			n++
		}
	}
	return n
}

// lineLoss returns what a line costs: Σ r², or 9 + 3·ln(r/3) of residuals beyond 3, where a point
// below the line counts so many times; or something above enough. One bad cell costs little more
// the worse it is, but several that are all far off do.
func (p linePoints) lineLoss(l Line, below, enough float64) float64 {
	sum := 0.0
	for i := range p.x {
		if sum > enough {
			break
		}
		r := p.residual(l, i)
		x := r * r
		if x > outlierResidual*outlierResidual {
			x = outlierResidual*outlierResidual + strayCostFactor*math.Log(math.Abs(r)/outlierResidual)
		}
		if r < 0 {
			x *= below
		}
		sum += x
	}
	return sum
}

// bestLineCost returns what the best line costs.
func (p linePoints) bestLineCost() float64 { return p.lineLoss(fitLine(p), 1, math.Inf(1)) }

// lowestLine returns the line through two points that costs least, of all or of many.
func (p linePoints) lowestLine() Line {
	n := len(p.x)
	step := 1 + n*(n-1)/2/maxLineTries
	var best Line
	least, k := math.Inf(1), 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if k++; k%step != 0 || p.x[i] == p.x[j] || p.y[j] < p.y[i] {
				continue
			}
			slope := (p.y[j] - p.y[i]) / (p.x[j] - p.x[i])
			l := Line{p.y[i] - slope*(p.x[i]-p.x[0]), slope}
			if cost := p.lineLoss(l, 2, least); cost < least {
				best, least = l, cost
			}
		}
	}
	if math.IsInf(least, 1) {
		return weightedLine(p, p.leastSquaresWeights())
	}
	return best
}

// leastSquaresWeights returns those of least squares, 1/s².
func (p linePoints) leastSquaresWeights() []float64 {
	w := make([]float64, len(p.uncertainty))
	for i, s := range p.uncertainty {
		w[i] = 1 / (s * s)
	}
	return w
}

// weightedLine fits a line by least squares. All sizes alike, the slope is zero.
func weightedLine(p linePoints, w []float64) Line {
	if p.x[0] == p.x[len(p.x)-1] {
		return levelLine(p, w)
	}
	alpha, beta := stat.LinearRegression(p.x, p.y, w, false)
	if math.Abs(beta)*(p.x[len(p.x)-1]-p.x[0]) < 1e-12*math.Abs(alpha) { // rounding
		return levelLine(p, w)
	}
	return Line{Value: alpha + beta*p.x[0], Slope: beta}
}

// levelLine is the same without slope.
func levelLine(p linePoints, w []float64) Line { return Line{Value: stat.Mean(p.y, w)} }
