package collective

// segmentBytes returns the segment size for a requested size: whole elements, at least one. 0: all
// data.
func (j Job) segmentBytes(asked int) int {
	if asked == 0 {
		return max(j.Bytes, j.elementBytes())
	}
	return max(asked/j.elementBytes(), 1) * j.elementBytes()
}

// divideSpan divides a span into at least one segment. It returns their number and a function for
// segment i.
func (j Job) divideSpan(of Span, segment int) (n int, part func(i int) Span) {
	n = max((of.Bytes+segment-1)/segment, 1)
	return n, func(i int) Span { return Span{of.Area, of.Offset + i*segment, min(segment, of.Bytes-i*segment)} }
}

// treeBcast sends the data down a tree, segment by segment. A rank posts sends of a segment to all
// of its children, and receives the next one meanwhile.
func treeBcast(t tree, segment int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		sendDownTree(s, j, t, rank, j.wholeData(Out), j.segmentBytes(segment))
	}
}

// sendDownTree sends a span down a tree from the parent of a rank to its children.
func sendDownTree(s *Script, j Job, t tree, rank int, data Span, segment int) {
	at := floorMod(rank-j.Root, j.Ranks)
	from, leaf := t.parent(at, j.Ranks), t.child(at, j.Ranks, 0) == NoRank
	if from != NoRank {
		from = floorMod(j.Root+from, j.Ranks)
		n, part := j.divideSpan(data, segment)
		s.recv(from, part(0))
		for i := 1; leaf && i < n; i++ {
			s.recv(from, part(i))
		}
	}
	if leaf {
		return
	}
	n, part := j.divideSpan(data, segment)
	for i := range n {
		if from != NoRank && i+1 < n {
			s.post(NoRank, Span{}, from, part(i+1))
		}
		for c := 0; ; c++ {
			child := t.child(at, j.Ranks, c)
			if child == NoRank {
				break
			}
			s.post(floorMod(j.Root+child, j.Ranks), part(i), NoRank, Span{})
		}
		s.wait()
	}
}

// splitBinaryBcast sends one half of the data to the ranks below each child of the root in a binary
// tree. At the end each rank exchanges its half with a rank of the other side. Data that is too
// short goes along a chain.
func splitBinaryBcast(segment int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		half := (j.Bytes/j.elementBytes() + 1) / 2 * j.elementBytes()
		length := j.segmentBytes(segment)
		if segment == 0 {
			length = max(half, j.elementBytes())
		}
		if j.Bytes-half == 0 || length > half || j.Ranks < 3 {
			sendDownTree(s, j, chainTree(1), rank, j.wholeData(Out), length)
			return
		}
		halves := [2]Span{{Out, 0, half}, {Out, half, j.Bytes - half}}
		at := floorMod(rank-j.Root, j.Ranks)
		last := floorMod(j.Root-1, j.Ranks)
		if at > 0 {
			side := (at + 1) % 2
			sendDownTree(s, j, binaryTree{}, rank, halves[side], length)
			switch pair := floorMod(rank+1-2*side, j.Ranks); {
			case at+1 == j.Ranks && side == 0: // the other side has one rank less
				s.recv(j.Root, halves[1])
			default:
				s.exchange(pair, halves[side], pair, halves[1-side])
			}
			return
		}
		n, first := j.divideSpan(halves[0], length)
		m, second := j.divideSpan(halves[1], length)
		for i := range n {
			s.post(floorMod(rank+1, j.Ranks), first(i), NoRank, Span{})
			if i < m {
				s.post(floorMod(rank+2, j.Ranks), second(i), NoRank, Span{})
			}
			s.wait()
		}
		if j.Ranks%2 == 0 {
			s.send(last, halves[1])
		}
	}
}

// treeReduce combines the data up a tree, segment by segment. A rank combines received data while
// it receives from the next child.
func treeReduce(t tree, segment int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		combineUpTree(s, j, t, rank, j.segmentBytes(segment))
	}
}

// inOrderReduce goes up a binary tree to the last rank, and from there to the root.
func inOrderReduce(segment int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		up := j
		up.Root = 0 // ranks are their own numbers
		combineUpTree(s, up, inOrderTree{}, rank, j.segmentBytes(segment))
		switch last := j.Ranks - 1; {
		case j.Root == last:
		case rank == last:
			s.send(j.Root, j.wholeData(Out))
		case rank == j.Root:
			s.recv(last, j.wholeData(Out))
		}
	}
}

// combineUpTree combines the data of a rank with that of the ranks below it, and sends the result
// to its parent. Data of a child precedes that of the rank and of later children. Tmp has two
// buffers for segments.
func combineUpTree(s *Script, j Job, t tree, rank, segment int) {
	at := floorMod(rank-j.Root, j.Ranks)
	to, last := t.parent(at, j.Ranks), childCount(t, at, j.Ranks)-1
	if to != NoRank {
		to = floorMod(j.Root+to, j.Ranks)
	}
	n, own := j.divideSpan(j.wholeData(In), segment)
	_, result := j.divideSpan(j.wholeData(Out), segment)
	if last < 0 {
		for i := range n {
			if to == NoRank {
				s.addLocalStep(Copy, own(i), result(i))
			} else {
				s.send(to, own(i))
			}
		}
		return
	}
	into := func(i, child int) Span { // the last child is first
		if child == last {
			return result(i)
		}
		return Span{Tmp, child % 2 * segment, result(i).Bytes}
	}
	from := func(child int) int { return floorMod(j.Root+t.child(at, j.Ranks, child), j.Ranks) }
	s.recv(from(last), into(0, last))
	for i := range n {
		for child := last; child >= 0; child-- {
			nextSegment, next := i, child-1
			if child == 0 {
				nextSegment, next = i+1, last
			}
			if nextSegment < n {
				s.post(NoRank, Span{}, from(next), into(nextSegment, next))
			}
			if child == last {
				s.combine(own(i), result(i), false)
			} else {
				s.combine(into(i, child), result(i), true)
			}
			if child == 0 && to != NoRank {
				s.send(to, result(i))
			}
			if nextSegment < n {
				s.wait()
			}
		}
	}
}
