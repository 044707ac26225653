package datatype

import "fmt"

// Dimension is a dimension of an array section: how many elements it has, and how many bytes apart
// they begin.
type Dimension struct{ Extent, Stride int }

// InSection makes a type of count elements of t that lie in an array section as if its elements,
// the first dimension varying fastest, were one after another (MPI 4.1, §19.1.12). Displacements
// count from the first element of the section. It fails if the section has less data.
func InSection(count int, t *Type, elementBytes int, dimensions []Dimension) (*Type, error) {
	s := section{dimensions: dimensions, blockBytes: []int{elementBytes}}
	for _, d := range dimensions {
		n, err := multiplyChecked(s.blockBytes[len(s.blockBytes)-1], max(d.Extent, 0))
		if err != nil {
			return nil, err
		}
		s.blockBytes = append(s.blockBytes, n)
	}
	low, end := Buffer{Count: count, Type: t}.DataRange()
	if all := s.blockBytes[len(dimensions)]; low < 0 || end > all {
		return nil, fmt.Errorf("%d of %v lie from byte %d to byte %d of an array section of %d", count, t, low, end, all)
	}
	t.RunsOfData(0, count*t.Size(), func(at, size int) bool {
		s.appendRange(len(dimensions), at, at+size, 0)
		return true
	})
	l := layout{body: newList(s.nodes), low: s.low, end: s.end, align: t.align}
	if l.body != nil {
		l.kinds = t.kinds.repeated(count)
	}
	return newDerived(l, l.check())
}

// section collects the nodes of data in an array section.
type section struct {
	dimensions []Dimension
	blockBytes []int // by number of dimensions, the bytes of a block of the first ones
	nodes      []*dataNode
	low, end   int // of the nodes
}

// appendRange appends the bytes from first to end of a block of the first n dimensions that begins
// at a displacement.
func (s *section) appendRange(n, first, end, displacement int) {
	if n == 0 {
		s.append(newRun(end-first).shifted(displacement+first), displacement+first, displacement+end)
		return
	}
	each, stride := s.blockBytes[n-1], s.dimensions[n-1].Stride
	for first < end {
		i := first / each
		at := displacement + i*stride
		if whole := (end - first) / each; first == i*each && whole > 0 {
			node, low, high := s.block(n - 1)
			far := (whole - 1) * stride
			s.append(newLoop(whole, stride, node).shifted(at), at+low+min(far, 0), at+high+max(far, 0))
			first += whole * each
			continue
		}
		part := min(end, (i+1)*each)
		s.appendRange(n-1, first-i*each, part-i*each, at)
		first = part
	}
}

// block returns a block of the first n dimensions, and where its data begins and ends.
func (s *section) block(n int) (node *dataNode, low, end int) {
	node, end = newRun(s.blockBytes[0]), s.blockBytes[0]
	for _, d := range s.dimensions[:n] {
		far := (d.Extent - 1) * d.Stride
		node, low, end = newLoop(d.Extent, d.Stride, node), low+min(far, 0), end+max(far, 0)
	}
	return node, low, end
}

func (s *section) append(n *dataNode, low, end int) {
	if len(s.nodes) == 0 {
		s.low, s.end = low, end
	}
	s.nodes, s.low, s.end = append(s.nodes, n), min(s.low, low), max(s.end, end)
}
