package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// locally runs a program on a job with ranks in this process.
func locally(t *testing.T, ranks int, program func(c *mpi.Comm) error) {
	t.Helper()
	holds(t, mpi.Run(loop.New(ranks), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, program))
}

// ranksOf returns the members of a group as ranks of another.
func ranksOf(g, in mpi.Group) []int {
	all := make([]int, g.Size())
	for i := range all {
		all[i] = i
	}
	return g.TranslateRanks(all, in)
}

// Set operations on random groups agree with the definitions in MPI-1.2, section 5.3.2, written
// with lists.
func TestGroups(t *testing.T) {
	const ranks = 7
	locally(t, ranks, func(c *mpi.Comm) error {
		if c.Rank() != 3 {
			return nil
		}
		r, all := rand.New(rand.NewPCG(1, 1)), c.Group()
		for range 300 {
			a, b := r.Perm(ranks)[:r.IntN(ranks+1)], r.Perm(ranks)[:r.IntN(ranks+1)]
			g, h := all.Include(a), all.Include(b)
			var union, both, only []int
			union = append(union, a...)
			for _, x := range a {
				if slices.Contains(b, x) {
					both = append(both, x)
				} else {
					only = append(only, x)
				}
			}
			for _, x := range b {
				if !slices.Contains(a, x) {
					union = append(union, x)
				}
			}
			var rest []int
			for x := range ranks {
				if !slices.Contains(a, x) {
					rest = append(rest, x)
				}
			}
			for what, pair := range map[string][2][]int{
				"include": {ranksOf(g, all), a}, "union": {ranksOf(g.Union(h), all), union}, "intersection": {ranksOf(g.Intersection(h), all), both},
				"difference": {ranksOf(g.Difference(h), all), only}, "exclude": {ranksOf(all.Exclude(a), all), rest},
			} {
				if !slices.Equal(pair[0], pair[1]) {
					return fmt.Errorf("%s of %v and %v is %v, not %v", what, a, b, pair[0], pair[1])
				}
			}
			if want := slices.Index(a, 3); g.Rank() != want && (want >= 0 || g.Rank() != mpi.Undefined) {
				return fmt.Errorf("rank 3 is %d of %v", g.Rank(), a)
			}
			want := mpi.Unequal
			if x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)); slices.Equal(a, b) {
				want = mpi.Identical
			} else if slices.Equal(x, y) {
				want = mpi.Similar
			}
			if got := g.Compare(h); got != want {
				return fmt.Errorf("%v and %v are %v, not %v", a, b, got, want)
			}
		}
		ranges := []mpi.Range{{6, 2, -2}, {0, 1, 1}, {5, 5, 3}}
		if got := ranksOf(all.IncludeRanges(ranges), all); !slices.Equal(got, []int{6, 4, 2, 0, 1, 5}) {
			return fmt.Errorf("ranges %v are %v", ranges, got)
		}
		if got := ranksOf(all.ExcludeRanges(ranges), all); !slices.Equal(got, []int{3}) {
			return fmt.Errorf("without ranges %v there are %v", ranges, got)
		}
		return nil
	})
}

// Communicators of Split have separate messages, and ranks in the order of keys.
func TestSplit(t *testing.T) {
	holdsEverywhere(t, 6, func(c *mpi.Comm) error {
		colour := c.Rank() % 2
		if c.Rank() == 5 {
			colour = mpi.Undefined
		}
		s := c.Split(colour, -c.Rank())
		if c.Rank() == 5 {
			if s != nil {
				return fmt.Errorf("a rank without colour is in a communicator")
			}
			return nil
		}
		order := map[int][]int{0: {4, 2, 0}, 1: {3, 1}}[colour]
		if got := ranksOf(s.Group(), c.Group()); !slices.Equal(got, order) {
			return fmt.Errorf("colour %d has %v", colour, got)
		}
		got := make([]int32, s.Size())
		mine := mpi.BufferOf([]int32{int32(c.Rank())})
		into := mpi.BufferOf(got)
		into.Count = 1
		s.Allgather(mine, into)
		for i, r := range order {
			if got[i] != int32(r) {
				return fmt.Errorf("gathered %v, not %v", got, order)
			}
		}
		d := s.Dup()
		if s.Compare(d) != mpi.Congruent || s.Compare(s) != mpi.Identical || c.Compare(s) != mpi.Unequal {
			return fmt.Errorf("compared: %v, %v, %v", s.Compare(d), s.Compare(s), c.Compare(s))
		}
		return nil
	})
}

