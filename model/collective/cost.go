package collective

import (
	"fmt"
	"iter"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Machine has the costs of messages and local work.
type Machine struct {
	model.Parameters                   // of messages between nodes
	IntraNode        *model.Parameters // of those within a node; nil: the same
	Copying          model.Curve       // of copying
	Combining        unit.PerByte      // of combining

	// SharedOccupations appends the shared components that a message from one rank to another
	// occupies; nil: nothing but the interfaces of its ranks.
	SharedOccupations func(into []model.Occupation, from, to, bytes int) []model.Occupation
}

// parameters returns those of messages from one rank to another.
func (m *Machine) parameters(nodes *Nodes, from, to int) *model.Parameters {
	if m.IntraNode != nil && nodes.AreOnOneNode(from, to) {
		return m.IntraNode
	}
	return &m.Parameters
}

// MessageTime returns how long a message takes that nothing holds up: from the begin of its send to
// the end of a receive that waits.
func (m *Machine) MessageTime(nodes *Nodes, from, to, bytes int) unit.Time {
	return timingOf(m.parameters(nodes, from, to), bytes, false).oneWayTime
}

// InterfaceTime returns for how long a message occupies the interfaces of its sender and its
// receiver: (k-1) G + g.
func (m *Machine) InterfaceTime(nodes *Nodes, from, to, bytes int) unit.Time {
	t := timingOf(m.parameters(nodes, from, to), bytes, false)
	return t.bytesTime + t.gap
}

// Cost says when the ranks of a job end. All begin at time 0.
type Cost struct {
	LastEnd        unit.Time // the last one
	FirstEnd       unit.Time // the first one
	Messages       int
	Bytes          int // that were sent
	LongestMessage int // bytes of the longest message
}

// Cost adds up the time of an algorithm by LogGP, with the schedule of each rank:
//
//   - Sending k bytes occupies the processor for o_s(k). The message then waits until the interface
//     is free, and occupies it for g + (k−1) G.
//   - The last byte arrives L + (k−1) G after the first has left. The receiver's interface takes
//     messages in at the same rate, one after the other.
//   - Receiving it occupies the processor for o_r(k). A rank that waits for a message receives all
//     that arrive before it, in the order of arrival, and keeps them for later steps.
//
// If the processor itself sends the bytes, o_s(k) includes G per byte (model.Parameters.Flow).
//
// If Way is known, a message reaches a receiver that waits so that its receive ends Way(k) after
// the send began, and what o_s(k) contains beyond that follows the transfer. A rendezvous is
// announced. Its bytes occupy both interfaces when the receiver receives it, and its send ends
// after that receive by as much as o_s(k) is longer than Way(k).
//
// Posted transfers are sent where they are posted, and received in turn at the wait, which also
// waits for the ends of posted rendezvous.
//
// So no job ends before the messages of each rank have passed its interfaces. A rank has one
// outgoing and one incoming interface, for both tiers. What a message passes between them is free,
// but for Shared: a component that several ranks use takes its messages one after the other.
//
// Alexandrov et al. 1995, with the rendezvous of Ino, Fujimoto and Hagihara 2001 (LogGPS).
func (m Machine) Cost(a *Algorithm, j Job) Cost {
	x := &simulation{Machine: m, nodes: j.Nodes, ranks: make([]rankClock, j.Ranks)}
	for r := range x.ranks {
		next, stop := iter.Pull(withoutPosting(a.Steps(j, r)))
		defer stop()
		x.ranks[r] = rankClock{rank: r, next: next}
		x.startNextStep(&x.ranks[r])
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
