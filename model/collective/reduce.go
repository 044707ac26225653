package collective

var reduces = []*Algorithm{
	{Operation: Reduce, Name: "linear", writeSchedule: linearReduce},
	{Operation: Reduce, Name: "binomial", writeSchedule: binomialReduce},
	{Operation: Reduce, Name: "scatter-gather", NeedsCommutative: true, NeedsPowerOfTwo: true, writeSchedule: scatterGatherReduce},
	{Operation: Reduce, Name: "two-level", NeedsCommutative: true, NeedsNodes: true, writeSchedule: twoLevelReduce},
}

// linearReduce receives at the root from one rank after another, starting with the last, and
// combines the data of each with that of the later ranks.
func linearReduce(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.send(j.Root, j.wholeData(In))
		return
	}
	for i := j.Ranks - 1; i >= 0; i-- {
		from := j.wholeData(In)
		if i != rank {
			from = j.wholeData(Tmp)
			if i == j.Ranks-1 {
				from = j.wholeData(Out)
			}
			s.recv(i, from)
		}
		switch {
		case i < j.Ranks-1:
			s.combine(from, j.wholeData(Out), true)
		case i == rank:
			s.addLocalStep(Copy, from, j.wholeData(Out))
		}
	}
}

// binomialReduce goes up a binomial tree to rank 0, and from there to the root. In a tree to rank 0
// the ranks of a subtree are consecutive.
func binomialReduce(s *Script, j Job, rank int) {
	up := j
	up.Root = 0
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	collectOnBinomialTree(s, up, rank, func(from, _ int) Span {
		if from > 0 {
			return j.wholeData(Tmp)
		}
		return j.wholeData(Out)
	}, func(child Span) { s.combine(child, j.wholeData(Out), false) })
	if j.Root == 0 {
		return
	}
	switch rank {
	case 0:
		s.send(j.Root, j.wholeData(Out))
	case j.Root:
		s.recv(0, j.wholeData(Out))
	}
}

// scatterGatherReduce combines a part of the data at each rank by recursive halving, and gathers
// the parts. Rabenseifner 2004.
func scatterGatherReduce(s *Script, j Job, rank int) {
	begin := j.partBegins()
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	combineByHalving(s, newPowerOfTwoRanks(j.Ranks), rank, spanOfBlocks(Out, begin), spanOfBlocks(Tmp, begin))
	// Rank i has part i, so the partners in the tree to the root differ from the rank in one bit.
	for far := 1; far < j.Ranks; far *= 2 {
		at := rank ^ j.Root
		if at&(far-1) != 0 {
			break
		}
		mine := rank &^ (far - 1)
		other := mine ^ far
		if at&far != 0 {
			s.send(rank^far, blockSpan(Out, begin, mine, mine+far))
			break
		}
		s.recv(rank^far, blockSpan(Out, begin, other, other+far))
	}
}

// combineByHalving makes a power of two of ranks exchange half of their remaining parts with the
// rank at distance … 4, 2, 1 and combine them. At the end the rank with number at has part at of
// the result. mine returns the location of a rank's own parts, theirs the location of received
// ones.
func combineByHalving(s *Script, p powerOfTwoRanks, at int, mine, theirs func(from, to int) Span) {
	for far := p.ranks / 2; far >= 1; far /= 2 {
		keep := at &^ (far - 1)
		give := keep ^ far
		other := p.rankOf(at ^ far)
		s.exchange(other, mine(give, give+far), other, theirs(keep, keep+far))
		s.combine(theirs(keep, keep+far), mine(keep, keep+far), at&far != 0)
	}
}

// twoLevelReduce combines within nodes, and then between their leaders.
func twoLevelReduce(s *Script, j Job, rank int) {
	inside, between := j.nodeAndLeaderLevels(s, rank)
	inside.addSteps(j, binomialReduce)
	between.addSteps(j, withInputInOut(binomialReduce))
}

var reduceScatters = []*Algorithm{
	{Operation: ReduceScatter, Name: "reduce-then-scatter", writeSchedule: reduceThenScatter},
	{Operation: ReduceScatter, Name: "pairwise", NeedsCommutative: true, writeSchedule: pairwiseReduceScatter},
	{Operation: ReduceScatter, Name: "recursive-halving", NeedsCommutative: true, NeedsPowerOfTwo: true, writeSchedule: halvingReduceScatter},
}

