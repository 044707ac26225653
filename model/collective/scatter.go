package collective

var scatters = []*Algorithm{
	{Operation: Scatter, Name: "linear", schedule: linearScatter},
	{Operation: Scatter, Name: "binomial", schedule: binomialScatter},
	{Operation: Scatter, Name: "two-level", TwoLevel: true, schedule: twoLevelScatter},
}

// linearScatter sends from the root to each rank in turn.
func linearScatter(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.recv(j.Root, j.whole(Out))
		return
	}
	s.local(Copy, j.block(In, rank), j.whole(Out))
	for i := 1; i < j.Ranks; i++ {
		to := mod(j.Root+i, j.Ranks)
		s.send(to, j.block(In, to))
	}
}

// postedScatter begins to send to all ranks from the root, and waits.
func postedScatter(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.recv(j.Root, j.whole(Out))
		return
	}
	for i := 1; i < j.Ranks; i++ {
		to := mod(j.Root+i, j.Ranks)
		s.post(to, j.block(In, to), None, Span{})
	}
	s.local(Copy, j.block(In, rank), j.whole(Out))
	s.wait()
}

// binomialScatter halves the data in each round. Blocks are sent in the order of ranks from the
// root on, so the root first rotates them.
func binomialScatter(s *Script, j Job, rank int) {
	at := mod(rank-j.Root, j.Ranks)
	area := Tmp
	switch {
	case at == 0 && j.Root == 0:
		area = In
	case at == 0:
		rotate(s, j, In, Tmp, j.Root)
	}
	binomialDown(s, j, rank, func(from, to int) Span { return Span{area, (from - at) * j.Bytes, (to - from) * j.Bytes} })
	s.local(Copy, Span{area, 0, j.Bytes}, j.whole(Out))
}

// rotate copies the blocks of an area into another so that block first comes first.
func rotate(s *Script, j Job, from, to Area, first int) {
	n := (j.Ranks - first) * j.Bytes
	s.local(Copy, Span{from, first * j.Bytes, n}, Span{to, 0, n})
	s.local(Copy, Span{from, 0, first * j.Bytes}, Span{to, n, first * j.Bytes})
}

// twoLevelScatter scatters among the leaders, and then within the nodes. Blocks are sent in the
// order of nodes, and of ranks within a node.
func twoLevelScatter(s *Script, j Job, rank int) {
	area, l := Tmp, j.levels()
	switch {
	case rank != j.Root:
	case l.ordered():
		area = In
	default:
		l.runs(func(rank, at, n int) {
			s.local(Copy, Span{In, rank * j.Bytes, n * j.Bytes}, Span{Tmp, at * j.Bytes, n * j.Bytes})
		})
	}
	inside, between := j.both(s, rank)
	between.do(j, func(s *Script, leaders Job, at int) { binomialDown(s, leaders, at, l.parts(area, at)) })
	inside.do(j, func(s *Script, node Job, at int) {
		binomialDown(s, node, at, func(from, to int) Span { return Span{area, (from - at) * j.Bytes, (to - from) * j.Bytes} })
	})
	s.local(Copy, Span{area, 0, j.Bytes}, j.whole(Out))
}

var gathers = []*Algorithm{
	{Operation: Gather, Name: "linear", schedule: linearGather},
	{Operation: Gather, Name: "binomial", schedule: binomialGather},
	{Operation: Gather, Name: "two-level", TwoLevel: true, schedule: twoLevelGather},
}

// linearGather receives at the root from each rank in turn.
func linearGather(s *Script, j Job, rank int) {
	if rank != j.Root {
		s.send(j.Root, j.whole(In))
		return
	}
	s.local(Copy, j.whole(In), j.block(Out, rank))
	for i := 1; i < j.Ranks; i++ {
		from := mod(j.Root+i, j.Ranks)
		s.recv(from, j.block(Out, from))
	}
}

// synchronizedGather lets the root tell each rank in turn when to send. A rank then sends its first
// segment, and the rest of its data, which the root no longer waits for.
func synchronizedGather(segment int) schedule {
	return func(s *Script, j Job, rank int) {
		first := j.Bytes
		if segment > 0 {
			first = min(j.segment(segment), j.Bytes)
		}
		if rank != j.Root {
			s.recv(j.Root, Span{})
			s.send(j.Root, Span{In, 0, first})
			if first < j.Bytes {
				s.send(j.Root, Span{In, first, j.Bytes - first})
			}
			return
		}
		s.local(Copy, j.whole(In), j.block(Out, rank))
		for i := 1; i < j.Ranks; i++ {
			from := mod(j.Root+i, j.Ranks)
			into := j.block(Out, from)
			s.exchange(from, Span{}, from, Span{Out, into.From, first})
			if first < j.Bytes {
				s.post(None, Span{}, from, Span{Out, into.From + first, j.Bytes - first})
			}
		}
		s.wait()
	}
}

// binomialGather doubles the data in each round. Blocks are sent in the order of ranks from the
// root on, so the root rotates them at the end.
func binomialGather(s *Script, j Job, rank int) {
	area := Tmp
	if rank == j.Root && j.Root == 0 {
		area = Out
	}
	s.local(Copy, j.whole(In), Span{area, 0, j.Bytes})
	binomialUp(s, j, rank, func(from, to int) Span { return Span{area, from * j.Bytes, (to - from) * j.Bytes} }, nil)
	if rank == j.Root && area == Tmp {
		rotate(s, j, Tmp, Out, j.Ranks-j.Root)
	}
}

// binomialUp goes up a binomial tree to the root. A subtree is a range of ranks, counted from the
// root. part returns where a rank keeps the data of ranks [from, to), counted from itself. then, if
// not nil, is called after each part that a child has sent.
func binomialUp(s *Script, j Job, rank int, part func(from, to int) Span, then func(child Span)) {
	at := mod(rank-j.Root, j.Ranks)
	mask := 1
	for ; mask < j.Ranks && at&mask == 0; mask <<= 1 {
		if at+mask < j.Ranks {
			child := part(mask, min(2*mask, j.Ranks-at))
			s.recv(mod(rank+mask, j.Ranks), child)
			if then != nil {
				then(child)
			}
		}
	}
	if at != 0 {
		s.send(mod(rank-mask, j.Ranks), part(0, min(mask, j.Ranks-at)))
	}
}

// twoLevelGather gathers within the nodes, and then between their leaders. Blocks are sent in the
// order of nodes, and of ranks within a node.
func twoLevelGather(s *Script, j Job, rank int) {
	area, l := Tmp, j.levels()
	if rank == j.Root && l.ordered() {
		area = Out
	}
	l.gather(s, rank, area, 0)
	l.between(s, rank).do(j, func(s *Script, leaders Job, at int) {
		part := l.parts(area, at)
		binomialUp(s, leaders, at, func(from, to int) Span { return part(at+from, at+to) }, nil)
	})
	if rank == j.Root && area == Tmp {
		l.runs(func(rank, at, n int) {
			s.local(Copy, Span{Tmp, at * j.Bytes, n * j.Bytes}, Span{Out, rank * j.Bytes, n * j.Bytes})
		})
	}
}
