package microbench

import (
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// Visits that disagree are seen by their medians, where all samples together would hide it: two of ten were in slow moments, and each is as precise as can be.
func TestVisitsDisagree(t *testing.T) {
	visits := func(slow ...int) estimate {
		i, x := &item{cell: Cell{Mode: "send"}}, &timer{}
		for v := range 10 {
			took := unit.Time(100)
			if slices.Contains(slow, v) {
				took = 200
			}
			for range 3 {
				x.times[0], x.times[1] = append(x.times[0], took), append(x.times[1], took)
			}
			i.visits = append(i.visits, visit{end: len(x.times[0])})
		}
		return (&leader{}).visited(i, x)
	}
	for _, c := range []struct {
		slow []int
		want estimate
	}{{nil, estimate{100, 0}}, {[]int{0, 7}, estimate{100, 50}}, {[]int{0, 1, 2, 3, 4, 5}, estimate{200, 50}}} {
		if got := visits(c.slow...); got != c.want {
			t.Errorf("with slow visits %v: %v, not %v", c.slow, got, c.want)
		}
	}
	i, x := &item{cell: Cell{Mode: "send"}, visits: []visit{{end: 2}}}, &timer{}
	x.times = [2][]unit.Time{{1, 1}, {1, 1}}
	if e := (&leader{}).visited(i, x); !math.IsInf(e.half, 1) {
		t.Errorf("one visit knows it to %v", e.half)
	}
}

// A few waits already begin at places that are spread over a step of the clock.
func TestDither(t *testing.T) {
	const step = 1000
	d := dither{turns: step}
	var at []int
	for range 16 {
		at = append(at, d.next())
	}
	slices.Sort(at)
	last := 0
	for _, x := range append(at, step) {
		if x < 0 || x > step || x-last > step/8 {
			t.Fatalf("places are %v of %d", at, step)
		}
		last = x
	}
	if none := (dither{}); none.next() != 0 {
		t.Error("a clock without steps is waited for")
	}
}

// An item that was met is known in later launches: how long to wait in it, what it takes, and how many operations make a sample.
func TestRemembers(t *testing.T) {
	c := &Campaign{}
	all := []*item{{cell: Cell{"send", 8}, stage: 0, delta: 3, batch: 4, cost: 5}, {cell: Cell{"send", 8}, stage: 1, delta: 6, batch: 7, cost: 8}, {cell: Cell{"isend", 8}, stage: 0, delta: 9, batch: 10, cost: 11}}
	(&leader{Campaign: c, items: all}).remember()
	for _, want := range all {
		got := &item{cell: want.cell, stage: want.stage}
		(&leader{Campaign: c}).meet(got)
		if got.delta != want.delta || got.batch != want.batch || got.cost != want.cost {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
