package curve

import (
	"slices"
	"testing"
)

// A slope through points that lie on no line is not that of those which happen to be known best:
// they count by their size alone. Points on a line keep their uncertainties.
func TestLoosen(t *testing.T) {
	x, y := []float64{32, 64, 128}, []float64{6, 12.6, 18.3} // a step, as of a second part of a message
	var slopes []float64
	for _, s := range [][]float64{{0.01, 0.1, 0.1}, {0.1, 0.01, 0.1}, {0.1, 0.1, 0.01}, {0.02, 0.02, 0.02}} {
		p := linePoints{x, y, slices.Clone(s)}
		p.relaxUncertainty(y)
		slopes = append(slopes, fitLine(p).Slope)
	}
	low, high := slices.Min(slopes), slices.Max(slopes)
	if high > 1.02*low {
		t.Errorf("slopes are %v", slopes)
	}
	straight := linePoints{x, []float64{7, 13, 25}, []float64{0.01, 0.2, 0.05}}
	straight.relaxUncertainty(straight.y)
	if !slices.Equal(straight.uncertainty, []float64{0.01, 0.2, 0.05}) {
		t.Errorf("uncertainties of points on a line became %v", straight.uncertainty)
	}
	two := linePoints{x[:2], y[:2], []float64{0.01, 0.2}}
	if two.relaxUncertainty(y[:2]); two.uncertainty[0] != 0.01 {
		t.Errorf("two points lie on a line, and became uncertain by %v", two.uncertainty)
	}
}
