package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
)

// A program that goes wrong ends the command with status 1 and a message for people: no stack of
// ours.
func TestRunWrongProgram(t *testing.T) {
	for name, p := range map[string]struct {
		flags   []string
		program func(c *mpi.Comm)
		says    string
	}{
		"deadlock": {nil, func(c *mpi.Comm) { mpi.Recv(c, make([]byte, 1), 1-c.Rank(), 3) },
			`^loggp: wrong on t3d: deadlock: 2 of 2 ranks wait and nothing is under way
  rank 0: in Recv \(wrong_test.go:\d+\), waits for a message from rank 1 with tag 3
  rank 1: in Recv \(wrong_test.go:\d+\), waits for a message from rank 0 with tag 3
Each of these waits for the next: rank 0 → rank 1 → rank 0
$`},
		"error": {nil, func(c *mpi.Comm) { mpi.Send(c, make([]byte, 1), c.Rank()+1, 3) },
			`^loggp: wrong on t3d: rank 1: Send \(wrong_test.go:\d+\): MPI_ERR_RANK: rank 2 is not in a communicator of 2\n$`},
		"checked":     {[]string{"--check=strict"}, receivesTwice, `^loggp: wrong on t3d: rank 0: Irecv \(wrong_test.go:\d+\): MPI_ERR_BUFFER: bytes 0 to 0 of this call and`},
		"warning":     {nil, receivesTwice, `^loggp: warning: rank 0: Irecv \(wrong_test.go:\d+\): bytes 0 to 0 of this call and .*; --check=strict makes this an error, --check=off silences it\nloggp: wrong on t3d: deadlock`},
		"not checked": {[]string{"--check=off"}, receivesTwice, `^loggp: wrong on t3d: deadlock`},
	} {
		t.Run(name, func(t *testing.T) {
			all := program.Programs
			defer func() { program.Programs = all }()
			program.Programs = append(all[:len(all):len(all)], program.Program{Name: "wrong", Run: func(c *mpi.Comm, _ *program.Settings, _ *program.Result) error {
				p.program(c)
				return nil
			}})
			var out, errs buffer
			args := append([]string{"run", "--platform", "t3d", "-n", "2", "wrong"}, p.flags...)
			if status := runCommandLine(context.Background(), args, &out, &errs); status != exitFailure || out.String() != "" {
				t.Errorf("status %d, and %q on stdout", status, out.String())
			}
			if !regexp.MustCompile(p.says).MatchString(errs.String()) || strings.Contains(errs.String(), "goroutine") {
				t.Errorf("%s\nwant %s", errs.String(), p.says)
			}
		})
	}
}

func receivesTwice(c *mpi.Comm) {
	x := make([]byte, 1)
	r := mpi.Irecv(c, x, 1-c.Rank(), 3)
	mpi.Irecv(c, x, 1-c.Rank(), 4)
	r.Wait()
}

// What is looked at takes no virtual time.
func TestRunCheckTakesNoTime(t *testing.T) {
	for _, platform := range []string{"t3d", "convex", "now"} {
		for _, program := range []string{"stencil", "matmul", "sort", "cg"} {
			args := []string{"run", "--platform", platform, "-n", "4", "--size", "12", "--rounds", "4", "--operation", "100ns", program}
			if mustRun(t, args...) != mustRun(t, append(args, "--check=off")...) {
				t.Errorf("%s on %s takes another time when it is checked", program, platform)
			}
		}
	}
}
