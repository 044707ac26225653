// Package model describes machines and message-passing libraries, and computes what each protocol
// costs on them as a sum of named terms. It has the parameters of LogP, LogGP, LogGPS and PLogP
// that follow.
//
// A Machine is hardware: processors, memory, interfaces, wires. A Library is message-passing
// software on it: the cost of its steps, the rules by which it chooses protocols, the size of its
// buffers. Both are plain data, read from a platform file by model/platform. This package computes
// times from the data; impl/hw emulates the same machine. The two share no code beyond the data, so
// each can test the other.
package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Machine is the hardware of a platform: ranks on a network, or nodes of several ranks on a
// network.
type Machine struct {
	Name                        string // short, as given to --platform
	Description                 string
	Ranks                       RankLimits
	TimerResolution             unit.Time // resolution of the clock that programs read
	Noise                       Noise
	Processor                   Processor
	FileAccess                  Channel // of an access to a file, on a file system that all ranks share; of no bandwidth: files take no time
	SizesUpTo                   int     // messages are measured, unless a user says otherwise, in powers of two up to it; 0: in the sizes of the LogGP paper
	ProcessorsCannotShareMemory bool    // no processor can access another's memory, even if the network could

	Network Network // between the ranks, or between the nodes if there are Nodes
	Nodes   *Nodes  // nil: the network joins the ranks themselves
}

// Nodes describes the nodes of a composed machine. Ranks fill one node after the other, unless they
// are placed. Rank i of a node uses its interface i modulo Interfaces. The interfaces are the ends
// of the machine's Network.
type Nodes struct {
	Ranks      int     // processors of a node
	Interfaces int     // of a node to the network between nodes
	Inside     Network // between the ranks of a node

	// Placed is how many ranks of a job each node has, from the first node on; nil: as many as it
	// has processors. Nodes behind these are full.
	Placed Placement
}

// Placement is how many ranks of a job each node has: 4+4 is four on each of two nodes.
type Placement []int

// maxPlacedNodes limits the nodes of a placement in text.
const maxPlacedNodes = 1 << 20

// ParsePlacement reads a placement such as 4+4, or 2x4 for two nodes with four ranks each.
func ParsePlacement(s string) (Placement, error) {
	var p Placement
	for _, word := range strings.Split(s, "+") {
		nodes, ranks := 1, word
		var err error
		if count, each, ok := strings.Cut(word, "x"); ok {
			nodes, err = strconv.Atoi(count)
			ranks = each
		}
		n, wrong := strconv.Atoi(ranks)
		if err != nil || wrong != nil || nodes < 1 || n < 1 {
			return nil, fmt.Errorf("placement %q: %q is no number of ranks: write how many each node has, such as 4+4, or 2x4 for two nodes with 4 each", s, word)
		}
		if nodes > maxPlacedNodes-len(p) {
			return nil, fmt.Errorf("placement %q: it has more than %d nodes", s, maxPlacedNodes)
		}
		p = append(p, slices.Repeat([]int{n}, nodes)...)
	}
	return p, nil
}

// Ranks returns how many ranks there are in all.
func (p Placement) Ranks() int {
	sum := 0
	for _, n := range p {
		sum += n
	}
	return sum
}

// String prints it as ParsePlacement reads it.
func (p Placement) String() string {
	var words []string
	for _, n := range p {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, "+")
}

// WithPlacement returns the machine with jobs whose ranks are placed. A placement for which there
// are not enough nodes or processors is an error.
func (m *Machine) WithPlacement(p Placement) (*Machine, error) {
	if m.Nodes == nil {
		return nil, fmt.Errorf("placement %v: %s has no nodes with several processors", p, m.Name)
	}
	per := m.Nodes.Ranks
	for i, n := range p {
		if n > per {
			return nil, fmt.Errorf("placement %v: %d ranks on node %d: a node of %s has %d processors", p, n, i, m.Name, per)
		}
	}
	if most := (m.Ranks.Max + per - 1) / per; len(p) > most {
		return nil, fmt.Errorf("placement %v: %d nodes: %s has %d", p, len(p), m.Name, most)
	}
	placed, nodes := *m, *m.Nodes
	nodes.Placed, placed.Nodes = p, &nodes
	return &placed, nil
}

