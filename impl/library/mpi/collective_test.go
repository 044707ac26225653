package mpi_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/library/reduction"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// forced returns rules that select one algorithm for its operation.
func forced(a *collective.Algorithm) []collective.Rule {
	return []collective.Rule{{Operation: a.Operation, MaxBytes: -1, Algorithm: a.Name}}
}

// compose is an operation that is associative and does not commute: a pair (a, b) stands for x ↦ ax
// + b modulo 2^64, applied from the left.
var compose = reduction.New(func(in, inout mpi.Buffer) {
	x, y := words(in), words(inout)
	for i := range inout.Count {
		f, g := [2]uint64(x[2*i:]), [2]uint64(y[2*i:])
		y[2*i], y[2*i+1] = f[0]*g[0], f[1]*g[0]+g[1]
	}
}, false)

// affine is the datatype of such a pair.
var affine = must(datatype.Contiguous(2, datatype.Uint64))

func must(t *datatype.Type, err error) *datatype.Type {
	if err != nil {
		panic(err)
	}
	return t.Commit()
}

// words returns the data of a buffer as 64-bit words.
func words(b mpi.Buffer) []uint64 {
	flat, ok := b.ContiguousBytes()
	if !ok {
		panic("a buffer with gaps")
	}
	return mpi.SliceOf[uint64](flat)
}

// given returns word i of a rank's contribution. All are odd, so products modulo 2^64 lose no
// information.
func given(rank, i int) uint64 { return uint64(rank*1_000_003+i*7919)*2 + 1 }

func giving(rank, n int) []uint64 {
	x := make([]uint64, n)
	for i := range x {
		x[i] = given(rank, i)
	}
	return x
}

// composed returns pair i of words of ranks 0 to last, combined with compose.
func composed(last, i int) [2]uint64 {
	f := [2]uint64{given(0, 2*i), given(0, 2*i+1)}
	for r := 1; r <= last; r++ {
		g := [2]uint64{given(r, 2*i), given(r, 2*i+1)}
		f = [2]uint64{f[0] * g[0], f[1]*g[0] + g[1]}
	}
	return f
}

// total returns the sum over all ranks of word i.
func total(ranks, i int) uint64 {
	var s uint64
	for r := range ranks {
		s += given(r, i)
	}
	return s
}

// works carries out an operation with n words per rank, or per pair of ranks, and checks the
// result. It uses addition if the algorithm does not keep the order of ranks, and compose
// otherwise.
func works(c *mpi.Comm, a *collective.Algorithm, n, root int) error {
	p, me := c.Size(), c.Rank()
	op, typ, per := compose, affine, 2
	if a.NeedsCommutative {
		op, typ, per = mpi.Sum, mpi.Uint64, 1
	}
	combined := func(last, i int) uint64 {
		if a.NeedsCommutative {
			return total(last+1, i)
		}
		return composed(last, i/2)[i%2]
	}
	as := func(x []uint64) mpi.Buffer {
		b := mpi.BufferOf(x)
		b.Count, b.Type = len(x)/per, typ
		return b
	}
	plain := func(x []uint64, n int) mpi.Buffer { b := mpi.BufferOf(x); b.Count = n; return b }
	var got []uint64
	want := func(i int) uint64 { return 0 }
	switch a.Operation {
	case collective.Barrier:
		c.Barrier()
	case collective.Bcast:
		if got = make([]uint64, n); me == root {
			got = giving(me, n)
		}
		c.Bcast(mpi.BufferOf(got), root)
		want = func(i int) uint64 { return given(root, i) }
	case collective.Scatter:
		got = make([]uint64, n)
		c.Scatter(plain(giving(me, n*p), n), mpi.BufferOf(got), root)
		want = func(i int) uint64 { return given(root, me*n+i) }
	case collective.Gather:
		all := make([]uint64, n*p)
		c.Gather(mpi.BufferOf(giving(me, n)), plain(all, n), root)
		if me == root {
			got = all
		}
		want = func(i int) uint64 { return given(i/n, i%n) }
	case collective.Allgather:
		got = make([]uint64, n*p)
		c.Allgather(mpi.BufferOf(giving(me, n)), plain(got, n))
		want = func(i int) uint64 { return given(i/n, i%n) }
	case collective.Alltoall:
		got = make([]uint64, n*p)
		c.Alltoall(plain(giving(me, n*p), n), plain(got, n))
		want = func(i int) uint64 { return given(i/n, me*n+i%n) }
	case collective.Reduce:
		all := make([]uint64, n)
		c.Reduce(as(giving(me, n)), as(all), op, root)
		if me == root {
			got = all
		}
		want = func(i int) uint64 { return combined(p-1, i) }
	case collective.Allreduce:
		got = make([]uint64, n)
		c.Allreduce(as(giving(me, n)), as(got), op)
		want = func(i int) uint64 { return combined(p-1, i) }
	case collective.ReduceScatter:
		got = make([]uint64, n)
		c.ReduceScatter(as(giving(me, n*p)), as(got), slices.Repeat([]int{n / per}, p), op)
		want = func(i int) uint64 { return combined(p-1, me*n+i) }
	case collective.Scan:
		got = make([]uint64, n)
		c.Scan(as(giving(me, n)), as(got), op)
		want = func(i int) uint64 { return combined(me, i) }
	}
	for i, x := range got {
		if x != want(i) {
			return fmt.Errorf("%v of %d words, root %d of %d ranks: word %d of rank %d is %d, not %d", a, n, root, p, i, me, x, want(i))
		}
	}
	return nil
}

