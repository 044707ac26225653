package machine

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Gaps says what a thread missed that did nothing but look at the clock: each gap is a time in which something else had its processor, an interrupt,
// another thread, or another virtual machine.
type Gaps struct {
	Processor int
	Watched   time.Duration // for how long
	Count     int           // of gaps
	Lost      time.Duration // their sum
	Longest   time.Duration
	Switches  int // how often the system gave the processor to another thread; -1: it does not say
}

// Share returns the part of the time that was lost, from 0 to 1.
func (g Gaps) Share() float64 { return float64(g.Lost) / float64(max(g.Watched, 1)) }

// gap is the least time between two readings of the clock that is one: what is shorter, caches and the clock itself may cause.
const gap = 5 * time.Microsecond

// stretch is how long a thread looks at the clock at a time. Go's runtime interrupts threads that do not come back to it within 10 ms, and that is
// none of the machine's gaps.
const stretch = 5 * time.Millisecond

// settling is how long the runtime's threads look for work before they sleep, and more.
const settling = 200 * time.Microsecond

// Watch looks at the clock on some processors at one time, for as long as told or until the context is done, and returns the gaps in the order of the
// processors.
func Watch(ctx context.Context, processors []int, d time.Duration) ([]Gaps, error) {
	seen := make([]Gaps, len(processors))
	err := on(processors, 2*d+time.Second, func(i int) {
		seen[i] = watch(ctx, processors[i], d)
	})
	if err != nil {
		return nil, fmt.Errorf("watch the clock on processors %v: %w", processors, err)
	}
	return seen, context.Cause(ctx)
}

// watch watches the clock on the processor of the calling thread.
func watch(ctx context.Context, processor int, d time.Duration) Gaps {
	g := Gaps{Processor: processor}
	for end := Now() + d.Nanoseconds(); ; {
		settled()
		before, known := switches()
		now := g.stretch()
		after, _ := switches()
		if g.Switches += after - before; !known {
			g.Switches = -1
		}
		if now >= end || ctx.Err() != nil {
			return g
		}
		runtime.Gosched()
	}
}

// settled returns when the runtime's other threads sleep, which a thread that came back to it has woken.
func settled() {
	for end := Now() + settling.Nanoseconds(); Now() < end; {
	}
}

// stretch watches the clock for a stretch, and returns when it ended.
func (g *Gaps) stretch() int64 {
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

func (g *Gaps) add(length time.Duration) {
	g.Count++
	g.Lost += length
	g.Longest = max(g.Longest, length)
}
