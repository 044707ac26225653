package collective

// rankPairing reduces the number of ranks to a power of two: the first 2·pairCount ranks combine
// their data in pairs, and one rank of each pair continues. reduceRanks returns the number of the
// rank, or NoRank if it does not take part.
type rankPairing struct {
	reduceRanks  func(p powerOfTwoRanks, s *Script, j Job, rank int) int
	rankOf       func(p powerOfTwoRanks, number int) int // the rank with a number
	restoreRanks func(p powerOfTwoRanks, s *Script, j Job, rank int)
}

// foldPairs makes the even rank of a pair send all its data to the odd one.
var foldPairs = rankPairing{reduceRanks: powerOfTwoRanks.combinePairs, rankOf: powerOfTwoRanks.rankOf, restoreRanks: powerOfTwoRanks.sendResultToPairs}

// splitPairs makes each rank of a pair combine one half of the data. The even rank then receives
// the other half from the odd one.
var splitPairs = rankPairing{reduceRanks: powerOfTwoRanks.combineSplitPairs, rankOf: powerOfTwoRanks.evenRankOf, restoreRanks: powerOfTwoRanks.sendResultToSplitPairs}

func (p powerOfTwoRanks) combineSplitPairs(s *Script, j Job, rank int) int {
	if rank >= 2*p.pairCount {
		return rank - p.pairCount
	}
	half := j.Bytes / j.elementBytes() / 2 * j.elementBytes()
	low := func(a Area) Span { return Span{a, 0, half} }
	high := func(a Area) Span { return Span{a, half, j.Bytes - half} }
	if rank%2 == 1 {
		s.exchange(rank-1, low(Out), rank-1, high(Tmp))
		s.combine(high(Tmp), high(Out), true)
		s.send(rank-1, high(Out))
		return NoRank
	}
	s.exchange(rank+1, high(Out), rank+1, low(Tmp))
	s.combine(low(Tmp), low(Out), false)
	s.recv(rank+1, high(Out))
	return rank / 2
}

// evenRankOf returns the rank of the job with number i in the power of two, if even ranks take
// part.
func (p powerOfTwoRanks) evenRankOf(i int) int {
	if i < p.pairCount {
		return 2 * i
	}
	return i + p.pairCount
}

func (p powerOfTwoRanks) sendResultToSplitPairs(s *Script, j Job, rank int) {
	switch {
	case rank >= 2*p.pairCount:
	case rank%2 == 0:
		s.send(rank+1, j.wholeData(Out))
	default:
		s.recv(rank-1, j.wholeData(Out))
	}
}

// partRange is the range of parts that a rank still has to combine.
type partRange struct{ first, parts int }

// combineByNearHalving makes a power of two of ranks exchange half of their remaining parts with
// the rank at distance 1, 2, 4 … and combine them, so that the longest messages go to the nearest
// ranks. Each rank is left with one part of the result. Rabenseifner 2004: vector halving and
// distance doubling.
func combineByNearHalving(s *Script, p powerOfTwoRanks, at int, rank func(number int) int, mine, theirs func(from, to int) Span) partRange {
	w := partRange{0, p.ranks}
	for far := 1; far < p.ranks; far *= 2 {
		n := w.parts / 2
		keep, give := w.first, w.first+n
		if at&far != 0 {
			keep, give = give, keep
		}
		s.exchange(rank(at^far), mine(give, give+n), rank(at^far), theirs(keep, keep+n))
		s.combine(theirs(keep, keep+n), mine(keep, keep+n), at&far != 0)
		w = partRange{keep, n}
	}
	return w
}

// previousRange returns the range before the exchange at a distance, and the part of it that the
// other rank has.
func (w partRange) previousRange(at, far int) (all, other partRange) {
	if at&far != 0 {
		return partRange{w.first - w.parts, 2 * w.parts}, partRange{w.first - w.parts, w.parts}
	}
	return partRange{w.first, 2 * w.parts}, partRange{w.first + w.parts, w.parts}
}

// span returns the data of a range of parts.
func (w partRange) span(of func(from, to int) Span) Span { return of(w.first, w.first+w.parts) }

