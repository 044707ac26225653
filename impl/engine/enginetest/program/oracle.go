package program

import (
	"bytes"
	"fmt"
	"slices"
)

// The oracle decides whether a rank can have received its messages under MPI's matching rules
// (MPI-1.2, section 3.5):
//
//   - A receive takes a message of its communicator, with its source or from any, and with its tag
//     or any.
//   - If two messages of one sender match a receive, it takes the one sent first.
//   - If two receives match a message, the one posted first takes it.
//
// Messages of one sender arrive in the order in which they were sent; messages of different senders
// may arrive in any order. Given an order of arrival, the receive that was posted first takes the
// earliest message that it matches, then the second receive the earliest of the rest, and so on,
// independent of when they were posted. An outcome is therefore legal if some order of arrival
// leads to it: the message of each receive preceded all others that the receive could have taken.

// checkReceives checks all messages that a rank received.
func (x *runner) checkReceives() error {
	for _, t := range x.program.comms {
		if !t.contains(x.rank) {
			continue
		}
		var got []*receiveRecord
		for _, g := range x.receives {
			if g.message.comm == t {
				got = append(got, g)
			}
		}
		if err := checkMatching(x.messagesTo(t), got); err != nil {
			return fmt.Errorf("rank %d, communicator %d: %w", x.rank, t.id, err)
		}
	}
	return nil
}

// messagesTo returns the messages to a rank in a communicator, by source, in order, without
// cancelled ones.
func (x *runner) messagesTo(t *communicator) [][]*message {
	peers := t.peersOf(x.rank)
	all := make([][]*message, len(peers))
	for i, r := range peers {
		for _, s := range x.program.stepsOf(r) {
			for _, m := range s.sends {
				if m.comm == t && m.dst == x.rank && !x.cancelledMessages[m] {
					all[i] = append(all[i], m)
				}
			}
		}
	}
	return all
}

// canMatch reports whether a receive matches a message.
func (g *receiveRecord) canMatch(m *message) bool {
	return (g.message.anySource || g.message.src == m.src) && (g.message.anyTag || g.message.tag == m.tag)
}

// hasReceived reports whether a receive got a message.
func (g *receiveRecord) hasReceived(source int, m *message) bool {
	return g.status.Source == source && g.status.Tag == m.tag && g.status.Bytes == m.unitCount*m.unit.size() && bytes.Equal(g.data, m.payload())
}

// checkMatching checks the messages of receives, which are in the order of posting.
func checkMatching(sent [][]*message, got []*receiveRecord) error {
	left := make([][]*message, len(sent))
	for s := range sent {
		left[s] = slices.Clone(sent[s])
	}
	before := map[*message][]*message{} // messages that preceded a message
	for _, g := range got {
		taken, err := g.takeReceived(left)
		if err != nil {
			return err
		}
		for s := range left {
			if i := slices.IndexFunc(left[s], g.canMatch); i >= 0 {
				before[left[s][i]] = append(before[left[s][i]], taken)
			}
		}
	}
	for _, l := range left {
		if len(l) > 0 {
			return fmt.Errorf("no rank received %v", l[0])
		}
	}
	return findArrivalOrder(sent, before)
}

// takeReceived removes the message of a receive from the remaining messages of each source.
func (g *receiveRecord) takeReceived(left [][]*message) (*message, error) {
	s := g.status.Source
	if s < 0 || s >= len(left) {
		return nil, fmt.Errorf("the receive of %v got %+v: no such source", g.message, g.status)
	}
	i := slices.IndexFunc(left[s], g.canMatch)
	if i < 0 {
		return nil, fmt.Errorf("the receive of %v got %+v, and there is nothing for it", g.message, g.status)
	}
	m := left[s][i]
	if !g.hasReceived(s, m) {
		return nil, fmt.Errorf("the receive of %v got %+v, and not, or not the data of, %v", g.message, g.status, m)
	}
	left[s] = slices.Delete(left[s], i, i+1)
	return m, nil
}

// findArrivalOrder looks for an order of arrival that satisfies before.
func findArrivalOrder(sent [][]*message, before map[*message][]*message) error {
	there, next := map[*message]bool{}, make([]int, len(sent))
	for more := true; more; {
		more = false
		for s, i := range next {
			if i < len(sent[s]) && !slices.ContainsFunc(before[sent[s][i]], func(m *message) bool { return !there[m] }) {
				there[sent[s][i]], more = true, true
				next[s]++
			}
		}
	}
	for s, i := range next {
		if i < len(sent[s]) {
			return fmt.Errorf("there is no order of arrival in which %v comes behind %v", sent[s][i], before[sent[s][i]])
		}
	}
	return nil
}
