package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Network connects ranks. Its methods are called while the port's rank runs: they charge its
// processor, and schedule what happens in the network as events. A packet ends with Arrive, or with
// the event ArrivalEvent; an access with Move and Finish.
type Network interface {
	Send(p *Port, pk *Packet)                                   // charges the sender and schedules the packet's first move
	Receive(p *Port, pk *Packet)                                // charges the taking of a packet from the inbox
	StartAccess(p *Port, x *RemoteAccess)                       // charges the start of a remote access and schedules its first move
	UpdateRegister(p *Port, dst, r int, c RegisterUpdate) int64 // changes a register of another rank
}

// PolledNetwork is a Network whose ranks have to poll for arrived packets, as by a system call.
type PolledNetwork interface {
	Network
	HasData(p *Port) bool // reports whether a look would find anything
	Poll(p *Port)         // looks once, and puts packets that are complete into the inbox
}

// ExitObserver is a Network that hears when the program of a rank has ended.
type ExitObserver interface {
	Network
	NoteRankEnded(p *Port)
}

// BufferingNetwork is a PolledNetwork that implements device.BufferedSender for its ranks.
type BufferingNetwork interface {
	PolledNetwork
	BuffersSends() bool
	Flush(p *Port) (done bool)
}

// BuffersSends implements device.BufferedSender.
func (p *Port) BuffersSends() bool {
	h, ok := p.farNetwork.(BufferingNetwork)
	return ok && h.BuffersSends()
}

// Flush implements device.BufferedSender.
func (p *Port) Flush() bool {
	h, ok := p.farNetwork.(BufferingNetwork)
	return !ok || h.Flush(p)
}

// CompletionPoller is a Network whose processors poll the completions of remote accesses.
type CompletionPoller interface {
	Network
	ChargeCompletion(p *Port) // charges the taking of one
}

// MemoryRegistrar is a Network that accesses only memory that was registered.
type MemoryRegistrar interface {
	Network
	NeedsRegistration() bool          // whether registration takes time
	RegisterMemory(p *Port, b []byte) // charges the registration of memory of a rank, unless it is registered
	RegisterData(p *Port, b []byte)   // likewise of the data of a packet, if the interface reads it there
}

// CopyBus is a Network of processors that share a memory bus, which their copies use too.
type CopyBus interface {
	Network
	CarriesCopies() bool           // whether copies use the bus
	ChargeCopy(p *Port, bytes int) // charges a copy
}

// HasPacket reports whether the inbox has a packet, so that Recv returns at once.
func (p *Port) HasPacket() bool { return p.inbox.Head != nil }

// AttachedRanks says which ranks a network connects: RankCount ranks from FirstRank on, through a
// number of interfaces. If a node has fewer interfaces than ranks, several ranks share one.
type AttachedRanks struct {
	FirstRank, RankCount, InterfaceCount int
	InterfaceOf                          func(rank int) int // the interface of a rank of the job
	NamePrefix                           string             // prefix of the names of the network's parts, such as "node 3 "
}

// AttachNetworks connects a rank to the ranks of its own node by the near network and to all others
// by the far network. near is nil if one network connects all ranks; otherwise it connects the
// count ranks from first on.
func (p *Port) AttachNetworks(far, near Network, first, count int) {
	p.farNetwork, p.nearNetwork, p.firstNearRank, p.nearRankCount = far, near, uint32(first), uint32(count)
	for _, n := range []Network{near, far} {
		if b, ok := n.(CopyBus); ok && b.CarriesCopies() {
			p.copyBus = b
		}
		if r, ok := n.(MemoryRegistrar); ok && r.NeedsRegistration() {
			p.memoryRegistrar = r
		}
		if r, ok := n.(PolledNetwork); ok {
			p.polledNetworks = append(p.polledNetworks, r)
		}
	}
}

// networkTo returns the network that connects the port to another rank.
func (p *Port) networkTo(rank int) Network {
	if uint32(rank)-p.firstNearRank < p.nearRankCount {
		return p.nearNetwork
	}
	return p.farNetwork
}

// CachedRate is a rate that caches the time of the last length. Messages of one length often follow
// each other, and a division takes longer than all else that the emulation of a link does.
type CachedRate struct {
	Rate        unit.Rate
	cachedBytes int
	cachedTime  unit.Time
}

// Time returns how long n bytes take.
func (p *CachedRate) Time(n int) unit.Time {
	if n != p.cachedBytes {
		p.cachedBytes, p.cachedTime = n, p.Rate.Time(n)
	}
	return p.cachedTime
}

// RegisterServer is a counter register of a rank as the network sees it: it serves one access after
// the other.
type RegisterServer struct{ sim.Server }

// Update changes register r of a rank, which serves one access after the other, each for hold. The
// request arrives after there, and the answer back after the access.
func (g *RegisterServer) Update(p *Port, there, hold, back unit.Time, dst, r int, c RegisterUpdate) int64 {
	p.Sleep(there)
	t := g.Reserve(p.Kernel.Now(), hold)
	p.Probe.ServerOccupied(&g.Server, "counter", model.CarryActivity, t, hold, 0)
	old := p.UpdateRegisterOf(dst, r, c)
	p.Sleep(t - p.Kernel.Now() + hold + back)
	p.AdvanceToKernel()
	return old
}

// DatagramNetwork is a Network by which ranks send datagrams. Datagram returns nil if its systems
// do not.
type DatagramNetwork interface {
	Network
	Datagram(p *Port) device.Datagram
}

// Datagram implements device.Port.
func (p *Port) Datagram() device.Datagram {
	if d, ok := p.farNetwork.(DatagramNetwork); ok {
		return d.Datagram(p)
	}
	return nil
}

// EnableWatch lets the ranks of the job wait for events (device.Watch) on machines where ranks
// do not write each other's memory.
func (j *Job) EnableWatch() { j.hasWatch = true }

// NotifyEvent counts an event of the rank, and wakes it if it waits.
func (p *Port) NotifyEvent() {
	p.watchEventCount++
	p.Wake()
}
