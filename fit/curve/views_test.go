package curve

import (
	"math"
	"reflect"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// stepped is a curve of two pieces: 10 + k up to 2 bytes, 40 + (k−4)/2 from 4 on, and one median
// that is off by a fifth.
func stepped() *Curve {
	return &Curve{Timer: "rtt", Points: []Point{{0, 10, 9, 11, 5}, {2, 12, 12, 12, 5}, {4, 48, 40, 56, 5}, {8, 42, 42, 42, 5}}, Pieces: []Piece{
		{From: 0, To: 2, Value: 10, Low: 9, High: 11, Slope: 1, SlopeLow: 0.5, SlopeHigh: 2}, {From: 4, To: 8, Value: 40, Low: 40, High: 40, Slope: 0.5, SlopeLow: 0.5, SlopeHigh: 0.5}}}
}

func TestHalf(t *testing.T) {
	c := stepped()
	h := c.HalfRoundTrip()
	if want := (Point{2, 6, 6, 6, 5}); h.Points[1] != want || h.Timer != sample.TimerRTT+"/2" {
		t.Errorf("%+v of %s", h.Points[1], h.Timer)
	}
	if want := (Piece{From: 0, To: 2, Value: 5, Low: 4.5, High: 5.5, Slope: 0.5, SlopeLow: 0.25, SlopeHigh: 1}); h.Pieces[0] != want {
		t.Errorf("%+v", h.Pieces[0])
	}
	for _, k := range []int{0, 1, 2, 3, 4, 8, 100} {
		if h.ValueAt(k) != c.ValueAt(k)/2 {
			t.Errorf("at %d: %v and %v", k, h.ValueAt(k), c.ValueAt(k))
		}
	}
	if !reflect.DeepEqual(c, stepped()) {
		t.Error("the curve itself was changed")
	}
}

func TestResiduals(t *testing.T) {
	c := stepped()
	got := c.Residuals()
	if len(got) != 4 || math.Abs(got[0].Low+10) > 1e-9 || math.Abs(got[2].Value-20) > 1e-9 || math.Abs(got[2].High-40) > 1e-9 || got[3].Value != 0 {
		t.Errorf("%+v", got)
	}
	if middle, most := c.Deviations(); middle != 0 || math.Abs(most-20) > 1e-9 {
		t.Errorf("off by %v and %v", middle, most)
	}
	c.Pieces = []Piece{{To: 8, Value: -1, Slope: 1}} // a line below zero has no percents
	if got := c.Residuals(); len(got) != 3 || got[0].Bytes != 2 {
		t.Errorf("%+v", got)
	}
	c.Pieces = nil
	if middle, most := c.Deviations(); c.Residuals() != nil || !math.IsNaN(middle) || !math.IsNaN(most) {
		t.Errorf("off nothing by %v and %v", middle, most)
	}
}

// A message of 4 bytes in 48 us is 1/12 MB/s; none of no bytes, and none of a time that may be
// none.
func TestBandwidthOfCurve(t *testing.T) {
	c := stepped()
	c.Points[1].Low = 0
	got := c.BandwidthPoints()
	if want := (Point{4, 4.0 / 48, 4.0 / 56, 0.1, 5}); len(got) != 2 || got[0] != want {
		t.Errorf("%+v", got)
	}
}

func TestBreaksOfCurve(t *testing.T) {
	if got := stepped().Breaks(); len(got) != 1 || got[0] != (Break{2, 4}) {
		t.Errorf("%+v", got)
	}
	if got := (&Curve{}).Breaks(); got != nil {
		t.Errorf("%+v", got)
	}
}
