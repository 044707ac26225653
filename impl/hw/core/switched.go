package core

import (
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// SwitchedNetwork is the common part of networks whose nodes are connected by switches. Processors
// and transfer engines send in chunks, so that chunks of other transfers can pass between those of
// a long one. A chunk enters by the interface of its node and leaves by that of the other
// (switch.go). Its processor knows at once how long the interface made it wait; contention farther
// on delays only the chunks that wait there.
type SwitchedNetwork[R any] struct {
	AttachedRanks
	Job                       *Job
	Router                    Router[R]
	PacketSendChunking        Chunking // of a processor that sends packets
	Injectors                 []sim.Server
	SwitchOutputs             []SwitchOutput[R] // of the switches
	linkRate                  CachedRate
	timeFromSwitchToProcessor unit.Time // from the last switch until a processor can see what is there
	senders                   []Sender[R]

	// MemoryArrivalTime says when the memory of a rank has the bytes of a chunk, whose first is
	// there at a time and whose last otherwise at another; nil: then.
	MemoryArrivalTime func(of any, bytes int, first, last unit.Time) unit.Time
	freeChunks        *chunk[R] // chunks to use again
	occupiedRoute     R         // scratch of OccupyLinks
}

// Chunking says how bytes leave their source: in chunks, the first n bytes in TimeOfFirst(n).
type Chunking struct {
	ChunkBytes        int
	LinkOverheadBytes int // bytes of a chunk on a link, beside its own
	TimeOfFirstBytes  func(n int) unit.Time
}

// Sender is the sending side of a rank. As an event it sends the next chunk of its first packet.
type Sender[R any] struct {
	network       *SwitchedNetwork[R]
	node          int32
	sendQueue     PacketList // the packet whose chunks are leaving, and those that follow it
	LastDeparture unit.Time  // when the last byte of the last that left has left
}

// Initialize prepares a network for a job. node returns the node of an interface.
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

// LatencyBetween returns the time of a first byte between two ranks without contention.
func (s *SwitchedNetwork[R]) LatencyBetween(from, to int32) unit.Time {
	_, flight := s.Router.RouteBetween(s.NodeOf(from), s.NodeOf(to))
	return flight
}

// SendPacketInChunks charges a processor the time in which it writes the bytes of a packet to its
// network interface, and sends them in chunks. Packets of one processor leave one after the other;
// those that cannot leave yet are in its send queue. With noise the processor may be ready for the
// next packet before its last one has left.
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

// HandleEvent lets the next chunk of the first packet leave.
func (r *Sender[R]) HandleEvent(uint64) { r.sendNextChunk(r.sendQueue.Head, EndOfVirtualTime) }

// sendNextChunk lets the next chunk leave, and decides what becomes of it until a time. It advances
// the storing processor's clock by the time for which the network was late to take the chunk.
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

// SendChunk sends the next chunk of a transfer. It returns how late the network took it, and
// whether it was the last; w.NextTime is then the time when its last byte has left. The caller has
// set the time at which it begins, its size, and how long all of it takes. It knows that until a
// time nothing happens but what is scheduled: its own, or EndOfVirtualTime where it is an event.
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

// scheduleArrival schedules the end of a transfer whose last byte is there at a time.
func (s *SwitchedNetwork[R]) scheduleArrival(of any, t unit.Time) {
	s.Job.Probe.LastByteArrived(of, t)
	switch of := of.(type) {
	case *Packet:
		s.Job.Kernel.Schedule(t, (*ArrivalEvent)(of), 0)
	case *RemoteAccess:
		s.Router.ScheduleAccessArrival(of, t)
	}
}
