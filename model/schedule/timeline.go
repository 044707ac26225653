package schedule

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Timeline returns the activities of CPUs and the messages of a simulation, to be drawn. It has
// at most the given number of ranks, spread evenly, among them the rank that finishes last. It
// omits messages to and from other ranks and, in dialect LGS, messages that arrive before their
// receive. It panics unless Options.Explain was set.
func (res *Result) Timeline(most int) *model.Timeline {
	r := res.run
	if r.pathLog == nil {
		panic("schedule: Timeline without Options.Explain")
	}
	x := &timelineBuilder{run: r, scale: unit.Time(r.unitPicoseconds()), trackOf: map[int]int{}, departures: map[uint32]departure{}, flightOf: map[uint32]int{}, out: &model.Timeline{}}
	n := min(most, r.CountRanks())
	shown := map[int]bool{}
	for i := range n {
		rank := i * r.CountRanks() / n
		if (i+1)*r.CountRanks()/n > res.LastRank && rank <= res.LastRank {
			rank = res.LastRank
		}
		shown[rank] = true
	}
	for rank := range r.CountRanks() {
		for c := 0; c < r.cpus && shown[rank]; c++ {
			t := model.Track{Name: fmt.Sprintf("rank %d", rank)}
			if r.cpus > 1 {
				t.Name += fmt.Sprintf(" CPU %d", c)
			}
			x.trackOf[rank*r.cpus+c] = len(x.out.Ranks)
			x.out.Ranks = append(x.out.Ranks, t)
		}
	}
	x.out.OtherRanks = r.CountRanks() - len(shown)
	for _, e := range r.pathLog.entries {
		x.addEntry(e)
	}
	return x.out
}

// timelineBuilder makes a timeline from the entries of the path log.
type timelineBuilder struct {
	*run
	scale      unit.Time
	trackOf    map[int]int // by CPU of all ranks
	departures map[uint32]departure
	flightOf   map[uint32]int // by send
	out        *model.Timeline
}

// departure is when a CPU began to send a message, and when it left.
type departure struct{ beganAt, leftAt uint64 }

func (x *timelineBuilder) addEntry(e pathEntry) {
	r := x.run
	op := e.opAndAction >> 3
	o := &r.ops[op]
	k := r.messageBytes(o) - 1
	cpu := int(o.rank)*r.cpus + int(o.CPU)
	what := e.opAndAction & 7
	if r.Dialect == LogGP {
		k = bytesAfterFirst(o)
	} else {
		work := r.overhead + k*r.overheadPerByte.integer
		switch {
		case what == messageArrivesAction:
			to := int(o.Peer)*r.cpus + int(o.CPU)
			x.addFlight(op, cpu, to, "message", e.at, o)
			if r.Dialect == LogGOPSim {
				work = r.overhead + max(k*r.overheadPerByte.integer, k*r.gapPerByte.integer)
			} else {
				work += r.gap
			}
			x.addSpan(to, model.ReceiveActivity, "receive", e.at, e.at+work, o)
		case o.Kind == Calc:
			x.addSpan(cpu, model.ComputeActivity, "calc", e.at, e.at+o.Size, o)
		case o.Kind == Send:
			x.addSpan(cpu, model.SendActivity, "send", e.at, e.at+work, o)
			x.departures[op] = departure{e.at, e.at + r.overhead}
		case r.Dialect == LGS:
			x.addSpan(cpu, model.ReceiveActivity, "receive", e.at, e.at+r.gap+work, o)
		}
		return
	}
	inject := func(activity model.Activity, name string, work, k uint64, send uint32) {
		ready := r.Noise.endOfWork(o.rank, e.at, work)
		x.addSpan(cpu, activity, name, e.at, r.Noise.endOfWork(o.rank, ready, r.overheadPerByte.roundedCost(k)), o)
		x.departures[send] = departure{e.at, ready}
	}
	switch what {
	case beginOpAction:
		switch {
		case o.Kind == Calc:
			x.addSpan(cpu, model.ComputeActivity, "calc", e.at, r.Noise.endOfWork(o.rank, e.at, o.Size*r.unitsPerNanosecond), o)
		case o.Kind == Send:
			inject(model.SendActivity, "send", r.overhead, r.firstMessageBytes(o), op)
		}
	case messageLeavesAction:
		send := op
		if o.Kind == Recv {
			send = r.stateOfOp[op]
		}
		d := x.departures[send]
		x.addSpan(cpu, model.BlockedActivity, "interface", d.leftAt, e.at, o)
		x.departures[send] = departure{d.beganAt, e.at}
	case messageArrivesAction, dataArrivesAction:
		name := "message"
		if what == dataArrivesAction {
			name = "data"
		}
		if what == messageArrivesAction && o.Size > r.eagerLimit {
			name, k = "request", 0
		}
		x.addFlight(op, cpu, int(o.Peer)*r.cpus, name, e.at+max(r.gapPerByte.roundedCost(k), r.overheadPerByte.roundedCost(k)), o)
	case answerArrivesAction:
		x.addFlight(op, int(o.Peer)*r.cpus, cpu, "answer", e.at, o)
	case takeMessageAction:
		send := r.stateOfOp[op]
		x.addSpan(cpu, model.ReceiveActivity, "receive", e.at, r.Noise.endOfWork(o.rank, e.at, r.overhead+r.overheadPerByte.roundedCost(bytesAfterFirst(&r.ops[send]))), o)
		x.noteTaken(send, e.at)
	case sendAnswerAction:
		x.noteTaken(r.stateOfOp[op], e.at)
		inject(model.SendActivity, "answer", 2*r.overhead, 0, r.stateOfOp[op])
	case sendDataAction:
		x.noteTaken(op, e.at)
		inject(model.SendActivity, "data", 2*r.overhead, bytesAfterFirst(o), op)
	}
}

// addSpan adds what a CPU did. Before it the CPU has waited.
func (x *timelineBuilder) addSpan(cpu int, a model.Activity, name string, from, to uint64, o *Op) {
	i, ok := x.trackOf[cpu]
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
		if a == model.ReceiveActivity {
			why = "message"
		}
		t.Spans = append(t.Spans, model.Span{Name: why, Activity: model.WaitActivity, From: idle, To: s.From})
	case s.From < idle: // in the reference dialects work may overlap with what comes late
		s.From = min(idle, s.To)
	}
	if s.To == s.From {
		return
	}
	t.Spans = append(t.Spans, s)
	t.Totals[a] += s.Duration()
}

// addFlight adds a message between CPUs.
func (x *timelineBuilder) addFlight(send uint32, from, to int, name string, arrive uint64, o *Op) {
	f, ok := x.trackOf[from]
	t, also := x.trackOf[to]
	if !ok || !also {
		delete(x.flightOf, send)
		return
	}
	d := x.departures[send]
	x.flightOf[send] = len(x.out.Flights)
	x.out.Flights = append(x.out.Flights, model.Flight{
		Name: name, From: f, To: t, Initiator: f, Bytes: int(o.Size), TakenIn: -1,
		Sent: unit.Time(d.beganAt) * x.scale, Depart: unit.Time(d.leftAt) * x.scale, Arrive: unit.Time(arrive) * x.scale,
	})
}

// noteTaken notes when the receiver has begun to take the last flight of a message.
func (x *timelineBuilder) noteTaken(send uint32, at uint64) {
	if i, ok := x.flightOf[send]; ok {
		x.out.Flights[i].TakenIn = unit.Time(at) * x.scale
	}
}
