package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// Ranks of commands that tests run are this binary, and do what the program does with their arguments.
func TestMain(m *testing.M) {
	if launch.IsRank() {
		main()
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else the race detector lets every rank sleep for a second at its end
	os.Exit(m.Run())
}

// This machine is measured as the others are: all series are there, with facts about it, and what is printed has no number that is none.
func TestMeasureHere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, wait := range []string{"spin", "block"} {
		for range 2 { // the same command again
			out := mustRun(t, "measure", "--platform", "shm", "--wait", wait, "--sizes", "0,16,1KB,10KB", "--reps", "8", "-o", "here.csv")
			sound(t, out)
		}
		set, err := sample.ReadFile("here.csv")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := set.Fact(sample.Wait); got != wait {
			t.Errorf("ranks waited by %q, want %q", got, wait)
		}
		for _, fact := range []string{"processors", "timer_cost_us", sample.Resolution, sample.Pin} {
			if value, _ := set.Fact(fact); value == "" {
				t.Errorf("there is no fact %s", fact)
			}
		}
		if _, known := set.Fact(sample.PlatformSum); known {
			t.Error("this machine has a platform's file")
		}
		found := map[string]bool{}
		for _, s := range set.Series {
			if s.Platform != "shm" || s.Library != "loggp" || s.Clock != "real" || s.Place != "intra" {
				t.Fatalf("a series is of %+v", s.Key)
			}
			found[s.Mode+" "+s.Timer] = true
			if want := 16; strings.HasPrefix(s.Timer, "timer") && len(s.Times) != want {
				t.Errorf("%v: %d samples, want %d", s.Key, len(s.Times), want)
			}
		}
		for _, mode := range microbench.Modes() {
			if !found[mode+" timer12"] || !found[mode+" timer21"] {
				t.Errorf("%s was not measured: %v", mode, found)
			}
		}
	}
	sound(t, mustRun(t, "measure", "--platform", "shm", "--ranks", "3", "--pin=false", "--place", "0,1", "--level", "message", "--sizes", "0,1KB", "--reps", "8"))
	mustRun(t, "measure", "--platform", "shm", "--protocol", "RAT", "--modes", "ssend", "--sizes", "16,40KB", "--reps", "8")
	mustRun(t, "report", "here.csv", "-o", "report")
}

// sound complains of numbers that cannot be times.
func sound(t *testing.T, out string) {
	t.Helper()
	table, _, _ := strings.Cut(out, "Warnings:")
	if bad := regexp.MustCompile(`(?i)\b(nan|inf)\b| -[0-9]`).FindString(table); bad != "" {
		t.Errorf("%q is printed:\n%s", bad, table)
	}
}
