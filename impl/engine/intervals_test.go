package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Intervals of calls come and go, overlapping or not, and whether one meets any is what each byte
// says.
func TestIntervals(t *testing.T) {
	const all = 600
	for seed := range uint64(10) {
		draw := rand.New(rand.NewPCG(seed, 0))
		var l intervals
		var calls []*call
		used := make([]int, all)
		note := func(c *call, by int) {
			for _, x := range c.runs {
				for p := x.from; p < x.to; p++ {
					used[p] += by
				}
			}
		}
		for range 4000 { // more than are in one chunk
			if len(calls) > 0 && draw.IntN(5) < 2 {
				i := draw.IntN(len(calls))
				l.remove(calls[i].runs)
				note(calls[i], -1)
				calls = append(calls[:i], calls[i+1:]...)
			} else {
				c := &call{}
				for range 1 + draw.IntN(3) {
					c.runs = append(c.runs, somewhere(draw, all, c))
				}
				l.add(c.runs)
				note(c, 1)
				calls = append(calls, c)
			}
			x, want := somewhere(draw, all, nil), false
			for p := x.from; p < x.to; p++ {
				want = want || used[p] > 0
			}
			if y := l.firstOverlapping(&x); (y != nil) != want || want && (y.from >= x.to || y.to <= x.from) {
				t.Fatalf("seed %d: %+v meets %+v, want %v", seed, x, y, want)
			}
		}
		for _, c := range calls {
			l.remove(c.runs)
		}
		if len(l.chunks) > 0 {
			t.Fatalf("seed %d: %d chunks are left, the first of %d", seed, len(l.chunks), len(l.chunks[0].intervals))
		}
	}
}

// somewhere is an interval of few bytes, or none, and now and then of many.
func somewhere(draw *rand.Rand, all int, of *call) interval {
	n := draw.IntN(6)
	if draw.IntN(20) == 0 {
		n = draw.IntN(all / 2)
	}
	from := draw.IntN(all - n)
	return interval{from: uintptr(from), to: uintptr(from + n), call: of}
}

// BenchmarkIntervals is what an operation adds and removes while many others are under way.
func BenchmarkIntervals(b *testing.B) {
	for _, many := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("operations=%d", many), func(b *testing.B) {
			var l intervals
			for i := range many {
				l.add([]interval{{from: uintptr(16 * i), to: uintptr(16*i + 8)}})
			}
			x := []interval{{from: uintptr(8*many + 8), to: uintptr(8*many + 12)}}
			for b.Loop() {
				if l.firstOverlapping(&x[0]) != nil {
					b.Fatal("nothing is there")
				}
				l.add(x)
				l.remove(x)
			}
		})
	}
}
