package ccmpi

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
)

// Bcast implements mpi.Collectives: one multicast to the static group.
func (r *rank) Bcast(k *mpi.CollectiveCall, b []byte) bool {
	g := r.staticGroup(k)
	if g == nil {
		return false
	}
	r.broadcast(k, g, k.Root(), b)
	return true
}

// Scatter implements mpi.Collectives: one multicast of all parts, if they are short.
func (r *rank) Scatter(k *mpi.CollectiveCall, in, out []byte) bool {
	return len(out) <= r.options.Compiled.MaxAggregateBytes && r.scatterByMulticast(k, in, out)
}

// scatterByMulticast multicasts the parts of all ranks, which have equal lengths.
func (r *rank) scatterByMulticast(k *mpi.CollectiveCall, in, out []byte) bool {
	g := r.staticGroup(k)
	if g == nil {
		return false
	}
	n := len(out)
	all := in
	if k.Comm().Rank() != k.Root() {
		all = r.workBuffer(n * k.Comm().Size())
	}
	r.broadcast(k, g, k.Root(), all)
	k.Port().Copy(out, all[n*k.Comm().Rank():][:n])
	return true
}

// Allgather implements mpi.Collectives. The method depends on the length.
func (r *rank) Allgather(k *mpi.CollectiveCall, in, out []byte) bool {
	switch o := r.options.Compiled; {
	case len(in) <= o.MaxUnicastBytes:
		r.allgatherBy(k, UnicastAllgather, in, out)
	case len(in) <= o.MaxMulticastBytes:
		r.allgatherBy(k, MulticastAllgather, in, out)
	default:
		r.allgatherBy(k, PhasedAllgather, in, out)
	}
	return true
}

// AllgatherMethod is a method of Allgather.
type AllgatherMethod string

// The methods.
const (
	UnicastAllgather   AllgatherMethod = "unicast"   // to rank 0, and from there by a tree, over TCP
	MulticastAllgather AllgatherMethod = "multicast" // broadcasts by all ranks in order, by multicast
	PhasedAllgather    AllgatherMethod = "phased"    // messages between all ranks, in phases
)

// AllgatherMethods are all methods.
var AllgatherMethods = []AllgatherMethod{MulticastAllgather, UnicastAllgather, PhasedAllgather}

// binomialBcast is the algorithm of broadcasts over TCP, that of LAM/MPI.
var binomialBcast = collective.AlgorithmNamed(collective.Bcast, "binomial-posted")

func (r *rank) allgatherBy(k *mpi.CollectiveCall, way AllgatherMethod, in, out []byte) {
	c, n := k.Comm(), len(in)
	part := func(rank int) []byte { return out[n*rank:][:n] }
	k.Port().Copy(part(c.Rank()), in)
	switch way {
	case MulticastAllgather:
		if g := r.staticGroup(k); g != nil {
			for root := range c.Size() {
				r.broadcast(k, g, root, part(root))
			}
			return
		}
		fallthrough // without a group
	case UnicastAllgather:
		for from := 1; from < c.Size(); from++ {
			switch c.Rank() {
			case 0:
				k.Sendrecv(collective.NoRank, nil, from, part(from))
			case from:
				k.Sendrecv(0, in, collective.NoRank, nil)
			}
		}
		k.Bcast(binomialBcast, 0, out[:n*c.Size()])
	case PhasedAllgather:
		r.exchangeInPhases(k, func(int) []byte { return in }, part)
	default:
		k.Fail(engine.ErrArg, "unknown method of Allgather: %q", string(way))
	}
}

// exchangeUnscheduled starts all messages of an exchange between all ranks in the order of ranks,
// and waits for them. All ranks send to rank 0 first. Messages without bytes are not sent.
func exchangeUnscheduled(k *mpi.CollectiveCall, in, out func(rank int) []byte) {
	me, n := k.Comm().Rank(), k.Comm().Size()
	for from := range n {
		if b := out(from); from != me && len(b) > 0 {
			k.StartReceive(from, b)
		}
	}
	for to := range n {
		if b := in(to); to != me && len(b) > 0 {
			k.StartSend(to, b)
		}
	}
	k.WaitAll()
}

