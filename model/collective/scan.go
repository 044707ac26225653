package collective

var scans = []*Algorithm{
	{Operation: Scan, Name: "linear", schedule: linearScan},
	{Operation: Scan, Name: "recursive-doubling", schedule: doublingScan},
}

// linearScan passes what is combined from rank to rank.
func linearScan(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	if rank > 0 {
		s.recv(rank-1, j.whole(Tmp))
		s.fold(j.whole(Tmp), j.whole(Out), true)
	}
	if rank+1 < j.Ranks {
		s.send(rank+1, j.whole(Out))
	}
}

// doublingScan gets from the rank 1, 2, 4 … before what that has combined, which is as many ranks as it is far. Hillis and Steele 1986.
func doublingScan(s *Script, j Job, rank int) {
	s.local(Copy, j.whole(In), j.whole(Out))
	for far := 1; far < j.Ranks; far *= 2 {
		to, from := None, None
		var what, into Span
		if rank+far < j.Ranks {
			to, what = rank+far, j.whole(Out)
		}
		if rank-far >= 0 {
			from, into = rank-far, j.whole(Tmp)
		}
		if to != None || from != None {
			s.exchange(to, what, from, into)
		}
		if from != None {
			s.fold(j.whole(Tmp), j.whole(Out), true)
		}
	}
}
