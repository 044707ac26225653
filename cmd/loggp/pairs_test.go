package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
	"github.com/loggp/loggp/microbench/sample"
)

// All pairs are measured, each with all that a pair shows, and the same whatever the number of
// cores.
func TestAllPairs(t *testing.T) {
	t.Chdir(t.TempDir())
	base := "measure --platform t3d --ranks 5 --pairs all --sizes 16,1000 --reps 3 -o "
	mustRun(t, strings.Fields(base+"a.csv")...)
	before := runtime.GOMAXPROCS(1)
	mustRun(t, strings.Fields(base+"b.csv")...)
	runtime.GOMAXPROCS(before)
	a, errA := os.ReadFile("a.csv")
	b, errB := os.ReadFile("b.csv")
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("one core wrote other samples (%v, %v)", errA, errB)
	}
	set, err := sample.ReadFile("a.csv")
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]int{}
	for _, s := range set.Series {
		series[s.Place]++
	}
	for i := range 5 {
		for j := range i {
			if n := series[sample.PairPlace(i, j)]; n == 0 || n != series["0-1"] {
				t.Errorf("pair %d-%d has %d series, pair 0-1 %d", j, i, n, series["0-1"])
			}
		}
	}
	if len(series) != 10 {
		t.Errorf("places %v", series)
	}
	if v, _ := set.Fact(sample.PairFact); v != sample.AllPairsValue {
		t.Errorf("the fact pair is %q", v)
	}
}

// Where all ranks are in one node, what they show is of one node; where no two are, or only some,
// it is between nodes.
func TestPlaceOfOneTier(t *testing.T) {
	t.Chdir(t.TempDir())
	for platform, place := range map[string]string{"convex": "within a node", "now": "between nodes", "t3d": "between nodes"} {
		out := mustRun(t, strings.Fields("measure --pairs all --ranks 4 --sizes 16,100,1000 --modes send,isend --reps 5 --platform "+platform)...)
		if !strings.Contains(out, "LogGP parameters of "+platform) || !strings.Contains(out, ", "+place+"\n") {
			t.Errorf("no %q in\n%s", place, out)
		}
	}
}

// From pairs alone fit finds the clusters, domains and sockets of a node, and the nodes, though
// processors are noisy: each tier has its distance.
func TestTiersOfNUMANode(t *testing.T) {
	file := commandtest.AbsolutePath(t, "../../docs/numa-node.yaml")
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform "+file+" --ranks 40 --pairs all --modes send --sizes 16,1000 --reps 5 --noise 2% -o pairs.csv")...)
	mustRun(t, strings.Fields("fit pairs.csv -o params.csv")...)
	b, err := os.ReadFile("params.csv")
	if err != nil {
		t.Fatal(err)
	}
	for tier, size := range []int{4, 8, 16, 32, 40} {
		var groups []string
		for rank := range 40 {
			if rank%size == 0 {
				groups = append(groups, "; "+strconv.Itoa(rank))
			} else {
				groups[len(groups)-1] += " " + strconv.Itoa(rank)
			}
		}
		if want := fmt.Sprintf("# groups: numa-node; mpi; tier%d%s\n", tier+1, strings.Join(groups, "")); !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%.2000s", want, b)
		}
	}
}

// From pairs alone fit finds the groups of ranks on the Convex, and predict uses them as places.
// Two hypernodes of eight.
func TestTiersOfConvex(t *testing.T) {
	t.Chdir(t.TempDir())
	seeds := 6
	if os.Getenv("LOGGP_SOAK") == "" {
		seeds = 1
	}
	for seed := range seeds {
		mustRun(t, strings.Fields("measure --platform convex --pairs all --level message --sizes 16,1000,10000 --reps 5 --noise 5% -o pairs.csv --seed "+strconv.Itoa(seed))...)
		mustRun(t, strings.Fields("fit pairs.csv -o params.csv")...)
		b, err := os.ReadFile("params.csv")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"# groups: convex; mpich; intra; 0 1 2 3 4 5 6 7; 8 9 10 11 12 13 14 15\n", "\nconvex,mpich,inter,,H,,,2,2,2,count,pairs,120,good\n", "\nconvex,mpich,intra,,P,,,8,8,8,count,pairs,120,good\n",
		} {
			if !strings.Contains(string(b), want) {
				t.Fatalf("seed %d: no %q in\n%s", seed, want, b)
			}
		}
	}
	// The messages between hypernodes show no L, which a prediction needs: it fails, with the same
	// words.
	predict := func(place string) string {
		var out, errs buffer
		runCommandLine(t.Context(), []string{"predict", "--params", "params.csv", "--place", place, "--sizes", "1000"}, &out, &errs)
		return out.String() + errs.String()
	}
	if predict("intra") == predict("inter") {
		t.Fatal("both tiers predict the same")
	}
	for pair, place := range map[string]string{"1,6": "intra", "9,3": "inter"} {
		if out, want := predict(pair), predict(place); out != want {
			t.Errorf("ranks %s:\n%s\nplace %s:\n%s", pair, out, place, want)
		}
	}
}

// All pairs of this machine are measured, as processes that share memory or are connected by TCP,
// and by its MPI.
func TestAllPairsHere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, platform := range []string{"shm", "tcp"} {
		out := mustRun(t, strings.Fields("measure --pairs all -n 3 --modes send --sizes 16,1000,4000 --reps 2 --launches 1 -o pairs.csv --platform "+platform)...)
		if !strings.Contains(out, "Tiers of "+platform+", loggp: 3 pairs of 3 ranks\n") || !strings.Contains(out, "\nrank ") {
			t.Errorf("%s: no tiers and no times of each pair in\n%s", platform, out)
		}
		set, err := sample.ReadFile("pairs.csv")
		if err != nil {
			t.Fatal(err)
		}
		places := map[string]bool{}
		for _, s := range set.Series {
			places[s.Place] = true
		}
		if !places["0-1"] || !places["0-2"] || !places["1-2"] || len(places) != 3 {
			t.Errorf("%s: places %v", platform, places)
		}
		mustRun(t, "report", "pairs.csv", "-o", platform)
		if _, err := os.Stat(platform + "/tiers-" + platform + "-loggp.svg"); err != nil {
			t.Errorf("no heat map: %v", err)
		}
	}
}
