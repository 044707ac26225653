package params_test

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// limits returns the rows of S.
func limits(r *fit.Result) []params.Parameter {
	var out []params.Parameter
	for _, p := range r.Parameters {
		if p.Name == "S" {
			out = append(out, p)
		}
	}
	return out
}

// The eager limit of a real library is found at each of five settings, and no other: between the
// last size below it and the first that is not.
func TestEagerLimit(t *testing.T) {
	set, err := sample.ReadFile("testdata/eager.csv")
	if err != nil {
		t.Fatal(err)
	}
	r := fitcheck.Fit(t, set, clean.Options{})
	found := limits(r)
	if len(r.EagerLimitEvidence) != len(found) {
		t.Fatalf("evidence of %d limits of %d", len(r.EagerLimitEvidence), len(found))
	}
	for i, h := range r.EagerLimitEvidence {
		if h.Value != found[i].Value || h.CostJump < h.RoundTripOfSmallestMessage || !h.IsConfirmed && h.Verdict == params.GoodVerdict {
			t.Errorf("%+v", h)
		}
	}
	if len(found) != 5 {
		t.Fatalf("%d limits: %+v", len(found), found)
	}
	for _, p := range found {
		var limit float64
		fmt.Sscanf(p.Library, "eager limit %f", &limit)
		// sizes grow by √2: one step to either side
		if p.Value < limit/2-1 || p.Value > limit || p.Low > limit || p.High < limit-1 || p.High > 2*limit || p.Unit != params.UnitBytes || p.Method != "rtt: eager limit" {
			t.Errorf("%s: %+v", p.Library, p)
		}
	}
}

// What is no handshake is no eager limit: a cache that is full, another way to copy from some size
// on, a line that is bent everywhere. And what is one is found, also where the bytes come so much
// faster after it that times fall.
func TestEagerLimitOrBend(t *testing.T) {
	from := func(k, at, x float64) float64 {
		if k < at {
			return 0
		}
		return x
	}
	for _, c := range []struct {
		name string
		f    func(k float64) float64
		want float64 // last size before, or 0
	}{
		{"line", func(k float64) float64 { return 0.7 + 0.0005*k }, 0},
		{"cache", func(k float64) float64 { return 0.7 + 0.0001*k + from(k, 32768, 0.0004*(k-32768)) }, 0},
		{"longer header", func(k float64) float64 { return 0.5 + from(k, 64, 0.3) + 0.0005*k }, 0},
		{"empty messages", func(k float64) float64 { return 0.4 + from(k, 1, 0.4) + 0.0005*k }, 0},
		{"handshake", func(k float64) float64 { return 0.7 + from(k, 4096, 1.2) + 0.0005*k }, 2048},
		{"one copy in place of two", func(k float64) float64 {
			return 0.7 + from(k, 16384, 2.2) + 0.0005*k - from(k, 16384, 0.0004*k)
		}, 8192},
	} {
		wrong := 0
		for seed := range uint64(20) {
			found := limits(fitcheck.Fit(t, fittest.RoundTripSamples(seed, c.f), clean.Options{ReplicateCount: 100}))
			switch {
			case c.want == 0 && len(found) > 0, c.want > 0 && (len(found) != 1 || found[0].Low > c.want || found[0].High < c.want):
				wrong++
				t.Logf("%s, seed %d: %+v", c.name, seed, found)
			}
		}
		if wrong > 1 {
			t.Errorf("%s: wrong in %d of 20 seeds", c.name, wrong)
		}
	}
}
