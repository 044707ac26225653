// Package phases divides the messages of an exchange into phases in which no rank sends twice and
// none receives twice, so that they do not contend for the link of a node to its switch. A barrier
// keeps phases apart. All schedulers are deterministic: ranks that each compute a schedule from the
// same messages have the same one.
//
// Source: A. V. Karwande, CC-MPI: A Compiled Communication Capable MPI Prototype for Ethernet
// Switched Clusters (Florida State University, 2003), section 3.2.
package phases

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Message goes from one rank to another.
type Message struct{ Src, Dst, Bytes int }

// Schedule is an exchange in phases.
type Schedule struct {
	Ranks  int
	Phases [][]Message

	Members []int // of a stored schedule: the ranks of the job by rank of the schedule; nil: the same numbers

	// Conflicts says that the last phase has the messages that are shorter than the threshold. In
	// it a rank may send and receive more than once.
	Conflicts bool
}

// Member returns the rank of the job of a rank of the schedule.
func (s *Schedule) Member(rank int) int {
	if s.Members == nil {
		return rank
	}
	return s.Members[rank]
}

// memberRanks returns the members.
func (s *Schedule) memberRanks() []int {
	all := make([]int, s.Ranks)
	for i := range all {
		all[i] = s.Member(i)
	}
	return all
}

// Turned returns the schedule with its ranks numbered as in a communicator of the given ranks of
// the job, or nil if the members differ. The order of members is cyclic: it does not tell which is
// the first.
func (s *Schedule) Turned(communicator []int) *Schedule {
	if len(communicator) != s.Ranks {
		return nil
	}
	all := s.memberRanks()
	first := slices.Index(all, communicator[0])
	if first < 0 || !slices.Equal(slices.Concat(all[first:], all[:first]), communicator) {
		return nil
	}
	if first == 0 {
		return s
	}
	turned := &Schedule{Ranks: s.Ranks, Conflicts: s.Conflicts, Members: slices.Clone(communicator)}
	for _, phase := range s.Phases {
		next := make([]Message, len(phase))
		for i, m := range phase {
			next[i] = Message{(m.Src - first + s.Ranks) % s.Ranks, (m.Dst - first + s.Ranks) % s.Ranks, m.Bytes}
		}
		turned.Phases = append(turned.Phases, next)
	}
	return turned
}

// Has reports whether a rank of the job is a member.
func (s *Schedule) Has(rank int) bool {
	if s.Members == nil {
		return rank < s.Ranks
	}
	return slices.Contains(s.Members, rank)
}

// Scheduler divides messages into phases.
type Scheduler struct {
	Name, What string

	// fillNextPhase moves the messages of a phase to the front of those that are left, the longest
	// first, and returns how many they are.
	fillNextPhase func(p *openPhase, left []Message) int
}

// SchedulerNames returns the names of all schedulers.
func SchedulerNames() []string {
	var names []string
	for _, s := range Schedulers {
		names = append(names, s.Name)
	}
	return names
}

// Schedulers are all of them.
var Schedulers = []*Scheduler{Greedy, AllToAllBased}

// Greedy takes the longest messages first: into each phase goes every message, in order of length,
// that does not conflict with one before.
var Greedy = &Scheduler{Name: "greedy", What: "the longest messages first, as many in a phase as do not conflict",
	fillNextPhase: func(p *openPhase, left []Message) int { return p.fillPhase(left, 0) }}

// AllToAllBased begins each phase with the remaining messages that lie in the same phase of an
// all-to-all exchange as the longest one, and adds others as Greedy does. It needs at most Ranks -
// 1 phases if no rank has two messages for another.
var AllToAllBased = &Scheduler{Name: "all-to-all", What: "the longest message with all of its phase of an all-to-all exchange, filled up with what does not conflict",
	fillNextPhase: func(p *openPhase, left []Message) int {
		of := Index(left[0], p.ranks)
		return p.fillPhase(left, p.takeMatching(left, 0, func(m Message) bool { return Index(m, p.ranks) == of }))
	}}

