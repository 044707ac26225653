package shm

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/transport"
)

// pollIntervals are those of a spinning rank. A poll is a load from a cache line.
var pollIntervals = transport.PollIntervals{CheckJob: 1 << 6, YieldProcessor: 1 << 11}

// longWaitPolls is the number of unsuccessful polls after which a rank publishes that it is
// waiting.
const longWaitPolls = 1 << 13

// waitForPacket waits for a packet.
func (p *port) waitForPacket() *device.Packet {
	if p.IsBlocking {
		return p.sleepForPacket()
	}
	for polls := uint(1); ; polls++ {
		q := p.pollRings()
		if q == nil {
			host.PauseProcessor()
			if p.AfterEmptyPoll(polls) {
				q = p.pollExitsAndHelp(polls)
			}
		}
		if q != nil {
			if polls > longWaitPolls {
				p.state.waitChanges.Add(1)
			}
			return q
		}
	}
}

// pollExitsAndHelp does the occasional work of a spinning rank. It returns a packet if another rank
// has ended whose exit this rank must be notified of.
func (p *port) pollExitsAndHelp(polls uint) *device.Packet {
	if p.deliverExits() {
		return p.nextPacket()
	}
	if asker := p.state.helpRequester.Load(); asker != 0 && p.memory != nil {
		p.memory.helpTransfer(asker)
	}
	if polls == longWaitPolls {
		p.publishWait()
	}
	return nil
}

// sleepForPacket sleeps until there is a packet.
func (p *port) sleepForPacket() *device.Packet {
	p.publishWait()
	for {
		p.sleepUnless(p.hasArrivals)
		p.deliverExits()
		if q := p.nextPacket(); q != nil {
			p.state.waitChanges.Add(1)
			return q
		}
		p.ExitIfJobFailed()
	}
}

// publishWait publishes that the rank waits, and its progress.
func (p *port) publishWait() {
	p.publishProgress()
	p.state.waitChanges.Add(1)
}

// publishProgress publishes the rank's position in its rings.
func (p *port) publishProgress() {
	for r := range p.writers {
		p.state.sent[r].Store(p.writers[r].linesWritten)
	}
	for i := range p.readers {
		r := &p.readers[i]
		p.state.received[r.writerRank].Store(r.linesRead)
	}
}

// awaitRoom waits until something may have changed while the ring to send into is full.
func (p *port) awaitRoom(changed func() bool) {
	p.ExitIfJobFailed()
	if p.IsBlocking {
		p.sleepUnless(changed)
	} else {
		p.YieldWhenIdle()
	}
}

// sleepUnless lets the rank sleep until it is woken, unless something has arrived already. A sender
// writes first and then reads isAsleep; the sleeper sets isAsleep first and then looks for data. So
// at least one of them sees the other.
//
// Note: each uses an operation that reads and writes, which no processor lets a later read
// overtake. A store would do as Go defines it, but under the race detector stores are weaker: both
// would miss each other once in some thousand times, and sleep forever.
func (p *port) sleepUnless(already func() bool) {
	p.state.isAsleep.Swap(1)
	if already() || p.JobFailed.Load() {
		p.state.isAsleep.Store(0)
		return
	}
	futexSleep(&p.state.isAsleep, 1)
	p.state.isAsleep.Store(0)
}

// wakeRank wakes a rank if it sleeps.
func (p *port) wakeRank(r int) {
	if p.IsBlocking {
		p.ranks[r].wake()
	}
}

// wake wakes the rank if it sleeps.
func (m *rankState) wake() {
	if m.isAsleep.CompareAndSwap(1, 0) {
		futexWakeOne(&m.isAsleep)
	}
}
