package collective

var scatters = []*Algorithm{
	{Operation: Scatter, Name: "linear", writeSchedule: linearScatter},
	{Operation: Scatter, Name: "binomial", writeSchedule: binomialScatter},
	{Operation: Scatter, Name: "two-level", NeedsNodes: true, writeSchedule: twoLevelScatter},
}

// linearScatter sends from the root to one rank after another.
func linearScatter(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.recv(j.Root, j.wholeData(Out))
		return
	}
	s.addLocalStep(Copy, j.block(In, rank), j.wholeData(Out))
	for i := 1; i < j.Ranks; i++ {
		to := floorMod(j.Root+i, j.Ranks)
		s.send(to, j.block(In, to))
	}
}

// postedScatter posts sends from the root to all ranks, and waits for them.
func postedScatter(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.recv(j.Root, j.wholeData(Out))
		return
	}
	for i := 1; i < j.Ranks; i++ {
		to := floorMod(j.Root+i, j.Ranks)
		s.post(to, j.block(In, to), NoRank, Span{})
	}
	s.addLocalStep(Copy, j.block(In, rank), j.wholeData(Out))
	s.wait()
}

// binomialScatter halves the data in each round. Blocks are sent in the order of ranks from the
// root on, so the root first rotates them.
func binomialScatter(s *Script, j Job, rank int) {
	at := floorMod(rank-j.Root, j.Ranks)
	area := Tmp
	switch {
	case at == 0 && j.Root == 0:
		area = In
	case at == 0:
		rotateBlocks(s, j, In, Tmp, j.Root)
	}
	distributeOnBinomialTree(s, j, rank, func(from, to int) Span { return Span{area, (from - at) * j.Bytes, (to - from) * j.Bytes} })
	s.addLocalStep(Copy, Span{area, 0, j.Bytes}, j.wholeData(Out))
}

// rotateBlocks copies the blocks of an area to another so that block first comes first.
func rotateBlocks(s *Script, j Job, from, to Area, first int) {
	n := (j.Ranks - first) * j.Bytes
	s.addLocalStep(Copy, Span{from, first * j.Bytes, n}, Span{to, 0, n})
	s.addLocalStep(Copy, Span{from, 0, first * j.Bytes}, Span{to, n, first * j.Bytes})
}

// twoLevelScatter scatters among leaders, and then within nodes. Blocks are sent in the order of
// nodes, and of ranks within a node.
func twoLevelScatter(s *Script, j Job, rank int) {
	area, l := Tmp, j.twoLevelJob()
	switch {
	case rank != j.Root:
	case l.isInRankOrder():
		area = In
	default:
		l.forEachRun(func(rank, at, n int) {
			s.addLocalStep(Copy, Span{In, rank * j.Bytes, n * j.Bytes}, Span{Tmp, at * j.Bytes, n * j.Bytes})
		})
	}
	inside, between := j.nodeAndLeaderLevels(s, rank)
	between.addSteps(j, func(s *Script, leaders Job, at int) {
		distributeOnBinomialTree(s, leaders, at, l.blocksOfNodes(area, at))
	})
	inside.addSteps(j, func(s *Script, node Job, at int) {
		distributeOnBinomialTree(s, node, at, func(from, to int) Span { return Span{area, (from - at) * j.Bytes, (to - from) * j.Bytes} })
	})
	s.addLocalStep(Copy, Span{area, 0, j.Bytes}, j.wholeData(Out))
}

var gathers = []*Algorithm{
	{Operation: Gather, Name: "linear", writeSchedule: linearGather},
	{Operation: Gather, Name: "binomial", writeSchedule: binomialGather},
	{Operation: Gather, Name: "two-level", NeedsNodes: true, writeSchedule: twoLevelGather},
}

// linearGather receives at the root from one rank after another.
func linearGather(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.send(j.Root, j.wholeData(In))
		return
	}
	s.addLocalStep(Copy, j.wholeData(In), j.block(Out, rank))
	for i := 1; i < j.Ranks; i++ {
		from := floorMod(j.Root+i, j.Ranks)
		s.recv(from, j.block(Out, from))
	}
}

// synchronizedGather makes the root tell one rank after another to send. A rank then sends its
// first segment, and the rest of its data, for which the root does not wait before it tells the
// next rank.
func synchronizedGather(segment int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		first := j.Bytes
		if segment > 0 {
			first = min(j.segmentBytes(segment), j.Bytes)
		}
		if rank != j.Root {
			s.recv(j.Root, Span{})
			s.send(j.Root, Span{In, 0, first})
			if first < j.Bytes {
				s.send(j.Root, Span{In, first, j.Bytes - first})
			}
			return
		}
		s.addLocalStep(Copy, j.wholeData(In), j.block(Out, rank))
		for i := 1; i < j.Ranks; i++ {
			from := floorMod(j.Root+i, j.Ranks)
			into := j.block(Out, from)
			s.exchange(from, Span{}, from, Span{Out, into.Offset, first})
			if first < j.Bytes {
				s.post(NoRank, Span{}, from, Span{Out, into.Offset + first, j.Bytes - first})
			}
		}
		s.wait()
	}
}

// binomialGather doubles the data in each round. Blocks are sent in the order of ranks from the
// root on, so the root rotates them at the end.
func binomialGather(s *Script, j Job, rank int) {
	area := Tmp
	if rank == j.Root && j.Root == 0 {
		area = Out
	}
	s.addLocalStep(Copy, j.wholeData(In), Span{area, 0, j.Bytes})
	collectOnBinomialTree(s, j, rank, func(from, to int) Span { return Span{area, from * j.Bytes, (to - from) * j.Bytes} }, nil)
	if rank == j.Root && area == Tmp {
		rotateBlocks(s, j, Tmp, Out, j.Ranks-j.Root)
	}
}

// collectOnBinomialTree collects data up a binomial tree at the root. A subtree is a range of
// ranks, counted from the root. part returns where a rank keeps the data of ranks [from, to),
// counted from itself. then, if not nil, is called after each part received from a child.
func collectOnBinomialTree(s *Script, j Job, rank int, part func(from, to int) Span, then func(child Span)) {
	at := floorMod(rank-j.Root, j.Ranks)
	mask := 1
	for ; mask < j.Ranks && at&mask == 0; mask <<= 1 {
		if at+mask < j.Ranks {
			child := part(mask, min(2*mask, j.Ranks-at))
			s.recv(floorMod(rank+mask, j.Ranks), child)
			if then != nil {
				then(child)
			}
		}
	}
	if at != 0 {
		s.send(floorMod(rank-mask, j.Ranks), part(0, min(mask, j.Ranks-at)))
	}
}

// twoLevelGather gathers within nodes, and then between their leaders. Blocks are sent in the order
// of nodes, and of ranks within a node.
func twoLevelGather(s *Script, j Job, rank int) {
	area, l := Tmp, j.twoLevelJob()
	if rank == j.Root && l.isInRankOrder() {
		area = Out
	}
	l.gatherAtLeader(s, rank, area, 0)
	l.leaderGroup(s, rank).addSteps(j, func(s *Script, leaders Job, at int) {
		part := l.blocksOfNodes(area, at)
		collectOnBinomialTree(s, leaders, at, func(from, to int) Span { return part(at+from, at+to) }, nil)
	})
	if rank == j.Root && area == Tmp {
		l.forEachRun(func(rank, at, n int) {
			s.addLocalStep(Copy, Span{Tmp, at * j.Bytes, n * j.Bytes}, Span{Out, rank * j.Bytes, n * j.Bytes})
		})
	}
}
