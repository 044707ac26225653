package main

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// Two pairs of one place are not one measurement.
func TestOtherPair(t *testing.T) {
	t.Chdir(t.TempDir())
	base := "measure --platform t3d --sizes 16 --reps 2 -o "
	mustRun(t, strings.Fields(base+"a.csv --modes send --place 0,2")...)
	mustRun(t, strings.Fields(base+"b.csv --modes isend --place 0,3")...)
	if _, err := sample.ReadFile("a.csv", "b.csv"); err == nil || !strings.Contains(err.Error(), `"pair" is "0 3", but "0 2"`) {
		t.Errorf("samples of two pairs were joined: %v", err)
	}
}
