package shm

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/transport"
)

// pace is for looks that are loads from a cache line.
var pace = transport.Pace{Check: 1 << 6, Yield: 1 << 11}

// longWait is the number of unsuccessful polls after which a rank publishes that it is waiting.
const longWait = 1 << 13

// wait waits for a packet.
func (p *port) wait() *device.Packet {
	if p.Blocks {
		return p.sleepUntil()
	}
	for looks := uint(1); ; looks++ {
		q := p.poll()
		if q == nil {
			host.PauseProcessor()
			if p.Spin(looks) {
				q = p.between(looks)
			}
		}
		if q != nil {
			if looks > longWait {
				p.me.waits.Add(1)
			}
			return q
		}
	}
}

// between does the occasional work of a spinning rank. It returns a packet if another rank has
// ended whose exit this rank must be notified of.
func (p *port) between(looks uint) *device.Packet {
	if p.takeExits() {
		return p.receive()
	}
	if asker := p.me.asker.Load(); asker != 0 && p.memory != nil {
		p.memory.help(asker)
	}
	if looks == longWait {
		p.publishWait()
	}
	return nil
}

// sleepUntil sleeps until there is a packet.
func (p *port) sleepUntil() *device.Packet {
	p.publishWait()
	for {
		p.sleep(p.incoming)
		p.takeExits()
		if q := p.receive(); q != nil {
			p.me.waits.Add(1)
			return q
		}
		p.Leave()
	}
}

// publishWait publishes that the rank waits, and its progress.
func (p *port) publishWait() {
	p.publishProgress()
	p.me.waits.Add(1)
}

// publishProgress publishes how far the rank is in its rings.
func (p *port) publishProgress() {
	for r := range p.writers {
		p.me.sent[r].Store(p.writers[r].at)
	}
	for i := range p.readers {
		r := &p.readers[i]
		p.me.received[r.src].Store(r.at)
	}
}

// rest waits until something may have changed, when the ring to send into is full.
func (p *port) rest(changed func() bool) {
	p.Leave()
	if p.Blocks {
		p.sleep(changed)
	} else {
		p.Idle()
	}
}

// sleep lets the rank sleep until it is woken, unless there is something already. A rank that has
// something for it writes that first and then looks at asleep; the sleeper does so the other way
// round. So one of them sees the other.
//
// Note: each uses an operation that reads and writes, which no processor lets a later read
// overtake. A store would do as Go defines it, but under the race detector stores are weaker: both
// would miss each other once in some thousand times, and sleep forever.
func (p *port) sleep(already func() bool) {
	p.me.asleep.Swap(1)
	if already() || p.Stop.Load() {
		p.me.asleep.Store(0)
		return
	}
	futexSleep(&p.me.asleep, 1)
	p.me.asleep.Store(0)
}

// wakeUp wakes a rank if it sleeps.
func (p *port) wakeUp(r int) {
	if p.Blocks {
		p.members[r].wake()
	}
}

// wake wakes the rank if it sleeps.
func (m *member) wake() {
	if m.asleep.CompareAndSwap(1, 0) {
		futexWakeOne(&m.asleep)
	}
}
