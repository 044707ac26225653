package collective

import "slices"

// libraryAlgorithms are algorithms of particular libraries, which are not in Algorithms.
var libraryAlgorithms = []*Algorithm{
	{Operation: Barrier, Name: "double-ring", writeSchedule: doubleRingBarrier},
	{Operation: Barrier, Name: "recursive-doubling", writeSchedule: doublingBarrier},
	{Operation: Bcast, Name: "scatter-doubling", writeSchedule: scatterDoublingBcast},
	{Operation: Scatter, Name: "posted", writeSchedule: postedScatter},
	{Operation: Allgather, Name: "neighbor-exchange", NeedsEvenRanks: true, writeSchedule: neighborAllgather},
	{Operation: Alltoall, Name: "pairwise-shift", writeSchedule: shiftedAlltoall},
	{Operation: Reduce, Name: "rabenseifner", NeedsCommutative: true, writeSchedule: splitPairs.writeReduce},
	{Operation: Reduce, Name: "rabenseifner-fold", NeedsCommutative: true, writeSchedule: foldPairs.writeReduce},
	{Operation: Allreduce, Name: "rabenseifner", NeedsCommutative: true, writeSchedule: splitPairs.writeAllreduce},
	{Operation: Allreduce, Name: "rabenseifner-fold", NeedsCommutative: true, writeSchedule: foldPairs.writeAllreduce},
	{Operation: ReduceScatter, Name: "ring", NeedsCommutative: true, writeSchedule: ringReduceScatter},
	{Operation: ReduceScatter, Name: "recursive-halving-fold", NeedsCommutative: true, writeSchedule: foldedHalvingReduceScatter},
	{Operation: ReduceScatter, Name: "butterfly", NeedsCommutative: true, writeSchedule: butterflyReduceScatter},
}

// AdditionalAlgorithms returns algorithms of an operation that are not in Algorithms: those of
// particular libraries, and one member of each family.
func AdditionalAlgorithms(o Operation) []*Algorithm {
	var all []*Algorithm
	for _, a := range libraryAlgorithms {
		if a.Operation == o {
			all = append(all, a)
		}
	}
	for i := range families {
		if f := &families[i]; f.operation == o {
			all = append(all, AlgorithmNamed(o, f.name+"-"+f.example))
		}
	}
	if o == Allreduce {
		all = append(all, AlgorithmNamed(o, "linear+posted"), AlgorithmNamed(o, "knomial-2+knomial-4"))
	}
	return all
}

// NameForms returns the forms of algorithm names of an operation, with the parameters of families
// in capitals.
func NameForms(o Operation) []string {
	var forms []string
	for _, a := range slices.Concat(Algorithms, libraryAlgorithms) {
		if a.Operation == o && !slices.ContainsFunc(families, func(f algorithmFamily) bool { return f.contains(a) }) {
			forms = append(forms, a.Name)
		}
	}
	for i := range families {
		if f := &families[i]; f.operation == o {
			forms = append(forms, f.nameForm())
		}
	}
	if o == Allreduce {
		forms = append(forms, sequenceForm)
	}
	return forms
}
