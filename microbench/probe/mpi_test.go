//go:build unix

package probe

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe/probetest"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// compilers returns those of the MPIs that are installed: Debian's Open MPI and MPICH, or whatever
// mpicc is. Where there is none the test is skipped, but not in CI.
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
	probetest.SetEnvironment(t)
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
		plan := microbench.Plan{Modes: microbench.SendModeNames(), Sizes: []int{0, 8, 5000, 200_000}, WarmupRounds: 3}
		c := &microbench.Experiment{Plan: plan, Launches: 2, Seed: 3, Budget: time.Second, Precision: 0.9}
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
			if s.Bytes == 200_000 && s.Timer == sample.TimerRTT && sorted[len(sorted)/2] < 2*unit.Microsecond {
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
		const reps = 4
		c := &microbench.Experiment{Plan: microbench.Plan{Modes: microbench.SendModeNames(), Sizes: []int{8}, Reps: reps, WarmupRounds: 3}, Launches: 1}
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
			want := 2 * reps
			switch k.Timer {
			case sample.TimerIdle, sample.TimerRTT:
				want /= 4
			case sample.TimerTrain, sample.TrainTimer(10), sample.SpacedTrainTimer(10):
				want = 2 * min(reps, 10)
			}
			if got != want {
				t.Errorf("%v: %d samples, want %d", k, got, want)
			}
		}
		if want := 8*5 + 4 + 2*3; len(n) != want {
			t.Errorf("%d timers at a size, not %d", len(n), want)
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
		for _, with := range []string{"-UCOLLECTIVES", collectivesOption} {
			out, err := exec.Command(compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", with, "-o", filepath.Join(t.TempDir(), "probe"), "program/probe.c").CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", with, err, out)
			}
		}
	})
}

var update = flag.Bool("update", false, "write the calls of each mode anew")

// Each stage of each mode is the calls of testdata/calls, of P1 and then of P2, whatever the MPI:
// two rounds with each root, one of warm-up and one that is measured. They are to be compared with
// figure 2 in microbench/timers.go, and with the other timers there. The clock is a made one, by
// which each call of MPI takes 1 us and each reading 100 ns: so many come between the barrier and
// the call if P1 waits, and all times are known.
func TestCalls(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		b := noting(t, compiler)
		var sessions []*session // started together, as that is mostly waiting
		for n := range microbench.SendModeNames() {
			sessions = append(sessions, begin(t, b, compiler, n))
		}
		for n, mode := range microbench.SendModeNames() {
			s := sessions[n]
			h := ready(t, s)
			if x := h.ranks[1]; x.cost != 100*unit.Nanosecond || x.resolution != 100*unit.Nanosecond {
				t.Errorf("reading the clock takes %v, and its steps are %v", x.cost, x.resolution)
			}
			for stage, timers := range microbench.StageTimers()[:8] {
				if !slices.Contains(stagesOf(mode), timers[0]) {
					continue
				}
				r, err := s.Execute(microbench.Command{StageIndex: stage, ModeOrOperationIndex: n, Bytes: 16, WarmupRounds: 1, Rounds: 1, OperationsPerSample: 1, DeltaOrStartLead: 3 * unit.Microsecond})
				if err != nil {
					t.Fatal(err)
				}
				for i, times := range r.TimeColumns {
					if want := timedCalls(mode, timers[i/2]) * unit.Microsecond; len(times) != 1 || times[0] != want {
						t.Errorf("%s of %s takes %v, want %v", timers[i/2], mode, times, want)
					}
				}
			}
			golden(t, mode, noted(t, s))
		}
	})
}

// stagesOf returns the first timers of the stages that a mode has.
func stagesOf(mode string) []string {
	all := []string{sample.Timer11, sample.TimerIdle}
	if slices.Contains([]string{"send", "isend", "ssend", "bsend"}, mode) {
		all = append(all, sample.TimerRTT)
	}
	if mode == "send" || mode == "isend" {
		all = append(all, sample.TimerTrain, sample.TrainTimer(microbench.MessagesPerRoundTripTrain), sample.SpacedTrainTimer(microbench.MessagesPerRoundTripTrain))
	}
	return all
}

// Each collective operation is called behind a barrier, as testdata/calls/collectives.txt has it:
// once that does not count, and once that does.
func TestCollectiveCalls(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		s := begin(t, noting(t, compiler), compiler, 0)
		ready(t, s)
		do := func(o collective.Operation, bytes int) {
			r, err := s.Execute(microbench.Command{StageIndex: 8, ModeOrOperationIndex: int(o), AlgorithmIndex: -1, Bytes: bytes, WarmupRounds: 1, Rounds: 1, OperationsPerSample: 1, DeltaOrStartLead: 2 * unit.Microsecond})
			if err != nil || len(r.TimeColumns) != 2 || r.TimeColumns[0][0] != unit.Microsecond || r.TimeColumns[1][0] != unit.Microsecond {
				t.Errorf("%v of %d bytes takes %v, want one microsecond of each rank: %v", o, bytes, r.TimeColumns, err)
			}
		}
		for _, o := range collective.Operations() {
			do(o, 16)
		}
		do(collective.Allreduce, 5)
		golden(t, "collectives", noted(t, s))
	})
}

