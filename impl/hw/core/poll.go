package core

import (
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Polling ends at the same time as waiting. A rank that polls without finding a packet, at the same
// time as its previous poll, is in a loop that takes no virtual time and would never see a change.
// It therefore sleeps until an event concerns it: a packet or data arrives, or another rank changes
// its memory or counters. It sees the change when a waiting rank would.
//
// A loop may also wait for something that the machine does not know, above all for a time read by
// Now. Therefore a sleep ends after an eighth of the duration of the loop so far, at least a tick
// and at most maxPollSleep. Such a loop may end late by that time. Note: sleeping until the next
// event of any kind does not suffice. If two ranks poll, the next event is the other's poll, at the
// same time.
//
// If nothing is under way and all ranks only poll, they wait for each other. After
// idlePollsBeforeDeadlock this is a deadlock.
const maxPollSleep = unit.Microsecond

// idlePollsBeforeDeadlock is the number of consecutive unsuccessful polls of all ranks that count
// as a deadlock. A loop may be bounded by its number of iterations; programs stay well below this.
const idlePollsBeforeDeadlock = 1_000_000

// maxPollsWithoutTime is the number of times that a rank may read the clock, or words that others
// write, before reading takes time.
const maxPollsWithoutTime = 1000

// A loop that only reads the clock for longer than longClockLoopDuration may end late by a share of
// its duration.
const (
	longClockLoopDuration = unit.Millisecond
	clockSleepDivisor     = 64
	maxClockPollSleep     = 200 * unit.Microsecond
)

// pollThrottle counts operations that a rank repeats at no cost, until time has to pass.
type pollThrottle struct {
	lastPollTime, loopStart unit.Time // time of the last poll, and of the first
	pollsAtSameTime         int       // number of polls at the time of the last
	sleepsInLoop            uint64    // number of sleeps in a loop that reads the clock
}

// throttlePolling lets time pass if the rank has polled more than free times without spending time.
func (p *Port) throttlePolling(l *pollThrottle, free int) {
	if now := p.Kernel.Now(); l.lastPollTime != now {
		l.loopStart, l.pollsAtSameTime = now, 0
	}
	if l.pollsAtSameTime++; l.pollsAtSameTime > free {
		p.awaitChange(p.Kernel.Now() + min(max((p.Kernel.Now()-l.loopStart)/8, p.Machine.TimerResolution), maxPollSleep))
		l.pollsAtSameTime = free - 1 // a rank that leaves its loop may poll once more
	}
	l.lastPollTime = p.Kernel.Now()
}

// Now implements device.Port.
func (p *Port) Now() unit.Time {
	p.ElapseCharges()
	if p.signalState != nil {
		p.runSignalHandler()
	}
	p.resetDeadlockDetection()
	p.throttleClockReads()
	now := p.Kernel.Now()
	return now - now%p.Machine.TimerResolution
}

// throttleClockReads lets time pass if the rank has read the clock more than maxPollsWithoutTime
// times without spending time. Benchmarks repeat some work until it has taken long enough, and read
// the clock before and after it. Sleeps must fall between any two readings of an iteration, so one
// or two readings are free between sleeps, in a sequence that does not repeat (multiples of the
// golden ratio). Sleeps become longer in a long loop, so that it ends.
func (p *Port) throttleClockReads() {
	l := &p.clockThrottle
	if now := p.Kernel.Now(); l.lastPollTime != now {
		l.loopStart, l.pollsAtSameTime, l.sleepsInLoop = now, 0, 0
	}
	if l.pollsAtSameTime++; l.pollsAtSameTime > maxPollsWithoutTime {
		lasted := p.Kernel.Now() - l.loopStart
		d := min(max(lasted/8, p.Machine.TimerResolution), maxPollSleep)
		if lasted > longClockLoopDuration {
			d = min(lasted/clockSleepDivisor, maxClockPollSleep)
		}
		p.awaitChange(p.Kernel.Now() + d)
		l.sleepsInLoop++
		l.pollsAtSameTime = maxPollsWithoutTime - 1 - int(l.sleepsInLoop*0x9e3779b97f4a7c15>>63)
	}
	l.lastPollTime = p.Kernel.Now()
}

// resetDeadlockDetection resets the job's count of idle polls, because the rank does something
// other than polling without success.
func (p *Port) resetDeadlockDetection() {
	p.consecutiveIdlePolls = 0
	p.lastPollFoundNothing = false
}

// countIdlePoll counts an unsuccessful poll, and ends the job if it is a deadlock.
func (p *Port) countIdlePoll() {
	p.lastPollFoundNothing = true
	if p.consecutiveIdlePolls++; p.consecutiveIdlePolls < idlePollsBeforeDeadlock {
		return
	}
	p.consecutiveIdlePolls = 0
	if !p.canIdlePollingEnd() {
		p.Kernel.Fail(sim.ErrStalled)
		p.park(awaitingPacket)
	}
}

// canIdlePollingEnd reports whether anything is under way, or another rank neither waits nor polls.
func (p *Port) canIdlePollingEnd() bool {
	polling := 0
	for i := range p.Ports {
		switch q := &p.Ports[i]; {
		case q == p || q.hasProgramEnded:
		case q.lastPollFoundNothing:
			polling++
		case !q.isWaiting():
			return true
		}
	}
	return p.Kernel.PendingSteps() > polling // each polling rank has one step: its next poll
}

// pollNetworks polls the networks if the inbox is empty, once or, if block is set, until a packet
// arrives. It reports whether there is a packet.
func (p *Port) pollNetworks(block bool) bool {
	for p.inbox.Head == nil {
		p.ElapseCharges()
		for block && p.inbox.Head == nil && !p.hasAnyNetworkData() {
			p.ParkAndElapseCharges()
		}
		if p.inbox.Head != nil { // a network has put it there
			break
		}
		for _, n := range p.polledNetworks {
			if !block || n.HasData(p) {
				n.Poll(p)
			}
		}
		if !block {
			if p.inbox.Head == nil {
				p.countIdlePoll()
				p.throttlePolling(&p.recvThrottle, 1)
			}
			break
		}
	}
	return p.inbox.Head != nil
}

// hasAnyNetworkData reports whether polling some network would find anything.
func (p *Port) hasAnyNetworkData() bool {
	for _, n := range p.polledNetworks {
		if n.HasData(p) {
			return true
		}
	}
	return false
}

// ParkAndElapseCharges waits as Park does, and then for interrupts of the processor.
func (p *Port) ParkAndElapseCharges() { p.parkThenElapseCharges(awaitingPacket) }

func (p *Port) parkThenElapseCharges(s processState) {
	p.park(s)
	p.AdvanceToKernel()
	p.Probe.ProcessorActivityUntil(p, p.Kernel.Now(), "", model.WaitActivity, 0)
	p.ElapseCharges()
}

// awaitChange sleeps until a time, or until something happens that concerns the rank.
func (p *Port) awaitChange(until unit.Time) {
	if until <= sim.Latest {
		p.Kernel.Schedule(until, (*waitTimeoutEvent)(p), uint64(p.waitSerial))
	}
	p.park(awaitingChange)
	p.AdvanceToKernel()
	p.waitSerial++
	p.ElapseCharges()
}

// waitTimeoutEvent is the end of a wait with a deadline.
type waitTimeoutEvent Port

// HandleEvent wakes the rank if it still sleeps.
func (a *waitTimeoutEvent) HandleEvent(rest uint64) {
	if p := (*Port)(a); uint64(p.waitSerial) == rest {
		p.resumeForChange()
	}
}
