package datatype

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// randomType returns a type made in a few random ways.
func randomType(r *rand.Rand, depth int) *Type {
	if depth == 0 {
		return []*Type{Byte, Int16, Int32, Float64, Float64Int32}[r.IntN(5)]
	}
	of := randomType(r, depth-1)
	var t *Type
	var err error
	switch r.IntN(4) {
	case 0:
		t, err = Vector(r.IntN(4), r.IntN(3), r.IntN(9)-3, of)
	case 1:
		t, err = Indexed([]int{r.IntN(3), 1 + r.IntN(3)}, []int{r.IntN(5), 9 + r.IntN(5)}, of)
	case 2:
		t, err = Struct([]int{1, r.IntN(2), 2}, []int{0, 200 + r.IntN(50), 300}, []*Type{of, Int32, of})
	default:
		t, err = Resized(of, -r.IntN(4), of.Extent()+r.IntN(8))
	}
	if err != nil {
		panic(err)
	}
	return t.Commit()
}

func TestParsedLayoutsHaveTheSameBytes(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := Buffer{Count: r.IntN(4), Type: randomType(r, r.IntN(4))}
		low, end := b.DataRange()
		b.Origin, b.Bytes = -low, make([]byte, end-low)
		for i := range b.Bytes {
			b.Bytes[i] = byte(r.Uint32())
		}
		parsed, err := ParseLayout(b.AppendLayout(nil))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		other := Buffer{Bytes: b.Bytes, Origin: b.Origin, Count: 1, Type: parsed}
		if err := other.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want, got := make([]byte, b.Len()), make([]byte, other.Len())
		b.Pack(want, 0)
		other.Pack(got, 0)
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %v of the parsed layout, want %v", seed, got, want)
		}
		if otherLow, otherEnd := other.DataRange(); len(want) > 0 && (otherLow != low || otherEnd != end) {
			t.Fatalf("seed %d: data from %d to %d, want %d to %d", seed, otherLow, otherEnd, low, end)
		}
	}
}

func TestDamagedLayoutsAreErrors(t *testing.T) {
	v, _ := Vector(3, 2, 5, Int32)
	good := Buffer{Count: 2, Type: v}.AppendLayout(nil)
	for n := range good {
		if _, err := ParseLayout(good[:n]); err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(good))
		}
	}
	if _, err := ParseLayout(append(good, 0)); err == nil {
		t.Error("no error for a byte too many")
	}
	for i := range good { // any value of a byte is an error, or a layout
		for x := range 256 {
			bad := bytes.Clone(good)
			bad[i] = byte(x)
			ParseLayout(bad)
		}
	}
}