// extendedAlgorithms returns all algorithms, with one member of each family.
func extendedAlgorithms() []*collective.Algorithm {
	all := slices.Clone(collective.Algorithms)
	for _, o := range collective.Operations() {
		all = append(all, collective.AdditionalAlgorithms(o)...)
	}
	return all
}

// Every algorithm gives the result of its operation on 1 to 9 ranks, in consecutive calls without
// barriers. Algorithms of two levels do so for all placements of ranks.
func TestCollectives(t *testing.T) {
	for _, a := range extendedAlgorithms() {
		t.Run(strings.ReplaceAll(a.String(), " ", "/"), func(t *testing.T) {
			for ranks := 1; ranks <= 9; ranks++ {
				for _, node := range layouts(a, ranks) {
					o := mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T"), Tuning: forced(a)}
					holds(t, mpi.Run(inNodes{loop.New(ranks), node}, o, func(c *mpi.Comm) error {
						for root := range ranks {
							for _, n := range []int{0, 2, 14, 1200} {
								if err := works(c, a, n, root); err != nil {
									return err
								}
							}
						}
						return nil
					}))
				}
			}
		})
	}
}

// The operations give the right result in all worlds with all libraries, with the algorithms that
// are usual for the length.
func TestCollectivesEverywhere(t *testing.T) {
	holdsEverywhere(t, 5, func(c *mpi.Comm) error {
		for _, o := range collective.Operations() {
			for _, n := range []int{2, 800} {
				if err := works(c, collective.AlgorithmsOf(o)[0], n, 3); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Types with gaps are packed, and only their data is accessed: the second column of the root's
// matrix becomes the first of the other ranks'.
func TestBcastOfColumns(t *testing.T) {
	const rows, columns = 5, 3
	column := must(datatype.Vector(rows, 1, columns, datatype.Float64))
	holds(t, mpi.Run(loop.New(3), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error {
		matrix, want := make([]float64, rows*columns), make([]float64, rows*columns)
		for i := range matrix {
			matrix[i] = float64(100*c.Rank() + i)
		}
		copy(want, matrix)
		b := mpi.BufferOf(matrix)
		b.Count, b.Type = 1, column
		if c.Rank() == 1 {
			b.Origin = 8
		}
		c.Bcast(b, 1)
		for r := range rows {
			if c.Rank() != 1 {
				want[r*columns] = float64(100 + r*columns + 1)
			}
		}
		if !slices.Equal(matrix, want) {
			return fmt.Errorf("rank %d has %v, not %v", c.Rank(), matrix, want)
		}
		return nil
	}))
}

// Ranks may describe the same data by elements of different sizes, with any algorithm.
func TestBcastOfOtherElements(t *testing.T) {
	for _, a := range collective.AlgorithmsOf(collective.Bcast) {
		holds(t, mpi.Run(loop.New(3), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T"), Tuning: forced(a)}, func(c *mpi.Comm) error {
			x := make([]float64, 60)
			if c.Rank() == 0 {
				for i := range x {
					x[i] = float64(i)
				}
			}
			b := mpi.BufferOf(x)
			b.Count = []int{60, 15, 4}[c.Rank()]
			b.Type = must(datatype.Contiguous(60/b.Count, mpi.Float64))
			c.Bcast(b, 0)
			for i := range x {
				if x[i] != float64(i) {
					return fmt.Errorf("%v: element %d of rank %d is %v", a, i, c.Rank(), x[i])
				}
			}
			return nil
		}))
	}
}

// Pairs with a gap between value and index are combined correctly.
func TestMinLoc(t *testing.T) {
	type pair struct {
		value float64
		index int32
	}
	holds(t, mpi.Run(loop.New(4), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error {
		mine := []pair{{float64(10 - c.Rank()), int32(c.Rank())}, {5, int32(9 - c.Rank())}}
		got := make([]pair, 2)
		as := func(x []pair) mpi.Buffer {
			return mpi.Buffer{Bytes: mpi.BytesOf(x), Count: len(x), Type: datatype.Float64Int32}
		}
		c.Allreduce(as(mine), as(got), mpi.MinLoc)
		if want := []pair{{7, 3}, {5, 6}}; !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%v, not %v", got, want)
		}
		return nil
	}))
}

// If the calls of ranks differ, the error names class, rank and call.
func TestCollectiveFaults(t *testing.T) {
	x := func(n int) mpi.Buffer { return mpi.BufferOf(make([]int32, n)) }
	for name, f := range map[string]struct {
		program func(c *mpi.Comm)
		says    []string
	}{
		"other operation": {func(c *mpi.Comm) {
			if c.Rank() == 0 {
				c.Bcast(x(4), 0)
			} else {
				c.Scan(x(4), x(4), mpi.Sum)
			}
		}, []string{"MPI_ERR_OTHER", "rank 1", "Scan", "rank 0 is in bcast"}},
		"more than expected": {func(c *mpi.Comm) { c.Bcast(x(4-c.Rank()), 0) }, []string{"MPI_ERR_TRUNCATE", "rank 1", "Bcast"}},
		"less than expected": {func(c *mpi.Comm) { c.Bcast(x(4+c.Rank()), 0) }, []string{"MPI_ERR_TRUNCATE", "rank 1", "Bcast", "16 bytes", "20"}},
		"no root":            {func(c *mpi.Comm) { c.Bcast(x(4), 2) }, []string{"MPI_ERR_ROOT", "Bcast", "root 2", "2"}},
		"no operation":       {func(c *mpi.Comm) { c.Allreduce(x(4), x(4), nil) }, []string{"MPI_ERR_OP", "Allreduce"}},
		"not for the type":   {func(c *mpi.Comm) { c.Scan(mpi.BufferOf([]float64{1}), mpi.BufferOf([]float64{1}), mpi.Band) }, []string{"MPI_ERR_OP", "Scan", "Band", "Float64"}},
		"short buffer": {func(c *mpi.Comm) {
			b := x(4)
			b.Count = 5
			c.Gather(b, x(20), 0)
		}, []string{"MPI_ERR_BUFFER", "Gather", "20", "16"}},
		"no type": {func(c *mpi.Comm) { c.Bcast(mpi.Buffer{}, 0) }, []string{"MPI_ERR_TYPE", "Bcast"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := mpi.Run(loop.New(2), mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T")}, func(c *mpi.Comm) error { f.program(c); return nil })
			var e *mpi.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			for _, s := range f.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("no %q in %v", s, err)
				}
			}
		})
	}
}

// A rank reports a different root even if the message comes from the rank that it expects: rank 3
// receives from rank 2 for both roots.
func TestRootsDiffer(t *testing.T) {
	o := mpi.Options{Engine: carry, Library: enginetest.LibraryOfProtocol("T"), Tuning: forced(collective.AlgorithmNamed(collective.Bcast, "binomial"))}
	err := mpi.Run(loop.New(4), o, func(c *mpi.Comm) error {
		c.Bcast(mpi.BufferOf(make([]int32, 4)), []int{0, 0, 0, 2}[c.Rank()])
		return nil
	})
	var e *mpi.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "MPI_ERR_ROOT") || !strings.Contains(err.Error(), "the root is 0 at rank 2, and 2 at this one") {
		t.Errorf("%v", err)
	}
}

// On a pure LogGP machine every algorithm takes the time that the model predicts, to the
// picosecond. Algorithms of two levels do so once the ranks know where they are.
func TestCollectivesTakeWhatTheModelSays(t *testing.T) {
	m := collective.Machine{Parameters: model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 10000}.Parameters()}
	for _, a := range extendedAlgorithms() {
		m.Combining = unit.PerByte(syntheticOperation) / 16 // one operation for each pair of words
		if a.NeedsCommutative {
			m.Combining *= 2 // one operation for each word
		}
		for _, ranks := range []int{2, 3, 4, 7, 8} {
			for _, node := range layouts(a, ranks) {
				j := jobOf(a, ranks, node)
				if !a.Serves(j) {
					continue
				}
				w, o := syntheticOf(t, ranks, 1e18) // copies take no time
				if got, want := lasts(t, inNodes{w, node}, o, a, j, 1), m.Cost(a, j).LastEnd; got != want {
					t.Errorf("%v on %d ranks took %v, the model says %v", a, ranks, got, want)
				}
			}
		}
	}
}

