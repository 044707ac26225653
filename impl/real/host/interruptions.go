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
	Processor int
	Watched   time.Duration // total time
	Count     int           // of gaps
	Lost      time.Duration // their sum
	Longest   time.Duration
	Switches  int // involuntary context switches; -1: unknown
}

// Share returns the lost part of the time, from 0 to 1.
func (g Interruptions) Share() float64 { return float64(g.Lost) / float64(max(g.Watched, 1)) }

// gap is the least time between two readings that counts: caches and the clock itself may cause
// shorter ones.
const gap = 5 * time.Microsecond

// stretch is how long a thread reads the clock at a time. The Go runtime preempts threads that do
// not yield for 10 ms, which is not an interruption by the machine.
const stretch = 5 * time.Millisecond

// settling is longer than the runtime's threads look for work before they sleep.
const settling = 200 * time.Microsecond

// WatchInterruptions reads the clock on the processors at the same time, for a duration or until
// the context is done, and returns the interruptions in the order of the processors.
func WatchInterruptions(ctx context.Context, processors []int, d time.Duration) ([]Interruptions, error) {
	seen := make([]Interruptions, len(processors))
	err := onThreads(processors, 2*d+time.Second, func(i int) {
		seen[i] = watch(ctx, processors[i], d)
	})
	if err != nil {
		return nil, fmt.Errorf("watch for interruptions on processors %v: %w", processors, err)
	}
	return seen, context.Cause(ctx)
}

// watch reads the clock on the processor of the calling thread.
func watch(ctx context.Context, processor int, d time.Duration) Interruptions {
	g := Interruptions{Processor: processor}
	for end := Now() + d.Nanoseconds(); ; {
		settled()
		before, known := preemptions()
		now := g.stretch()
		after, _ := preemptions()
		if g.Switches += after - before; !known {
			g.Switches = -1
		}
		if now >= end || ctx.Err() != nil {
			return g
		}
		runtime.Gosched()
	}
}

// settled returns when the runtime's other threads, which were woken by a yield, sleep again.
func settled() {
	for end := Now() + settling.Nanoseconds(); Now() < end; {
	}
}

// stretch reads the clock for a stretch, and returns when it ended.
func (g *Interruptions) stretch() int64 {
	begin := Now()
	last := begin
	for last-begin < stretch.Nanoseconds() {
		now := Now()
		if now-last > gap.Nanoseconds() {
			g.add(time.Duration(now - last))
		}
		last = now
	}
	g.Watched += time.Duration(last - begin)
	return last
}

func (g *Interruptions) add(length time.Duration) {
	g.Count++
	g.Lost += length
	g.Longest = max(g.Longest, length)
}
