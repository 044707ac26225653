package datatype

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The oracle: a type as the standard defines it, a list of elements, with the two bounds that are
// none.

type element struct {
	kind Kind // 0: LB; boundEnd: UB
	size int
	at   int
}

const boundEnd Kind = 255

type typemap []element

func mapOf(t *Type) typemap {
	switch t {
	case LB:
		return typemap{{0, 0, 0}}
	case UB:
		return typemap{{boundEnd, 0, 0}}
	}
	return typemap{{t.kinds.kind, t.Size(), 0}}
}

func (m typemap) data() typemap {
	var out typemap
	for _, e := range m {
		if e.size > 0 {
			out = append(out, e)
		}
	}
	return out
}

// bounds are those of MPI-1.2, §3.12.3.
func (m typemap) bounds() (low, end int) {
	low, lowSet := m.bound(0, func(x, y int) bool { return x < y })
	end, endSet := m.bound(boundEnd, func(x, y int) bool { return x > y })
	align := 1
	for i, e := range m.data() {
		if !lowSet && (i == 0 || e.at < low) {
			low = e.at
		}
		if !endSet && (i == 0 || e.at+e.size > end) {
			end = e.at + e.size
		}
		align = max(align, aligned(e))
	}
	if over := (end - low) % align; !endSet && over > 0 {
		end += align - over
	}
	return low, end
}

func aligned(e element) int {
	switch e.kind { // a complex number is aligned as its parts are
	case KindComplex32, KindComplex64, KindComplex128, KindComplex256, KindLongComplex:
		return e.size / 2
	}
	return e.size
}

func (m typemap) bound(k Kind, better func(x, y int) bool) (at int, set bool) {
	for _, e := range m {
		if e.kind == k && e.size == 0 && (!set || better(e.at, at)) {
			at, set = e.at, true
		}
	}
	return at, set
}

// repeat is n of a map, their beginnings so far apart.
func (m typemap) repeat(n, stride int) typemap {
	var out typemap
	for i := range n {
		out = append(out, m.shift(i*stride)...)
	}
	return out
}

func (m typemap) shift(by int) typemap {
	out := make(typemap, len(m))
	for i, e := range m {
		out[i] = element{e.kind, e.size, e.at + by}
	}
	return out
}

func (m typemap) extent() int {
	low, end := m.bounds()
	return end - low
}

// maker makes types and their maps from bytes.
type maker struct{ b []byte }

func (m *maker) next(n int) int {
	if len(m.b) == 0 {
		return 0
	}
	x := int(m.b[0])
	m.b = m.b[1:]
	return x % n
}

var leaves = append(basicTypes[:], LB, UB)

// make returns a type and its map, of at most depth constructors.
func (m *maker) make(depth int) (*Type, typemap) {
	how := m.next(6)
	if depth == 0 || how == 0 {
		t := leaves[m.next(len(leaves))]
		return t, mapOf(t)
	}
	switch how {
	case 1:
		t, in := m.make(depth - 1)
		n := m.next(4)
		return must(Contiguous(n, t)), in.repeat(n, in.extent())
	case 2:
		t, in := m.make(depth - 1)
		count, length, stride := m.next(4), m.next(4), m.next(9)-4
		return must(Vector(count, length, stride, t)), in.repeat(length, in.extent()).repeat(count, stride*in.extent())
	case 3:
		t, in := m.make(depth - 1)
		count, length, stride := m.next(4), m.next(4), m.next(64)-32
		return must(Hvector(count, length, stride, t)), in.repeat(length, in.extent()).repeat(count, stride)
	case 4:
		return m.indexed(depth)
	}
	return m.structure(depth)
}

func (m *maker) indexed(depth int) (*Type, typemap) {
	t, in := m.make(depth - 1)
	var lengths, offsets []int
	var all typemap
	for range m.next(4) {
		n, at := m.next(4), m.next(9)-4
		lengths, offsets = append(lengths, n), append(offsets, at)
		all = append(all, in.repeat(n, in.extent()).shift(at*in.extent())...)
	}
	return must(Indexed(lengths, offsets, t)), all
}

func (m *maker) structure(depth int) (*Type, typemap) {
	var lengths, offsets []int
	var types []*Type
	var all typemap
	for range m.next(4) {
		t, in := m.make(depth - 1)
		n, at := m.next(4), m.next(64)-32
		lengths, offsets, types = append(lengths, n), append(offsets, at), append(types, t)
		all = append(all, in.repeat(n, in.extent()).shift(at)...)
	}
	return must(Struct(lengths, offsets, types)), all
}

func must(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	return t
}

// FuzzType makes types of all sorts and holds them to their maps: bounds, sizes, signatures, and
// the bytes that are packed, in one piece and in several. Unpacked again, they are what was packed,
// and nothing else has changed.
func FuzzType(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &maker{b: b[:min(len(b), 200)]}
		typ, all := m.make(3)
		if len(all) > 2000 {
			return
		}
		checkBounds(t, typ, all)
		count := m.next(4)
		checkData(t, typ, all.repeat(count, all.extent()).data(), count)
	})
}