// Two groups communicate by an intercommunicator and merge.
func TestInter(t *testing.T) {
	holdsEverywhere(t, 5, func(c *mpi.Comm) error {
		low := c.Rank() < 2
		side := 0
		if !low {
			side = 1
		}
		mine := c.Split(side, 0)
		x := mine.CreateInter(0, c, map[bool]int{true: 2, false: 0}[low], 9)
		size, remote := 2, 3
		if !low {
			size, remote = 3, 2
		}
		if !x.IsInter() || x.Size() != size || x.RemoteSize() != remote || x.Rank() != mine.Rank() {
			return fmt.Errorf("rank %d: %d of %d, there %d", c.Rank(), x.Rank(), x.Size(), x.RemoteSize())
		}
		if got := ranksOf(x.RemoteGroup(), c.Group()); low && !slices.Equal(got, []int{2, 3, 4}) || !low && !slices.Equal(got, []int{0, 1}) {
			return fmt.Errorf("the other side is %v", got)
		}
		y := x.Dup()
		for _, on := range []*mpi.Comm{x, y} { // each rank of the smaller group sends to all of the other
			if low {
				for r := range 3 {
					mpi.Send(on, program.Payload(5, 10*c.Rank()+r), r, 7)
				}
				continue
			}
			for r := range 2 {
				b := make([]byte, 5)
				if st := mpi.Recv(on, b, r, 7); st != (mpi.Status{Source: r, Tag: 7, Bytes: 5}) || !bytes.Equal(b, program.Payload(5, 10*r+mine.Rank())) {
					return fmt.Errorf("received %+v, %v from rank %d of the other side", st, b, r)
				}
			}
		}
		for _, high := range []bool{true, false} { // the group that passes high is second; with equal values the group with the lower ranks of the job is first
			m := x.Merge(high == low)
			want := []int{0, 1, 2, 3, 4}
			if high {
				want = []int{2, 3, 4, 0, 1}
			}
			if got := ranksOf(m.Group(), c.Group()); !slices.Equal(got, want) {
				return fmt.Errorf("merged, low side high: %v: %v", high, got)
			}
			m.Barrier()
		}
		if got := ranksOf(x.Merge(true).Group(), c.Group()); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
			return fmt.Errorf("merged alike: %v", got)
		}
		return nil
	})
}

// Attributes are copied and deleted by the functions of their keys.
func TestAttributes(t *testing.T) {
	locally(t, 2, func(c *mpi.Comm) error {
		var said []string
		say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		twice := mpi.NewKeyval(func(_ *mpi.Comm, v any) (any, bool) { return 2 * v.(int), true }, func(_ *mpi.Comm, v any) { say("delete %v", v) })
		never := mpi.NewKeyval(func(*mpi.Comm, any) (any, bool) { return nil, false }, nil)
		kept, dropped := mpi.NewKeyval(mpi.CopyAttribute, nil), mpi.NewKeyval(nil, func(_ *mpi.Comm, v any) { say("drop %v", v) })
		d := c.Dup()
		d.SetAttribute(twice, 4)
		d.SetAttribute(twice, 5)
		d.SetAttribute(never, "x")
		d.SetAttribute(kept, "k")
		d.SetAttribute(dropped, "d")
		e := d.Dup()
		for _, w := range []struct {
			key  *mpi.Keyval
			want any
			ok   bool
		}{{twice, 10, true}, {never, nil, false}, {kept, "k", true}, {dropped, nil, false}, {mpi.TagUB, mpi.MaxTag, true}} {
			if got, ok := e.Attribute(w.key); got != w.want || ok != w.ok {
				return fmt.Errorf("copied: %v, %v; want %v", got, ok, w)
			}
		}
		e.DeleteAttribute(twice)
		d.Free()
		if want := []string{"delete 4", "delete 10", "drop d", "delete 5"}; !reflect.DeepEqual(said, want) {
			return fmt.Errorf("%q, not %q", said, want)
		}
		return nil
	})
}

