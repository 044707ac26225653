package phases

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/schedule"
)

// Exchange is what one call of MPI_Alltoallv moves: messages between the members of a communicator.
type Exchange struct {
	Members  []int     // ranks of the job, in the order of the communicator, beginning with the smallest
	Messages []Message // between ranks of the job, in the order of senders and then of receivers
}

// call is the name of the calls that exchanges are.
const call = "Alltoallv"

// Recorded returns the exchanges of a recorded program. They are in an order in which every rank makes
// them. What a rank keeps for itself is no message, and neither is one without bytes.
func Recorded(s *schedule.Schedule) ([]Exchange, error) {
	calls := make([][]part, s.Ranks()) // that are left, by rank
	left := 0
	for rank := range calls {
		for _, c := range s.Calls(rank) {
			if c.Name != call {
				continue
			}
			x, err := partOf(rank, s.Of(rank)[c.First:c.First+c.Ops])
			if err != nil {
				return nil, fmt.Errorf("rank %d, %s number %d: %w", rank, call, len(calls[rank]), err)
			}
			calls[rank] = append(calls[rank], x)
			left++
		}
	}
	if left == 0 {
		return nil, fmt.Errorf("the schedule has no call of MPI_%s: record a program that makes some, with 'loggp run --record'", call)
	}
	var all []Exchange
	for left > 0 {
		before := left
		for rank := range calls {
			for len(calls[rank]) > 0 {
				members := calls[rank][0].members
				if !slices.ContainsFunc(members, func(m int) bool { return len(calls[m]) == 0 || !slices.Equal(calls[m][0].members, members) }) {
					x := Exchange{Members: members}
					for _, m := range slices.Sorted(slices.Values(members)) {
						x.Messages = append(x.Messages, calls[m][0].sends...)
						calls[m] = calls[m][1:]
						left--
					}
					all = append(all, x)
					continue
				}
				break
			}
		}
		if left == before {
			rank := slices.IndexFunc(calls, func(c []part) bool { return len(c) > 0 })
			return nil, fmt.Errorf("rank %d has a call of %s with ranks %v that not all of these make", rank, call, calls[rank][0].members)
		}
	}
	return all, nil
}

// part is what a rank does in an exchange.
type part struct {
	members []int
	sends   []Message
}

// partOf finds the part of a rank in the operations of a call: it sends a message, though it may be
// empty, to each other member, from the one behind itself on around.
func partOf(rank int, ops []schedule.Op) (part, error) {
	x := part{members: []int{rank}}
	for _, o := range ops {
		if o.Kind != schedule.Send {
			continue
		}
		to := int(o.Peer)
		if slices.Contains(x.members, to) {
			return x, fmt.Errorf("it sends twice to rank %d", to)
		}
		x.members = append(x.members, to)
		if o.Size > 0 {
			x.sends = append(x.sends, Message{rank, to, int(o.Size)})
		}
	}
	slices.SortFunc(x.sends, func(a, b Message) int { return a.Dst - b.Dst })
	x.members = around(x.members)
	return x, nil
}

// around returns a ring from its smallest member on.
func around(ring []int) []int {
	i := slices.Index(ring, slices.Min(ring))
	return slices.Concat(ring[i:], ring[:i])
}

// Plan divides the messages of an exchange into phases.
func (x Exchange) Plan(by *Scheduler, threshold int) (*Schedule, error) {
	place := make(map[int]int, len(x.Members))
	for i, m := range x.Members {
		place[m] = i
	}
	within := make([]Message, len(x.Messages))
	for i, m := range x.Messages {
		src, known := place[m.Src]
		dst, also := place[m.Dst]
		if !known || !also {
			return nil, fmt.Errorf("a message from rank %d to rank %d, which are not both among ranks %v", m.Src, m.Dst, x.Members)
		}
		within[i] = Message{src, dst, m.Bytes}
	}
	s, err := by.Plan(len(x.Members), within, threshold)
	if err != nil {
		return nil, err
	}
	s.Members = x.Members
	return s, nil
}
