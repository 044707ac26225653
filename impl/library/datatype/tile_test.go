package datatype

import (
	"math/rand/v2"
	"testing"
)

// The runs of a tiled type are where a buffer of many elements has its data.
func TestTilesAreTheDataOfABuffer(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		typ := randomType(r, 3)
		if typ.Size() == 0 {
			continue
		}
		const count = 3
		low, end := Buffer{Count: count, Type: typ}.DataRange()
		memory := make([]byte, end-low)
		for i := range memory {
			memory[i] = byte(i*7 + i>>8)
		}
		b := Buffer{Bytes: memory, Origin: -low, Count: count, Type: typ}
		from := r.IntN(b.Len())
		want := make([]byte, 1+r.IntN(b.Len()-from))
		b.Pack(want, from)
		var got []byte
		typ.RunsOfData(from, len(want), func(at, size int) bool {
			got = append(got, memory[at-low:at-low+size]...)
			return true
		})
		if string(got) != string(want) {
			t.Fatalf("%v from %d: the runs hold %v, the buffer %v", typ, from, got, want)
		}
		if n := typ.DataBefore(typ.TrueLowerBound() + typ.TrueExtent()); n != typ.Size() {
			t.Fatalf("%v has %d bytes before its end", typ, n)
		}
	}
}
