package host

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Interruptions counts the gaps between consecutive clock readings of a thread that does nothing
// but read the clock. In a gap something else has the processor: an interrupt, another thread, or
// another virtual machine.
type Interruptions struct {
	Processor       int
	WatchedTime     time.Duration // total time
	GapCount        int           // of gaps
	LostTime        time.Duration // their sum
	LongestGap      time.Duration
	ContextSwitches int // involuntary context switches; -1: unknown
}

// LostShare returns the lost part of the time, from 0 to 1.
func (g Interruptions) LostShare() float64 {
	return float64(g.LostTime) / float64(max(g.WatchedTime, 1))
}

// minGap is the least time between two readings that counts: caches and the clock itself may cause
// shorter ones.
const minGap = 5 * time.Microsecond

// readingPeriod is how long a thread reads the clock at a time. The Go runtime preempts threads
// that do not yield for 10 ms, which is not an interruption by the computer.
const readingPeriod = 5 * time.Millisecond

// runtimeIdleDelay is longer than the runtime's threads look for work before they sleep.
const runtimeIdleDelay = 200 * time.Microsecond

// WatchInterruptions reads the clock on the processors at the same time, for a duration or until
// the context is done, and returns the interruptions in the order of the processors.
func WatchInterruptions(ctx context.Context, processors []int, d time.Duration) ([]Interruptions, error) {
	seen := make([]Interruptions, len(processors))
	err := runOnProcessors(processors, 2*d+time.Second, func(i int) {
		seen[i] = watchProcessor(ctx, processors[i], d)
	})
	if err != nil {
		return nil, fmt.Errorf("watch for interruptions on processors %v: %w", processors, err)
	}
	return seen, context.Cause(ctx)
}

// watchProcessor reads the clock on the processor of the calling thread.
func watchProcessor(ctx context.Context, processor int, d time.Duration) Interruptions {
	g := Interruptions{Processor: processor}
	for end := Now() + d.Nanoseconds(); ; {
		waitForIdleRuntime()
		before, known := threadPreemptions()
		now := g.recordGaps()
		after, _ := threadPreemptions()
		if g.ContextSwitches += after - before; !known {
			g.ContextSwitches = -1
		}
		if now >= end || ctx.Err() != nil {
			return g
		}
		runtime.Gosched()
	}
}

// waitForIdleRuntime returns when the runtime's other threads, which were woken by a yield, sleep
// again.
func waitForIdleRuntime() {
	for end := Now() + runtimeIdleDelay.Nanoseconds(); Now() < end; {
	}
}

// recordGaps reads the clock for a period, and returns the last reading.
func (g *Interruptions) recordGaps() int64 {
	begin := Now()
	last := begin
	for last-begin < readingPeriod.Nanoseconds() {
		now := Now()
		g.addReading(last, now)
		last = now
	}
	g.WatchedTime += time.Duration(last - begin)
	return last
}

// addReading counts a gap if the clock has advanced too far since the last reading.
func (g *Interruptions) addReading(last, now int64) {
	length := time.Duration(now - last)
	if length <= minGap {
		return
	}
	g.GapCount++
	g.LostTime += length
	g.LongestGap = max(g.LongestGap, length)
}
