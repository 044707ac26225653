package collective

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
)

// Rule chooses the algorithm of an operation, for jobs up to a size.
type Rule struct {
	Operation Operation
	Peers     model.Peers // IntraPeers: all ranks are in one node; InterPeers: they are in several
	Ranks     int         // at most; 0: any number
	Bytes     int         // at most; negative: any number
	Algorithm string
}

// within reports whether a rule applies to a job of its operation whose ranks are of a tier.
func (r *Rule) within(tier model.Tier, j *Job) bool {
	return r.Peers.Contains(tier) && (r.Ranks == 0 || j.Ranks <= r.Ranks) && (r.Bytes < 0 || j.Bytes <= r.Bytes)
}

// Tuning is a table of rules with their algorithms.
type Tuning [NumOperations]struct {
	choices    []choice
	needsNodes bool
}

type choice struct {
	rule Rule
	*Algorithm
}

// Tuned finds the algorithms of rules. It omits rules with unknown algorithms.
func Tuned(rules []Rule) *Tuning {
	t := new(Tuning)
	for _, r := range rules {
		of := &t[r.Operation]
		a := Named(r.Operation, r.Algorithm)
		of.needsNodes = of.needsNodes || r.Peers != model.AllPeers || a != nil && a.TwoLevel
		if a != nil {
			of.choices = append(of.choices, choice{r, a})
		}
	}
	for o := range t {
		t[o].choices = append(t[o].choices, choice{Algorithm: Of(Operation(o))[0]})
	}
	return t
}

// NeedsNodes reports whether choosing an algorithm for an operation depends on which ranks share a
// node.
func (t *Tuning) NeedsNodes(o Operation) bool { return t[o].needsNodes }

// Asked reports whether there is a rule for an operation beside those of Defaults: somebody wants
// an algorithm.
func (t *Tuning) Asked(o Operation) bool {
	rules := len(t[o].choices) - 1
	for _, r := range Defaults {
		if r.Operation == o {
			rules--
		}
	}
	return rules > 0
}

// Choose returns the algorithm for a job: that of the first rule that applies and whose algorithm
// serves it, or else the simplest. Algorithms that do not combine in the order of ranks are chosen
// only if the operation commutes.
func (t *Tuning) Choose(o Operation, j *Job, commutes bool) *Algorithm {
	tier := j.Nodes.tier()
	choices := t[o].choices
	last := len(choices) - 1
	for i := range choices[:last] {
		if c := &choices[i]; c.rule.within(tier, j) && c.Serves(*j) && (commutes || !c.NeedsCommutative) {
			return c.Algorithm
		}
	}
	return choices[last].Algorithm
}

// Table returns the rules of a library, followed by Defaults. Unknown names panic.
func Table(l *model.Library) []Rule {
	var rules []Rule
	for _, c := range l.Collectives {
		o, known := OperationNamed(c.Operation)
		if !known || Named(o, c.Algorithm) == nil {
			panic(fmt.Sprintf("collective: library %s: no %s %s", l.Name, c.Operation, c.Algorithm))
		}
		rules = append(rules, Rule{o, c.Peers, c.Ranks, c.UpTo, c.Algorithm})
	}
	return append(rules, Defaults...)
}

// Before returns the earlier rules that together apply to all jobs to which a rule of a table could
// apply, or nil if jobs are left for it. serves reports whether its algorithm can serve any job.
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

// jobClass is a set of jobs that no table distinguishes.
type jobClass struct {
	operation Operation
	Job
	tier     model.Tier
	tiered   bool // several nodes, and several ranks in one of them
	commutes bool
}

// by reports whether a rule applies to such jobs and its algorithm serves them.
func (k *jobClass) by(r *Rule) bool {
	a := Named(r.Operation, r.Algorithm)
	return r.Operation == k.operation && r.within(k.tier, &k.Job) && a != nil && a.servesCount(k.Ranks) && (k.tiered || !a.TwoLevel) && (k.commutes || !a.NeedsCommutative)
}

// corners returns the largest job of each class to which a rule applies. An earlier rule that
// applies to it also applies to the smaller jobs of its class.
func (r *Rule) corners() []jobClass {
	const many = 1 << 40
	ranks, bytes := r.Ranks, r.Bytes
	if ranks == 0 {
		ranks = many
	}
	if bytes < 0 {
		bytes = many
	}
	counts := []int{powerOf(ranks).ranks}
	for n := max(ranks-2, 3); n <= ranks; n++ { // the largest odd and even numbers that are no powers of two
		if !isPowerOfTwo(n) {
			counts = append(counts, n)
		}
	}
	var all []jobClass
	for _, n := range counts {
		for _, commutes := range []bool{true, false} {
			k := jobClass{operation: r.Operation, Job: Job{Ranks: n, Bytes: bytes}, commutes: commutes}
			for tier, least := range [model.NumTiers]int{model.IntraNode: 1, model.InterNode: 2} {
				if k.tier = model.Tier(tier); r.Peers.Contains(k.tier) && n >= least {
					all = append(all, k)
				}
			}
			if k.tier, k.tiered = model.InterNode, true; r.Peers.Contains(k.tier) && n >= 3 {
				all = append(all, k)
			}
		}
	}
	return all
}

// anywhere is the tier of rules that do not depend on it.
const anywhere = model.AllPeers

// Defaults are rules for most machines: trees for short data, and algorithms that send each byte
// few times for long data. The lengths are round numbers near those of MPICH. Thakur, Rabenseifner
// and Gropp, Optimization of Collective Communication Operations in MPICH, 2005.
var Defaults = []Rule{
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
