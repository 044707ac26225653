package collective

var allreduces = []*Algorithm{
	{Operation: Allreduce, Name: "reduce-bcast", schedule: reduceBcast},
	{Operation: Allreduce, Name: "recursive-doubling", schedule: doublingAllreduce},
	{Operation: Allreduce, Name: "ring", NeedsCommutative: true, schedule: ringAllreduce},
	{Operation: Allreduce, Name: "scatter-allgather", NeedsCommutative: true, schedule: scatterAllgatherAllreduce},
	{Operation: Allreduce, Name: "two-level", NeedsCommutative: true, TwoLevel: true, schedule: twoLevelAllreduce(doublingAllreduce, binomialBcast)},
	{Operation: Allreduce, Name: "two-level-scatter", NeedsCommutative: true, TwoLevel: true, schedule: twoLevelAllreduce(scatterAllgatherAllreduce, scatterAllgatherBcast)},
}

func reduceBcast(s *Script, j Job, rank int) {
	j.Root = 0
	binomialReduce(s, j, rank)
	binomialBcast(s, j, rank)
}

// doublingAllreduce exchanges all with the rank 1, 2, 4 … away and combines.
func doublingAllreduce(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	p := powerOf(j.Ranks)
	if at := p.begin(s, j, rank); at != None {
		for far := 1; far < p.ranks; far *= 2 {
			other := p.rank(at ^ far)
			s.exchange(other, j.whole(Out), other, j.whole(Tmp))
			s.fold(j.whole(Tmp), j.whole(Out), at&far != 0)
		}
	}
	p.end(s, j, rank)
}

// power is as many of a job's ranks as are a power of two, for what needs one. Of the first 2·more
// ranks, the odd ones take part for their neighbours.
type power struct{ ranks, more int }

// powerOf returns the largest power of two of so many ranks.
func powerOf(ranks int) power {
	p := 1
	for 2*p <= ranks {
		p *= 2
	}
	return power{p, ranks - p}
}

// rank returns which rank of the job number i is.
func (p power) rank(i int) int {
	if i < p.more {
		return 2*i + 1
	}
	return i + p.more
}

// begin lets those that take no part give their data in Out to their neighbours, who combine it
// with theirs. It returns the number of a rank, or None.
func (p power) begin(s *Script, j Job, rank int) int {
	switch {
	case rank >= 2*p.more:
		return rank - p.more
	case rank%2 == 0:
		s.send(rank+1, j.whole(Out))
		return None
	}
	s.recv(rank-1, j.whole(Tmp))
	s.fold(j.whole(Tmp), j.whole(Out), true)
	return rank / 2
}

// end brings them the result.
func (p power) end(s *Script, j Job, rank int) {
	switch {
	case rank >= 2*p.more:
	case rank%2 == 0:
		s.recv(rank+1, j.whole(Out))
	default:
		s.send(rank-1, j.whole(Out))
	}
}

// ringAllreduce sends parts of the data around a ring twice: combined on the way first, and then as
// they are. Patarasuk and Yuan 2009.
func ringAllreduce(s *Script, j Job, rank int) {
	begin := j.blocks()
	part := func(a Area, i int) Span { i = mod(i, j.Ranks); return span(a, begin, i, i+1) }
	s.local(Copy, j.whole(In), j.whole(Out))
	next, before := mod(rank+1, j.Ranks), mod(rank-1, j.Ranks)
	for i := range j.Ranks - 1 {
		s.exchange(next, part(Out, rank-i), before, part(Tmp, rank-i-1))
		s.fold(part(Tmp, rank-i-1), part(Out, rank-i-1), true)
	}
	ring(s, j.Ranks, rank, mod(rank+1, j.Ranks), func(i int) Span { return part(Out, i) })
}

// scatterAllgatherAllreduce leaves each rank a combined part by recursive halving, and brings the
// parts together by recursive doubling. Rabenseifner 2004.
func scatterAllgatherAllreduce(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	p := powerOf(j.Ranks)
	if at := p.begin(s, j, rank); at != None {
		few := Job{Ranks: p.ranks, Bytes: j.Bytes, Unit: j.Unit}
		begin := few.blocks()
		halving(s, p, at, spans(Out, begin), spans(Tmp, begin))
		doubling(s, p, at, spans(Out, begin))
	}
	p.end(s, j, rank)
}

// twoLevelAllreduce combines within the nodes, then lets leaders do so among themselves, and brings
// the result to all of their nodes.
func twoLevelAllreduce(between, down schedule) schedule {
	return func(s *Script, j Job, rank int) {
		nodes, leaders := j.both(s, rank)
		nodes.do(j, binomialReduce)
		leaders.do(j, inPlace(between))
		nodes.do(j, down)
	}
}
