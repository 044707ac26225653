package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFirstSteps runs docs/first-steps.sh. Each command exits with 0 and prints a table, and what stands in tables is
// neither infinite nor not a number.
func TestFirstSteps(t *testing.T) {
	long(t)
	script := absolute(t, "../../docs/first-steps.sh")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(bin, "loggp")); err != nil { // TestMain
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	platforms := []string{"t3d", "shm", "tcp"}
	if installed(t) {
		platforms = append(platforms, "mpi")
	}
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) {
			dir := t.TempDir()
			c := exec.CommandContext(t.Context(), "sh", script, platform)
			c.Dir = dir
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			answers := regexp.MustCompile(`(?m)^\+ loggp .*\n`).Split(string(out), -1)[1:]
			if len(answers) != 5 {
				t.Fatalf("%d commands", len(answers))
			}
			for i, want := range []string{"LogGP parameters of", "LogGP parameters of", "T_s-r us", "measured", "written"} {
				if !strings.Contains(answers[i], want) {
					t.Errorf("command %d does not print %q:\n%s", i+1, want, answers[i])
				}
				if i < 3 { // errors may be negative
					sound(t, answers[i])
				}
			}
			if _, err := os.Stat(filepath.Join(dir, platform+"-report", "index.html")); err != nil {
				t.Error(err)
			}
		})
	}
}
