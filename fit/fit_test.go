package fit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// one returns the only row of a parameter.
func one(t *testing.T, r *Result, mode, name, method, unit string) params.Parameter {
	t.Helper()
	rows := fittest.Truth{Mode: mode, Name: name, Method: method, Unit: unit, Value: 0}.Find(r.Parameters)
	if len(rows) != 1 {
		t.Fatalf("%d rows of %s %s by %s: %+v", len(rows), mode, name, method, r.Parameters)
	}
	return rows[0]
}

// warning returns whether there is a warning of a code, for a parameter or timer of a mode.
func warnedOf(r *Result, mode, parameter, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w clean.Warning) bool { return w.Mode == mode && w.Parameter == parameter && w.Code == code })
}

// The same set gives the same bytes, on however many processors and in whatever order the series
// come.
func TestDeterministic(t *testing.T) {
	set := fittest.Typical().Samples(7, fittest.WholePlan)
	print := func(r *Result) string {
		var b bytes.Buffer
		if err := params.WriteParameters(&b, r.Parameters); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%v\n%v\n", r.Warnings, r.Curves)
		return b.String()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := print(mustFit(t, set, clean.Options{}))
	for _, procs := range []int{2, 4, 7} {
		runtime.GOMAXPROCS(procs)
		rand.New(rand.NewPCG(uint64(procs), 6)).Shuffle(len(set.Series), func(i, j int) {
			set.Series[i], set.Series[j] = set.Series[j], set.Series[i]
		})
		if got := print(mustFit(t, set, clean.Options{})); got != want {
			t.Errorf("%d processors: got\n%s\nwant\n%s", procs, got, want)
		}
	}
	if print(mustFit(t, set, clean.Options{Seed: 1})) == want {
		t.Error("another seed gives the same intervals")
	}
}

func TestGapHidden(t *testing.T) {
	for _, c := range []struct {
		os, or, g float64
		method    string
		value     float64
		warned    bool // that g is about o_s is the rule, that nobody knows is none
	}{
		{30, 15, 20, params.MethodGapAtMostSendOverhead, 30, false}, {30, 30, 30, params.MethodGapAtMostSendOverhead, 30, false}, {15, 30, 20, params.MethodGapAtMostTrain, 30, true}, {1e-6, 1e6, 1e6, params.MethodGapAtMostTrain, 1e6, true},
	} {
		m := fittest.Typical()
		m.SendO, m.RecvO, m.Gap = c.os, c.or, max(c.g, c.os, c.or) // a receiver that is slower holds the sender back
		m.Noise = 0
		r := mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
		p := one(t, r, "send", "g", c.method, params.Micros)
		if p.Verdict != params.NotIdentifiable || p.Value != c.value || warnedOf(r, "send", "g", clean.Unidentified) != c.warned {
			t.Errorf("%+v: %+v, %v", c, p, r.Warnings)
		}
	}
	m := fittest.Typical()
	m.SendO, m.Gap = 30, 31
	p := one(t, mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{}), "send", "g", params.MethodTrain, params.Micros)
	if p.Verdict != params.Good || math.Abs(p.Value-31) > 0.5 {
		t.Errorf("a gap a little above the overhead: %+v", p)
	}
}

// Overheads that are longer than the way, as over TCP on one machine: the textbook latency is
// negative, and there is no number.
func TestNegativeLatency(t *testing.T) {
	m := fittest.Typical()
	m.L = -5
	r := mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
	p := one(t, r, "message", "L", params.MethodRoundTrip+params.UnidentifiableSuffix, params.Micros)
	if !math.IsNaN(p.Value) || !math.IsNaN(p.Low) || p.Verdict != params.NotIdentifiable {
		t.Errorf("%+v", p)
	}
	if !warnedOf(r, "message", "L", clean.NegativeLatency) {
		t.Errorf("no warning in %v", r.Warnings)
	}
	if _, ok := params.ValueAt(r.Parameters, "message", "L", 1); ok {
		t.Error("a latency that is not identifiable has a value")
	}
	if p := one(t, r, "message", "L", params.MethodHalfRoundTrip, params.Micros); math.Abs(p.Value-40) > 1 { // -5 + 30 + 15
		t.Errorf("%+v", p)
	}

	m.L = 0.01
	r = mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
	one(t, r, "message", "L", params.MethodRoundTrip+params.UnidentifiableSuffix, params.Micros)
	if !warnedOf(r, "message", "L", clean.Unidentified) && !warnedOf(r, "message", "L", clean.NegativeLatency) {
		t.Errorf("no warning of a latency within its interval of nothing: %v", r.Warnings)
	}
}

