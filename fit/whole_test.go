package fit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

func mustFit(t *testing.T, set *sample.Set, o clean.Options) *Result {
	t.Helper()
	r, err := Fit(set, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Machines drawn over four decades, without noise: the fit must find what the formulas were given, within 1 %.
func TestNoiseFree(t *testing.T) {
	decades := func(rng *rand.Rand, from float64) float64 { return from * math.Pow(10, 4*rng.Float64()) }
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		m := fittest.Machine{
			L: decades(rng, 0.1), SendO: decades(rng, 0.1), RecvO: decades(rng, 0.1), Gap: decades(rng, 0.1), G: decades(rng, 1e-5),
			ISendO: decades(rng, 0.1), IRecvO: decades(rng, 0.1), Get: decades(rng, 1e-5), Put: decades(rng, 1e-5),
			Skew: 0.3, Sizes: fittest.Powers(1, 1<<20), Reps: 4,
		}
		if seed%3 == 1 {
			m.Sizes = fittest.Powers(16, 1<<20)
		}
		if seed%2 == 1 {
			m.SendSlope, m.RecvSlope = decades(rng, 1e-6), decades(rng, 1e-6)
		}
		r := mustFit(t, m.Samples(seed, fittest.WholePlan), clean.Options{Replicates: 5})
		for _, w := range m.Truths() {
			rows := w.Find(r.Parameters)
			if len(rows) != 1 {
				t.Errorf("seed %d: %d rows of %+v, machine %+v", seed, len(rows), w, m)
				continue
			}
			p := rows[0]
			// the samples are whole picoseconds, a slope is of a megabyte
			slack := 0.01*math.Abs(w.Value) + 2e-6
			if w.Unit == params.PerByte {
				slack = 0.01*math.Abs(w.Value) + 1e-9
			}
			if w.Method == params.ByReceive { // a bound, which may have the skew of the barrier in it
				slack += m.Skew
			}
			if math.Abs(p.Value-w.Value) > slack || p.Bound() && p.Value < w.Value*0.99 || p.High-p.Low > slack && !(w.Method == params.ByReceive && warnedOf(r, w.Mode, "L", clean.Skew)) {
				t.Errorf("seed %d: %s %s %s: %v [%v, %v], want %v", seed, w.Mode, w.Name, w.Method, p.Value, p.Low, p.High, w.Value)
			}
		}
	}
}

func TestParametersRoundTrip(t *testing.T) {
	m := fittest.Typical()
	m.L = 0.001 // some rows without a number
	want := mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{}).Parameters
	want = append(want, params.Parameter{Platform: "a,b", Place: "inter", Name: "P", From: -1, To: -1, Value: 4, Low: 4, High: 4, Unit: params.Count, Samples: 0})
	var b bytes.Buffer
	if err := params.WriteParameters(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := params.ReadParameters(strings.NewReader("# seed: 1\n"+b.String()), "p.csv")
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if !math.IsNaN(want[i].Value) {
			want[i].Verdict = ""
		}
		want[i].Off, want[i].Most = 0, 0
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}
