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
	datatype               *mpi.Datatype
	ranges                 []byteRange // in travel order
	lowerBound, upperBound int
	align                  int
}

type byteRange struct{ offset, size int }

func basicLayout(t *mpi.Datatype, size int) *layout {
	return &layout{t, []byteRange{{0, size}}, 0, size, size}
}

// unitLayouts are the elements of messages, with one or several kinds of basic elements.
var unitLayouts = []*layout{basicLayout(mpi.Byte, 1), basicLayout(mpi.Int16, 2), basicLayout(mpi.Int32, 4), basicLayout(mpi.Float64, 8), basicLayout(mpi.Uint64, 8),
	{mustCommit(datatype.Struct([]int{1, 1, 1}, []int{8, 0, 20}, []*mpi.Datatype{mpi.Float64, mpi.Int32, mpi.Int8})), []byteRange{{8, 8}, {0, 4}, {20, 1}}, 0, 24, 8}}

func (l *layout) extent() int { return l.upperBound - l.lowerBound }

// size returns the number of bytes that travel.
func (l *layout) size() int {
	n := 0
	for _, p := range l.ranges {
		n += p.size
	}
	return n
}

// copiesAt returns copies of a layout at the given displacements. All constructors are defined in
// terms of it.
func (l *layout) copiesAt(t *mpi.Datatype, at []int) *layout {
	n := &layout{datatype: t, align: l.align}
	for _, by := range at {
		for _, p := range l.ranges {
			n.ranges = append(n.ranges, byteRange{by + p.offset, p.size})
		}
	}
	n.lowerBound, n.upperBound = n.dataRange()
	if over := n.extent() % n.align; over > 0 {
		n.upperBound += n.align - over
	}
	return n
}

func (l *layout) dataRange() (low, end int) {
	if len(l.ranges) == 0 {
		return 0, 0
	}
	low, end = l.ranges[0].offset, l.ranges[0].offset
	for _, p := range l.ranges {
		low, end = min(low, p.offset), max(end, p.offset+p.size)
	}
	return low, end
}

// deriveRandomly constructs a layout of n elements of another by a random constructor. bounds
// allows explicit bounds.
func (l *layout) deriveRandomly(r *rand.Rand, n int, bounds bool) *layout {
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
		return l.copiesAt(mustCommit(datatype.Contiguous(n, l.datatype)), at)
	case 1:
		length := randomDivisor(r, n)
		stride := length + r.IntN(3)
		for i := range at {
			at[i] = (i/length*stride + i%length) * e
		}
		return l.copiesAt(mustCommit(datatype.Vector(n/length, length, stride, l.datatype)), at)
	case 2:
		stride := -e - r.IntN(9)
		for i := range at {
			at[i] = i * stride
		}
		return l.copiesAt(mustCommit(datatype.Hvector(n, 1, stride, l.datatype)), at)
	case 3: // in any order
		offsets := r.Perm(n + r.IntN(3))[:n]
		for i, x := range offsets {
			at[i] = x * e
		}
		return l.copiesAt(mustCommit(datatype.Indexed(slices.Repeat([]int{1}, n), offsets, l.datatype)), at)
	case 4: // two blocks, the second before the first
		first, gap := r.IntN(n+1), r.IntN(5)
		begin := (n-first)*e + gap
		for i := range at {
			if at[i] = (i - first) * e; i < first {
				at[i] = begin + i*e
			}
		}
		return l.copiesAt(mustCommit(datatype.Hindexed([]int{first, n - first}, []int{begin, 0}, l.datatype)), at)
	case 5: // space at both ends
		before, behind := r.IntN(9), r.IntN(9)
		for i := range at {
			at[i] = i * e
		}
		low, end := l.copiesAt(nil, at).dataRange()
		x := l.copiesAt(mustCommit(datatype.Struct([]int{1, n, 1}, []int{low - before, 0, end + behind}, []*mpi.Datatype{datatype.LB, l.datatype, datatype.UB})), at)
		x.lowerBound, x.upperBound = low-before, end+behind
		return x
	}
	// A column; the next one starts beside it.
	stride := 2 + r.IntN(9)
	for i := range at {
		at[i] = i * stride * e
	}
	column := mustCommit(datatype.Vector(n, 1, stride, l.datatype))
	low, _ := l.copiesAt(nil, at).dataRange()
	x := l.copiesAt(mustCommit(datatype.Struct([]int{1, 1}, []int{0, low + e}, []*mpi.Datatype{column, datatype.UB})), at)
	x.lowerBound, x.upperBound = low, low+e
	return x
}

