package flow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// PathPart is what operations of one kind take of the critical path: computing, messages,
// collective operations of groups of one name and size, or waiting for what others use.
type PathPart struct {
	Name  string
	Count int
	Time  unit.Time
}

// CriticalPath returns where the time of a chain of operations went, each of which waited for the
// one before, that ends with the operation that ends last. The longest part comes first, and the
// times add up to Finish.
func (r *Result) CriticalPath() []PathPart {
	s := r.sim
	parts := partTimes{}
	at := rankOp{int32(r.LastRank), int32(s.lastOp(int32(r.LastRank)))}
	for end := r.Finish; end > 0; {
		rank := &s.ranks[at.rank]
		op := rank.Ops()[at.op]
		from := at
		switch op.Kind {
		case workload.Recv:
			if send := rank.startCauses[at.op]; s.ranks[send.rank].startTimes[send.op] > rank.startTimes[at.op] || rank.endTimes[at.op] > rank.startTimes[at.op] {
				from = send
			}
		case workload.Collective:
			from = rank.startCauses[at.op]
		}
		begin := s.ranks[from.rank].startTimes[from.op]
		if end > begin {
			alone := min(s.timeAlone(at, end-begin), end-begin)
			parts.add(s.partName(at), alone)
			if end-begin > alone {
				parts.add(waitingPart, end-begin-alone)
			}
		}
		end = begin
		if end > 0 {
			at = s.causeOfStart(from)
		}
	}
	return parts.divideByRanks(1)
}

// waitingPart is the part of the critical path in which an operation waits for what others use: the
// time beyond that which it takes alone.
const waitingPart = "contention for parts of the machine"

func sortParts(all []PathPart) {
	slices.SortFunc(all, func(a, b PathPart) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
}

// timeAlone returns how long a message or a collective operation takes alone, and what it took if
// that is not known.
func (s *simulation) timeAlone(m rankOp, taken unit.Time) unit.Time {
	r := s.workload.Ranks[m.rank]
	switch o := s.ranks[m.rank].Ops()[m.op]; o.Kind {
	case workload.Send:
		return s.ofMessage(int(m.rank), r.Peers[o.Peer], o.Size).timeAlone
	case workload.Recv:
		return s.ofMessage(r.Peers[o.Peer], int(m.rank), o.Size).timeAlone
	case workload.Collective:
		if d, err := s.ofCollective(r.Groups[o.Peer], o); err == nil {
			return d.timeAlone
		}
	}
	return taken
}

// lastOp returns the operation of a rank that ends last.
func (s *simulation) lastOp(rank int32) int {
	ends := s.ranks[rank].endTimes
	return slices.Index(ends, slices.Max(ends))
}

// causeOfStart returns the operation whose end let another one begin: of those that it depends on,
// the one that ends last.
func (s *simulation) causeOfStart(m rankOp) rankOp {
	r := &s.ranks[m.rank]
	cause, latest := m.op, unit.Time(-1)
	consider := func(op int32) {
		if t := r.endTimes[op]; t > latest {
			cause, latest = op, t
		}
	}
	for _, b := range r.DependenciesOf(int(m.op)) {
		consider(int32(b))
	}
	ops := r.Ops()
	if stream := ops[m.op].Stream; stream != workload.NoStream {
		for i := m.op - 1; i >= 0; i-- {
			if ops[i].Stream == stream {
				consider(i)
				break
			}
		}
	}
	return rankOp{m.rank, cause}
}

// partName says what an operation is.
func (s *simulation) partName(m rankOp) string {
	op := s.ranks[m.rank].Ops()[m.op]
	switch op.Kind {
	case workload.Compute:
		return "computing"
	case workload.Collective:
		group := s.workload.Groups[s.workload.Ranks[m.rank].Groups[op.Peer]]
		return fmt.Sprintf("%v of %d ranks, %s", op.Operation, len(group.Ranks), cmp.Or(group.Name, "without a name"))
	}
	return "messages"
}

// LastEnd returns when the last operation of a name ends; 0: there is none.
func (r *Result) LastEnd(name string) (end unit.Time) {
	for rank := range r.sim.ranks {
		p := &r.sim.ranks[rank]
		for i := range p.Ops() {
			if p.NameOf(i) == name {
				end = max(end, p.endTimes[i])
			}
		}
	}
	return end
}

// ComputingTime returns the time for which a rank computes, on all of its streams.
func (r *Result) ComputingTime(rank int) (t unit.Time) {
	for _, o := range r.sim.ranks[rank].Ops() {
		if o.Kind == workload.Compute {
			t += unit.Time(o.Size) * unit.Nanosecond
		}
	}
	return t
}
