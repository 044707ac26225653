package flow

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/model/eventqueue"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// simulation is the execution of a workload.
type simulation struct {
	*demands
	sharing
	ranks      []rankState
	dependants map[*workload.Program]*dependants
	queue      eventqueue.Queue[uint64, event]
	serial     uint64
	now        unit.Time
	changed    []*activity // that began at now, or use parts of those that ended
	free       []*activity // may be used again
	messages   map[channel]*messageQueue
	collective map[instance]*gathering
	events     int
	begun      int
	open       int       // operations that have not ended
	ended      []member  // operations whose dependants have not been looked at
	busy       []float64 // picoseconds for which each part is busy
	err        error
}

// rankState is where a rank is in its program.
type rankState struct {
	*workload.Program
	dependants *dependants
	open       []uint32    // dependencies of each operation that have not ended
	starts     []unit.Time // when each operation could begin
	ends       []unit.Time
	causes     []member  // of receives and collective operations: the send, and the last member that came
	counts     []uint32  // collective operations that have begun, by group of the rank
	device     unit.Time // until when operations without a stream compute
	calls      unit.Time // until when calls of eager sends take
}

// event is the end of computing, or of an activity.
type event struct {
	rank, op int32
	activity *activity // nil: computing of an operation of a rank
	version  uint32
}

// channel is the way of messages of a tag from one rank to another. They match in order.
type channel struct {
	from, to int32
	tag      uint32
}

// messageQueue has the messages of a channel that were sent and not received, or the other way.
type messageQueue struct {
	arrived  []member // sends of messages that wait for a receive
	receives []int32  // operations that wait for a message
}

// instance is one collective operation of a group.
type instance struct {
	group  int32
	number uint32
}

// member is an operation of a rank.
type member struct{ rank, op int32 }

// gathering is the members of a collective operation that have come.
type gathering struct {
	members []member
	last    member
}

// dependants are the operations that wait for each operation of a program:
// after[first[i]:first[i+1]].
type dependants struct {
	first, after []uint32
	open         []uint32 // how many operations each operation waits for
}

// newDependants inverts the dependencies of a program, and adds the order of its streams.
func newDependants(p *workload.Program) *dependants {
	ops := p.Ops()
	d := &dependants{first: make([]uint32, len(ops)+2), open: make([]uint32, len(ops))}
	each := func(do func(before, after uint32)) {
		var last [workload.MaxStreams]uint32 // 1 + the operation
		for i, o := range ops {
			for _, b := range p.Before(i) {
				do(b, uint32(i))
			}
			if l := last[o.Stream]; o.Stream != workload.NoStream && l > 0 && !slices.Contains(p.Before(i), l-1) {
				do(l-1, uint32(i))
			}
			last[o.Stream] = uint32(i + 1)
		}
	}
	each(func(before, after uint32) {
		d.first[before+2]++
		d.open[after]++
	})
	for i := 2; i < len(d.first); i++ {
		d.first[i] += d.first[i-1]
	}
	d.after = make([]uint32, d.first[len(ops)+1])
	each(func(before, after uint32) {
		d.after[d.first[before+1]] = after
		d.first[before+1]++
	})
	return d
}

func newSimulation(w *workload.Workload, x workload.Expansion, m Machine) (*simulation, error) {
	s := &simulation{
		demands: newDemands(w, x, m), ranks: make([]rankState, len(w.Ranks)), dependants: map[*workload.Program]*dependants{},
		messages: map[channel]*messageQueue{}, collective: map[instance]*gathering{},
	}
	for rank, r := range w.Ranks {
		d, known := s.dependants[r.Program]
		if !known {
			d = newDependants(r.Program)
			s.dependants[r.Program] = d
		}
		n := len(r.Program.Ops())
		s.open += n
		s.ranks[rank] = rankState{r.Program, d, slices.Clone(d.open), make([]unit.Time, n), make([]unit.Time, n), make([]member, n), make([]uint32, len(r.Groups)), 0, 0}
	}
	return s, nil
}