// randomDivisor returns a random divisor of n.
func randomDivisor(r *rand.Rand, n int) int {
	d := 1 + r.IntN(n)
	for n%d > 0 {
		d--
	}
	return d
}

// placement is a number of elements of a layout in memory.
type placement struct {
	*layout
	count           int
	unitsPerElement int // units per element
}

// randomPlacement draws a placement of n units with space for a number of such parts. Elements do
// not overlap.
func randomPlacement(r *rand.Rand, unit *layout, n, parts int) placement {
	plain := placement{unit, n, 1}
	if n == 0 || r.IntN(3) == 0 {
		return plain
	}
	count := randomDivisor(r, n)
	if n/count > 50 {
		count = n
	}
	each := n / count
	l := unit
	if inner := randomDivisor(r, each); r.IntN(2) == 0 {
		l = l.deriveRandomly(r, inner, false).deriveRandomly(r, each/inner, true)
	} else {
		l = l.deriveRandomly(r, each, true)
	}
	x := placement{l, count, each}
	if x.overlaps(count * parts) {
		return plain
	}
	return x
}

// overlaps reports whether two of the first count elements share a byte.
func (l placement) overlaps(count int) bool {
	var taken []byteRange
	for i := range count {
		for _, p := range l.ranges {
			taken = append(taken, byteRange{i*l.extent() + p.offset, p.size})
		}
	}
	slices.SortFunc(taken, func(a, b byteRange) int { return a.offset - b.offset })
	for i := range max(0, len(taken)-1) {
		if taken[i].offset+taken[i].size > taken[i+1].offset {
			return true
		}
	}
	return false
}

// buffer returns memory for a number of elements, filled with the payload of a seed.
func (l placement) buffer(elements, seed int) mpi.Buffer {
	low, end := l.dataRange()
	far := max(0, elements-1) * l.extent()
	low, end = min(low, low+far), max(end, end+far)
	return mpi.Buffer{Bytes: Payload(end-low+2, seed), Origin: 1 - low, Count: l.count, Type: l.datatype}
}

// scatterInto copies data to its places from an element on.
func (l placement) scatterInto(b mpi.Buffer, element int, flat []byte) {
	for at := b.Origin + element*l.extent(); len(flat) > 0; at += l.extent() {
		for _, p := range l.ranges {
			flat = flat[copy(b.Bytes[at+p.offset:at+p.offset+p.size], flat):]
		}
	}
}

// gatherFrom returns the data of some elements.
func (l placement) gatherFrom(b mpi.Buffer, elements int) []byte {
	var flat []byte
	for i := range elements {
		at := b.Origin + i*l.extent()
		for _, p := range l.ranges {
			flat = append(flat, b.Bytes[at+p.offset:at+p.offset+p.size]...)
		}
	}
	return flat
}

// bufferHolding returns a buffer for one part that contains the data.
func (l placement) bufferHolding(flat []byte, seed int) mpi.Buffer {
	b := l.buffer(l.count, seed)
	l.scatterInto(b, 0, flat)
	return b
}

// isOnlyChange reports whether a buffer that buffer has filled contains the data from an
// element on, and no other byte has changed.
func (l placement) isOnlyChange(b mpi.Buffer, elements, seed, element int, flat []byte) bool {
	want := l.buffer(elements, seed)
	l.scatterInto(want, element, flat)
	return bytes.Equal(b.Bytes, want.Bytes)
}

func (l placement) String() string {
	return fmt.Sprintf("%d of %v (%d units)", l.count, l.datatype, l.unitsPerElement)
}

func mustCommit(t *mpi.Datatype, err error) *mpi.Datatype {
	if err != nil {
		panic(err)
	}
	return t.Commit()
}
