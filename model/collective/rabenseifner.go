package collective

// pairing reduces the number of ranks to a power of two: the first 2·more ranks combine their data
// in pairs, and one of each pair takes part further on. begin returns the number of the rank, or
// None if it does not take part.
type pairing struct {
	begin func(p power, s *Script, j Job, rank int) int
	rank  func(p power, number int) int // that has a number
	end   func(p power, s *Script, j Job, rank int)
}

// foldPairs lets the even rank of a pair send all of its data to the odd one.
var foldPairs = pairing{begin: power.begin, rank: power.rank, end: power.end}

// splitPairs lets each rank of a pair combine one half of the data. The even rank receives the
// other half from the odd one.
var splitPairs = pairing{begin: power.beginSplit, rank: power.evenRank, end: power.endSplit}

func (p power) beginSplit(s *Script, j Job, rank int) int {
	if rank >= 2*p.more {
		return rank - p.more
	}
	half := j.Bytes / j.unit() / 2 * j.unit()
	low := func(a Area) Span { return Span{a, 0, half} }
	high := func(a Area) Span { return Span{a, half, j.Bytes - half} }
	if rank%2 == 1 {
		s.exchange(rank-1, low(Out), rank-1, high(Tmp))
		s.fold(high(Tmp), high(Out), true)
		s.send(rank-1, high(Out))
		return None
	}
	s.exchange(rank+1, high(Out), rank+1, low(Tmp))
	s.fold(low(Tmp), low(Out), false)
	s.recv(rank+1, high(Out))
	return rank / 2
}

// evenRank returns the rank of the job that is number i of the power, if even ranks take part.
func (p power) evenRank(i int) int {
	if i < p.more {
		return 2 * i
	}
	return i + p.more
}

func (p power) endSplit(s *Script, j Job, rank int) {
	switch {
	case rank >= 2*p.more:
	case rank%2 == 0:
		s.send(rank+1, j.whole(Out))
	default:
		s.recv(rank-1, j.whole(Out))
	}
}

// halvingWindow is the part of the data that a rank still has to combine: so many parts from one
// on.
type halvingWindow struct{ from, parts int }

// nearHalving lets a power of two of ranks exchange half of their remaining parts with the rank 1,
// 2, 4 … away, and combine them, so that the longest messages go to the nearest ranks. Each rank is
// left with one part of the result. Rabenseifner 2004: vector halving and distance doubling.
func nearHalving(s *Script, p power, at int, rank func(number int) int, mine, theirs func(from, to int) Span) halvingWindow {
	w := halvingWindow{0, p.ranks}
	for far := 1; far < p.ranks; far *= 2 {
		n := w.parts / 2
		keep, give := w.from, w.from+n
		if at&far != 0 {
			keep, give = give, keep
		}
		s.exchange(rank(at^far), mine(give, give+n), rank(at^far), theirs(keep, keep+n))
		s.fold(theirs(keep, keep+n), mine(keep, keep+n), at&far != 0)
		w = halvingWindow{keep, n}
	}
	return w
}

// grow returns the window before the exchange with a distance, and the part that the other rank has
// of it.
func (w halvingWindow) grow(at, far int) (all, other halvingWindow) {
	if at&far != 0 {
		return halvingWindow{w.from - w.parts, 2 * w.parts}, halvingWindow{w.from - w.parts, w.parts}
	}
	return halvingWindow{w.from, 2 * w.parts}, halvingWindow{w.from + w.parts, w.parts}
}

// span returns the data of a window.
func (w halvingWindow) span(of func(from, to int) Span) Span { return of(w.from, w.from+w.parts) }

// allreduce combines a part of the data at each rank by vector halving and distance doubling, and
// gathers the parts in the reverse order. Rabenseifner 2004.
func (by *pairing) allreduce(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	p := powerOf(j.Ranks)
	if at := by.begin(p, s, j, rank); at != None {
		few := Job{Ranks: p.ranks, Bytes: j.Bytes, Unit: j.Unit}
		part := spans(Out, few.blocks())
		of := func(number int) int { return by.rank(p, number) }
		w := nearHalving(s, p, at, of, part, spans(Tmp, few.blocks()))
		for far := p.ranks / 2; far >= 1; far /= 2 {
			all, other := w.grow(at, far)
			s.exchange(of(at^far), w.span(part), of(at^far), other.span(part))
			w = all
		}
	}
	by.end(p, s, j, rank)
}

// reduce combines as allreduce does, and gathers the parts at the root. If the root does not take
// part, its neighbor gathers them for it.
func (by *pairing) reduce(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	p := powerOf(j.Ranks)
	root := j.Root - p.more
	if j.Root < 2*p.more {
		root = j.Root / 2
	}
	if at := by.begin(p, s, j, rank); at != None {
		few := Job{Ranks: p.ranks, Bytes: j.Bytes, Unit: j.Unit}
		part := spans(Out, few.blocks())
		of := func(number int) int { return by.rank(p, number) }
		w := nearHalving(s, p, at, of, part, spans(Tmp, few.blocks()))
		for far := p.ranks / 2; far >= 1; far /= 2 {
			if at&far != root&far {
				s.send(of(at^far), w.span(part))
				break
			}
			all, other := w.grow(at, far)
			s.recv(of(at^far), other.span(part))
			w = all
		}
	}
	switch collector := by.rank(p, root); {
	case collector == j.Root:
	case rank == collector:
		s.send(j.Root, j.whole(Out))
	case rank == j.Root:
		s.recv(collector, j.whole(Out))
	}
}

// foldedReduceScatter halves the blocks that a rank still combines in each round, for any number of
// ranks: even ranks of pairs give all of their data to the odd ones first. near says that the first
// rounds are with the nearest ranks; the blocks then have to go to the ranks that they are for. Tmp
// has the data, and then room for what is received.
func foldedReduceScatter(s *Script, j Job, rank int, near bool) {
	n := j.Ranks * j.Bytes
	data, room := Span{Tmp, 0, n}, Span{Tmp, n, n}
	p := powerOf(j.Ranks)
	at := rank - p.more
	s.local(Copy, Span{In, 0, n}, data)
	if rank < 2*p.more {
		if rank%2 == 0 {
			s.send(rank+1, data)
			s.recv(rank+1, j.whole(Out))
			return
		}
		s.recv(rank-1, room)
		s.fold(room, data, true)
		at = rank / 2
	}
	mine := spans(Tmp, func(i int) int { return (i + min(i, p.more)) * j.Bytes })
	theirs := func(from, to int) Span {
		into := mine(from, to)
		into.From += n
		return into
	}
	if near {
		if w := nearHalving(s, p, at, p.rank, mine, theirs); w.from != at {
			s.exchange(p.rank(w.from), w.span(mine), p.rank(w.from), mine(at, at+1))
		}
	} else {
		halving(s, p, at, mine, theirs)
	}
	if rank < 2*p.more {
		s.send(rank-1, j.block(Tmp, rank-1))
	}
	s.local(Copy, j.block(Tmp, rank), j.whole(Out))
}

func butterflyReduceScatter(s *Script, j Job, rank int) { foldedReduceScatter(s, j, rank, true) }

func foldedHalvingReduceScatter(s *Script, j Job, rank int) { foldedReduceScatter(s, j, rank, false) }
