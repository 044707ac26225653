package collective

var barriers = []*Algorithm{
	{Operation: Barrier, Name: "binomial", schedule: binomialBarrier},
	{Operation: Barrier, Name: "dissemination", schedule: disseminationBarrier},
}

// binomialBarrier goes up a binomial tree to rank 0 and down again.
func binomialBarrier(s *script, j Job, rank int) {
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

// disseminationBarrier tells the rank 1, 2, 4 … further on, and hears from as far back: after ⌈log2 p⌉ rounds everybody has heard of everybody. Hensgen,
// Finkel and Manber 1988.
func disseminationBarrier(s *script, j Job, rank int) {
	for far := 1; far < j.Ranks; far *= 2 {
		s.exchange(mod(rank+far, j.Ranks), Span{}, mod(rank-far, j.Ranks), Span{})
	}
}