// Index returns the phase of an all-to-all exchange in which a message lies, from 0: in phase p
// each rank j sends to rank j+p+1.
func Index(m Message, ranks int) int { return (m.Dst - m.Src - 1 + ranks) % ranks }

// AllToAll returns the ranks - 1 phases of messages of equal size between all pairs of ranks.
func AllToAll(ranks, bytes int) *Schedule {
	s := &Schedule{Ranks: ranks}
	for p := range ranks - 1 {
		var phase []Message
		for j := range ranks {
			phase = append(phase, Message{j, (j + p + 1) % ranks, bytes})
		}
		s.Phases = append(s.Phases, phase)
	}
	return s
}

// Plan divides messages into phases. Once all that are left are shorter than the threshold, in
// bytes, they form the last phase together: a barrier would cost more than their conflicts.
// Messages without bytes are left out. Those of equal length keep their order.
func (s *Scheduler) Plan(ranks int, messages []Message, threshold int) (*Schedule, error) {
	for i, m := range messages {
		switch {
		case min(m.Src, m.Dst) < 0 || max(m.Src, m.Dst) >= ranks:
			return nil, fmt.Errorf("message %d, from rank %d to rank %d: there are %d ranks", i, m.Src, m.Dst, ranks)
		case m.Src == m.Dst:
			return nil, fmt.Errorf("message %d: rank %d sends to itself, which is a copy, not a message", i, m.Src)
		case m.Bytes < 0:
			return nil, fmt.Errorf("message %d, from rank %d to rank %d, has %d bytes: write 0 or more", i, m.Src, m.Dst, m.Bytes)
		}
	}
	left := slices.DeleteFunc(slices.Clone(messages), func(m Message) bool { return m.Bytes == 0 })
	slices.SortStableFunc(left, func(a, b Message) int { return cmp.Compare(b.Bytes, a.Bytes) })
	plan := &Schedule{Ranks: ranks}
	p := &openPhase{ranks: ranks, sends: make([]bool, ranks), receives: make([]bool, ranks)}
	for len(left) > 0 {
		n := len(left)
		if left[0].Bytes >= threshold {
			clear(p.sends)
			clear(p.receives)
			n = s.fillNextPhase(p, left)
		} else {
			plan.Conflicts = true
		}
		plan.Phases = append(plan.Phases, slices.Clip(left[:n]))
		left = left[n:]
	}
	return plan, nil
}

// openPhase is one that is being filled.
type openPhase struct {
	ranks           int
	sends, receives []bool
	laterMessages   []Message
}

// takeMatching moves messages for which the condition holds and that do not conflict behind the
// first n, and returns how many are there then. The others keep their order.
func (p *openPhase) takeMatching(left []Message, n int, condition func(Message) bool) int {
	p.laterMessages = p.laterMessages[:0]
	for _, m := range left[n:] {
		if p.sends[m.Src] || p.receives[m.Dst] || !condition(m) {
			p.laterMessages = append(p.laterMessages, m)
			continue
		}
		p.sends[m.Src], p.receives[m.Dst] = true, true
		left[n] = m
		n++
	}
	copy(left[n:], p.laterMessages)
	return n
}

func (p *openPhase) fillPhase(left []Message, n int) int {
	return p.takeMatching(left, n, func(Message) bool { return true })
}

// Time returns how long a schedule takes if a phase takes as long as its longest message, and a
// barrier stands between phases.
func (s *Schedule) Time(message func(bytes int) unit.Time, barrier unit.Time) unit.Time {
	var t unit.Time
	for i, phase := range s.Phases {
		if i > 0 {
			t += barrier
		}
		longest := slices.MaxFunc(phase, func(a, b Message) int { return cmp.Compare(a.Bytes, b.Bytes) })
		t += message(longest.Bytes)
	}
	return t
}

// Messages returns the messages of a matrix of bytes, in the order of its rows, without its
// diagonal.
func Messages(bytes [][]int) []Message {
	var all []Message
	for src, row := range bytes {
		for dst, k := range row {
			if src != dst && k > 0 {
				all = append(all, Message{src, dst, k})
			}
		}
	}
	return all
}