// place returns the node of a rank, and the first rank of that node and of the next one.
func (n *Nodes) place(rank int) (node, first, next int) {
	for i, ranks := range n.Placed {
		if next += ranks; rank < next {
			return i, next - ranks, next
		}
	}
	node = (rank - next) / n.Ranks
	first = next + node*n.Ranks
	return len(n.Placed) + node, first, first + n.Ranks
}

// RanksOfNode returns the ranks of the node of a rank, from the first to before the end, in a job
// of so many.
func (m *Machine) RanksOfNode(ranks, rank int) (first, end int) {
	_, first, end = m.Nodes.place(rank)
	return first, min(end, ranks)
}

// HasRemoteMemory reports whether processors can read and write each other's memory. If they
// cannot, as on workstations, a library sends packets instead.
func (m *Machine) HasRemoteMemory() bool {
	if m.Nodes != nil && !hasMemory(m.Nodes.Inside) {
		return false
	}
	return hasMemory(m.network()) && !m.ProcessorsCannotShareMemory
}

// HasRemoteMemoryAt reports whether processors can read and write the memory of others of a tier.
// Within nodes they can if the system copies between processes, whatever the network between nodes
// can: a library uses that where it has a choice.
func (m *Machine) HasRemoteMemoryAt(t Tier) bool {
	if m.Nodes != nil && t == IntraNode && !m.ProcessorsCannotShareMemory {
		if _, bySystem := m.Nodes.Inside.(interface{ copiesBetweenProcesses() }); bySystem {
			return true
		}
	}
	return m.HasRemoteMemory()
}

// BarrierReleaseTime returns how long after the last arrival all ranks see that the hardware's
// barrier is open; 0: there is none, or not for ranks that need not be on nodes of their own.
func (m *Machine) BarrierReleaseTime() unit.Time {
	if t, ok := m.Network.(*Torus); ok && m.Nodes == nil && !m.ProcessorsCannotShareMemory {
		return t.BarrierReleaseTime
	}
	return 0
}

// Control returns the network that broadcasts and combines words, or nil if there is none.
func (m *Machine) Control() *Control {
	if f, ok := m.Network.(*FatTree); ok && m.Nodes == nil && f.Control.Words > 0 {
		return &f.Control
	}
	return nil
}

// HasCounters reports whether processors can change each other's counters.
func (m *Machine) HasCounters() bool {
	return m.HasRemoteMemory() && hasCounters(m.network()) && (m.Nodes == nil || hasCounters(m.Nodes.Inside))
}

// HasAtomicMemory reports whether interfaces execute atomic operations in the memory of other
// ranks: those of RDMA interfaces do.
func (m *Machine) HasAtomicMemory() bool {
	_, isFabric := m.network().(*Fabric)
	return isFabric && m.HasCounters()
}

// RankLimits bounds the number of processors of a job.
type RankLimits struct{ Default, Min, Max int }

// Noise is random variation of what processors do.
type Noise struct {
	// Relative is the standard deviation of every processor step, divided by its mean. Noise does
	// not change the mean.
	Relative float64
}

// Processor is a processor with its memory.
type Processor struct {
	Copy      Channel   // memory to memory, by the processor; of infinite bandwidth if copies take no time
	LongCopy  LongCopy  // the same, by the copy engine of a GPU
	Operation unit.Time // average arithmetic operation or comparison of a program, with its memory accesses; 0: not known
	Loop      unit.Time // to begin a loop over a vector; 0: no time of its own
	Indirect  unit.Time // an access to memory by an index that is read before it; 0: no time of its own
	Cache     Cache     // the first level, for programs that say which data a loop comes back to
}

// LongCopy is how long data is copied from memory to memory if the processor does not do it. The
// zero value is no other way.
type LongCopy struct {
	From int // shortest data, in bytes
	Channel
}

// Takes reports whether so many bytes are copied in this way.
func (c *LongCopy) Takes(bytes int) bool { return c.From > 0 && bytes >= c.From }

// Cache is a processor's first-level cache. The zero value costs nothing.
type Cache struct {
	Bytes, LineBytes int
	Miss             unit.Time // a line from the next level
}

// ReloadTime returns what the misses of a loop cost that comes back to some bytes and passes others
// meanwhile: a miss for each line that it comes back to, if both do not fit the cache together, and
// else nothing. What it passes is part of the time of its operations.
func (c *Cache) ReloadTime(reusedBytes, passedBytes int) unit.Time {
	if c.Bytes == 0 || reusedBytes+passedBytes <= c.Bytes {
		return 0
	}
	return c.Miss.Times((reusedBytes + c.LineBytes - 1) / c.LineBytes)
}

