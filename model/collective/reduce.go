package collective

var reduces = []*Algorithm{
	{Operation: Reduce, Name: "linear", schedule: linearReduce},
	{Operation: Reduce, Name: "binomial", schedule: binomialReduce},
	{Operation: Reduce, Name: "scatter-gather", NeedsCommutative: true, PowerOfTwo: true, schedule: scatterGatherReduce},
	{Operation: Reduce, Name: "two-level", NeedsCommutative: true, TwoLevel: true, schedule: twoLevelReduce},
}

// linearReduce receives at the root from each rank in turn, beginning with the last, and combines
// the data of each with that of the ranks after it.
func linearReduce(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.send(j.Root, j.whole(In))
		return
	}
	for i := j.Ranks - 1; i >= 0; i-- {
		from := j.whole(In)
		if i != rank {
			from = j.whole(Tmp)
			if i == j.Ranks-1 {
				from = j.whole(Out)
			}
			s.recv(i, from)
		}
		switch {
		case i < j.Ranks-1:
			s.fold(from, j.whole(Out), true)
		case i == rank:
			s.local(Copy, from, j.whole(Out))
		}
	}
}

// binomialReduce goes up a binomial tree to rank 0, and from there to the root. In a tree to rank 0
// the ranks of a subtree are consecutive.
func binomialReduce(s *Script, j Job, rank int) {
	up := j
	up.Root = 0
	s.local(Copy, j.whole(In), j.whole(Out))
	binomialUp(s, up, rank, func(from, _ int) Span {
		if from > 0 {
			return j.whole(Tmp)
		}
		return j.whole(Out)
	}, func(child Span) { s.fold(child, j.whole(Out), false) })
	if j.Root == 0 {
		return
	}
	switch rank {
	case 0:
		s.send(j.Root, j.whole(Out))
	case j.Root:
		s.recv(0, j.whole(Out))
	}
}

// scatterGatherReduce combines a part of the data at each rank by recursive halving, and gathers
// the parts. Rabenseifner 2004.
func scatterGatherReduce(s *Script, j Job, rank int) {
	begin := j.blocks()
	s.local(Copy, j.whole(In), j.whole(Out))
	halving(s, powerOf(j.Ranks), rank, spans(Out, begin), spans(Tmp, begin))
	// Rank i has part i, so the partners in the tree to the root differ from the rank in one bit.
	for far := 1; far < j.Ranks; far *= 2 {
		at := rank ^ j.Root
		if at&(far-1) != 0 {
			break
		}
		mine := rank &^ (far - 1)
		other := mine ^ far
		if at&far != 0 {
			s.send(rank^far, span(Out, begin, mine, mine+far))
			break
		}
		s.recv(rank^far, span(Out, begin, other, other+far))
	}
}

// halving lets a power of two of ranks exchange half of their remaining parts with the rank … 4, 2,
// 1 away, and combine them. At the end rank number at has part at of the result. mine returns where
// a rank has its parts, theirs where it receives those of others.
func halving(s *Script, p power, at int, mine, theirs func(from, to int) Span) {
	for far := p.ranks / 2; far >= 1; far /= 2 {
		keep := at &^ (far - 1)
		give := keep ^ far
		other := p.rank(at ^ far)
		s.exchange(other, mine(give, give+far), other, theirs(keep, keep+far))
		s.fold(theirs(keep, keep+far), mine(keep, keep+far), at&far != 0)
	}
}

// twoLevelReduce combines within the nodes, and then between their leaders.
func twoLevelReduce(s *Script, j Job, rank int) {
	inside, between := j.both(s, rank)
	inside.do(j, binomialReduce)
	between.do(j, inPlace(binomialReduce))
}

var reduceScatters = []*Algorithm{
	{Operation: ReduceScatter, Name: "reduce-then-scatter", schedule: reduceThenScatter},
	{Operation: ReduceScatter, Name: "pairwise", NeedsCommutative: true, schedule: pairwiseReduceScatter},
	{Operation: ReduceScatter, Name: "recursive-halving", NeedsCommutative: true, PowerOfTwo: true, schedule: halvingReduceScatter},
}

