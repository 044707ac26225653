//go:build unix

package probe

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe/probetest"
)

// fakes lets the compiler and the launcher be scripts of testdata, which obey the environment, and
// fails the test if anything is left in the temporary directory, or of the processes that they
// started.
func fakes(t *testing.T, environment ...string) Settings {
	t.Helper()
	compiler, err := filepath.Abs("testdata/mpicc")
	if err != nil {
		t.Fatal(err)
	}
	dir, pids := t.TempDir(), filepath.Join(t.TempDir(), "pids")
	t.Setenv("TMPDIR", dir)
	t.Setenv("FAKE_PIDS", pids)
	t.Setenv("FAKE_WORKER", executable(t))
	for _, e := range environment {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
		text, _ := os.ReadFile(pids)
		for _, pid := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(pid); err != nil || alive(n) {
				t.Errorf("process %s still runs", pid)
				syscall.Kill(n, syscall.SIGKILL)
			}
		}
	})
	return Settings{Compiler: compiler, Timeout: time.Minute}
}

// executable returns the binary of the test, which stands for the program.
func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	if probetest.IsWorker() {
		probetest.Main()
		return
	}
	os.Exit(m.Run())
}

// alive reports whether a process runs. A process that has ended may take a moment to disappear, or
// remain as a zombie if no parent waits for it.
func alive(pid int) bool {
	for range 100 {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return false
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
			if _, state, ok := strings.Cut(string(stat), ") "); ok && state[0] == 'Z' {
				return false
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// small is an experiment of one launch.
func small() *microbench.Experiment {
	plan := microbench.Plan{Modes: []string{"send", "isend"}, Sizes: []int{0, 16, 100}, Reps: 8, WarmupRounds: 1}
	return &microbench.Experiment{Plan: plan, Launches: 1}
}

// twice is one of two launches, which are started together.
func twice(c *microbench.Experiment) { c.Launches, c.Budget = 2, time.Minute }

// Each fault ends with a message that says what went wrong, and leaves nothing.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name        string
		environment string
		change      func(*Settings)
		experiment  func(*microbench.Experiment)
		says        []string
		not         string
	}{
		{name: "no compiler", change: func(s *Settings) { s.Compiler = "no-such-mpicc" }, says: []string{"no-such-mpicc", "--mpicc", "libopenmpi-dev"}},
		{name: "compiler of the environment", environment: "MPICC=/no/mpicc", change: func(s *Settings) { s.Compiler = "" }, says: []string{"/no/mpicc"}},
		{name: "compiler fails", environment: "FAKE_COMPILER=fails", says: []string{"testdata/mpicc cannot compile", "exit status 1", "\n  probe.c:20:10: fatal error: mpi.h"}},
		{name: "compiler makes nothing", environment: "FAKE_COMPILER=silent", says: []string{"cannot compile", "no such file"}},
		{name: "compiler hangs", environment: "FAKE_COMPILER=hangs", change: soonCompiled, says: []string{"has not compiled", "500ms"}},
		{name: "no launcher", change: func(s *Settings) { s.Launcher = []string{"no-such-mpirun", "-n", "2"} }, says: []string{"no-such-mpirun", "--launcher 'srun -n 2'"}},
		{name: "launcher fails", environment: "FAKE_LAUNCHER=fails", says: []string{"testdata/mpirun -n 2 failed", "exit status 3", "\n  line 15"}, not: "line 3"},
		{name: "launcher killed", environment: "FAKE_LAUNCHER=killed", says: []string{"failed", "signal: killed"}},
		{name: "launcher floods", environment: "FAKE_LAUNCHER=floods", says: []string{"exit status 1", "[31mlast", "anybody 19999"}, not: "\x1b"},
		{name: "slots", environment: "FAKE_LAUNCHER=slots", says: []string{"not enough slots", "--oversubscribe"}, not: "-----"},
		{name: "root", environment: "FAKE_LAUNCHER=root", says: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "another user"}},
		{name: "launcher of another MPI", environment: "FAKE_PROGRAM=alone", says: []string{"world of size 1", "belongs to the compiler"}, not: "MPI_Abort"},
		{name: "program hangs", environment: "FAKE_PROGRAM=hangs", change: soon, says: []string{"has not ended within 500ms", "--timeout"}},
		{name: "launcher hangs and does not listen", environment: "FAKE_LAUNCHER=deaf", change: soon, says: []string{"has not ended within 500ms"}},
		{name: "no connection", environment: "FAKE_PROGRAM=nothing", says: []string{"did not do all", "TMPDIR"}},
		{name: "last words in a file", environment: "FAKE_PROGRAM=mute", says: []string{"no memory for 5 bytes"}},
		{name: "no second connection", environment: "FAKE_PROGRAM=once", experiment: twice, says: []string{"did not do all"}},
		{name: "garbage", environment: "FAKE_PROGRAM=garbage", says: []string{"answer of", "byte order"}, not: "\x00"},
		{name: "half of what it says first", environment: "FAKE_PROGRAM=half", says: []string{"answer of", "line"}},
		{name: "times that are none", environment: "FAKE_PROGRAM=other", says: []string{"answer of", "-5 is not"}},
		{name: "program dies", environment: "FAKE_PROGRAM=dies", says: []string{"failed", "exit status 7"}},
		{name: "one of several dies", environment: "FAKE_PROGRAM=dies", experiment: twice, says: []string{"failed", "exit status 7"}},
		{name: "program sticks", environment: "FAKE_PROGRAM=sticks", change: soon, says: []string{"has not ended within 500ms", "--timeout"}},
		{name: "launches on two machines", environment: "FAKE_PROGRAM=moves", experiment: twice, says: []string{"launch 2 ran on h", "no launches of one thing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fakes(t, strings.Fields(c.environment)...)
			if c.change != nil {
				c.change(&s)
			}
			experiment := small()
			if c.experiment != nil {
				c.experiment(experiment)
			}
			set, _, err := Measure(t.Context(), experiment, s, nil)
			if set != nil || err == nil {
				t.Fatalf("no error, but %d samples", set.SampleCount())
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("it does not say %q: %v", says, err)
				}
			}
			if c.not != "" && strings.Contains(err.Error(), c.not) {
				t.Errorf("it says %q: %v", c.not, err)
			}
			if n := len(err.Error()); n > 3000 {
				t.Errorf("it takes %d bytes to say", n)
			}
		})
	}
}

