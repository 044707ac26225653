//go:build unix

package probe

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// compilers returns those of the MPIs that are installed: Debian's Open MPI and MPICH, or whatever mpicc is. Where there is none the test is
// skipped, but not in CI.
func compilers(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, name := range []string{"mpicc.openmpi", "mpicc.mpich"} {
		if _, err := exec.LookPath(name); err == nil {
			list = append(list, name)
		}
	}
	if _, err := exec.LookPath("mpicc"); err == nil && len(list) == 0 {
		list = append(list, "mpicc")
	}
	switch {
	case len(list) < 2 && os.Getenv("CI") != "":
		t.Fatalf("Open MPI and MPICH are not both installed, but %q: .ci/mpi installs them", list)
	case len(list) == 0:
		t.Skip("no MPI is installed")
	case runtime.NumCPU() < 2:
		t.Skip("two ranks need two processors")
	}
	if os.Getuid() == 0 { // as users have to allow it
		t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
		t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	}
	return list
}

// with runs a test with each MPI.
func with(t *testing.T, test func(t *testing.T, compiler string)) {
	for _, c := range compilers(t) {
		t.Run(c, func(t *testing.T) { test(t, c) })
	}
}

// All eight modes are measured with each MPI, and what it says of itself is found.
func TestMPI(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		t.Setenv("TMPDIR", t.TempDir())
		plan := microbench.Plan{Modes: microbench.Modes(), Sizes: []int{0, 8, 5000, 200_000}, Warmup: 3}
		c := &microbench.Campaign{Plan: plan, Launches: 2, Seed: 3, Budget: time.Second}
		set, _, err := Measure(t.Context(), c, Settings{Compiler: compiler}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		for _, s := range set.Series {
			if s.Place != "intra" || s.Launch > 1 {
				t.Errorf("%v", s.Key)
			}
			sorted := slices.Sorted(slices.Values(s.Times))
			if s.Bytes == 200_000 && s.Timer == sample.RTT && sorted[len(sorted)/2] < 2*unit.Microsecond {
				t.Errorf("%v takes %v: no memory is so fast", s.Key, sorted[len(sorted)/2])
			}
		}
		name := set.Series[0].Library
		if kind, ok := strings.CutPrefix(compiler, "mpicc."); ok && !strings.EqualFold(strings.ReplaceAll(name[:strings.LastIndex(name, " ")], " ", ""), kind) {
			t.Errorf("library %q of %s", name, compiler)
		}
		for _, f := range set.Facts {
			t.Logf("%s: %.150s", f.Key, f.Value)
			if f.Value == "" || f.Value == "unknown" && f.Key != "eager_limits" {
				t.Errorf("nothing is known of %s", f.Key)
			}
		}
	})
}

// Repetitions that are asked for are there, disturbed or not.
func TestReps(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		const reps = 40
		c := &microbench.Campaign{Plan: microbench.Plan{Modes: microbench.Modes(), Sizes: []int{8}, Reps: reps}, Launches: 2}
		set, _, err := Measure(t.Context(), c, Settings{Compiler: compiler}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := make(map[sample.Key]int)
		for _, s := range set.Series {
			s.Disturbed = false
			n[s.Key] += len(s.Times)
		}
		for k, got := range n {
			if want := repeated(k.Timer, reps); got != want {
				t.Errorf("%v: %d samples, want %d", k, got, want)
			}
		}
	})
}

// Eager limits are read in the run itself, whoever has set them.
func TestEagerLimitOfLauncher(t *testing.T) {
	if !slices.Contains(compilers(t), "mpicc.openmpi") {
		t.Skip("Open MPI is not installed")
	}
	launcher := []string{"mpirun.openmpi", "--mca", "btl_vader_eager_limit", "8192", "-n", "2"}
	set, _, err := Measure(t.Context(), small(), Settings{Compiler: "mpicc.openmpi", Launcher: launcher}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if limits, _ := set.Fact("eager_limits"); strings.Contains(limits, "vader") && !strings.Contains(limits, "btl_vader_eager_limit=8192") {
		t.Errorf("eager limits %s", limits)
	}
}

// The program compiles without a word.
func TestNoWarnings(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		for _, with := range []string{"-UCOLLECTIVES", withCollectives} {
			out, err := exec.Command(compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", with, "-o", filepath.Join(t.TempDir(), "probe"), "program/probe.c").CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", with, err, out)
			}
		}
	})
}