// reduceThenScatter combines all data at rank 0 and sends each rank its block. Tmp has the combined
// data, then a buffer to receive.
func reduceThenScatter(s *Script, j Job, rank int) {
	n := j.Ranks * j.Bytes
	j.Root = 0
	s.local(Copy, Span{In, 0, n}, Span{Tmp, 0, n})
	binomialUp(s, j, rank, func(from, _ int) Span {
		if from > 0 {
			return Span{Tmp, n, n}
		}
		return Span{Tmp, 0, n}
	}, func(child Span) { s.fold(child, Span{Tmp, 0, n}, false) })
	binomialDown(s, j, rank, func(from, to int) Span { return Span{Tmp, (from - rank) * j.Bytes, (to - from) * j.Bytes} })
	s.local(Copy, Span{Tmp, 0, j.Bytes}, j.whole(Out))
}

// pairwiseReduceScatter sends each rank its block, and combines the blocks that it receives.
func pairwiseReduceScatter(s *Script, j Job, rank int) {
	s.local(Copy, j.block(In, rank), j.whole(Out))
	for i := 1; i < j.Ranks; i++ {
		to, from := mod(rank+i, j.Ranks), mod(rank-i, j.Ranks)
		s.exchange(to, j.block(In, to), from, j.whole(Tmp))
		s.fold(j.whole(Tmp), j.whole(Out), from < rank)
	}
}

// ringReduceScatter passes the blocks around a ring, each to the rank that it is for, and combines
// them on their way. Tmp has the block to send, then a buffer to receive.
func ringReduceScatter(s *Script, j Job, rank int) {
	own := func(i int) Span { return j.block(In, mod(rank-1-i, j.Ranks)) }
	into := func(i int) Span { return Span{Tmp, i % 2 * j.Bytes, j.Bytes} }
	what := own(0)
	for i := 1; i < j.Ranks; i++ {
		s.exchange(mod(rank+1, j.Ranks), what, mod(rank-1, j.Ranks), into(i))
		s.fold(own(i), into(i), false)
		what = into(i)
	}
	s.local(Copy, what, j.whole(Out))
}

// halvingReduceScatter halves the number of blocks that a rank still combines in each round.
func halvingReduceScatter(s *Script, j Job, rank int) {
	n := j.Ranks * j.Bytes
	s.local(Copy, Span{In, 0, n}, Span{Tmp, 0, n})
	halving(s, powerOf(j.Ranks), rank,
		func(from, to int) Span { return Span{Tmp, from * j.Bytes, (to - from) * j.Bytes} },
		func(from, to int) Span { return Span{Tmp, n + from*j.Bytes, (to - from) * j.Bytes} })
	s.local(Copy, j.block(Tmp, rank), j.whole(Out))
}

var scans = []*Algorithm{
	{Operation: Scan, Name: "linear", schedule: linearScan},
	{Operation: Scan, Name: "recursive-doubling", schedule: doublingScan},
}

// linearScan passes the combined data from rank to rank.
func linearScan(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	if rank > 0 {
		s.recv(rank-1, j.whole(Tmp))
		s.fold(j.whole(Tmp), j.whole(Out), true)
	}
	if rank+1 < j.Ranks {
		s.send(rank+1, j.whole(Out))
	}
}

// doublingScan receives from the rank 1, 2, 4 … before it the combined data of as many ranks.
// Hillis and Steele 1986.
func doublingScan(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	for far := 1; far < j.Ranks; far *= 2 {
		to, from := None, None
		var what, into Span
		if rank+far < j.Ranks {
			to, what = rank+far, j.whole(Out)
		}
		if rank-far >= 0 {
			from, into = rank-far, j.whole(Tmp)
		}
		if to != None || from != None {
			s.exchange(to, what, from, into)
		}
		if from != None {
			s.fold(j.whole(Tmp), j.whole(Out), true)
		}
	}
}