// run executes events until no operation is left.
func (s *simulation) run() error {
	for rank := range s.ranks {
		for i, open := range s.ranks[rank].dependants.open {
			if open == 0 {
				s.beginOp(int32(rank), int32(i))
			}
		}
	}
	s.beginWaiting()
	s.settle()
	for !s.queue.IsEmpty() && s.err == nil {
		at, _, e := s.queue.Pop()
		s.now = unit.Time(at)
		s.execute(e)
		s.beginWaiting()
		if s.queue.IsEmpty() || s.queue.FirstTime() > uint64(s.now) {
			s.settle()
		}
	}
	if s.err == nil && s.open > 0 {
		s.err = s.blockedError()
	}
	return s.err
}

func (s *simulation) push(at unit.Time, e event) {
	s.serial++
	s.queue.Push(uint64(at), s.serial, e)
}

// execute ends computing, or an activity whose end has not been computed again.
func (s *simulation) execute(e event) {
	if e.activity == nil {
		s.events++
		s.endOp(e.rank, e.op)
		return
	}
	a := e.activity
	if a.version != e.version {
		return
	}
	s.events++
	a.version++
	s.remove(a)
	for _, u := range a.uses {
		s.changed = append(s.changed, s.users[u.part]...)
	}
	a.finish(s)
	a.demand = nil
	s.free = append(s.free, a)
}

// settle divides the parts again that activities have begun or ended to use.
func (s *simulation) settle() {
	changed := slices.DeleteFunc(s.changed, func(a *activity) bool { return a.demand == nil })
	if len(changed) > 0 {
		activities, parts := s.connected(changed)
		s.fill(activities, parts)
		for _, a := range activities {
			if a.share == a.rate {
				continue // its end stays
			}
			a.advance(s.now)
			a.rate = a.share
			a.version++
			s.push(max(a.end(), s.now), event{activity: a, version: a.version})
		}
	}
	s.changed = s.changed[:0]
}

// begin starts an activity.
func (s *simulation) begin(d *demand, kind activityKind, c channel, g *gathering) {
	var a *activity
	if n := len(s.free); n > 0 {
		a, s.free = s.free[n-1], s.free[:n-1]
	} else {
		a = &activity{}
	}
	version := a.version + 1
	*a = activity{demand: d, updated: s.now, version: version, kind: kind, channel: c, gathering: g, mark: a.mark}
	s.begun++
	s.sharing.add(a)
	for _, u := range d.uses {
		for int(u.part) >= len(s.busy) {
			s.busy = append(s.busy, 0)
		}
		s.busy[u.part] += u.load * float64(d.alone)
	}
	s.changed = append(s.changed, a)
}

// activityKind says what ends with an activity.
type activityKind uint8

const (
	messageActivity activityKind = iota
	collectiveActivity
)

