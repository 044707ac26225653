package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// topology is the virtual topology of a communicator: Cartesian, a graph, or neither.
type topology struct {
	cart  *Cart
	graph *Graph
}

// Cart is a Cartesian grid of ranks in row-major order: the last dimension varies fastest.
type Cart struct {
	Dims     []int
	Periodic []bool // whether the dimension wraps around
}

// Graph lists the neighbours of each rank.
type Graph struct{ Neighbours [][]int }

// CreateCart returns a communicator with a Cartesian topology (MPI_Cart_create). It contains as
// many of the first ranks of c as the grid has places; the others get nil. Ranks are not reordered.
func (c *Comm) CreateCart(dims []int, periodic []bool) *Comm {
	c.enterCall("CreateCart")
	cart, places := c.newCart(dims, periodic)
	return c.withTopology(places, topology{cart: cart})
}

// CartMap returns the caller's rank in such a grid, or Undefined if it has no place in it
// (MPI_Cart_map). It is the caller's rank in c, because CreateCart does not reorder ranks.
func (c *Comm) CartMap(dims []int, periodic []bool) int {
	c.enterCall("CartMap")
	_, places := c.newCart(dims, periodic)
	return c.rankAmongFirst(places)
}

// GraphMap is CartMap for a graph (MPI_Graph_map).
func (c *Comm) GraphMap(neighbours [][]int) int {
	c.enterCall("GraphMap")
	return c.rankAmongFirst(len(c.newGraph(neighbours).Neighbours))
}

// rankAmongFirst returns the caller's rank if it is less than places, or else Undefined.
func (c *Comm) rankAmongFirst(places int) int {
	if c.rank < places {
		return c.rank
	}
	return Undefined
}

// newCart returns a grid for the communicator's ranks, and its number of places.
func (c *Comm) newCart(dims []int, periodic []bool) (*Cart, int) {
	c.checkIntra()
	places := 1
	for _, d := range dims {
		if d < 1 || d > c.size/places {
			c.engine.Fail(engine.ErrDims, "a grid of %v: each dimension is positive, and their product at most the %d ranks of the communicator", dims, c.size)
		}
		places *= d
	}
	if len(periodic) != len(dims) {
		c.engine.Fail(engine.ErrDims, "a grid of %v has %d dimensions, and periods has %d values: give one for each dimension", dims, len(dims), len(periodic))
	}
	return (&Cart{dims, periodic}).clone(), places
}

// CreateGraph returns a communicator with a graph topology (MPI_Graph_create). It contains one rank
// of c for each list of neighbours; the others get nil. All ranks pass the same graph.
func (c *Comm) CreateGraph(neighbours [][]int) *Comm {
	c.enterCall("CreateGraph")
	return c.withTopology(len(neighbours), topology{graph: c.newGraph(neighbours)})
}

// newGraph returns a graph of the first ranks of the communicator.
func (c *Comm) newGraph(neighbours [][]int) *Graph {
	c.checkIntra()
	if len(neighbours) > c.size {
		c.engine.Fail(engine.ErrTopology, "a graph of %d ranks, and there are %d", len(neighbours), c.size)
	}
	for r, list := range neighbours {
		for _, n := range list {
			if n < 0 || n >= len(neighbours) {
				c.engine.Fail(engine.ErrTopology, "rank %d has the neighbour %d, and the graph has %d ranks", r, n, len(neighbours))
			}
		}
	}
	return (&Graph{neighbours}).clone()
}

func (c *Comm) withTopology(places int, t topology) *Comm {
	n := c.newComm(c.jobRanks()[:places], c.newContext())
	if n != nil {
		n.ensureOptional().topology = t
	}
	return n
}

// Topology returns a copy of the communicator's grid or graph (MPI_Topo_test, MPI_Cart_get,
// MPI_Graph_get). Both are nil if it has no topology.
func (c *Comm) Topology() (*Cart, *Graph) {
	c.enterCall("Topology")
	if c.optional == nil {
		return nil, nil
	}
	return c.optional.topology.cart.clone(), c.optional.topology.graph.clone()
}

func (g *Cart) clone() *Cart {
	if g == nil {
		return nil
	}
	return &Cart{slices.Clone(g.Dims), slices.Clone(g.Periodic)}
}

