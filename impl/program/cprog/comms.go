//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"hash/fnv"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Groups, communicators and their topologies.

func groupSize(r *rank, a args) { set(a[1], int32(r.group(a[0]).Size())) }
func groupRank(r *rank, a args) { set(a[1], rankOut(r.group(a[0]).Rank())) }

func translate(r *rank, a args) {
	g, h := r.group(a[0]), r.group(a[3])
	in, out := slice[int32](a[2], r.count(a[1])), slice[int32](a[4], r.count(a[1]))
	var ranks []int
	for _, n := range in {
		if n != procNull {
			ranks = append(ranks, int(n))
		}
	}
	there := g.Translate(ranks, h)
	for i, n := range in {
		if out[i] = procNull; n != procNull {
			out[i], there = rankOut(there[0]), there[1:]
		}
	}
}

var comparisons = map[mpi.Comparison]int32{mpi.Identical: 201, mpi.Congruent: 202, mpi.Similar: 203, mpi.Unequal: 204}

func groupCompare(r *rank, a args) { set(a[2], comparisons[r.group(a[0]).Compare(r.group(a[1]))]) }

func commGroup(r *rank, a args) { set(a[1], r.addGroup(r.comm(a[0]).Group())) }

func groups(f func(g, h mpi.Group) mpi.Group) handler {
	return func(r *rank, a args) { set(a[2], r.addGroup(f(r.group(a[0]), r.group(a[1])))) }
}

func groupRanks(f func(g mpi.Group, ranks []int) mpi.Group) handler {
	return func(r *rank, a args) { set(a[3], r.addGroup(f(r.group(a[0]), ints(a[2], r.count(a[1]))))) }
}

func groupRanges(f func(g mpi.Group, ranges []mpi.Range) mpi.Group) handler {
	return func(r *rank, a args) {
		n := r.count(a[1])
		ranges := make([]mpi.Range, n)
		for i, x := range slice[[3]int32](a[2], n) {
			ranges[i] = mpi.Range{First: int(x[0]), Last: int(x[1]), Stride: int(x[2])}
		}
		set(a[3], r.addGroup(f(r.group(a[0]), ranges)))
	}
}

func groupFree(r *rank, a args) {
	h := *ptr[uintptr](a[0])
	r.group(h)
	if h != groupEmpty {
		r.groups.remove(h)
	}
	set(a[0], uintptr(groupNull))
}

func commSize(r *rank, a args) { set(a[1], int32(r.comm(a[0]).Size())) }
func commRank(r *rank, a args) { set(a[1], int32(r.comm(a[0]).Rank())) }

func commCompare(r *rank, a args) { set(a[2], comparisons[r.comm(a[0]).Compare(r.comm(a[1]).Comm)]) }

func commDup(r *rank, a args) { r.dup(r.comm(a[0]).Dup(), a[0], a[1]) }

// dup stores the handle of a copy of the communicator of a handle. An error leaves MPI_COMM_NULL
// there.
func (r *rank) dup(d *mpi.Comm, of, at uintptr) *comm {
	set(at, uintptr(commNull))
	c := r.comm(of)
	copied := r.copyAttributes(of, c.attributes)
	h := r.comms.add(kindComm, &comm{Comm: d, attributes: copied, neighbourhood: c.neighbourhood})
	set(at, h)
	x := *r.comms.get(kindComm, h)
	x.handle = h
	return x
}

// idup is dup without waiting: the copy may be used when the request is complete, as its number is
// known then, which the first rank gives it. Between two groups it waits.
func (r *rank) idup(of, at, request uintptr) {
	c := r.comm(of)
	if c.IsInter() {
		r.dup(c.Dup(), of, at)
		(&pending{r: r, done: true}).under(request)
		return
	}
	x := r.dup(nil, of, at)
	p := r.pending(of)
	number := []uint32{0}
	if c.Rank() == 0 {
		number[0] = c.Reserve()
	}
	p.broadcast(func() mpi.Buffer { return mpi.Of(number) }, 0)
	p.finish = func() { x.Comm = c.DupAs(number[0]) }
	p.under(request)
}

func commCreateGroup(r *rank, a args) { set(a[3], r.addComm(r.comm(a[0]).CreateGroup(r.group(a[1])))) }