// jobOf returns a collective job with 160 bytes.
func jobOf(a *collective.Algorithm, ranks int, node func(rank int) int) collective.Job {
	names := make([]int, ranks)
	for r := range names {
		names[r] = node(r)
	}
	j := collective.Job{Ranks: ranks, Bytes: 160, Nodes: collective.NewNodes(names)}
	switch a.Operation {
	case collective.Reduce, collective.Allreduce, collective.ReduceScatter, collective.Scan:
		if j.ElementBytes = affine.Size(); a.NeedsCommutative {
			j.ElementBytes = 8
		}
	}
	return j
}

// abreast lets all ranks continue at the same time. Events of lower ranks come first.
func abreast(c *mpi.Comm, begin unit.Time) {
	c.Compute(begin - us*unit.Time(c.Size()-c.Rank()) - c.Wtime())
	c.Compute(begin - c.Wtime())
}

// lasts carries out a job twice with an algorithm and returns the time of the second run, which all
// ranks start at the same time. Rank r of the communicator is rank stride·r modulo the number of
// ranks of the world.
func lasts(t *testing.T, w device.World, o mpi.Options, a *collective.Algorithm, j collective.Job, stride int) unit.Time {
	t.Helper()
	const begin = unit.Second
	o.Tuning = forced(a)
	ends := make([]unit.Time, j.Ranks)
	holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
		c = c.Split(0, stride*c.Rank()%j.Ranks)
		if err := works(c, a, j.Bytes/8, j.Root); err != nil {
			return err
		}
		abreast(c, begin)
		err := works(c, a, j.Bytes/8, j.Root)
		ends[c.Rank()] = c.Wtime()
		return err
	}))
	return slices.Max(ends) - begin
}

