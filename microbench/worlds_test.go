package microbench_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Any two ranks can measure: the first of the pair gets the series, and the way between them is
// what is measured.
func TestPair(t *testing.T) {
	j, err := job.Open("t3d", "", 8, 0)
	if err != nil {
		t.Fatal(err)
	}
	round := map[[2]int]unit.Time{}
	for _, pair := range [][2]int{{}, {0, 7}, {7, 0}, {4, 5}, {0, 2}} {
		w, err := j.World(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		plan := &microbench.Plan{Modes: []string{"ssend"}, Sizes: []int{16}, Reps: 8, WarmupRounds: 3, HasCommonClock: true, Pair: pair}
		err = mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
			s := plan.MeasureCells(c, plan.Cells())
			if (c.Rank() == pair[0]) != (s != nil) {
				return fmt.Errorf("rank %d got %d series", c.Rank(), len(s))
			}
			for _, x := range s {
				if x.Timer == sample.TimerRTT {
					round[pair] = x.Times[0]
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%v: %v", pair, err)
		}
	}
	if a := round[[2]int{0, 7}]; round[[2]int{}] != a || round[[2]int{7, 0}] != a {
		t.Errorf("the first and the last rank: %v", round)
	}
	path := func(p [2]int) model.Path { return j.Platform.Machine.PathBetweenRanks(j.Ranks, p[0], p[1]) }
	for _, p := range [][2]int{{4, 5}, {0, 2}} {
		far, near := path([2]int{0, 7}), path(p)
		torus := j.Platform.Machine.Network.(*model.Torus)
		hops := unit.Time(far.Hops-near.Hops)*torus.HopLatency + unit.Time(far.Turns-near.Turns)*torus.TurnLatency
		// A synchronous message and its answers cross the same links, so that each way counts at
		// least twice a round trip.
		if d := round[[2]int{0, 7}] - round[p]; d < 2*hops || hops <= 0 {
			t.Errorf("%v: a round trip is shorter by %v than that of 0 and 7, whose way is longer by %v", p, d, hops)
		}
	}
}

// A plan of some timers measures these, with those of the same rounds, and no others.
func TestTimers(t *testing.T) {
	j, err := job.Open("t3d", "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for timer, want := range map[string]string{sample.TimerRTT: "rtt", sample.Timer12: "timer11 timer12 timer21 timer22", sample.TimerStream: "stream", sample.TimerStreamBoth: "stream-both"} {
		mode := "send"
		if strings.HasPrefix(timer, sample.TimerStream) {
			mode = "isend"
		}
		w, err := j.World(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		plan := &microbench.Plan{Modes: []string{mode}, Sizes: []int{16}, Timers: []string{timer}, Reps: 2, WarmupRounds: 1, HasCommonClock: true}
		var got []string
		err = mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
			for _, x := range plan.MeasureCells(c, plan.Cells()) {
				got = append(got, x.Timer)
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", timer, got, err, want)
		}
	}
}

// The benchmark sees communicators only: on goroutines in real time it measures the same series as
// on an emulated machine, all of them complete.
func TestOnAnyWorld(t *testing.T) {
	j, err := job.Open("t3d", "", 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	emulated, err := j.World(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	plan := &microbench.Plan{Modes: append(microbench.SendModeNames(), microbench.LowLevelMode), Sizes: []int{0, 600, 20000}, Reps: 20, WarmupRounds: 3, HasCommonClock: true}
	var shapes []string
	for _, w := range []mpi.World{emulated, loop.New(3)} {
		var series []sample.Series
		err := mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
			s := plan.MeasureCells(c, plan.Cells())
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

// SelectRankPairs that take turns in one job measure what each measures alone: the same round
// trips, wherever rank 0 is.
func TestPairsTakeTurns(t *testing.T) {
	j, err := job.Open("convex", "", 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	plan := microbench.Plan{Modes: []string{"send"}, Sizes: []int{16}, Reps: 4, WarmupRounds: 3, HasCommonClock: true}
	s := microbench.NewScheduler(&microbench.Experiment{Plan: plan, Launches: 1, Pairs: microbench.SelectRankPairs(10, 1000, 0)})
	out, err := s.RunLaunches(t.Context(), func(ctx context.Context, _ int) error {
		w, err := j.World(ctx, 1)
		if err != nil {
			return err
		}
		return s.MeasureLaunchInWorld(w, j.MPIOptions(""))
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	trips := map[string]unit.Time{}
	for _, x := range out.Series {
		if x.Timer == sample.TimerRTT {
			trips[x.Place] = slices.Min(x.Times)
		}
	}
	if len(trips) != 45 || trips["0-1"] != trips["2-7"] || trips["3-9"] != trips["0-8"] || 2*trips["0-1"] > trips["3-9"] {
		t.Errorf("%d pairs: %v", len(trips), trips)
	}
}

// Of too many pairs those of some ranks are drawn, neighbours among them.
func TestPairsAreDrawn(t *testing.T) {
	if got := microbench.SelectRankPairs(4, 6, 1); len(got) != 6 || got[5] != [2]int{2, 3} {
		t.Errorf("all pairs of 4: %v", got)
	}
	for _, most := range []int{1, 5, 44, 45, 4096} {
		got := microbench.SelectRankPairs(1000, most, 7)
		ranks, neighbours := map[int]bool{}, 0
		for _, p := range got {
			ranks[p[0]], ranks[p[1]] = true, true
			if p[1] == p[0]+1 {
				neighbours++
			}
		}
		if n := len(ranks); len(got) > most || n*(n-1)/2 != len(got) || n*(n+1)/2 <= most || neighbours < n/2 {
			t.Errorf("at most %d: %d pairs of %d ranks, %d of them neighbours", most, len(got), n, neighbours)
		}
	}
	if a, b := microbench.SelectRankPairs(1000, 45, 7), microbench.SelectRankPairs(1000, 45, 8); slices.Equal(a, b) {
		t.Error("another seed draws the same ranks")
	}
}
