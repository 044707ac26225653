package core

import (
	"fmt"
	"runtime"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Port is a processor with its interface. It implements device.Port. Fields used for every packet
// or put come first: with a thousand ranks they are rarely in a cache.
type Port struct {
	*Job
	device.NoCapabilities
	Clock                   unit.Time    // time until which the processor is busy; while its rank runs, not before the kernel's time
	inbox                   PacketList   // packets that have arrived
	ID                      int32        // the rank
	PendingSends            int16        // packets that a scheduled event will send
	processState            processState // of the rank's process
	isStoreInProgress       bool         // events carry out a store by the processor
	hasProgramEnded         bool         // the program has returned
	lastPollFoundNothing    bool         // the last action of the rank was an unsuccessful poll
	awaitedWord             *[8]byte     // the word for which the rank waits; nil: none
	awaitedWordOldValue     uint64       // its value when the wait began
	watchEventCount         uint64       // result of Watch.EventCount
	waitSerial              uint32
	firstNearRank           uint32
	nearRankCount           uint32
	farNetwork, nearNetwork Network // nearNetwork connects the nearRankCount ranks from firstNearRank on
	exposedMemory           device.Regions
	currentProc             *sim.Proc       // the rank's running process: programProc until the program has ended
	copyBus                 CopyBus         // nil: copies use no shared bus
	memoryRegistrar         MemoryRegistrar // nil: memory needs no registration
	signalState             *signalState    // nil: the rank has no handler and has received no signal
	loadThrottle            pollThrottle
	lastReceived            *Packet         // the last result of Recv; valid until the next Recv
	TotalNetworkDelay       unit.Time       // total time by which networks have delayed the processor
	polledNetworks          []PolledNetwork // its networks that need polling
	noise                   Noise
	packetHandler           device.PacketHandler // of AwaitPackets
	programProc             sim.Proc

	recvThrottle, clockThrottle        pollThrottle
	barriersEntered                    uint64 // number of hardware barriers that the rank has entered
	broadcastsBegun, combinationsBegun int    // numbers of broadcasts and combinations that the rank has started (device.Control)
	atomicRegisters                    [device.CountersPerRank]int64
	isWordRefused                      bool // the last atomic operation in memory was
	sendsAtKernelTime                  bool // some network of the rank is a KernelTimeSender that does so
	queues                             queueTable
	handlerPanic                       any                                 // panic value of packetHandler
	channelQueues                      *[device.NumPriorities]channelQueue // nil: the network has none
}

// maxPendingSends is the number of packets that a rank may send before other ranks run.
const maxPendingSends = 64

// AdvanceToKernel advances the processor's clock to the kernel's if it is behind after a wait. It
// does not change a clock that has overflowed: the kernel will refuse its next event.
func (p *Port) AdvanceToKernel() {
	p.Clock = unit.Time(max(uint64(p.Clock), uint64(p.Kernel.Now())))
}

// ElapseCharges waits until the kernel's clock has reached the processor's. During that wait the
// network may delay the processor.
func (p *Port) ElapseCharges() {
	if p.isStoreInProgress {
		p.park(awaitingStoreAndCharges)
	}
	for d := p.Clock - p.Kernel.Now(); d > 0; d = p.Clock - p.Kernel.Now() {
		p.currentProc.Sleep(d)
	}
}

// AwaitStore waits until no store occupies the processor. Charges since the start of the store have
// not elapsed at that time.
func (p *Port) AwaitStore() {
	if p.isStoreInProgress {
		p.park(awaitingOwnStoreEnd)
	}
}

// Sleep lets d pass on the kernel's clock. It does not change the processor's clock.
func (p *Port) Sleep(d unit.Time) { p.currentProc.Sleep(d) }

// Charge keeps the processor busy for d, plus or minus noise.
func (p *Port) Charge(d unit.Time) {
	if p.noise.relativeDeviation > 0 {
		d = p.noise.addNoise(d)
	}
	p.Clock += d
}

// WithNoise returns d plus or minus noise.
func (p *Port) WithNoise(d unit.Time) unit.Time {
	if p.noise.relativeDeviation > 0 {
		d = p.noise.addNoise(d)
	}
	return d
}

// RateWithNoise returns a rate at which a transfer that takes d at rate r takes WithNoise(d).
func (p *Port) RateWithNoise(r unit.Rate) unit.Rate {
	if p.noise.relativeDeviation > 0 {
		r *= unit.Rate(float64(unit.Second) / float64(p.noise.addNoise(unit.Second)))
	}
	return r
}

// RanksAreSerialized implements device.SerializedPort.
func (p *Port) RanksAreSerialized() bool { return true }

// Rank and the methods below implement device.Port.
func (p *Port) Rank() int { return int(p.ID) }

// Size implements device.Port.
func (p *Port) Size() int { return len(p.Ports) }

// Tier implements device.Port.
func (p *Port) Tier(rank int) model.Tier { return p.Machine.TierOfRanks(int(p.ID), rank) }

// Node implements device.Port.
func (p *Port) Node() string {
	return fmt.Sprintf("%s, node %d", p.Machine.Name, p.Machine.NodeOfRank(int(p.ID)))
}

// Tick implements device.Port: clock readings are multiples of it.
func (p *Port) Tick() unit.Time { return p.Machine.TimerResolution }

// Spend implements device.Port.
func (p *Port) Spend(w model.CostKey, n int) { p.Charge(p.softwareCosts[w].Times(n)) }

// Delay implements device.Port.
func (p *Port) Delay(d unit.Time) {
	p.resetDeadlockDetection()
	p.AddDelay(d)
	if p.signalState == nil {
		p.ElapseCharges()
	} else {
		p.computeWithSignals()
	}
}

// AddDelay adds computing time to the processor's clock. If the clock would pass the latest time,
// it fails the job and does not return.
func (p *Port) AddDelay(d unit.Time) {
	device.CheckDelay(d)
	if d <= sim.Latest-p.Clock {
		p.Clock += d
		return
	}
	stack := make([]uintptr, 64)
	p.Kernel.Fail(&device.ClockError{Rank: int(p.ID), Latest: sim.Latest, Clock: p.Clock, Delay: d, Stack: stack[:runtime.Callers(2, stack)]})
	for {
		p.currentProc.Park() // until the kernel unwinds it
	}
}

// Copy implements device.Port.
func (p *Port) Copy(dst, src []byte) int {
	n := device.CopyBytes(dst, src)
	p.resetDeadlockDetection()
	switch {
	case n == 0:
	case p.copyBus != nil:
		p.AwaitStore()
		p.copyBus.ChargeCopy(p, n)
	default:
		p.Charge(p.CopyTime(n))
	}
	return n
}

// ChargeOperations implements device.Port.
func (p *Port) ChargeOperations(n int) {
	p.resetDeadlockDetection()
	p.Charge(p.Machine.Processor.Operation.Times(n))
}

// CopyTime returns the time in which the processor copies n bytes.
func (p *Port) CopyTime(n int) unit.Time {
	if long := &p.Machine.Processor.LongCopy; long.Takes(n) {
		return long.Time(n)
	}
	return p.Machine.Processor.Copy.Start + p.copyRate.Time(n)
}

// Send implements device.Port.
func (p *Port) Send(dst int, x *device.Packet) {
	pk := p.newPacketTo(dst, x)
	pk.Network.Send(p, pk)
}

// newPacketTo returns a packet that its network has not yet taken.
func (p *Port) newPacketTo(dst int, x *device.Packet) *Packet {
	p.checkRank(dst)
	p.resetDeadlockDetection()
	p.AwaitStore()
	if p.PendingSends >= maxPendingSends {
		p.ElapseCharges()
	}
	pk := p.newPacket(p.ID, int32(dst), &x.Head, x.Data)
	pk.Network = p.networkTo(dst)
	if p.memoryRegistrar != nil && pk.Network == p.memoryRegistrar {
		p.memoryRegistrar.RegisterData(p, x.Data)
	}
	return pk
}

// CompletesSends implements device.SendCompleter.
func (p *Port) CompletesSends(dst, n int) bool {
	r, ok := p.networkTo(dst).(SendCompletingNetwork)
	return ok && r.CompletesSends(n)
}

// SendWithCompletion implements device.SendCompleter. The network lets pk.Completion arrive.
func (p *Port) SendWithCompletion(dst int, x *device.Packet, done device.Head) {
	pk := p.newPacketTo(dst, x)
	pk.Completion = p.newPacket(p.ID, p.ID, &done, nil)
	pk.Completion.isCompletion, pk.Completion.polledBy = true, pk.Network.(CompletionPoller)
	pk.Network.Send(p, pk)
}

// checkRank panics unless the rank exists.
func (p *Port) checkRank(rank int) {
	if rank < 0 || rank >= len(p.Ports) {
		panic(fmt.Sprintf("hw: no rank %d among %d", rank, len(p.Ports)))
	}
}

// Recv takes the first packet that has arrived. Packets in the inbox have arrived by the
// processor's own time, and later ones are queued after them. So the rank waits for the kernel only
// if its inbox is empty.
func (p *Port) Recv(block bool) *device.Packet {
	p.releaseLastReceived()
	for p.inbox.Head == nil {
		if p.signalState != nil && p.runSignalHandler() {
			continue
		}
		if block && p.polledNetworks == nil { // not by Park: behind a switch of coroutines return prediction fails, so waits should be few calls deep
			p.processState = awaitingPacket
			p.currentProc.Park()
			p.AdvanceToKernel()
		} else if !p.pollNetworks(block) {
			return nil
		}
	}
	p.resetDeadlockDetection()
	pk := p.inbox.Pop()
	p.lastReceived = pk
	switch {
	case !pk.isCompletion:
		pk.Network.Receive(p, pk)
	case pk.polledBy != nil:
		pk.polledBy.ChargeCompletionPoll(p)
	}
	return &pk.Packet
}

// releaseLastReceived makes the last result of Recv available for reuse.
func (p *Port) releaseLastReceived() {
	if p.lastReceived != nil {
		p.lastReceived.Next, p.freePackets = p.freePackets, p.lastReceived
		p.lastReceived = nil
	}
}

// LastReceived returns the last packet that Recv returned.
func (p *Port) LastReceived() *Packet { return p.lastReceived }

// AppendToInbox appends a packet to the rank's inbox without waking the rank. It drops packets for
// a rank whose program has ended.
func (p *Port) AppendToInbox(pk *Packet) {
	if p.hasProgramEnded {
		p.ReleasePacket(pk)
		return
	}
	p.inbox.Push(pk)
}

// HasProgramEnded reports whether the program of the rank has ended.
func (p *Port) HasProgramEnded() bool { return p.hasProgramEnded }

// Park waits until a packet arrives or Wake is called.
func (p *Port) Park() {
	p.park(awaitingPacket)
	p.AdvanceToKernel()
}
