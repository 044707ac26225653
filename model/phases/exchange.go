package phases

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/schedule"
)

// Exchange is the messages of one MPI_Alltoallv call, between the members of a communicator.
type Exchange struct {
	Members  []int     // ranks of the job, in the cyclic order of the communicator, from the smallest on
	Messages []Message // between ranks of the job, in the order of senders and then of receivers
}

// alltoallvCall is the name of the calls that exchanges are.
const alltoallvCall = "Alltoallv"

// Recorded returns the exchanges of a recorded program, in an order that agrees with the order of
// calls at every rank. Messages without bytes, and those of a rank to itself, are left out.
func Recorded(s *schedule.Schedule) ([]Exchange, error) {
	calls := make([][]exchangePart, s.CountRanks()) // that are left, by rank
	left := 0
	for rank := range calls {
		for _, c := range s.Calls(rank) {
			if c.Name != alltoallvCall {
				continue
			}
			x, err := partOf(rank, s.OpsOfRank(rank)[c.First:c.First+c.Ops])
			if err != nil {
				return nil, fmt.Errorf("rank %d, %s number %d: %w", rank, alltoallvCall, len(calls[rank]), err)
			}
			calls[rank] = append(calls[rank], x)
			left++
		}
	}
	if left == 0 {
		return nil, fmt.Errorf("the schedule has no call of MPI_%s: record a program that makes some, with 'loggp run --record'", alltoallvCall)
	}
	var all []Exchange
	for left > 0 {
		before := left
		for rank := range calls {
			for len(calls[rank]) > 0 {
				members := calls[rank][0].members
				if slices.ContainsFunc(members, func(m int) bool { return len(calls[m]) == 0 || !slices.Equal(calls[m][0].members, members) }) {
					break
				}
				var x Exchange
				var orders [][]int
				for _, m := range members {
					x.Messages = append(x.Messages, calls[m][0].sends...)
					orders = append(orders, calls[m][0].order)
					calls[m] = calls[m][1:]
					left--
				}
				if x.Members = cyclicOrder(members, orders); x.Members == nil {
					return nil, fmt.Errorf("a call of %s by ranks %v: the order of ranks in their communicator cannot be told, as the orders of their sends contradict each other", alltoallvCall, members)
				}
				all = append(all, x)
			}
		}
		if left == before {
			rank := slices.IndexFunc(calls, func(c []exchangePart) bool { return len(c) > 0 })
			return nil, fmt.Errorf("rank %d calls %s with ranks %v, and not all of these call it, too: the collective calls do not match", rank, alltoallvCall, calls[rank][0].members)
		}
	}
	return all, nil
}

// exchangePart is the sends of a rank in a call: one to each other member, which may be empty.
type exchangePart struct {
	members []int // in the order of their numbers
	order   []int // of the sends
	sends   []Message
}

// partOf returns the part of a rank in a call with some operations.
func partOf(rank int, ops []schedule.Op) (exchangePart, error) {
	x := exchangePart{}
	for _, o := range ops {
		if o.Kind != schedule.Send {
			continue
		}
		to := int(o.Peer)
		if slices.Contains(x.order, to) {
			return x, fmt.Errorf("it sends twice to rank %d", to)
		}
		x.order = append(x.order, to)
		if o.Size > 0 {
			x.sends = append(x.sends, Message{rank, to, int(o.Size)})
		}
	}
	slices.SortFunc(x.sends, func(a, b Message) int { return a.Dst - b.Dst })
	x.members = append(slices.Clone(x.order), rank)
	slices.Sort(x.members)
	return x, nil
}

// cyclicOrder returns the cyclic order of the members of a communicator, from the smallest on,
// given the order in which each sends to the others: from the next one on, or from the first one on
// (model.ExchangeOrder). It returns nil if the orders are of no communicator.
func cyclicOrder(members []int, orders [][]int) []int {
	ring := slices.Concat([]int{members[0]}, orders[0])
	fits := func(order func(at int) []int) bool {
		for i, m := range members {
			if !slices.Equal(orders[i], order(slices.Index(ring, m))) {
				return false
			}
		}
		return true
	}
	if fits(func(at int) []int { return slices.Concat(ring[at+1:], ring[:at]) }) {
		return ring
	}
	// From the first member on: a member precedes those that are behind it in most orders.
	places := make(map[int]int, len(members))
	for _, order := range orders {
		for place, m := range order {
			places[m] += place
		}
	}
	slices.SortFunc(ring, func(a, b int) int { return places[a] - places[b] })
	if fits(func(at int) []int { return slices.Concat(ring[:at], ring[at+1:]) }) {
		return rotateOrder(ring)
	}
	return nil
}

// rotateOrder returns a cyclic order from its smallest member on.
func rotateOrder(ring []int) []int {
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
