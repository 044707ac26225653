//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Distributed graph topologies, in which each rank knows only its own neighbours, and neighbourhood
// collective operations (MPI-3.1, sections 7.5.4 and 7.6).

// neighbourhood has a rank's neighbours in a distributed graph: the sources and the destinations in
// order, with the weights of the edges.
type neighbourhood struct {
	from, to               []int
	fromWeights, toWeights []int
	weighted               bool
}

// Constants of mpi.h that are passed in place of arrays.
const (
	unweighted   = 10
	weightsEmpty = 11
)

// weightsAt returns the weights of n edges at an address.
func (r *rank) weightsAt(at uintptr, n int) (list []int, weighted bool) {
	switch at {
	case unweighted:
		return slices.Repeat([]int{1}, n), false
	case weightsEmpty:
		if n > 0 {
			r.raiseError(mpi.ErrArg, "MPI_WEIGHTS_EMPTY for %d edges", n)
		}
		return nil, true
	}
	return intsAt(at, n), true
}

// ranksAt returns n ranks at an address, and fails if one is not in the communicator.
func (r *rank) ranksAt(c *comm, at uintptr, n int) []int {
	list := intsAt(at, n)
	for _, x := range list {
		if x < 0 || x >= c.Size() {
			r.raiseError(mpi.ErrRank, "rank %d is not in a communicator of %d", x, c.Size())
		}
	}
	return list
}

func distGraphCreateAdjacent(r *rank, a args) {
	c := r.comm(a[0])
	n := neighbourhood{from: r.ranksAt(c, a[2], r.checkedCount(a[1])), to: r.ranksAt(c, a[5], r.checkedCount(a[4]))}
	n.fromWeights, n.weighted = r.weightsAt(a[3], len(n.from))
	n.toWeights, _ = r.weightsAt(a[6], len(n.to))
	r.addNeighbourhood(c, n, a[9])
}

// distGraphCreate sends all edges to all ranks.
func distGraphCreate(r *rank, a args) {
	c := r.comm(a[0])
	sources, degrees := r.ranksAt(c, a[2], r.checkedCount(a[1])), intsAt(a[3], int(a[1]))
	edges := 0
	for _, d := range degrees {
		edges += r.checkedCount(uintptr(d))
	}
	to := r.ranksAt(c, a[4], edges)
	weights, weighted := r.weightsAt(a[5], edges)
	var mine []int32 // source, destination and weight of each edge
	for i, s := range sources {
		for range degrees[i] {
			mine = append(mine, int32(s), int32(to[0]), int32(weights[0]))
			to, weights = to[1:], weights[1:]
		}
	}
	counts, offsets, total := make([]int64, c.Size()), make([]int, c.Size()), 0
	mpi.Allgather(c.Comm, []int64{int64(len(mine))}, counts)
	each := make([]int, c.Size())
	for i, n := range counts {
		each[i], offsets[i] = int(n), total
		total += int(n)
	}
	all := make([]int32, total)
	c.Allgatherv(mpi.BufferOf(mine), mpi.BufferOf(all), each, offsets)
	n := neighbourhood{weighted: weighted}
	for e := range slices.Chunk(all, 3) {
		if int(e[1]) == c.Rank() {
			n.from, n.fromWeights = append(n.from, int(e[0])), append(n.fromWeights, int(e[2]))
		}
		if int(e[0]) == c.Rank() {
			n.to, n.toWeights = append(n.to, int(e[1])), append(n.toWeights, int(e[2]))
		}
	}
	r.addNeighbourhood(c, n, a[8])
}

// addNeighbourhood stores the handle of a new communicator of the same ranks with a neighbourhood.
func (r *rank) addNeighbourhood(c *comm, n neighbourhood, at uintptr) {
	h := r.addComm(c.Create(c.Group()))
	r.comm(h).neighbourhood = &n
	storeAt(at, h)
}

func (r *rank) neighbourhood(h uintptr) *neighbourhood {
	n := r.comm(h).neighbourhood
	if n == nil {
		r.raiseError(mpi.ErrTopology, "the communicator has no distributed graph")
	}
	return n
}