// exchangeInPhases exchanges messages between all ranks in phases: in phase p, from 0, each rank j
// sends to rank j+p+1. A barrier stands between phases.
func (r *rank) exchangeInPhases(k *mpi.CollectiveCall, in, out func(rank int) []byte) {
	me, n := k.Comm().Rank(), k.Comm().Size()
	for p := range n - 1 {
		if p > 0 {
			r.barrier(k)
		}
		r.counts.phases++
		to, from := (me+p+1)%n, (me-p-1+n)%n
		k.Sendrecv(to, in(to), from, out(from))
	}
}

// Alltoall implements mpi.Collectives: in phases.
func (r *rank) Alltoall(k *mpi.CollectiveCall, in, out []byte) bool {
	n := len(in) / max(k.Comm().Size(), 1)
	part := func(b []byte) func(int) []byte { return func(rank int) []byte { return b[n*rank:][:n] } }
	me := k.Comm().Rank()
	k.Port().Copy(part(out)(me), part(in)(me))
	r.exchangeInPhases(k, part(in), part(out))
	return true
}

// Alltoallv implements mpi.Collectives: level 3 if there are stored schedules, and else level 1.
func (r *rank) Alltoallv(k *mpi.CollectiveCall, in, out [][]byte) bool {
	s := r.takeStoredSchedule(k)
	if s == nil {
		s = r.schedulePhases(k, r.gatherPattern(k, in))
	}
	r.exchangeByPhases(k, s, in, out)
	return true
}

// takeStoredSchedule returns the next stored schedule of which this rank is a member, or nil if
// none is stored. A communicator of one rank has no schedule, as it exchanges nothing.
func (r *rank) takeStoredSchedule(k *mpi.CollectiveCall) *phases.Schedule {
	stored, c := r.options.StoredSchedules, k.Comm()
	if stored == nil || c.Size() == 1 {
		return nil
	}
	me := k.JobRank(c.Rank())
	for range stored {
		s := stored[r.nextStoredSchedule%len(stored)]
		r.nextStoredSchedule++
		if !s.Has(me) {
			continue
		}
		if r.members = r.members[:0]; c.Size() == s.Ranks {
			for i := range c.Size() {
				r.members = append(r.members, k.JobRank(i))
			}
		}
		turned := s.Turned(r.members)
		if turned == nil {
			k.Fail(engine.ErrArg, "the next stored schedule of rank %d is of other ranks than the communicator: %s", me, recordAgainAdvice)
		}
		return turned
	}
	k.Fail(engine.ErrArg, "no stored schedule is for rank %d: %s", me, recordAgainAdvice)
	return nil
}

// recordAgainAdvice says what to do if a stored schedule does not fit the program.
const recordAgainAdvice = "it is of another exchange; make the schedule again from a record of this program"

// gatherPattern gathers how many bytes each rank sends to each other one.
func (r *rank) gatherPattern(k *mpi.CollectiveCall, in [][]byte) [][]int {
	n := k.Comm().Size()
	mine, all := make([]byte, lengthBytes*n), make([]byte, lengthBytes*n*n)
	for to, b := range in {
		binary.LittleEndian.PutUint32(mine[lengthBytes*to:], uint32(len(b)))
	}
	r.Allgather(k, mine, all)
	bytes := make([][]int, n)
	for i := range bytes {
		bytes[i] = decodeLengths(all[lengthBytes*n*i:][:lengthBytes*n])
	}
	return bytes
}

