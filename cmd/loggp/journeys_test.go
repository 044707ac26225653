package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// paperJourney is the script that TestReproduceIsDeterministic runs.
const paperJourney = "testdata/journeys/09-paper.sh"

// TestJourneys runs the scripts of testdata/journeys, what new users do first, each from an empty
// directory. A script ends with an error where a command fails, or does not print what a line of it
// looks for.
func TestJourneys(t *testing.T) {
	long(t)
	scripts, err := filepath.Glob("testdata/journeys/*.sh")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, s := range scripts {
		if s == paperJourney {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(s), ".sh"), func(t *testing.T) {
			if text := read(t, s); !strings.Contains(text, "--platform shm") { // whose ranks wait by polling, beside other load for long
				t.Parallel()
			}
			journey(t, absolute(t, s), t.TempDir())
		})
	}
}

// journey runs a script in a directory, with more variables in its environment.
func journey(t *testing.T, script, dir string, env ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-eux", script)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), env, []string{
		"PATH=" + linked(t, "loggp") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"SOURCE=" + filepath.Join(filepath.Dir(script), "../../../.."),
		"GOFLAGS=", "GOPROXY=off", "GOWORK=off", // of the module that a script makes
	})
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// linked returns a directory in which this program is found by a name, under which it is loggp
// (TestMain).
func linked(t *testing.T, name string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(bin, name)); err != nil {
		t.Fatal(err)
	}
	return bin
}