func commCreate(r *rank, a args) { set(a[2], r.addComm(r.comm(a[0]).Create(r.group(a[1])))) }

func commSplit(r *rank, a args) {
	colour := int(a[1])
	if colour == undefined {
		colour = mpi.Undefined
	} else if colour < 0 {
		r.fail(mpi.ErrArg, "color %d: a color is not negative, or MPI_UNDEFINED", colour)
	}
	set(a[3], r.addComm(r.comm(a[0]).Split(colour, int(a[2]))))
}

// commSplitType divides ranks by the node that they are on.
func commSplitType(r *rank, a args) {
	c, kind := r.comm(a[0]), int(a[1])
	if kind != 221 && kind != undefined { // MPI_COMM_TYPE_SHARED
		r.fail(mpi.ErrArg, "split type %d: it must be MPI_COMM_TYPE_SHARED or MPI_UNDEFINED", kind)
	}
	hash := fnv.New64a()
	hash.Write([]byte(c.ProcessorName()))
	all := make([]uint64, c.Size())
	mpi.Allgather(c.Comm, []uint64{hash.Sum64()}, all)
	colour := mpi.Undefined
	if kind != undefined {
		colour = slices.Index(all, hash.Sum64())
	}
	set(a[4], r.addComm(c.Split(colour, int(a[2]))))
}

func commFree(r *rank, a args) {
	h := *ptr[uintptr](a[0])
	c := r.comm(h)
	if h == commWorld || h == commSelf {
		r.fail(mpi.ErrComm, "%s cannot be freed", c.name)
	}
	r.deleteAll(h, &c.attributes)
	c.Free()
	r.comms.remove(h)
	set(a[0], uintptr(commNull))
}

func testInter(r *rank, a args)   { set(a[1], truth(r.comm(a[0]).IsInter())) }
func remoteSize(r *rank, a args)  { set(a[1], int32(r.comm(a[0]).RemoteSize())) }
func remoteGroup(r *rank, a args) { set(a[1], r.addGroup(r.comm(a[0]).RemoteGroup())) }

func intercommCreate(r *rank, a args) {
	c := r.comm(a[0])
	peer := &mpi.Comm{}
	if c.Rank() == int(a[1]) {
		peer = r.comm(a[2]).Comm
	}
	set(a[5], r.addComm(c.CreateInter(int(a[1]), peer, int(a[3]), sendTag(int(a[4])))))
}

func intercommMerge(r *rank, a args) { set(a[2], r.addComm(r.comm(a[0]).Merge(int32(a[1]) != 0))) }

func commSetName(r *rank, a args) { c := r.comm(a[0]); c.name = text(a[1]) }
func commGetName(r *rank, a args) { setText(a[1], r.comm(a[0]).name, maxName, a[2]) }

func topoTest(r *rank, a args) {
	cart, graph := r.comm(a[0]).Topology()
	switch {
	case r.comm(a[0]).neighbourhood != nil:
		set(a[1], int32(213)) // MPI_DIST_GRAPH
	case cart != nil:
		set(a[1], int32(211)) // MPI_CART
	case graph != nil:
		set(a[1], int32(212)) // MPI_GRAPH
	default:
		set(a[1], int32(undefined))
	}
}

func truths(at uintptr, n int) []bool {
	out := make([]bool, n)
	for i, v := range slice[int32](at, n) {
		out[i] = v != 0
	}
	return out
}

func setInts(at uintptr, x []int, room int) {
	for i, v := range x[:max(min(len(x), room), 0)] {
		set(at+uintptr(4*i), int32(v))
	}
}

func (r *rank) dims(n uintptr) int {
	if int(n) < 0 {
		r.fail(mpi.ErrDims, "%d dimensions", int(n))
	}
	return int(n)
}

func cartCreate(r *rank, a args) {
	c, n := r.comm(a[0]), r.dims(a[1])
	set(a[5], r.addComm(c.CreateCart(ints(a[2], n), truths(a[3], n))))
}

func dimsCreate(r *rank, a args) {
	n := r.dims(a[1])
	setInts(a[2], r.world.Dims(int(a[0]), ints(a[2], n)), n)
}

