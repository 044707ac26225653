// Package topology has graphs of hosts, switches and links, generators of the usual ones, and the
// routes through them.
//
// A Graph is pure data: it has no bandwidth and no time. Routes of generated graphs are computed
// hop by hop from the numbers of switches, so a graph of many hosts has no table of pairs. Package
// model gives links and switches their numbers, and impl/hw/fabric emulates them.
package topology

import (
	"fmt"
	"math"
)

// MaxParts limits the hosts, the switches and the cables of a graph.
const MaxParts = 1 << 18

// Class says what a link joins. Links of a class have the same bandwidth and latency.
type Class uint8

// The classes.
const (
	HostClass   Class = iota // of a host to its switch, or of two hosts
	TrunkClass               // between switches
	LocalClass               // between routers of a group
	GlobalClass              // between groups
	NumClasses
)

// String returns the key of the class in platform files.
func (c Class) String() string { return [...]string{"host", "trunk", "local", "global"}[c] }

// Routing is how a graph with several routes between two hosts chooses one.
type Routing uint8

// The routings.
const (
	DeterministicRouting Routing = iota // by the digits of the destination: D-mod-K, or minimal
	HashRouting                         // equal-cost multipath: by a hash of both hosts and a seed
	SprayRouting                        // of equally short routes, another for each part of a message, at random
	AdaptiveRouting                     // minimal or through another group, by the queues: UGAL
)

// Graph is hosts and switches that are joined by cables. Vertices 0 to Hosts−1 are the hosts, those
// behind are switches. A cable is two links: cable c has link 2c from its first vertex to its
// second, and link 2c+1 back.
type Graph struct {
	Hosts, Switches int
	Kind            string // the key in platform files
	Description     string // what it is, in a few words

	// Bisection is the number of cables between the two halves of the hosts, if Hosts is even and
	// the generator has a formula for it; otherwise 0. It is in host cables where those are fewer.
	Bisection int

	Routing Routing
	Seed    uint64 // of HashRouting

	endOfLink           []int32 // the vertex at the end of each link
	classes             []Class // of cables
	routeKind           routeKind
	usesVirtualChannels bool          // a route uses one virtual channel after the other
	failures            *failedCables // nil: all cables work
	parameters          routeParameters
}

// routeParameters has the numbers from which routes are computed, each of one kind of graph.
type routeParameters struct {
	fatTree
	dragonfly
	edgeGraph
}

// routeKind says how the next link of a route is found.
type routeKind uint8

const (
	treeRoutes routeKind = iota
	dragonflyRoutes
	meshRoutes
	shortestRoutes
)

// Links returns the number of links, which is twice that of cables.
func (g *Graph) Links() int { return len(g.endOfLink) }

// To returns the vertex to which a link leads.
func (g *Graph) To(link int32) int32 { return g.endOfLink[link] }

// From returns the vertex from which a link leads.
func (g *Graph) From(link int32) int32 { return g.endOfLink[link^1] }

// Class returns the class of a link.
func (g *Graph) Class(link int32) Class { return g.classes[link/2] }

// IsHost reports whether a vertex is a host.
func (g *Graph) IsHost(vertex int32) bool { return int(vertex) < g.Hosts }

// VertexName returns the name of a vertex: host 3, switch 0.
func (g *Graph) VertexName(vertex int32) string {
	if g.IsHost(vertex) {
		return fmt.Sprintf("host %d", vertex)
	}
	return fmt.Sprintf("switch %d", int(vertex)-g.Hosts)
}

// LinkName returns the name of a link: "host 3 to switch 0". Parallel cables have equal names.
func (g *Graph) LinkName(link int32) string {
	return g.VertexName(g.From(link)) + " to " + g.VertexName(g.To(link))
}

// LinkNames returns the names of all links, in their order. Of parallel cables the second is called
// "switch 0 to switch 1 by cable 2".
func (g *Graph) LinkNames() []string {
	names, used := make([]string, g.Links()), map[string]int{}
	for i := range names {
		names[i] = g.LinkName(int32(i))
		if used[names[i]]++; used[names[i]] > 1 {
			names[i] += fmt.Sprintf(" by cable %d", used[names[i]])
		}
	}
	return names
}

// Classes returns which classes of links the graph has.
func (g *Graph) Classes() (has [NumClasses]bool) {
	for _, c := range g.classes {
		has[c] = true
	}
	return has
}

// newGraph returns a graph without cables, or an error if it is too large.
func newGraph(kind string, hosts, switches, cables int) (*Graph, error) {
	for _, n := range []struct {
		count int
		of    string
	}{{hosts, "hosts"}, {switches, "switches"}, {cables, "cables"}} {
		if n.count < 0 || n.count > MaxParts {
			return nil, fmt.Errorf("%s of more than %d %s, the most that are emulated: write smaller numbers", kind, MaxParts, n.of)
		}
	}
	return &Graph{Hosts: hosts, Switches: switches, Kind: kind, endOfLink: make([]int32, 0, 2*cables), classes: make([]Class, 0, cables)}, nil
}

// addCable joins two vertices and returns the number of the cable.
func (g *Graph) addCable(a, b int, c Class) int {
	g.endOfLink = append(g.endOfLink, int32(b), int32(a))
	g.classes = append(g.classes, c)
	return len(g.classes) - 1
}

// multiplyCounts multiplies counts. It returns −1 if the result is more than a graph can have.
func multiplyCounts(counts ...int) int {
	n := 1
	for _, c := range counts {
		if n < 0 || c < 0 || c > 0 && n > math.MaxInt32/c {
			return -1
		}
		n *= c
	}
	return n
}
