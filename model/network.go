package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Network is a kind of network with its numbers: all that models ask of one. It joins ends, which
// are the ranks of a machine or the interfaces of its nodes.
type Network interface {
	Kind() string                // its key in platform files, with which the names of its terms begin
	String() string              // what it is, in a few words
	Node(end int) int            // ends of one node are near each other; where none are, each is a node of its own
	way(ends, from, to int) Path // between two different nodes, with so many ends in all
	on(p Path) carrier           // what a transfer goes through, with nothing under way

	// view fills in what LogGP sees of low-level messages on a way, see MessageView. control is
	// what the library spends to send one, and RecvO has already what it spends to take one in.
	view(x *Parameters, control unit.Time, p Path)
}

// Kinds has a network of each kind, to ask for its name.
var Kinds = []Network{(*Torus)(nil), (*Hypernodes)(nil), (*Ethernet)(nil), (*LogGP)(nil)}

// carrier is a network with a transfer on it. Each method lets time pass on the lanes.
type carrier interface {
	send(w *walk, from Where, bytes int) mail
	receive(w *walk, who Where, bytes int)
}

// memory is what a carrier is as well if processors can access each other's memory through it.
type memory interface {
	get(w *walk, who Where, bytes int) // until the bytes are there and known to be
	put(w *walk, who Where, bytes int) // likewise
}

// Path is the way between two ranks.
type Path struct {
	Tier  Tier
	Hops  int // links from switch to switch; hypernodes on the ring
	Turns int // changes of dimension
}

// network returns the network between ranks, or between nodes.
func (m *Machine) network() Network {
	if m.Network == nil {
		panic("model: machine " + m.Name + " has no network")
	}
	return m.Network
}

// Between returns the network that joins ranks of a tier.
func (m *Machine) Between(t Tier) Network {
	if m.Nodes != nil && t == Intra {
		return m.Nodes.Inside
	}
	return m.network()
}

// Interconnect says what the machine's networks are: torus of links of 300 MB/s.
func (m *Machine) Interconnect() string {
	if n := m.Nodes; n != nil {
		return fmt.Sprintf("nodes of %d ranks and %d interfaces (%v) on a %v", n.Ranks, n.Interfaces, n.Inside, m.network())
	}
	return m.network().String()
}

// Ends returns how many ends of the machine's network a job of so many ranks uses.
func (m *Machine) Ends(ranks int) int {
	if n := m.Nodes; n != nil {
		return (ranks + n.Ranks - 1) / n.Ranks * n.Interfaces
	}
	return ranks
}

// End returns the end of the machine's network that a rank uses.
func (m *Machine) End(rank int) int {
	if n := m.Nodes; n != nil {
		return rank/n.Ranks*n.Interfaces + rank%n.Ranks%n.Interfaces
	}
	return rank
}

// Node returns the node of a rank. Where ranks have no near ones, each is its own.
func (m *Machine) Node(rank int) int {
	if m.Nodes != nil {
		return rank / m.Nodes.Ranks
	}
	return m.network().Node(rank)
}

// Tier says how near two ranks are.
func (m *Machine) Tier(a, b int) Tier {
	if m.Node(a) == m.Node(b) {
		return Intra
	}
	return Inter
}

// Path returns the way between two ranks of a job.
func (m *Machine) Path(ranks, a, b int) Path {
	t := m.Tier(a, b)
	net, ends, from, to := m.network(), m.Ends(ranks), m.End(a), m.End(b)
	if n := m.Nodes; n != nil && t == Intra {
		first := a / n.Ranks * n.Ranks
		net, ends, from, to = n.Inside, min(n.Ranks, ranks-first), a-first, b-first
	}
	var p Path
	if from, to = net.Node(from), net.Node(to); from != to {
		p = net.way(ends, from, to)
	}
	p.Tier = t
	return p
}

// hasMemory reports whether ends of a network can read and write each other's memory.
func hasMemory(n Network) bool {
	_, ok := n.on(Path{}).(memory)
	return ok
}

// chunks returns how much longer than at their own rate so many bytes take to leave, and to be
// there, because something that they pass is slower. They go in chunks; one of c bytes is through
// when it has come at the rate and the slow one has passed on the one before it,
//
//	max{c / rate, c / slow}
//
// later. The last has left when it has come, and is there when the slow one has passed it on.
func chunks(bytes, chunk int, rate, slow unit.Rate) (left, there unit.Time) {
	last := max(bytes-1, 0) / chunk * chunk // where the last chunk begins
	hold := slow.Time(chunk)
	if hold >= rate.Time(chunk) {
		for pos := 0; pos < last; pos += chunk {
			left += max(0, hold-(rate.Time(pos+chunk)-rate.Time(pos)))
		}
	}
	return left, left + max(0, slow.Time(bytes-last)-(rate.Time(bytes)-rate.Time(last)))
}
