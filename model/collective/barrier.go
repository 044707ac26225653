package collective

var barriers = []*Algorithm{
	{Operation: Barrier, Name: "linear", schedule: linearBarrier},
	{Operation: Barrier, Name: "binomial", schedule: binomialBarrier},
	{Operation: Barrier, Name: "dissemination", schedule: disseminationBarrier},
	{Operation: Barrier, Name: "two-level", TwoLevel: true, schedule: twoLevelBarrier},
}

// linearBarrier lets all ranks tell rank 0, which tells all of them when it has heard of the last.
func linearBarrier(s *Script, j Job, rank int) {
	if rank != 0 {
		s.send(0, Span{})
		s.recv(0, Span{})
		return
	}
	for other := 1; other < j.Ranks; other++ {
		s.recv(other, Span{})
	}
	for other := 1; other < j.Ranks; other++ {
		s.send(other, Span{})
	}
}

// binomialBarrier goes up a binomial tree to rank 0 and down again.
func binomialBarrier(s *Script, j Job, rank int) {
	mask := 1
	for ; mask < j.Ranks && rank&mask == 0; mask <<= 1 {
		if child := rank | mask; child < j.Ranks {
			s.recv(child, Span{})
		}
	}
	if rank != 0 {
		s.send(rank^mask, Span{})
		s.recv(rank^mask, Span{})
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if child := rank | mask; child < j.Ranks {
			s.send(child, Span{})
		}
	}
}

// disseminationBarrier notifies the rank 1, 2, 4 … further on, and waits for the rank as far back.
// After ⌈log2 p⌉ rounds each rank has been notified, directly or indirectly, by all others.
// Hensgen, Finkel and Manber 1988.
func disseminationBarrier(s *Script, j Job, rank int) {
	for far := 1; far < j.Ranks; far *= 2 {
		s.exchange(mod(rank+far, j.Ranks), Span{}, mod(rank-far, j.Ranks), Span{})
	}
}

// twoLevelBarrier synchronizes the leaders when all ranks of their nodes have entered.
func twoLevelBarrier(s *Script, j Job, rank int) {
	inside, between := j.both(s, rank)
	nothing := func(int, int) Span { return Span{} }
	inside.do(j, func(s *Script, j Job, at int) { binomialUp(s, j, at, nothing, nil) })
	between.do(j, disseminationBarrier)
	inside.do(j, func(s *Script, j Job, at int) { binomialDown(s, j, at, nothing) })
}
