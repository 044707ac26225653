package collective

var alltoalls = []*Algorithm{
	{Operation: Alltoall, Name: "pairwise", writeSchedule: pairwiseAlltoall},
	{Operation: Alltoall, Name: "bruck", writeSchedule: bruckAlltoall},
	{Operation: Alltoall, Name: "posted", writeSchedule: postedAlltoall},
	{Operation: Alltoall, Name: "ranked", writeSchedule: rankedAlltoall},
}

// postedAlltoall posts all receives and then all sends, starting with the next rank. The network
// determines the order. LAM/MPI 7.1.4; MPICH from the end of 2002.
func postedAlltoall(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.block(In, rank), j.block(Out, rank))
	for i := 1; i < j.Ranks; i++ {
		from := floorMod(rank+i, j.Ranks)
		s.post(NoRank, Span{}, from, j.block(Out, from))
	}
	for i := 1; i < j.Ranks; i++ {
		to := floorMod(rank+i, j.Ranks)
		s.post(to, j.block(In, to), NoRank, Span{})
	}
	s.wait()
}

// rankedAlltoall posts a receive and a send for each rank in the order of ranks, so all start with
// rank 0. MPICH before the version of intra_fns.c of November 2002.
func rankedAlltoall(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.block(In, rank), j.block(Out, rank))
	for i := range j.Ranks {
		if i != rank {
			s.post(NoRank, Span{}, i, j.block(Out, i))
			s.post(i, j.block(In, i), NoRank, Span{})
		}
	}
	s.wait()
}

// pairwiseAlltoall sends to the rank at distance i and receives from the rank at distance −i, for
// each i. With a power of two of ranks both are rank xor i.
func pairwiseAlltoall(s *Script, j Job, rank int) {
	if !hasPowerOfTwoRanks(j) {
		shiftedAlltoall(s, j, rank)
		return
	}
	s.addLocalStep(Copy, j.block(In, rank), j.block(Out, rank))
	for i := 1; i < j.Ranks; i++ {
		s.exchange(rank^i, j.block(In, rank^i), rank^i, j.block(Out, rank^i))
	}
}

// shiftedAlltoall is pairwiseAlltoall that always uses distances, even with a power of two of
// ranks.
func shiftedAlltoall(s *Script, j Job, rank int) {
	s.addLocalStep(Copy, j.block(In, rank), j.block(Out, rank))
	for i := 1; i < j.Ranks; i++ {
		to, from := floorMod(rank+i, j.Ranks), floorMod(rank-i, j.Ranks)
		s.exchange(to, j.block(In, to), from, j.block(Out, from))
	}
}

// synchronizedAlltoall posts receives from a number of the next ranks and sends to as many of the
// previous ranks, and waits for them. It then continues with the following ranks. 0: all at once.
func synchronizedAlltoall(ranks int) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		window := ranks
		if window == 0 {
			window = j.Ranks
		}
		s.addLocalStep(Copy, j.block(In, rank), j.block(Out, rank))
		for i := 1; i < j.Ranks; i += window {
			end := min(i+window, j.Ranks)
			for k := i; k < end; k++ {
				from := floorMod(rank+k, j.Ranks)
				s.post(NoRank, Span{}, from, j.block(Out, from))
			}
			for k := i; k < end; k++ {
				to := floorMod(rank-k, j.Ranks)
				s.post(to, j.block(In, to), NoRank, Span{})
			}
			s.wait()
		}
	}
}

// bruckAlltoall has ⌈log2 p⌉ rounds with distances 1, 2, 4 … In each round a rank forwards the
// blocks whose distance to their destination contains that power of two. Bruck et al. 1997. Tmp has
// the blocks in the order of their distance, then a send buffer and a receive buffer.
func bruckAlltoall(s *Script, j Job, rank int) {
	rotateBlocks(s, j, In, Tmp, rank)
	for far := 1; far < j.Ranks; far *= 2 {
		n := 0
		moved := func(each func(i int)) {
			for i := far; i < j.Ranks; i++ {
				if i&far != 0 {
					each(i)
				}
			}
		}
		out := j.Ranks * j.Bytes
		moved(func(i int) {
			s.addLocalStep(Copy, j.block(Tmp, i), Span{Tmp, out + n, j.Bytes})
			n += j.Bytes
		})
		in := out + n
		s.exchange(floorMod(rank+far, j.Ranks), Span{Tmp, out, n}, floorMod(rank-far, j.Ranks), Span{Tmp, in, n})
		n = 0
		moved(func(i int) {
			s.addLocalStep(Copy, Span{Tmp, in + n, j.Bytes}, j.block(Tmp, i))
			n += j.Bytes
		})
	}
	for i := range j.Ranks {
		s.addLocalStep(Copy, j.block(Tmp, i), j.block(Out, floorMod(rank-i, j.Ranks)))
	}
}
