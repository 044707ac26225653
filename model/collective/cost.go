package collective

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Machine has the costs of messages and of local work.
type Machine struct {
	model.Parameters                   // for messages between nodes
	IntraNode        *model.Parameters // for messages within a node; nil: the same
	Copying          model.Curve       // of copying
	Combining        unit.PerByte      // of combining

	// SharedOccupations appends the shared components that a message between two ranks occupies;
	// nil: only the interfaces of the ranks are occupied.
	SharedOccupations func(into []model.Occupation, from, to, bytes int) []model.Occupation
}

// parameters returns the parameters for messages between two ranks.
func (m *Machine) parameters(nodes *Nodes, from, to int) *model.Parameters {
	if m.IntraNode != nil && nodes.AreOnOneNode(from, to) {
		return m.IntraNode
	}
	return &m.Parameters
}

// MessageTime returns the time of a message without contention, from the start of its send to the
// end of a receive that waits for it.
func (m *Machine) MessageTime(nodes *Nodes, from, to, bytes int) unit.Time {
	return timingOf(m.parameters(nodes, from, to), bytes, false).oneWayTime
}

// InterfaceTime returns the time for which a message occupies the interfaces of its sender and its
// receiver: (k−1) G + g.
func (m *Machine) InterfaceTime(nodes *Nodes, from, to, bytes int) unit.Time {
	t := timingOf(m.parameters(nodes, from, to), bytes, false)
	return t.bytesTime + t.gap
}

// Cost has the end times of the ranks of a job. All start at time 0.
type Cost struct {
	LastEnd        unit.Time // of the last rank
	FirstEnd       unit.Time // of the first rank
	Messages       int
	Bytes          int // total bytes sent
	LongestMessage int // in bytes
}

// Cost adds up the time of an algorithm by LogGP, with the schedule of each rank:
//
//   - Sending k bytes occupies the processor for o_s(k). The message then waits until the interface
//     is free, and occupies it for g + (k−1) G.
//   - The last byte arrives L + (k−1) G after the first has left. The receiver's interface accepts
//     messages at the same rate, one after another.
//   - Receiving occupies the processor for o_r(k). A rank that waits for a message receives all
//     that arrive before it, in the order of arrival, and keeps them for later steps.
//
// If the processor itself sends the bytes, o_s(k) includes G per byte (model.Parameters.Flow).
//
// If the one-way time Way is known, the receive of a rank that waits for the message ends Way(k)
// after the start of the send. The part of o_s(k) beyond that follows the transfer. A rendezvous is
// announced first. Its bytes occupy both interfaces when the receiver receives it, and its send
// ends after that receive by the difference of o_s(k) and Way(k).
//
// Posted transfers are sent when they are posted, and received in order at the Wait, which also
// waits for the ends of posted rendezvous.
//
// So no job ends before the messages of each rank have passed its interfaces. A rank has one
// outgoing and one incoming interface, for both tiers. Between the interfaces only
// SharedOccupations cause contention: a component used by several ranks carries one message at a
// time.
//
// Alexandrov et al. 1995, with the rendezvous of Ino, Fujimoto and Hagihara 2001 (LogGPS).
func (m Machine) Cost(a *Algorithm, j Job) Cost {
	x := &simulation{Machine: m, nodes: j.Nodes, ranks: make([]rankClock, j.Ranks)}
	for r := range x.ranks {
		c := &x.ranks[r]
		c.rank = r
		defer c.steps.start(&x.Machine, a, j, r)()
		x.startNextStep(c)
	}
	x.runEvents()
	x.FirstEnd = x.ranks[0].now
	for i := range x.ranks {
		if !x.ranks[i].ended {
			panic(fmt.Sprintf("collective: %v of %+v: rank %d waits forever", a, j, i))
		}
		x.FirstEnd, x.LastEnd = min(x.FirstEnd, x.ranks[i].now), max(x.LastEnd, x.ranks[i].now)
	}
	return x.Cost
}
