package torus

import "github.com/loggp/loggp/model/unit"

// Outputs of a node's switch: +x −x +y −y +z −z, and the output to its own memory.
const (
	ejectOutput    = 6
	outputsPerNode = 7
)

// neighbours returns the node behind each output of every switch of a torus.
func neighbours(shape [3]int) []int32 {
	nodes := shape[0] * shape[1] * shape[2]
	all := make([]int32, outputsPerNode*nodes)
	for node := range nodes {
		of := all[outputsPerNode*node:][:outputsPerNode]
		of[ejectOutput] = int32(node)
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

// coordinates returns the coordinates of a node.
func (n *network) coordinates(node int) [3]int {
	return [3]int{node % n.shape[0], node / n.shape[0] % n.shape[1], node / n.shape[0] / n.shape[1]}
}

// cachedPath is the path of chunks between two nodes: along the dimensions in order, the shorter
// way around each ring.
type cachedPath struct {
	isCached    bool
	destination int
	route                 // at its start
	latency     unit.Time // latency of a first byte over all links and delivery
}

// route is the remaining route of a chunk.
type route struct {
	node      int32    // behind the last output
	linksLeft [3]int16 // links left after that, by dimension
	downward  uint8    // bit set of the dimensions in which it goes down
	dimension int8     // dimension of the last output; -1: not started
}

// ejectDimension is the dimension of a route that has ended.
const ejectDimension = 3

// RouteBetween implements core.Router. It caches the last path from each node.
func (n *network) RouteBetween(a, b int) (route, unit.Time) {
	w := &n.cachedPaths[a]
	if w.isCached && w.destination == b {
		return w.route, w.latency
	}
	*w = cachedPath{isCached: true, destination: b, route: route{node: int32(a), dimension: -1}}
	from, to, links, dimensions := n.coordinates(a), n.coordinates(b), 0, 0
	for d, size := range n.shape {
		left := (to[d] - from[d] + size) % size
		if left > size-left {
			left = size - left
			w.downward |= 1 << d
		}
		w.linksLeft[d] = int16(left)
		if left > 0 {
			links += left
			dimensions++
		}
	}
	w.latency = n.firstByteTime(links, max(dimensions-1, 0))
	return w.route, w.latency
}

// AdvanceRoute implements core.Router.
func (n *network) AdvanceRoute(r *route) (out int32, step unit.Time, last bool) {
	for d := max(r.dimension, 0); d < ejectDimension; d++ {
		if r.linksLeft[d] == 0 {
			continue
		}
		r.linksLeft[d]--
		out = outputsPerNode*r.node + 2*int32(d) + int32(r.downward>>d&1)
		r.node = n.neighbours[out]
		step = n.HopLatency
		if r.dimension >= 0 && r.dimension != d {
			step += n.Torus.TurnLatency
		}
		r.dimension = d
		return out, step, false
	}
	r.dimension = ejectDimension
	return outputsPerNode*r.node + ejectOutput, 0, true
}
