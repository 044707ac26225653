package collective

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The rules of a library choose an algorithm for every job, by the row and the bound that the file
// has for it.
func TestRulesChooseAsTheDecisionsSay(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 1))
	for _, d := range AllDecisions {
		tuning := NewTuning(d.Rules)
		for range 20_000 {
			o := Operation(random.IntN(int(NumOperations)))
			j := Job{Ranks: 1 + random.IntN(1<<(1+random.IntN(13))), Bytes: random.IntN(1 << random.IntN(23)), ElementBytes: 1}
			if random.IntN(4) == 0 {
				j.Ranks = newPowerOfTwoRanks(j.Ranks).ranks
			}
			commutes := random.IntN(2) == 0
			bytes := j.Bytes
			if d.operations[o].bytesOfAllRanks {
				bytes *= j.Ranks
			}
			number, _ := chooseNamedAlgorithm(d, o, j.Ranks, bytes, commutes)
			a := d.operations[o].find(number)
			if a == nil {
				t.Fatalf("%s decides nothing for %v of %+v", d.Name, o, j)
			}
			got := tuning.ChooseAlgorithm(o, &j, commutes)
			if !d.isFormOf(tuning, a, got, j, commutes) {
				t.Fatalf("%s takes %s for %v of %+v, commutes %v, and its rules take %v", d.Name, a.name, o, j, commutes, got)
			}
			if !got.Serves(j) || got.NeedsCommutative && !commutes {
				t.Fatalf("%s: %v cannot serve %+v, commutes %v", d.Name, got, j, commutes)
			}
		}
	}
}

// isFormOf reports whether an algorithm is one of the forms of a library's algorithm for a job.
func (d *Decisions) isFormOf(tuning *Tuning, a *libraryAlgorithm, got *Algorithm, j Job, commutes bool) bool {
	for _, form := range a.forms {
		form, least, _ := strings.Cut(form, "@")
		elements := map[string]int{"": 0, "ranks": j.Ranks, "power": newPowerOfTwoRanks(j.Ranks).ranks}[least]
		if j.Bytes < elements {
			continue
		}
		if form == nonoverlappingForm {
			reduce := tuning.ChooseAlgorithm(Reduce, &j, commutes)
			bcast := tuning.ChooseAlgorithm(Bcast, &j, commutes)
			return got.Name == reduce.Name+"+"+bcast.Name
		}
		for _, p := range d.parameters {
			form = setParameter(form, p.label, p.libraryValue)
		}
		if named := AlgorithmNamed(got.Operation, form); named.Serves(j) && (commutes || !named.NeedsCommutative) {
			return got == named
		}
	}
	return false
}

// What Open MPI 4.1.1 takes at some ranks and bytes, as others have read its source.
func TestDecisionsOfOpenMPI(t *testing.T) {
	text, err := os.ReadFile("testdata/openmpi-4.1.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := FindDecisions("openmpi-4.1")
	n := 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 4 || words[0] == "#" {
			continue
		}
		o, _ := OperationNamed(words[0])
		ranks, _ := strconv.Atoi(words[1])
		bytes, _ := strconv.Atoi(words[2])
		if _, got := chooseNamedAlgorithm(d, o, ranks, bytes, true); got != words[3] {
			t.Errorf("%v of %d ranks and %d bytes: %s, not %s", o, ranks, bytes, got, words[3])
		}
		n++
	}
	if n != 56 {
		t.Errorf("%d cases", n)
	}
}

