package host

import (
	"math"
	"testing"
)

// The clock's step shows between times that are longer. Expected by hand.
func TestClockStepIsShortestDifference(t *testing.T) {
	for _, c := range []struct {
		of   []int64
		want int64
	}{
		{[]int64{30, 40, 30, 50}, 10},
		{[]int64{31, 30, 32, 100}, 1},
		{[]int64{0, 0, 100, 0}, 100},
		{[]int64{100, 100}, 100},
		{[]int64{42, 83, 0, 41, 125, 84}, 41}, // 24 MHz: 41.67 ns
		{[]int64{36, 32, 34}, 2},
		{[]int64{1, 2}, 1},
		{[]int64{0, 0}, 1},
	} {
		if got := clockStep(c.of); got != c.want {
			t.Errorf("%v: got %d, want %d", c.of, got, c.want)
		}
	}
	if resolution, cost := ClockStepAndCost(); resolution <= 0 || cost <= 0 {
		t.Errorf("the clock has steps of %v and costs %v", resolution, cost)
	}
}

// All processors share one clock: times between ranks of one computer assume it.
func TestProcessorsShareOneClock(t *testing.T) {
	a, b := twoProcessors(t)
	o, err := MeasureClockOffset(t.Context(), a, b)
	skipIfBusy(t, err)
	if !o.IncludesZero() || o.High-o.Low <= 0 {
		t.Errorf("the clock of processor %d is ahead of that of %d by %v ns", b, a, o)
	}
}

// Expected by hand: the other clock is 1000 ahead, readings there take place at 20 of 50, and at 30
// of 35.
func TestOffsetBoundsNarrow(t *testing.T) {
	o := OffsetBounds{math.MinInt64, math.MaxInt64}
	o.narrowBounds(100, 1120, 150)
	o.narrowBounds(200, 1230, 235)
	if want := (OffsetBounds{995, 1020}); o != want || o.IncludesZero() {
		t.Errorf("got %v, want %v", o, want)
	}
	for _, c := range []struct {
		o    OffsetBounds
		want bool
	}{{OffsetBounds{-5, 5}, true}, {OffsetBounds{0, 0}, true}, {OffsetBounds{1, 5}, false}, {OffsetBounds{-5, -1}, false}, {OffsetBounds{5, -5}, false}} {
		if c.o.IncludesZero() != c.want {
			t.Errorf("%v: a common clock: %v", c.o, !c.want)
		}
	}
}
