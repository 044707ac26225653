package collective

var allgathers = []*Algorithm{
	{Operation: Allgather, Name: "ring", writeSchedule: ringAllgather},
	{Operation: Allgather, Name: "recursive-doubling", NeedsPowerOfTwo: true, writeSchedule: doublingAllgather},
	{Operation: Allgather, Name: "bruck", writeSchedule: bruckAllgather},
	{Operation: Allgather, Name: "gather-bcast", writeSchedule: gatherBcast},
	{Operation: Allgather, Name: "linear-bcast", writeSchedule: linearBcastAllgather},
	{Operation: Allgather, Name: "two-level", NeedsNodes: true, writeSchedule: twoLevelAllgather(binomialBcast)},
	{Operation: Allgather, Name: "two-level-scatter", NeedsNodes: true, writeSchedule: twoLevelAllgather(scatterAllgatherBcast)},
}

func ringAllgather(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.block(Out, rank))
	passAroundRing(s, j.Ranks, rank, rank, func(i int) Span { return j.block(Out, i) })
}

// doublingAllgather exchanges all gathered blocks with the rank at distance 1, 2, 4 … (recursive
// doubling).
func doublingAllgather(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.block(Out, rank))
	exchangeByDoubling(s, newPowerOfTwoRanks(j.Ranks), rank, func(from, to int) Span { return Span{Out, from * j.Bytes, (to - from) * j.Bytes} })
}

// exchangeByDoubling makes a power of two of ranks exchange their parts with the rank at distance
// 1, 2, 4 … The rank with number at starts with part at.
func exchangeByDoubling(s *Script, p powerOfTwoRanks, at int, part func(from, to int) Span) {
	for far := 1; far < p.ranks; far *= 2 {
		mine := at &^ (far - 1)
		theirs := mine ^ far
		other := p.rankOf(at ^ far)
		s.exchange(other, part(mine, mine+far), other, part(theirs, theirs+far))
	}
}

// bruckAllgather receives all blocks of the rank at distance 1, 2, 4 … Blocks are in the order of
// ranks, starting with the rank's own, and are rotated into place at the end. Bruck et al. 1997.
func bruckAllgather(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), Span{Tmp, 0, j.Bytes})
	for have := 1; have < j.Ranks; have *= 2 {
		n := min(have, j.Ranks-have) * j.Bytes
		s.exchange(floorMod(rank-have, j.Ranks), Span{Tmp, 0, n}, floorMod(rank+have, j.Ranks), Span{Tmp, have * j.Bytes, n})
	}
	rotateBlocks(s, j, Tmp, Out, floorMod(-rank, j.Ranks))
}

// neighborAllgather exchanges blocks alternately with the two neighbours: first its own block, then
// the two that arrived last. Chen, Zhang, Zhang, Yuan 2005.
func neighborAllgather(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.block(Out, rank))
	if j.Ranks == 1 {
		return
	}
	side := 1 // direction of the first neighbour
	if rank%2 == 1 {
		side = -1
	}
	first := floorMod(rank+side, j.Ranks)
	s.exchange(first, j.block(Out, rank), first, j.block(Out, first))
	pair := rank / 2
	two := func(pair int) Span { return Span{Out, 2 * pair * j.Bytes, 2 * j.Bytes} }
	give, pairs := pair, j.Ranks/2
	for i := 1; i < pairs; i++ {
		to, take := floorMod(rank-side, j.Ranks), pair-side*(i+1)/2
		if i%2 == 0 {
			to, take = first, pair+side*i/2
		}
		take = floorMod(take, pairs)
		s.exchange(to, two(give), to, two(take))
		give = take
	}
}

func gatherBcast(s *Script, j Job, rank int) {
	j.Root = 0
	binomialGather(s, j, rank)
	all := j
	all.Bytes *= j.Ranks
	binomialBcast(s, all, rank)
}

// linearBcastAllgather gathers at rank 0, from one rank after another, and broadcasts the result.
// LAM/MPI.
func linearBcastAllgather(s *Script, j Job, rank int) {
	j.Root = 0
	linearGather(s, j, rank)
	all := j
	all.Bytes *= j.Ranks
	if j.Ranks <= maxLinearRanks {
		postedBcast(s, all, rank)
	} else {
		binomialPostedBcast(s, all, rank)
	}
}

// maxLinearRanks is the number of ranks up to which LAM/MPI does not use trees (LAM_COLLMAXLIN).
const maxLinearRanks = 4

// twoLevelAllgather gathers within nodes, exchanges the blocks of nodes between leaders, and
// broadcasts the result within nodes.
func twoLevelAllgather(down scheduleWriter) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		j.Root = 0
		l := j.twoLevelJob()
		inside, between := j.nodeAndLeaderLevels(s, rank)
		area, base := Tmp, 0
		if inside.number == 0 {
			base = l.ranksBefore(between.number) * j.Bytes
			if l.isInRankOrder() {
				area = Out
			}
		}
		l.gatherAtLeader(s, rank, area, base)
		between.addSteps(j, func(s *Script, leaders Job, at int) {
			part := l.blocksOfNodes(area, 0)
			if hasPowerOfTwoRanks(leaders) {
				exchangeByDoubling(s, newPowerOfTwoRanks(leaders.Ranks), at, part)
			} else {
				passAroundRing(s, leaders.Ranks, at, at, func(i int) Span { return part(i, i+1) })
			}
		})
		if inside.number == 0 && area == Tmp {
			l.forEachRun(func(rank, at, n int) {
				s.addLocalStep(Copy, Span{Tmp, at * j.Bytes, n * j.Bytes}, Span{Out, rank * j.Bytes, n * j.Bytes})
			})
		}
		all := j
		all.Bytes *= j.Ranks
		inside.addSteps(all, down)
	}
}
