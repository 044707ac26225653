package datatype

import (
	"slices"
	"unsafe"
)

// maxOverlapRuns is how many runs of bytes are looked at for overlaps.
const maxOverlapRuns = 1 << 14

// Overlaps reports whether two elements of the buffer's data share a byte, which a receive may not
// (MPI-1.2, §3.12.5). Buffers with more than some thousand runs of bytes are not checked.
func (b Buffer) Overlaps() bool {
	if b.Count == 0 || b.Type.body == nil {
		return false
	}
	s := runCollector{}
	if !s.addLoop(b.Type.body, b.Count, b.Type.extent(), 0) {
		return false
	}
	slices.SortFunc(s.list, func(x, y byteRange) int { return x.from - y.from })
	for i := range s.list[1:] {
		if s.list[i].to > s.list[i+1].from {
			return true
		}
	}
	return false
}

type byteRange struct{ from, to int }

// runCollector gathers the runs of bytes of a node. Its methods return false if there are too many.
type runCollector struct{ list []byteRange }

func (s *runCollector) addNode(n *dataNode, at int) bool {
	at += n.displacement
	switch n.kind {
	case kindLoop:
		return s.addLoop(n.inner, n.loopCount, n.stride, at)
	case kindList:
		for _, m := range n.nodes {
			if !s.addNode(m, at) {
				return false
			}
		}
		return true
	}
	s.list = append(s.list, byteRange{at, at + n.size})
	return len(s.list) <= maxOverlapRuns
}

func (s *runCollector) addLoop(n *dataNode, count, stride, at int) bool {
	if n.kind == kindRun && stride == n.size {
		return s.addNode(&dataNode{displacement: n.displacement, size: count * n.size}, at)
	}
	for range count {
		if !s.addNode(n, at) {
			return false
		}
		at += stride
	}
	return true
}

// RangesOverlap reports whether the bytes of two buffers overlap, whatever of them is data. It
// takes little time.
func RangesOverlap(a, b *Buffer) bool {
	from, to := Address(a.Bytes), Address(b.Bytes)
	return from < to+uintptr(len(b.Bytes)) && to < from+uintptr(len(a.Bytes))
}

// FirstSharedRun returns the first run of bytes that data of some buffers shares with data of
// others: how many bytes, and where they begin in the bytes of the first of a, and in those of the
// one of b; 0: there are none. Buffers have been checked.
func FirstSharedRun(a, b []Buffer) (n, inA, inB int) {
	if len(a) == 0 {
		return 0, 0, 0
	}
	base := a[0].Bytes
	var first []byteRange
	for _, x := range a {
		x.Runs(func(run []byte) { first = append(first, offsetOf(base, run)) })
	}
	first = mergeOverlapping(first)
	for _, y := range b {
		y.Runs(func(run []byte) {
			other := offsetOf(base, run)
			i, _ := slices.BinarySearchFunc(first, other.from+1, func(x byteRange, from int) int { return x.to - from })
			if n == 0 && i < len(first) && first[i].from < other.to {
				inA = max(first[i].from, other.from)
				inB, n = inA-int(Address(y.Bytes)-Address(base)), min(first[i].to, other.to)-inA
			}
		})
	}
	return n, inA, inB
}

// mergeOverlapping returns spans in order, as one where they overlap.
func mergeOverlapping(all []byteRange) []byteRange {
	slices.SortFunc(all, func(x, y byteRange) int { return x.from - y.from })
	var apart []byteRange
	for _, x := range all {
		if last := len(apart) - 1; last >= 0 && x.from < apart[last].to {
			apart[last].to = max(apart[last].to, x.to)
		} else {
			apart = append(apart, x)
		}
	}
	return apart
}

// offsetOf returns the place of a run behind the beginning of some memory.
func offsetOf(base, run []byte) byteRange {
	from := int(Address(run) - Address(base))
	return byteRange{from, from + len(run)}
}

// Address returns the address of the first byte of memory, as a number.
func Address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
