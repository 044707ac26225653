package core

import (
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Switched is the common part of networks whose nodes are connected by switches. Processors and
// transfer engines send in chunks, so that chunks of other transfers can pass between those of a
// long one. A chunk enters by the interface of its node and leaves by that of the other
// (switch.go). Its processor knows at once how long the interface made it wait; contention farther
// on delays only the chunks that wait there.
type Switched[R any] struct {
	Ends
	J       *Job
	Router  Router[R]
	Stored  Flow // of a processor that sends packets
	Inject  []sim.Server
	Outputs []Output[R] // of the switches
	link    Pace
	deliver unit.Time // from the last switch until a processor can see what is there
	ranks   []Sender[R]

	// Taking says when the memory of a rank has the bytes of a chunk, whose first is there at a
	// time and whose last otherwise at another; nil: then.
	Taking func(of any, bytes int, first, last unit.Time) unit.Time
	spare  *chunk[R] // chunks to use again
	held   R         // where Hold is
}

// Flow says how bytes leave their source: in chunks, the first n bytes in Time(n).
type Flow struct {
	Chunk    int
	Overhead int // bytes of a chunk on a link, beside its own
	Time     func(n int) unit.Time
}

// Sender is what the network keeps of a rank. It is the event of its packet whose next chunk
// leaves.
type Sender[R any] struct {
	s       *Switched[R]
	node    int32
	leaving List      // packets that are leaving, in order
	Left    unit.Time // when the last byte of the last that left has left
}

// Init prepares a network for a job. node is the node of an end.
func (s *Switched[R]) Init(j *Job, e Ends, r Router[R], nodes int, link unit.Rate, deliver unit.Time, node func(end int) int) {
	s.J, s.Ends, s.Router, s.deliver, s.link = j, e, r, deliver, Pace{Rate: link}
	s.Inject, s.ranks = make([]sim.Server, nodes), make([]Sender[R], e.Ranks)
	for i := range s.ranks {
		s.ranks[i].s, s.ranks[i].node = s, int32(node(e.Of(e.First+i)))
	}
}

// Node returns the node of a rank of the job.
func (s *Switched[R]) Node(rank int32) int { return int(s.Sender(rank).node) }

// Sender returns what the network keeps of a rank of the job.
func (s *Switched[R]) Sender(rank int32) *Sender[R] { return &s.ranks[int(rank)-s.First] }

// Latency returns the time of a first byte between two ranks without contention.
func (s *Switched[R]) Latency(from, to int32) unit.Time {
	_, flight := s.Router.Way(s.Node(from), s.Node(to))
	return flight
}

// Store lets a processor store the bytes of a packet into the network, for long. Packets of one
// processor go one after the other; those that cannot begin to leave yet are in its list of leaving
// packets. With noise the processor may be ready for the next before its last one has left.
func (s *Switched[R]) Store(p *Port, pk *Packet, bytes int, long unit.Time) {
	me := s.Sender(p.ID)
	pk.Wire = Wire{At: max(p.Clock, me.Left), Late: p.Late, Size: bytes, Long: long, Urgent: pk.lane == urgent}
	p.Charge(long)
	p.Ahead++
	first := me.leaving.Head == nil
	me.leaving.Push(pk)
	switch {
	case !first:
	case p.Kernel.Quiet(pk.Wire.At):
		me.move(pk, p.Clock)
	default:
		p.Kernel.At(pk.Wire.At, me, 0)
	}
}

// Act lets the next chunk of the first packet leave.
func (me *Sender[R]) Act(uint64) { me.move(me.leaving.Head, Forever) }

// move lets the next chunk leave, and decides what becomes of it until a time. It advances the
// storing processor's clock by the time for which the network was late to take the chunk.
func (me *Sender[R]) move(pk *Packet, until unit.Time) {
	w, s := &pk.Wire, me.s
	p := &s.J.Ports[pk.Src]
	at := w.At
	late, last := s.Flow(pk, w, &s.Stored, p.ID, pk.Dst, until)
	p.Clock += late
	p.Late += late
	p.Probe.Delays(p, pk, at, late, "network", model.Blocked)
	if !last {
		s.J.Kernel.At(w.At, me, 0)
		return
	}
	p.Ahead--
	me.Left = w.At
	me.leaving.Pop()
	if next := me.leaving.Head; next != nil {
		next.Wire.At = max(next.Wire.At+p.Late-next.Wire.Late, me.Left)
		s.J.Kernel.At(next.Wire.At, me, 0)
	}
}

// Flow sends the next chunk of a transfer. It returns how late the network took it, and whether it
// was the last; w.At is then the time when its last byte has left. The caller has set the time at
// which it begins, its size, and how long all of it takes. It knows that until a time nothing
// happens but what is scheduled: its own, or Forever where it is an event.
func (s *Switched[R]) Flow(of any, w *Wire, f *Flow, from, to int32, until unit.Time) (late unit.Time, last bool) {
	b := min(f.Chunk, w.Size-w.Pos)
	last = w.Pos+b >= w.Size
	dur := w.Long
	if !last {
		dur = f.Time(w.Pos + b)
	}
	if w.Pos > 0 {
		dur -= f.Time(w.Pos)
	}
	entered := s.launch(of, w.At, s.Node(from), s.Node(to), b+f.Overhead, dur, last, w.Urgent, until)
	if w.Pos == 0 {
		s.J.Probe.Departs(of, entered)
	}
	w.Pos += b
	late, w.At = entered-w.At, entered+dur
	return late, last
}

// landed schedules the end of a transfer whose last byte is there at a time.
func (s *Switched[R]) landed(of any, t unit.Time) {
	s.J.Probe.Lands(of, t)
	switch of := of.(type) {
	case *Packet:
		s.J.Kernel.At(t, (*Arrival)(of), 0)
	case *Access:
		s.Router.Landed(of, t)
	}
}
