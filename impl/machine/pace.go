package machine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// A core may run something else besides a thread of ours, on another of its own threads: another program's, or on a virtual machine another machine's. What ours
// computes takes up to twice as long then, for as long as that lasts: 0.1 ms, or seconds. No clock shows it, and a cache line goes to another core as
// quickly as ever. What does is a piece of work that keeps all units of the core busy.

// Work is such a piece: six chains of operations that do not wait for each other, in registers; two microseconds or so.
//
//go:noinline
func Work() uint64 {
	var a, b, c, d, e, f uint64 = 1, 2, 3, 4, 5, 6
	for range 1500 {
		a += 5 ^ a>>3
		b += 6 ^ b>>5
		c += 7 ^ c>>7
		d += 8 ^ d>>9
		e += 9 ^ e>>11
		f += 10 ^ f>>13
	}
	return a + b + c + d + e + f
}

// Fair is by how much longer than at its best moments a processor may take for the work at full pace.
const Fair = 1.1

// Best returns the place, among the times of n pieces of work in order, of that which it takes at the best moments. A few are shorter by chance, as the clock was read late before one or
// early behind it, or not quite the same on another core to which a virtual processor went meanwhile.
func Best(n int) int { return min(n-1, 4+n/500) }

// Pace says how quickly a processor did the work, again and again.
type Pace struct {
	Processor    int
	Best, Median time.Duration // of a piece
	Slowed       float64       // the part of the pieces that took longer than is fair, from 0 to 1
}

// Paces does the work on some processors at one time, for as long as told or until the context is done, and returns how quickly, in the order of the processors.
func Paces(ctx context.Context, processors []int, d time.Duration) ([]Pace, error) {
	all := make([]Pace, len(processors))
	err := on(processors, 2*d+time.Second, func(i int) {
		all[i] = paceOf(processors[i], work(ctx, d))
	})
	if err != nil {
		return nil, fmt.Errorf("work on processors %v: %w", processors, err)
	}
	return all, context.Cause(ctx)
}

// work does pieces of the work on the processor of the calling thread, and returns how long each took, in nanoseconds.
func work(ctx context.Context, d time.Duration) []int64 {
	var took []int64
	var sum uint64 // kept, or the work would be for nothing
	for end := Now() + d.Nanoseconds(); ; runtime.Gosched() {
		settled()
		for stop := Now() + stretch.Nanoseconds(); Now() < stop; {
			begin := Now()
			sum += Work()
			took = append(took, Now()-begin)
		}
		if Now() >= end || ctx.Err() != nil {
			runtime.KeepAlive(sum)
			return took
		}
	}
}

// paceOf sums up what pieces took.
func paceOf(processor int, took []int64) Pace {
	slices.Sort(took)
	best := took[Best(len(took))]
	slowed := 0
	for _, t := range took {
		if float64(t) > Fair*float64(best) {
			slowed++
		}
	}
	return Pace{processor, time.Duration(best), time.Duration(took[len(took)/2]), float64(slowed) / float64(len(took))}
}