func TestRoots(t *testing.T) {
	set := &sample.Set{
		Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}},
		Series: []sample.Series{
			fittest.Series("send", sample.Timer11, append(fittest.Repeat(20, 30), fittest.Repeat(20, 35)...)...),    // a stall with the root at P2
			fittest.Series("send", sample.Timer12, append(fittest.Repeat(20, 10.05), fittest.Repeat(20, 10)...)...), // within a percent
			fittest.Series("send", sample.Timer21, append(fittest.Repeat(20, 55), fittest.Repeat(20, 51)...)...),    // skew 2
			fittest.Series("isend", sample.Timer21, append(fittest.Repeat(20, 9), fittest.Repeat(20, 8)...)...),
			fittest.Series("isend", sample.Timer11, fittest.Repeat(21, 9)...),
		},
	}
	r := mustFit(t, set, clean.Options{})
	want := map[string]float64{"send timer11": 30, "send timer12": 10.025, "send timer21": 53, "isend timer21": 8, "isend timer11": 9}
	for _, c := range r.Curves {
		if w, ok := want[c.Mode+" "+c.Timer]; ok && math.Abs(c.Points[0].Value-w) > 1e-9 {
			t.Errorf("%s %s: %v, want %v", c.Mode, c.Timer, c.Points[0].Value, w)
		}
	}
	for _, w := range []struct {
		Mode, timer, code string
		want              bool
	}{
		{"send", sample.Timer11, clean.RootsDisagree, true}, {"send", sample.Timer12, clean.RootsDisagree, false},
		{"send", sample.Timer21, clean.RootsDisagree, false}, {"isend", sample.Timer21, clean.RootsDisagree, true},
		{"isend", sample.Timer11, clean.OddReps, true},
	} {
		if warnedOf(r, w.Mode, w.timer, w.code) != w.want {
			t.Errorf("%+v: %v", w, r.Warnings)
		}
	}
	set.Facts[0].Value = "1"
	r = mustFit(t, set, clean.Options{})
	if v := r.Curves[2].Points[0].Value; r.Curves[2].Timer != sample.Timer21 || v != 53 || warned(r, clean.RootsDisagree) || warned(r, clean.OddReps) {
		t.Errorf("one root: %+v, %v", r.Curves[2], r.Warnings) // the median of as many 51 as 55
	}
}

// Of many launches with two repetitions of each root a few disagree by chance; most of them do only
// if the roots differ.
func TestRootsOfLaunches(t *testing.T) {
	few := func(skew float64) *Result {
		rng := rand.New(rand.NewPCG(1, 20))
		set := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}}}
		for launch := range 60 {
			var times []float64
			for i := range 4 {
				times = append(times, 30*(1+0.03*rng.NormFloat64())+skew*float64(i/2))
			}
			s := fittest.Series("send", sample.TimerIdle, times...)
			s.Launch = launch
			set.Series = append(set.Series, s)
		}
		return mustFit(t, set, clean.Options{})
	}
	r := few(0)
	if p := r.Curves[0].Points[0]; warnedOf(r, "send", sample.TimerIdle, clean.RootsDisagree) || math.Abs(p.Value-30) > 0.4 {
		t.Errorf("alike: %+v, %v", p, r.Warnings)
	}
	r = few(20)
	if p := r.Curves[0].Points[0]; !warnedOf(r, "send", sample.TimerIdle, clean.RootsDisagree) || math.Abs(p.Value-30) > 0.4 {
		t.Errorf("20 us apart: %+v, %v", p, r.Warnings)
	}
}

