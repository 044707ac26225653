package collective

import (
	"fmt"
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

// within reports whether a rule is for a job of its operation with ranks that are so near.
func (r *Rule) within(tier model.Tier, j *Job) bool {
	return r.Peers.Has(tier) && (r.Ranks == 0 || j.Ranks <= r.Ranks) && (r.Bytes < 0 || j.Bytes <= r.Bytes)
}

// Tuning is a table of rules whose algorithms are found.
type Tuning [NumOperations]struct {
	choices []choice
	asks    bool
}

type choice struct {
	rule Rule
	*Algorithm
}

// Tuned finds the algorithms of rules. Those that there are not are left out.
func Tuned(rules []Rule) *Tuning {
	t := new(Tuning)
	for _, r := range rules {
		of := &t[r.Operation]
		a := Named(r.Operation, r.Algorithm)
		of.asks = of.asks || r.Peers != model.AllPeers || a != nil && a.Tiered
		if a != nil {
			of.choices = append(of.choices, choice{r, a})
		}
	}
	for o := range t {
		t[o].choices = append(t[o].choices, choice{Algorithm: Of(Operation(o))[0]})
	}
	return t
}

// Asks reports whether a table, to choose an algorithm for an operation, wants to know which ranks are near each other.
func (t *Tuning) Asks(o Operation) bool { return t[o].asks }

// Choose returns the algorithm for a job: that of the first rule that is for it and whose algorithm serves it, or else the simplest. Algorithms that combine
// in another order than that of ranks are for operations that commute.
func (t *Tuning) Choose(o Operation, j *Job, commutes bool) *Algorithm {
	tier := j.Nodes.tier()
	choices := t[o].choices
	last := len(choices) - 1
	for i := range choices[:last] {
		if c := &choices[i]; c.rule.within(tier, j) && c.Serves(*j) && (commutes || !c.Disorders) {
			return c.Algorithm
		}
	}
	return choices[last].Algorithm
}

// Table returns the rules of a library, and behind them Usual. Names that there are not panic.
func Table(l *model.Library) []Rule {
	var rules []Rule
	for _, c := range l.Collectives {
		o, known := OperationNamed(c.Operation)
		if !known || Named(o, c.Algorithm) == nil {
			panic(fmt.Sprintf("collective: library %s: no %s %s", l.Name, c.Operation, c.Algorithm))
		}
		rules = append(rules, Rule{o, c.Peers, c.Ranks, c.UpTo, c.Algorithm})
	}
	return append(rules, Usual...)
}

// Before returns the rules before one of a table that together take all jobs that it could: none where it takes some. serves says whether there are any that
// its algorithm can serve.
func Before(rules []Rule, rule int) (before []int, serves bool) {
	r := &rules[rule]
	for _, k := range r.corners() {
		if !k.by(r) {
			continue
		}
		serves = true
		i := slices.IndexFunc(rules[:rule], func(r Rule) bool { return k.by(&r) })
		if i < 0 {
			return nil, true
		}
		if !slices.Contains(before, i) {
			before = append(before, i)
		}
	}
	slices.Sort(before)
	return before, serves
}

// kind is jobs that no table tells apart.
type kind struct {
	operation Operation
	Job
	tier     model.Tier
	tiered   bool // some ranks are in one node, and some are not
	commutes bool
}

// by reports whether a rule is for such jobs, and its algorithm serves them.
func (k *kind) by(r *Rule) bool {
	a := Named(r.Operation, r.Algorithm)
	return r.Operation == k.operation && r.within(k.tier, &k.Job) && a != nil && (!a.PowerOfTwo || powerOfTwo(k.Job)) && (k.tiered || !a.Tiered) && (k.commutes || !a.Disorders)
}

// corners returns the largest jobs that a rule is for, of each kind. A rule before it that takes one of them takes the smaller ones of its kind too.
func (r *Rule) corners() []kind {
	const many = 1 << 40
	ranks, bytes := r.Ranks, r.Bytes
	if ranks == 0 {
		ranks = many
	}
	if bytes < 0 {
		bytes = many
	}
	power := powerOf(ranks).ranks
	if power == ranks {
		ranks-- // the largest number that is none, from 3 on
	}
	var all []kind
	for _, n := range []int{power, ranks} {
		for _, commutes := range []bool{true, false} {
			k := kind{operation: r.Operation, Job: Job{Ranks: n, Bytes: bytes}, commutes: commutes}
			for tier, least := range [model.NumTiers]int{model.Intra: 1, model.Inter: 2} {
				if k.tier = model.Tier(tier); r.Peers.Has(k.tier) && n >= least {
					all = append(all, k)
				}
			}
			if k.tier, k.tiered = model.Inter, true; r.Peers.Has(k.tier) && n >= 3 {
				all = append(all, k)
			}
		}
	}
	return all
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
