package reports

import (
	"context"
	"sync"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// real is a report on a T3D that was measured, fitted and compared as the commands do, in small.
type real struct {
	set     *sample.Set
	result  *fit.Result
	compare []compare.Comparison
	machine *platform.Platform
	err     error
}

var measuredT3D = sync.OnceValue(func() (x real) {
	sizes := []int{0, 1, 16, 256, 1000, 3000, 10000, 100000}
	plans := []*microbench.Plan{{Modes: microbench.SendModeNames(), Sizes: sizes, Reps: 12}, {Modes: []string{microbench.LowLevelMode}, Sizes: sizes, Reps: 12}}
	for _, p := range model.Protocols {
		plans = append(plans, &microbench.Plan{Modes: []string{"isend"}, Sizes: sizes, ForcedProtocol: p.Name, Reps: 4})
	}
	x.set = &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}, {Key: "command", Value: "loggp measure --platform t3d"}}}
	var j *job.Job
	if j, x.err = job.Open("t3d", "", 0, job.PlatformNoise); x.err != nil {
		return x
	}
	for _, p := range plans {
		p.WarmupRounds, p.HasCommonClock = 2, true
		var series []sample.Series
		series, x.err = microbench.Sweep(context.Background(), p, j.MPIOptions(p.ForcedProtocol), func(ctx context.Context, cell int) (mpi.World, error) {
			return j.World(ctx, uint64(cell))
		}, nil)
		if x.err != nil {
			return x
		}
		for _, s := range series {
			s.Platform, s.Library, s.Clock, s.Place, s.Protocol = "t3d", j.Library.Name, j.ClockKind(), j.PlaceOfPair(0, j.Ranks-1), p.ForcedProtocol
			if s.Protocol == "" {
				s.Protocol = "auto"
			}
			x.set.Series = append(x.set.Series, s)
		}
	}
	x.machine = j.Platform
	if x.result, x.err = fit.Fit(x.set, clean.Options{ReplicateCount: 60}); x.err == nil {
		x.compare, x.err = compare.ComparePredictions(x.set, x.result.Parameters, compare.PredictFromParameters)
	}
	return x
})

func t3d(t testing.TB) real {
	t.Helper()
	x := measuredT3D()
	if x.err != nil {
		t.Fatal(x.err)
	}
	return x
}
