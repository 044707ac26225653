package schedule

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Recording returns the activities of CPUs and the messages of a simulation, for time lines. It has
// at most the given number of ranks, spread evenly, among them the rank that finishes last. It
// omits messages to and from other ranks and, in dialect LGS, messages that arrive before their
// receive. It panics unless Options.Explain was set.
func (res *Result) Recording(most int) *model.Recording {
	r := res.run
	if r.log == nil {
		panic("schedule: Recording without Options.Explain")
	}
	x := &recorder{run: r, scale: unit.Time(r.scale()), track: map[int]int{}, sent: map[uint32]departure{}, flight: map[uint32]int{}, out: &model.Recording{}}
	n := min(most, r.Ranks())
	shown := map[int]bool{}
	for i := range n {
		rank := i * r.Ranks() / n
		if (i+1)*r.Ranks()/n > res.LastRank && rank <= res.LastRank {
			rank = res.LastRank
		}
		shown[rank] = true
	}
	for rank := range r.Ranks() {
		for c := 0; c < r.cpus && shown[rank]; c++ {
			t := model.Track{Name: fmt.Sprintf("rank %d", rank)}
			if r.cpus > 1 {
				t.Name += fmt.Sprintf(" CPU %d", c)
			}
			x.track[rank*r.cpus+c] = len(x.out.Ranks)
			x.out.Ranks = append(x.out.Ranks, t)
		}
	}
	x.out.OtherRanks = r.Ranks() - len(shown)
	for _, e := range r.log.entries {
		x.entry(e)
	}
	return x.out
}

// recorder makes a recording of entries.
type recorder struct {
	*run
	scale  unit.Time
	track  map[int]int // by CPU of all ranks
	sent   map[uint32]departure
	flight map[uint32]int // by send
	out    *model.Recording
}

// departure is when a CPU began to send a message, and when it left.
type departure struct{ began, left uint64 }

func (x *recorder) entry(e entry) {
	r := x.run
	op := e.what >> 3
	o := &r.ops[op]
	k := r.sent(o) - 1
	cpu := int(o.rank)*r.cpus + int(o.CPU)
	what := e.what & 7
	if r.Dialect == LogGP {
		k = length(o)
	} else {
		work := r.o + k*r.O.integer
		switch {
		case what == arriving:
			to := int(o.Peer)*r.cpus + int(o.CPU)
			x.flies(op, cpu, to, "message", e.at, o)
			if r.Dialect == LogGOPSim {
				work = r.o + max(k*r.O.integer, k*r.G.integer)
			} else {
				work += r.g
			}
			x.span(to, model.Receiving, "receive", e.at, e.at+work, o)
		case o.Kind == Calc:
			x.span(cpu, model.Computing, "calc", e.at, e.at+o.Size, o)
		case o.Kind == Send:
			x.span(cpu, model.Sending, "send", e.at, e.at+work, o)
			x.sent[op] = departure{e.at, e.at + r.o}
		case r.Dialect == LGS:
			x.span(cpu, model.Receiving, "receive", e.at, e.at+r.g+work, o)
		}
		return
	}
	inject := func(activity model.Activity, name string, work, k uint64, send uint32) {
		ready := r.Noise.end(o.rank, e.at, work)
		x.span(cpu, activity, name, e.at, r.Noise.end(o.rank, ready, r.O.of(k)), o)
		x.sent[send] = departure{e.at, ready}
	}
	switch what {
	case beginning:
		switch {
		case o.Kind == Calc:
			x.span(cpu, model.Computing, "calc", e.at, r.Noise.end(o.rank, e.at, o.Size*r.calc), o)
		case o.Kind == Send:
			inject(model.Sending, "send", r.o, r.opening(o), op)
		}
	case leaving:
		send := op
		if o.Kind == Recv {
			send = r.state[op]
		}
		d := x.sent[send]
		x.span(cpu, model.Blocked, "interface", d.left, e.at, o)
		x.sent[send] = departure{d.began, e.at}
	case arriving, given:
		name := "message"
		if what == given {
			name = "data"
		}
		if what == arriving && o.Size > r.S {
			name, k = "request", 0
		}
		x.flies(op, cpu, int(o.Peer)*r.cpus, name, e.at+max(r.G.of(k), r.O.of(k)), o)
	case answered:
		x.flies(op, int(o.Peer)*r.cpus, cpu, "answer", e.at, o)
	case taking:
		send := r.state[op]
		x.span(cpu, model.Receiving, "receive", e.at, r.Noise.end(o.rank, e.at, r.o+r.O.of(length(&r.ops[send]))), o)
		x.taken(send, e.at)
	case answering:
		x.taken(r.state[op], e.at)
		inject(model.Sending, "answer", 2*r.o, 0, r.state[op])
	case giving:
		x.taken(op, e.at)
		inject(model.Sending, "data", 2*r.o, length(o), op)
	}
}

// span adds what a CPU did. Before it the CPU has waited.
func (x *recorder) span(cpu int, a model.Activity, name string, from, to uint64, o *Op) {
	i, ok := x.track[cpu]
	if !ok || to <= from {
		return
	}
	t := &x.out.Ranks[i]
	s := model.Span{Name: name, Activity: a, From: unit.Time(from) * x.scale, To: unit.Time(to) * x.scale}
	if o.Kind != Calc {
		s.Bytes = int(o.Size)
	}
	switch idle := t.End(); {
	case s.From > idle:
		why := "operation"
		if a == model.Receiving {
			why = "message"
		}
		t.Spans = append(t.Spans, model.Span{Name: why, Activity: model.Waiting, From: idle, To: s.From})
	case s.From < idle: // in the reference dialects work may overlap with what comes late
		s.From = min(idle, s.To)
	}
	if s.To == s.From {
		return
	}
	t.Spans = append(t.Spans, s)
	t.Totals[a] += s.Time()
}

// flies adds a message between CPUs.
func (x *recorder) flies(send uint32, from, to int, name string, arrive uint64, o *Op) {
	f, ok := x.track[from]
	t, also := x.track[to]
	if !ok || !also {
		delete(x.flight, send)
		return
	}
	d := x.sent[send]
	x.flight[send] = len(x.out.Flights)
	x.out.Flights = append(x.out.Flights, model.Flight{
		Name: name, From: f, To: t, By: f, Bytes: int(o.Size), Taken: -1,
		Sent: unit.Time(d.began) * x.scale, Depart: unit.Time(d.left) * x.scale, Arrive: unit.Time(arrive) * x.scale,
	})
}

// taken notes when the receiver has begun to take the last flight of a message.
func (x *recorder) taken(send uint32, at uint64) {
	if i, ok := x.flight[send]; ok {
		x.out.Flights[i].Taken = unit.Time(at) * x.scale
	}
}
