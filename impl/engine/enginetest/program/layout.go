package program

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// layout is a datatype with the location of each basic element, from the definitions of the
// constructors (MPI-1.2, section 3.12.1).
type layout struct {
	t      *mpi.Datatype
	at     []piece // in travel order
	lb, ub int
	align  int
}

type piece struct{ at, size int }

func basic(t *mpi.Datatype, size int) *layout {
	return &layout{t, []piece{{0, size}}, 0, size, size}
}

// units are the elements of messages, with one or several kinds of basic elements.
var units = []*layout{basic(mpi.Byte, 1), basic(mpi.Int16, 2), basic(mpi.Int32, 4), basic(mpi.Float64, 8), basic(mpi.Uint64, 8),
	{must(datatype.Struct([]int{1, 1, 1}, []int{8, 0, 20}, []*mpi.Datatype{mpi.Float64, mpi.Int32, mpi.Int8})), []piece{{8, 8}, {0, 4}, {20, 1}}, 0, 24, 8}}

func (l *layout) extent() int { return l.ub - l.lb }

// size returns the number of bytes that travel.
func (l *layout) size() int {
	n := 0
	for _, p := range l.at {
		n += p.size
	}
	return n
}

// copies returns copies of a layout at the given displacements. All constructors are defined in
// terms of it.
func (l *layout) copies(t *mpi.Datatype, at []int) *layout {
	n := &layout{t: t, align: l.align}
	for _, by := range at {
		for _, p := range l.at {
			n.at = append(n.at, piece{by + p.at, p.size})
		}
	}
	n.lb, n.ub = n.reach()
	if over := n.extent() % n.align; over > 0 {
		n.ub += n.align - over
	}
	return n
}

func (l *layout) reach() (low, end int) {
	if len(l.at) == 0 {
		return 0, 0
	}
	low, end = l.at[0].at, l.at[0].at
	for _, p := range l.at {
		low, end = min(low, p.at), max(end, p.at+p.size)
	}
	return low, end
}

// derive constructs a layout of n elements of another by a random constructor. bounds allows
// explicit bounds.
func (l *layout) derive(r *rand.Rand, n int, bounds bool) *layout {
	at := make([]int, n)
	e := l.extent()
	ways := 5
	if bounds {
		ways = 7
	}
	switch r.IntN(ways) {
	case 0:
		for i := range at {
			at[i] = i * e
		}
		return l.copies(must(datatype.Contiguous(n, l.t)), at)
	case 1:
		length := divisor(r, n)
		stride := length + r.IntN(3)
		for i := range at {
			at[i] = (i/length*stride + i%length) * e
		}
		return l.copies(must(datatype.Vector(n/length, length, stride, l.t)), at)
	case 2:
		stride := -e - r.IntN(9)
		for i := range at {
			at[i] = i * stride
		}
		return l.copies(must(datatype.Hvector(n, 1, stride, l.t)), at)
	case 3: // in any order
		offsets := r.Perm(n + r.IntN(3))[:n]
		for i, x := range offsets {
			at[i] = x * e
		}
		return l.copies(must(datatype.Indexed(slices.Repeat([]int{1}, n), offsets, l.t)), at)
	case 4: // two blocks, the second before the first
		first, gap := r.IntN(n+1), r.IntN(5)
		begin := (n-first)*e + gap
		for i := range at {
			if at[i] = (i - first) * e; i < first {
				at[i] = begin + i*e
			}
		}
		return l.copies(must(datatype.Hindexed([]int{first, n - first}, []int{begin, 0}, l.t)), at)
	case 5: // space at both ends
		before, behind := r.IntN(9), r.IntN(9)
		for i := range at {
			at[i] = i * e
		}
		low, end := l.copies(nil, at).reach()
		x := l.copies(must(datatype.Struct([]int{1, n, 1}, []int{low - before, 0, end + behind}, []*mpi.Datatype{datatype.LB, l.t, datatype.UB})), at)
		x.lb, x.ub = low-before, end+behind
		return x
	}
	// A column; the next one starts beside it.
	stride := 2 + r.IntN(9)
	for i := range at {
		at[i] = i * stride * e
	}
	column := must(datatype.Vector(n, 1, stride, l.t))
	low, _ := l.copies(nil, at).reach()
	x := l.copies(must(datatype.Struct([]int{1, 1}, []int{0, low + e}, []*mpi.Datatype{column, datatype.UB})), at)
	x.lb, x.ub = low, low+e
	return x
}

