package collective

var allreduces = []*Algorithm{
	{Operation: Allreduce, Name: "reduce-bcast", schedule: reduceBcast},
	{Operation: Allreduce, Name: "recursive-doubling", schedule: doublingAllreduce},
	{Operation: Allreduce, Name: "ring", Disorders: true, schedule: ringAllreduce},
	{Operation: Allreduce, Name: "scatter-allgather", Disorders: true, schedule: scatterAllgatherAllreduce},
}

func reduceBcast(s *script, j Job, rank int) {
	j.Root = 0
	binomialReduce(s, j, rank)
	binomialBcast(s, j, rank)
}

// doublingAllreduce exchanges all with the rank 1, 2, 4 … away and combines.
func doublingAllreduce(s *script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	amongPower(s, j, rank, func(ranks, at int, real func(i int) int) {
		for far := 1; far < ranks; far *= 2 {
			other := real(at ^ far)
			s.exchange(other, j.whole(Out), other, j.whole(Tmp))
			s.fold(j.whole(Tmp), j.whole(Out), at&far != 0)
		}
	})
}

// amongPower lets a power of two of ranks do what needs one. Those beyond it give their data to a neighbour before, and get the result
// after: of the first 2·more ranks, the odd ones take part for both.
func amongPower(s *script, j Job, rank int, do func(ranks, at int, real func(i int) int)) {
	ranks := below(j.Ranks)
	more := j.Ranks - ranks
	real := func(i int) int {
		if i < more {
			return 2*i + 1
		}
		return i + more
	}
	switch {
	case rank >= 2*more:
		do(ranks, rank-more, real)
	case rank%2 == 0:
		s.send(rank+1, j.whole(Out))
		s.recv(rank+1, j.whole(Out))
	default:
		s.recv(rank-1, j.whole(Tmp))
		s.fold(j.whole(Tmp), j.whole(Out), true)
		do(ranks, rank/2, real)
		s.send(rank-1, j.whole(Out))
	}
}

// ringAllreduce sends parts of the data around a ring twice: combined on the way first, and then as they are. Patarasuk and Yuan 2009.
func ringAllreduce(s *script, j Job, rank int) {
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

// scatterAllgatherAllreduce leaves each rank a combined part by recursive halving, and brings the parts together by recursive doubling. Rabenseifner 2004.
func scatterAllgatherAllreduce(s *script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	amongPower(s, j, rank, func(ranks, at int, real func(i int) int) {
		few := Job{Ranks: ranks, Bytes: j.Bytes, Unit: j.Unit}
		begin := few.blocks()
		halving(s, ranks, at, real, spans(Out, begin), spans(Tmp, begin))
		doubling(s, ranks, at, real, spans(Out, begin))
	})
}
