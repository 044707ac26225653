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

// Base is the part of a port that is the same in all real transports.
type Base struct {
	device.NoCapabilities
	transportName string // of the transport, for panics
	rank, size    int
	IsBlocking    bool         // the rank sleeps while it waits; otherwise it spins
	JobFailed     *atomic.Bool // the job has failed
	intervals     PollIntervals
	idlePolls     uint
}

// PollIntervals are the numbers of empty polls after which a spinning rank does something else.
// Both are powers of two.
type PollIntervals struct {
	CheckJob       uint // polls between checks whether the job has failed
	YieldProcessor uint // polls between yields of the processor: some tens of microseconds, too seldom to show in times
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

// ChargeOperations implements device.Port.
func (b *Base) ChargeOperations(int) {}

// maxSleepOverrun is how long a sleep may last beyond its end: the kernel's slack of 50 µs, and the
// way back to a processor.
const maxSleepOverrun = 200 * time.Microsecond

// maxSleepTime is the longest sleep of a delayed rank between checks whether the job has failed.
const maxSleepTime = 20 * time.Millisecond

// Delay sleeps, and spins for the part that is too short to sleep.
func (b *Base) Delay(d unit.Time) {
	device.CheckDelay(d)
	b.ExitIfJobFailed()
	end := host.Now() + d.Nanoseconds()
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

// AfterEmptyPoll is called by a spinning rank after each poll that found nothing; polls are counted
// from 1. It reports whether it has checked the job, which is the time for other occasional work.
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

// YieldWhenIdle is called by a rank whose program polls and finds nothing. It lets other ranks run,
// since the rank may poll for something that they do.
func (b *Base) YieldWhenIdle() {
	b.idlePolls++
	if b.IsBlocking || b.idlePolls&(b.intervals.YieldProcessor-1) == 0 {
		yieldProcessor()
	}
}

// exitNoticeTimeout is how long a rank that cannot reach another one waits for the notice that the
// other's process has ended.
const exitNoticeTimeout = 2 * time.Second

// AwaitJobFailure is called when another rank cannot be reached. Most likely its process has ended
// and the job is about to fail. Then AwaitJobFailure ends the calling goroutine. If the job does
// not fail within two seconds, AwaitJobFailure returns.
func (b *Base) AwaitJobFailure() {
	for end := time.Now().Add(exitNoticeTimeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		b.ExitIfJobFailed()
	}
}
