//go:build unix

package probe

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// some are some operations of two launches.
func some(ranks int, sizes ...int) *microbench.Experiment {
	c := &microbench.Experiment{Launches: 2, Seed: 3}
	c.Reps, c.WarmupRounds = 8, 1
	for _, o := range []collective.Operation{collective.Bcast, collective.Scan} {
		for _, k := range sizes {
			c.Collectives = append(c.Collectives, cellOf(o, ranks, k))
		}
	}
	return c
}

// cellOf is an operation by so many ranks on data of some bytes.
func cellOf(o collective.Operation, ranks, bytes int) microbench.CollectiveCell {
	return microbench.CollectiveCell{Algorithm: VendorAlgorithmOf(o), Job: o.StandardJob(ranks, bytes, nil)}
}

// Results of collective operations become keys, facts and times, with a launcher that starts all
// ranks.
func TestMeasureCollectives(t *testing.T) {
	for _, together := range []bool{false, true} {
		c := some(3, 16, 100)
		if together {
			c.Budget = time.Minute
		}
		set, out, err := Measure(t.Context(), c, fakes(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.LaunchCount != 2 {
			t.Errorf("%d launches", out.LaunchCount)
		}
		for key, want := range map[string]string{
			sample.RanksFact: "3", "hosts": "one", "processor": "Fake", "bound_to": "0; 1; 2", BindingFact: "each rank on a processor of its own", "root": "0",
			sample.StartFact: "agreed by the common clock, and behind barriers; 2 of 66 began too late",
		} {
			if got, _ := set.Fact(key); got != want {
				t.Errorf("fact %s is %q, want %q", key, got, want)
			}
		}
		for _, none := range []string{sample.PairFact, sample.RootsFact, "delta"} {
			if got, ok := set.Fact(none); ok {
				t.Errorf("fact %s is %q", none, got)
			}
		}
		if launcher, _ := set.Fact("launcher"); !strings.HasSuffix(launcher, "testdata/mpirun -n 3") {
			t.Errorf("launcher %q", launcher)
		}
		if late, of := out.LateStartCount, out.AgreedStartAttempts; late != 2 || of != 66 {
			t.Errorf("%d of %d were late", late, of)
		}
		first := set.Series[0]
		want := sample.Key{Platform: "mpi", Library: "Fake MPI 1.0", Clock: "real", Place: "intra", Mode: "bcast", Protocol: "vendor", Timer: "coll_min", Bytes: 16}
		if first.Key != want || len(first.Times) != 8 || first.Times[0] != unit.Microsecond+16 {
			t.Errorf("the first series is %v", first)
		}
		all, err := compare.ReadCollectives(set)
		if err != nil || len(all) != 4 {
			t.Fatalf("%d operations and lengths, %v", len(all), err)
		}
		if x := all[3]; x.Operation != "scan" || x.Algorithm != VendorAlgorithm || x.Ranks != 3 || x.Bytes != 100 || x.SampleCount != 16 || x.LastRankEnd != 4.0001 || x.Max != 3.0001 {
			t.Errorf("the last is %+v", x)
		}
	}
}

// Ranks that cannot begin at once begin behind barriers, and the facts say why. A start that always
// was too late leaves no samples.
func TestNoCommonStart(t *testing.T) {
	for environment, want := range map[string]string{
		"FAKE_PROCESSORS=2": "behind barriers alone: 3 ranks have 2 processors, and cannot all begin at once",
		"FAKE_HOSTS=2":      "behind barriers alone: hosts have clocks of their own",
		"FAKE_LATE=10":      "agreed by the common clock, and behind barriers; 100 of 100 began too late",
	} {
		t.Run(environment, func(t *testing.T) {
			set, _, err := Measure(t.Context(), some(3, 16), fakes(t, environment), nil)
			if err != nil {
				t.Fatal(err)
			}
			if start, _ := set.Fact(sample.StartFact); start != want {
				t.Errorf("start %q, want %q", start, want)
			}
			for _, s := range set.Series {
				if s.Timer == sample.TimerCollLast {
					t.Errorf("there is %v", s.Key)
				}
			}
		})
	}
}

// A result that is not what was asked for is refused, and so is what cannot be measured.
func TestCollectiveFaults(t *testing.T) {
	for name, c := range map[string]struct {
		environment, says string
		change            func(*microbench.Experiment)
	}{
		"times that are none": {"FAKE_PROGRAM=other", "-5 is not", nil},
		"half":                {"FAKE_PROGRAM=half", "line", nil},
		"world":               {"FAKE_PROGRAM=alone", "world of size 1", nil},
		"another's": {"", "bcast binomial: the vendor's", func(c *microbench.Experiment) {
			c.Collectives[0].Algorithm = collective.AlgorithmNamed(collective.Bcast, "binomial")
		}},
		"twice":            {"", "twice", func(c *microbench.Experiment) { c.Collectives = append(c.Collectives, c.Collectives[0]) }},
		"too many samples": {"", "samples, and at most", func(c *microbench.Experiment) { c.Reps = sample.MaxRows }},
	} {
		t.Run(name, func(t *testing.T) {
			all := some(2, 16, 100, 1000)
			if c.change != nil {
				c.change(all)
			}
			_, _, err := Measure(t.Context(), all, fakes(t, strings.Fields(c.environment)...), nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

// All operations are measured with each MPI by two ranks, with a common start. Three ranks may have
// too few processors for one. Ranks that share a processor wait for each other's time slices, those
// of MPICH for whole ones: three measure only what has a block for each rank, with one MPI.
func TestCollectives(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		t.Setenv("TMPDIR", t.TempDir())
		for ranks := 2; ranks <= 3; ranks++ {
			if ranks > 2 && compiler != compilers(t)[0] {
				continue
			}
			c := &microbench.Experiment{Launches: 1, Seed: 3}
			c.Reps, c.WarmupRounds = 1, 1
			for _, o := range collective.Operations() {
				if ranks == 2 && o.IsReduction() {
					c.Collectives = append(c.Collectives, cellOf(o, ranks, 5))
				}
				if ranks == 2 || o.HasBlocks() {
					c.Collectives = append(c.Collectives, cellOf(o, ranks, 20_000))
				}
			}
			s := Settings{Compiler: compiler}
			if ranks > 2 {
				s.Launcher = crowding(compiler, ranks)
			}
			set, out, err := Measure(t.Context(), c, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			times, err := compare.ReadCollectives(set)
			if err != nil || len(times) != len(c.Collectives) {
				t.Fatalf("%d of %d operations and lengths, %v", len(times), len(c.Collectives), err)
			}
			for i, x := range times {
				if of := c.Collectives[i]; x.Operation != of.Operation.String() || x.Bytes != of.Bytes || x.Ranks != ranks || x.Algorithm != VendorAlgorithm || !(x.Min >= 0 && x.Min <= x.Median && x.Median <= x.Max) {
					t.Errorf("%v of %d bytes: %+v", of.Algorithm, of.Bytes, x)
				}
			}
			start, _ := set.Fact(sample.StartFact)
			t.Log(start)
			if of := out.AgreedStartAttempts; (of > 0) == strings.HasPrefix(start, sample.NoCommonStartPrefix) {
				t.Errorf("%d repetitions with a common start: %s", of, start)
			}
		}
		if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// crowding is a launcher that starts ranks, even if there are more of them than processors.
func crowding(compiler string, ranks int) []string {
	launcher := []string{strings.Replace(compiler, "mpicc", "mpirun", 1)}
	if strings.HasSuffix(compiler, "openmpi") {
		launcher = append(launcher, "--oversubscribe")
	}
	return append(launcher, "-n", string('0'+rune(ranks)))
}