// Coordinates, shifts and subgrids of a 2 × 3 grid with periodic rows.
func TestCart(t *testing.T) {
	holdsEverywhere(t, 7, func(c *mpi.Comm) error {
		g := c.CreateCart([]int{2, 3}, []bool{false, true})
		if c.Rank() == 6 {
			if g != nil {
				return errors.New("the seventh of six is in the grid")
			}
			return nil
		}
		x := g.CartCoords(g.Rank())
		if want := []int{g.Rank() / 3, g.Rank() % 3}; !slices.Equal(x, want) || g.CartRank(x) != g.Rank() || g.CartRank([]int{x[0], x[1] - 3}) != g.Rank() {
			return fmt.Errorf("rank %d is at %v", g.Rank(), x)
		}
		up, down := g.CartShift(0, 1)
		left, right := g.CartShift(1, 1)
		wantUp, wantDown := mpi.ProcNull, mpi.ProcNull
		if x[0] == 1 {
			wantUp = g.Rank() - 3
		} else {
			wantDown = g.Rank() + 3
		}
		if up != wantUp || down != wantDown || left != 3*x[0]+(x[1]+2)%3 || right != 3*x[0]+(x[1]+1)%3 {
			return fmt.Errorf("rank %d: %d above, %d below, %d left, %d right", g.Rank(), up, down, left, right)
		}
		row := g.CartSub([]bool{false, true})
		if cart, graph := row.Topology(); !reflect.DeepEqual(cart, &mpi.Cart{Dims: []int{3}, Periodic: []bool{true}}) || graph != nil || row.Rank() != x[1] {
			return fmt.Errorf("a row is %+v, and rank %d of it", cart, row.Rank())
		}
		if got := ranksOf(row.Group(), g.Group()); !slices.Equal(got, []int{3 * x[0], 3*x[0] + 1, 3*x[0] + 2}) {
			return fmt.Errorf("row %d is %v", x[0], got)
		}
		n := g.CreateGraph([][]int{{1, 2}, {0}, {0, 2}})
		if n != nil && !slices.Equal(n.Neighbours(2), []int{0, 2}) {
			return errors.New("the graph has other neighbours")
		}
		return nil
	})
}

// CartMap and GraphMap return the rank that CreateCart and CreateGraph then assign.
func TestMap(t *testing.T) {
	holdsEverywhere(t, 5, func(c *mpi.Comm) error {
		want := c.Rank()
		if want == 4 {
			want = mpi.Undefined
		}
		dims, ends, ring := []int{2, 2}, []bool{false, false}, [][]int{{1}, {2}, {3}, {0}}
		if g, h := c.CartMap(dims, ends), c.GraphMap(ring); g != want || h != want {
			return fmt.Errorf("rank %d would be %d in the grid, %d in the graph", c.Rank(), g, h)
		}
		if g := c.CreateCart(dims, ends); g != nil && g.Rank() != want {
			return fmt.Errorf("rank %d is %d in the grid", c.Rank(), g.Rank())
		}
		return nil
	})
}

// An operation cannot be used after Free. A predefined one cannot be freed.
func TestFreeOp(t *testing.T) {
	if err := mpi.Sum.Free(); err == nil || !strings.Contains(err.Error(), "Sum") {
		t.Errorf("freed a sum: %v", err)
	}
	locally(t, 2, func(c *mpi.Comm) error {
		op := mpi.NewOp(func(in, inout mpi.Buffer) {
			x, y := mpi.SliceOf[int32](in.Bytes), mpi.SliceOf[int32](inout.Bytes)
			for i := range y {
				y[i] = 10*x[i] + y[i]
			}
		}, false)
		if got := reduceBy(c, op); got != 12 {
			return fmt.Errorf("combined to %d", got)
		}
		return op.Free()
	})
}

func freedOp() *mpi.Op {
	op := mpi.NewOp(func(in, inout mpi.Buffer) {}, true)
	if err := op.Free(); err != nil {
		panic(err)
	}
	return op
}

// reduceBy reduces the numbers 1 + rank.
func reduceBy(c *mpi.Comm, op *mpi.Op) int32 {
	got := make([]int32, 1)
	mpi.Allreduce(c, []int32{int32(c.Rank() + 1)}, got, op)
	return got[0]
}

