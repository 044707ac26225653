package topology

import "fmt"

// MaxListedSwitches limits the switches of a graph that is given by its edges: it has a table of
// their distances.
const MaxListedSwitches = 1024

// Edge is a cable between two vertices. Hosts are numbered first, then switches.
type Edge struct {
	A, B  int
	Class Class
}

// EdgeError is what is wrong with an edge.
type EdgeError struct {
	Index int // of the edge
	Text  string
}

func (e *EdgeError) Error() string { return e.Text }

// edgeGraph has the distances of a graph that is given by its edges.
type edgeGraph struct {
	firstOut  []int32  // of a vertex in outs; of the one behind the last as well
	linksOut  []int32  // the links out of each vertex
	distances []uint16 // from switch a to switch b, a·Switches + b
}

// unreachable is the distance of switches without a route.
const unreachable = ^uint16(0)

// NewEdges returns the graph of the edges. Each host has one edge, to a switch. An error is an
// *EdgeError if one edge is wrong.
func NewEdges(hosts, switches int, list []Edge) (*Graph, error) {
	if hosts < 2 || switches < 1 {
		return nil, fmt.Errorf("graph of %d hosts and %d switches: write at least 2 hosts and 1 switch", hosts, switches)
	}
	if switches > MaxListedSwitches {
		return nil, fmt.Errorf("graph of %d switches: write at most %d, or use a generator", switches, MaxListedSwitches)
	}
	g, err := newGraph("graph", hosts, switches, len(list))
	if err != nil {
		return nil, err
	}
	degree := make([]int32, hosts+switches+1)
	for i, e := range list {
		for _, v := range []int{e.A, e.B} {
			if v < 0 || v >= hosts+switches {
				return nil, &EdgeError{i, fmt.Sprintf("no vertex %d: there are %d", v, hosts+switches)}
			}
			if v < hosts && degree[v] > 0 {
				return nil, &EdgeError{i, fmt.Sprintf("%s has an edge already: a host is one interface and has one edge; write another host", g.VertexName(int32(v)))}
			}
			degree[v]++
		}
		if e.A == e.B {
			return nil, &EdgeError{i, fmt.Sprintf("joins %s with itself: write another end", g.VertexName(int32(e.A)))}
		}
		if e.A < hosts && e.B < hosts {
			return nil, &EdgeError{i, "joins two hosts: join each with a switch, or use mesh"}
		}
		g.addCable(e.A, e.B, e.Class)
	}
	var x edgeGraph
	x.firstOut, x.linksOut = g.adjacency(nil)
	g.parameters.edgeGraph = x
	for h := range hosts {
		if degree[h] == 0 {
			return nil, fmt.Errorf("no route to host %d, which has no edge: add one from h%d to a switch", h, h)
		}
	}
	if err := g.measureDistances(); err != nil {
		return nil, err
	}
	g.Description = fmt.Sprintf("graph of %d hosts and %d switches", hosts, switches)
	g.routeKind, g.usesVirtualChannels = shortestRoutes, true
	return g, nil
}

// outLinks returns the links out of a vertex.
func (g *Graph) outLinks(v int) []int32 {
	x := &g.parameters.edgeGraph
	return x.linksOut[x.firstOut[v]:x.firstOut[v+1]]
}

// measureDistances searches from each switch in breadth. A switch without a route to another is an
// error.
func (g *Graph) measureDistances() error {
	n := g.Switches
	all := make([]uint16, n*n)
	for i := range all {
		all[i] = unreachable
	}
	queue := make([]int, 0, n)
	for from := range n {
		of := all[from*n:][:n]
		of[from] = 0
		queue = append(queue[:0], from)
		for i := 0; i < len(queue); i++ {
			for _, link := range g.outLinks(g.Hosts + queue[i]) {
				if to := int(g.endOfLink[link]) - g.Hosts; to >= 0 && of[to] == unreachable {
					of[to] = of[queue[i]] + 1
					queue = append(queue, to)
				}
			}
		}
		if len(queue) < n {
			for to, d := range of {
				if d == unreachable {
					return fmt.Errorf("no route from switch %d to switch %d: the graph has parts that no edge joins; add an edge such as s%d s%d", from, to, from, to)
				}
			}
		}
	}
	g.parameters.distances = all
	return nil
}

// nextByDistance takes a link to a switch that is nearer to the destination's. Of several it takes
// the one that the destination's number selects, or a hash.
func (g *Graph) nextByDistance(r *Route) int32 {
	at, n := int(r.position), g.Switches
	if at < g.Hosts {
		link := g.outLinks(at)[0]
		r.position = g.endOfLink[link]
		return link
	}
	down := g.outLinks(int(r.Destination))[0] ^ 1
	end := int(g.From(down)) - g.Hosts
	distance := g.parameters.distances[(at-g.Hosts)*n+end]
	if distance == 0 {
		r.position = r.Destination
		return down
	}
	return g.selectLink(r, g.outLinks(at), func(link int32) bool {
		to := int(g.endOfLink[link]) - g.Hosts
		return to >= 0 && g.parameters.distances[to*n+end] == distance-1
	})
}

// selectLink takes the link that the destination's number selects, or a hash, of those that lead
// nearer to it.
func (g *Graph) selectLink(r *Route, links []int32, isNearer func(link int32) bool) int32 {
	nearer := 0
	for _, link := range links {
		if isNearer(link) {
			nearer++
		}
	}
	choice := int(r.Destination) % nearer
	if g.usesHash() {
		choice = int(hash64(uint64(r.hash)^uint64(r.position)<<32) % uint64(nearer))
	}
	for _, link := range links {
		if !isNearer(link) {
			continue
		}
		if choice--; choice < 0 {
			r.position = g.endOfLink[link]
			return link
		}
	}
	panic("topology: no link to a nearer switch")
}
