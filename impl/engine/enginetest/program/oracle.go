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

// check checks all messages that a rank received.
func (x *runner) check() error {
	for _, t := range x.p.comms {
		if !t.has(x.me) {
			continue
		}
		var got []*receipt
		for _, g := range x.got {
			if g.m.comm == t {
				got = append(got, g)
			}
		}
		if err := legal(x.sent(t), got); err != nil {
			return fmt.Errorf("rank %d, communicator %d: %w", x.me, t.id, err)
		}
	}
	return nil
}

// sent returns the messages to a rank in a communicator, by source, in order, without cancelled
// ones.
func (x *runner) sent(t *communicator) [][]*message {
	peers := t.peers(x.me)
	all := make([][]*message, len(peers))
	for i, r := range peers {
		for _, s := range x.p.of(r) {
			for _, m := range s.sends {
				if m.comm == t && m.dst == x.me && !x.lost[m] {
					all[i] = append(all[i], m)
				}
			}
		}
	}
	return all
}

// takes reports whether a receive matches a message.
func (g *receipt) takes(m *message) bool {
	return (g.m.anySource || g.m.src == m.src) && (g.m.anyTag || g.m.tag == m.tag)
}

// is reports whether a receive got a message.
func (g *receipt) is(source int, m *message) bool {
	return g.status.Source == source && g.status.Tag == m.tag && g.status.Bytes == m.units*m.unit.size() && bytes.Equal(g.data, m.bytes())
}

// legal checks the messages of receives, which are in the order of posting.
func legal(sent [][]*message, got []*receipt) error {
	left := make([][]*message, len(sent))
	for s := range sent {
		left[s] = slices.Clone(sent[s])
	}
	before := map[*message][]*message{} // messages that preceded a message
	for _, g := range got {
		taken, err := g.pick(left)
		if err != nil {
			return err
		}
		for s := range left {
			if i := slices.IndexFunc(left[s], g.takes); i >= 0 {
				before[left[s][i]] = append(before[left[s][i]], taken)
			}
		}
	}
	for _, l := range left {
		if len(l) > 0 {
			return fmt.Errorf("no rank received %v", l[0])
		}
	}
	return arrive(sent, before)
}

// pick removes the message of a receive from the remaining messages of each source.
func (g *receipt) pick(left [][]*message) (*message, error) {
	s := g.status.Source
	if s < 0 || s >= len(left) {
		return nil, fmt.Errorf("the receive of %v got %+v: no such source", g.m, g.status)
	}
	i := slices.IndexFunc(left[s], g.takes)
	if i < 0 {
		return nil, fmt.Errorf("the receive of %v got %+v, and there is nothing for it", g.m, g.status)
	}
	m := left[s][i]
	if !g.is(s, m) {
		return nil, fmt.Errorf("the receive of %v got %+v, and not, or not the data of, %v", g.m, g.status, m)
	}
	left[s] = slices.Delete(left[s], i, i+1)
	return m, nil
}

// arrive looks for an order of arrival that satisfies before.
func arrive(sent [][]*message, before map[*message][]*message) error {
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
