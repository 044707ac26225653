package collective

import "slices"

// libraryAlgorithms are algorithms of particular libraries, which comparisons of all do not
// contain.
var libraryAlgorithms = []*Algorithm{
	{Operation: Barrier, Name: "double-ring", schedule: doubleRingBarrier},
	{Operation: Barrier, Name: "recursive-doubling", schedule: doublingBarrier},
	{Operation: Bcast, Name: "scatter-doubling", schedule: scatterDoublingBcast},
	{Operation: Scatter, Name: "posted", schedule: postedScatter},
	{Operation: Allgather, Name: "neighbor-exchange", EvenRanks: true, schedule: neighborAllgather},
	{Operation: Alltoall, Name: "pairwise-shift", schedule: shiftedAlltoall},
	{Operation: Reduce, Name: "rabenseifner", NeedsCommutative: true, schedule: splitPairs.reduce},
	{Operation: Reduce, Name: "rabenseifner-fold", NeedsCommutative: true, schedule: foldPairs.reduce},
	{Operation: Allreduce, Name: "rabenseifner", NeedsCommutative: true, schedule: splitPairs.allreduce},
	{Operation: Allreduce, Name: "rabenseifner-fold", NeedsCommutative: true, schedule: foldPairs.allreduce},
	{Operation: ReduceScatter, Name: "ring", NeedsCommutative: true, schedule: ringReduceScatter},
	{Operation: ReduceScatter, Name: "recursive-halving-fold", NeedsCommutative: true, schedule: foldedHalvingReduceScatter},
	{Operation: ReduceScatter, Name: "butterfly", NeedsCommutative: true, schedule: butterflyReduceScatter},
}

// Extended returns algorithms for an operation that comparisons of all do not contain: those of
// particular libraries, and a member of each family.
func Extended(o Operation) []*Algorithm {
	var all []*Algorithm
	for _, a := range libraryAlgorithms {
		if a.Operation == o {
			all = append(all, a)
		}
	}
	for i := range families {
		if f := &families[i]; f.operation == o {
			all = append(all, Named(o, f.name+"-"+f.example))
		}
	}
	if o == Allreduce {
		all = append(all, Named(o, "linear+posted"), Named(o, "knomial-2+knomial-4"))
	}
	return all
}

// Forms returns how the names of an operation's algorithms are written, with the parameters of
// families in capitals.
func Forms(o Operation) []string {
	var forms []string
	for _, a := range slices.Concat(Algorithms, libraryAlgorithms) {
		if a.Operation == o && !slices.ContainsFunc(families, func(f family) bool { return f.contains(a) }) {
			forms = append(forms, a.Name)
		}
	}
	for i := range families {
		if f := &families[i]; f.operation == o {
			forms = append(forms, f.form())
		}
	}
	if o == Allreduce {
		forms = append(forms, sequenceForm)
	}
	return forms
}
