package datatype

// RunsOfData calls yield for the runs of bytes, in order, that hold size bytes of data, from byte
// from of the data on, of a sequence of elements of the type that has no end: a view of a file.
// Runs are given by displacement and length. It stops when yield returns false.
func (t *Type) RunsOfData(from, size int, yield func(at, size int) bool) {
	per := t.Size()
	if per == 0 || size <= 0 {
		return
	}
	if t.isContiguous {
		yield(t.low+from, size)
		return
	}
	w := runWalker{skip: from % per, left: size, yield: yield}
	for at := from / per * t.extent(); w.left > 0; at += t.extent() {
		w.yieldRuns(t.body, at)
	}
}

// DataBefore returns how many bytes of data of an element lie before a displacement.
func (t *Type) DataBefore(end int) int {
	n := 0
	t.RunsOfData(0, t.Size(), func(at, size int) bool {
		n += min(max(end-at, 0), size)
		return true
	})
	return n
}

// runWalker yields runs of bytes as copier copies them.
type runWalker struct {
	skip, left int // bytes that are left out first, and bytes to yield
	yield      func(at, size int) bool
}

// yieldRuns yields the runs of a node, whose displacements count from byte at.
func (w *runWalker) yieldRuns(n *dataNode, at int) {
	if n.size <= w.skip {
		w.skip -= n.size
		return
	}
	at += n.displacement
	switch n.kind {
	case kindRun:
		size := min(n.size-w.skip, w.left)
		w.left -= size
		if !w.yield(at+w.skip, size) {
			w.left = 0
		}
		w.skip = 0
	case kindLoop:
		first := min(w.skip/n.inner.size, n.loopCount)
		w.skip -= first * n.inner.size
		for i := first; i < n.loopCount && w.left > 0; i++ {
			w.yieldRuns(n.inner, at+i*n.stride)
		}
	case kindList:
		for _, m := range n.nodes {
			if w.left == 0 {
				return
			}
			w.yieldRuns(m, at)
		}
	}
}
