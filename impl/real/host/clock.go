package host

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
)

// Now returns the computer's monotonic clock in nanoseconds. All processes read the same clock.
func Now() int64 { return nanotime() }

// Note: the time package shows only differences between readings of one process, and a system call
// costs ten times as much as the runtime's function, which makes none.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// ClockStepAndCost returns the resolution of the clock and the cost of reading it. They are
// measured once in the life of a process, in about a millisecond.
var ClockStepAndCost = sync.OnceValues(func() (resolution, cost unit.Time) {
	return unit.Time(clockStep(sampleClockDifferences())) * unit.Nanosecond, clockReadingCost()
})

// sampleClockDifferences returns times between two readings of the clock with a varying amount of
// work between them, so that they show every step of the clock.
func sampleClockDifferences() []int64 {
	const rounds, most = 40, 64
	var took []int64
	for range rounds {
		for work := range most {
			before := Now()
			for range work {
				busyCounter.Add(1)
			}
			took = append(took, Now()-before)
		}
	}
	return took
}

// busyCounter is incremented to let time pass.
var busyCounter atomic.Int64

// clockStep returns the clock's step: all times are multiples of it. It is the least difference
// between any two of them, or between one and zero. Readings are rounded to whole nanoseconds, so
// two times that differ by one may be the same multiple; of three consecutive ones two are
// different multiples.
func clockStep(times []int64) int64 {
	times = append([]int64{0}, times...)
	slices.Sort(times)
	times = slices.Compact(times)
	least := int64(math.MaxInt64)
	for i := 1; i < len(times); i++ {
		gap := times[i] - times[i-1]
		if gap > 1 || i > 1 && times[i]-times[i-2] == 2 {
			least = min(least, gap)
		}
	}
	if least == math.MaxInt64 {
		return 1
	}
	return least
}

// clockReadingCost returns the cost of reading the clock: the fastest of many series in each batch,
// and the median of the batches, because a batch may run while the processor is slowed.
func clockReadingCost() unit.Time {
	const batches, rounds, reads = 9, 20, 50
	costs := make([]float64, batches)
	for i := range costs {
		least := int64(math.MaxInt64)
		for range rounds {
			begin := Now()
			end := begin
			for range reads {
				end = Now()
			}
			least = min(least, end-begin)
		}
		costs[i] = float64(least) / reads
	}
	return unit.Time(quantile.Median(costs) * float64(unit.Nanosecond))
}

// OffsetBounds is the interval, in nanoseconds, in which the offset of one processor's clock to
// another's lies.
type OffsetBounds struct{ Low, High int64 }

// IncludesZero reports whether the processors may share one clock: 0 lies within the bounds.
func (o OffsetBounds) IncludesZero() bool { return o.Low <= 0 && 0 <= o.High }

// String returns the bounds: -90..110.
func (o OffsetBounds) String() string { return fmt.Sprintf("%d..%d", o.Low, o.High) }

// narrowBounds takes into account a reading there between two readings here.
func (o *OffsetBounds) narrowBounds(before, there, after int64) {
	o.Low, o.High = max(o.Low, there-after), min(o.High, there-before)
}

const (
	clockRoundTrips  = 1000
	clockOffsetLimit = 100 * time.Millisecond
)

// MeasureClockOffset bounds the offset of the clock of processor b to that of processor a. Threads
// on both read the clock in turn. A reading on b between two readings on a bounds the offset: it is
// at least b's reading minus the second, and at most b's reading minus the first. The closest of
// many such bounds are returned. If the lower one is above the upper one, the offset changes with
// time.
func MeasureClockOffset(ctx context.Context, a, b int) (OffsetBounds, error) {
	o := OffsetBounds{math.MinInt64, math.MaxInt64}
	var ask, reply paddedWord
	var there int64 // b's reading; written before reply is, and read after it
	err := runExchange(ctx, a, b, clockOffsetLimit, func(m *wordExchange) {
		for i := range uint64(clockRoundTrips) {
			before := Now()
			ask.Store(i + 1)
			if !m.awaitValue(&reply.Uint64, i+1) {
				return
			}
			o.narrowBounds(before, there, Now())
		}
	}, func(m *wordExchange) {
		for i := range uint64(clockRoundTrips) {
			if !m.awaitValue(&ask.Uint64, i+1) {
				return
			}
			there = Now()
			reply.Store(i + 1)
		}
	})
	if err != nil {
		return OffsetBounds{}, fmt.Errorf("the clocks of processors %d and %d: %w", a, b, err)
	}
	return o, nil
}
