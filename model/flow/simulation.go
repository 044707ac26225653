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
	*demandTable
	fairSharing
	ranks             []rankState
	dependants        map[*workload.Program]*dependants
	queue             eventqueue.Queue[uint64, event]
	serial            uint64
	now               unit.Time
	changedActivities []*activity // that began at now, or use parts of those that ended
	freeActivities    []*activity // may be used again
	messageQueues     map[channel]*messageQueue
	gatherings        map[collectiveInstance]*collectiveArrivals
	eventCount        int
	activityCount     int
	openOps           int       // operations that have not ended
	endedOps          []rankOp  // operations whose dependants have not been looked at
	busyPicoseconds   []float64 // picoseconds for which each part is busy
	err               error
}

// rankState is where a rank is in its program.
type rankState struct {
	*workload.Program
	dependants       *dependants
	openDependencies []uint32    // dependencies of each operation that have not ended
	startTimes       []unit.Time // when each operation could begin
	endTimes         []unit.Time
	startCauses      []rankOp  // of receives and collective operations: the send, and the last member that came
	collectiveCounts []uint32  // collective operations that have begun, by group of the rank
	deviceFreeAt     unit.Time // until when operations without a stream compute
	callsEndAt       unit.Time // until when calls of eager sends take
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
	arrived  []rankOp // sends of messages that wait for a receive
	receives []int32  // operations that wait for a message
}

// collectiveInstance is one collective operation of a group.
type collectiveInstance struct {
	group  int32
	number uint32
}

// rankOp is an operation of a rank.
type rankOp struct{ rank, op int32 }

// collectiveArrivals is the members of a collective operation that have come.
type collectiveArrivals struct {
	members     []rankOp
	lastArrived rankOp
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
			for _, b := range p.DependenciesOf(i) {
				do(b, uint32(i))
			}
			if l := last[o.Stream]; o.Stream != workload.NoStream && l > 0 && !slices.Contains(p.DependenciesOf(i), l-1) {
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
		demandTable: newDemands(w, x, m), ranks: make([]rankState, len(w.Ranks)), dependants: map[*workload.Program]*dependants{},
		messageQueues: map[channel]*messageQueue{}, gatherings: map[collectiveInstance]*collectiveArrivals{},
	}
	for rank, r := range w.Ranks {
		d, known := s.dependants[r.Program]
		if !known {
			d = newDependants(r.Program)
			s.dependants[r.Program] = d
		}
		n := len(r.Program.Ops())
		s.openOps += n
		s.ranks[rank] = rankState{r.Program, d, slices.Clone(d.open), make([]unit.Time, n), make([]unit.Time, n), make([]rankOp, n), make([]uint32, len(r.Groups)), 0, 0}
	}
	return s, nil
}

// runEvents executes events until no operation is left.
func (s *simulation) runEvents() error {
	for rank := range s.ranks {
		for i, open := range s.ranks[rank].dependants.open {
			if open == 0 {
				s.beginOp(int32(rank), int32(i))
			}
		}
	}
	s.beginWaiting()
	s.updateRates()
	for !s.queue.IsEmpty() && s.err == nil {
		at, _, e := s.queue.Pop()
		s.now = unit.Time(at)
		s.executeEvent(e)
		s.beginWaiting()
		if s.queue.IsEmpty() || s.queue.FirstTime() > uint64(s.now) {
			s.updateRates()
		}
	}
	if s.err == nil && s.openOps > 0 {
		s.err = s.blockedError()
	}
	return s.err
}

func (s *simulation) pushEvent(at unit.Time, e event) {
	s.serial++
	s.queue.Push(uint64(at), s.serial, e)
}

// executeEvent ends computing, or an activity whose end has not been computed again.
func (s *simulation) executeEvent(e event) {
	if e.activity == nil {
		s.eventCount++
		s.endOp(e.rank, e.op)
		return
	}
	a := e.activity
	if a.endVersion != e.version {
		return
	}
	s.eventCount++
	a.endVersion++
	s.removeActivity(a)
	for _, u := range a.uses {
		s.changedActivities = append(s.changedActivities, s.activitiesOfPart[u.part]...)
	}
	a.finishMembers(s)
	a.demand = nil
	s.freeActivities = append(s.freeActivities, a)
}

// updateRates divides the parts again that activities have begun or ended to use.
func (s *simulation) updateRates() {
	changed := slices.DeleteFunc(s.changedActivities, func(a *activity) bool { return a.demand == nil })
	if len(changed) > 0 {
		activities, parts := s.connectedActivities(changed)
		s.fillRates(activities, parts)
		for _, a := range activities {
			if a.fairRate == a.rate {
				continue // its end stays
			}
			a.advanceTo(s.now)
			a.rate = a.fairRate
			a.endVersion++
			s.pushEvent(max(a.endTime(), s.now), event{activity: a, version: a.endVersion})
		}
	}
	s.changedActivities = s.changedActivities[:0]
}

