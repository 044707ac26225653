package core

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model/unit"
)

// Waiting for changes of a rank's own memory, and the hardware barrier.

// Watch implements device.Port.
func (p *Port) Watch() device.Watch {
	if !p.hasWatch {
		return nil
	}
	return p
}

// EventCount and the methods below implement device.Watch. EventCount and LoadWord count as polls.
func (p *Port) EventCount() uint64 {
	p.ElapseCharges()
	p.runSignalHandler()
	p.throttlePolling(&p.loadThrottle, maxPollsWithoutTime)
	return p.watchEventCount
}

// WaitForEvent waits until more than seen events have occurred or until the deadline. Changes of
// counters end the wait but are not events.
func (p *Port) WaitForEvent(seen uint64, deadline unit.Time) bool {
	p.ElapseCharges()
	deadline = p.roundUpToTick(deadline)
	p.runSignalHandler()
	for p.watchEventCount == seen && p.Kernel.Now() < deadline {
		p.awaitChange(deadline)
		p.runSignalHandler()
	}
	return p.watchEventCount != seen
}

// AwaitPacket implements device.TimedWaiter.
func (p *Port) AwaitPacket(deadline unit.Time) {
	p.ElapseCharges()
	deadline = p.roundUpToTick(deadline)
	p.runSignalHandler()
	if p.inbox.Head == nil && !p.hasAnyNetworkData() && p.Kernel.Now() < deadline {
		p.resetDeadlockDetection()
		p.awaitChange(deadline)
	}
}

// roundUpToTick returns the time at which the clock first shows that a deadline has come.
func (p *Port) roundUpToTick(deadline unit.Time) unit.Time {
	if late := deadline % p.Machine.TimerResolution; deadline <= sim.Latest && late > 0 {
		deadline += p.Machine.TimerResolution - late
	}
	return deadline
}

// LoadWord reads a word that others write.
func (p *Port) LoadWord(k device.Key, off int) uint64 {
	p.ElapseCharges()
	p.runSignalHandler()
	p.throttlePolling(&p.loadThrottle, maxPollsWithoutTime)
	return binary.NativeEndian.Uint64(p.localWord(k, off)[:])
}

// localWord returns a word of the rank's own memory.
func (p *Port) localWord(k device.Key, off int) *[8]byte {
	b, ok := p.exposedMemory.Access(k, off, 8)
	if !ok {
		panic(fmt.Sprintf("hw: load of a word at %d of memory %#x that rank %d does not expose", off, k, p.ID))
	}
	return (*[8]byte)(b)
}

var _ device.WordWaiter = (*Port)(nil)

// WaitForWordChange implements device.WordWaiter. Only a change of the word resumes the rank.
func (p *Port) WaitForWordChange(k device.Key, off int, old uint64) uint64 {
	for p.signalState != nil {
		seen := p.EventCount()
		if w := p.LoadWord(k, off); w != old {
			return w
		}
		p.WaitForEvent(seen, device.Forever)
	}
	p.throttlePolling(&p.loadThrottle, maxPollsWithoutTime)
	p.awaitedWord, p.awaitedWordOldValue = p.localWord(k, off), old
	switch {
	case p.isStoreInProgress:
		p.park(awaitingWordCheck)
	case p.Clock > p.Kernel.Now() && !p.Kernel.IsIdleUntil(p.Clock):
		p.Kernel.Schedule(p.Clock, (*wordCheckEvent)(p), 0)
		p.park(awaitingWordCheck)
	default:
		p.ElapseCharges()
	}
	for p.isWordUnchanged() {
		p.park(awaitingChange)
	}
	w := binary.NativeEndian.Uint64(p.awaitedWord[:])
	p.awaitedWord = nil
	p.waitSerial++
	p.AdvanceToKernel()
	return w
}

// isWordUnchanged reports whether the word for which the rank waits still has its old value.
func (p *Port) isWordUnchanged() bool {
	return p.awaitedWord != nil && binary.NativeEndian.Uint64(p.awaitedWord[:]) == p.awaitedWordOldValue
}

// Barrier implements device.Port.
func (p *Port) Barrier() device.Barrier {
	if p.Machine.BarrierReleaseTime() == 0 {
		return nil
	}
	return p
}

// ArriveAtBarrier and IsBarrierReleased implement device.Barrier.
func (p *Port) ArriveAtBarrier() {
	p.ElapseCharges()
	p.barriersEntered++
	if p.barrierRanksArrived++; p.barrierRanksArrived == len(p.Ports) {
		p.barrierRanksArrived = 0
		p.Kernel.Schedule(p.Kernel.Now()+p.Machine.BarrierReleaseTime(), (*barrierReleaseEvent)(p.Job), 0)
	}
}

// IsBarrierReleased does not wait.
func (p *Port) IsBarrierReleased() bool {
	p.ElapseCharges()
	p.throttlePolling(&p.loadThrottle, maxPollsWithoutTime)
	return p.barriersReleased >= p.barriersEntered
}

// barrierReleaseEvent is the event that releases the barrier.
type barrierReleaseEvent Job

// HandleEvent notifies all ranks.
func (o *barrierReleaseEvent) HandleEvent(uint64) {
	o.barriersReleased++
	for i := range o.Ports {
		o.Ports[i].watchEventCount++
		o.Ports[i].resumeForChange()
	}
}