// On a machine with a long gap the barrier's last message hinders the send behind it, with either
// root; the same call after a wait is free of that. Where the two agree, timer11 counts, which has
// more samples. A synchronous send waits for its peer.
func TestIdle(t *testing.T) {
	set := &sample.Set{Series: []sample.Series{
		fittest.Series("send", sample.Timer11, fittest.Repeat(40, 70)...), fittest.Series("send", sample.TimerIdle, fittest.Repeat(10, 30)...),
		fittest.Series("ssend", sample.Timer11, fittest.Repeat(40, 70)...), fittest.Series("ssend", sample.TimerIdle, fittest.Repeat(10, 30)...),
		fittest.Series("isend", sample.Timer11, fittest.Repeat(40, 30.1)...), fittest.Series("isend", sample.TimerIdle, fittest.Repeat(10, 30)...),
	}}
	r := mustFit(t, set, clean.Options{})
	for _, w := range []struct {
		Mode, method string
		value        float64
	}{{"send", sample.TimerIdle, 30}, {"ssend", sample.Timer11, 70}, {"isend", sample.Timer11, 30.1}} {
		if p := one(t, r, w.Mode, "o_s", w.method, params.Micros); p.Value != w.value || warnedOf(r, w.Mode, "o_s", clean.Hindered) != (w.method == sample.TimerIdle) {
			t.Errorf("%s: %+v, %v", w.Mode, p, r.Warnings)
		}
	}
	var long []sample.Series // of which nobody knows what they take after a wait
	for _, k := range []int{5000, 9000} {
		s := fittest.Series("send", sample.Timer11, fittest.Repeat(40, 80)...)
		s.Bytes = k
		long = append(long, s)
	}
	some := mustFit(t, &sample.Set{Series: append(long, set.Series[:2]...)}, clean.Options{})
	for _, p := range some.Parameters {
		if p.Name == "o_s" && p.Method != sample.Timer11 {
			t.Errorf("of one size in three: %+v", p)
		}
	}
}

// P2's send is a second reading of o_s only where it does not wait for P1, which receives late on
// purpose; and of roots that disagree only those matter that a parameter is of.
func TestSecondReading(t *testing.T) {
	for _, c := range []struct {
		back float64
		want bool
	}{{30, false}, {40, true}, {79, true}, {500, false}} { // 80 is twice timer11 and timer12
		set := &sample.Set{Series: []sample.Series{fittest.Series("send", sample.Timer11, fittest.Repeat(40, 30)...), fittest.Series("send", sample.Timer12, fittest.Repeat(40, 10)...),
			fittest.Series("send", sample.Timer22, fittest.Repeat(40, c.back)...)}}
		if r := mustFit(t, set, clean.Options{}); warned(r, clean.DirectionsDiffer) != c.want {
			t.Errorf("%+v: %v", c, r.Warnings)
		}
	}
	apart := append(fittest.Repeat(20, 30), fittest.Repeat(20, 60)...)
	for _, c := range []struct {
		timer string
		sizes []int // that disagree, of twelve
		want  bool
	}{
		{sample.Timer11, []int{5}, false}, {sample.Timer11, []int{0}, true}, {sample.Timer11, []int{3, 5, 7, 9}, true},
		{sample.Timer22, []int{0, 3, 5, 7, 9}, false},
	} {
		set := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}}}
		for i := range 12 {
			s := fittest.Series("send", c.timer, fittest.Repeat(40, 30)...)
			if slices.Contains(c.sizes, i) {
				s = fittest.Series("send", c.timer, apart...)
			}
			s.Bytes = 1 << i
			set.Series = append(set.Series, s)
		}
		if r := mustFit(t, set, clean.Options{}); warned(r, clean.RootsDisagree) != c.want {
			t.Errorf("%+v: %v", c, r.Warnings)
		}
	}
}

