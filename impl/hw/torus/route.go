package torus

import "github.com/loggp/loggp/model/unit"

// Outputs of a node's switch: +x −x +y −y +z −z, and to its own memory.
const (
	eject      = 6
	numOutputs = 7
)

// neighbours returns the node behind each output of all switches of a torus.
func neighbours(shape [3]int) []int32 {
	nodes := shape[0] * shape[1] * shape[2]
	all := make([]int32, numOutputs*nodes)
	for node := range nodes {
		of := all[numOutputs*node:][:numOutputs]
		of[eject] = int32(node)
		stride := 1
		for d, size := range shape {
			at := node / stride % size
			of[2*d] = int32(node + ((at+1)%size-at)*stride)
			of[2*d+1] = int32(node + ((at+size-1)%size-at)*stride)
			stride *= size
		}
	}
	return all
}

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
	left [3]int16 // links behind that, in each dimension
	down uint8    // a bit for each dimension in which it goes down
	dim  int8     // of the last output; -1: it has not begun
}

// ejecting is the dimension of a route at its end.
const ejecting = 3

// RouteBetween returns the way from node a to node b. The last way from each node is remembered.
func (n *network) RouteBetween(a, b int) (route, unit.Time) {
	w := &n.ways[a]
	if w.known && w.to == b {
		return w.route, w.flight
	}
	*w = way{known: true, to: b, route: route{node: int32(a), dim: -1}}
	from, to, links, dimensions := n.place(a), n.place(b), 0, 0
	for d, size := range n.shape {
		left := (to[d] - from[d] + size) % size
		if left > size-left {
			left = size - left
			w.down |= 1 << d
		}
		w.left[d] = int16(left)
		if left > 0 {
			links += left
			dimensions++
		}
	}
	w.flight = n.latency(links, max(dimensions-1, 0))
	return w.route, w.flight
}

// NextOutput finds the next output of a route that has not ended, and returns how long a first byte
// takes to get there.
func (n *network) NextOutput(r *route) (out int32, step unit.Time, last bool) {
	for d := max(r.dim, 0); d < ejecting; d++ {
		if r.left[d] == 0 {
			continue
		}
		r.left[d]--
		out = numOutputs*r.node + 2*int32(d) + int32(r.down>>d&1)
		r.node = n.neighbours[out]
		step = n.Hop
		if r.dim >= 0 && r.dim != d {
			step += n.Torus.Turn
		}
		r.dim = d
		return out, step, false
	}
	r.dim = ejecting
	return numOutputs*r.node + eject, 0, true
}
