package core

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
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
// maxPollBackoff at most, and by that much such a loop may be late. Note: to sleep until the next
// event of any kind is not enough. Where two ranks poll, that is the other's poll, at the same
// time.
const maxPollBackoff = unit.Microsecond

// maxFreePolls is how often a rank may read the clock, or words that others write, before time
// passes by that.
const maxFreePolls = 1000

// pollCounter are what a rank does again and again at no cost.
type pollCounter struct {
	lastTime, loopStart unit.Time // of the last, and when the first was
	count               int       // of those at the same time
}

// throttlePolling lets time pass if the rank has looked more than free times without spending time
// between.
func (p *Port) throttlePolling(l *pollCounter, free int) {
	if now := p.Kernel.Now(); l.lastTime != now {
		l.loopStart, l.count = now, 0
	}
	if l.count++; l.count > free {
		p.awaitChange(p.Kernel.Now() + min(max((p.Kernel.Now()-l.loopStart)/8, p.Machine.Timer), maxPollBackoff))
		l.count = free - 1 // a rank that ends its loop may look once more
	}
	l.lastTime = p.Kernel.Now()
}

// Now implements device.Port.
func (p *Port) Now() unit.Time {
	p.ElapseCharges()
	if p.pendingSignals != nil {
		p.runSignalHandler()
	}
	p.throttlePolling(&p.clockPolls, maxFreePolls)
	now := p.Kernel.Now()
	return now - now%p.Machine.Timer
}

// pollNetworks looks for packets once where the inbox is empty, or until there is one, and reports
// whether there is.
func (p *Port) pollNetworks(block bool) bool {
	for p.inbox.Head == nil {
		p.ElapseCharges()
		for block && p.inbox.Head == nil && !p.isAnyNetworkReady() {
			p.ParkAndElapse()
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
				p.throttlePolling(&p.recvPolls, 1)
			}
			break
		}
	}
	return p.inbox.Head != nil
}

// isAnyNetworkReady reports whether a look at some network would find anything.
func (p *Port) isAnyNetworkReady() bool {
	for _, n := range p.polledNetworks {
		if n.HasData(p) {
			return true
		}
	}
	return false
}

// ParkAndElapse waits as Park does, and for whatever interrupts the processor then.
func (p *Port) ParkAndElapse() { p.parkAndElapse(awaitingPacket) }

func (p *Port) parkAndElapse(s state) {
	p.park(s)
	p.AdvanceToKernel()
	p.Probe.ProcessorUntil(p, p.Kernel.Now(), "", model.Waiting, 0)
	p.ElapseCharges()
}

// awaitChange sleeps until a time, or until something happens that concerns the rank.
func (p *Port) awaitChange(until unit.Time) {
	if until <= sim.Latest {
		p.Kernel.Schedule(until, (*waitTimeout)(p), uint64(p.waitSerial))
	}
	p.park(awaitingChange)
	p.AdvanceToKernel()
	p.waitSerial++
	p.ElapseCharges()
}

// waitTimeout is the end of a rest.
type waitTimeout Port

// HandleEvent wakes the rank if it still sleeps.
func (a *waitTimeout) HandleEvent(rest uint64) {
	if p := (*Port)(a); uint64(p.waitSerial) == rest {
		p.resumeOnChange()
	}
}

// Watch implements device.Port.
func (p *Port) Watch() device.Watch {
	if !p.hasWatch {
		return nil
	}
	return p
}

// Events implements device.Watch, as do the others. It is a look, as Load is.
func (p *Port) Events() uint64 {
	p.ElapseCharges()
	p.runSignalHandler()
	p.throttlePolling(&p.loadPolls, maxFreePolls)
	return p.watchEventCount
}

// Wait sleeps until there are more events. Changes of counters end a sleep, too, and are no events.
func (p *Port) Wait(seen uint64, deadline unit.Time) bool {
	p.ElapseCharges()
	if late := deadline % p.Machine.Timer; deadline <= sim.Latest && late > 0 {
		deadline += p.Machine.Timer - late // when the clock shows it
	}
	p.runSignalHandler()
	for p.watchEventCount == seen && p.Kernel.Now() < deadline {
		p.awaitChange(deadline)
		p.runSignalHandler()
	}
	return p.watchEventCount != seen
}

// Load reads a word that others write.
func (p *Port) Load(k device.Key, off int) uint64 {
	p.ElapseCharges()
	p.runSignalHandler()
	p.throttlePolling(&p.loadPolls, maxFreePolls)
	return binary.NativeEndian.Uint64(p.localWord(k, off)[:])
}

// localWord returns the bytes of a word of the rank's own memory.
func (p *Port) localWord(k device.Key, off int) *[8]byte {
	b, ok := p.exposed.Access(k, off, 8)
	if !ok {
		panic(fmt.Sprintf("hw: load of a word at %d of memory %#x that rank %d does not expose", off, k, p.ID))
	}
	return (*[8]byte)(b)
}

// WaitWord implements device.WordWaiter. The rank is resumed when the word has changed, and not for
// what else happens to it.
func (p *Port) WaitWord(k device.Key, off int, old uint64) uint64 {
	for p.pendingSignals != nil {
		seen := p.Events()
		if w := p.Load(k, off); w != old {
			return w
		}
		p.Wait(seen, device.Forever)
	}
	p.throttlePolling(&p.loadPolls, maxFreePolls)
	p.awaitedWord, p.awaitedOld = p.localWord(k, off), old
	switch {
	case p.storeInProgress:
		p.park(awaitingWordCheck)
	case p.Clock > p.Kernel.Now() && !p.Kernel.IsIdleUntil(p.Clock):
		p.Kernel.Schedule(p.Clock, (*wordCheck)(p), 0)
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

// isWordUnchanged reports whether the rank waits for a word that is as it was.
func (p *Port) isWordUnchanged() bool {
	return p.awaitedWord != nil && binary.NativeEndian.Uint64(p.awaitedWord[:]) == p.awaitedOld
}

// Barrier implements device.Port.
func (p *Port) Barrier() device.Barrier {
	if p.Machine.Barrier() == 0 {
		return nil
	}
	return p
}

// Arrive implements device.Barrier, as Passed does.
func (p *Port) Arrive() {
	p.ElapseCharges()
	p.barriersEntered++
	if p.barrierRanksArrived++; p.barrierRanksArrived == len(p.Ports) {
		p.barrierRanksArrived = 0
		p.Kernel.Schedule(p.Kernel.Now()+p.Machine.Barrier(), (*barrierRelease)(p.Job), 0)
	}
}

// IsReleased does not wait.
func (p *Port) IsReleased() bool {
	p.ElapseCharges()
	p.throttlePolling(&p.loadPolls, maxFreePolls)
	return p.barriersReleased >= p.barriersEntered
}

// barrierRelease is the event of the barrier that opens.
type barrierRelease Job

// HandleEvent notifies all ranks.
func (o *barrierRelease) HandleEvent(uint64) {
	o.barriersReleased++
	for i := range o.Ports {
		o.Ports[i].watchEventCount++
		o.Ports[i].resumeOnChange()
	}
}