func (g *Graph) clone() *Graph {
	if g == nil {
		return nil
	}
	n := &Graph{}
	for _, list := range g.Neighbours {
		n.Neighbours = append(n.Neighbours, slices.Clone(list))
	}
	return n
}

// requireCart returns the grid, and fails if the communicator has none.
func (c *Comm) requireCart(call string) *Cart {
	c.enterCall(call)
	if c.optional == nil || c.optional.topology.cart == nil {
		c.engine.Fail(engine.ErrTopology, "the communicator is no grid")
	}
	return c.optional.topology.cart
}

// CartRank returns the rank at coordinates (MPI_Cart_rank). Coordinates of periodic dimensions may
// be outside of the grid: they wrap around.
func (c *Comm) CartRank(coords []int) int {
	g := c.requireCart("CartRank")
	if len(coords) != len(g.Dims) {
		c.engine.Fail(engine.ErrArg, "%d coordinates in a grid of %v", len(coords), g.Dims)
	}
	for i, x := range coords {
		if !g.isWithin(i, x) {
			c.engine.Fail(engine.ErrArg, "coordinate %d is outside of a dimension of %d", x, g.Dims[i])
		}
	}
	return g.rankAt(coords)
}

// isWithin reports whether x is a valid coordinate of a dimension.
func (g *Cart) isWithin(dimension, x int) bool {
	return g.Periodic[dimension] || x >= 0 && x < g.Dims[dimension]
}

// rankAt is the inverse of coords.
func (g *Cart) rankAt(coords []int) int {
	r := 0
	for i, d := range g.Dims {
		r = r*d + (coords[i]%d+d)%d
	}
	return r
}

// CartCoords returns the coordinates of a rank (MPI_Cart_coords).
func (c *Comm) CartCoords(rank int) []int {
	g := c.requireCart("CartCoords")
	c.checkRank(rank)
	return g.coordsOf(rank)
}

func (g *Cart) coordsOf(rank int) []int {
	x := make([]int, len(g.Dims))
	for i, d := range slices.Backward(g.Dims) {
		x[i], rank = rank%d, rank/d
	}
	return x
}

// CartShift returns the source and the destination of a shift along a dimension by a number of
// places (MPI_Cart_shift). They are ProcNull outside of the grid.
func (c *Comm) CartShift(dimension, by int) (from, to int) {
	g := c.requireCart("CartShift")
	if dimension < 0 || dimension >= len(g.Dims) {
		c.engine.Fail(engine.ErrArg, "there is no dimension %d in a grid of %v", dimension, g.Dims)
	}
	at := func(by int) int {
		x := g.coordsOf(c.rank)
		if x[dimension] += by; !g.isWithin(dimension, x[dimension]) {
			return ProcNull
		}
		return g.rankAt(x)
	}
	return at(-by), at(by)
}

// CartSub divides the grid into subgrids of the dimensions in keep, and returns the communicator of
// this rank's subgrid (MPI_Cart_sub).
func (c *Comm) CartSub(keep []bool) *Comm {
	g := c.requireCart("CartSub")
	if len(keep) != len(g.Dims) {
		c.engine.Fail(engine.ErrArg, "%d values say which dimensions to keep, and the grid has %d dimensions: give one for each", len(keep), len(g.Dims))
	}
	sub := &Cart{}
	colour, key := 0, 0
	for i, x := range g.coordsOf(c.rank) {
		if keep[i] {
			sub.Dims, sub.Periodic = append(sub.Dims, g.Dims[i]), append(sub.Periodic, g.Periodic[i])
			key = key*g.Dims[i] + x
		} else {
			colour = colour*g.Dims[i] + x
		}
	}
	n := c.split(colour, key)
	n.ensureOptional().topology.cart = sub
	return n
}

// Neighbours returns the neighbours of a rank in the graph (MPI_Graph_neighbors).
func (c *Comm) Neighbours(rank int) []int {
	c.enterCall("Neighbours")
	if c.optional == nil || c.optional.topology.graph == nil {
		c.engine.Fail(engine.ErrTopology, "the communicator has no graph")
	}
	c.checkRank(rank)
	return slices.Clone(c.optional.topology.graph.Neighbours[rank])
}
