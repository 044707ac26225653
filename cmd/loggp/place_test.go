package main

import (
	"strings"
	"testing"
)

// A list of placements is compared; one of them is a run like any other.
func TestPlace(t *testing.T) {
	out := mustRun(t, "run", "--platform", "start-x", "--place", "2,1+1", "--size", "4KiB", "--format", "csv", "broadcasts")
	for _, want := range []string{"\n2,2,1,", "\n1+1,2,2,"} {
		if !strings.Contains(out, want) {
			t.Errorf("no line begins with %q:\n%s", want, out)
		}
	}
	if out := mustRun(t, "run", "--platform", "smp-torus", "--place", "1+2", "--format", "csv", "ring"); !strings.Contains(out, "\n,2,") || strings.Contains(out, "\n,3,") {
		t.Errorf("1+2 has not three ranks:\n%s", out)
	}
}
