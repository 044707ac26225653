package datatype

import "testing"

func TestPlainRejectsABufferThatIsOneByteShort(t *testing.T) {
	for missing := range 2 {
		b := Buffer{Bytes: make([]byte, 16-missing), Count: 4, Type: Int32}
		if _, _, ok := b.PlainBytes(); ok != (missing == 0) {
			t.Errorf("4 elements of 4 bytes in %d bytes: plain is %v", len(b.Bytes), ok)
		}
	}
}

func TestPartStartsAtAMultipleOfTheExtent(t *testing.T) {
	padded, err := Resized(Int32, 0, 12)
	if err != nil {
		t.Fatal(err)
	}
	p := Buffer{Bytes: make([]byte, 48), Count: 4, Type: padded.Commit()}.SubBuffer(3, 1)
	if p.Origin != 36 || p.Count != 1 {
		t.Errorf("part of element 3 begins at byte %d with %d elements: want byte 36 and 1 element", p.Origin, p.Count)
	}
}

func TestElementsWithoutGapsAreCopiedAtOnce(t *testing.T) {
	copies := 0
	b := Buffer{Bytes: make([]byte, 4000), Count: 1000, Type: Int32}
	b.Gather(make([]byte, 4000), func(dst, src []byte) int {
		copies++
		return copy(dst, src)
	})
	if copies != 1 {
		t.Errorf("1000 elements in a row are copied in %d runs: want 1", copies)
	}
}

// So 3 characters do not fit a receive of integers.
func TestPartOfAnElementHasItsKind(t *testing.T) {
	spread, err := Vector(2, 1, 3, Int32)
	if err != nil {
		t.Fatal(err)
	}
	b := Buffer{Bytes: make([]byte, 16), Count: 1, Type: spread.Commit()}
	for bytes, want := range map[int]uint32{0: 0, 3: Int32.KindSign(), 4: Int32.KindSign(), 7: Int32.KindSign()} {
		if got := b.KindSign(bytes); got != want {
			t.Errorf("sign of %d bytes: %d, want %d", bytes, got, want)
		}
	}
}
