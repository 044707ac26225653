package collective

var reduces = []*Algorithm{
	{Operation: Reduce, Name: "linear", schedule: linearReduce},
	{Operation: Reduce, Name: "binomial", schedule: binomialReduce},
	{Operation: Reduce, Name: "scatter-gather", Disorders: true, PowerOfTwo: true, schedule: scatterGatherReduce},
	{Operation: Reduce, Name: "two-level", Disorders: true, Tiered: true, schedule: twoLevelReduce},
}

// linearReduce receives at the root from each rank in turn, the last first, so that what is there comes behind.
func linearReduce(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.send(j.Root, j.whole(In))
		return
	}
	for i := j.Ranks - 1; i >= 0; i-- {
		from := j.whole(In)
		if i != rank {
			from = j.whole(Tmp)
			if i == j.Ranks-1 {
				from = j.whole(Out)
			}
			s.recv(i, from)
		}
		switch {
		case i < j.Ranks-1:
			s.fold(from, j.whole(Out), true)
		case i == rank:
			s.local(Copy, from, j.whole(Out))
		}
	}
}

// binomialReduce goes up a binomial tree to rank 0, since a subtree must be ranks in a row, and from there to the root.
func binomialReduce(s *Script, j Job, rank int) {
	up := j
	up.Root = 0
	s.local(Copy, j.whole(In), j.whole(Out))
	binomialUp(s, up, rank, func(from, _ int) Span {
		if from > 0 {
			return j.whole(Tmp)
		}
		return j.whole(Out)
	}, func(child Span) { s.fold(child, j.whole(Out), false) })
	if j.Root == 0 {
		return
	}
	switch rank {
	case 0:
		s.send(j.Root, j.whole(Out))
	case j.Root:
		s.recv(0, j.whole(Out))
	}
}

// scatterGatherReduce leaves each rank a combined part of the data, by recursive halving, and gathers the parts. Rabenseifner 2004.
func scatterGatherReduce(s *Script, j Job, rank int) {
	begin := j.blocks()
	s.local(Copy, j.whole(In), j.whole(Out))
	halving(s, powerOf(j.Ranks), rank, spans(Out, begin), spans(Tmp, begin))
	// Ranks are in the order of their parts, so the tree to the root is one by exclusive or.
	for far := 1; far < j.Ranks; far *= 2 {
		at := rank ^ j.Root
		if at&(far-1) != 0 {
			break
		}
		mine := rank &^ (far - 1)
		other := mine ^ far
		if at&far != 0 {
			s.send(rank^far, span(Out, begin, mine, mine+far))
			break
		}
		s.recv(rank^far, span(Out, begin, other, other+far))
	}
}

// halving lets a power of two of ranks exchange half of what each still has with the one … 4, 2, 1 away, and combine it: in the end number at of
// them has part at of the whole. Parts of others come to theirs.
func halving(s *Script, p power, at int, mine, theirs func(from, to int) Span) {
	for far := p.ranks / 2; far >= 1; far /= 2 {
		keep := at &^ (far - 1)
		give := keep ^ far
		other := p.rank(at ^ far)
		s.exchange(other, mine(give, give+far), other, theirs(keep, keep+far))
		s.fold(theirs(keep, keep+far), mine(keep, keep+far), at&far != 0)
	}
}

// twoLevelReduce combines within the nodes, and then what their leaders have.
func twoLevelReduce(s *Script, j Job, rank int) {
	inside, between := j.both(s, rank)
	inside.do(j, binomialReduce)
	between.do(j, inPlace(binomialReduce))
}