// Algorithms that libraries take at some ranks, in our names.
func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		decisions string
		o         Operation
		ranks     int
		bytes     int
		unit      int
		commutes  bool
		want      string
	}{
		{"openmpi-4.1", Bcast, 1152, 8, 1, true, "knomial-4"},
		{"openmpi-4.1", Bcast, 3, 4, 1, true, "chain-1"},
		{"openmpi-4.1", Barrier, 1152, 0, 1, true, "binomial"},
		{"openmpi-4.1", Allreduce, 3072, 8, 4, true, "knomial-2+knomial-4"},
		{"openmpi-4.1", Allreduce, 3072, 512, 4, true, "in-order-binary+knomial-4"},
		{"openmpi-4.1", Allreduce, 200, 8, 4, true, "knomial-2+binary"},
		{"openmpi-4.1", Allreduce, 3072, 2048, 4, true, "recursive-doubling"}, // a segmented ring of fewer elements than ranks
		{"openmpi-4.1", Allreduce, 3, 65536, 4, true, "ring"},
		{"openmpi-4.1", Allreduce, 48, 128, 4, true, "rabenseifner"},
		{"openmpi-4.1", Allreduce, 48, 128, 8, true, "linear+posted"},
		{"openmpi-4.1", Allreduce, 3072, 65536, 4, false, "recursive-doubling"},
		{"openmpi-4.1", Allgather, 34, 1024, 1, true, "neighbor-exchange"},
		{"openmpi-4.1", Allgather, 33, 1024, 1, true, "ring"},
		{"openmpi-4.1", Allgather, 24, 8, 1, true, "bruck"},
		{"openmpi-4.1", ReduceScatter, 16, 16383, 1, true, "recursive-halving-fold"},
		{"openmpi-4.1", ReduceScatter, 16, 16384, 1, true, "ring"},
		{"openmpi-5.0", Alltoall, 36, 1024, 1, true, "linear-sync"},
		{"mpich-4", Bcast, 64, 12289, 1, true, "scatter-doubling"},
		{"mpich-4", Bcast, 65, 12289, 1, true, "scatter-allgather"},
		{"mpich-4", Allreduce, 48, 128, 4, true, "rabenseifner-fold"},
		{"mpich-4", Allreduce, 48, 128, 4, false, "recursive-doubling"},
		{"mpich-4", Allgather, 10, 8191, 1, true, "bruck"},
		{"mpich-4", Allgather, 10, 8192, 1, true, "ring"},
		{"mpich-4", Alltoall, 10, 512, 1, true, "linear-sync-32"},
	} {
		j := Job{Ranks: c.ranks, Bytes: c.bytes, ElementBytes: c.unit}
		if got := NewTuning(FindDecisions(c.decisions).Rules).ChooseAlgorithm(c.o, &j, c.commutes); got.Name != c.want {
			t.Errorf("%s, %v of %+v: %v, not %s", c.decisions, c.o, j, got, c.want)
		}
	}
	nodes := NewNodes([]int{0, 0, 1, 1})
	if got := NewTuning(FindDecisions("mpich-4").Rules).ChooseAlgorithm(Bcast, &Job{Ranks: 4, Bytes: 8, Nodes: nodes}, true); got.Name != "two-level" {
		t.Errorf("mpich-4 broadcasts to two nodes by %v", got)
	}
}