// Where the barrier's skew is longer than the way of a short message, the late receive finds it
// there: half of the mean of the roots knows nothing of the way, and G comes from the other half.
func TestSkew(t *testing.T) {
	m := fittest.Typical()
	m.Noise, m.Skew = 0, 300 // the way is 57 us for a byte and 0.7 ms for 16 KiB
	set := m.Samples(1, fittest.WholePlan)
	for _, s := range set.Series {
		if s.Timer == sample.Timer21 && sample.IsBlockingMode(s.Mode) {
			for i := range s.Times {
				s.Times[i] = max(s.Times[i], unit.FromMicros(m.RecvO))
			}
		}
	}
	r := mustFit(t, set, clean.Options{})
	p := one(t, r, "send", "G", params.MethodBlockingDifference, params.PerByte)
	if math.Abs(p.Value-m.G) > 1e-3*m.G || p.From != 1 || p.Verdict != params.Weak || !warnedOf(r, "send", "G", clean.Skew) {
		t.Errorf("%+v, %v", p, r.Warnings)
	}
	// (57 + 300 + 15)/2 − 15 is above L, and knows nothing of it: the bound is 57 + 300 − 15
	if p := one(t, r, "ssend", "L", params.MethodReceiveDifference, params.Micros); !p.IsBound() || math.Abs(p.Value-342) > 0.1 || !warnedOf(r, "ssend", "L", clean.Skew) {
		t.Errorf("%+v, %v", p, r.Warnings)
	}
	if r := mustFit(t, fittest.Typical().Samples(1, fittest.WholePlan), clean.Options{}); warned(r, clean.Skew) {
		t.Errorf("a skew shorter than the way: %v", r.Warnings)
	}
}

// On a real machine G is from long messages, so that a receive that begins late counts only if it
// does so there; and where data comes only when the receiver asks for it there is none to find:
// both roots count.
func TestSkewOfLongMessages(t *testing.T) {
	for _, c := range []struct {
		name               string
		lateFrom, lateTo   int // sizes of which one root finds the message
		asks               int // from this size on the receiver asks for data
		early, late, ready float64
		skew               bool
	}{
		{"short messages are found", 0, 8 << 10, 1 << 30, 0.002, 0.001, 0.0005, false},
		{"long messages are found", 0, 1 << 30, 1 << 30, 0.002, 0.001, 0.0005, true},
		{"the receiver asks for long ones", 0, 8 << 10, 16 << 10, 0.002, 0.001, 0.0005, false},
	} {
		set := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}}}
		add := func(mode, timer string, k int, first, second float64) {
			s := fittest.Series(mode, timer, append(fittest.Repeat(20, first), fittest.Repeat(20, second)...)...)
			s.Bytes, s.Clock = k, "real"
			set.Series = append(set.Series, s)
		}
		for k := 1 << 10; k <= 128<<10; k *= 2 {
			x := float64(k)
			ready := 5 + c.ready*x
			early, late := 40+c.early*x, 36+c.early*x
			switch {
			case k >= c.asks:
				ready = 35 + c.early*x
				late = ready
			case k >= c.lateFrom && k <= c.lateTo:
				late = ready
			}
			add("send", sample.Timer21, k, early, late)
			add("send", sample.Timer12, k, ready, ready)
			add("isend", sample.Timer21, k, 0, 0)
		}
		r := mustFit(t, set, clean.Options{})
		p := one(t, r, "send", "G", params.MethodBlockingDifference, params.PerByte)
		if math.Abs(p.Value-c.early) > 1e-3*c.early || warnedOf(r, "send", "G", clean.Skew) != c.skew || p.To != 128<<10 {
			t.Errorf("%s: %+v, %v", c.name, p, r.Warnings)
		}
	}
}

