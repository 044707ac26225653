package params_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
)

func TestValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	set := fittest.SamplesOfFormula(rng, fittest.DoublingSizes(14), 50, 0, func(k float64) float64 {
		if k <= 1024 {
			return 10 + 0.01*k
		}
		return 50 + 0.02*k
	})
	r := fitcheck.Fit(t, set, clean.Options{})
	for k, want := range map[int]float64{0: 10.01, 1: 10.01, 700: 17, 1024: 20.24, 2048: 90.96, 16000: 370} {
		got, ok := params.ValueAt(r.Parameters, "send", "o_s", k)
		if !ok || math.Abs(got-want) > 1e-3*want {
			t.Errorf("o_s of %d bytes: %v, %v, want %v", k, got, ok, want)
		}
		if at := r.Curves[0].ValueAt(k); math.Abs(at-got) > 1e-9 {
			t.Errorf("the curve at %d bytes: %v, the parameter: %v", k, at, got)
		}
	}
	if v, ok := params.ValueAt(r.Parameters, "send", "H", 1); ok {
		t.Errorf("H is %v", v)
	}
}

// Without noise each parameter of a machine comes back, also if overheads grow with size and the
// smallest message is longer than a byte; and a value at a size is that of the row that counts.
func TestParametersOfExactMachine(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise = 0
	r := fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
	for _, w := range []struct {
		Mode, name string
		want       float64
	}{{"message", "L", m.L}, {"message", "G", m.G}, {"send", "L", m.L}, {"send", "G", m.G}, {"send", "g", m.Gap}, {"isend", "o_r", m.IRecvO}} {
		if got, ok := params.ValueAt(r.Parameters, w.Mode, w.name, 1); !ok || math.Abs(got-w.want) > 1e-3*w.want {
			t.Errorf("%s %s: %v, %v, want %v", w.Mode, w.name, got, ok, w.want)
		}
	}
	sloped := m
	sloped.SendSlope, sloped.RecvSlope, sloped.Sizes = 0.003, 0.002, fittest.Powers(16, 1<<14)
	for _, m := range []fittest.Machine{m, sloped} {
		r := fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{ReplicateCount: 20})
		for _, w := range m.Truths() {
			if w.Value == 0 {
				continue
			}
			if p := fitcheck.Row(t, r, w.Mode, w.Name, w.Method, w.Unit); math.Abs(p.Value-w.Value) > 1e-3*w.Value {
				t.Errorf("%s of %s by %s: %v, want %v", w.Name, w.Mode, w.Method, p.Value, w.Value)
			}
		}
	}
}
