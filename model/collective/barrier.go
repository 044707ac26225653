package collective

var barriers = []*Algorithm{
	{Operation: Barrier, Name: "linear", writeSchedule: linearBarrier},
	{Operation: Barrier, Name: "binomial", writeSchedule: binomialBarrier},
	{Operation: Barrier, Name: "dissemination", writeSchedule: disseminationBarrier},
	{Operation: Barrier, Name: "two-level", NeedsNodes: true, writeSchedule: twoLevelBarrier},
}

// linearBarrier makes all ranks notify rank 0, which then notifies all of them.
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

// disseminationBarrier notifies the rank at distance 1, 2, 4 … and waits for the rank at the
// negative distance. After ⌈log2 p⌉ rounds each rank has been notified, directly or indirectly, by
// all others. Hensgen, Finkel and Manber 1988.
func disseminationBarrier(s *Script, j Job, rank int) {
	for far := 1; far < j.Ranks; far *= 2 {
		s.exchange(floorMod(rank+far, j.Ranks), Span{}, floorMod(rank-far, j.Ranks), Span{})
	}
}

// twoLevelBarrier synchronizes the leaders after all ranks of their nodes have entered.
func twoLevelBarrier(s *Script, j Job, rank int) {
	inside, between := j.nodeAndLeaderLevels(s, rank)
	nothing := func(int, int) Span { return Span{} }
	inside.addSteps(j, func(s *Script, j Job, at int) { collectOnBinomialTree(s, j, at, nothing, nil) })
	between.addSteps(j, disseminationBarrier)
	inside.addSteps(j, func(s *Script, j Job, at int) { distributeOnBinomialTree(s, j, at, nothing) })
}

// radixDisseminationBarrier notifies radix − 1 ranks in each round, and waits for as many.
func radixDisseminationBarrier(radix int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		for far := 1; far < j.Ranks; far *= radix {
			for i := 1; i < radix && i*far < j.Ranks; i++ {
				s.post(NoRank, Span{}, floorMod(rank-i*far, j.Ranks), Span{})
				s.post(floorMod(rank+i*far, j.Ranks), Span{}, NoRank, Span{})
			}
			s.wait()
		}
	}
}

// doubleRingBarrier passes a notification around a ring of all ranks twice.
func doubleRingBarrier(s *Script, j Job, rank int) {
	next, before := floorMod(rank+1, j.Ranks), floorMod(rank-1, j.Ranks)
	for range 2 {
		switch {
		case j.Ranks == 1:
		case rank == 0:
			s.send(next, Span{})
			s.recv(before, Span{})
		default:
			s.recv(before, Span{})
			s.send(next, Span{})
		}
	}
}

// doublingBarrier makes ranks notify the rank at distance 1, 2, 4 … Ranks beyond a power of two
// first notify one of the others, and are notified by it at the end.
func doublingBarrier(s *Script, j Job, rank int) {
	power := newPowerOfTwoRanks(j.Ranks).ranks
	if rank >= power {
		s.exchange(rank-power, Span{}, rank-power, Span{})
		return
	}
	beyond := rank+power < j.Ranks
	if beyond {
		s.recv(rank+power, Span{})
	}
	for far := 1; far < power; far *= 2 {
		s.exchange(rank^far, Span{}, rank^far, Span{})
	}
	if beyond {
		s.send(rank+power, Span{})
	}
}