// divisor returns a random divisor of n.
func divisor(r *rand.Rand, n int) int {
	d := 1 + r.IntN(n)
	for n%d > 0 {
		d--
	}
	return d
}

// placement is a number of elements of a layout in memory.
type placement struct {
	*layout
	count int
	each  int // units per element
}

// arrange draws a placement of n units with space for a number of such parts. Elements do not
// overlap.
func arrange(r *rand.Rand, unit *layout, n, parts int) placement {
	plain := placement{unit, n, 1}
	if n == 0 || r.IntN(3) == 0 {
		return plain
	}
	count := divisor(r, n)
	if n/count > 50 {
		count = n
	}
	each := n / count
	l := unit
	if inner := divisor(r, each); r.IntN(2) == 0 {
		l = l.derive(r, inner, false).derive(r, each/inner, true)
	} else {
		l = l.derive(r, each, true)
	}
	x := placement{l, count, each}
	if x.overlaps(count * parts) {
		return plain
	}
	return x
}

// overlaps reports whether two of the first count elements share a byte.
func (l placement) overlaps(count int) bool {
	var taken []piece
	for i := range count {
		for _, p := range l.at {
			taken = append(taken, piece{i*l.extent() + p.at, p.size})
		}
	}
	slices.SortFunc(taken, func(a, b piece) int { return a.at - b.at })
	for i := range max(0, len(taken)-1) {
		if taken[i].at+taken[i].size > taken[i+1].at {
			return true
		}
	}
	return false
}

// buffer returns memory for a number of elements, filled with a text.
func (l placement) buffer(elements, seed int) mpi.Buffer {
	low, end := l.reach()
	far := max(0, elements-1) * l.extent()
	low, end = min(low, low+far), max(end, end+far)
	return mpi.Buffer{Bytes: Text(end-low+2, seed), Origin: 1 - low, Count: l.count, Type: l.t}
}

// put copies data to its places from an element on.
func (l placement) put(b mpi.Buffer, element int, flat []byte) {
	for at := b.Origin + element*l.extent(); len(flat) > 0; at += l.extent() {
		for _, p := range l.at {
			flat = flat[copy(b.Bytes[at+p.at:at+p.at+p.size], flat):]
		}
	}
}

// take returns the data of some elements.
func (l placement) take(b mpi.Buffer, elements int) []byte {
	var flat []byte
	for i := range elements {
		at := b.Origin + i*l.extent()
		for _, p := range l.at {
			flat = append(flat, b.Bytes[at+p.at:at+p.at+p.size]...)
		}
	}
	return flat
}

// holding returns a buffer for one part that contains the data.
func (l placement) holding(flat []byte, seed int) mpi.Buffer {
	b := l.buffer(l.count, seed)
	l.put(b, 0, flat)
	return b
}

// holds reports whether a buffer that was filled with a text contains the data from an element on,
// and no other byte has changed.
func (l placement) holds(b mpi.Buffer, elements, seed, element int, flat []byte) bool {
	want := l.buffer(elements, seed)
	l.put(want, element, flat)
	return bytes.Equal(b.Bytes, want.Bytes)
}

func (l placement) String() string {
	return fmt.Sprintf("%d of %v (%d units)", l.count, l.t, l.each)
}

func must(t *mpi.Datatype, err error) *mpi.Datatype {
	if err != nil {
		panic(err)
	}
	return t.Commit()
}