var update = flag.Bool("update", false, "write the calls of each mode anew")

// Two rounds of each mode, one of warm-up and one that is measured, are the calls of testdata/calls, of P1 and then of P2, whatever the MPI. They are to be
// compared with figure 2 in microbench/pingpong.go, and with the other timers there. The clock is a made one, by which each call of MPI takes 1 us and each reading
// 100 ns: so many come between the barrier and the call if P1 waits, and all times are known.
func TestCalls(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		program := noting(t, compiler)
		for _, mode := range microbench.Modes() {
			p := &plan{ranks: 2, reps: 1, cells: []microbench.Cell{{Mode: mode, Bytes: 16}}}
			r, got := program(p)
			exactTimes(t, mode, r)
			golden(t, mode, got)
		}
	})
}

// Each collective operation is called behind a barrier, as testdata/calls/collectives.txt has it: when its cell is met, once more, and once that counts.
func TestCollectiveCalls(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		p := &plan{ranks: 2, collective: true, barriers: true, reps: 1}
		for _, o := range collective.Operations() {
			p.cells = append(p.cells, microbench.Cell{Mode: o.String(), Bytes: 16})
		}
		p.cells = append(p.cells, microbench.Cell{Mode: "allreduce", Bytes: 5})
		r, got := noting(t, compiler)(p)
		if err := r.of(p); err != nil {
			t.Fatal(err)
		}
		for _, s := range r.series {
			if len(s.Times) != 1 || s.Times[0] != unit.Microsecond {
				t.Errorf("%s of %s of %d bytes takes %v, want one microsecond", s.Timer, s.Mode, s.Bytes, s.Times)
			}
		}
		golden(t, "collectives", got)
	})
}

