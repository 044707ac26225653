package fit

import "math"

// line is a straight line: value + slope·(x−x0), where x0 is the first x of what it was fitted to.
type line struct{ value, slope float64 }

// points are what a line is fitted to: y at x, uncertain by s.
type points struct{ x, y, s []float64 }

func (p points) cut(from, to int) points { return points{p.x[from:to], p.y[from:to], p.s[from:to]} }

// residual returns how far point i is from the line, in units of its uncertainty.
func (p points) residual(l line, i int) float64 {
	return (p.y[i] - l.value - l.slope*(p.x[i]-p.x[0])) / p.s[i]
}

// huber is the residual beyond which a point counts linearly; with 1.345 the estimate loses 5 % of its efficiency on normal
// errors. Huber 1964.
const huber = 1.345

// fitLine fits a line by Huber's loss on residuals relative to their uncertainties, with weights that are found
// iteratively.
//
// Note: Theil–Sen would not do. Sizes grow geometrically, so that most of its pairs are of small sizes whose slopes are all
// noise, and it has no place for uncertainties that grow with the value. Samples far off are met by the
// median of each cell already; Huber's loss is for cells far off.
func fitLine(p points) line {
	l := weighted(p, nil)
	if len(p.x) < 3 {
		return l
	}
	w := make([]float64, len(p.x))
	for range 30 {
		for i := range w {
			w[i] = 1
			if r := math.Abs(p.residual(l, i)); r > huber {
				w[i] = huber / r
			}
		}
		next := weighted(p, w)
		last := len(p.x) - 1
		moved := math.Max(math.Abs(next.value-l.value)/p.s[0],
			math.Abs(next.value-l.value+(next.slope-l.slope)*(p.x[last]-p.x[0]))/p.s[last])
		if l = next; moved < 1e-4 {
			break
		}
	}
	return l
}

// weighted fits a line by least squares with weights w/s²; w nil is 1. All sizes alike, the slope is zero.
func weighted(p points, w []float64) line {
	var sum, mx, my float64
	weight := func(i int) float64 {
		if w == nil {
			return 1 / (p.s[i] * p.s[i])
		}
		return w[i] / (p.s[i] * p.s[i])
	}
	for i := range p.x {
		v := weight(i)
		sum += v
		mx += v * (p.x[i] - p.x[0])
		my += v * p.y[i]
	}
	mx, my = mx/sum, my/sum
	var xx, xy float64
	for i := range p.x {
		v, dx := weight(i), p.x[i]-p.x[0]-mx
		xx += v * dx * dx
		xy += v * dx * (p.y[i] - my)
	}
	if xx == 0 {
		return line{value: my}
	}
	slope := xy / xx
	return line{value: my - slope*mx, slope: slope}
}
