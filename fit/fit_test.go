package fit_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// The same set gives the same bytes, on however many processors and in whatever order the series
// come.
func TestDeterministic(t *testing.T) {
	set := fittest.TypicalMachine().Samples(7, fittest.WholePlan)
	print := func(r *fit.Result) string {
		var b bytes.Buffer
		if err := params.WriteParameters(&b, r.Parameters); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%v\n%v\n", r.Warnings, r.Curves)
		return b.String()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := print(fitcheck.Fit(t, set, clean.Options{}))
	for _, procs := range []int{2, 4, 7} {
		runtime.GOMAXPROCS(procs)
		rand.New(rand.NewPCG(uint64(procs), 6)).Shuffle(len(set.Series), func(i, j int) {
			set.Series[i], set.Series[j] = set.Series[j], set.Series[i]
		})
		if got := print(fitcheck.Fit(t, set, clean.Options{})); got != want {
			t.Errorf("%d processors: got\n%s\nwant\n%s", procs, got, want)
		}
	}
	if print(fitcheck.Fit(t, set, clean.Options{Seed: 1})) == want {
		t.Error("another seed gives the same intervals")
	}
}

func TestFitErrors(t *testing.T) {
	both := []sample.Series{fittest.SeriesAt16Bytes("send", sample.Timer11, 1), fittest.SeriesAt16Bytes("send", sample.Timer11, 1)}
	both[1].Clock = "real"
	for _, c := range []struct {
		set  *sample.Set
		want string
	}{
		{&sample.Set{Series: both}, "fit them apart"},
		{&sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "3"}}}, `"3"`},
		{&sample.Set{Facts: []sample.Fact{{Key: sample.ResolutionFact, Value: "NaN"}}}, `"NaN"`},
	} {
		if _, err := fit.Fit(c.set, clean.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if r, err := fit.Fit(&sample.Set{}, clean.Options{}); err != nil || len(r.Parameters)+len(r.Warnings)+len(r.Curves) > 0 {
		t.Errorf("an empty set: %+v, %v", r, err)
	}
}

func TestQualityWarnings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	noisy := func(n int, f func(i int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = f(i) * (1 + 0.02*rng.NormFloat64())
		}
		return x
	}
	flat := func(int) float64 { return 10 }
	coarse := fittest.SeriesAt16Bytes("send", sample.Timer12, noisy(200, func(i int) float64 { return 10 })...)
	for i := range coarse.Times {
		coarse.Times[i] = coarse.Times[i] / unit.Microsecond * unit.Microsecond
	}
	set := &sample.Set{Series: []sample.Series{
		fittest.SeriesAt16Bytes("send", sample.Timer11, noisy(10, flat)...),
		coarse,
		fittest.SeriesAt16Bytes("isend", sample.Timer11, noisy(400, func(i int) float64 { return 10 + float64(i)/200 })...),
		fittest.SeriesAt16Bytes("isend", sample.Timer21, noisy(400, flat)...),
		fittest.SeriesAt16Bytes("bsend", sample.Timer11, noisy(400, flat)...),
		fittest.SeriesAt16Bytes("bsend", sample.Timer22, noisy(400, func(int) float64 { return 12 })...),
	}}
	for i := range set.Series {
		set.Series[i].Clock = "real"
	}
	r := fitcheck.Fit(t, set, clean.Options{})
	type expected struct{ mode, parameter, code string }
	var got []expected
	for _, w := range r.Warnings {
		got = append(got, expected{w.Mode, w.Parameter, w.Code})
		if w.String() == "" || w.Text == "" || w.Platform != "loggp" {
			t.Errorf("%+v", w)
		}
	}
	want := []expected{
		{"send", "timer11", clean.CodeFewReps}, {"send", "timer12", clean.CodeCoarseTimer}, {"isend", "timer11", clean.CodeDrift},
		{"send", "o_s", clean.CodeFewSizes}, {"send", "o_r", clean.CodeFewSizes}, {"bsend", "o_s", clean.CodeFewSizes}, {"bsend", "o_s", clean.CodeDirectionsDiffer},
		{"isend", "o_s", clean.CodeFewSizes}, {"isend", "o_r", clean.CodeFewSizes},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
