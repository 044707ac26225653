package collective

import (
	"slices"

	"github.com/loggp/loggp/model"
)

// Rule says by which algorithm an operation is carried out, for jobs up to a size.
type Rule struct {
	Operation Operation
	Peers     model.Peers // how near ranks are: IntraPeers: all in one node; InterPeers: in several
	Ranks     int         // at most; 0: any number
	Bytes     int         // at most; negative: any number
	Algorithm string
}

// takes reports whether a rule is for a job.
func (r *Rule) takes(o Operation, j Job) bool {
	return r.Operation == o && r.Peers.Has(j.Nodes.tier()) && (r.Ranks == 0 || j.Ranks <= r.Ranks) && (r.Bytes < 0 || j.Bytes <= r.Bytes)
}

// Choose returns the algorithm for a job: that of the first rule that is for it and whose algorithm serves it, or else the simplest. Algorithms that combine
// in another order than that of ranks are for operations that commute.
func Choose(rules []Rule, o Operation, j Job, commutes bool) *Algorithm {
	for i := range rules {
		if !rules[i].takes(o, j) {
			continue
		}
		if a := Named(o, rules[i].Algorithm); a != nil && a.Serves(j) && (commutes || !a.Disorders) {
			return a
		}
	}
	return Of(o)[0]
}

// Asks reports whether a table, to choose an algorithm for an operation, wants to know which ranks are near each other.
func Asks(rules []Rule, o Operation) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool {
		a := Named(o, r.Algorithm)
		return r.Operation == o && (r.Peers != model.AllPeers || a != nil && a.Tiered)
	})
}

// anywhere is where the ranks are that a rule is for, if it does not look at that.
const anywhere = model.AllPeers

// Usual is what serves on most machines: trees for what is short, and for what is long algorithms that send each byte few times. The lengths are
// round numbers near those at which MPICH changes. Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, 2005.
var Usual = []Rule{
	{Barrier, anywhere, 0, -1, "binomial"},
	{Bcast, anywhere, 0, 12 << 10, "binomial"},
	{Bcast, anywhere, 7, -1, "binomial"},
	{Bcast, anywhere, 0, -1, "scatter-allgather"},
	{Scatter, anywhere, 0, -1, "binomial"},
	{Gather, anywhere, 0, -1, "binomial"},
	{Allgather, anywhere, 0, 8 << 10, "recursive-doubling"},
	{Allgather, anywhere, 0, 8 << 10, "bruck"},
	{Allgather, anywhere, 0, -1, "ring"},
	{Alltoall, anywhere, 0, 256, "bruck"},
	{Alltoall, anywhere, 0, -1, "pairwise"},
	{Reduce, anywhere, 0, 2 << 10, "binomial"},
	{Reduce, anywhere, 0, -1, "scatter-gather"},
	{Reduce, anywhere, 0, -1, "binomial"},
	{Allreduce, anywhere, 0, 2 << 10, "recursive-doubling"},
	{Allreduce, anywhere, 0, -1, "scatter-allgather"},
	{Allreduce, anywhere, 0, -1, "recursive-doubling"},
	{ReduceScatter, anywhere, 0, 64 << 10, "recursive-halving"},
	{ReduceScatter, anywhere, 0, -1, "pairwise"},
	{ReduceScatter, anywhere, 0, -1, "reduce-then-scatter"},
	{Scan, anywhere, 0, -1, "recursive-doubling"},
}