// Wrong arguments for groups, communicators and topologies.
func TestGroupFaults(t *testing.T) {
	for name, f := range map[string]struct {
		program func(c *mpi.Comm)
		says    string
	}{
		"freed":                 {func(c *mpi.Comm) { d := c.Dup(); d.Free(); d.Barrier() }, "Barrier: MPI_ERR_COMM: the communicator was freed"},
		"freed, sending":        {func(c *mpi.Comm) { d := c.Dup(); d.Free(); mpi.Send[byte](d, nil, 0, 0) }, "Send: MPI_ERR_COMM: the communicator was freed"},
		"group freed":           {func(c *mpi.Comm) { g := c.Group(); g.Free(); c.Create(g) }, "Create: MPI_ERR_GROUP: the group was freed, or is none"},
		"no group":              {func(c *mpi.Comm) { c.Group().Union(mpi.Group{}) }, "MPI_ERR_GROUP"},
		"no end, after another": {func(c *mpi.Comm) { c.Barrier(); c.Group().IncludeRanges([]mpi.Range{{0, 0, 0}}) }, "MPI_ERR_ARG"},
		"grid of too many":      {func(c *mpi.Comm) { c.CartMap([]int{2, 2}, []bool{true, true}) }, "CartMap: MPI_ERR_DIMS"},
		"grid without end":      {func(c *mpi.Comm) { c.CreateCart([]int{2, 1 << 62, 2}, make([]bool, 3)) }, "CreateCart: MPI_ERR_DIMS"},
		"ends and dimensions":   {func(c *mpi.Comm) { c.CartMap([]int{2, 1}, []bool{true}) }, "CartMap: MPI_ERR_DIMS: a grid of [2 1] has 2 dimensions, and periods has 1 values"},
		"graph of too many":     {func(c *mpi.Comm) { c.GraphMap(make([][]int, 3)) }, "GraphMap: MPI_ERR_TOPOLOGY: a graph of 3 ranks"},
		"operation freed":       {func(c *mpi.Comm) { reduceBy(c, freedOp()) }, "Allreduce: MPI_ERR_OP: the operation was freed"},
		"no such rank":          {func(c *mpi.Comm) { c.Group().Exclude([]int{2}) }, "MPI_ERR_RANK: rank 2 is not in a group of 2"},
		"range without end":     {func(c *mpi.Comm) { c.Group().IncludeRanges([]mpi.Range{{0, 1, 0}}) }, "MPI_ERR_ARG: a range from 0 to 1 with stride 0"},
		"not of the communicator": {func(c *mpi.Comm) {
			if d := c.Create(c.Group().Include([]int{0})); d != nil {
				d.Create(c.Group())
			}
		}, "Create: MPI_ERR_GROUP: rank 1 of the job"},
		"colour":             {func(c *mpi.Comm) { c.Split(-7, 0) }, "Split: MPI_ERR_ARG: colour -7"},
		"grid too large":     {func(c *mpi.Comm) { c.CreateCart([]int{2, 2}, []bool{true, true}) }, "CreateCart: MPI_ERR_DIMS"},
		"no grid":            {func(c *mpi.Comm) { c.CartCoords(0) }, "CartCoords: MPI_ERR_TOPOLOGY: the communicator is no grid"},
		"outside":            {func(c *mpi.Comm) { c.CreateCart([]int{2}, []bool{false}).CartRank([]int{2}) }, "CartRank: MPI_ERR_ARG: coordinate 2"},
		"no division":        {func(c *mpi.Comm) { c.CreateDims(6, []int{4, 0}) }, "CreateDims: MPI_ERR_DIMS: 6 ranks"},
		"one group":          {func(c *mpi.Comm) { c.RemoteSize() }, "RemoteSize: MPI_ERR_COMM"},
		"key of the library": {func(c *mpi.Comm) { c.SetAttribute(mpi.IO, 1) }, "SetAttribute: MPI_ERR_ARG: the attribute is the library's"},
		"no attribute":       {func(c *mpi.Comm) { c.DeleteAttribute(mpi.NewKeyval(nil, nil)) }, "DeleteAttribute: MPI_ERR_ARG"},
	} {
		t.Run(name, func(t *testing.T) {
			err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error {
				f.program(c)
				return nil
			})
			if err == nil || !strings.Contains(withoutSite(err), f.says) {
				t.Errorf("%v, without %q", err, f.says)
			}
		})
	}
}

// Topology returns a copy.
func TestTopologyIsCopied(t *testing.T) {
	locally(t, 4, func(c *mpi.Comm) error {
		dims, ends, neighbours := []int{2, 2}, []bool{true, false}, [][]int{{1}, {0, 2}, {3}, {}}
		grid, graph := c.CreateCart(dims, ends), c.CreateGraph(neighbours)
		cart, _ := grid.Topology()
		_, g := graph.Topology()
		for _, x := range [][]int{dims, cart.Dims, neighbours[1], g.Neighbours[1]} {
			x[0], x[1] = 7, 7
		}
		ends[0], cart.Periodic[0] = false, false
		g.Neighbours[0] = nil
		if x := grid.CartCoords(3); !slices.Equal(x, []int{1, 1}) {
			return fmt.Errorf("rank 3 is at %v", x)
		}
		if from, to := grid.CartShift(0, 1); from == mpi.ProcNull || to == mpi.ProcNull {
			return errors.New("the grid has ends where it had none")
		}
		if a, b := graph.Neighbours(0), graph.Neighbours(1); !slices.Equal(a, []int{1}) || !slices.Equal(b, []int{0, 2}) {
			return fmt.Errorf("neighbours %v and %v", a, b)
		}
		return nil
	})
}
