package core

import (
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// SwitchedNetwork is the common part of networks whose nodes are connected by switches. Processors
// and transfer engines send chunks, so that other transfers can pass between the chunks of a long
// one. A chunk enters through the interface of its node and leaves through that of the destination
// (switch.go). The sending processor learns at once how long its interface delayed it. Contention
// further on delays only the chunks that wait there.
type SwitchedNetwork[R any] struct {
	AttachedRanks
	Job                       *Job
	Router                    Router[R]
	PacketSendChunking        Chunking // of packets sent by a processor
	Injectors                 []sim.Server
	SwitchOutputs             []SwitchOutput[R] // of all switches
	linkRate                  CachedRate
	timeFromSwitchToProcessor unit.Time // latency from the last switch until a processor sees the data
	senders                   []Sender[R]

	// MemoryArrivalTime returns when a rank's memory has the bytes of a chunk. first and last are
	// the arrival times of its first byte and, without delay by memory, of its last; nil: memory
	// causes no delay.
	MemoryArrivalTime func(of any, bytes int, first, last unit.Time) unit.Time
	freeChunks        *chunk[R] // unused chunks
	occupiedRoute     R         // temporary route of OccupyLinks
}

// Chunking says how bytes leave their source: in chunks, the first n bytes within TimeOfFirst(n).
type Chunking struct {
	ChunkBytes        int
	LinkOverheadBytes int // bytes of a chunk on a link in addition to its data
	TimeOfFirstBytes  func(n int) unit.Time
}

// Sender is the sending side of a rank. As an event handler it sends the next chunk of its first
// packet.
type Sender[R any] struct {
	network       *SwitchedNetwork[R]
	node          int32
	sendQueue     PacketList // the packet that is being sent, and those after it
	LastDeparture unit.Time  // when the last byte of the last packet left
}

// Initialize prepares a network for a job with a number of nodes.
func (s *SwitchedNetwork[R]) Initialize(j *Job, e AttachedRanks, r Router[R], nodes int, link unit.Rate, deliver unit.Time, node func(end int) int) {
	s.Job, s.AttachedRanks, s.Router, s.timeFromSwitchToProcessor, s.linkRate = j, e, r, deliver, CachedRate{Rate: link}
	s.Injectors, s.senders = make([]sim.Server, nodes), make([]Sender[R], e.RankCount)
	for i := range s.senders {
		s.senders[i].network, s.senders[i].node = s, int32(node(e.InterfaceOf(e.FirstRank+i)))
	}
}

// NodeOf returns the node of a rank of the job.
func (s *SwitchedNetwork[R]) NodeOf(rank int32) int { return int(s.SenderOfRank(rank).node) }

// SenderOfRank returns the sender state of a rank of the job.
func (s *SwitchedNetwork[R]) SenderOfRank(rank int32) *Sender[R] {
	return &s.senders[int(rank)-s.FirstRank]
}

// LatencyBetween returns the latency of a first byte between two ranks without contention.
func (s *SwitchedNetwork[R]) LatencyBetween(from, to int32) unit.Time {
	_, flight := s.Router.RouteBetween(s.NodeOf(from), s.NodeOf(to))
	return flight
}

// SendPacketInChunks charges a processor for writing a packet to its network interface, and sends
// the packet in chunks. Packets of one processor leave one after another; its send queue has those
// that must wait. With noise the processor may be ready for the next packet before the last one has
// left.
func (s *SwitchedNetwork[R]) SendPacketInChunks(p *Port, pk *Packet, bytes int, long unit.Time) {
	sender := s.SenderOfRank(p.ID)
	pk.Transit = Transit{NextTime: max(p.Clock, sender.LastDeparture), SenderNetworkDelayAtStart: p.TotalNetworkDelay, Size: bytes, Duration: long, HasHighPriority: pk.channelPriorityPlusOne == highPriorityPlusOne}
	p.Charge(long)
	p.PendingSends++
	first := sender.sendQueue.Head == nil
	sender.sendQueue.Push(pk)
	switch {
	case !first:
	case p.Kernel.IsIdleUntil(pk.Transit.NextTime):
		sender.sendNextChunk(pk, p.Clock)
	default:
		p.Kernel.Schedule(pk.Transit.NextTime, sender, 0)
	}
}

// HandleEvent sends the next chunk of the first packet.
func (r *Sender[R]) HandleEvent(uint64) { r.sendNextChunk(r.sendQueue.Head, EndOfVirtualTime) }

// sendNextChunk sends the next chunk and determines its progress up to the time until. It advances
// the clock of the storing processor by the delay of the network.
func (r *Sender[R]) sendNextChunk(pk *Packet, until unit.Time) {
	w, s := &pk.Transit, r.network
	p := &s.Job.Ports[pk.Src]
	at := w.NextTime
	late, last := s.SendChunk(pk, w, &s.PacketSendChunking, p.ID, pk.Dst, until)
	p.Clock += late
	p.TotalNetworkDelay += late
	p.Probe.ProcessorDelayed(p, pk, at, late, "network", model.BlockedActivity)
	if !last {
		s.Job.Kernel.Schedule(w.NextTime, r, 0)
		return
	}
	p.PendingSends--
	r.LastDeparture = w.NextTime
	r.sendQueue.Pop()
	if next := r.sendQueue.Head; next != nil {
		next.Transit.NextTime = max(next.Transit.NextTime+p.TotalNetworkDelay-next.Transit.SenderNetworkDelayAtStart, r.LastDeparture)
		s.Job.Kernel.Schedule(next.Transit.NextTime, r, 0)
	}
}

// SendChunk sends the next chunk of a transfer. It returns the delay by the network, and whether it
// was the last chunk. w.NextTime is then the time when its last byte has left. The caller has set
// the start time, the size and the total duration in w. Up to the time until, only scheduled events
// can happen: the caller's own time, or EndOfVirtualTime within an event.
func (s *SwitchedNetwork[R]) SendChunk(of any, w *Transit, f *Chunking, from, to int32, until unit.Time) (late unit.Time, last bool) {
	b := min(f.ChunkBytes, w.Size-w.Position)
	last = w.Position+b >= w.Size
	dur := w.Duration
	if !last {
		dur = f.TimeOfFirstBytes(w.Position + b)
	}
	if w.Position > 0 {
		dur -= f.TimeOfFirstBytes(w.Position)
	}
	entered := s.injectChunk(of, w.NextTime, s.NodeOf(from), s.NodeOf(to), b+f.LinkOverheadBytes, dur, last, w.HasHighPriority, until)
	if w.Position == 0 {
		s.Job.Probe.FirstByteDeparted(of, entered)
	}
	w.Position += b
	late, w.NextTime = entered-w.NextTime, entered+dur
	return late, last
}

// scheduleArrival schedules the end of a transfer whose last byte arrives at time t.
func (s *SwitchedNetwork[R]) scheduleArrival(of any, t unit.Time) {
	s.Job.Probe.LastByteArrived(of, t)
	switch of := of.(type) {
	case *Packet:
		s.Job.Kernel.Schedule(t, (*ArrivalEvent)(of), 0)
	case *RemoteAccess:
		s.Router.ScheduleAccessArrival(of, t)
	}
}