// CopyChannel returns the cost of a copy of so many bytes by a processor of the machine.
func (m *Machine) CopyChannel(bytes int) Channel {
	if x, ok := m.NetworkOfTier(IntraNode).(copyNetwork); ok {
		return x.CopyChannel(m.Processor.Copy, bytes)
	}
	if long := &m.Processor.LongCopy; long.Takes(bytes) {
		return long.Channel
	}
	return m.Processor.Copy
}

// CopiesPassNetwork reports whether copies of processors contend with messages for the memory or
// the ports of the network within nodes.
func (m *Machine) CopiesPassNetwork() bool {
	x, ok := m.NetworkOfTier(IntraNode).(interface{ CopiesPassNetwork() bool })
	return ok && x.CopiesPassNetwork()
}

// CopySteps returns the sizes from which on copies have other costs, in ascending order.
func (m *Machine) CopySteps() []int {
	if x, ok := m.NetworkOfTier(IntraNode).(copyNetwork); ok {
		return x.copySteps()
	}
	if from := m.Processor.LongCopy.From; from > 0 {
		return []int{from}
	}
	return nil
}

// Channel moves bytes after a start-up: Start + k/Bandwidth for k bytes.
type Channel struct {
	Start     unit.Time
	Bandwidth unit.Rate
}

// Time returns how long the channel takes for k bytes.
func (c Channel) Time(k int) unit.Time { return c.Start + c.Bandwidth.Time(k) }

// String prints the rate, after the start-up if there is one: 170MB/s, 1.2us + 120MB/s.
func (c Channel) String() string {
	if c.Start == 0 {
		return c.Bandwidth.String()
	}
	return c.Start.String() + " + " + c.Bandwidth.String()
}

// Network is a network of some kind with its parameters, as the models need it. It joins ends,
// which are the ranks of a machine or the interfaces of its nodes.
type Network interface {
	Kind() string                  // its key in platform files, with which the names of its terms begin
	String() string                // what it is, in a few words
	Node(end int) int              // the node of an end; each end is its own on a network with one tier
	route(ends, from, to int) Path // between two different nodes, with that many ends in all
	newCarrier(p Path) carrier     // a new transfer on the network, with nothing under way

	// fillParameters fills in the LogGP parameters of low-level messages on a path, see
	// LowLevelParameters. control is the library's time to send a message. RecvO already has its
	// time to take one in.
	fillParameters(x *Parameters, control unit.Time, p Path)

	// appendSharedUse appends the parts shared by several ends or ranks that a message from one
	// end to another occupies, see Machine.AppendOccupations.
	appendSharedUse(into []Occupation, from, to, bytes int, how dataMovement) []Occupation
}

// distanceNetwork is a network with routes between ends of one node.
type distanceNetwork interface{ routeInside(from, to int) Path }

// copyNetwork is a network of processors whose copies depend on their size. c is the cost of a copy
// that fits no cache, and copySteps are the sizes from which on copies have other costs.
type copyNetwork interface {
	CopyChannel(c Channel, bytes int) Channel
	copySteps() []int
}

// networkByLibrary is a network that libraries use in different ways.
type networkByLibrary interface{ by(*Library) Network }

// NetworkKinds has a nil network of each kind, for its methods Kind.
var NetworkKinds = []Network{(*Torus)(nil), (*Hypernodes)(nil), (*Ethernet)(nil), (*LogGP)(nil), (*FatTree)(nil), (*Fabric)(nil), (*NUMA)(nil)}

// carrier is the state of a network during a transfer. Each method advances the clocks of lanes.
type carrier interface {
	send(w *protocolRun, from CostSide, bytes int) packet
	receive(w *protocolRun, side CostSide, bytes int)
}

// remoteMemoryCarrier is implemented by carriers through which processors can access each other's
// memory.
type remoteMemoryCarrier interface {
	get(w *protocolRun, side CostSide, bytes int) // until the side knows that the bytes have arrived
	put(w *protocolRun, side CostSide, bytes int) // likewise
}

// sendCompleter is implemented by carriers whose interfaces may read a packet from the sender's
// memory and report its completion.
type sendCompleter interface {
	completesSends(bytes int) bool
	awaitCompletion(w *protocolRun, from CostSide, m packet)
}

// Tier says how near two ranks are. A message within a node may take another route and protocol
// than a message between nodes.
type Tier uint8

