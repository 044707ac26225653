package transport

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Base is the part of a port that is alike in all transports between processes.
type Base struct {
	device.None
	transportName string // of the transport, for panics
	rank, size    int
	IsBlocking    bool         // the rank sleeps where it waits, else it spins
	JobFailed     *atomic.Bool // the job has failed
	intervals     PollIntervals
	idlePolls     uint
}

// PollIntervals says how often a rank that spins looks for a packet before it does something else.
// Both are powers of two.
type PollIntervals struct {
	CheckJob       uint // looks until it sees whether the job has failed
	YieldProcessor uint // looks until it gives way to others on its processor: some tens of microseconds, too seldom to show in times
}

// NewBase returns the base of a rank's port.
func NewBase(name string, rank, size int, blocks bool, stop *atomic.Bool, pace PollIntervals) Base {
	return Base{transportName: name, rank: rank, size: size, IsBlocking: blocks, JobFailed: stop, intervals: pace}
}

// Rank and the methods below implement device.Port.
func (b *Base) Rank() int { return b.rank }

func (b *Base) Size() int { return b.size }

func (b *Base) Node() string { return host.Name() }

func (b *Base) Now() unit.Time { return unit.Time(host.Now()) * unit.Nanosecond }

func (b *Base) Tick() unit.Time {
	resolution, _ := host.ClockStepAndCost()
	return resolution
}

func (b *Base) Spend(model.CostKey, int) {}

// RealTime implements device.RealTime.
func (b *Base) RealTime() {}

func (b *Base) Copy(dst, src []byte) int { return copy(dst, src) }

// Operate implements device.Port.
func (b *Base) Operate(int) {}

// maxSleepOverrun is how long a sleep may last beyond its end: the kernel's slack of 50 µs, and the
// way back to a processor.
const maxSleepOverrun = 200 * time.Microsecond

// maxSleepTime is how long a rank that delays sleeps at most before it looks whether the job has
// failed.
const maxSleepTime = 20 * time.Millisecond

// Delay sleeps, and spins for what is too short to sleep.
func (b *Base) Delay(d unit.Time) {
	b.ExitIfJobFailed()
	end := host.Now() + int64((d+unit.Nanosecond-1)/unit.Nanosecond)
	for {
		rest := time.Duration(end - host.Now())
		if rest <= 0 {
			return
		}
		if rest > maxSleepOverrun {
			time.Sleep(min(rest-maxSleepOverrun, maxSleepTime))
			b.ExitIfJobFailed()
		} else if b.IsBlocking {
			yieldProcessor()
		}
	}
}

// ExitIfJobFailed ends the calling goroutine if the job has failed.
//
// Note: it could panic with a value that package launch knows, but a program that recovers from
// panics would swallow that and go on.
func (b *Base) ExitIfJobFailed() {
	if b.JobFailed.Load() {
		runtime.Goexit()
	}
}

// CheckRank panics if there is no such rank.
func (b *Base) CheckRank(rank int) {
	if uint(rank) >= uint(b.size) {
		panic(fmt.Sprintf("%s: no rank %d among %d", b.transportName, rank, b.size))
	}
}

// AfterEmptyPoll is called after each look, counted from 1, by which a rank that spins found
// nothing. It reports whether the job was checked, which is the time to look after other things.
func (b *Base) AfterEmptyPoll(polls uint) bool {
	if polls&(b.intervals.CheckJob-1) != 0 {
		return false
	}
	b.ExitIfJobFailed()
	if polls&(b.intervals.YieldProcessor-1) == 0 {
		yieldProcessor()
	}
	return true
}

// YieldWhenIdle is called by a rank that polls and finds nothing: it lets others run, if that is
// what the rank polls for.
func (b *Base) YieldWhenIdle() {
	b.idlePolls++
	if b.IsBlocking || b.idlePolls&(b.intervals.YieldProcessor-1) == 0 {
		yieldProcessor()
	}
}

// exitNoticeTimeout is how long a rank that cannot reach another waits to be told that the other's
// process has ended.
const exitNoticeTimeout = 2 * time.Second

// AwaitJobFailure is called when another rank cannot be reached. Most likely its process has ended,
// and the job is about to fail for that: then AwaitJobFailure ends the calling goroutine. It
// returns if nothing of the kind is heard for two seconds.
func (b *Base) AwaitJobFailure() {
	for end := time.Now().Add(exitNoticeTimeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		b.ExitIfJobFailed()
	}
}
