package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run and simulate write profiles of loggp itself, and do not show the flags in their help.
func TestProfiles(t *testing.T) {
	for _, verb := range []string{"run", "simulate"} {
		if help := mustRun(t, verb, "--help"); strings.Contains(help, "cpuprofile") {
			t.Errorf("the help of %s has flags for those who work on loggp", verb)
		}
	}
	dir := t.TempDir()
	cpu, memory := filepath.Join(dir, "cpu"), filepath.Join(dir, "memory")
	mustRun(t, "run", "--platform", "loggp", "-n", "2", "--cpuprofile", cpu, "--memprofile", memory, "ring")
	for _, file := range []string{cpu, memory} {
		if b, err := os.ReadFile(file); err != nil || len(b) < 100 || b[0] != 0x1f || b[1] != 0x8b { // gzip
			t.Errorf("%s: %d bytes, %v", file, len(b), err)
		}
	}
	var out, text strings.Builder
	if runCommandLine(t.Context(), []string{"run", "--platform", "loggp", "-n", "2", "--cpuprofile", filepath.Join(dir, "none", "x"), "ring"}, &out, &text) == exitSuccess || !strings.Contains(text.String(), "--cpuprofile") {
		t.Errorf("a profile in no directory: %s", text.String())
	}
}
