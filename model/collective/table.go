package collective

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
)

// Rule selects the algorithm of an operation for some jobs.
type Rule struct {
	Operation Operation
	Peers     model.Peers // IntraPeers: all ranks share one node; InterPeers: they do not
	MaxRanks  int         // 0: no limit
	MaxBytes  int         // negative: no limit
	Algorithm string

	// Further conditions, as in current libraries.
	BytesOfAllRanks bool        // Bytes counts the blocks of all ranks together
	OnlyCommutative bool        // only for commutative operations
	OnlyPowerOfTwo  bool        // only for a power of two of ranks
	MinElements     MinElements // of the data
}

// MinElements is the minimum number of elements for which a rule applies.
type MinElements uint8

// Minimum numbers of elements.
const (
	AnyElements              MinElements = iota
	ElementPerRank                       // one per rank
	ElementPerPowerOfTwoRank             // one per rank of the largest power of two of ranks
)

// appliesTo reports whether a rule applies to a job of its operation, whose ranks have a tier.
func (r *Rule) appliesTo(tier model.Tier, j *Job) bool {
	return r.Peers.Contains(tier) && (r.MaxRanks == 0 || j.Ranks <= r.MaxRanks) && (r.MaxBytes < 0 || r.comparedBytes(j) <= r.MaxBytes) &&
		(!r.OnlyPowerOfTwo || hasPowerOfTwoRanks(*j)) && j.Bytes/j.elementBytes() >= r.minElements(j.Ranks)
}

// comparedBytes returns the number of bytes of a job that a rule compares with MaxBytes.
func (r *Rule) comparedBytes(j *Job) int {
	if r.BytesOfAllRanks && r.Operation.HasBlocks() {
		return j.Bytes * j.Ranks
	}
	return j.Bytes
}

// minElements returns the minimum number of elements for a number of ranks.
func (r *Rule) minElements(ranks int) int {
	switch r.MinElements {
	case ElementPerRank:
		return ranks
	case ElementPerPowerOfTwoRank:
		return newPowerOfTwoRanks(ranks).ranks
	}
	return 0
}

// Tuning is a table of rules with their algorithms.
type Tuning [NumOperations]struct {
	choices    []ruleChoice
	needsNodes bool
}

type ruleChoice struct {
	rule Rule
	*Algorithm
}

// NewTuning returns the tuning for rules. It omits rules with unknown algorithms.
func NewTuning(rules []Rule) *Tuning {
	t := new(Tuning)
	for _, r := range rules {
		of := &t[r.Operation]
		a := AlgorithmNamed(r.Operation, r.Algorithm)
		of.needsNodes = of.needsNodes || r.Peers != model.AllPeers || a != nil && a.NeedsNodes
		if a != nil {
			of.choices = append(of.choices, ruleChoice{r, a})
		}
	}
	for o := range t {
		t[o].choices = append(t[o].choices, ruleChoice{Algorithm: AlgorithmsOf(Operation(o))[0]})
	}
	return t
}

// NeedsNodes reports whether the choice of an algorithm for an operation depends on the placement
// of ranks on nodes.
func (t *Tuning) NeedsNodes(o Operation) bool { return t[o].needsNodes }

// HasOwnRule reports whether the table has a rule for an operation that is not in Defaults.
func (t *Tuning) HasOwnRule(o Operation) bool {
	rules := len(t[o].choices) - 1
	for _, r := range Defaults {
		if r.Operation == o {
			rules--
		}
	}
	return rules > 0
}

// ChooseAlgorithm returns the algorithm for a job: that of the first rule that applies and whose
// algorithm supports the job, or else the simplest. Algorithms that do not combine in the order of
// ranks are chosen only if the operation commutes.
func (t *Tuning) ChooseAlgorithm(o Operation, j *Job, commutes bool) *Algorithm {
	tier := j.Nodes.farthestTier()
	choices := t[o].choices
	last := len(choices) - 1
	for i := range choices[:last] {
		if c := &choices[i]; c.rule.appliesTo(tier, j) && c.Serves(*j) && (commutes || !c.NeedsCommutative && !c.rule.OnlyCommutative) {
			return c.Algorithm
		}
	}
	return choices[last].Algorithm
}

// RulesOfLibrary returns the rules of a library, followed by those of the decisions that it names,
// and by Defaults. It panics on unknown names.
func RulesOfLibrary(l *model.Library) []Rule {
	var rules []Rule
	for _, c := range l.Collectives {
		o, known := OperationNamed(c.Operation)
		if !known || AlgorithmNamed(o, c.Algorithm) == nil {
			panic(fmt.Sprintf("collective: library %s: no %s %s", l.Name, c.Operation, c.Algorithm))
		}
		rules = append(rules, Rule{Operation: o, Peers: c.Peers, MaxRanks: c.MaxRanks, MaxBytes: c.MaxBytes, Algorithm: c.Algorithm})
	}
	if l.Decisions != "" {
		d := FindDecisions(l.Decisions)
		if d == nil {
			panic(fmt.Sprintf("collective: library %s: no decisions %s", l.Name, l.Decisions))
		}
		rules = append(rules, d.Rules...)
	}
	return append(rules, Defaults...)
}

