package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Network joins ranks. Its methods are called while the port's rank runs: they charge its
// processor, and schedule what happens in the network as events. A packet ends with Arrive, or with
// the event Arrival; an access with Move and Finish.
type Network interface {
	Send(p *Port, pk *Packet)                  // charges the sender and schedules the packet's first move
	Receive(p *Port, pk *Packet)               // charges the taking of a packet from the inbox
	Start(p *Port, x *Access)                  // charges the start of a remote access and schedules its first move
	Count(p *Port, dst, r int, c Change) int64 // changes a register of another rank
}

// Reader is a Network whose ranks have to poll for arrived packets, as by a system call.
type Reader interface {
	Network
	Ready(p *Port) bool // reports whether a look would find anything
	Look(p *Port)       // looks once, and puts packets that are complete into the inbox
}

// Closer is a Network that hears when the program of a rank has ended.
type Closer interface {
	Network
	Close(p *Port)
}

// Holder is a Reader that implements device.Holder for its ranks.
type Holder interface {
	Reader
	Holds() bool
	Flush(p *Port) (done bool)
}

// Holds implements device.Holder.
func (p *Port) Holds() bool {
	h, ok := p.far.(Holder)
	return ok && h.Holds()
}

// Flush implements device.Holder.
func (p *Port) Flush() bool {
	h, ok := p.far.(Holder)
	return !ok || h.Flush(p)
}

// Bus is a Network of processors that share a memory bus, by which their copies go, too.
type Bus interface {
	Network
	Copying() bool           // copies go by the bus
	Copy(p *Port, bytes int) // charges a copy
}

// Came reports whether a packet is there that Recv would return at once.
func (p *Port) Came() bool { return p.inbox.Head != nil }

// Ends says what a network joins: Ranks ranks from First on, by N ends. Of nodes with fewer
// interfaces than ranks several ranks share an end.
type Ends struct {
	First, Ranks, N int
	Of              func(rank int) int // the end of a rank of the job
	Prefix          string             // of the names of the network's parts, such as "node 3 "
}

// Join lets ranks talk to those of their own node over one network, and to the others over another.
// near is nil where all ranks are joined by one network; it has count ranks from first on.
func (p *Port) Join(far, near Network, first, count int) {
	p.far, p.near, p.first, p.count = far, near, uint32(first), uint32(count)
	for _, n := range []Network{near, far} {
		if b, ok := n.(Bus); ok && b.Copying() {
			p.bus = b
		}
		if r, ok := n.(Reader); ok {
			p.readers = append(p.readers, r)
		}
	}
}

// network returns the network by which a rank talks to another.
func (p *Port) network(rank int) Network {
	if uint32(rank)-p.first < p.count {
		return p.near
	}
	return p.far
}

// Pace is a rate that remembers how long the last length took. Messages of one length follow each
// other, and a division takes longer than everything else that a link does.
type Pace struct {
	Rate unit.Rate
	n    int
	last unit.Time
}

// Time returns how long n bytes take.
func (p *Pace) Time(n int) unit.Time {
	if n != p.n {
		p.n, p.last = n, p.Rate.Time(n)
	}
	return p.last
}

// Register is a counter register of a rank as the network sees it: it serves one access after the
// other.
type Register struct{ sim.Server }

// Count changes register r of a rank, which serves one access after the other, each for hold. The
// request arrives after there, and the answer back after the access.
func (g *Register) Count(p *Port, there, hold, back unit.Time, dst, r int, c Change) int64 {
	p.Sleep(there)
	t := g.Reserve(p.Kernel.Now(), hold)
	p.Probe.Takes(&g.Server, "counter", model.Carrying, t, hold, 0)
	old := p.Change(dst, r, c)
	p.Sleep(t - p.Kernel.Now() + hold + back)
	p.CatchUp()
	return old
}

// Datagrams is a Network by which ranks send datagrams. Datagram returns nil if its systems do not.
type Datagrams interface {
	Network
	Datagram(p *Port) device.Datagram
}

// Datagram implements device.Port.
func (p *Port) Datagram() device.Datagram {
	if d, ok := p.far.(Datagrams); ok {
		return d.Datagram(p)
	}
	return nil
}

// OfferEvents lets the ranks of the job wait for events (device.Watch) on machines where ranks do
// not write each other's memory.
func (j *Job) OfferEvents() { j.watched = true }

// Happened counts an event of the rank, and wakes it if it waits.
func (p *Port) Happened() {
	p.events++
	p.Wake()
}
