package host

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/loggp/loggp/model/quantile"
)

// A core may run another hardware thread beside ours: of another program or of another virtual
// machine. Our computations then take up to twice as long, for 0.1 ms or for seconds. No clock
// shows it, and cache lines move as fast as before, but work that keeps all units of the core busy
// takes longer.

// RunPaceWork is such work: six independent chains of operations in registers, about two
// microseconds.
//
//go:noinline
func RunPaceWork() uint64 {
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

// PaceTolerance is the factor over its best time that the work may take at full pace.
const PaceTolerance = 1.1

// BestTimeIndex returns the index of the best time among n sorted times of the work. A few shorter
// ones are chance: the clock was read late before the work or early after it, or a virtual
// processor moved to a core with a slightly different clock.
func BestTimeIndex(n int) int { return min(n-1, 4+n/500) }

// Pace says how fast a processor did the work, repeated many times.
type Pace struct {
	Processor            int
	BestTime, MedianTime time.Duration
	SlowedShare          float64 // part of the repetitions that exceeded the tolerance, from 0 to 1
}

// MeasurePaces does the work on the processors at the same time, for a duration or until the
// context is done, and returns the paces in the order of the processors.
func MeasurePaces(ctx context.Context, processors []int, d time.Duration) ([]Pace, error) {
	all := make([]Pace, len(processors))
	err := runOnProcessors(processors, 2*d+time.Second, func(i int) {
		all[i] = summarizePace(processors[i], timePaceWork(ctx, d))
	})
	if err != nil {
		return nil, fmt.Errorf("measure the pace of processors %v: %w", processors, err)
	}
	return all, context.Cause(ctx)
}

// timePaceWork repeats the work on the processor of the calling thread, and returns the times in
// nanoseconds.
func timePaceWork(ctx context.Context, d time.Duration) []int64 {
	var took []int64
	var sum uint64 // used below, or the compiler would drop the work
	for end := Now() + d.Nanoseconds(); ; runtime.Gosched() {
		waitForIdleRuntime()
		for stop := Now() + readingPeriod.Nanoseconds(); Now() < stop; {
			begin := Now()
			sum += RunPaceWork()
			took = append(took, Now()-begin)
		}
		if Now() >= end || ctx.Err() != nil {
			runtime.KeepAlive(sum)
			return took
		}
	}
}

// summarizePace summarizes the times of the work.
func summarizePace(processor int, took []int64) Pace {
	slices.Sort(took)
	best := took[BestTimeIndex(len(took))]
	slowed := 0
	for _, t := range took {
		if float64(t) > PaceTolerance*float64(best) {
			slowed++
		}
	}
	return Pace{processor, time.Duration(best), time.Duration(quantile.UpperMedian(took)), float64(slowed) / float64(len(took))}
}