// noting compiles testdata/calls.c, and returns what measures a plan with it: the result, and the calls of both ranks.
func noting(t *testing.T, compiler string) func(*plan) (*result, string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "calls")
	if text, err := exec.Command(compiler, "-std=c99", "-O2", "-o", program, "testdata/calls.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	launcher := strings.Replace(compiler, "mpicc", "mpirun", 1)
	return func(first *plan) (*result, string) {
		for n, p := range []*plan{first, {}} {
			if err := os.WriteFile(filepath.Join(dir, "plan."+strconv.Itoa(n)), p.text(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := exec.Command(launcher, "-n", "2", program, dir, "60", "2").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		f, err := os.Open(filepath.Join(dir, "result.0"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := read(f, first)
		if err != nil {
			t.Fatal(err)
		}
		if x := r.ranks[1]; x.cost != 100*unit.Nanosecond || x.resolution != 100*unit.Nanosecond {
			t.Errorf("reading the clock takes %v, and its steps are %v", x.cost, x.resolution)
		}
		return r, "P1\n" + calls(t, program+".0") + "\nP2\n" + calls(t, program+".1")
	}
}

// golden compares calls with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "calls", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: other calls than in %s (go test ./microbench/probe -run Calls -update):\n%s", name, file, got)
	}
}

// exactTimes checks a result by the made clock: what is timed makes one call, but more in what follows.
func exactTimes(t *testing.T, mode string, r *result) {
	t.Helper()
	for _, s := range r.series {
		for _, got := range s.Times {
			if want := timedCalls(mode, s.Timer) * unit.Microsecond; got != want {
				t.Errorf("%s of %s takes %v, want %v", s.Timer, mode, got, want)
			}
		}
	}
}

// timedCalls returns how many calls of MPI there are in a time. Of those that do not block, the receive of an answer is two, and the send before it is
// completed when the next one of a batch begins; the waits of a train are no calls.
func timedCalls(mode, timer string) unit.Time {
	blocks := !strings.HasPrefix(mode, "i")
	switch _, _, train := sample.TrainOf(timer); {
	case train && blocks:
		return microbench.Carriages + 1
	case train:
		return microbench.Carriages + 2
	case mode == "rsend" && (timer == sample.Timer12 || timer == sample.Timer21), timer == sample.RTT && blocks:
		return 2
	case timer == sample.RTT:
		return 3
	}
	return 1
}

// calls reads those of a rank. What comes again and again is there once.
func calls(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var b strings.Builder
	for len(lines) > 0 {
		group, times := repetition(lines)
		if times > 1 {
			fmt.Fprintf(&b, "  %d times: ", times)
		} else {
			b.WriteString("  ")
		}
		b.WriteString(strings.Join(lines[:group], ", ") + "\n")
		lines = lines[group*times:]
	}
	return b.String()
}

// repetition returns how long the group of lines is that comes most often at once, from the first line on, and how often that is.
func repetition(lines []string) (group, times int) {
	const longest, often = 3, 4
	for group := 2; group <= longest; group++ {
		n := 1
		for len(lines) >= group*(n+1) && slices.Equal(lines[:group], lines[group*n:group*(n+1)]) {
			n++
		}
		if n >= often {
			return group, n
		}
	}
	return 1, 1
}

// What the program makes of looks is what package microbench makes of them.
func TestLooks(t *testing.T) {
	const file = "../testdata/looks.txt"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	with(t, func(t *testing.T, compiler string) {
		program := filepath.Join(t.TempDir(), "looks")
		if text, err := exec.Command(compiler, "-std=c99", "-o", program, "testdata/looks.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		run := exec.Command(program)
		run.Stdin = bytes.NewReader(want)
		got, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		theirs := strings.Split(string(want), "\n")
		for n, line := range strings.Split(string(got), "\n") {
			if n < len(theirs) && line != theirs[n] {
				t.Errorf("%s:%d: %s, but it comes to %s", file, n+1, theirs[n], line)
			}
		}
		if lines := strings.Count(string(got), "\n"); lines != strings.Count(string(want), "\n") {
			t.Errorf("%d lines", lines)
		}
	})
}

// The compiler of one MPI with the launcher of another gives two worlds of one rank.
func TestTwoWorlds(t *testing.T) {
	if len(compilers(t)) < 2 {
		t.Skip("one MPI is installed")
	}
	for compiler, launcher := range map[string]string{"mpicc.openmpi": "mpirun.mpich", "mpicc.mpich": "mpirun.openmpi"} {
		_, _, err := Measure(t.Context(), small(), Settings{Compiler: compiler, Launcher: []string{launcher, "-n", "2"}, Timeout: time.Minute}, nil)
		if err == nil || !strings.Contains(err.Error(), "world of size 1") || !strings.Contains(err.Error(), "belongs to the compiler") {
			t.Errorf("%s with %s: %v", compiler, launcher, err)
		}
	}
}

// Ranks that would take turns on one processor are not measured, and three are not two.
func TestWrongRanks(t *testing.T) {
	if _, err := exec.LookPath("taskset"); err != nil {
		t.Skip(err)
	}
	with(t, func(t *testing.T, compiler string) {
		launcher := []string{strings.Replace(compiler, "mpicc", "mpirun", 1)}
		if strings.HasSuffix(compiler, "openmpi") {
			launcher = append(launcher, "--oversubscribe", "--bind-to", "none")
		}
		for want, launcher := range map[string][]string{
			"on processor 0 alone": append([]string{"taskset", "-c", "0"}, append(launcher, "-n", "2")...),
			"a world of size 3":    append(slices.Clone(launcher), "-n", "3"),
		} {
			_, _, err := Measure(t.Context(), small(), Settings{Compiler: compiler, Launcher: launcher, Timeout: time.Minute}, nil)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %q", err, want)
			}
		}
	})
}

// A run that takes too long is ended, ranks and all.
func TestTooLong(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		t.Setenv("TMPDIR", t.TempDir())
		c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{1 << 20}, Reps: 1_000_000}, Launches: 1}
		_, _, err := Measure(t.Context(), c, Settings{Compiler: compiler, Timeout: 3 * time.Second}, nil)
		if err == nil || !strings.Contains(err.Error(), "has not ended within 3s") {
			t.Error(err)
		}
		if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		links, _ := filepath.Glob("/proc/[0-9]*/exe")
		for _, link := range links {
			if program, err := os.Readlink(link); err == nil && strings.HasPrefix(program, os.Getenv("TMPDIR")) {
				t.Errorf("%s still runs: %s", program, link)
			}
		}
	})
}
