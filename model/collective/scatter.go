package collective

var scatters = []*Algorithm{
	{Operation: Scatter, Name: "linear", schedule: linearScatter},
	{Operation: Scatter, Name: "binomial", schedule: binomialScatter},
	{Operation: Scatter, Name: "two-level", Tiered: true, schedule: twoLevelScatter},
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

// binomialScatter halves the data in each round. Blocks are in the order of ranks from the root on while they travel, so the root first turns
// them round.
func binomialScatter(s *Script, j Job, rank int) {
	at := mod(rank-j.Root, j.Ranks)
	area := Tmp
	switch {
	case at == 0 && j.Root == 0:
		area = In
	case at == 0:
		turn(s, j, In, Tmp, j.Root)
	}
	binomialDown(s, j, rank, func(from, to int) Span { return Span{area, (from - at) * j.Bytes, (to - from) * j.Bytes} })
	s.local(Copy, Span{area, 0, j.Bytes}, j.whole(Out))
}

// turn copies the blocks of an area into another so that block first comes first.
func turn(s *Script, j Job, from, to Area, first int) {
	n := (j.Ranks - first) * j.Bytes
	s.local(Copy, Span{from, first * j.Bytes, n}, Span{to, 0, n})
	s.local(Copy, Span{from, 0, first * j.Bytes}, Span{to, n, first * j.Bytes})
}

// twoLevelScatter scatters among the leaders, and then within the nodes. While it travels data lies in the order of nodes, and of ranks in them.
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
