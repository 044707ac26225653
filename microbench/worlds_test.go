package microbench_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// The benchmark sees communicators only: on goroutines in real time it measures the same series as on an emulated machine, all of them
// complete.
func TestOnAnyWorld(t *testing.T) {
	j, err := world.Open("t3d", "", 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	emulated, err := j.World(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	plan := &microbench.Plan{Modes: append(microbench.Modes(), microbench.Message), Sizes: []int{0, 600, 20000}, Reps: 20, Warmup: 3, Common: true}
	var shapes []string
	for _, w := range []mpi.World{emulated, loop.New(3)} {
		var series []sample.Series
		err := mpi.Run(w, j.Options(""), func(c *mpi.Comm) error {
			s := plan.Measure(c, plan.Cells())
			if (c.Rank() == 0) != (s != nil) {
				return fmt.Errorf("rank %d got %d series", c.Rank(), len(s))
			}
			if s != nil {
				series = s
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var shape strings.Builder
		for _, s := range series {
			fmt.Fprintf(&shape, "%s %d %s: %d\n", s.Mode, s.Bytes, s.Timer, len(s.Times))
			for _, x := range s.Times {
				if x < 0 {
					t.Fatalf("%s %s of %d bytes took %v", s.Mode, s.Timer, s.Bytes, x)
				}
			}
		}
		shapes = append(shapes, shape.String())
	}
	if shapes[0] != shapes[1] || strings.Count(shapes[0], "\n") < 3*9*5 {
		t.Errorf("emulated:\n%s\nin real time:\n%s", shapes[0], shapes[1])
	}
}
