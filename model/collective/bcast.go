package collective

var bcasts = []*Algorithm{
	{Operation: Bcast, Name: "linear", writeSchedule: linearBcast},
	{Operation: Bcast, Name: "binomial", writeSchedule: binomialBcast},
	{Operation: Bcast, Name: "posted", writeSchedule: postedBcast},
	{Operation: Bcast, Name: "binomial-posted", writeSchedule: binomialPostedBcast},
	{Operation: Bcast, Name: "pipelined-1KiB", writeSchedule: pipelinedBcast(1 << 10)},
	{Operation: Bcast, Name: "pipelined-8KiB", writeSchedule: pipelinedBcast(8 << 10)},
	{Operation: Bcast, Name: "pipelined-64KiB", writeSchedule: pipelinedBcast(64 << 10)},
	{Operation: Bcast, Name: "scatter-allgather", writeSchedule: scatterAllgatherBcast},
	{Operation: Bcast, Name: "two-level", NeedsNodes: true, writeSchedule: twoLevelBcast(binomialBcast)},
	{Operation: Bcast, Name: "two-level-scatter", NeedsNodes: true, writeSchedule: twoLevelBcast(scatterAllgatherBcast)},
}

// linearBcast sends from the root to one rank after another.
func linearBcast(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.recv(j.Root, j.wholeData(Out))
		return
	}
	for i := 1; i < j.Ranks; i++ {
		s.send(floorMod(j.Root+i, j.Ranks), j.wholeData(Out))
	}
}

// binomialBcast doubles the number of ranks that have the data in each round.
func binomialBcast(s *Script, j Job, rank int) {
	distributeOnBinomialTree(s, j, rank, func(int, int) Span { return j.wholeData(Out) })
}

// distributeOnBinomialTree distributes data down a binomial tree from the root. A subtree is a
// range of ranks, counted from the root; part returns the part of the data for such a range.
func distributeOnBinomialTree(s *Script, j Job, rank int, part func(from, to int) Span) {
	at := floorMod(rank-j.Root, j.Ranks)
	mask := 1
	for ; mask < j.Ranks; mask <<= 1 {
		if at&mask != 0 {
			s.recv(floorMod(rank-mask, j.Ranks), part(at, min(at+mask, j.Ranks)))
			break
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if child := at + mask; child < j.Ranks {
			s.send(floorMod(rank+mask, j.Ranks), part(child, min(child+mask, j.Ranks)))
		}
	}
}

// postedBcast posts sends from the root to all ranks, and waits for them. LAM/MPI with few ranks.
func postedBcast(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.recv(j.Root, j.wholeData(Out))
		return
	}
	for i := 1; i < j.Ranks; i++ {
		s.post(floorMod(j.Root+i, j.Ranks), j.wholeData(Out), NoRank, Span{})
	}
	s.wait()
}

// binomialPostedBcast is a binomial tree in which a rank posts sends to all of its children, and
// waits for them. The parent of a rank is the rank without its highest bit, counted from the root,
// and the nearest child is first. LAM/MPI until 7.1.2.
func binomialPostedBcast(s *Script, j Job, rank int) {
	at := floorMod(rank-j.Root, j.Ranks)
	mask := 1
	for mask <= at {
		mask <<= 1
	}
	if at > 0 {
		s.recv(floorMod(j.Root+at-mask/2, j.Ranks), j.wholeData(Out))
	}
	if at+mask >= j.Ranks {
		return
	}
	for ; at+mask < j.Ranks; mask <<= 1 {
		s.post(floorMod(j.Root+at+mask, j.Ranks), j.wholeData(Out), NoRank, Span{})
	}
	s.wait()
}

// pipelinedBcast passes segments along a chain of all ranks. A rank receives a segment, forwards
// it, and then receives the next one.
func pipelinedBcast(segment int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		at := floorMod(rank-j.Root, j.Ranks)
		for from := 0; from < max(j.Bytes, 1); from += segment {
			part := Span{Out, from, min(segment, j.Bytes-from)}
			if at > 0 {
				s.recv(floorMod(rank-1, j.Ranks), part)
			}
			if at+1 < j.Ranks {
				s.send(floorMod(rank+1, j.Ranks), part)
			}
		}
	}
}

// scatterAllgatherBcast scatters the data by a binomial tree, and gathers the parts around a ring.
// Van de Geijn; Barnett et al. 1994.
func scatterAllgatherBcast(s *Script, j Job, rank int) {
	begin := j.partBegins()
	distributeOnBinomialTree(s, j, rank, func(from, to int) Span { return blockSpan(Out, begin, from, to) })
	at := floorMod(rank-j.Root, j.Ranks)
	passAroundRing(s, j.Ranks, rank, at, func(i int) Span { return blockSpan(Out, begin, i, i+1) })
}

// scatterDoublingBcast scatters the data by a binomial tree, and gathers the parts by recursive
// doubling. If the number of ranks is not a power of two, some ranks have no partner in a round.
// They receive the missing parts from ranks that have them, along a tree.
func scatterDoublingBcast(s *Script, j Job, rank int) {
	begin := j.partBegins()
	part := spanOfBlocks(Out, begin)
	distributeOnBinomialTree(s, j, rank, part)
	at := floorMod(rank-j.Root, j.Ranks)
	other := func(number int) int { return floorMod(j.Root+number, j.Ranks) }
	for far := 1; far < j.Ranks; far *= 2 {
		first := at &^ (2*far - 1) // first of the ranks that have each other's parts after the round
		upper, end := first+far, min(first+2*far, j.Ranks)
		if upper >= end {
			continue
		}
		switch partner := at ^ far; {
		case at >= upper:
			s.exchange(other(partner), part(upper, end), other(partner), part(first, upper))
		case partner < end:
			s.exchange(other(partner), part(first, upper), other(partner), part(upper, end))
		}
		for near := far / 2; near > 0 && at < upper; near /= 2 {
			had := at&^(2*near-1) + end - upper // number of earlier ranks among the next 2·near that have the parts
			switch partner := at ^ near; {
			case at < had && partner >= had:
				s.send(other(partner), part(upper, end))
			case at >= had && partner < had:
				s.recv(other(partner), part(upper, end))
			}
		}
	}
}

// passAroundRing sends the last received block to the next rank, until all ranks have all blocks. A
// rank starts with block at, the next rank with the following block.
func passAroundRing(s *Script, ranks, rank, at int, block func(i int) Span) {
	for i := range ranks - 1 {
		s.exchange(floorMod(rank+1, ranks), block(floorMod(at-i, ranks)), floorMod(rank-1, ranks), block(floorMod(at-i-1, ranks)))
	}
}

// twoLevelBcast sends the data to the leaders and then within nodes, by the same schedule.
func twoLevelBcast(how scheduleWriter) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		inside, between := j.nodeAndLeaderLevels(s, rank)
		between.addSteps(j, how)
		inside.addSteps(j, how)
	}
}
