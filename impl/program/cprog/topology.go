//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Cartesian and graph topologies.

func topoTest(r *rank, a args) {
	cart, graph := r.comm(a[0]).Topology()
	switch {
	case r.comm(a[0]).neighbourhood != nil:
		storeAt(a[1], int32(213)) // MPI_DIST_GRAPH
	case cart != nil:
		storeAt(a[1], int32(211)) // MPI_CART
	case graph != nil:
		storeAt(a[1], int32(212)) // MPI_GRAPH
	default:
		storeAt(a[1], int32(undefined))
	}
}

func boolsAt(at uintptr, n int) []bool {
	all := sliceAt[int32](at, n)
	out := make([]bool, len(all))
	for i, v := range all {
		out[i] = v != 0
	}
	return out
}

func storeInts(at uintptr, x []int, room int) {
	for i, v := range x[:max(min(len(x), room), 0)] {
		storeAt(at+uintptr(4*i), int32(v))
	}
}

func (r *rank) checkedDims(n uintptr) int {
	if int(n) < 0 {
		r.raiseError(mpi.ErrDims, "%d dimensions: their number is not negative", int(n))
	}
	return int(n)
}

func cartCreate(r *rank, a args) {
	storeAt(a[5], uintptr(commNull)) // for programs that look there after an error
	c, n := r.comm(a[0]), r.checkedDims(a[1])
	storeAt(a[5], r.addComm(c.CreateCart(intsAt(a[2], n), boolsAt(a[3], n))))
}

func dimsCreate(r *rank, a args) {
	n := r.checkedDims(a[1])
	storeInts(a[2], r.world.CreateDims(int(a[0]), intsAt(a[2], n)), n)
}

// neighbourLists returns the neighbour lists of a graph. index has the end of each list in edges.
func (r *rank) neighbourLists(n int, index, edges uintptr) [][]int {
	if n < 0 {
		r.raiseError(mpi.ErrArg, "a graph of %d ranks: their number is not negative", n)
	}
	ends := intsAt(index, n)
	for i, end := range ends {
		if end < 0 || i > 0 && end < ends[i-1] {
			r.raiseError(mpi.ErrArg, "the neighbours of rank %d end before they begin", i)
		}
	}
	if n == 0 {
		return nil
	}
	all, out, from := intsAt(edges, ends[n-1]), make([][]int, n), 0
	for i, end := range ends {
		out[i], from = all[from:end], end
	}
	return out
}

func graphCreate(r *rank, a args) {
	c := r.comm(a[0])
	storeAt(a[5], r.addComm(c.CreateGraph(r.neighbourLists(int(a[1]), a[2], a[3]))))
}

// graph and cart return the topology of a communicator, and fail if it has another one.
func (r *rank) graph(h uintptr) *mpi.Graph {
	_, g := r.comm(h).Topology()
	if g == nil {
		r.raiseError(mpi.ErrTopology, "the communicator has no graph")
	}
	return g
}

func (r *rank) cart(h uintptr) *mpi.Cart {
	c, _ := r.comm(h).Topology()
	if c == nil {
		r.raiseError(mpi.ErrTopology, "the communicator has no grid")
	}
	return c
}

func graphdimsGet(r *rank, a args) {
	edges := 0
	g := r.graph(a[0])
	for _, n := range g.Neighbours {
		edges += len(n)
	}
	storeAt(a[1], int32(len(g.Neighbours)))
	storeAt(a[2], int32(edges))
}

func graphGet(r *rank, a args) {
	var index, edges []int
	for _, n := range r.graph(a[0]).Neighbours {
		edges = append(edges, n...)
		index = append(index, len(edges))
	}
	storeInts(a[3], index, int(a[1]))
	storeInts(a[4], edges, int(a[2]))
}

func cartdimGet(r *rank, a args) { storeAt(a[1], int32(len(r.cart(a[0]).Dims))) }

func cartGet(r *rank, a args) {
	g, room := r.cart(a[0]), int(a[1])
	c := r.comm(a[0])
	storeInts(a[2], g.Dims, room)
	for i, p := range g.Periodic[:max(min(len(g.Periodic), room), 0)] {
		storeAt(a[3]+uintptr(4*i), intOfBool(p))
	}
	storeInts(a[4], c.CartCoords(c.Rank()), room)
}

func cartRank(r *rank, a args) {
	g := r.cart(a[0])
	storeAt(a[2], int32(r.comm(a[0]).CartRank(intsAt(a[1], len(g.Dims)))))
}

func cartCoords(r *rank, a args) { storeInts(a[3], r.comm(a[0]).CartCoords(int(a[1])), int(a[2])) }

func (r *rank) neighboursOf(comm, of uintptr) []int {
	g := r.graph(comm)
	if n := int(of); n < 0 || n >= len(g.Neighbours) {
		r.raiseError(mpi.ErrRank, "rank %d is not in a graph of %d", n, len(g.Neighbours))
	}
	return g.Neighbours[of]
}

func graphNeighborsCount(r *rank, a args) { storeAt(a[2], int32(len(r.neighboursOf(a[0], a[1])))) }
func graphNeighbors(r *rank, a args)      { storeInts(a[3], r.neighboursOf(a[0], a[1]), int(a[2])) }

func cartShift(r *rank, a args) {
	r.cart(a[0])
	from, to := r.comm(a[0]).CartShift(int(a[1]), int(a[2]))
	storeAt(a[3], rankForC(from))
	storeAt(a[4], rankForC(to))
}

func cartSub(r *rank, a args) {
	n := len(r.cart(a[0]).Dims)
	storeAt(a[2], r.addComm(r.comm(a[0]).CartSub(boolsAt(a[1], n))))
}

func cartMap(r *rank, a args) {
	n := r.checkedDims(a[1])
	storeAt(a[4], rankForC(r.comm(a[0]).CartMap(intsAt(a[2], n), boolsAt(a[3], n))))
}

func graphMap(r *rank, a args) {
	storeAt(a[4], rankForC(r.comm(a[0]).GraphMap(r.neighbourLists(int(a[1]), a[2], a[3]))))
}
