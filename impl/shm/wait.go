package shm

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/machine"
)

// Looks that find nothing, after which a rank that spins
const (
	glances = 1 << 6  // sees whether the job has failed,
	patient = 1 << 11 // gives way to others on its processor, some tens of microseconds after it last did: too seldom to be seen in times,
	long    = 1 << 13 // says that it waits.
)

// wait waits for a packet.
func (p *port) wait() *device.Packet {
	if p.blocks {
		return p.sleepUntil()
	}
	said := false
	for i := 1; ; i++ {
		for range p.readers {
			r := &p.readers[p.turn]
			if r.ready() {
				if q := p.from(r); q != nil {
					if said {
						p.me.waits.Add(1)
					}
					return q
				}
			}
			if p.turn++; p.turn == len(p.readers) {
				p.turn = 0
			}
		}
		machine.Pause()
		if i%glances != 0 {
			continue
		}
		p.leave()
		if p.bury() {
			if said {
				p.me.waits.Add(1)
			}
			return p.receive()
		}
		if asker := p.me.asked.Load(); asker != 0 && p.memory != nil {
			p.memory.help(asker)
		}
		if i%patient == 0 {
			yield()
		}
		if i == long {
			p.say()
			said = true
		}
	}
}

// sleepUntil waits for a packet in its sleep.
func (p *port) sleepUntil() *device.Packet {
	p.say()
	for {
		p.sleep(p.incoming)
		p.bury()
		if q := p.receive(); q != nil {
			p.me.waits.Add(1)
			return q
		}
		p.leave()
	}
}

// say writes down that the rank waits, and how far it is.
func (p *port) say() {
	p.mark()
	p.me.waits.Add(1)
}

// mark writes down how far the rank is in its rings.
func (p *port) mark() {
	for r := range p.writers {
		p.me.sent[r].Store(p.writers[r].at)
	}
	for i := range p.readers {
		r := &p.readers[i]
		p.me.got[r.src].Store(r.at)
	}
}

// rest lets a rank that cannot send wait until something may have changed.
func (p *port) rest(changed func() bool) {
	p.leave()
	if p.blocks {
		p.sleep(changed)
	} else {
		p.idle()
	}
}

// idle lets others run where that is what the rank waits for.
func (p *port) idle() {
	p.looks++
	if p.blocks || p.looks%patient == 0 {
		yield()
	}
}

// sleep lets the rank sleep until it is woken, unless there is something already. Whoever has something for it writes that first and looks at asleep
// then, and the rank the other way round: one of them sees the other.
//
// Note: each does so by an operation that reads and writes, which no processor lets a later read overtake. A store would do as Go has it, but under
// the race detector stores are weaker: both would miss each other once in some thousand times, and sleep forever.
func (p *port) sleep(already func() bool) {
	p.me.asleep.Swap(1)
	if already() || p.stop.Load() {
		p.me.asleep.Store(0)
		return
	}
	sleepWhile(&p.me.asleep, 1)
	p.me.asleep.Store(0)
}

// nudge wakes a rank if it sleeps.
func (p *port) nudge(r int) {
	if p.blocks {
		p.members[r].wake()
	}
}

// wake wakes the rank if it sleeps.
func (m *member) wake() {
	if m.asleep.CompareAndSwap(1, 0) {
		wakeUp(&m.asleep)
	}
}
