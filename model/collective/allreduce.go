package collective

import "github.com/loggp/loggp/model/unit"

var allreduces = []*Algorithm{
	{Operation: Allreduce, Name: "reduce-bcast", writeSchedule: reduceBcast},
	{Operation: Allreduce, Name: "recursive-doubling", writeSchedule: doublingAllreduce},
	{Operation: Allreduce, Name: "ring", NeedsCommutative: true, writeSchedule: ringAllreduce},
	{Operation: Allreduce, Name: "scatter-allgather", NeedsCommutative: true, writeSchedule: scatterAllgatherAllreduce},
	{Operation: Allreduce, Name: "two-level", NeedsCommutative: true, NeedsNodes: true, writeSchedule: twoLevelAllreduce(doublingAllreduce, binomialBcast)},
	{Operation: Allreduce, Name: "two-level-scatter", NeedsCommutative: true, NeedsNodes: true, writeSchedule: twoLevelAllreduce(scatterAllgatherAllreduce, scatterAllgatherBcast)},
}

func reduceBcast(s *Script, j Job, rank int) {
	j.Root = 0
	binomialReduce(s, j, rank)
	binomialBcast(s, j, rank)
}

// doublingAllreduce exchanges the data with the rank at distance 1, 2, 4 … and combines it
// (recursive doubling).
func doublingAllreduce(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	p := newPowerOfTwoRanks(j.Ranks)
	if at := p.combinePairs(s, j, rank); at != NoRank {
		for far := 1; far < p.ranks; far *= 2 {
			other := p.rankOf(at ^ far)
			s.exchange(other, j.wholeData(Out), other, j.wholeData(Tmp))
			s.combine(j.wholeData(Tmp), j.wholeData(Out), at&far != 0)
		}
	}
	p.sendResultToPairs(s, j, rank)
}

// powerOfTwoRanks maps a job to a power of two of its ranks, for algorithms that need one. Of the
// first 2·pairCount ranks, the odd ones also represent their even neighbours.
type powerOfTwoRanks struct{ ranks, pairCount int }

// newPowerOfTwoRanks returns the mapping to the largest power of two.
func newPowerOfTwoRanks(ranks int) powerOfTwoRanks {
	p := 1
	for 2*p <= ranks {
		p *= 2
	}
	return powerOfTwoRanks{p, ranks - p}
}

// rankOf returns the rank of the job with number i in the power of two.
func (p powerOfTwoRanks) rankOf(i int) int {
	if i < p.pairCount {
		return 2*i + 1
	}
	return i + p.pairCount
}

// combinePairs sends the data in Out of ranks that do not take part to their neighbours, which
// combine it with their own. It returns the number of the rank, or NoRank if it does not take part.
func (p powerOfTwoRanks) combinePairs(s *Script, j Job, rank int) int {
	switch {
	case rank >= 2*p.pairCount:
		return rank - p.pairCount
	case rank%2 == 0:
		s.send(rank+1, j.wholeData(Out))
		return NoRank
	}
	s.recv(rank-1, j.wholeData(Tmp))
	s.combine(j.wholeData(Tmp), j.wholeData(Out), true)
	return rank / 2
}

// sendResultToPairs sends the result to the ranks that do not take part.
func (p powerOfTwoRanks) sendResultToPairs(s *Script, j Job, rank int) {
	switch {
	case rank >= 2*p.pairCount:
	case rank%2 == 0:
		s.recv(rank+1, j.wholeData(Out))
	default:
		s.send(rank-1, j.wholeData(Out))
	}
}

// ringAllreduce sends parts of the data around a ring twice. The first round combines them, the
// second distributes the results. Patarasuk and Yuan 2009.
func ringAllreduce(s *Script, j Job, rank int) { segmentedRingAllreduce(s, j, rank, unit.MaxSize) }

// segmentedRingAllreduce goes around the ring once for each segment of the parts, and then once
// with whole parts to distribute the results.
func segmentedRingAllreduce(s *Script, j Job, rank, segment int) {
	begin := j.partBegins()
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	next, before := floorMod(rank+1, j.Ranks), floorMod(rank-1, j.Ranks)
	segment = j.segmentBytes(segment)
	for phase := range max((begin(1)+segment-1)/segment, 1) { // part 0 is the longest
		part := func(a Area, i int) Span {
			i = floorMod(i, j.Ranks)
			from := min(begin(i)+phase*segment, begin(i+1))
			return Span{a, from, min(segment, begin(i+1)-from)}
		}
		for i := range j.Ranks - 1 {
			s.exchange(next, part(Out, rank-i), before, part(Tmp, rank-i-1))
			s.combine(part(Tmp, rank-i-1), part(Out, rank-i-1), true)
		}
	}
	passAroundRing(s, j.Ranks, rank, floorMod(rank+1, j.Ranks), func(i int) Span { return blockSpan(Out, begin, i, i+1) })
}

// scatterAllgatherAllreduce combines a part of the data at each rank by recursive halving, and
// gathers the parts by recursive doubling. Rabenseifner 2004.
func scatterAllgatherAllreduce(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	p := newPowerOfTwoRanks(j.Ranks)
	if at := p.combinePairs(s, j, rank); at != NoRank {
		few := Job{Ranks: p.ranks, Bytes: j.Bytes, ElementBytes: j.ElementBytes}
		begin := few.partBegins()
		combineByHalving(s, p, at, spanOfBlocks(Out, begin), spanOfBlocks(Tmp, begin))
		exchangeByDoubling(s, p, at, spanOfBlocks(Out, begin))
	}
	p.sendResultToPairs(s, j, rank)
}

// multiplyingAllreduce exchanges the data, for each digit of the rank numbers to the base radix,
// with the radix − 1 ranks whose numbers differ in that digit, and combines it. Ranks beyond a
// power of the radix first send their data to one of the others, and receive the result from it at
// the end.
func multiplyingAllreduce(radix int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
		power := 1
		for power*radix <= j.Ranks {
			power *= radix
		}
		if rank >= power {
			s.send(rank%power, j.wholeData(Out))
			s.recv(rank%power, j.wholeData(Out))
			return
		}
		into := func(i int) Span { return Span{Tmp, i * j.Bytes, j.Bytes} }
		for other := rank + power; other < j.Ranks; other += power {
			s.recv(other, into(0))
			s.combine(into(0), j.wholeData(Out), false)
		}
		for far := 1; far < power; far *= radix {
			digit := rank / far % radix
			for i := radix - 1; i > 0; i-- {
				s.post(NoRank, Span{}, rank+(floorMod(digit-i, radix)-digit)*far, into(i-1))
			}
			for i := 1; i < radix; i++ {
				s.post(rank+(floorMod(digit+i, radix)-digit)*far, j.wholeData(Out), NoRank, Span{})
			}
			s.wait()
			for i := range radix - 1 {
				s.combine(into(i), j.wholeData(Out), false)
			}
		}
		for other := rank + power; other < j.Ranks; other += power {
			s.send(other, j.wholeData(Out))
		}
	}
}

// twoLevelAllreduce combines within nodes, then between leaders, and broadcasts the result within
// nodes.
func twoLevelAllreduce(between, down scheduleWriter) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		nodes, leaders := j.nodeAndLeaderLevels(s, rank)
		nodes.addSteps(j, binomialReduce)
		leaders.addSteps(j, withInputInOut(between))
		nodes.addSteps(j, down)
	}
}
