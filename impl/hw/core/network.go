package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Network connects ranks. Its methods are called while the port's rank runs. They charge its
// processor and schedule events in the network. The last event of a packet calls Arrive, or is an
// ArrivalEvent. The last events of an access call CopyData and Complete.
type Network interface {
	Send(p *Port, pk *Packet)                                   // charges the sender and schedules the packet's first event
	Receive(p *Port, pk *Packet)                                // charges taking a packet from the inbox
	StartAccess(p *Port, x *RemoteAccess)                       // charges the start of a remote access and schedules its first event
	UpdateRegister(p *Port, dst, r int, c RegisterUpdate) int64 // updates a register of another rank, and returns the previous value
}

// PolledNetwork is a Network whose ranks must poll for arrived packets, as by a system call.
type PolledNetwork interface {
	Network
	HasData(p *Port) bool // reports whether Poll would find anything
	Poll(p *Port)         // polls once, and puts complete packets into the inbox
}

// KernelTimeSender is a Network whose Send may wait until the kernel's clock has reached the
// processor's, so that ranks carry out their steps by themselves (Port.CanAwaitPackets).
type KernelTimeSender interface {
	Network
	SendsAtKernelTime() bool
}

// ExitObserver is a Network that is notified when the program of a rank has ended.
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

// CompletionPoller is a Network whose processors poll for completions of remote accesses.
type CompletionPoller interface {
	Network
	ChargeCompletionPoll(p *Port) // charges taking one completion
}

// SendCompletingNetwork is a CompletionPoller that implements device.SendCompleter for its ranks.
// It lets the Completion of a packet arrive when it has delivered the packet.
type SendCompletingNetwork interface {
	CompletionPoller
	CompletesSends(n int) bool
}

// MemoryRegistrar is a Network that accesses only registered memory.
type MemoryRegistrar interface {
	Network
	NeedsRegistration() bool          // whether registration takes time
	RegisterMemory(p *Port, b []byte) // charges the registration of a rank's memory, unless it is registered
	RegisterData(p *Port, b []byte)   // does so for the data of a packet, if the interface reads it from there
}

// CopyBus is a Network of processors that share a memory bus with their copies.
type CopyBus interface {
	Network
	CarriesCopies() bool           // whether copies use the bus
	ChargeCopy(p *Port, bytes int) // charges a copy
}

// AttachedRanks says which ranks a network connects: RankCount ranks from FirstRank on, through
// InterfaceCount interfaces. If a node has fewer interfaces than ranks, several ranks share one.
type AttachedRanks struct {
	FirstRank, RankCount, InterfaceCount int
	InterfaceOf                          func(rank int) int // the interface of a rank of the job
	NamePrefix                           string             // prefix of the names of the network's parts, such as "node 3 "
}

// AttachNetworks connects a rank by the near network to the ranks of its own node, which are count
// ranks from first on, and by the far network to all others. near is nil if one network connects
// all ranks.
func (p *Port) AttachNetworks(far, near Network, first, count int) {
	p.farNetwork, p.nearNetwork, p.firstNearRank, p.nearRankCount = far, near, uint32(first), uint32(count)
	if hasChannels(far) {
		p.channelQueues = new([device.NumPriorities]channelQueue)
	}
	for _, n := range []Network{near, far} {
		if b, ok := n.(CopyBus); ok && b.CarriesCopies() {
			p.copyBus = b
		}
		if r, ok := n.(MemoryRegistrar); ok && r.NeedsRegistration() {
			p.memoryRegistrar = r
		}
		if s, ok := n.(KernelTimeSender); ok && s.SendsAtKernelTime() {
			p.sendsAtKernelTime = true
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

// CachedRate is a rate that caches the time of the last length. Consecutive messages often have the
// same length, and a division takes longer than the rest of the emulation of a link.
type CachedRate struct {
	Rate        unit.Rate
	cachedBytes int
	cachedTime  unit.Time
}

// Time returns the time of n bytes.
func (p *CachedRate) Time(n int) unit.Time {
	if n != p.cachedBytes {
		p.cachedBytes, p.cachedTime = n, p.Rate.Time(n)
	}
	return p.cachedTime
}

// RegisterServer is the counter register of a rank as seen by the network. It serves one access at
// a time.
type RegisterServer struct{ sim.Server }

// Update updates register r of rank dst. The request takes the time there, each access occupies the
// register for hold, and the answer takes the time back. It returns the previous value.
func (g *RegisterServer) Update(p *Port, there, hold, back unit.Time, dst, r int, c RegisterUpdate) int64 {
	p.Sleep(there)
	t := g.Reserve(p.Kernel.Now(), hold)
	p.Probe.ServerOccupied(&g.Server, "counter", model.CarryActivity, t, hold, 0)
	old := p.UpdateRegisterOf(dst, r, c)
	p.Sleep(t - p.Kernel.Now() + hold + back)
	p.AdvanceToKernel()
	return old
}

// DatagramNetwork is a Network for datagrams. Datagram returns nil if its systems do not support
// them.
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

// EnableWatch lets the ranks of the job wait for events (device.Watch) on machines where ranks do
// not write each other's memory.
func (j *Job) EnableWatch() { j.hasWatch = true }

// NotifyEvent counts an event of the rank, and wakes the rank if it waits for one.
func (p *Port) NotifyEvent() {
	p.watchEventCount++
	p.Wake()
}
