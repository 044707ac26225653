package core

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Port is a processor with its interface, which implements device.Port. Fields that every packet or
// put needs come first: with a thousand ranks they are seldom in a cache.
type Port struct {
	*Job
	device.None
	Clock     unit.Time // until when the processor is busy; while its rank runs, not before the kernel's
	inbox     List      // packets that have arrived
	ID        int32     // the rank
	Ahead     int16     // packets whose sending is an event to come
	state     state     // of the rank's process
	storing   bool      // events carry out a store of the processor
	ended     bool      // the program has returned
	awaited   *[8]byte  // the word that the rank waits for; nil: none
	old       uint64    // what it was
	events    uint64    // of device.Watch
	rests     uint32
	first     uint32
	count     uint32
	far, near Network // near joins the ranks first to first + count - 1
	memory    device.Regions
	proc      *sim.Proc // that is life, until the program has ended
	bus       Bus       // nil: copies disturb nobody
	handlers  *handlers // nil: no signal was ever of use
	loads     looks
	held      *Packet   // lent to the rank until the next Recv
	Late      unit.Time // how long networks have delayed the processor
	readers   []Reader  // those of its networks that are
	noise     Noise
	life      sim.Proc

	polls, readings     looks
	arrivals            uint64 // at the barrier
	heard, combinations int    // of device.Control: broadcasts and combinations that the rank has begun
	counters            [device.Counters]int64
	queues              rings
	lanes               [device.NumPriorities]lane
}

// maxAhead is how many packets a rank may send before others get to run.
const maxAhead = 64

// CatchUp brings the processor's clock to the kernel's, if it is behind after a wait.
func (p *Port) CatchUp() { p.Clock = max(p.Clock, p.Kernel.Now()) }

// Pay lets the kernel's clock catch up with the processor's. The network may delay the processor
// meanwhile.
func (p *Port) Pay() {
	if p.storing {
		p.park(payingStore)
	}
	for d := p.Clock - p.Kernel.Now(); d > 0; d = p.Clock - p.Kernel.Now() {
		p.proc.Sleep(d)
	}
}

// Settle lets the rank wait until nothing occupies its processor. What the processor has been
// charged for since remains to be paid.
func (p *Port) Settle() {
	if p.storing {
		p.park(awaitingStore)
	}
}

// Sleep lets the kernel's clock advance by d, beside the processor's.
func (p *Port) Sleep(d unit.Time) { p.proc.Sleep(d) }

// Charge keeps the processor busy for d, or about d where there is noise.
func (p *Port) Charge(d unit.Time) {
	if p.noise.relative > 0 {
		d = p.noise.vary(d)
	}
	p.Clock += d
}

// About returns a time, or about that time where there is noise.
func (p *Port) About(d unit.Time) unit.Time {
	if p.noise.relative > 0 {
		d = p.noise.vary(d)
	}
	return d
}

// AboutRate returns a rate, or about that rate where there is noise: what takes d at the one takes
// d with noise at the other.
func (p *Port) AboutRate(r unit.Rate) unit.Rate {
	if p.noise.relative > 0 {
		r *= unit.Rate(float64(unit.Second) / float64(p.noise.vary(unit.Second)))
	}
	return r
}

// Rank implements device.Port, as do the others.
func (p *Port) Rank() int { return int(p.ID) }

// Size implements device.Port.
func (p *Port) Size() int { return len(p.Ports) }

// Tier implements device.Port.
func (p *Port) Tier(rank int) model.Tier { return p.Machine.Tier(int(p.ID), rank) }

// Node implements device.Port.
func (p *Port) Node() string {
	return fmt.Sprintf("%s, node %d", p.Machine.Name, p.Machine.Node(int(p.ID)))
}

// Tick implements device.Port: readings are multiples of it.
func (p *Port) Tick() unit.Time { return p.Machine.Timer }

// Spend implements device.Port.
func (p *Port) Spend(w model.CostKey, n int) { p.Charge(p.software[w] * unit.Time(n)) }

// Delay implements device.Port.
func (p *Port) Delay(d unit.Time) {
	p.Clock += d
	if p.handlers == nil {
		p.Pay()
	} else {
		p.work()
	}
}

// Copy implements device.Port.
func (p *Port) Copy(dst, src []byte) int {
	n := copy(dst, src)
	switch {
	case n == 0:
	case p.bus != nil:
		p.Settle()
		p.bus.Copy(p, n)
	default:
		p.Charge(p.CopyTime(n))
	}
	return n
}

// Operate implements device.Port.
func (p *Port) Operate(n int) { p.Charge(p.Machine.Processor.Operation * unit.Time(n)) }

// CopyTime returns how long the processor takes to copy n bytes.
func (p *Port) CopyTime(n int) unit.Time { return p.Machine.Processor.Copy.Start + p.copying.Time(n) }

// Send implements device.Port.
func (p *Port) Send(dst int, x *device.Packet) {
	p.check(dst)
	p.Settle()
	if p.Ahead >= maxAhead {
		p.Pay()
	}
	pk := p.newPacket(p.ID, int32(dst), &x.Head, x.Data)
	pk.Net = p.network(dst)
	pk.Net.Send(p, pk)
}

// check panics if the rank does not exist.
func (p *Port) check(rank int) {
	if rank < 0 || rank >= len(p.Ports) {
		panic(fmt.Sprintf("hw: no rank %d among %d", rank, len(p.Ports)))
	}
}

// Recv takes the first packet that has arrived. A packet is in the inbox no later than the
// processor's own time, and packets that arrive later are queued after it, so the rank waits for
// the kernel only if its inbox is empty.
func (p *Port) Recv(block bool) *device.Packet {
	if p.held != nil {
		p.held.Next, p.free = p.free, p.held
		p.held = nil
	}
	for p.inbox.Head == nil {
		if p.handlers != nil && p.deliver() {
			continue
		}
		if block && p.readers == nil { // not by Park: the processor predicts no return behind a switch, so a rank waits few calls deep
			p.state = awaitingPacket
			p.proc.Park()
			p.CatchUp()
		} else if !p.look(block) {
			return nil
		}
	}
	pk := p.inbox.Pop()
	p.held = pk
	if !pk.local {
		pk.Net.Receive(p, pk)
	}
	return &pk.Packet
}

// Held returns the packet that Recv has returned last.
func (p *Port) Held() *Packet { return p.held }

// Deliver puts a packet into the inbox of a rank that is not to be woken for it. A packet for a
// rank whose program has ended is dropped.
func (p *Port) Deliver(pk *Packet) {
	if p.ended {
		p.Release(pk)
		return
	}
	p.inbox.Push(pk)
}

// Ended reports whether the program of the rank has ended.
func (p *Port) Ended() bool { return p.ended }

// Park waits until a packet arrives or Wake is called.
func (p *Port) Park() {
	p.park(awaitingPacket)
	p.CatchUp()
}
