package core

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
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
// longestBackoff at most, and by that much such a loop may be late. Note: to sleep until the next
// event of any kind is not enough. Where two ranks poll, that is the other's poll, at the same
// time.
const longestBackoff = unit.Microsecond

// freeReadings is how often a rank may read the clock, or words that others write, before time
// passes by that.
const freeReadings = 1000

// looks are what a rank does again and again at no cost.
type looks struct {
	at, since unit.Time // of the last, and when the first was
	count     int       // of those at the same time
}

// again lets time pass if the rank has looked more than free times without spending time between.
func (p *Port) again(l *looks, free int) {
	if now := p.Kernel.Now(); l.at != now {
		l.since, l.count = now, 0
	}
	if l.count++; l.count > free {
		p.rest(p.Kernel.Now() + min(max((p.Kernel.Now()-l.since)/8, p.Machine.Timer), longestBackoff))
		l.count = free - 1 // a rank that ends its loop may look once more
	}
	l.at = p.Kernel.Now()
}

// Now implements device.Port.
func (p *Port) Now() unit.Time {
	p.Pay()
	if p.handlers != nil {
		p.deliver()
	}
	p.again(&p.readings, freeReadings)
	now := p.Kernel.Now()
	return now - now%p.Machine.Timer
}

// look looks for packets once where the inbox is empty, or until there is one, and reports whether
// there is.
func (p *Port) look(block bool) bool {
	for p.inbox.Head == nil {
		p.Pay()
		for block && p.inbox.Head == nil && !p.ready() {
			p.ParkAndPay()
		}
		if p.inbox.Head != nil { // by a network that puts it there
			break
		}
		for _, n := range p.readers {
			if !block || n.Ready(p) {
				n.Look(p)
			}
		}
		if !block {
			if p.inbox.Head == nil {
				p.again(&p.polls, 1)
			}
			break
		}
	}
	return p.inbox.Head != nil
}

// ready reports whether a look at some network would find anything.
func (p *Port) ready() bool {
	for _, n := range p.readers {
		if n.Ready(p) {
			return true
		}
	}
	return false
}

// ParkAndPay waits as Park does, and for whatever interrupts the processor then.
func (p *Port) ParkAndPay() { p.parkAndPay(awaitingPacket) }

func (p *Port) parkAndPay(s state) {
	p.park(s)
	p.CatchUp()
	p.Probe.Until(p, p.Kernel.Now(), "", model.Waiting, 0)
	p.Pay()
}

// rest sleeps until a time, or until something happens that concerns the rank.
func (p *Port) rest(until unit.Time) {
	if until != device.Forever {
		p.Kernel.At(until, (*alarm)(p), uint64(p.rests))
	}
	p.park(awaitingChange)
	p.CatchUp()
	p.rests++
	p.Pay()
}

// alarm is the end of a rest.
type alarm Port

// Act wakes the rank if it still sleeps.
func (a *alarm) Act(rest uint64) {
	if p := (*Port)(a); uint64(p.rests) == rest {
		p.concern()
	}
}

// Watch implements device.Port.
func (p *Port) Watch() device.Watch {
	if !p.watched {
		return nil
	}
	return p
}

// Events implements device.Watch, as do the others. It is a look, as Load is.
func (p *Port) Events() uint64 {
	p.Pay()
	p.deliver()
	p.again(&p.loads, freeReadings)
	return p.events
}

// Wait sleeps until there are more events. Changes of counters end a sleep, too, and are no events.
func (p *Port) Wait(seen uint64, deadline unit.Time) bool {
	p.Pay()
	if late := deadline % p.Machine.Timer; deadline != device.Forever && late > 0 {
		deadline += p.Machine.Timer - late // when the clock shows it
	}
	p.deliver()
	for p.events == seen && p.Kernel.Now() < deadline {
		p.rest(deadline)
		p.deliver()
	}
	return p.events != seen
}

// Load reads a word that others write.
func (p *Port) Load(k device.Key, off int) uint64 {
	p.Pay()
	p.deliver()
	p.again(&p.loads, freeReadings)
	return binary.NativeEndian.Uint64(p.word(k, off)[:])
}

// word returns the bytes of a word of the rank's own memory.
func (p *Port) word(k device.Key, off int) *[8]byte {
	b, ok := p.memory.Reach(k, off, 8)
	if !ok {
		panic(fmt.Sprintf("hw: load of a word at %d of memory %#x that rank %d does not expose", off, k, p.ID))
	}
	return (*[8]byte)(b)
}

// WaitWord implements device.WordWaiter. The rank is resumed when the word has changed, and not for
// what else happens to it.
func (p *Port) WaitWord(k device.Key, off int, old uint64) uint64 {
	for p.handlers != nil {
		seen := p.Events()
		if w := p.Load(k, off); w != old {
			return w
		}
		p.Wait(seen, device.Forever)
	}
	p.again(&p.loads, freeReadings)
	p.awaited, p.old = p.word(k, off), old
	switch {
	case p.storing:
		p.park(checkingWord)
	case p.Clock > p.Kernel.Now() && !p.Kernel.Quiet(p.Clock):
		p.Kernel.At(p.Clock, (*glance)(p), 0)
		p.park(checkingWord)
	default:
		p.Pay()
	}
	for p.unchanged() {
		p.park(awaitingChange)
	}
	w := binary.NativeEndian.Uint64(p.awaited[:])
	p.awaited = nil
	p.rests++
	p.CatchUp()
	return w
}

// unchanged reports whether the rank waits for a word that is as it was.
func (p *Port) unchanged() bool {
	return p.awaited != nil && binary.NativeEndian.Uint64(p.awaited[:]) == p.old
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
	p.Pay()
	p.arrivals++
	if p.arrived++; p.arrived == len(p.Ports) {
		p.arrived = 0
		p.Kernel.At(p.Kernel.Now()+p.Machine.Barrier(), (*opening)(p.Job), 0)
	}
}

// Passed does not wait.
func (p *Port) Passed() bool {
	p.Pay()
	p.again(&p.loads, freeReadings)
	return p.opened >= p.arrivals
}

// opening is the event of the barrier that opens.
type opening Job

// Act notifies all ranks.
func (o *opening) Act(uint64) {
	o.opened++
	for i := range o.Ports {
		o.Ports[i].events++
		o.Ports[i].concern()
	}
}
