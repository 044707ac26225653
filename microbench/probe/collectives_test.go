//go:build unix

package probe

import (
	"os"
	"os/exec"
	"path/filepath"
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
func some(ranks int, sizes ...int) *microbench.Collectives {
	c := &microbench.Collectives{Campaign: microbench.Campaign{Launches: 2, Seed: 3}}
	c.Reps, c.Warmup = 8, 1
	for _, o := range []collective.Operation{collective.Bcast, collective.Scan} {
		for _, k := range sizes {
			c.Of = append(c.Of, cellOf(o, ranks, k))
		}
	}
	return c
}

// cellOf is an operation by so many ranks on data of some bytes.
func cellOf(o collective.Operation, ranks, bytes int) microbench.CollectiveCell {
	return microbench.CollectiveCell{Algorithm: Algorithm(o), Job: o.Job(ranks, bytes, nil)}
}

// What comes of results of collective operations: keys, facts and times, by a launcher that starts all ranks.
func TestMeasureCollectives(t *testing.T) {
	for _, together := range []bool{false, true} {
		c := some(3, 16, 100)
		if together {
			c.Budget = time.Minute
		}
		set, out, err := MeasureCollectives(t.Context(), c, fakes(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.Launches != 2 {
			t.Errorf("%d launches", out.Launches)
		}
		for key, want := range map[string]string{
			sample.Ranks: "3", "hosts": "one", "processor": "Fake", "bound_to": "0; 1; 2", Binding: "each rank on a processor of its own", "root": "0",
			sample.Start: "agreed by the common clock, and behind barriers; 2 of 20 began too late",
		} {
			if got, _ := set.Fact(key); got != want {
				t.Errorf("fact %s is %q, want %q", key, got, want)
			}
		}
		for _, none := range []string{sample.Pair, sample.Roots, "delta"} {
			if got, ok := set.Fact(none); ok {
				t.Errorf("fact %s is %q", none, got)
			}
		}
		if launcher, _ := set.Fact("launcher"); !strings.HasSuffix(launcher, "testdata/mpirun -n 3") {
			t.Errorf("launcher %q", launcher)
		}
		if late, of := c.Late(); late != 2 || of != 20 {
			t.Errorf("%d of %d were late", late, of)
		}
		first := set.Series[0]
		want := sample.Key{Platform: "mpi", Library: "Fake MPI 1.0", Clock: "real", Place: "intra", Mode: "bcast", Protocol: "vendor", Timer: "coll_min", Bytes: 16}
		if first.Key != want || len(first.Times) != 8 || first.Times[0] != unit.Microsecond+16 {
			t.Errorf("the first series is %v", first)
		}
		all, err := compare.Collectives(set)
		if err != nil || len(all) != 4 {
			t.Fatalf("%d operations and lengths, %v", len(all), err)
		}
		if x := all[3]; x.Operation != "scan" || x.Algorithm != Vendor || x.Ranks != 3 || x.Bytes != 100 || x.Samples != 16 || x.Last != 4.0001 || x.Max != 3.0001 {
			t.Errorf("the last is %+v", x)
		}
	}
}

// Ranks that cannot begin at once begin behind barriers, and the facts say why. A start that always was too late leaves no samples.
func TestNoCommonStart(t *testing.T) {
	for environment, want := range map[string]string{
		"FAKE_PROCESSORS=2": "behind barriers alone: 3 ranks have 2 processors, and cannot all begin at once",
		"FAKE_HOSTS=2":      "behind barriers alone: hosts have clocks of their own",
		"FAKE_LATE=10":      "agreed by the common clock, and behind barriers; 20 of 20 began too late",
	} {
		t.Run(environment, func(t *testing.T) {
			set, _, err := MeasureCollectives(t.Context(), some(3, 16), fakes(t, environment), nil)
			if err != nil {
				t.Fatal(err)
			}
			if start, _ := set.Fact(sample.Start); start != want {
				t.Errorf("start %q, want %q", start, want)
			}
			for _, s := range set.Series {
				if s.Timer == sample.CollLast {
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
		change            func(*microbench.Collectives)
	}{
		"of another plan":  {"FAKE_PROGRAM=other", "no samples of coll_min of bcast at 16 bytes", nil},
		"half":             {"FAKE_PROGRAM=half", "ends too early", nil},
		"world":            {"FAKE_PROGRAM=alone", "world of size 1", nil},
		"nothing":          {"", "no collective operation", func(c *microbench.Collectives) { c.Of = nil }},
		"another's":        {"", "bcast binomial: the vendor's", func(c *microbench.Collectives) { c.Of[0].Algorithm = collective.Named(collective.Bcast, "binomial") }},
		"twice":            {"", "twice", func(c *microbench.Collectives) { c.Of = append(c.Of, c.Of[0]) }},
		"too many samples": {"", "samples, and at most", func(c *microbench.Collectives) { c.Reps = sample.MaxRows }},
	} {
		t.Run(name, func(t *testing.T) {
			all := some(2, 16, 100, 1000)
			if c.change != nil {
				c.change(all)
			}
			_, _, err := MeasureCollectives(t.Context(), all, fakes(t, strings.Fields(c.environment)...), nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

func TestReadCollectives(t *testing.T) {
	text := strings.NewReplacer("looks 1893 1901\n", "", "series send 16 timer11 full 2", "late 1\nof 3\nseries bcast 16 coll_min unknown 2", "send 16 timer12 p1", "bcast 16 coll_median unknown").Replace(good)
	p := &plan{ranks: 2, collective: true}
	r, err := read(strings.NewReader(text), p)
	if err != nil || r.late != 1 || r.tried != 3 || len(r.series) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for old, with := range map[string]string{"late 1": "late 4", "of 3": "off 3", "late 1\n": "", "late 1\nof": "late -1\nof"} {
		if _, err := read(strings.NewReader(strings.Replace(text, old, with, 1)), p); err == nil || !strings.HasPrefix(err.Error(), "line 1") {
			t.Errorf("%q for %q: %v", with, old, err)
		}
	}
	if _, err := read(strings.NewReader(text), &plan{ranks: 2}); err == nil {
		t.Error("a result of collective operations is one of messages")
	}
}

// All operations are measured with each MPI: two ranks with a common start, and three, which may have too few processors for one.
func TestCollectives(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		t.Setenv("TMPDIR", t.TempDir())
		for ranks := 2; ranks <= 3; ranks++ {
			c := &microbench.Collectives{Campaign: microbench.Campaign{Launches: 1, Seed: 3}}
			c.Reps = 1
			for _, o := range collective.Operations() {
				if o.Combines() {
					c.Of = append(c.Of, cellOf(o, ranks, 5))
				}
				c.Of = append(c.Of, cellOf(o, ranks, 20_000))
			}
			s := Settings{Compiler: compiler}
			if ranks > 2 {
				s.Launcher = crowding(compiler, ranks)
			}
			set, _, err := MeasureCollectives(t.Context(), c, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			times, err := compare.Collectives(set)
			if err != nil || len(times) != len(c.Of) {
				t.Fatalf("%d of %d operations and lengths, %v", len(times), len(c.Of), err)
			}
			for i, x := range times {
				if of := c.Of[i]; x.Operation != of.Operation.String() || x.Bytes != of.Bytes || x.Ranks != ranks || x.Algorithm != Vendor || !(x.Min >= 0 && x.Min <= x.Median && x.Median <= x.Max) {
					t.Errorf("%v of %d bytes: %+v", of.Algorithm, of.Bytes, x)
				}
			}
			start, _ := set.Fact(sample.Start)
			t.Log(start)
			if _, of := c.Late(); (of > 0) == strings.HasPrefix(start, sample.NoStart) {
				t.Errorf("%d repetitions with a common start: %s", of, start)
			}
		}
		if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// Of four ranks' times in three rounds the samples are the least, the median and the largest, or the last; a round in which one was too late is none.
func TestSums(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		program := filepath.Join(t.TempDir(), "sums")
		if text, err := exec.Command(compiler, "-std=c99", "-o", program, "testdata/sums.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := exec.Command(program).Output()
		// the rounds are 7 5 9 11, 4 1 6 3 and 2 8 1 2
		if want := "3: coll_min 5 1 1 coll_median 8 3 2 coll_max 11 6 8\n3: coll_last 11 6 8\n2: coll_last 11 8\n"; err != nil || string(got) != want {
			t.Errorf("%v\n%s, want\n%s", err, got, want)
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

// The program says of an operation that it does not know that there is none.
func TestUnknownOperation(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		for _, p := range []*plan{
			{ranks: 2, collective: true, cells: []microbench.Cell{{Mode: "zcast", Bytes: 16}}},
			{ranks: 2, collective: true, cells: []microbench.Cell{{Mode: "send", Bytes: 16}}},
			{ranks: 2, cells: []microbench.Cell{{Mode: "bcast", Bytes: 16}}},
		} {
			b, err := build(t.Context(), t.TempDir(), Settings{Compiler: compiler, Timeout: time.Minute}, withCollectives)
			if err != nil {
				t.Fatal(err)
			}
			launcher, err := launcherOf(nil, b.compiler, 2)
			if err != nil {
				t.Fatal(err)
			}
			s, err := b.begin(t.Context(), 2, launcher, time.Minute, 0, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			name := p.cells[0].Mode
			if _, err = s.measure(t.Context(), p); err == nil || !strings.Contains(err.Error(), name+", which is none") {
				t.Errorf("%v does not say that there is no %s", err, name)
			}
			s.stop()
			if _, err := os.Stat(filepath.Join(s.dir, "result.0")); !os.IsNotExist(err) {
				t.Errorf("there is a result: %v", err)
			}
		}
	})
}
