package collective

var scatters = []*Algorithm{
	{Operation: Scatter, Name: "linear", schedule: linearScatter},
	{Operation: Scatter, Name: "binomial", schedule: binomialScatter},
}

// linearScatter sends from the root to each rank in turn.
func linearScatter(s *script, j Job, rank int) {
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
func binomialScatter(s *script, j Job, rank int) {
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
func turn(s *script, j Job, from, to Area, first int) {
	n := (j.Ranks - first) * j.Bytes
	s.local(Copy, Span{from, first * j.Bytes, n}, Span{to, 0, n})
	s.local(Copy, Span{from, 0, first * j.Bytes}, Span{to, n, first * j.Bytes})
}
