package model

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Component is a part of a machine that messages of several ranks may want at the same time.
type Component struct {
	Node  int    // that it belongs to, counted from 1; 0: the network between nodes
	Name  string // what it is
	Index int    // of several with that name
}

// Occupation is a part with the time for which a message occupies it.
type Occupation struct {
	Component
	Time       unit.Time
	Contention unit.Time // that is lost besides if the component is occupied when the message comes
	AtReceiver bool      // it is occupied when the message arrives, and not when it leaves
}

// newOccupation returns that of a component of the network.
func newOccupation(name string, index int, t unit.Time) Occupation {
	return Occupation{Component: Component{Name: name, Index: index}, Time: t}
}

// newOccupationAtReceiver returns the occupation of a component when the message arrives.
func newOccupationAtReceiver(name string, index int, t unit.Time) Occupation {
	o := newOccupation(name, index, t)
	o.AtReceiver = true
	return o
}

// dataMovement is how a library moves the data of a message.
type dataMovement struct {
	byAccess bool // by remote access of interfaces or processors, not in a packet
	byPut    bool // the sender writes it, if it is by remote access, and the receiver reads it otherwise
	copied   bool // the receiver copies it from where it arrives
}

// AppendOccupations appends what a message of a library, with so many bytes, occupies on its way
// from one rank to another: interfaces of nodes, media, ports and links. Times are those of the
// message alone, in the order in which it passes. Links of a torus are left out, as its processors
// use them in part only.
func (m *Machine) AppendOccupations(into []Occupation, lib *Library, from, to, bytes int) []Occupation {
	tier, node, a, b := m.TierOfRanks(from, to), 0, m.EndOfRank(from), m.EndOfRank(to)
	if m.Nodes != nil && tier == IntraNode {
		n, first, _ := m.Nodes.place(from)
		node, a, b = n+1, from-first, to-first
	}
	begin := len(into)
	into = m.NetworkOfTier(tier).appendSharedUse(into, a, b, bytes, m.movementOfMessage(lib, tier, bytes))
	for i := begin; i < len(into); i++ {
		into[i].Node = node
	}
	return into
}

// movementOfMessage returns how the data of a standard send of a library moves.
func (m *Machine) movementOfMessage(lib *Library, tier Tier, bytes int) dataMovement {
	packet := dataMovement{copied: true}
	switch engine := lib.CarriedBy(); {
	case engine == ProtoEngine:
		p := FindProtocol(lib.Proto.Protocol(StandardMode, tier, bytes))
		if p == nil || !p.UsesRemoteMemory() || !m.HasRemoteMemoryAt(tier) {
			return packet
		}
		byPut := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Means == ByPut })
		return dataMovement{byAccess: true, byPut: byPut, copied: lib.Proto.LongMessages[tier].BounceBufferBytes > 0}
	case !m.HasRemoteMemory():
		return packet
	case engine == StartEngine:
		return dataMovement{byAccess: bytes > lib.Start.ShortBytes[tier], copied: true}
	default:
		return dataMovement{byAccess: engine.UsesMBCF}
	}
}