// neighbours returns the lists of a graph: index has where each ends among the edges.
func (r *rank) neighbours(n int, index, edges uintptr) [][]int {
	if n < 0 {
		r.fail(mpi.ErrArg, "the graph has %d ranks", n)
	}
	ends := ints(index, n)
	for i, end := range ends {
		if end < 0 || i > 0 && end < ends[i-1] {
			r.fail(mpi.ErrArg, "the neighbours of rank %d end before they begin", i)
		}
	}
	if n == 0 {
		return nil
	}
	all, out, from := ints(edges, ends[n-1]), make([][]int, n), 0
	for i, end := range ends {
		out[i], from = all[from:end], end
	}
	return out
}

func graphCreate(r *rank, a args) {
	c := r.comm(a[0])
	set(a[5], r.addComm(c.CreateGraph(r.neighbours(int(a[1]), a[2], a[3]))))
}

// graph and cart return the topology of a communicator.
func (r *rank) graph(h uintptr) *mpi.Graph {
	_, g := r.comm(h).Topology()
	if g == nil {
		r.fail(mpi.ErrTopology, "the communicator has no graph")
	}
	return g
}

func (r *rank) cart(h uintptr) *mpi.Cart {
	c, _ := r.comm(h).Topology()
	if c == nil {
		r.fail(mpi.ErrTopology, "the communicator has no grid")
	}
	return c
}

func graphdimsGet(r *rank, a args) {
	edges := 0
	g := r.graph(a[0])
	for _, n := range g.Neighbours {
		edges += len(n)
	}
	set(a[1], int32(len(g.Neighbours)))
	set(a[2], int32(edges))
}

func graphGet(r *rank, a args) {
	var index, edges []int
	for _, n := range r.graph(a[0]).Neighbours {
		edges = append(edges, n...)
		index = append(index, len(edges))
	}
	setInts(a[3], index, int(a[1]))
	setInts(a[4], edges, int(a[2]))
}

func cartdimGet(r *rank, a args) { set(a[1], int32(len(r.cart(a[0]).Dims))) }

func cartGet(r *rank, a args) {
	g, room := r.cart(a[0]), int(a[1])
	c := r.comm(a[0])
	setInts(a[2], g.Dims, room)
	for i, p := range g.Periodic[:max(min(len(g.Periodic), room), 0)] {
		set(a[3]+uintptr(4*i), truth(p))
	}
	setInts(a[4], c.CartCoords(c.Rank()), room)
}

func cartRank(r *rank, a args) {
	g := r.cart(a[0])
	set(a[2], int32(r.comm(a[0]).CartRank(ints(a[1], len(g.Dims)))))
}

func cartCoords(r *rank, a args) { setInts(a[3], r.comm(a[0]).CartCoords(int(a[1])), int(a[2])) }

func (r *rank) graphNeighbours(comm, of uintptr) []int {
	g := r.graph(comm)
	if n := int(of); n < 0 || n >= len(g.Neighbours) {
		r.fail(mpi.ErrRank, "rank %d is not in a graph of %d", n, len(g.Neighbours))
	}
	return g.Neighbours[of]
}

func neighborsCount(r *rank, a args) { set(a[2], int32(len(r.graphNeighbours(a[0], a[1])))) }
func neighbors(r *rank, a args)      { setInts(a[3], r.graphNeighbours(a[0], a[1]), int(a[2])) }

func cartShift(r *rank, a args) {
	r.cart(a[0])
	from, to := r.comm(a[0]).CartShift(int(a[1]), int(a[2]))
	set(a[3], rankOut(from))
	set(a[4], rankOut(to))
}

func cartSub(r *rank, a args) {
	n := len(r.cart(a[0]).Dims)
	set(a[2], r.addComm(r.comm(a[0]).CartSub(truths(a[1], n))))
}

func cartMap(r *rank, a args) {
	n := r.dims(a[1])
	set(a[4], rankOut(r.comm(a[0]).CartMap(ints(a[2], n), truths(a[3], n))))
}

func graphMap(r *rank, a args) {
	set(a[4], rankOut(r.comm(a[0]).GraphMap(r.neighbours(int(a[1]), a[2], a[3]))))
}