// reduceThenScatter combines all data at rank 0 and sends each rank its block. Tmp has the combined
// data, then a receive buffer.
func reduceThenScatter(s *Script, j Job, rank int) {
	n := j.Ranks * j.Bytes
	j.Root = 0
	s.addLocalStep(Copy, Span{In, 0, n}, Span{Tmp, 0, n})
	collectOnBinomialTree(s, j, rank, func(from, _ int) Span {
		if from > 0 {
			return Span{Tmp, n, n}
		}
		return Span{Tmp, 0, n}
	}, func(child Span) { s.combine(child, Span{Tmp, 0, n}, false) })
	distributeOnBinomialTree(s, j, rank, func(from, to int) Span { return Span{Tmp, (from - rank) * j.Bytes, (to - from) * j.Bytes} })
	s.addLocalStep(Copy, Span{Tmp, 0, j.Bytes}, j.wholeData(Out))
}

// pairwiseReduceScatter sends each rank its block, and combines the received blocks.
func pairwiseReduceScatter(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.block(In, rank), j.wholeData(Out))
	for i := 1; i < j.Ranks; i++ {
		to, from := floorMod(rank+i, j.Ranks), floorMod(rank-i, j.Ranks)
		s.exchange(to, j.block(In, to), from, j.wholeData(Tmp))
		s.combine(j.wholeData(Tmp), j.wholeData(Out), from < rank)
	}
}

// ringReduceScatter passes each block around a ring to its destination, and combines it on the way.
// Tmp has the block to send, then a receive buffer.
func ringReduceScatter(s *Script, j Job, rank int) {
	own := func(i int) Span { return j.block(In, floorMod(rank-1-i, j.Ranks)) }
	into := func(i int) Span { return Span{Tmp, i % 2 * j.Bytes, j.Bytes} }
	what := own(0)
	for i := 1; i < j.Ranks; i++ {
		s.exchange(floorMod(rank+1, j.Ranks), what, floorMod(rank-1, j.Ranks), into(i))
		s.combine(own(i), into(i), false)
		what = into(i)
	}
	s.addLocalStep(Copy, what, j.wholeData(Out))
}

// halvingReduceScatter halves the number of blocks that a rank still combines in each round.
func halvingReduceScatter(s *Script, j Job, rank int) {
	n := j.Ranks * j.Bytes
	s.addLocalStep(Copy, Span{In, 0, n}, Span{Tmp, 0, n})
	combineByHalving(s, newPowerOfTwoRanks(j.Ranks), rank,
		func(from, to int) Span { return Span{Tmp, from * j.Bytes, (to - from) * j.Bytes} },
		func(from, to int) Span { return Span{Tmp, n + from*j.Bytes, (to - from) * j.Bytes} })
	s.addLocalStep(Copy, j.block(Tmp, rank), j.wholeData(Out))
}

var scans = []*Algorithm{
	{Operation: Scan, Name: "linear", writeSchedule: linearScan},
	{Operation: Scan, Name: "recursive-doubling", writeSchedule: doublingScan},
}

// linearScan passes the combined data from rank to rank.
func linearScan(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	if rank > 0 {
		s.recv(rank-1, j.wholeData(Tmp))
		s.combine(j.wholeData(Tmp), j.wholeData(Out), true)
	}
	if rank+1 < j.Ranks {
		s.send(rank+1, j.wholeData(Out))
	}
}

// doublingScan receives the combined data of 1, 2, 4 … ranks from the rank at that distance before
// it. Hillis and Steele 1986.
func doublingScan(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	for far := 1; far < j.Ranks; far *= 2 {
		to, from := NoRank, NoRank
		var what, into Span
		if rank+far < j.Ranks {
			to, what = rank+far, j.wholeData(Out)
		}
		if rank-far >= 0 {
			from, into = rank-far, j.wholeData(Tmp)
		}
		if to != NoRank || from != NoRank {
			s.exchange(to, what, from, into)
		}
		if from != NoRank {
			s.combine(j.wholeData(Tmp), j.wholeData(Out), true)
		}
	}
}
