package job

import (
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	programs "github.com/loggp/loggp/impl/program/goal"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// EndOfVirtualTime is when virtual time ends.
const EndOfVirtualTime = 105 * 24 * 3600 * unit.Second

// On every emulated machine it is an error, with rank and line, if virtual time would end, and if a
// program computes for a negative time.
func TestVirtualTimeEnds(t *testing.T) {
	goal, err := schedule.Read(strings.NewReader("num_ranks 2\nrank 0 {\nrecv 8b from 1\n}\nrank 1 {\ncalc 4600000000000000\ncalc 4600000000000000\nsend 8b to 0\n}\n"), "long.goal", 0)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`clock_test\.go:\d+`)
	for _, p := range []struct {
		name, want string
		run        func(c *mpi.Comm)
	}{
		{"at once", "rank 1: Compute (clock_test.go:N): MPI_ERR_OTHER: 9100000s after ", func(c *mpi.Comm) {
			c.Compute(9_100_000 * unit.Second)
		}},
		{"longest", "rank 1: Compute (clock_test.go:N): MPI_ERR_OTHER: 9223372.036854775807s or more after", func(c *mpi.Comm) {
			c.Compute(unit.LongestTime)
		}},
		{"in steps", "rank 1: Compute (clock_test.go:N): MPI_ERR_OTHER: 1000000s after 9000000", func(c *mpi.Comm) {
			for range 20 {
				c.Compute(1_000_000 * unit.Second)
			}
		}},
		{"negative", "rank 1: Compute (clock_test.go:N): MPI_ERR_ARG: a time of -5us is negative", func(c *mpi.Comm) {
			c.Compute(-5 * unit.Microsecond)
		}},
		{"by a message", "rank 1: Send (clock_test.go:N): MPI_ERR_OTHER: a transfer ends later than 9072000s, the end of virtual time", func(c *mpi.Comm) {
			c.Compute(EndOfVirtualTime - 10*unit.Nanosecond - c.Wtime() - c.Wtick())
			mpi.Send(c, make([]byte, 100), 0, 0)
		}},
		{"schedule", "rank 1: calc 4600000000000000 (long.goal:7): MPI_ERR_OTHER: 4600000s after 4600000", func(c *mpi.Comm) {
			programs.Execution{Schedule: goal}.Run(c)
		}},
		{"not", "", func(c *mpi.Comm) {
			c.Compute(EndOfVirtualTime - 1000*unit.Second)
			mpi.Send(c, make([]byte, 100), 0, 0)
		}},
	} {
		for _, name := range platform.Names() {
			j, err := Open(name, "", 2, 0)
			if err != nil {
				continue // its library is not MPI
			}
			_, err = j.RecordProgram(t.Context(), 1, "", -1, func(c *mpi.Comm) error {
				if c.Rank() == 1 || p.name == "schedule" {
					p.run(c)
				} else {
					mpi.Recv(c, make([]byte, 100), 1, 0)
				}
				return nil
			})
			got := ""
			if err != nil {
				got = line.ReplaceAllString(err.Error(), "clock_test.go:N")
			}
			if p.name == "by a message" { // it may be on its way after the call
				got = strings.Replace(got, "after its program:", "Send (clock_test.go:N):", 1)
				got = strings.Replace(got, "between calls of communication", "Send", 1)
			}
			if (got == "") != (p.want == "") || !strings.HasPrefix(got, p.want) {
				t.Errorf("%s, %s: %s, want %s", p.name, name, got, p.want)
			}
		}
	}
}
