package collective

var reduceScatters = []*Algorithm{
	{Operation: ReduceScatter, Name: "reduce-then-scatter", schedule: reduceThenScatter},
	{Operation: ReduceScatter, Name: "pairwise", Disorders: true, schedule: pairwiseReduceScatter},
	{Operation: ReduceScatter, Name: "recursive-halving", Disorders: true, PowerOfTwo: true, schedule: halvingReduceScatter},
}

// reduceThenScatter combines all at rank 0 and sends each rank its block. What is combined lies in Tmp, and so does what comes from others.
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

// pairwiseReduceScatter sends each rank its block, and combines what comes.
func pairwiseReduceScatter(s *Script, j Job, rank int) {
	s.local(Copy, j.block(In, rank), j.whole(Out))
	for i := 1; i < j.Ranks; i++ {
		to, from := mod(rank+i, j.Ranks), mod(rank-i, j.Ranks)
		s.exchange(to, j.block(In, to), from, j.whole(Tmp))
		s.fold(j.whole(Tmp), j.whole(Out), from < rank)
	}
}

// halvingReduceScatter halves in each round the blocks that a rank has.
func halvingReduceScatter(s *Script, j Job, rank int) {
	n := j.Ranks * j.Bytes
	s.local(Copy, Span{In, 0, n}, Span{Tmp, 0, n})
	halving(s, powerOf(j.Ranks), rank,
		func(from, to int) Span { return Span{Tmp, from * j.Bytes, (to - from) * j.Bytes} },
		func(from, to int) Span { return Span{Tmp, n + from*j.Bytes, (to - from) * j.Bytes} })
	s.local(Copy, j.block(Tmp, rank), j.whole(Out))
}
