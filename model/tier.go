package model

// Tier says how near two ranks are. A message within a node may take another route and protocol
// than a message between nodes.
type Tier uint8

// The tiers, named as the place of a measurement is.
const (
	Inter Tier = iota // in different nodes
	Intra             // in one node: one switch, one hypernode, one shared memory
	NumTiers
)

var tierNames = [NumTiers]string{"inter", "intra"}

func (t Tier) String() string { return tierNames[t] }

// Peers is a set of tiers. The zero value is all of them.
type Peers uint8

// The sets.
const (
	AllPeers Peers = iota
	InterPeers
	IntraPeers
)

// Peers returns the set of tier t alone.
func (t Tier) Peers() Peers { return InterPeers + Peers(t) }

// Has reports whether a peer of tier t is among them.
func (p Peers) Has(t Tier) bool { return p == AllPeers || p == t.Peers() }
