package torus

import "github.com/loggp/loggp/model/unit"

// place returns the coordinates of a node.
func (n *network) place(node int) [3]int {
	return [3]int{node % n.shape[0], node / n.shape[0] % n.shape[1], node / n.shape[0] / n.shape[1]}
}

// way is how chunks get from a node to another: along the dimensions in order, the shorter way
// round in each.
type way struct {
	known  bool
	to     int
	route            // as it begins
	flight unit.Time // of a first byte over all links, and delivery
}

// route is what a chunk has before it.
type route struct {
	node int32    // behind the last output
	out  int32    // the next output
	left [3]int16 // links behind that, in each dimension
	down uint8    // a bit for each dimension in which it goes down
	dim  int8     // of the last output; -1: it has not begun
}

// ejecting is the dimension of a route at its end.
const ejecting = 3

// way returns the way from node a to node b. The last way from each node is remembered.
func (n *network) way(a, b int) *way {
	w := &n.ways[a]
	if w.known && w.to == b {
		return w
	}
	*w = way{known: true, to: b, route: route{node: int32(a), dim: -1}, flight: n.Deliver}
	from, to, dimensions := n.place(a), n.place(b), 0
	for d, size := range n.shape {
		links := (to[d] - from[d] + size) % size
		if links > size-links {
			links = size - links
			w.down |= 1 << d
		}
		w.left[d] = int16(links)
		if links > 0 {
			w.flight += n.Hop * unit.Time(links)
			dimensions++
		}
	}
	w.flight += n.Turn * unit.Time(max(dimensions-1, 0))
	return w
}

// turn finds the next output of a route that has not ended, and returns how long a first byte takes
// to get there.
func (n *network) turn(r *route) (step unit.Time) {
	for d := max(r.dim, 0); d < ejecting; d++ {
		if r.left[d] == 0 {
			continue
		}
		r.left[d]--
		r.out = numOutputs*r.node + 2*int32(d) + int32(r.down>>d&1)
		r.node = n.outputs[r.out].to
		step = n.Hop
		if r.dim >= 0 && r.dim != d {
			step += n.Turn
		}
		r.dim = d
		return step
	}
	r.out, r.dim = numOutputs*r.node+eject, ejecting
	return 0
}

// latency returns the time of a first byte from src to dst where nothing else is on the way.
func (n *network) latency(src, dst int32) unit.Time {
	return n.way(n.node(src), n.node(dst)).flight
}
