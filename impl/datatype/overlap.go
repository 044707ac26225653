package datatype

import "slices"

// most is how many runs of bytes are looked at for overlaps.
const most = 1 << 14

// Overlaps reports whether two elements of the buffer's data share a byte, which a receive may not (MPI-1.2, §3.12.5). What has more than some
// thousand runs of bytes is not looked at.
func (b Buffer) Overlaps() bool {
	if b.Count == 0 || b.Type.body == nil {
		return false
	}
	s := spans{}
	if !s.loop(b.Type.body, b.Count, b.Type.extent(), 0) {
		return false
	}
	slices.SortFunc(s.list, func(x, y span) int { return x.from - y.from })
	for i := range s.list[1:] {
		if s.list[i].to > s.list[i+1].from {
			return true
		}
	}
	return false
}

type span struct{ from, to int }

// spans gathers the runs of bytes of a node. Its methods return false if there are too many.
type spans struct{ list []span }

func (s *spans) node(n *node, at int) bool {
	at += n.at
	switch n.kind {
	case isLoop:
		return s.loop(n.inner, n.n, n.stride, at)
	case isList:
		for _, m := range n.nodes {
			if !s.node(m, at) {
				return false
			}
		}
		return true
	}
	s.list = append(s.list, span{at, at + n.size})
	return len(s.list) <= most
}

func (s *spans) loop(n *node, count, stride, at int) bool {
	if n.kind == isRun && stride == n.size {
		return s.node(&node{at: n.at, size: count * n.size}, at)
	}
	for range count {
		if !s.node(n, at) {
			return false
		}
		at += stride
	}
	return true
}