// writeAllreduce combines a part of the data at each rank by vector halving and distance doubling,
// and gathers the parts in the reverse order. Rabenseifner 2004.
func (by *rankPairing) writeAllreduce(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	p := newPowerOfTwoRanks(j.Ranks)
	if at := by.reduceRanks(p, s, j, rank); at != NoRank {
		few := Job{Ranks: p.ranks, Bytes: j.Bytes, ElementBytes: j.ElementBytes}
		part := spanOfBlocks(Out, few.partBegins())
		of := func(number int) int { return by.rankOf(p, number) }
		w := combineByNearHalving(s, p, at, of, part, spanOfBlocks(Tmp, few.partBegins()))
		for far := p.ranks / 2; far >= 1; far /= 2 {
			all, other := w.previousRange(at, far)
			s.exchange(of(at^far), w.span(part), of(at^far), other.span(part))
			w = all
		}
	}
	by.restoreRanks(p, s, j, rank)
}

// writeReduce combines like allreduce, and gathers the parts at the root. If the root does not take
// part, its neighbour gathers them for it.
func (by *rankPairing) writeReduce(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.wholeData(In), j.wholeData(Out))
	p := newPowerOfTwoRanks(j.Ranks)
	root := j.Root - p.pairCount
	if j.Root < 2*p.pairCount {
		root = j.Root / 2
	}
	if at := by.reduceRanks(p, s, j, rank); at != NoRank {
		few := Job{Ranks: p.ranks, Bytes: j.Bytes, ElementBytes: j.ElementBytes}
		part := spanOfBlocks(Out, few.partBegins())
		of := func(number int) int { return by.rankOf(p, number) }
		w := combineByNearHalving(s, p, at, of, part, spanOfBlocks(Tmp, few.partBegins()))
		for far := p.ranks / 2; far >= 1; far /= 2 {
			if at&far != root&far {
				s.send(of(at^far), w.span(part))
				break
			}
			all, other := w.previousRange(at, far)
			s.recv(of(at^far), other.span(part))
			w = all
		}
	}
	switch collector := by.rankOf(p, root); {
	case collector == j.Root:
	case rank == collector:
		s.send(j.Root, j.wholeData(Out))
	case rank == j.Root:
		s.recv(collector, j.wholeData(Out))
	}
}

// foldedReduceScatter halves the blocks that a rank still combines in each round, for any number of
// ranks: even ranks of pairs first send all their data to the odd ones. near says that the first
// rounds are with the nearest ranks; blocks must then be sent to their destinations. Tmp has the
// data, then a receive buffer.
func foldedReduceScatter(s *Script, j Job, rank int, near bool) {
	n := j.Ranks * j.Bytes
	data, room := Span{Tmp, 0, n}, Span{Tmp, n, n}
	p := newPowerOfTwoRanks(j.Ranks)
	at := rank - p.pairCount
	s.addLocalStep(Copy, Span{In, 0, n}, data)
	if rank < 2*p.pairCount {
		if rank%2 == 0 {
			s.send(rank+1, data)
			s.recv(rank+1, j.wholeData(Out))
			return
		}
		s.recv(rank-1, room)
		s.combine(room, data, true)
		at = rank / 2
	}
	mine := spanOfBlocks(Tmp, func(i int) int { return (i + min(i, p.pairCount)) * j.Bytes })
	theirs := func(from, to int) Span {
		into := mine(from, to)
		into.Offset += n
		return into
	}
	if near {
		if w := combineByNearHalving(s, p, at, p.rankOf, mine, theirs); w.first != at {
			s.exchange(p.rankOf(w.first), w.span(mine), p.rankOf(w.first), mine(at, at+1))
		}
	} else {
		combineByHalving(s, p, at, mine, theirs)
	}
	if rank < 2*p.pairCount {
		s.send(rank-1, j.block(Tmp, rank-1))
	}
	s.addLocalStep(Copy, j.block(Tmp, rank), j.wholeData(Out))
}

func butterflyReduceScatter(s *Script, j Job, rank int) { foldedReduceScatter(s, j, rank, true) }

func foldedHalvingReduceScatter(s *Script, j Job, rank int) { foldedReduceScatter(s, j, rank, false) }