// Launches differ by more than the repetitions in one of them, and the interval must say so.
func TestLaunches(t *testing.T) {
	set := &sample.Set{}
	rng := rand.New(rand.NewPCG(1, 7))
	for launch, median := range []float64{23, 57, 25, 26, 60, 24, 58, 27, 59, 25} {
		s := fittest.Series("send", sample.Timer11)
		s.Launch = launch
		for range 200 {
			s.Times = append(s.Times, unit.FromMicros(median*(1+0.01*rng.NormFloat64())))
		}
		set.Series = append(set.Series, s)
	}
	p := mustFit(t, set, clean.Options{}).Curves[0].Points[0]
	// the median of ten is the mean of the fifth and sixth
	if math.Abs(p.Value-26.5) > 0.2 || p.Low > 25.5 || p.High < 40 || p.Samples != 2000 {
		t.Errorf("%+v", p)
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
	coarse := fittest.Series("send", sample.Timer12, noisy(200, func(i int) float64 { return 10 })...)
	for i := range coarse.Times {
		coarse.Times[i] = coarse.Times[i] / unit.Microsecond * unit.Microsecond
	}
	set := &sample.Set{Series: []sample.Series{
		fittest.Series("send", sample.Timer11, noisy(10, flat)...),
		coarse,
		fittest.Series("isend", sample.Timer11, noisy(400, func(i int) float64 { return 10 + float64(i)/200 })...),
		fittest.Series("isend", sample.Timer21, noisy(400, flat)...),
		fittest.Series("bsend", sample.Timer11, noisy(400, flat)...),
		fittest.Series("bsend", sample.Timer22, noisy(400, func(int) float64 { return 12 })...),
	}}
	for i := range set.Series {
		set.Series[i].Clock = "real"
	}
	r := mustFit(t, set, clean.Options{})
	type expected struct{ mode, parameter, code string }
	var got []expected
	for _, w := range r.Warnings {
		got = append(got, expected{w.Mode, w.Parameter, w.Code})
		if w.String() == "" || w.Text == "" || w.Platform != "loggp" {
			t.Errorf("%+v", w)
		}
	}
	want := []expected{
		{"send", "timer11", clean.FewReps}, {"send", "timer12", clean.CoarseTimer}, {"isend", "timer11", clean.Drift},
		{"send", "o_s", clean.FewSizes}, {"send", "o_r", clean.FewSizes}, {"bsend", "o_s", clean.FewSizes}, {"bsend", "o_s", clean.DirectionsDiffer},
		{"isend", "o_s", clean.FewSizes}, {"isend", "o_r", clean.FewSizes},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A curve that no few straight pieces describe.
func TestNotLinear(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	set := fittest.Formula(rng, fittest.Even(24), 100, 0.01, func(k float64) float64 { return 10 + 5*math.Sin(k) })
	r := mustFit(t, set, clean.Options{})
	if !warnedOf(r, "send", "o_s", clean.NotLinear) {
		t.Errorf("no warning in %v", r.Warnings)
	}
	if !slices.ContainsFunc(r.Parameters, func(p params.Parameter) bool {
		return p.Verdict == params.Bad && p.MedianDeviation > 0.1 && p.LargestDeviation >= p.MedianDeviation
	}) {
		t.Errorf("no range is bad: %+v", r.Parameters)
	}
}

// The resolution of the timer is part of the interval of a time, and none of a slope.
func TestResolution(t *testing.T) {
	set := fittest.Formula(rand.New(rand.NewPCG(1, 10)), fittest.Doubling(10), 30, 0, func(k float64) float64 { return 10 + 0.01*k })
	set.Facts = []sample.Fact{{Key: sample.ResolutionFact, Value: "0.1"}}
	r := mustFit(t, set, clean.Options{})
	value, slope := one(t, r, "send", "o_s", sample.Timer11, params.Micros), one(t, r, "send", "o_s", sample.Timer11, params.PerByte)
	if math.Abs(value.High-value.Low-0.1) > 1e-6 || slope.High-slope.Low > 1e-9 {
		t.Errorf("%+v\n%+v", value, slope)
	}
	if p := r.Curves[0].Points[0]; math.Abs(p.High-p.Low-0.1) > 1e-6 {
		t.Errorf("%+v", p)
	}
	if warned(r, clean.CoarseTimer) {
		t.Errorf("%v", r.Warnings)
	}
	set.Facts[0].Value = "1"
	if r := mustFit(t, set, clean.Options{}); !warned(r, clean.CoarseTimer) {
		t.Error("no warning of a timer with steps of a tenth of the time")
	}
}

// Of files that were read together each has a timer of its own: a coarse one says nothing of what
// another saw.
func TestResolutionOfFiles(t *testing.T) {
	fine := fittest.Formula(rand.New(rand.NewPCG(1, 10)), fittest.Doubling(10), 30, 0.02, func(k float64) float64 { return 10 + 0.01*k })
	fine.Facts = []sample.Fact{{Key: sample.FileFact, Value: "fine.csv"}, {Key: sample.ResolutionFact, Value: "0.001"}}
	want := mustFit(t, fine, clean.Options{})
	both := &sample.Set{Series: slices.Clone(fine.Series), Facts: append(slices.Clone(fine.Facts),
		sample.Fact{Key: sample.FileFact, Value: "coarse.csv"}, sample.Fact{Key: sample.ResolutionFact, Value: "1"})}
	for _, s := range fine.Series {
		s.Platform, s.File = "zebra", 1
		both.Series = append(both.Series, s)
	}
	got := mustFit(t, both, clean.Options{})
	if n := len(want.Parameters); len(got.Parameters) != 2*n || !reflect.DeepEqual(got.Parameters[:n], want.Parameters) {
		t.Errorf("beside a coarse timer %+v\nalone %+v", got.Parameters, want.Parameters)
	}
	if slices.ContainsFunc(got.Warnings, func(w clean.Warning) bool { return w.Code == clean.CoarseTimer && w.Platform != "zebra" }) || !warned(got, clean.CoarseTimer) {
		t.Errorf("%v", got.Warnings)
	}
}

func TestFitErrors(t *testing.T) {
	both := []sample.Series{fittest.Series("send", sample.Timer11, 1), fittest.Series("send", sample.Timer11, 1)}
	both[1].Clock = "real"
	for _, c := range []struct {
		set  *sample.Set
		want string
	}{
		{&sample.Set{Series: both}, "fit them apart"},
		{&sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "3"}}}, `"3"`},
		{&sample.Set{Facts: []sample.Fact{{Key: sample.ResolutionFact, Value: "NaN"}}}, `"NaN"`},
	} {
		if _, err := Fit(c.set, clean.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if r, err := Fit(&sample.Set{}, clean.Options{}); err != nil || len(r.Parameters)+len(r.Warnings)+len(r.Curves) > 0 {
		t.Errorf("an empty set: %+v, %v", r, err)
	}
}

// Any set gives a result, in which numbers are numbers and intervals hold their values.
func TestAnySet(t *testing.T) {
	modes, names := []string{"other"}, []string{"other"}
	for _, m := range sample.Modes {
		modes = append(modes, m.Name)
	}
	for _, x := range sample.Timers {
		if !x.Collective {
			names = append(names, x.Name)
		}
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		set := &sample.Set{}
		if rng.IntN(2) == 0 {
			set.Facts = append(set.Facts, sample.Fact{Key: sample.RootsFact, Value: "2"})
		}
		seen := map[sample.Key]bool{}
		for range rng.IntN(40) {
			k := fittest.Key(modes[rng.IntN(len(modes))], names[rng.IntN(len(names))], 1<<rng.IntN(6)-1)
			k.Launch = rng.IntN(2)
			if seen[k] {
				continue
			}
			seen[k] = true
			s := sample.Series{Key: k}
			for range rng.IntN(6) {
				s.Times = append(s.Times, unit.Time(rng.Int64N(1<<(1+rng.IntN(60)))-rng.Int64N(100)))
			}
			set.Series = append(set.Series, s)
		}
		r := mustFit(t, set, clean.Options{Replicates: 10})
		for _, p := range r.Parameters {
			if math.IsNaN(p.Value) != (p.Verdict == params.NotIdentifiable) && !p.IsBound() {
				t.Errorf("seed %d: %+v", seed, p)
			}
			if p.Low > p.Value || p.Value > p.High || math.IsInf(p.Value, 0) || p.Verdict == "" || p.Samples <= 0 || p.From > p.To {
				t.Errorf("seed %d: %+v", seed, p)
			}
		}
		for _, c := range r.Curves {
			for _, p := range c.Points {
				if few := p.Samples < clean.LeastForInterval; few != (math.IsNaN(p.Low) && math.IsNaN(p.High)) || !few && !(p.Low <= p.Value && p.Value <= p.High) {
					t.Errorf("seed %d: %s %s: %+v", seed, c.Mode, c.Timer, p)
				}
			}
			for _, p := range c.Pieces {
				if !(p.Low <= p.Value && p.Value <= p.High && p.SlopeLow <= p.Slope && p.Slope <= p.SlopeHigh) {
					t.Errorf("seed %d: %s %s: %+v", seed, c.Mode, c.Timer, p)
				}
			}
		}
	}
}

func TestValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	set := fittest.Formula(rng, fittest.Doubling(14), 50, 0, func(k float64) float64 {
		if k <= 1024 {
			return 10 + 0.01*k
		}
		return 50 + 0.02*k
	})
	r := mustFit(t, set, clean.Options{})
	for k, want := range map[int]float64{0: 10.01, 1: 10.01, 700: 17, 1024: 20.24, 2048: 90.96, 16000: 370} {
		got, ok := params.ValueAt(r.Parameters, "send", "o_s", k)
		if !ok || math.Abs(got-want) > 1e-3*want {
			t.Errorf("o_s of %d bytes: %v, %v, want %v", k, got, ok, want)
		}
		if at := r.Curves[0].ValueAt(k); math.Abs(at-got) > 1e-9 {
			t.Errorf("the curve at %d bytes: %v, the parameter: %v", k, at, got)
		}
	}
	m := fittest.Typical()
	m.Noise = 0
	r = mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
	for _, w := range []struct {
		Mode, name string
		want       float64
	}{{"message", "L", m.L}, {"message", "G", m.G}, {"send", "L", m.L}, {"send", "G", m.G}, {"send", "g", m.Gap}, {"isend", "o_r", m.IRecvO}} {
		if got, ok := params.ValueAt(r.Parameters, w.Mode, w.name, 1); !ok || math.Abs(got-w.want) > 1e-3*w.want {
			t.Errorf("%s %s: %v, %v, want %v", w.Mode, w.name, got, ok, w.want)
		}
	}
	if v, ok := params.ValueAt(r.Parameters, "send", "H", 1); ok {
		t.Errorf("H is %v", v)
	}
}

// A protocol that was forced is no choice of the library: it has curves, but no part in the
// parameters of the mode.
func TestForcedProtocol(t *testing.T) {
	set := &sample.Set{Series: []sample.Series{fittest.Series("send", sample.Timer11, fittest.Repeat(30, 5)...), fittest.Series("send", sample.Timer11, fittest.Repeat(30, 7)...)}}
	set.Series[0].Protocol = "RTA"
	r := mustFit(t, set, clean.Options{})
	if p := one(t, r, "send", "o_s", sample.Timer11, params.Micros); p.Value != 7 || len(r.Curves) != 2 {
		t.Errorf("%+v", p)
	}
	set.Series = set.Series[:1]
	if r := mustFit(t, set, clean.Options{}); len(r.Parameters) != 0 || len(r.Curves) != 1 {
		t.Errorf("parameters of a forced protocol: %+v", r.Parameters)
	}
	set.Series[0].Mode, set.Series[0].Protocol = "message", "T"
	one(t, mustFit(t, set, clean.Options{}), "message", "o_s", sample.Timer11, params.Micros)
}

func TestDerivedPieces(t *testing.T) {
	m := fittest.Typical()
	m.Noise = 0
	for _, c := range mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{}).Curves {
		if n := len(c.Pieces); n != 1 {
			t.Errorf("%s %s: %d pieces of a straight line: %+v", c.Mode, c.Timer, n, c.Pieces)
		}
	}
}
