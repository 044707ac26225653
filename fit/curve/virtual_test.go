package curve

import (
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// measured is the only curve of round trips whose samples scatter by a thousandth.
func measured(t *testing.T, clock string, sizes []int, us func(bytes int) float64) *Curve {
	t.Helper()
	set := &sample.Set{}
	for _, k := range sizes {
		x := sample.Series{Key: sample.Key{Platform: "p", Library: "l", Clock: clock, Place: "inter", Mode: "send", Protocol: "auto", Timer: sample.TimerRTT, Bytes: k}}
		for i := range 20 {
			x.Times = append(x.Times, unit.Time(us(k)*(1+0.001*math.Sin(float64(i+k)))*float64(unit.Microsecond)))
		}
		set.Series = append(set.Series, x)
	}
	curves, err := LoadCurves(set, clean.Options{}.WithDefaults())
	if err != nil || len(curves) != 1 {
		t.Fatalf("%v, %v", curves, err)
	}
	curves[0].CutIntoPieces(clean.Options{}.WithDefaults())
	return curves[0]
}

// Virtual time has no other load: every size counts, and a protocol that costs far more or far less
// begins a piece, also if it has no more than one or two of the sizes.
func TestVirtualTimeLeavesOutNothing(t *testing.T) {
	few := []int{16, 100, 1000, 4000, 10000} // those of all pairs
	many := []int{1, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}
	for _, c := range []struct {
		name     string
		sizes    []int
		us       func(k int) float64
		from     []int
		excluded bool // sizes of real time
	}{
		{"a copy that ends at 1 KB", few, eagerUpTo(1000, 1, 0.1, 2, 0.0001), []int{16, 4000}, true},
		{"a copy that ends at 4 KB", few, eagerUpTo(4000, 1, 0.1, 2, 0.0001), []int{16, 10000}, false},
		{"a handshake from 10 KB", few, eagerUpTo(4000, 1, 0.001, 100, 0.001), []int{16, 10000}, false},
		{"a copy that ends at 4 KiB", many, eagerUpTo(4096, 1, 0.1, 2, 0.0001), []int{1, 8192}, true},
		{"one size that waits", many, func(k int) float64 {
			if k == 1024 {
				return 100
			}
			return 1 + 0.001*float64(k)
		}, []int{1}, true},
	} {
		x := measured(t, "virtual", c.sizes, c.us)
		var from []int
		for _, p := range x.Pieces {
			from = append(from, p.From)
		}
		if len(x.ExcludedCells) > 0 || len(x.Cells) != len(c.sizes) || !slices.Equal(from, c.from) {
			t.Errorf("%s: pieces begin at %v, want %v; left out %v", c.name, from, c.from, x.ExcludedSizes(0))
		}
		for _, w := range x.Warnings() {
			if w.Code == clean.CodeDisturbed {
				t.Errorf("%s: %v", c.name, w)
			}
		}
		if y := measured(t, "real", c.sizes, c.us); c.excluded && len(y.ExcludedCells) == 0 {
			t.Errorf("%s: nothing is left out of real time", c.name)
		}
	}
	if p := measured(t, "virtual", few, eagerUpTo(1000, 1, 0.1, 2, 0.0001)).Pieces[1]; math.Abs(p.Slope-0.0001) > 1e-5 {
		t.Errorf("%v us a byte behind the copy, want 0.0001", p.Slope)
	}
}

// eagerUpTo returns the time of one protocol up to a size and of another beyond.
func eagerUpTo(limit int, a, aByte, b, bByte float64) func(int) float64 {
	return func(k int) float64 {
		if k <= limit {
			return a + aByte*float64(k)
		}
		return b + bByte*float64(k)
	}
}
