//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Neighbourhoods: the third kind of topology, in which each rank knows its neighbours alone, and
// the collective operations of neighbours (MPI-3.1, 7.5.4 and 7.6).

// neighbourhood has the ranks that a rank receives from and sends to, in this order, and what the
// program says of the edges.
type neighbourhood struct {
	from, to               []int
	fromWeights, toWeights []int
	weighted               bool
}

// Of mpi.h, in place of arrays.
const (
	unweighted   = 10
	weightsEmpty = 11
)

// weights returns those of n edges.
func (r *rank) weights(at uintptr, n int) (list []int, weighted bool) {
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

// ranksOf checks a list of ranks.
func (r *rank) ranksOf(c *comm, at uintptr, n int) []int {
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
	n := neighbourhood{from: r.ranksOf(c, a[2], r.count(a[1])), to: r.ranksOf(c, a[5], r.count(a[4]))}
	n.fromWeights, n.weighted = r.weights(a[3], len(n.from))
	n.toWeights, _ = r.weights(a[6], len(n.to))
	r.addNeighbourhood(c, n, a[9])
}

// distGraphCreate tells all ranks of all edges.
func distGraphCreate(r *rank, a args) {
	c := r.comm(a[0])
	sources, degrees := r.ranksOf(c, a[2], r.count(a[1])), intsAt(a[3], int(a[1]))
	edges := 0
	for _, d := range degrees {
		edges += r.count(uintptr(d))
	}
	to := r.ranksOf(c, a[4], edges)
	weights, weighted := r.weights(a[5], edges)
	var mine []int32 // source, destination and weight
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

// addNeighbourhood stores the handle of a communicator of the same ranks.
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

func distGraphCount(r *rank, a args) {
	n := r.neighbourhood(a[0])
	storeAt(a[1], int32(len(n.from)))
	storeAt(a[2], int32(len(n.to)))
	storeAt(a[3], intOfBool(n.weighted))
}

func distGraphNeighbors(r *rank, a args) {
	n := r.neighbourhood(a[0])
	setInts(a[2], n.from, int(a[1]))
	setInts(a[5], n.to, int(a[4]))
	if n.weighted {
		if a[3] != unweighted && a[3] != weightsEmpty {
			setInts(a[3], n.fromWeights, int(a[1]))
		}
		if a[6] != unweighted && a[6] != weightsEmpty {
			setInts(a[6], n.toWeights, int(a[4]))
		}
	}
}

// neighbours is an operation under way between neighbours.
type neighbours struct {
	*pending
	from, to []int
	order    []int // in which parts are received, so that several of one rank arrive as it sends them
}

func (r *rank) newNeighbours(h uintptr) neighbours {
	n := neighbours{pending: r.newCollective(h)}
	cart, graph := n.c.Topology()
	switch {
	case n.c.neighbourhood != nil:
		n.from, n.to = n.c.neighbourhood.from, n.c.neighbourhood.to
	case cart != nil:
		for d := range cart.Dims {
			below, above := n.c.CartShift(d, 1)
			n.from = append(n.from, below, above)
			n.order = append(n.order, 2*d+1, 2*d) // a rank below and above sends first what it sends to its own below
		}
		n.to = n.from
	case graph != nil:
		n.from = graph.Neighbours[n.c.Rank()]
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

// exchange starts the messages.
func (n neighbours) exchange(into, from func(i int) mpi.Buffer) *pending {
	for _, i := range n.order {
		n.recv(into(i), n.from[i])
	}
	for i, to := range n.to {
		n.send(from(i), to)
	}
	return n.pending
}

func ineighborAllgather(r *rank, a args) *pending {
	n := r.newNeighbours(a[6])
	into, mine := r.blocks(len(n.from), a[3], int(a[4]), a[5]), r.buffer(a[0], int(a[1]), a[2])
	return n.exchange(func(i int) mpi.Buffer { return block(into, i) }, func(int) mpi.Buffer { return mine })
}

func ineighborAllgatherv(r *rank, a args) *pending {
	n := r.newNeighbours(a[7])
	mine := r.buffer(a[0], int(a[1]), a[2])
	return n.exchange(r.parts(len(n.from), a[3], a[4], a[5], a[6]).part, func(int) mpi.Buffer { return mine })
}

func ineighborAlltoall(r *rank, a args) *pending {
	n := r.newNeighbours(a[6])
	into, from := r.blocks(len(n.from), a[3], int(a[4]), a[5]), r.blocks(len(n.to), a[0], int(a[1]), a[2])
	return n.exchange(func(i int) mpi.Buffer { return block(into, i) }, func(i int) mpi.Buffer { return block(from, i) })
}

func ineighborAlltoallv(r *rank, a args) *pending {
	n := r.newNeighbours(a[8])
	return n.exchange(r.parts(len(n.from), a[4], a[5], a[6], a[7]).part, r.parts(len(n.to), a[0], a[1], a[2], a[3]).part)
}

func ineighborAlltoallw(r *rank, a args) *pending {
	n := r.newNeighbours(a[8])
	into := r.buffers(a[4], a[5], r.wordsAt(a[6], len(n.from)), a[7])
	from := r.buffers(a[0], a[1], r.wordsAt(a[2], len(n.to)), a[3])
	return n.exchange(func(i int) mpi.Buffer { return into[i] }, func(i int) mpi.Buffer { return from[i] })
}
