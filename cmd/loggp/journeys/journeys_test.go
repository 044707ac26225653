// Package journeys tests what new users do first, by the built command: scripts from an empty
// directory to an answer, and the pages at which these arrive.
package journeys_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
	"github.com/loggp/loggp/reports/reporttest"
)

func TestMain(m *testing.M) { os.Exit(commandtest.BuildAndRun(m, "../../..")) }

// paperJourney is the script that TestReproduceIsDeterministic runs.
const paperJourney = "testdata/09-paper.sh"

// TestJourneys runs the scripts of testdata/journeys, what new users do first, each from an empty
// directory. A script ends with an error where a command fails, or does not print what a line of it
// looks for.
func TestJourneys(t *testing.T) {
	commandtest.SkipShort(t, "runs whole journeys")
	scripts, err := filepath.Glob("testdata/*.sh")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, s := range scripts {
		if s == paperJourney {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(s), ".sh"), func(t *testing.T) {
			text, err := os.ReadFile(s)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "--platform shm") { // whose ranks wait by polling, beside other load for long
				t.Parallel()
			}
			runJourney(t, s, t.TempDir())
		})
	}
}

// runJourney runs a script in a directory, with more variables in its environment.
func runJourney(t *testing.T, script, dir string, env ...string) {
	t.Helper()
	script = commandtest.AbsolutePath(t, script)
	cmd := exec.CommandContext(t.Context(), "sh", "-eux", script)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), env, []string{
		"PATH=" + commandtest.LinkCommand(t) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"SOURCE=" + filepath.Join(filepath.Dir(script), "../../../.."),
		"GOFLAGS=", "GOWORK=off", // of the module that a script makes
	})
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The same seed gives the same directory, in another process on one core too. Where the run was is
// in none of its files.
func TestReproduceIsDeterministic(t *testing.T) {
	commandtest.SkipShort(t, "reproduces a paper twice")
	t.Parallel()
	here, other := t.TempDir(), t.TempDir()
	if out := commandtest.MustRun(t, "", "reproduce", "altawil-moritz", "--reps", "20", "-o", filepath.Join(here, "paper")); !strings.Contains(out, "true by construction") || !strings.Contains(out, "AM-29") || strings.Contains(out, "Table 3:") {
		t.Errorf("with -o it prints something else than the verdicts: %s", out)
	}
	runJourney(t, paperJourney, other, "GOMAXPROCS=1")
	first, again := reporttest.ReadFiles(t, filepath.Join(here, "paper")), reporttest.ReadFiles(t, filepath.Join(other, "paper"))
	if len(first) < 20 || !slices.Equal(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(again))) {
		t.Errorf("there are the files %q, and then %q", slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(again)))
	}
	for name, text := range first {
		if text != again[name] {
			t.Errorf("%s differs", name)
		}
		if strings.Contains(text, here) || strings.Contains(again[name], other) {
			t.Errorf("%s names the directory", name)
		}
	}
}
