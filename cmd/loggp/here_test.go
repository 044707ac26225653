package main

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe/probetest"
	"github.com/loggp/loggp/microbench/sample"
)

// Ranks of commands that tests run are this binary, and so are their agents on other hosts. They do
// what the program does with their arguments.
func TestMain(m *testing.M) {
	if probetest.IsWorker() {
		probetest.Main()
		return
	}
	if launch.IsRank() || filepath.Base(os.Args[0]) == "loggp-command" || len(os.Args) > 1 && (os.Args[1] == "launch" || os.Args[1] == "measure") {
		main()
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else the race detector lets every rank sleep for a second at its end
	os.Setenv("GOGC", "400")                                      // of commands that tests start; their heaps are small, and collections a fifth of their time
	debug.SetGCPercent(400)
	reproducePaper, markAssumptionDependentValues = paperOnce, decideOnce
	flag.Set("test.parallel", "4") // unless the command line says otherwise: those tests wait for processes
	os.Exit(m.Run())
}

// This machine is measured as the others are: all series are there, with facts about it, and what
// is printed has no number that is none.
func TestMeasureHere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, wait := range []string{"spin", "block"} {
		commandtest.CheckNumbers(t, mustRun(t, "measure", "--platform", "shm", "--wait", wait, "--sizes", "0,1KB,10KB", "--reps", "5", "--launches", "2", "-o", "here.csv"))
		set, err := sample.ReadFile("here.csv")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := set.Fact(sample.WaitFact); got != wait {
			t.Errorf("ranks waited by %q, want %q", got, wait)
		}
		for _, fact := range []string{"processors", "timer_cost_us", sample.ResolutionFact, sample.PinFact} {
			if value, _ := set.Fact(fact); value == "" {
				t.Errorf("there is no fact %s", fact)
			}
		}
		if _, known := set.Fact(sample.PlatformSumFact); known {
			t.Error("this machine has a platform's file")
		}
		found := map[string]bool{}
		for k, n := range samples(set) {
			if want := 10; strings.HasPrefix(k.Timer, "timer") && n != want {
				t.Errorf("%v: %d samples, want %d", k, n, want)
			}
		}
		for _, s := range set.Series {
			if s.Platform != "shm" || s.Library != "loggp" || s.Clock != "real" || s.Place != "intra" {
				t.Fatalf("a series is of %+v", s.Key)
			}
			found[s.Mode+" "+s.Timer] = true
		}
		for _, mode := range microbench.SendModeNames() {
			if !found[mode+" timer12"] || !found[mode+" timer21"] {
				t.Errorf("%s was not measured: %v", mode, found)
			}
		}
	}
	commandtest.CheckNumbers(t, mustRun(t, "measure", "--platform", "shm", "--ranks", "3", "--pin=false", "--place", "0,1", "--level", "message", "--sizes", "0,1KB", "--reps", "8"))
	mustRun(t, "measure", "--platform", "shm", "--protocol", "RAT", "--modes", "ssend", "--sizes", "16,40KB", "--reps", "8")
	mustRun(t, "report", "here.csv", "-o", "report")
}

// samples counts those of a set, disturbed or not.
func samples(set *sample.Set) map[sample.Key]int {
	n := map[sample.Key]int{}
	for _, s := range set.Series {
		s.Disturbed = false
		n[s.Key] += len(s.Times)
	}
	return n
}

// A quick measurement has fewer modes and sizes, and of each no fewer samples, unless it says that
// there was no time for them: processes that are started for a launch come to it through those
// before. The head says how it was measured.
func TestMeasureHereQuickly(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.CheckNumbers(t, mustRun(t, "measure", "--platform", "shm", "--quick", "--precision", "50%", "--budget", "2s", "--seed", "7", "-o", "here.csv"))
	set, err := sample.ReadFile("here.csv")
	if err != nil {
		t.Fatal(err)
	}
	launches := map[sample.Key]int{}
	for k, n := range samples(set) {
		if n < 8 || !slices.Contains(microbench.QuickModes, k.Mode) || !slices.Contains(microbench.QuickSizes, k.Bytes) {
			t.Errorf("%v has %d samples", k, n)
		}
		launch := k.Launch
		k.Launch = 0
		launches[k] |= 1 << launch
	}
	if says, _ := set.Fact(sample.FailedChecksFact); !strings.Contains(says, "budget: ") {
		if want := len(microbench.QuickModes) * len(microbench.QuickSizes) * 9; len(launches) != want {
			t.Errorf("%d series, of %d", len(launches), want)
		}
		of := 0 // where time is short a launch may leave out what another has, or all
		for _, some := range launches {
			of |= some
		}
		if says, _ := set.Fact("launches"); of == 0 || of >= 1<<3 || says != "3" {
			t.Errorf("there are launches %b, and by the fact %q", of, says)
		}
	}
	for fact, want := range map[string]string{"order_seed": "7", "budget": "2s", "precision": "50%", "timer_cost": "taken out"} {
		if got, _ := set.Fact(fact); got != want {
			t.Errorf("the fact %s is %q, want %q", fact, got, want)
		}
	}
	begun, _ := set.Fact("begun")
	if at, err := time.Parse(time.RFC3339, begun); err != nil || time.Since(at) < 0 || time.Since(at) > time.Hour {
		t.Errorf("it was begun %q: %v", begun, err)
	}
	for args, says := range map[string]string{
		"--platform shm --budget 1ms":       "--budget 1ms",
		"--platform shm --precision 0%":     "--precision 0%",
		"--platform shm --precision x":      "--precision",
		"--platform shm --launches 0":       "--launches 0",
		"--platform shm --warmup 5":         "--warmup",
		"--platform t3d --quick":            "--quick: it is for this machine",
		"--platform t3d --budget 1s":        "--budget: it is for this machine",
		"--platform t3d --precision 1%":     "--precision: it is for this machine",
		"--platform shm --reps 0 --quick":   "--reps 0",
		"--platform shm --quick --noise 5%": "--noise",
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), append([]string{"measure"}, strings.Fields(args)...), &out, &errs); status != exitUsage || !strings.Contains(errs.String(), says) {
			t.Errorf("%s: status %d, %s", args, status, errs.String())
		}
	}
}

// Where there is no time for everything there is what there was time for, and it is said.
func TestMeasureHereBriefly(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs buffer
	if status := runCommandLine(t.Context(), strings.Fields("measure --platform shm --budget 10ms -o here.csv"), &out, &errs); status != exitSuccess {
		t.Fatal(errs.String())
	}
	set, err := sample.ReadFile("here.csv")
	if err != nil {
		t.Fatal(err)
	}
	const want = "budget: there was no time for "
	if says, _ := set.Fact(sample.FailedChecksFact); !strings.Contains(says, want) || !strings.Contains(errs.String(), want) {
		t.Errorf("spoiled: %q\n%s", says, errs.String())
	}
}
