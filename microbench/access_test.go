package microbench_test

import (
	"math"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// measureAccesses measures puts and gets between the first and the last rank of a platform.
func measureAccesses(t *testing.T, platform string, sizes []int) []sample.Series {
	t.Helper()
	j, err := job.Open(platform, "", 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := j.World(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	plan := &microbench.Plan{Modes: []string{"put", "get"}, Sizes: sizes, Reps: 3, HasCommonClock: true}
	if err := plan.Check(); err != nil {
		t.Fatal(err)
	}
	var all []sample.Series
	if err := mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
		if got := plan.MeasureCells(c, plan.Cells()); got != nil {
			all = got
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// Each access to a window has a time, of which the flush is a part; one of no bytes has none. It is
// that of the hardware where this can, and of messages elsewhere.
func TestAccessTimes(t *testing.T) {
	for _, x := range []struct {
		platform  string
		low, high float64 // us
	}{{"t3d", 1, 3}, {"convex", 0.5, 3}, {"now", 100, 10000}} {
		found := map[string]float64{}
		for _, s := range measureAccesses(t, x.platform, []int{0, 8}) {
			if s.Bytes == 0 || len(s.Times) != 6 {
				t.Errorf("%s: %d times of %v", x.platform, len(s.Times), s.Key)
			}
			found[s.Mode+" "+s.Timer] = s.Times[len(s.Times)-1].Micros()
		}
		for _, mode := range []string{"put", "get"} {
			if all, part := found[mode+" "+mode], found[mode+" "+sample.TimerFlush]; len(found) != 4 || all < x.low || all > x.high || part <= 0 || part >= all {
				t.Errorf("%s: %s takes %v us, want %v to %v; its flush %v", x.platform, mode, all, x.low, x.high, part)
			}
		}
	}
	if err := (&microbench.Plan{Modes: []string{"put"}, Sizes: []int{8}, Reps: 1, ForcedProtocol: "TA"}).Check(); err == nil {
		t.Error("a protocol is forced on puts")
	}
}

// The fit finds the published rate of the T3D's puts, and overheads of calls.
func TestFitOfAccesses(t *testing.T) {
	set := &sample.Set{Series: measureAccesses(t, "t3d", []int{8, 64, 256, 1000, 4000, 8000, 12000, 16000})}
	r, err := fit.Fit(set, clean.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for mode, rate := range map[string]float64{"put": 120, "get": 60} {
		g, err := params.EstimateAt(r.Parameters, mode, params.GapPerByte, 0)
		if err != nil || math.Abs(1/g.Value-rate) > rate/50 {
			t.Errorf("%s: 1/G is %v MB/s (%v), want %v", mode, 1/g.Value, err, rate)
		}
		for _, kind := range []params.Kind{params.SendOverhead, params.OneWayTime} {
			if x, err := params.EstimateAt(r.Parameters, mode, kind, 8); err != nil || x.Value <= 0 || x.Value > 3 {
				t.Errorf("%s: %s is %v us (%v)", mode, kind.Name(), x.Value, err)
			}
		}
		if _, err := params.EstimateAt(r.Parameters, mode, params.Latency, 8); err == nil {
			t.Errorf("%s has an L", mode)
		}
	}
}