// EarlierRulesCovering returns the earlier rules of a table that together apply to all jobs to
// which a rule could apply, or nil if jobs are left for it. serves reports whether the rule's
// algorithm supports any job.
func EarlierRulesCovering(rules []Rule, rule int) (before []int, serves bool) {
	r := &rules[rule]
	for _, k := range r.largestJobs() {
		if !k.canUseRule(r) {
			continue
		}
		serves = true
		i := slices.IndexFunc(rules[:rule], func(r Rule) bool { return k.canUseRule(&r) })
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
	hasTiers bool // several nodes, at least one with several ranks
	commutes bool
}

// canUseRule reports whether a rule applies to such jobs and its algorithm supports them.
func (k *jobClass) canUseRule(r *Rule) bool {
	a := AlgorithmNamed(r.Operation, r.Algorithm)
	return r.Operation == k.operation && r.appliesTo(k.tier, &k.Job) && a != nil && a.servesCount(k.Ranks) && (k.hasTiers || !a.NeedsNodes) && (k.commutes || !a.NeedsCommutative)
}

// largestJobs returns the largest job of each class to which a rule applies. An earlier rule that
// applies to it also applies to the smaller jobs of its class.
func (r *Rule) largestJobs() []jobClass {
	const many = 1 << 40
	ranks, bytes := r.MaxRanks, r.MaxBytes
	if ranks == 0 {
		ranks = many
	}
	if bytes < 0 {
		bytes = many
	}
	counts := []int{newPowerOfTwoRanks(ranks).ranks}
	for _, n := range []int{ranks, ranks - 1} { // the largest odd and even numbers that are not powers of two
		for n > 2 && isPowerOfTwo(n) {
			n -= 2
		}
		if n > 2 {
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
			if k.tier, k.hasTiers = model.InterNode, true; r.Peers.Contains(k.tier) && n >= 3 {
				all = append(all, k)
			}
		}
	}
	return all
}

// Defaults are rules for most machines: trees for short data, and algorithms that send each byte
// few times for long data. The sizes are round numbers near those of MPICH. Thakur, Rabenseifner
// and Gropp, Optimization of Collective Communication Operations in MPICH, 2005.
var Defaults = []Rule{
	{Operation: Barrier, MaxBytes: -1, Algorithm: "binomial"},
	{Operation: Bcast, MaxBytes: 12 << 10, Algorithm: "binomial"},
	{Operation: Bcast, MaxRanks: 7, MaxBytes: -1, Algorithm: "binomial"},
	{Operation: Bcast, MaxBytes: -1, Algorithm: "scatter-allgather"},
	{Operation: Scatter, MaxBytes: -1, Algorithm: "binomial"},
	{Operation: Gather, MaxBytes: -1, Algorithm: "binomial"},
	{Operation: Allgather, MaxBytes: 8 << 10, Algorithm: "recursive-doubling"},
	{Operation: Allgather, MaxBytes: 8 << 10, Algorithm: "bruck"},
	{Operation: Allgather, MaxBytes: -1, Algorithm: "ring"},
	{Operation: Alltoall, MaxBytes: 256, Algorithm: "bruck"},
	{Operation: Alltoall, MaxBytes: -1, Algorithm: "pairwise"},
	{Operation: Reduce, MaxBytes: 2 << 10, Algorithm: "binomial"},
	{Operation: Reduce, MaxBytes: -1, Algorithm: "scatter-gather"},
	{Operation: Reduce, MaxBytes: -1, Algorithm: "binomial"},
	{Operation: Allreduce, MaxBytes: 2 << 10, Algorithm: "recursive-doubling"},
	{Operation: Allreduce, MaxBytes: -1, Algorithm: "scatter-allgather"},
	{Operation: Allreduce, MaxBytes: -1, Algorithm: "recursive-doubling"},
	{Operation: ReduceScatter, MaxBytes: 64 << 10, Algorithm: "recursive-halving"},
	{Operation: ReduceScatter, MaxBytes: -1, Algorithm: "pairwise"},
	{Operation: ReduceScatter, MaxBytes: -1, Algorithm: "reduce-then-scatter"},
	{Operation: Scan, MaxBytes: -1, Algorithm: "recursive-doubling"},
}
