package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
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
func HoldOut(set *sample.Set, o clean.Options) ([]HeldOut, error) {
	o = o.Defaults()
	_, curves, err := measured(set, o)
	if err != nil {
		return nil, err
	}
	curves = slices.DeleteFunc(curves, func(c *curve.Fitted) bool {
		return c.Timer != sample.RTT || !clean.Chosen(c.Mode, c.Protocol) || len(c.Cells) < 2*curve.Fewest
	})
	out := make([]HeldOut, len(curves))
	clean.Parallel(len(curves), func(i int) { out[i] = holdOut(curves[i], o) })
	return out, nil
}

// holdOut predicts every other cell from the rest.
func holdOut(c *curve.Fitted, o clean.Options) HeldOut {
	half := *c
	half.Cells, half.Scales = nil, nil
	var others []clean.Cell
	for i, x := range c.Cells {
		if i%2 == 1 {
			others = append(others, x)
			continue
		}
		half.Cells, half.Scales = append(half.Cells, x), append(half.Scales, c.Scales[i])
	}
	half.Cut(o)
	h := HeldOut{Platform: c.Platform, Library: c.Library, Place: c.Place, Mode: c.Mode, Fitted: len(half.Cells)}
	var errors []float64
	for _, x := range others {
		p := Predicted{Bytes: x.Bytes, Predicted: clean.Rounded(half.Nearest(x.Bytes) / 2), Measured: clean.Rounded(x.Value / 2)}
		if x.Value > 0 {
			p.Error = clean.Rounded(100 * (p.Predicted/p.Measured - 1))
			errors = append(errors, math.Abs(p.Error))
		}
		h.Others = append(h.Others, p)
	}
	if len(errors) > 0 {
		h.Median = clean.Median(errors)
		h.Largest = errors[len(errors)-1]
	}
	return h
}
