package core

import (
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Polling costs what waiting costs. A rank that polls and finds no packet, at the same time as its
// previous poll, is in a loop that takes no simulated time and would never see a change. So it
// sleeps until an event concerns it: a packet or data comes for it, or another rank writes its
// memory or changes its counters. It then sees the change at the time at which a rank that waits
// would have seen it.
//
// A loop may also look for something that the machine does not know of, above all for a time, by
// Now. So a sleep ends after an eighth of the time that the loop has lasted, a tick at least and
// maxPollSleep at most, and by that much such a loop may be late. Note: to sleep until the next
// event of any kind is not enough. Where two ranks poll, that is the other's poll, at the same
// time.
//
// Ranks that poll again and again, while nothing is under way and no rank does anything else, wait
// for each other: after idlePollsBeforeDeadlock that is a deadlock.
const maxPollSleep = unit.Microsecond

// idlePollsBeforeDeadlock is how many looks for packets of all ranks find none, one after the other
// and with nothing else between them, before they count as a wait. A loop may end by its number of
// turns: those of programs are well below.
const idlePollsBeforeDeadlock = 1_000_000

// maxPollsWithoutTime is how often a rank may read the clock, or words that others write, before
// time passes by that.
const maxPollsWithoutTime = 1000

// A loop that does nothing but read the clock, for longer than longClockLoopDuration, may be late
// by a share of the time that it lasts.
const (
	longClockLoopDuration = unit.Millisecond
	clockSleepDivisor     = 64
	maxClockPollSleep     = 200 * unit.Microsecond
)

// pollThrottle counts what a rank does again and again at no cost, until time has to pass.
type pollThrottle struct {
	lastPollTime, loopStart unit.Time // of the last, and when the first was
	pollsAtSameTime         int       // of those at the same time
	sleepsInLoop            uint64    // of a loop that reads the clock
}

// throttlePolling lets time pass if the rank has looked more than free times without spending time
// between.
func (p *Port) throttlePolling(l *pollThrottle, free int) {
	if now := p.Kernel.Now(); l.lastPollTime != now {
		l.loopStart, l.pollsAtSameTime = now, 0
	}
	if l.pollsAtSameTime++; l.pollsAtSameTime > free {
		p.awaitChange(p.Kernel.Now() + min(max((p.Kernel.Now()-l.loopStart)/8, p.Machine.TimerResolution), maxPollSleep))
		l.pollsAtSameTime = free - 1 // a rank that ends its loop may look once more
	}
	l.lastPollTime = p.Kernel.Now()
}

// Now implements device.Port.
func (p *Port) Now() unit.Time {
	p.ElapseCharges()
	if p.signals != nil {
		p.runSignalHandler()
	}
	p.resetDeadlockDetection()
	p.throttleClockReads()
	now := p.Kernel.Now()
	return now - now%p.Machine.TimerResolution
}

// throttleClockReads lets time pass if the rank has read the clock more than maxPollsWithoutTime
// times without spending time between. Benchmarks repeat some work until it takes long enough, by
// readings before and after it. One or two readings are free between sleeps, by a sequence that
// does not repeat (multiples of the golden ratio): so sleeps fall between any two readings of a
// turn. They are longer in a long loop: so they are long enough at last.
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

// resetDeadlockDetection sets the job's count of idle polls to zero, as the rank does something
// else than looking for packets in vain.
func (p *Port) resetDeadlockDetection() {
	p.consecutiveIdlePolls = 0
	p.lastPollFoundNothing = false
}

// countIdlePoll notes that the rank has looked for packets in vain, and ends the job in a
// deadlock.
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

// canIdlePollingEnd reports whether anything is under way, or another rank does anything else than
// to wait or to poll in vain.
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
	return p.Kernel.PendingSteps() > polling // that each of those looks again
}

// pollNetworks looks for packets once where the inbox is empty, or until there is one, and reports
// whether there is.
func (p *Port) pollNetworks(block bool) bool {
	for p.inbox.Head == nil {
		p.ElapseCharges()
		for block && p.inbox.Head == nil && !p.hasAnyNetworkData() {
			p.ParkAndElapseCharges()
		}
		if p.inbox.Head != nil { // by a network that puts it there
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

// hasAnyNetworkData reports whether a look at some polled network would find anything.
func (p *Port) hasAnyNetworkData() bool {
	for _, n := range p.polledNetworks {
		if n.HasData(p) {
			return true
		}
	}
	return false
}

// ParkAndElapseCharges waits as Park does, and for whatever interrupts the processor then.
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