func checkBounds(t *testing.T, typ *Type, all typemap) {
	low, end := all.bounds()
	if typ.LowerBound() != low || typ.UpperBound() != end || typ.Extent() != end-low {
		t.Errorf("bounds %d and %d, extent %d; of the map %d and %d: %v", typ.LowerBound(), typ.UpperBound(), typ.Extent(), low, end, all)
	}
	size := 0
	for i, e := range all.data() {
		size += e.size
		if i == 0 {
			low, end = e.at, e.at+e.size
		}
		low, end = min(low, e.at), max(end, e.at+e.size)
	}
	if typ.Size() != size || typ.Elements() != len(all.data()) {
		t.Errorf("%d bytes in %d elements; of the map %d in %d: %v", typ.Size(), typ.Elements(), size, len(all.data()), all)
	}
	if size > 0 && (typ.TrueLowerBound() != low || typ.TrueExtent() != end-low) {
		t.Errorf("data at %d, %d bytes long; of the map %d, %d: %v", typ.TrueLowerBound(), typ.TrueExtent(), low, end-low, all)
	}
}

// checkData packs and unpacks count of a type, whose elements are data.
func checkData(t *testing.T, typ *Type, data typemap, count int) {
	low, end := 0, 0
	for _, e := range data {
		low, end = min(low, e.at), max(end, e.at+e.size)
	}
	memory := make([]byte, end-low)
	for i := range memory {
		memory[i] = byte(i*7 + i>>8)
	}
	b := Buffer{Bytes: memory, Origin: -low, Count: count, Type: typ}
	if err := b.Check(); err != nil {
		t.Fatalf("%v: %v", err, data)
	}
	want, touched := flatten(memory, -low, data)
	overlap := checkTouched(touched)
	if got := b.Overlaps(); got != overlap {
		t.Errorf("overlaps: %v; of the map %v: %v", got, overlap, data)
	}
	checkPack(t, b, want)
	checkSums(t, b, data)
	if !overlap {
		checkUnpack(t, b, want, touched)
	}
}

// flatten returns the bytes of the elements in order, and how many elements lie on each byte of
// memory.
func flatten(memory []byte, origin int, data typemap) (flat []byte, touched []int) {
	touched = make([]int, len(memory))
	for _, e := range data {
		at := origin + e.at
		flat = append(flat, memory[at:at+e.size]...)
		for i := range e.size {
			touched[at+i]++
		}
	}
	return flat, touched
}

func checkTouched(touched []int) bool {
	for _, n := range touched {
		if n > 1 {
			return true
		}
	}
	return false
}

func checkPack(t *testing.T, b Buffer, want []byte) {
	if flat, ok := b.ContiguousBytes(); ok && !bytes.Equal(flat, want) {
		t.Errorf("lies as %v, travels as %v", flat, want)
	}
	for from := 0; from <= len(want); from += 1 + len(want)/13 {
		for _, n := range []int{0, 1, 3, len(want) - from, len(want)} {
			flat := make([]byte, max(n, 0))
			k := b.Pack(flat, from)
			if n := min(len(flat), len(want)-from); k != n || !bytes.Equal(flat[:k], want[from:from+n]) {
				t.Fatalf("%d bytes from byte %d: packed %d, %v, not %v", len(flat), from, k, flat[:k], want[from:from+n])
			}
		}
	}
}

func checkUnpack(t *testing.T, b Buffer, flat []byte, touched []int) {
	for _, piece := range []int{1, 5, len(flat)} {
		there := Buffer{Bytes: bytes.Repeat([]byte{0xee}, len(b.Bytes)), Origin: b.Origin, Count: b.Count, Type: b.Type}
		for from := 0; from < len(flat); from += piece {
			there.Unpack(flat[from:min(from+piece, len(flat))], from)
		}
		for i, n := range touched {
			if want := b.Bytes[i]; n > 0 && there.Bytes[i] != want || n == 0 && there.Bytes[i] != 0xee {
				t.Fatalf("byte %d is %d after unpacking, was %d, data: %v", i, there.Bytes[i], want, n > 0)
			}
		}
	}
}

// checkSums compares signatures with those of types that are lists of the same elements, and of
// lists that lack one.
func checkSums(t *testing.T, b Buffer, data typemap) {
	bytes := 0
	for i := 0; ; i++ {
		if got := b.Elements(bytes); got != i {
			t.Fatalf("%d elements in %d bytes, of the map %d", got, bytes, i)
		}
		if got, want := b.KindSum(bytes), sumOf(data[:i]); got != want {
			t.Fatalf("sum of %d elements %x, of the map %x", i, got, want)
		}
		if got := b.KindSign(bytes); got&^mixedSign != 0 && got&mixedSign == 0 && got != uint32(data[0].kind) || (got&mixedSign != 0) != several(data[:i]) {
			t.Fatalf("sign of %d elements %x: %v", i, got, data[:i])
		}
		if i == len(data) {
			return
		}
		if s := data[i].size; s > 1 && b.Elements(bytes+s-1) != i {
			t.Fatalf("%d bytes have a whole element too many", bytes+s-1)
		}
		bytes += data[i].size
	}
}

