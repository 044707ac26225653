package device

import "testing"

func TestPartsOfSizeOnlyDataAreSizeOnly(t *testing.T) {
	memory := make([]byte, 8, 16)
	b := SizeOnly(memory)
	for _, part := range [][]byte{b, b[3:], b[:3], b[2:5], b[8:][:0], b[7:8]} {
		if !IsSizeOnly(part) {
			t.Errorf("the part of %d bytes has lost the mark", len(part))
		}
	}
	if c := ClearSizeOnly(b); IsSizeOnly(c) || len(c) != 8 || cap(c) != 16 || &c[0] != &memory[0] {
		t.Errorf("without the mark: %d bytes of %d", len(c), cap(c))
	}
	if IsSizeOnly(memory) || IsSizeOnly[byte](nil) || IsSizeOnly(SizeOnly(nil)) {
		t.Error("other data is size-only")
	}
}

// The part of nothing at the end of size-only data points into the same memory.
func TestSizeOnlyDataHasCapacityBehindIt(t *testing.T) {
	full := make([]byte, 160)
	for name, b := range map[string][]byte{"full": SizeOnly(full), "copy": CloneBytes(SizeOnly(full)), "new": NewBytes(64, SizeOnly(full)), "part": SizeOnly(full[:159])} {
		if c := ClearSizeOnly(b); cap(c) <= len(c) {
			t.Errorf("%s: %d bytes of %d", name, len(c), cap(c))
		}
	}
}

func TestSizeOnlyDataIsNotCopied(t *testing.T) {
	a, b := []byte{1, 2}, []byte{3, 4, 5}
	if CopyBytes(SizeOnly(a), b) != 2 || CopyBytes(a, SizeOnly(b)) != 2 || a[0] != 1 {
		t.Errorf("copied: %v", a)
	}
	if !IsSizeOnly(CloneBytes(SizeOnly(b))) || !IsSizeOnly(NewBytes(1, SizeOnly(b))) || IsSizeOnly(NewBytes(1, b)) {
		t.Error("a copy of size-only data is size-only, and no other")
	}
	if CopyBytes(a, b) != 2 || a[0] != 3 || CloneBytes(b)[2] != 5 {
		t.Errorf("other data is copied: %v", a)
	}
}