// noting compiles testdata/calls.c.
func noting(t *testing.T, compiler string) *compiledProgram {
	t.Helper()
	dir := t.TempDir()
	b := &compiledProgram{directory: dir, programPath: filepath.Join(dir, "calls")}
	if text, err := exec.Command(compiler, "-std=c99", "-O2", "-o", b.programPath, "testdata/calls.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return b
}

// begin starts two ranks of a program. Each start has a number.
func begin(t *testing.T, b *compiledProgram, compiler string, n int) *session {
	t.Helper()
	launcher := []string{strings.Replace(compiler, "mpicc", "mpirun", 1), "-n", "2"}
	s, err := b.startSession(t.Context(), 2, launcher, time.Minute, n, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// ready waits until the ranks are there.
func ready(t *testing.T, s *session) *launchGreeting {
	t.Helper()
	h, err := s.awaitRanks()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// noted ends the program, and returns the calls of both ranks.
func noted(t *testing.T, s *session) string {
	t.Helper()
	if err := s.sendRequest(endRequest, microbench.Command{}); err != nil {
		t.Fatal(err)
	}
	if err := s.awaitEnd(); err != nil {
		t.Fatal(err)
	}
	return "P1\n" + calls(t, filepath.Join(s.dir, "calls.0")) + "\nP2\n" + calls(t, filepath.Join(s.dir, "calls.1"))
}

// A command that is none is refused in words that arrive, and so is a connection that does not know
// the token.
func TestRefusedCommands(t *testing.T) {
	with(t, func(t *testing.T, compiler string) {
		b, err := compileProgram(t.Context(), t.TempDir(), Settings{Compiler: compiler, Timeout: time.Minute}, collectivesOption)
		if err != nil {
			t.Fatal(err)
		}
		wrong := []microbench.Command{{StageIndex: 4, OperationsPerSample: 1}, {StageIndex: 0, ModeOrOperationIndex: 99, OperationsPerSample: 1}, {StageIndex: 8, ModeOrOperationIndex: 77, OperationsPerSample: 1}, {StageIndex: 0, Rounds: 1 << 20, OperationsPerSample: 1}}
		var sessions []*session
		for n := range wrong {
			sessions = append(sessions, begin(t, b, compiler, n))
		}
		for n, c := range wrong {
			s := sessions[n]
			ready(t, s)
			if _, err := s.Execute(c); err == nil || !strings.Contains(err.Error(), "none") {
				t.Errorf("%+v: %v", c, err)
			}
			s.stop()
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := make(chan net.Conn, 1)
	go acceptConnection(l, "token", "reply", to)
	silent, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, says := range []string{"nekot", "token"} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, says)
		reply, _ := io.ReadAll(io.LimitReader(c, 5))
		if known := says == "token"; known != (string(reply) == "reply") {
			t.Errorf("%s: %q", says, reply)
		}
		c.Close()
	}
	(<-to).Close()
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

// timedCalls returns how many calls of MPI there are in a time. Of those that do not block, the
// receive of an answer is two, and the send before it is completed when the next one of a batch
// begins; the waits of a train are no calls.
func timedCalls(mode, timer string) unit.Time {
	blocks := !strings.HasPrefix(mode, "i")
	switch _, _, train := sample.ParseTrainTimer(timer); {
	case train && blocks:
		return microbench.MessagesPerRoundTripTrain + 1
	case train:
		return microbench.MessagesPerRoundTripTrain + 2
	case mode == "rsend" && (timer == sample.Timer12 || timer == sample.Timer21), timer == sample.TimerRTT && blocks:
		return 2
	case timer == sample.TimerRTT:
		return 3
	}
	return 1
}

// calls reads the calls of a rank. Repeated calls are listed once.
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

// repetition returns how long the group of lines is that comes most often at once, from the first
// line on, and how often that is.
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
		c := &microbench.Experiment{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{1 << 20}, Reps: 1_000_000}, Launches: 1}
		_, _, err := Measure(t.Context(), c, Settings{Compiler: compiler, Timeout: 3 * time.Second, compilerTimeout: time.Hour}, nil)
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

// Pairs of three ranks are measured in one job, in turn; rank 0 passes on what the others measure.
// One MPI is enough: ranks of MPICH that share a processor poll for whole time slices.
func TestPairsOfMPI(t *testing.T) {
	compiler := compilers(t)[0]
	e := &microbench.Experiment{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{16}, Reps: 4}, Launches: 1, Pairs: microbench.SelectRankPairs(3, 10, 0)}
	set, _, err := Measure(t.Context(), e, Settings{Compiler: compiler, Launcher: crowding(compiler, 3), Ranks: 3, SkipsEagerLimits: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for _, s := range set.Series {
		if s.Timer == sample.TimerRTT {
			n[s.Place] += len(s.Times)
		}
	}
	if len(n) != 3 || n["0-1"] < 2 || n["0-2"] != n["0-1"] || n["1-2"] != n["0-1"] {
		t.Errorf("round trips of each pair: %v", n)
	}
	if pair, _ := set.Fact(sample.PairFact); pair != sample.AllPairsValue {
		t.Errorf("the fact pair is %q", pair)
	}
}
