package collective

// Rule says by which algorithm an operation is carried out, for jobs up to a size.
type Rule struct {
	Operation Operation
	Ranks     int // at most; 0: any number
	Bytes     int // at most; negative: any number
	Algorithm string
}

// Choose returns the algorithm for a job: that of the first rule that is for it and whose algorithm serves it, or else the simplest. Algorithms that combine
// in another order than that of ranks are for operations that commute.
func Choose(rules []Rule, o Operation, j Job, commutes bool) *Algorithm {
	for _, r := range rules {
		if r.Operation != o || r.Ranks > 0 && j.Ranks > r.Ranks || r.Bytes >= 0 && j.Bytes > r.Bytes {
			continue
		}
		if a := Named(o, r.Algorithm); a != nil && a.Serves(j) && (commutes || !a.Disorders) {
			return a
		}
	}
	return Of(o)[0]
}

// Usual is what serves on most machines: trees for what is short, and for what is long algorithms that send each byte few times. The lengths are
// round numbers near those at which MPICH changes. Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, 2005.
var Usual = []Rule{
	{Barrier, 0, -1, "binomial"},
	{Bcast, 0, 12 << 10, "binomial"},
	{Bcast, 7, -1, "binomial"},
	{Bcast, 0, -1, "scatter-allgather"},
	{Scatter, 0, -1, "binomial"},
	{Gather, 0, -1, "binomial"},
	{Allgather, 0, 8 << 10, "recursive-doubling"},
	{Allgather, 0, 8 << 10, "bruck"},
	{Allgather, 0, -1, "ring"},
	{Alltoall, 0, 256, "bruck"},
	{Alltoall, 0, -1, "pairwise"},
	{Reduce, 0, 2 << 10, "binomial"},
	{Reduce, 0, -1, "scatter-gather"},
	{Reduce, 0, -1, "binomial"},
	{Allreduce, 0, 2 << 10, "recursive-doubling"},
	{Allreduce, 0, -1, "scatter-allgather"},
	{Allreduce, 0, -1, "recursive-doubling"},
	{ReduceScatter, 0, 64 << 10, "recursive-halving"},
	{ReduceScatter, 0, -1, "pairwise"},
	{ReduceScatter, 0, -1, "reduce-then-scatter"},
	{Scan, 0, -1, "recursive-doubling"},
}
