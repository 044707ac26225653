package fit_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
)

var (
	secrets    = flag.Int("machines", 30, "synthetic machines with secret parameters")
	secretSeed = flag.Uint64("seed", 1, "of the synthetic machines")
)

// secretMachine draws a machine over four decades: also such as hide their gap or their latency
// behind overheads.
func secretMachine(rng *rand.Rand) fittest.Machine {
	decades := func(from float64) float64 { return from * math.Pow(10, 4*rng.Float64()) }
	m := fittest.Machine{
		L: decades(0.1), SendO: decades(0.1), RecvO: decades(0.1), Gap: decades(0.1), G: decades(1e-5),
		ISendO: decades(0.1), IRecvO: decades(0.1), Get: decades(1e-5), Put: decades(1e-5),
		Skew: 0.3, Sizes: fittest.Powers(1, 1<<20),
	}
	if rng.IntN(3) == 0 {
		m.Sizes = fittest.Powers(16, 1<<20)
	}
	if rng.IntN(2) == 0 {
		m.SendSlope, m.RecvSlope = decades(1e-6), decades(1e-6)
	}
	return m
}

// Synthetic machines whose parameters are secret. Without noise every parameter that can be
// identified is found within 1 %, and a bound is no less than the truth. With noise of 5 % on each
// processor step intervals hold the truth in 90 of 100 cases, and what is too small to be seen is
// said not to be identifiable, or is bounded.
func TestSecretMachines(t *testing.T) {
	type tally struct{ held, all int }
	var lock sync.Mutex
	tallies := map[string]tally{}
	clean.RunParallel(*secrets, func(i int) {
		seed := *secretSeed + uint64(i)
		rng := rand.New(rand.NewPCG(seed, 2))
		m := secretMachine(rng)
		for _, noise := range []float64{0, 0.05} {
			m.Noise, m.Reps = noise, 6
			if noise > 0 {
				m.Reps = 40
			}
			r, err := fit.Fit(m.Samples(seed, fittest.WholePlan), clean.Options{ReplicateCount: 100, Seed: seed})
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
				return
			}
			for _, w := range m.Truths() {
				kind := params.KindOf(w.Name, w.Unit)
				p, ok := params.FindParameter(r.Parameters, w.Mode, kind, 0)
				if kind != params.Gap { // the fit says itself by which method it knows g
					rows := w.FindRows(r.Parameters)
					if ok = len(rows) > 0; ok {
						p = rows[0]
					}
				}
				truth := w.Value
				if kind == params.Gap {
					truth = m.Gap
				}
				// the samples are whole picoseconds, a slope is of a megabyte
				slack := 0.01*math.Abs(truth) + 2e-6
				if w.Unit == params.UnitMicrosPerByte {
					slack = 0.01*math.Abs(truth) + 1e-9
				}
				switch {
				case !ok && noise == 0:
					t.Errorf("seed %d: no row of %+v, machine %+v", seed, w, m)
				case !ok || math.IsNaN(p.Value): // with noise: too small to be distinguished from zero
					if noise == 0 {
						t.Errorf("seed %d: %+v is not identifiable, machine %+v", seed, w, m)
					}
				case p.IsBound() && noise == 0:
					if p.High < truth-slack {
						t.Errorf("seed %d: %+v bounds %v", seed, p, truth)
					}
				case noise == 0:
					if math.Abs(p.Value-truth) > slack || p.High-p.Low > slack {
						t.Errorf("seed %d: %s %s %s: %v [%v, %v], want %v", seed, w.Mode, w.Name, w.Method, p.Value, p.Low, p.High, truth)
					}
				default:
					name := w.Name + " in " + w.Unit
					if p.IsBound() {
						name, p.Low = "bound of "+w.Name, 0
					}
					lock.Lock()
					x := tallies[name]
					x.all++
					if rounding := slack - 0.01*math.Abs(truth); p.Low-rounding <= truth && truth <= p.High+rounding {
						x.held++
					}
					tallies[name] = x
					lock.Unlock()
				}
			}
		}
	})
	for name, x := range tallies {
		t.Logf("%s: intervals held the truth in %d of %d cases", name, x.held, x.all)
		if 10*x.held < 9*x.all && x.all >= 50 {
			t.Errorf("%s: intervals held the truth in %d of %d cases", name, x.held, x.all)
		}
	}
}
