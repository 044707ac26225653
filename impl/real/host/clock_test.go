package host

import "testing"

// The clock's step shows between times that are longer. Expected by hand.
func TestStep(t *testing.T) {
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
		if got := step(c.of); got != c.want {
			t.Errorf("%v: got %d, want %d", c.of, got, c.want)
		}
	}
	if resolution, cost := Clock(); resolution <= 0 || cost <= 0 {
		t.Errorf("the clock has steps of %v and costs %v", resolution, cost)
	}
}