// schedulePhases computes the phases of a pattern.
func (r *rank) schedulePhases(k *mpi.CollectiveCall, pattern [][]int) *phases.Schedule {
	messages := phases.Messages(pattern)
	r.counts.scheduled += int64(len(messages))
	k.Port().Delay(unit.Time(len(messages)) * r.options.Compiled.ScheduleTime)
	s, err := r.scheduler.Plan(len(pattern), messages, r.options.Compiled.ShortMessageThreshold)
	if err != nil {
		k.Fail(engine.ErrArg, "%v", err)
	}
	return s
}

// exchangeByPhases exchanges messages in the phases of a schedule, which must have been computed
// for them.
func (r *rank) exchangeByPhases(k *mpi.CollectiveCall, s *phases.Schedule, in, out [][]byte) {
	me := k.Comm().Rank()
	if err := checkSchedule(s, me, in, out); err != nil {
		k.Fail(engine.ErrArg, "%v", err)
	}
	if len(in[me]) != len(out[me]) {
		k.Fail(engine.ErrTruncate, "rank %d gives itself %d bytes where it takes %d", me, len(in[me]), len(out[me]))
	}
	k.Port().Copy(out[me], in[me])
	for p, phase := range s.Phases {
		if p > 0 {
			r.barrier(k)
		}
		r.counts.phases++
		if s.Conflicts && p == len(s.Phases)-1 {
			exchangeShortMessages(k, phase, in, out)
			continue
		}
		to, from := collective.NoRank, collective.NoRank
		for _, m := range phase {
			if m.Src == me {
				to = m.Dst
			}
			if m.Dst == me {
				from = m.Src
			}
		}
		if to == collective.NoRank && from == collective.NoRank {
			continue
		}
		var data, into []byte
		if to != collective.NoRank {
			data = in[to]
		}
		if from != collective.NoRank {
			into = out[from]
		}
		k.Sendrecv(to, data, from, into)
	}
}

// exchangeShortMessages exchanges the messages of a phase in which ranks may send and receive
// several.
func exchangeShortMessages(k *mpi.CollectiveCall, phase []phases.Message, in, out [][]byte) {
	me := k.Comm().Rank()
	for _, m := range phase {
		if m.Dst == me {
			k.StartReceive(m.Src, out[m.Src])
		}
	}
	for _, m := range phase {
		if m.Src == me {
			k.StartSend(m.Dst, in[m.Dst])
		}
	}
	k.WaitAll()
}

// checkSchedule returns an error unless a schedule has exactly the messages of a rank.
func checkSchedule(s *phases.Schedule, me int, in, out [][]byte) error {
	if s.Ranks != len(in) {
		return fmt.Errorf("the schedule is of %d ranks, and the communicator has %d", s.Ranks, len(in))
	}
	sends, receives := 0, 0
	for _, phase := range s.Phases {
		for _, m := range phase {
			switch {
			case m.Src == me:
				sends++
				if len(in[m.Dst]) != m.Bytes {
					return mismatchError(m, len(in[m.Dst]), "sends")
				}
			case m.Dst == me:
				receives++
				if len(out[m.Src]) != m.Bytes {
					return mismatchError(m, len(out[m.Src]), "takes")
				}
			}
		}
	}
	if n := countRemoteMessages(in, me); n != sends {
		return fmt.Errorf("the schedule has %d messages of rank %d, which sends %d: %s", sends, me, n, recordAgainAdvice)
	}
	if n := countRemoteMessages(out, me); n != receives {
		return fmt.Errorf("the schedule has %d messages for rank %d, which takes %d: %s", receives, me, n, recordAgainAdvice)
	}
	return nil
}

func mismatchError(m phases.Message, n int, does string) error {
	return fmt.Errorf("the schedule has a message of %d bytes from rank %d to rank %d, and this rank %s %d: %s", m.Bytes, m.Src, m.Dst, does, n, recordAgainAdvice)
}

// countRemoteMessages returns the number of messages to or from other ranks.
func countRemoteMessages(parts [][]byte, me int) int {
	n := 0
	for i, b := range parts {
		if i != me && len(b) > 0 {
			n++
		}
	}
	return n
}