// several reports whether elements have more than one kind.
func several(data typemap) bool {
	for _, e := range data {
		if e.kind != data[0].kind {
			return true
		}
	}
	return false
}

func sumOf(data typemap) uint64 {
	var s signature
	for _, e := range data {
		s = s.followedBy(signatureOfElement(e.kind, e.size))
	}
	return s.sum
}

// Sums tell sequences apart that differ in kind, order or length.
func TestSums(t *testing.T) {
	sequences := [][]*Type{
		{}, {Int32}, {Float32}, {Int32, Int32}, {Int32, Float32}, {Float32, Int32}, {Int64}, {Byte, Byte}, {Byte, Byte, Byte},
	}
	seen := make(map[uint64]int)
	for i, types := range sequences {
		lengths, offsets := make([]int, len(types)), make([]int, len(types))
		for j := range types {
			lengths[j], offsets[j] = 1, 16*j
		}
		typ := must(Struct(lengths, offsets, types))
		sum := Buffer{Count: 1, Type: typ}.KindSum(typ.Size())
		if j, twice := seen[sum]; twice {
			t.Errorf("%v and %v have one sum", sequences[j], types)
		}
		seen[sum] = i
	}
}

// Overflow is an error, not a number that has wrapped.
func TestTooLarge(t *testing.T) {
	big := must(Contiguous(1<<40, Float64))
	for name, make := range map[string]func() (*Type, error){
		"contiguous": func() (*Type, error) { return Contiguous(1<<40, big) },
		"vector":     func() (*Type, error) { return Vector(2, 1, 1<<40, big) },
		"hvector":    func() (*Type, error) { return Hvector(1<<40, 1, 1<<40, Byte) },
		"negative":   func() (*Type, error) { return Hvector(1<<40, 1, -1<<40, Byte) },
		"indexed":    func() (*Type, error) { return Indexed([]int{1}, []int{1 << 40}, big) },
		"struct":     func() (*Type, error) { return Struct([]int{1}, []int{1<<63 - 1}, []*Type{Byte}) },
		"counts":     func() (*Type, error) { return Contiguous(-1, Byte) },
		"lengths":    func() (*Type, error) { return Struct([]int{1}, nil, nil) },
	} {
		if typ, err := make(); err == nil {
			t.Errorf("%s: %v in place of an error", name, typ)
		}
	}
}

// A buffer that is too short is found before anything is copied.
func TestCheck(t *testing.T) {
	typ := must(Vector(2, 1, -2, Int32)) // bytes 0 to 4 and -8 to -4
	for _, c := range []struct {
		origin, count, bytes int
		ok                   bool
	}{{8, 1, 12, true}, {7, 1, 12, false}, {8, 1, 11, false}, {8, 2, 24, true}, {8, 2, 23, false}, {0, 0, 0, true}, {8, -1, 100, false}} {
		err := Buffer{make([]byte, c.bytes), c.origin, c.count, typ}.Check()
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if (Buffer{}).Check() == nil {
		t.Error("a buffer without a type passes")
	}
}

// FirstSharedRun agrees with a comparison byte by byte.
func TestShared(t *testing.T) {
	memory := make([]byte, 1000)
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 0))
		buffers := func() (all []Buffer) {
			low := draw.IntN(100)
			vector, err := Vector(1+draw.IntN(4), draw.IntN(3), 1+draw.IntN(6), Int16)
			if err != nil {
				t.Fatal(err)
			}
			b := Buffer{Bytes: memory[low:], Type: vector.Commit()}
			for range 1 + draw.IntN(3) {
				all = append(all, b.SubBuffer(draw.IntN(8), draw.IntN(3)))
			}
			return all
		}
		a, b := buffers(), buffers()
		shared := func(x []Buffer) map[int]bool { // places in memory
			at := map[int]bool{}
			for _, p := range x {
				p.Runs(func(run []byte) {
					for i := range run {
						at[int(Address(run)-Address(memory))+i] = true
					}
				})
			}
			return at
		}
		inA, inB := shared(a), shared(b)
		n, fromA, fromB := FirstSharedRun(a, b)
		both := 0
		for p := range inA {
			if inB[p] {
				both++
			}
		}
		if (n > 0) != (both > 0) || n > both {
			t.Fatalf("seed %d: %d bytes in a row, and %d in all", seed, n, both)
		}
		for i := range n {
			p := int(Address(a[0].Bytes)-Address(memory)) + fromA + i
			if q := int(Address(b[0].Bytes)-Address(memory)) + fromB + i; p != q || !inA[p] || !inB[p] {
				t.Fatalf("seed %d: byte %d is at %d of one and %d of the other, which are not both data", seed, i, p, q)
			}
		}
		if n > 0 && !RangesOverlap(&a[0], &b[0]) {
			t.Fatalf("seed %d: buffers share bytes, and are not near", seed)
		}
	}
	if a, b := (&Buffer{Bytes: memory[:10]}), (&Buffer{Bytes: memory[10:]}); RangesOverlap(a, b) || RangesOverlap(b, a) {
		t.Error("bytes one behind the other are near")
	}
}
