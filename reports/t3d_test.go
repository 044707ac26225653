package reports

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// run measures a platform of the catalogue as the command does, in small.
func run(t testing.TB, platform string, ranks int, noise float64, plans ...*microbench.Plan) *sample.Set {
	t.Helper()
	j, err := world.Open(platform, "", ranks, noise)
	if err != nil {
		t.Fatal(err)
	}
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: "2"}, {Key: "command", Value: "loggp measure --platform " + platform}}}
	for _, p := range plans {
		for i, cell := range p.Cells() {
			series, err := measureCell(j, p, i, cell)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range series {
				s.Platform, s.Library, s.Clock, s.Place = j.Platform.Machine.Name, j.Library.Name, j.Clock(), j.Place(0, ranks-1)
				if s.Protocol = p.Protocol; s.Protocol == "" {
					s.Protocol = "auto"
				}
				set.Series = append(set.Series, s)
			}
		}
	}
	return set
}

// measureCell measures a cell in a job of its own.
func measureCell(j *world.Job, p *microbench.Plan, i int, cell microbench.Cell) (series []sample.Series, err error) {
	w, err := j.World(context.Background(), uint64(i))
	if err != nil {
		return nil, err
	}
	err = mpi.Run(w, j.Options(p.Protocol), func(c *mpi.Comm) error {
		if s := p.Measure(c, []microbench.Cell{cell}); c.Rank() == 0 {
			series = s
		}
		return nil
	})
	return series, err
}

// t3d is the T3D with noise, fitted.
var t3d = sync.OnceValues(func() (*sample.Set, *fit.Result) {
	t := &testing.T{}
	plans := []*microbench.Plan{{Modes: append(microbench.Modes(), microbench.Message), Sizes: microbench.DefaultSizes, Reps: 30, Warmup: 2, Common: true}}
	for _, p := range []string{"T", "TA", "RTA", "RAT"} {
		plans = append(plans, &microbench.Plan{Modes: []string{"isend"}, Sizes: microbench.DefaultSizes, Protocol: p, Reps: 10, Warmup: 2, Common: true})
	}
	set := run(t, "t3d", 4, -1, plans...)
	r, err := fit.Fit(set, fit.Options{})
	if err != nil {
		panic(err)
	}
	return set, r
})

func TestLook(t *testing.T) {
	_, r := t3d()
	Parameters(os.Stdout, r, Plain)
	Parameters(os.Stdout, r, Terminal(60, true))
	Parameters(os.Stdout, r, Terminal(80, true))
	Ranges(os.Stdout, r, Terminal(80, false))
}
