package collective

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/model"
)

// A rule counts where ranks lie as it says, and an algorithm where it serves.
func TestChoose(t *testing.T) {
	rules := []Rule{
		{Operation: Bcast, Peers: model.IntraPeers, MaxRanks: 4, MaxBytes: 100, Algorithm: "linear"},
		{Operation: Bcast, Peers: model.InterPeers, MaxRanks: 0, MaxBytes: -1, Algorithm: "two-level"},
		{Operation: Reduce, Peers: model.AllPeers, MaxRanks: 0, MaxBytes: -1, Algorithm: "two-level"},
		{Operation: Reduce, Peers: model.AllPeers, MaxRanks: 0, MaxBytes: 100, Algorithm: "scatter-gather"},
		{Operation: Bcast, Peers: model.AllPeers, MaxRanks: 0, MaxBytes: -1, Algorithm: "scatter-allgather"},
		{Operation: Scan, Peers: model.IntraPeers, MaxRanks: 0, MaxBytes: -1, Algorithm: "recursive-doubling"},
	}
	one, several, alone := NewNodes([]int{0, 0, 0, 0}), NewNodes([]int{0, 1, 0, 1}), NewNodes([]int{0, 1, 2, 3})
	tuning := NewTuning(rules)
	for _, c := range []struct {
		o        Operation
		j        Job
		commutes bool
		want     string
	}{
		{Bcast, Job{Ranks: 4, Bytes: 100, Nodes: one}, false, "linear"},
		{Bcast, Job{Ranks: 4, Bytes: 101, Nodes: one}, false, "scatter-allgather"},
		{Bcast, Job{Ranks: 5, Bytes: 100, Nodes: NewNodes(make([]int, 5))}, false, "scatter-allgather"},
		{Bcast, Job{Ranks: 4, Bytes: 100, Nodes: several}, false, "two-level"},
		{Bcast, Job{Ranks: 4, Bytes: 100, Nodes: alone}, false, "scatter-allgather"},
		{Bcast, Job{Ranks: 4, Bytes: 100}, false, "scatter-allgather"},
		{Reduce, Job{Ranks: 4, Bytes: 100, Nodes: several}, true, "two-level"},
		{Reduce, Job{Ranks: 4, Bytes: 100, Nodes: one}, true, "scatter-gather"},
		{Reduce, Job{Ranks: 3, Bytes: 100}, true, "linear"},
		{Reduce, Job{Ranks: 4, Bytes: 101}, true, "linear"},
		{Reduce, Job{Ranks: 4, Bytes: 100, Nodes: several}, false, "linear"},
		{Scan, Job{Ranks: 4}, true, "linear"},
		{Scan, Job{Ranks: 4, Nodes: one}, true, "recursive-doubling"},
		{Gather, Job{Ranks: 4, Nodes: one}, true, "linear"},
	} {
		if got := tuning.ChooseAlgorithm(c.o, &c.j, c.commutes); got.Name != c.want {
			t.Errorf("%v of %+v, commutes %v: %v, want %s", c.o, c.j, c.commutes, got, c.want)
		}
	}
	for _, o := range Operations() {
		if got, want := tuning.NeedsNodes(o), o == Bcast || o == Reduce || o == Scan; got != want {
			t.Errorf("the table asks where ranks are of %v: %v", o, got)
		}
		if NewTuning(Defaults).NeedsNodes(o) {
			t.Errorf("the usual table asks where ranks are of %v", o)
		}
	}
}

// Usual stands behind what a library says.
func TestTable(t *testing.T) {
	l := &model.Library{Name: "x", Collectives: []model.CollectiveRule{{Operation: "bcast", Peers: model.InterPeers, MaxRanks: 9, MaxBytes: 100, Algorithm: "two-level"}}}
	if got := RulesOfLibrary(l); got[0] != (Rule{Operation: Bcast, Peers: model.InterPeers, MaxRanks: 9, MaxBytes: 100, Algorithm: "two-level"}) || !slices.Equal(got[1:], Defaults) {
		t.Errorf("%+v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name that there is not passes")
		}
	}()
	l.Collectives[0].Algorithm = "two-levels"
	RulesOfLibrary(l)
}

// EarlierRulesCovering finds what going through all small jobs finds: whether a rule takes any.
func TestBefore(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	pick := func(x ...int) int { return x[random.IntN(len(x))] }
	small := smallJobs()
	var dead, mute int
	for range 3000 {
		rules := make([]Rule, 1+random.IntN(5))
		for i := range rules {
			o := Operation(pick(int(Reduce), int(Allgather), int(Allreduce)))
			of := slices.Concat(AlgorithmsOf(o), AdditionalAlgorithms(o))
			rules[i] = Rule{Operation: o, Peers: model.Peers(pick(0, 1, 2)), MaxRanks: pick(0, 0, 2, 3, 4, 6), MaxBytes: pick(-1, -1, 0, 8), Algorithm: of[random.IntN(len(of))].Name}
		}
		last := len(rules) - 1
		before, serves := EarlierRulesCovering(rules, last)
		takes := false
		for _, j := range small {
			for _, commutes := range []bool{true, false} {
				first := first(rules, rules[last].Operation, j, commutes)
				takes = takes || first == last
			}
		}
		if reached := serves && before == nil; reached != takes {
			t.Fatalf("the last of %+v takes some jobs: %v, by Before %v, serves %v", rules, takes, before, serves)
		}
		if before != nil {
			dead++
		}
		if !serves {
			mute++
		}
	}
	if dead < 100 || mute < 100 {
		t.Errorf("of 3000 tables %d have a rule that others cover, and %d one that serves no job", dead, mute)
	}
}

// first returns the rule that takes a job, or −1.
func first(rules []Rule, o Operation, j Job, commutes bool) int {
	return slices.IndexFunc(rules, func(r Rule) bool {
		a := AlgorithmNamed(o, r.Algorithm)
		return r.Operation == o && r.appliesTo(j.Nodes.farthestTier(), &j) && a != nil && a.Serves(j) && (commutes || !a.NeedsCommutative)
	})
}

// smallJobs are those of 1 to 9 ranks in one node, in several, and alone.
func smallJobs() []Job {
	var all []Job
	for ranks := 1; ranks <= 9; ranks++ {
		for _, node := range []func(r int) int{func(int) int { return 0 }, func(r int) int { return r / 2 }, func(r int) int { return r }} {
			names := make([]int, ranks)
			for r := range names {
				names[r] = node(r)
			}
			for _, bytes := range []int{0, 8, 9} {
				all = append(all, Job{Ranks: ranks, Bytes: bytes, Nodes: NewNodes(names)})
			}
		}
	}
	return all
}

// A library's own rules come before the decisions that it names, and these before the usual rules.
func TestTableOfDecisions(t *testing.T) {
	l := &model.Library{Name: "x", Decisions: "openmpi-4.1", Collectives: []model.CollectiveRule{{Operation: "bcast", MaxRanks: 9, MaxBytes: 100, Algorithm: "linear"}}}
	tuning := NewTuning(RulesOfLibrary(l))
	for _, c := range []struct {
		o    Operation
		j    Job
		want string
	}{
		{Bcast, Job{Ranks: 8, Bytes: 8}, "linear"},
		{Bcast, Job{Ranks: 64, Bytes: 8}, "knomial-4"},
		{Scan, Job{Ranks: 8, Bytes: 8}, "linear"},
	} {
		if got := tuning.ChooseAlgorithm(c.o, &c.j, true); got.Name != c.want {
			t.Errorf("%v of %+v: %v, not %s", c.o, c.j, got, c.want)
		}
	}
}