// beginActivity starts an activity.
func (s *simulation) beginActivity(d *demand, kind activityKind, c channel, g *collectiveArrivals) {
	var a *activity
	if n := len(s.freeActivities); n > 0 {
		a, s.freeActivities = s.freeActivities[n-1], s.freeActivities[:n-1]
	} else {
		a = &activity{}
	}
	version := a.endVersion + 1
	*a = activity{demand: d, doneAt: s.now, endVersion: version, kind: kind, channel: c, gathering: g, visitMark: a.visitMark}
	s.activityCount++
	s.fairSharing.addActivity(a)
	for _, u := range d.uses {
		for int(u.part) >= len(s.busyPicoseconds) {
			s.busyPicoseconds = append(s.busyPicoseconds, 0)
		}
		s.busyPicoseconds[u.part] += u.occupiedShare * float64(d.timeAlone)
	}
	s.changedActivities = append(s.changedActivities, a)
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
	r.startTimes[op] = s.now
	o := r.Ops()[op]
	job := s.workload.Ranks[rank]
	switch o.Kind {
	case workload.Compute:
		begin := s.now
		end := begin + unit.Time(o.Size)*unit.Nanosecond
		if o.Stream == workload.NoStream {
			end = max(begin, r.deviceFreeAt) + unit.Time(o.Size)*unit.Nanosecond
			r.deviceFreeAt = end
		}
		if end < begin || end > unit.LongestTime/2 {
			s.err = fmt.Errorf("%s, rank %d: it ends after more than %v of virtual time", r.Describe(int(op)), rank, unit.LongestTime/2)
			return
		}
		if end == s.now {
			s.endOp(rank, op)
			return
		}
		s.pushEvent(end, event{rank: rank, op: op})
	case workload.Send:
		to := job.Peers[o.Peer]
		d := s.ofMessage(int(rank), to, o.Size)
		s.beginActivity(d, messageActivity, channel{rank, int32(to), o.Tag}, &collectiveArrivals{lastArrived: rankOp{rank, op}})
		if d.isEager { // the calls of a rank follow each other
			r.callsEndAt = max(r.callsEndAt, s.now) + d.sendCall
			s.pushEvent(r.callsEndAt, event{rank: rank, op: op})
		}
	case workload.Recv:
		c := channel{int32(job.Peers[o.Peer]), rank, o.Tag}
		q := s.queueOf(c)
		if len(q.arrived) > 0 {
			r.startCauses[op] = q.arrived[0]
			q.arrived = q.arrived[1:]
			s.endOp(rank, op)
			return
		}
		q.receives = append(q.receives, op)
	case workload.Collective:
		group := job.Groups[o.Peer]
		key := collectiveInstance{int32(group), r.collectiveCounts[o.Peer]}
		r.collectiveCounts[o.Peer]++
		g := s.gatherings[key]
		if g == nil {
			g = &collectiveArrivals{}
			s.gatherings[key] = g
		}
		g.members, g.lastArrived = append(g.members, rankOp{rank, op}), rankOp{rank, op}
		if len(g.members) < len(s.workload.Groups[group].Ranks) {
			return
		}
		delete(s.gatherings, key)
		d, err := s.ofCollective(group, o)
		if err != nil {
			s.err = fmt.Errorf("%s, rank %d: %w", r.Describe(int(op)), rank, err)
			return
		}
		if d.timeAlone == 0 {
			s.endMembers(g)
			return
		}
		s.beginActivity(d, collectiveActivity, channel{}, g)
	}
}

func (s *simulation) queueOf(c channel) *messageQueue {
	q := s.messageQueues[c]
	if q == nil {
		q = &messageQueue{}
		s.messageQueues[c] = q
	}
	return q
}

// finishMembers ends what waits for the activity: the send and its receive, or the members.
func (a *activity) finishMembers(s *simulation) {
	if a.kind == collectiveActivity {
		s.endMembers(a.gathering)
		return
	}
	q := s.queueOf(a.channel)
	if len(q.receives) > 0 {
		op := q.receives[0]
		q.receives = q.receives[1:]
		s.ranks[a.channel.to].startCauses[op] = a.gathering.lastArrived
		s.endOp(a.channel.to, op)
	} else {
		q.arrived = append(q.arrived, a.gathering.lastArrived)
	}
	if !a.isEager {
		s.endOp(a.gathering.lastArrived.rank, a.gathering.lastArrived.op)
	}
}

func (s *simulation) endMembers(g *collectiveArrivals) {
	for _, m := range g.members {
		s.ranks[m.rank].startCauses[m.op] = g.lastArrived
		s.endOp(m.rank, m.op)
	}
}

// endOp ends an operation.
func (s *simulation) endOp(rank, op int32) {
	r := &s.ranks[rank]
	r.endTimes[op], r.openDependencies[op] = s.now, endedOp
	s.openOps--
	s.endedOps = append(s.endedOps, rankOp{rank, op})
}

// endedOp stands for the dependencies of an operation that has ended.
const endedOp = math.MaxUint32

// beginWaiting begins the operations that have waited for those that ended, and for nothing else.
func (s *simulation) beginWaiting() {
	for len(s.endedOps) > 0 && s.err == nil {
		e := s.endedOps[len(s.endedOps)-1]
		s.endedOps = s.endedOps[:len(s.endedOps)-1]
		r := &s.ranks[e.rank]
		d := r.dependants
		for _, next := range d.after[d.first[e.op]:d.first[e.op+1]] {
			if r.openDependencies[next]--; r.openDependencies[next] == 0 {
				s.beginOp(e.rank, int32(next))
			}
		}
	}
}

// blockedError names an operation that never ended: the first whose dependencies have.
func (s *simulation) blockedError() error {
	for rank := range s.ranks {
		r := &s.ranks[rank]
		for i, open := range r.openDependencies {
			if open == 0 && r.Ops()[i].Kind != workload.Compute {
				return fmt.Errorf("%d operations never end, such as %s of rank %d: %v", s.openOps, r.Describe(i), rank, r.Ops()[i].Kind)
			}
		}
	}
	return fmt.Errorf("%d operations never end", s.openOps)
}
