package main

import (
	"strings"
	"testing"
)

// Programs that multicast and exchange in phases over real sockets get the right results.
func TestRunMulticast(t *testing.T) {
	for _, program := range []string{"broadcasts", "sdsm"} {
		if out := mustRun(t, "run", "--platform", "tcp", "--library", "cc-mpi", "-n", "3", "--size", "2", "--rounds", "2", program); !strings.Contains(out, "cc-mpi: result correct") {
			t.Errorf("%s prints\n%s", program, out)
		}
	}
	if out := mustRun(t, "run", "--platform", "tcp", "--library", "cc-mpi", "-n", "4", "npb-is"); !strings.Contains(out, "SUCCESSFUL") {
		t.Errorf("IS prints\n%s", out)
	}
}
