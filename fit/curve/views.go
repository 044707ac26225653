package curve

import (
	"math"

	"github.com/loggp/loggp/model/quantile"
)

// What charts show of a curve beside its points.

// Residuals returns by how many percent the medians, and the ends of their intervals, are above the
// pieces that were fitted to them, where these are above zero.
func (c *Curve) Residuals() []Point {
	var out []Point
	for _, p := range c.Points {
		line := c.ValueAt(p.Bytes)
		if !(line > 0) {
			continue
		}
		off := func(x float64) float64 { return 100 * (x/line - 1) }
		p.Value, p.Low, p.High = off(p.Value), off(p.Low), off(p.High)
		out = append(out, p)
	}
	return out
}

// BandwidthPoints returns the bytes of each message over the times of a curve, in MB/s of 10⁶
// bytes. Messages without bytes have none, nor has a time whose interval holds zero.
func (c *Curve) BandwidthPoints() []Point {
	var out []Point
	for _, p := range c.Points {
		if k := float64(p.Bytes); k > 0 && p.Value > 0 && !(p.Low <= 0) {
			p.Value, p.Low, p.High = k/p.Value, k/p.High, k/p.Low
			out = append(out, p)
		}
	}
	return out
}

// Break is where a curve goes from one piece to the next: behind From and not behind To, which are
// sizes that were measured.
type Break struct{ From, To int }

// Breaks returns where the pieces of a curve end.
func (c *Curve) Breaks() []Break {
	var out []Break
	for i := 1; i < len(c.Pieces); i++ {
		out = append(out, Break{c.Pieces[i-1].To, c.Pieces[i].From})
	}
	return out
}

// Deviations returns the median and the largest of the residuals without their signs, in percent.
// Without residuals they are NaN.
func (c *Curve) Deviations() (middle, most float64) {
	var sizes []float64
	for _, r := range c.Residuals() {
		sizes = append(sizes, math.Abs(r.Value))
	}
	if len(sizes) == 0 {
		return math.NaN(), math.NaN()
	}
	middle = quantile.Median(sizes)
	return middle, sizes[len(sizes)-1]
}