// The tiers, named as the place of a measurement is.
const (
	InterNode Tier = iota // in different nodes
	IntraNode             // in one node: one switch, one hypernode, one shared memory
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

// Contains reports whether a peer of tier t is among them.
func (p Peers) Contains(t Tier) bool { return p == AllPeers || p == t.Peers() }

// Path is the route between two ranks.
type Path struct {
	Tier  Tier
	Hops  int // links from switch to switch; hypernodes on the ring; switches of a fat tree; the Distance of cores
	Turns int // changes of dimension

	// Of a fabric, the time of a first byte over all links and switches, and the rate of the
	// slowest link.
	FirstByte   unit.Time
	SlowestLink unit.Rate
}

// network returns the network between ranks, or between nodes.
func (m *Machine) network() Network {
	if m.Network == nil {
		panic("model: machine " + m.Name + " has no network")
	}
	return m.Network
}

// NetworkOfTier returns the network that joins ranks of a tier.
func (m *Machine) NetworkOfTier(t Tier) Network {
	if m.Nodes != nil && t == IntraNode {
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

// CountEnds returns how many ends of the machine's network a job with that many ranks uses.
func (m *Machine) CountEnds(ranks int) int {
	if n := m.Nodes; n != nil {
		node, _, _ := n.place(ranks - 1)
		return (node + 1) * n.Interfaces
	}
	return ranks
}

// EndOfRank returns the end of the machine's network that a rank uses.
func (m *Machine) EndOfRank(rank int) int {
	if n := m.Nodes; n != nil {
		node, first, _ := n.place(rank)
		return node*n.Interfaces + (rank-first)%n.Interfaces
	}
	return rank
}

// NodeOfRank returns the node of a rank. If the network has one tier, each rank is a node of its
// own.
func (m *Machine) NodeOfRank(rank int) int {
	if m.Nodes != nil {
		node, _, _ := m.Nodes.place(rank)
		return node
	}
	return m.network().Node(rank)
}

// TierOfRanks returns the tier of two ranks.
func (m *Machine) TierOfRanks(a, b int) Tier {
	if m.NodeOfRank(a) == m.NodeOfRank(b) {
		return IntraNode
	}
	return InterNode
}

// PathBetweenRanks returns the route between two ranks of a job.
func (m *Machine) PathBetweenRanks(ranks, a, b int) Path {
	t := m.TierOfRanks(a, b)
	net, ends, from, to := m.network(), m.CountEnds(ranks), m.EndOfRank(a), m.EndOfRank(b)
	if n := m.Nodes; n != nil && t == IntraNode {
		first, end := m.RanksOfNode(ranks, a)
		net, ends, from, to = n.Inside, end-first, a-first, b-first
	}
	var p Path
	if a, b := net.Node(from), net.Node(to); a != b {
		p = net.route(ends, a, b)
	} else if x, ok := net.(distanceNetwork); ok {
		p = x.routeInside(from, to)
	}
	p.Tier = t
	return p
}

// hasMemory reports whether ends of a network can read and write each other's memory.
func hasMemory(n Network) bool {
	_, ok := n.newCarrier(Path{}).(remoteMemoryCarrier)
	return ok
}

// counterNetwork is a network that says whether its ends have counters. Those of others have them.
type counterNetwork interface{ hasCounters() bool }

// hasCounters reports whether ends of a network that can access each other's memory have counters.
func hasCounters(n Network) bool {
	x, ok := n.(counterNetwork)
	return !ok || x.hasCounters()
}

// chunkDelays returns how much a slower component on the path delays bytes that are sent at a rate:
// how much later the last byte leaves, and how much later it arrives. The bytes go in chunks. The
// slow component passes on a chunk of c bytes
//
//	max{c / rate, c / slow}
//
// after the chunk before it. The last chunk has left when the slow component has it, and arrives
// when the slow component has passed it on.
func chunkDelays(bytes, chunk int, rate, slow unit.Rate) (left, there unit.Time) {
	last := max(bytes-1, 0) / chunk * chunk // where the last chunk begins
	hold := slow.Time(chunk)
	if hold >= rate.Time(chunk) {
		for pos := 0; pos < last; pos += chunk {
			left += max(0, hold-(rate.Time(pos+chunk)-rate.Time(pos)))
		}
	}
	return left, left + max(0, slow.Time(bytes-last)-(rate.Time(bytes)-rate.Time(last)))
}