// Parts may have any length, including 0, and any place: rank r sends (r+2i) mod 4 words to rank i.
func TestVectors(t *testing.T) {
	length := func(from, to int) int { return (from + 2*to) % 4 }
	holdsEverywhere(t, 5, func(c *mpi.Comm) error {
		p, me := c.Size(), c.Rank()
		counts := func(of func(i int) int) (counts, offsets []int) { // parts in the reverse order of ranks, with a gap of one word
			counts, offsets = make([]int, p), make([]int, p)
			at := 0
			for i := p - 1; i >= 0; i-- {
				counts[i], offsets[i] = of(i), at
				at += of(i) + 1
			}
			return counts, offsets
		}
		check := func(call string, got []uint64, counts, offsets []int, want func(i, k int) uint64) error {
			for i := range counts {
				for k := range counts[i] {
					if x := got[offsets[i]+k]; x != want(i, k) {
						return fmt.Errorf("%s: word %d of part %d at rank %d is %d, not %d", call, k, i, me, x, want(i, k))
					}
				}
			}
			return nil
		}
		room := func() []uint64 { return make([]uint64, 5*p) }
		outs, outAt := counts(func(i int) int { return length(me, i) })
		ins, inAt := counts(func(i int) int { return length(i, me) })
		give, take := room(), room()
		for i := range outs {
			for k := range outs[i] {
				give[outAt[i]+k] = given(me, 10*i+k)
			}
		}
		c.Alltoallv(mpi.BufferOf(give), outs, outAt, mpi.BufferOf(take), ins, inAt)
		if err := check("Alltoallv", take, ins, inAt, func(i, k int) uint64 { return given(i, 10*me+k) }); err != nil {
			return err
		}
		const root = 2
		lengths, at := counts(func(i int) int { return length(i, root) })
		all, mine := room(), giving(me, lengths[me])
		c.Allgatherv(mpi.BufferOf(mine), mpi.BufferOf(all), lengths, at)
		if err := check("Allgatherv", all, lengths, at, given); err != nil {
			return err
		}
		gathered := room()
		c.Gatherv(mpi.BufferOf(mine), mpi.BufferOf(gathered), lengths, at, root)
		if me == root {
			if err := check("Gatherv", gathered, lengths, at, given); err != nil {
				return err
			}
		}
		back := make([]uint64, lengths[me])
		c.Scatterv(mpi.BufferOf(all), lengths, at, mpi.BufferOf(back), root)
		if !slices.Equal(back, mine) {
			return fmt.Errorf("Scatterv: rank %d has %v, not %v", me, back, mine)
		}
		sum := 0
		for _, n := range lengths {
			sum += n
		}
		first := 0
		for _, n := range lengths[:me] {
			first += n
		}
		c.ReduceScatter(mpi.BufferOf(giving(me, sum)), mpi.BufferOf(back), lengths, mpi.Sum)
		for k := range back {
			if want := total(p, first+k); back[k] != want {
				return fmt.Errorf("ReduceScatter: word %d of rank %d is %d, not %d", k, me, back[k], want)
			}
		}
		return nil
	})
}

