package microbench_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// measured runs a plan on a platform and fits the samples.
func measured(t *testing.T, platform string, plan *microbench.Plan, noise float64, seed uint64) *fit.Result {
	t.Helper()
	j, err := job.Open(platform, "", 0, noise)
	if err != nil {
		t.Fatal(err)
	}
	series, err := microbench.Sweep(t.Context(), plan, j.MPIOptions(plan.ForcedProtocol),
		func(ctx context.Context, cell int) (mpi.World, error) { return j.World(ctx, seed<<16+uint64(cell)) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range series {
		k := &series[i].Key
		k.Platform, k.Library, k.Clock, k.Place, k.Protocol = j.Platform.Machine.Name, j.Library.Name, j.ClockKind(), j.PlaceOfPair(0, j.Ranks-1), "auto"
		if plan.ForcedProtocol != "" {
			k.Protocol = plan.ForcedProtocol
		}
	}
	r, err := fit.Fit(&sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}}, Series: series}, clean.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// decade draws from four decades, evenly on a logarithmic scale.
func decade(rng *rand.Rand, low unit.Time) unit.Time {
	return unit.Time(float64(low) * math.Pow(10, 4*rng.Float64()))
}

// machine draws the parameters of a LogGP machine. Half of them have a gap that the overheads do
// not hide.
func machine(rng *rand.Rand) model.LogGP {
	m := model.LogGP{
		L: decade(rng, unit.Microsecond/10), SendOverhead: decade(rng, unit.Microsecond/10), RecvOverhead: decade(rng, unit.Microsecond/10),
		Gap: decade(rng, unit.Microsecond/10), GapPerByte: unit.PerByte(decade(rng, 100)),
	}
	if rng.IntN(2) == 0 {
		m.Gap = max(m.SendOverhead, m.RecvOverhead) * 3 / 2
	}
	return m
}

func spec(m model.LogGP) string {
	return fmt.Sprintf("loggp:L=%v,o_s=%v,o_r=%v,g=%v,G=%v", m.L, m.SendOverhead, m.RecvOverhead, m.Gap, m.GapPerByte)
}

// truth is what a fit should find, in microseconds and microseconds a byte.
func truth(m model.LogGP) map[string]float64 {
	return map[string]float64{"L": m.L.Micros(), "o_s": m.SendOverhead.Micros(), "o_r": m.RecvOverhead.Micros(), "g": m.Gap.Micros(), "G": m.GapPerByte.Micros()}
}

// Sizes with more bytes at the long end, where G shows.
var recoverSizes = []int{1, 1000, 10000, 30000, 60000, 100000}

// The whole way without noise: the machine's parameters come back within 1 %, and where one does
// not it is because nothing could show it.
func TestParametersComeBack(t *testing.T) {
	sets := uint64(50)
	if testing.Short() {
		sets = 5
	}
	for seed := range sets {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := machine(rng)
		for _, modes := range [][]string{{"send", "isend"}, {microbench.LowLevelMode}} {
			r := measured(t, spec(m), &microbench.Plan{Modes: modes, Sizes: recoverSizes, Reps: 20, WarmupRounds: 2}, 0, seed)
			for name, want := range truth(m) {
				got, ok := params.ValueAt(r.Parameters, modes[0], name, 1)
				hidden := name == "g" && m.Gap <= max(m.SendOverhead, m.RecvOverhead)
				switch {
				case hidden:
				case !ok:
					t.Errorf("seed %d, %s, %s: no %s", seed, spec(m), modes[0], name)
				case math.Abs(got-want) > 0.01*want:
					t.Errorf("seed %d, %s, %s: %s is %v, found %v", seed, spec(m), modes[0], name, want, got)
				}
			}
		}
	}
}

// The whole way with noise: 95 % intervals hold the truth in at least 90 of 100 seeds, for every
// parameter.
func TestIntervalsHoldTheTruth(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 10
	}
	m := model.LogGP{L: 5 * unit.Microsecond, SendOverhead: 2 * unit.Microsecond, RecvOverhead: 3 * unit.Microsecond, Gap: 4 * unit.Microsecond, GapPerByte: 10000}
	for _, modes := range [][]string{{"send", "isend"}, {microbench.LowLevelMode}} {
		held := map[string]int{}
		for seed := range seeds {
			r := measured(t, spec(m), &microbench.Plan{Modes: modes, Sizes: recoverSizes, Reps: 60, WarmupRounds: 2}, 0.05, seed)
			for name, want := range truth(m) {
				if p := first(r.Parameters, modes[0], name); p != nil && p.Low <= want && want <= p.High {
					held[name]++
				}
			}
		}
		for name := range truth(m) {
			t.Logf("%s %s: the interval holds the truth in %d of %d seeds", modes[0], name, held[name], seeds)
			if held[name]*10 < int(seeds)*9 && !testing.Short() {
				t.Errorf("%s %s: the interval holds the truth in %d of %d seeds", modes[0], name, held[name], seeds)
			}
		}
	}
}

// first returns the parameter of a mode that stands first: of those that depend on size, that of
// the smallest.
func first(ps []params.Parameter, mode, name string) *params.Parameter {
	want := params.UnitMicros
	if name == "G" {
		want = params.UnitMicrosPerByte
	}
	for i, p := range ps {
		if p.Mode == mode && p.Name == name && p.Unit == want {
			return &ps[i]
		}
	}
	return nil
}

// Sender and delivery times of the protocol that the library chooses are those of the model; of
// low-level messages there are none.
func TestDeliveries(t *testing.T) {
	m := model.LogGP{L: 5 * unit.Microsecond, SendOverhead: 2 * unit.Microsecond, RecvOverhead: 3 * unit.Microsecond, Gap: 4 * unit.Microsecond, GapPerByte: 10_000}
	r := measured(t, spec(m), &microbench.Plan{Modes: []string{"send", microbench.LowLevelMode}, Sizes: []int{1, 1001}, Reps: 4, HasCommonClock: true, MeasuresDeliveryTimes: true}, 0, 1)
	got := map[string]float64{}
	for _, c := range r.Curves {
		for _, p := range c.Points {
			got[fmt.Sprint(c.Mode, c.Protocol, c.Timer, p.Bytes)] = p.Value
		}
	}
	for key, want := range map[string]float64{"sendautoT_s1": 2, "sendautoT_s1001": 2, "sendautoT_sr1": 10, "sendautoT_sr1001": 20} {
		if math.Abs(got[key]-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	if x, ok := got["messageautoT_s1"]; ok {
		t.Errorf("T_s of low-level messages is %v", x)
	}
}