// Users force algorithms by a library's own variables.
func TestForce(t *testing.T) {
	for _, c := range []struct {
		decisions, settings string
		ranks               int
		want                string // rules, or a part of the error
	}{
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=6", 4, "bcast binomial-posted"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=true coll_tuned_bcast_algorithm=binomial coll_tuned_bcast_algorithm_segmentsize=32768", 4, "bcast binomial-posted-32KiB"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=2 coll_tuned_bcast_algorithm_segmentsize=4096", 4, "bcast chain-4-4KiB"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=2 coll_tuned_bcast_algorithm_chain_fanout=3", 4, "bcast chain-3"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=7 coll_tuned_bcast_algorithm_knomial_radix=8", 4, "bcast knomial-8"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_allreduce_algorithm=5 coll_tuned_allreduce_algorithm_segmentsize=1048576", 4, "allreduce ring-1MiB, allreduce recursive-doubling"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_alltoall_algorithm=5", 2, "alltoall pairwise-shift"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=0", 4, ""},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1", 4, ""},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_alltoall_algorithm=5", 3, "is for 2 ranks, and there are 3"},
		{"openmpi-4.1", "coll_tuned_bcast_algorithm=6", 4, "no effect unless coll_tuned_use_dynamic_rules is 1"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=0 coll_tuned_bcast_algorithm=6", 4, "no effect unless coll_tuned_use_dynamic_rules is 1"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=12", 4, "no such algorithm: 1 basic_linear, 2 chain, 3 pipeline"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=1 coll_tuned_bcast_algorithm_segmentsize=1024", 4, "no effect on bcast basic_linear"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=7 coll_tuned_bcast_algorithm_tree_fanout=2", 4, "no effect on bcast knomial"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm_segmentsize=1024", 4, "unless coll_tuned_bcast_algorithm forces"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=7 coll_tuned_bcast_algorithm_knomial_radix=1", 4, "there is no bcast knomial-1"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=7 coll_tuned_bcast_algorithm_knomial_radix=x", 4, "write a number"},
		{"openmpi-4.1", "coll_tuned_use_dynamic_rules=maybe", 4, "write 1 or 0"},
		{"openmpi-4.1", "coll_tuned_bcast_algo=6", 4, "no variable coll_tuned_bcast_algo"},
		{"openmpi-4.1", "coll_tuned_bcast_algorithm=6 coll_tuned_bcast_algorithm=6", 4, "set twice"},
		{"openmpi-5.0", "coll_tuned_use_dynamic_rules=1 coll_tuned_reduce_scatter_algorithm=butterfly", 4, "reduce-scatter butterfly"},
		{"mpich-4", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=scatter_ring_allgather", 4, "bcast scatter-allgather"},
		{"mpich-4", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=auto", 4, ""},
		{"mpich-4", "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM=scattered MPIR_CVAR_ALLTOALL_THROTTLE=8", 4, "alltoall linear-sync-8"},
		{"mpich-4", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp-scatter", 4, "no such algorithm: binomial, scatter_recursive_doubling_allgather"},
	} {
		var settings []VariableSetting
		for _, word := range strings.Fields(c.settings) {
			name, value, _ := strings.Cut(word, "=")
			settings = append(settings, VariableSetting{name, value})
		}
		rules, err := FindDecisions(c.decisions).RulesOfSettings(settings, c.ranks)
		var got []string
		for _, r := range rules {
			got = append(got, r.Operation.String()+" "+r.Algorithm)
			if r.MaxRanks != 0 || r.MaxBytes >= 0 {
				t.Errorf("%s: %+v", c.settings, r)
			}
		}
		switch text := strings.Join(got, ", "); {
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)), err == nil && text != c.want:
			t.Errorf("%s: %s, %v, not %s", c.settings, text, err, c.want)
		}
	}
}

// A line of a file of decisions that says nothing is an error.
func TestDecisionLines(t *testing.T) {
	for line, want := range map[string]string{
		"<8 1":                    "an operation is to come first",
		"operation bcasts own":    "no operation bcasts",
		"parameter A a x 1":       "values are numbers",
		"bcast: <8":               "no bound such as <8",
		"<0 1":                    "no bound such as <8",
		"<8 <16 1":                "only the last algorithm",
		"<8 1 1":                  "only the last algorithm",
		"<8 <16":                  "no algorithm follows",
		"<8 <x 1 1":               "no bound such as <8",
		"<8":                      "no algorithm",
		"<8 2":                    "no algorithm 2",
		"* <16 1 <32 algorithm 1": "no algorithm algorithm",
	} {
		r := decisionReader{Decisions: &Decisions{}}
		if want != "an operation is to come first" {
			r.operation = &libraryOperation{algorithms: []libraryAlgorithm{{key: "1", name: "linear", forms: []string{"linear"}}}}
		}
		if err := r.parseLine(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", line, err, want)
		}
	}
}

// chooseNamedAlgorithm returns the number and the name that the library uses for the algorithm that
// it selects for a number of ranks and bytes. bytes are counted as in the library's table for the
// operation.
func chooseNamedAlgorithm(d *Decisions, o Operation, ranks, bytes int, commutes bool) (number, name string) {
	for _, row := range d.operations[o].rows {
		if row.ranksBelow > 0 && ranks >= row.ranksBelow || row.powerOfTwo && !isPowerOfTwo(ranks) || row.commutative && !commutes {
			continue
		}
		for _, c := range row.choices {
			if c.bytesBelow == 0 || bytes < c.bytesBelow {
				a := d.operations[o].find(c.algorithmKey)
				return a.key, a.name
			}
		}
	}
	return "", ""
}