func distGraphNeighborsCount(r *rank, a args) {
	n := r.neighbourhood(a[0])
	storeAt(a[1], int32(len(n.from)))
	storeAt(a[2], int32(len(n.to)))
	storeAt(a[3], intOfBool(n.weighted))
}

func distGraphNeighbors(r *rank, a args) {
	n := r.neighbourhood(a[0])
	storeInts(a[2], n.from, int(a[1]))
	storeInts(a[5], n.to, int(a[4]))
	if n.weighted {
		if a[3] != unweighted && a[3] != weightsEmpty {
			storeInts(a[3], n.fromWeights, int(a[1]))
		}
		if a[6] != unweighted && a[6] != weightsEmpty {
			storeInts(a[6], n.toWeights, int(a[4]))
		}
	}
}

// neighbourCollective is a neighbourhood collective operation.
type neighbourCollective struct {
	*pendingOperation
	from, to []int
	order    []int // order of the receives; several messages from one rank arrive in the order in which it sends them
}

func (r *rank) newNeighbourCollective(h uintptr) neighbourCollective {
	n := neighbourCollective{pendingOperation: r.newCollective(h)}
	cart, graph := n.comm.Topology()
	switch {
	case n.comm.neighbourhood != nil:
		n.from, n.to = n.comm.neighbourhood.from, n.comm.neighbourhood.to
	case cart != nil:
		for d := range cart.Dims {
			below, above := n.comm.CartShift(d, 1)
			n.from = append(n.from, below, above)
			n.order = append(n.order, 2*d+1, 2*d) // if both neighbours are the same rank, it sends first to its own lower neighbour
		}
		n.to = n.from
	case graph != nil:
		n.from = graph.Neighbours[n.comm.Rank()]
		n.to = n.from
	default:
		r.raiseError(mpi.ErrTopology, "the communicator has no topology")
	}
	if n.order == nil {
		for i := range n.from {
			n.order = append(n.order, i)
		}
	}
	return n
}

// startExchange starts to receive a part from each source and to send a part to each destination.
func (n neighbourCollective) startExchange(into, from func(i int) mpi.Buffer) *pendingOperation {
	for _, i := range n.order {
		n.startRecv(into(i), n.from[i])
	}
	for i, to := range n.to {
		n.startSend(from(i), to)
	}
	return n.pendingOperation
}

func ineighborAllgather(r *rank, a args) *pendingOperation {
	n := r.newNeighbourCollective(a[6])
	into, mine := r.rankBlocksAt(len(n.from), a[3], int(a[4]), a[5]), r.buffer(a[0], int(a[1]), a[2])
	return n.startExchange(func(i int) mpi.Buffer { return rankBlock(into, i) }, func(int) mpi.Buffer { return mine })
}

func ineighborAllgatherv(r *rank, a args) *pendingOperation {
	n := r.newNeighbourCollective(a[7])
	mine := r.buffer(a[0], int(a[1]), a[2])
	return n.startExchange(r.rankPartsAt(len(n.from), a[3], a[4], a[5], a[6]).part, func(int) mpi.Buffer { return mine })
}

func ineighborAlltoall(r *rank, a args) *pendingOperation {
	n := r.newNeighbourCollective(a[6])
	into, from := r.rankBlocksAt(len(n.from), a[3], int(a[4]), a[5]), r.rankBlocksAt(len(n.to), a[0], int(a[1]), a[2])
	return n.startExchange(func(i int) mpi.Buffer { return rankBlock(into, i) }, func(i int) mpi.Buffer { return rankBlock(from, i) })
}

func ineighborAlltoallv(r *rank, a args) *pendingOperation {
	n := r.newNeighbourCollective(a[8])
	return n.startExchange(r.rankPartsAt(len(n.from), a[4], a[5], a[6], a[7]).part, r.rankPartsAt(len(n.to), a[0], a[1], a[2], a[3]).part)
}

func ineighborAlltoallw(r *rank, a args) *pendingOperation {
	n := r.newNeighbourCollective(a[8])
	into := r.buffers(a[4], a[5], r.countsOrAintsAt(a[6], len(n.from)), a[7])
	from := r.buffers(a[0], a[1], r.countsOrAintsAt(a[2], len(n.to)), a[3])
	return n.startExchange(func(i int) mpi.Buffer { return into[i] }, func(i int) mpi.Buffer { return from[i] })
}