// soon ends what a launch does after half a second, however long compiling takes.
func soon(s *Settings) { s.Timeout, s.compilerTimeout = 500*time.Millisecond, time.Hour }

// soonCompiled ends compiling after half a second.
func soonCompiled(s *Settings) { s.Timeout = 500 * time.Millisecond }

// Slurm's launcher is one like others: its arguments come first, then the program's. It has places
// for one launch at a time.
func TestSrun(t *testing.T) {
	s := fakes(t)
	dir := t.TempDir()
	script := `#!/bin/sh
[ "$1 $2 $3" = "-N 1 -n2" ] || exit 1
mkdir "$LOCK" || { echo "srun: error: Unable to create step: Requested nodes are busy" >&2; exit 1; }
"$4" "$5" "$6" "$7" && rmdir "$LOCK"
`
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("LOCK", filepath.Join(dir, "lock"))
	var err error
	if s.Launcher, err = SplitCommand("srun -N 1 -n2"); err != nil {
		t.Fatal(err)
	}
	c := small()
	c.Launches, c.Reps = 3, 0
	set, out, err := Measure(t.Context(), c, s, nil)
	if err != nil || out.LaunchCount != 3 {
		t.Fatalf("%d launches, %v", out.LaunchCount, err)
	}
	if launcher, _ := set.Fact("launcher"); launcher != "srun -N 1 -n2" {
		t.Errorf("launcher %s", launcher)
	}
}

// A compiler without a launcher beside it.
func TestNoNeighbour(t *testing.T) {
	s := fakes(t)
	text, err := os.ReadFile(s.Compiler)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s.Compiler = filepath.Join(dir, "mpicc.mine")
	for name, text := range map[string][]byte{"mpicc.mine": text, "program": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Measure(t.Context(), small(), s, nil); err == nil || !strings.Contains(err.Error(), "neither mpirun.mine nor mpiexec.mine beside "+s.Compiler) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mpiexec.mine"), []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Measure(t.Context(), small(), s, nil); err == nil || !strings.Contains(err.Error(), "mpiexec.mine -n 2 succeeded") {
		t.Error(err)
	}
}

// A program that ends without a process that it started is not a fault, and the process is ended,
// too.
func TestLeaves(t *testing.T) {
	s := fakes(t, "FAKE_PROGRAM=leaves")
	if _, _, err := Measure(t.Context(), small(), s, nil); err != nil {
		t.Error(err)
	}
}

// An interrupt returns at once, at any point of the measurement, and ranks end even if their
// launcher has put them into sessions of their own.
func TestInterrupted(t *testing.T) {
	for _, environment := range []string{"FAKE_COMPILER=hangs", "FAKE_PROGRAM=hangs", "FAKE_PROGRAM=sticks", "FAKE_LAUNCHER=away FAKE_COMPILER=sleep"} {
		t.Run(environment, func(t *testing.T) {
			if _, err := exec.LookPath("setsid"); err != nil {
				t.Skip(err)
			}
			s := fakes(t, strings.Fields(environment)...)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for range 1000 {
					if text, _ := os.ReadFile(os.Getenv("FAKE_PIDS")); strings.Count(string(text), "\n") > 0 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				cancel()
			}()
			begin := time.Now()
			if _, _, err := Measure(ctx, small(), s, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("%v instead of being cancelled", err)
			}
			if d := time.Since(begin); d > 30*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}
