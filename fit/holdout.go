package fit

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// HeldOut is how well the parameters of one half of the sizes predict half a round trip at the others.
type HeldOut struct {
	Platform, Library, Place, Mode string

	Fitted  int         // sizes that were fitted
	Others  []Predicted // the other sizes, in order
	Median  float64     // of the errors without their signs, in percent
	Largest float64     // of them
}

// Predicted is a half round trip that was predicted, in microseconds.
type Predicted struct {
	Bytes               int
	Predicted, Measured float64
	Error               float64 // (predicted − measured)/measured, percent
}

// HoldOut fits every other size of the round trips of each mode, from the smallest on, and predicts the sizes between: on the piece
//
//	rtt/2 = a + G·(k − from)
//
// that they lie on. Between two pieces, where a protocol changes somewhere, the nearer one in proportion counts. Modes of fewer than six sizes are left out. The errors are those of Fit.
func HoldOut(set *sample.Set, o Options) ([]HeldOut, error) {
	o = o.defaults()
	cleaned, err := clean(set)
	if err != nil {
		return nil, err
	}
	curves, err := load(cleaned.Set, o)
	if err != nil {
		return nil, err
	}
	curves = slices.DeleteFunc(curves, func(c *curve) bool {
		return c.timer != sample.RTT || !chosen(c.mode, c.protocol) || len(c.cells) < 2*fewest
	})
	out := make([]HeldOut, len(curves))
	parallel(len(curves), func(i int) { out[i] = curves[i].holdOut(o) })
	return out, nil
}

// holdOut predicts every other cell from the rest.
func (c *curve) holdOut(o Options) HeldOut {
	half := *c
	half.cells, half.scales = nil, nil
	var others []cell
	for i, x := range c.cells {
		if i%2 == 1 {
			others = append(others, x)
			continue
		}
		half.cells, half.scales = append(half.cells, x), append(half.scales, c.scales[i])
	}
	half.cut(o)
	h := HeldOut{Platform: c.platform, Library: c.library, Place: c.place, Mode: c.mode, Fitted: len(half.cells)}
	var errors []float64
	for _, x := range others {
		p := Predicted{Bytes: x.bytes, Predicted: rounded(half.nearest(x.bytes) / 2), Measured: rounded(x.value / 2)}
		if x.value > 0 {
			p.Error = rounded(100 * (p.Predicted/p.Measured - 1))
			errors = append(errors, math.Abs(p.Error))
		}
		h.Others = append(h.Others, p)
	}
	if len(errors) > 0 {
		h.Median = median(errors)
		h.Largest = errors[len(errors)-1]
	}
	return h
}

// nearest returns the curve at k bytes: on the piece that holds them, or that whose end is nearer, by the ratio of sizes.
func (c *curve) nearest(k int) float64 {
	far := func(p Piece) float64 {
		l := func(n int) float64 { return math.Log(float64(n + 1)) }
		return max(l(p.From)-l(k), l(k)-l(p.To), 0)
	}
	best := c.pieces[0]
	for _, p := range c.pieces[1:] {
		if far(p) < far(best) {
			best = p
		}
	}
	return best.Value + best.Slope*float64(k-best.From)
}