// beginOp begins an operation whose dependencies have ended.
func (s *simulation) beginOp(rank, op int32) {
	r := &s.ranks[rank]
	r.starts[op] = s.now
	o := r.Ops()[op]
	job := s.workload.Ranks[rank]
	switch o.Kind {
	case workload.Compute:
		begin := s.now
		end := begin + unit.Time(o.Size)*unit.Nanosecond
		if o.Stream == workload.NoStream {
			end = max(begin, r.device) + unit.Time(o.Size)*unit.Nanosecond
			r.device = end
		}
		if end < begin || end > unit.LongestTime/2 {
			s.err = fmt.Errorf("%s, rank %d: it ends after more than %v of virtual time", r.Describe(int(op)), rank, unit.LongestTime/2)
			return
		}
		if end == s.now {
			s.endOp(rank, op)
			return
		}
		s.push(end, event{rank: rank, op: op})
	case workload.Send:
		to := job.Peers[o.Peer]
		d := s.ofMessage(int(rank), to, o.Size)
		s.begin(d, messageActivity, channel{rank, int32(to), o.Tag}, &gathering{last: member{rank, op}})
		if d.isEager { // the calls of a rank follow each other
			r.calls = max(r.calls, s.now) + d.sendCall
			s.push(r.calls, event{rank: rank, op: op})
		}
	case workload.Recv:
		c := channel{int32(job.Peers[o.Peer]), rank, o.Tag}
		q := s.queueOf(c)
		if len(q.arrived) > 0 {
			r.causes[op] = q.arrived[0]
			q.arrived = q.arrived[1:]
			s.endOp(rank, op)
			return
		}
		q.receives = append(q.receives, op)
	case workload.Collective:
		group := job.Groups[o.Peer]
		key := instance{int32(group), r.counts[o.Peer]}
		r.counts[o.Peer]++
		g := s.collective[key]
		if g == nil {
			g = &gathering{}
			s.collective[key] = g
		}
		g.members, g.last = append(g.members, member{rank, op}), member{rank, op}
		if len(g.members) < len(s.workload.Groups[group].Ranks) {
			return
		}
		delete(s.collective, key)
		d, err := s.ofCollective(group, o)
		if err != nil {
			s.err = fmt.Errorf("%s, rank %d: %w", r.Describe(int(op)), rank, err)
			return
		}
		if d.alone == 0 {
			s.endMembers(g)
			return
		}
		s.begin(d, collectiveActivity, channel{}, g)
	}
}

func (s *simulation) queueOf(c channel) *messageQueue {
	q := s.messages[c]
	if q == nil {
		q = &messageQueue{}
		s.messages[c] = q
	}
	return q
}

// finish ends what waits for the activity: the send and its receive, or the members.
func (a *activity) finish(s *simulation) {
	if a.kind == collectiveActivity {
		s.endMembers(a.gathering)
		return
	}
	q := s.queueOf(a.channel)
	if len(q.receives) > 0 {
		op := q.receives[0]
		q.receives = q.receives[1:]
		s.ranks[a.channel.to].causes[op] = a.gathering.last
		s.endOp(a.channel.to, op)
	} else {
		q.arrived = append(q.arrived, a.gathering.last)
	}
	if !a.isEager {
		s.endOp(a.gathering.last.rank, a.gathering.last.op)
	}
}

func (s *simulation) endMembers(g *gathering) {
	for _, m := range g.members {
		s.ranks[m.rank].causes[m.op] = g.last
		s.endOp(m.rank, m.op)
	}
}

// endOp ends an operation.
func (s *simulation) endOp(rank, op int32) {
	r := &s.ranks[rank]
	r.ends[op], r.open[op] = s.now, ended
	s.open--
	s.ended = append(s.ended, member{rank, op})
}

// ended stands for the dependencies of an operation that has ended.
const ended = math.MaxUint32

// beginWaiting begins the operations that have waited for those that ended, and for nothing else.
func (s *simulation) beginWaiting() {
	for len(s.ended) > 0 && s.err == nil {
		e := s.ended[len(s.ended)-1]
		s.ended = s.ended[:len(s.ended)-1]
		r := &s.ranks[e.rank]
		d := r.dependants
		for _, next := range d.after[d.first[e.op]:d.first[e.op+1]] {
			if r.open[next]--; r.open[next] == 0 {
				s.beginOp(e.rank, int32(next))
			}
		}
	}
}

// blockedError names an operation that never ended: the first whose dependencies have.
func (s *simulation) blockedError() error {
	for rank := range s.ranks {
		r := &s.ranks[rank]
		for i, open := range r.open {
			if open == 0 && r.Ops()[i].Kind != workload.Compute {
				return fmt.Errorf("%d operations never end, such as %s of rank %d: %v", s.open, r.Describe(i), rank, r.Ops()[i].Kind)
			}
		}
	}
	return fmt.Errorf("%d operations never end", s.open)
}