// A communicator uses the algorithms of its own rules, other communicators those of the job. nil
// restores the job's rules. The time of each broadcast shows its algorithm.
func TestTune(t *testing.T) {
	m := collective.Machine{Parameters: model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 10000}.Parameters()}
	const ranks = 8
	cost := func(name string) unit.Time {
		return m.Cost(collective.AlgorithmNamed(collective.Bcast, name), collective.Job{Ranks: ranks, Bytes: 160}).LastEnd
	}
	linear, binomial := forced(collective.AlgorithmNamed(collective.Bcast, "linear")), forced(collective.AlgorithmNamed(collective.Bcast, "binomial"))
	w, o := syntheticOf(t, ranks, 1e18)
	o.Tuning = binomial
	took := make([]unit.Time, 4)
	holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
		d := c.Dup()
		d.SetCollectiveRules(linear)
		for i, by := range []*mpi.Comm{d, c, d.Dup(), d} {
			if i == 3 {
				d.SetCollectiveRules(nil)
			}
			begin := unit.Time(i+1) * unit.Millisecond
			c.Compute(begin - c.Wtime())
			by.Bcast(mpi.BufferOf(make([]byte, 160)), 0)
			if c.Rank() == ranks-1 { // the last in both
				took[i] = c.Wtime() - begin
			}
		}
		return nil
	}))
	for i, name := range []string{"linear", "binomial", "binomial", "binomial"} {
		if took[i] != cost(name) {
			t.Errorf("broadcast %d took %v, and %s takes %v", i, took[i], name, cost(name))
		}
	}
}
