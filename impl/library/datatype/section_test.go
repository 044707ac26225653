package datatype

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Data in an array section is the same as in a contiguous copy of the section, for random types and
// sections.
func TestDataInSectionIsThatOfContiguousCopy(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		elementBytes := 1 + r.IntN(8)
		var dimensions []Dimension
		elements, place := []int{0}, 1024 // where each element of the section lies
		stride := elementBytes
		for range r.IntN(4) {
			d := Dimension{1 + r.IntN(4), stride * (1 + r.IntN(3))}
			stride = d.Extent * d.Stride
			if r.IntN(4) == 0 {
				d.Stride = -d.Stride
			}
			var next []int
			for i := range d.Extent {
				for _, e := range elements {
					next = append(next, e+i*d.Stride)
				}
			}
			elements, dimensions = next, append(dimensions, d)
		}
		memory := make([]byte, 1<<15)
		for i := range memory {
			memory[i] = byte(r.IntN(256))
		}
		place = 1 << 14
		var contiguous []byte
		for _, e := range elements {
			contiguous = append(contiguous, memory[place+e:place+e+elementBytes]...)
		}
		of := randomSectionType(t, r)
		count := r.IntN(5)
		low, end := Buffer{Count: count, Type: of}.DataRange()
		mapped, err := InSection(count, of, elementBytes, dimensions)
		if fits := low >= 0 && end <= len(contiguous); (err == nil) != fits {
			t.Fatalf("seed %d: %v, though the data lies from %d to %d of %d bytes", seed, err, low, end, len(contiguous))
		} else if !fits {
			continue
		}
		want, got := make([]byte, count*of.Size()), make([]byte, mapped.Size())
		Buffer{Bytes: contiguous, Count: count, Type: of}.Pack(want, 0)
		b := Buffer{Bytes: memory, Origin: place, Count: 1, Type: mapped}
		b.Pack(got, 0)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: packed %v, want %v", seed, got, want)
		}
		if err := b.Check(); err != nil || b.KindSign(len(got)) != (Buffer{Count: count, Type: of}).KindSign(len(want)) || mapped.Elements() != count*of.Elements() {
			t.Fatalf("seed %d: %v; the elements differ", seed, err)
		}
		exact, lowest, last := true, 1<<20, -1<<20
		mapped.RunsOfData(0, len(got), func(at, size int) bool { lowest, last = min(lowest, at), max(last, at+size); return true })
		if len(got) > 0 {
			exact = lowest == mapped.TrueLowerBound() && last == mapped.TrueLowerBound()+mapped.TrueExtent()
		}
		if !exact {
			t.Fatalf("seed %d: data from %d to %d, and the type begins at %d and has %d bytes", seed, lowest, last, mapped.TrueLowerBound(), mapped.TrueExtent())
		}
	}
}

// randomSectionType returns a type without negative displacements.
func randomSectionType(t *testing.T, r *rand.Rand) *Type {
	of := []*Type{Byte, Int16, Int32, Float64, Complex128}[r.IntN(5)]
	var err error
	switch r.IntN(4) {
	case 0:
		of, err = Vector(1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(4), of)
	case 1:
		of, err = Struct([]int{1 + r.IntN(2), r.IntN(3)}, []int{16, r.IntN(8)}, []*Type{of, Int8})
	case 2:
		if of, err = Indexed([]int{1, 2}, []int{3, 0}, of); err == nil {
			of, err = Resized(of, 0, 4)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return of.Commit()
}
