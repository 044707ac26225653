package microbench_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// cells are all algorithms at some sizes.
func cells(ranks int, nodes *collective.Nodes, sizes ...int) []microbench.CollectiveCell {
	var all []microbench.CollectiveCell
	for _, a := range collective.Algorithms {
		for i, k := range sizes {
			if j := a.Operation.StandardJob(ranks, k, nodes); a.Serves(j) && (i == 0 || j.Bytes > 0) {
				all = append(all, microbench.CollectiveCell{Algorithm: a, Job: j})
			}
		}
	}
	return all
}

// swept measures on an emulated machine.
func swept(t *testing.T, platform string, noise float64, c *microbench.Experiment) *microbench.ExperimentResult {
	t.Helper()
	j, err := job.Open(platform, "", c.Collectives[0].Ranks, noise)
	if err != nil {
		t.Fatal(err)
	}
	c.HasCommonClock, c.ClockStep = j.HasCommonClock(), j.Platform.Machine.TimerResolution
	out, err := microbench.SweepCollectives(t.Context(), c, j.MPIOptions(""), func(ctx context.Context, i int) (mpi.World, error) { return j.World(ctx, uint64(i)) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// On the machine that is LogGP and nothing else, from an agreed start on each algorithm takes what
// the model says, to the picosecond, however long interfaces are taken: nothing of what went before
// is left.
func TestCollectivesTakeWhatTheModelSays(t *testing.T) {
	for name, p := range map[string]model.LogGP{
		"loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B":    {L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 10000},
		"loggp:L=1us,o_s=1us,o_r=0us,g=100us,G=0.001us/B": {L: 1 * us, SendOverhead: 1 * us, Gap: 100 * us, GapPerByte: 1000},
		"loggp:L=1us,o_s=0us,o_r=2us,g=0us,G=1us/B":       {L: 1 * us, RecvOverhead: 2 * us, GapPerByte: 1000_000},
	} {
		m := collective.Machine{Parameters: p.Parameters()}
		for _, ranks := range []int{2, 5, 8} {
			c := &microbench.Experiment{Collectives: cells(ranks, nil, 8, 1000)}
			for _, x := range []struct {
				collective.Operation
				name string
			}{{collective.Bcast, "knomial-4"}, {collective.Bcast, "knomial-8"}, {collective.Allreduce, "rabenseifner"}} { // not in comparisons of all
				for _, k := range []int{8, 1000} {
					c.Collectives = append(c.Collectives, microbench.CollectiveCell{Algorithm: collective.AlgorithmNamed(x.Operation, x.name), Job: x.StandardJob(ranks, k, nil)})
				}
			}
			c.Reps, c.WarmupRounds = 2, 2
			at := map[sample.Key][]unit.Time{}
			out := swept(t, name, 0, c)
			for _, s := range out.Series {
				at[s.Key] = s.Times
			}
			for _, x := range c.Collectives {
				times := func(timer string) []unit.Time {
					return at[sample.Key{Mode: x.Operation.String(), Protocol: x.Name, Timer: timer, Bytes: x.Bytes}]
				}
				want := m.Cost(x.Algorithm, x.Job).LastEnd
				if got := times(sample.TimerCollLast); !slices.Equal(got, []unit.Time{want, want}) {
					t.Errorf("%s: %v of %+v took %v, the model says %v", name, x.Algorithm, x.Job, got, want)
				}
				low, middle, high := times(sample.TimerCollMin), times(sample.TimerCollMedian), times(sample.TimerCollMax)
				for i := range 2 {
					if len(low) != 2 || low[i] > middle[i] || middle[i] > high[i] || low[i] < 0 {
						t.Fatalf("%s: %v of %+v: from %v by %v to %v", name, x.Algorithm, x.Job, low, middle, high)
					}
				}
			}
			if late, of := out.LateStartCount, out.AgreedStartAttempts; late != 0 || of != 2*len(c.Collectives) {
				t.Errorf("%s: %d of %d repetitions began too late", name, late, of)
			}
		}
	}
}

// With noise on the processors, each timer has all repetitions that were asked for, and no two are
// equal.
func TestCollectivesWithNoise(t *testing.T) {
	const reps = 12
	nodes := collective.NewNodes([]int{0, 0, 1, 1, 2, 2}) // as on the T3D
	c := &microbench.Experiment{Collectives: cells(6, nodes, 8, 600)}
	c.Reps, c.WarmupRounds = reps, 1
	n := 0
	out := swept(t, "t3d", 0.1, c)
	for _, s := range out.Series {
		n++
		if len(s.Times) < reps || slices.Min(s.Times) == slices.Max(s.Times) {
			t.Errorf("%v: %v", s.Key, s.Times)
		}
	}
	if want := 4 * len(c.Collectives); n != want {
		t.Errorf("%d series, of %d", n, want)
	}
	if late, of := out.LateStartCount, out.AgreedStartAttempts; of < reps*len(c.Collectives) || late >= of {
		t.Errorf("%d of %d repetitions began too late", late, of)
	}
}

// The ranks see communicators only: on goroutines in real time all timers are there.
func TestCollectivesOnRealClocks(t *testing.T) {
	j, err := job.Open("loggp", "", 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, common := range []bool{true, false} {
		c := &microbench.Experiment{Collectives: cells(3, nil, 8, 600)}
		c.IsRealMachine, c.HasCommonClock, c.Launches, c.Reps, c.ClockStep = true, common, 2, 10, unit.Nanosecond
		s := microbench.NewScheduler(c)
		out, err := s.RunLaunches(t.Context(), func(context.Context, int) error { return s.MeasureLaunchInWorld(loop.New(3), j.MPIOptions("")) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[sample.Key][]int{}
		for _, s := range out.Series {
			k := s.Key
			k.Launch = 0
			seen[k] = append(seen[k], len(s.Times))
			if slices.Min(s.Times) < 0 {
				t.Errorf("%v: %v", s.Key, s.Times)
			}
		}
		for _, x := range c.Collectives {
			for _, timer := range []string{sample.TimerCollMin, sample.TimerCollMedian, sample.TimerCollMax} {
				k := sample.Key{Mode: x.Operation.String(), Protocol: x.Name, Timer: timer, Bytes: x.Bytes}
				if n := seen[k]; len(n) != 2 || min(n[0], n[1]) < 8 {
					t.Errorf("%v has samples in launches: %v", k, n)
				}
			}
		}
		if of := out.AgreedStartAttempts; common != (of > 0) {
			t.Errorf("with a common clock: %v, and %d repetitions were to begin at an agreed time", common, of)
		}
	}
}

// A setting that cannot be measured is refused with an error that names it.
func TestCollectivesCheck(t *testing.T) {
	bcast := cells(4, nil, 8)[3]
	for _, c := range []struct {
		of   []microbench.CollectiveCell
		says string
	}{
		{[]microbench.CollectiveCell{bcast, bcast}, "8 bytes is to be measured twice"},
		{[]microbench.CollectiveCell{{Algorithm: collective.AlgorithmNamed(collective.ReduceScatter, "recursive-halving"), Job: collective.Job{Ranks: 3}}}, "reduce-scatter recursive-halving cannot serve 3 ranks"},
	} {
		x := &microbench.Experiment{Collectives: c.of}
		if err := x.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.says, err)
		}
	}
}

// held is a world in which rank 1 oversleeps now and then.
type held struct{ device.World }

func (w held) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error {
		if p.Rank() == 1 {
			p = &heldPort{Port: p}
		}
		return program(p)
	})
}

type heldPort struct {
	device.Port
	naps int
}

func (p *heldPort) Delay(d unit.Time) {
	if p.naps++; p.naps%7 == 0 {
		d += 20 * us
	}
	p.Port.Delay(d)
}

// A repetition to which a rank comes too late is dropped and counted, and repeated: the repetitions
// that are kept show no sign that a rank oversleeps.
func TestCollectivesTooLate(t *testing.T) {
	const reps = 20
	x := microbench.CollectiveCell{Algorithm: collective.AlgorithmNamed(collective.Allreduce, "recursive-doubling"), Job: collective.Allreduce.StandardJob(4, 64, nil)}
	j, err := job.Open("loggp", "", 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &microbench.Experiment{Collectives: []microbench.CollectiveCell{x}}
	c.Reps, c.HasCommonClock, c.ClockStep = reps, true, 1
	out, err := microbench.SweepCollectives(t.Context(), c, j.MPIOptions(""), func(ctx context.Context, i int) (mpi.World, error) {
		w, err := j.World(ctx, 1)
		return held{w}, err
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := collective.Machine{Parameters: j.Platform.Machine.Network.(*model.LogGP).Parameters()}.Cost(x.Algorithm, x.Job).LastEnd
	for _, s := range out.Series {
		if s.Timer == sample.TimerCollLast && (len(s.Times) < reps || slices.Min(s.Times) != want || slices.Max(s.Times) != want) {
			t.Errorf("%v, not %v each time", s.Times, want)
		}
	}
	if late, of := out.LateStartCount, out.AgreedStartAttempts; late < 3 || of-late < reps {
		t.Errorf("%d of %d repetitions began too late", late, of)
	}
}

// Reductions of lengths that are no multiple of 8 combine bytes.
func TestCollectivesOfBytes(t *testing.T) {
	c := &microbench.Experiment{Collectives: cells(4, nil, 1, 13)}
	c.Reps = 1
	if out := swept(t, "loggp", 0, c); len(out.Series) != 4*len(c.Collectives) {
		t.Errorf("%d series of %d operations", len(out.Series), len(c.Collectives))
	}
}
