package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// pacedSet measures a machine in some launches. Of a cell so many samples of a launch are at full pace as full says, in each half, and the others are slowed: they take twice as long.
func pacedSet(m machine, launches int, full func(launch int, k sample.Key) int) *sample.Set {
	all := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: "2"}}}
	for l := range launches {
		set := m.samples(uint64(l), map[string][]string{"send": wholePlan["send"], "isend": wholePlan["isend"]})
		for _, s := range set.Series {
			s.Launch = l
			n, half := full(l, s.Key), len(s.Times)/2
			quick, slow := s, s
			quick.Pace, quick.Times = sample.Full, slices.Concat(s.Times[:n], s.Times[half:half+n])
			slow.Pace, slow.Times = sample.SlowedP2, slices.Concat(s.Times[n:half], s.Times[half+n:])
			for i := range slow.Times {
				slow.Times[i] *= 2
			}
			for _, x := range []sample.Series{slow, quick} {
				if len(x.Times) > 0 {
					all.Series = append(all.Series, x)
				}
			}
		}
	}
	return all
}

var pacedMachine = machine{L: 5, os: 2, or: 3, g: 4, G: 0.01, ios: 1, ior: 0.5, skew: 0.3, slopeS: 0.001, slopeR: 0.002, sizes: powers(1, 1<<16), reps: 40}

// shown says by what factor the parameters of a fit are longer than those of the machine.
func shown(t *testing.T, r *Result) float64 {
	t.Helper()
	var ratios []float64
	for _, w := range pacedMachine.truths() {
		if w.mode != "send" && w.mode != "isend" {
			continue
		}
		rows := w.find(r.Parameters)
		if len(rows) != 1 {
			t.Fatalf("%d rows of %+v", len(rows), w)
		}
		ratios = append(ratios, rows[0].Value/w.value)
	}
	low, high := slices.Min(ratios), slices.Max(ratios)
	if high > 1.001*low {
		t.Errorf("parameters are %v to %v times those of the machine", low, high)
	}
	return (low + high) / 2
}

// codes returns the warnings of paces and modes, in order.
func codes(r *Result) []string {
	var out []string
	for _, w := range r.Warnings {
		if strings.HasPrefix(w.Code, "pace-") || strings.HasPrefix(w.Code, "mode-") {
			out = append(out, w.Code)
		}
	}
	return out
}

func TestPace(t *testing.T) {
	each := func(n int) func(int, sample.Key) int { return func(int, sample.Key) int { return n } }
	for _, c := range []struct {
		name     string
		launches int
		full     func(launch int, k sample.Key) int // of 20
		want     float64                            // times the parameters of the machine; 0: not looked at
		slowed   float64
		codes    []string
	}{
		{"none slowed", 3, each(20), 1, 0, nil},
		{"nine in ten", 3, each(2), 1, 0.9, nil},
		{"one launch", 1, each(4), 1, 0.8, nil},
		{"one launch, too few", 1, each(3), 2, 0.85, []string{PaceMixed}},
		{"in one of three alone", 3, func(l int, _ sample.Key) int { return map[bool]int{true: 20}[l == 0] }, 0, 2. / 3, []string{PaceMixed}},
		{"in two of three", 3, func(l int, _ sample.Key) int { return map[bool]int{true: 20}[l > 0] }, 1, 1. / 3, nil},
		{"a cell without", 3, func(_ int, k sample.Key) int {
			return map[bool]int{false: 20, true: 1}[k.Timer == sample.Timer11 && k.Bytes == 64]
		}, 1, 2 * 0.95 / 90, []string{PaceSlowed}},
		{"one in four without", 3, func(_ int, k sample.Key) int { return map[bool]int{false: 20}[k.Bytes == 1 || k.Bytes == 1<<16] }, 0, 2. / 9, []string{PaceMixed}},
		{"none at full pace", 3, each(0), 2, 1, []string{PaceMixed}},
	} {
		r := mustFit(t, pacedSet(pacedMachine, c.launches, c.full), Options{Replicates: 20})
		if !slices.Equal(codes(r), c.codes) {
			t.Errorf("%s: %q, want %q", c.name, codes(r), c.codes)
		}
		if c.want > 0 {
			if got := shown(t, r); math.Abs(got-c.want) > 1e-3 {
				t.Errorf("%s: %v times, want %v", c.name, got, c.want)
			}
		}
		if len(r.Paces) != 1 || math.Abs(r.Paces[0].Slowed()-c.slowed) > 1e-9 || len(r.Paces[0].Launches) != c.launches {
			t.Errorf("%s: %+v", c.name, r.Paces)
		}
		for _, x := range r.Curves {
			if !slices.IsSortedFunc(x.Points, func(a, b Point) int { return a.Bytes - b.Bytes + 1 }) {
				t.Errorf("%s: two points of a size: %+v", c.name, x)
			}
		}
	}
}

// One warning says of how many cells too little is at full pace.
func TestPaceSlowed(t *testing.T) {
	set := pacedSet(pacedMachine, 3, func(_ int, k sample.Key) int { return map[bool]int{false: 20, true: 1}[k.Bytes == 64] })
	r := mustFit(t, set, Options{Replicates: 20})
	var got []Warning
	for _, w := range r.Warnings {
		if w.Code == PaceSlowed {
			got = append(got, w)
		}
	}
	if len(got) != 1 || !strings.Contains(got[0].Text, "of 10 of 90 timers at a size") || !strings.Contains(got[0].Text, "--budget") || got[0].Place != "inter" {
		t.Errorf("%+v", got)
	}
	for _, c := range r.Curves {
		for _, p := range c.Points {
			if p.Bytes == 64 {
				t.Errorf("%s of %s has a point at 64 bytes", c.Timer, c.Mode)
			}
		}
	}
}

func TestEnough(t *testing.T) {
	for _, c := range []struct {
		full, slowed []int
		want         bool
	}{
		{[]int{8}, []int{92}, true},
		{[]int{7}, []int{93}, false},
		{[]int{3}, []int{0}, true},
		{[]int{3, 3, 2}, []int{9, 9, 9}, true},
		{[]int{40, 0, 3}, []int{9, 9, 9}, true},
		{[]int{40, 0, 0}, []int{9, 9, 9}, false},
		{[]int{3, 3, 1}, []int{9, 9, 9}, false},
		{[]int{3, 3, 0}, []int{0, 0, 0}, true},
	} {
		var all []share
		for i := range c.full {
			all = append(all, share{[2]int{0, i}, c.full[i], c.slowed[i]})
		}
		if got := enough(all); got != c.want {
			t.Errorf("%v of which slowed %v: %v", c.full, c.slowed, got)
		}
	}
}

// A launch whose processors were slowed all the time is one of another mode, also where cache lines are alike.
func TestLaunchSlowed(t *testing.T) {
	for _, c := range []struct {
		name, lines, paces string
		times              []float64
		want               float64
		texts              []string
	}{
		{"alike", "", "900/910 930/905 985/950", []float64{10, 11, 12}, 11, nil},
		{"one", "", "900/910 1800/910 930/950", []float64{10, 20, 12}, 11, []string{"launches 1 were in another mode of the machine than 2 of 3: the same work of P1 took at best 1.8e+03 ns in them, and 900 to 930 ns in those that count"}},
		{"the other processor", "", "900/910 900/1300 930/950", []float64{10, 20, 12}, 11, []string{"of P2"}},
		{"and another by its lines", "57/57 57/57 250/250 58/57 57/57", "900/910 1800/910 900/910 900/910 900/910", []float64{10, 20, 30, 12, 14}, 12,
			[]string{"launches 1, 2", "a cache line took 57 to 250 ns in them, and 57 to 58 ns in those that count; the same work of P1 took at best 900 to 1.8e+03 ns in them"}},
		{"lines alike, paces not known", "57/57 57/57 250/250", "-  900/? ?/?", []float64{10, 12, 30}, 11, []string{"launches 2"}},
		{"as many: the quicker", "", "1800/910 900/910", []float64{20, 10}, 10, []string{"launches 0"}},
		{"none has half", "", "900/900 1100/900 1400/900", []float64{10, 11, 20}, 11, []string{"the same work of P1 took at best 900 to 1.4e+03 ns in launches of several modes"}},
		{"largest of both, not of one", "57/57 57/57 57/57 250/250 250/250 250/250 250/250", "900/900 900/900 900/900 900/900 900/900 1800/900 1800/900", []float64{1, 2, 3, 4, 5, 6, 7}, 4, []string{"none of which has half"}},
	} {
		set := launchesIn(c.lines, c.times...)
		set.Facts = append(set.Facts, sample.Fact{Key: sample.Paces, Value: c.paces})
		if c.lines == "" {
			set.Facts = set.Facts[1:]
		}
		r := mustFit(t, set, Options{})
		if got := r.Curves[0].Points[0].Value; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		var texts []string
		for _, w := range r.Warnings {
			if w.Code == ModeMixed {
				texts = append(texts, w.Text)
			}
		}
		if all := strings.Join(texts, "\n"); (len(texts) == 0) != (c.texts == nil) || slices.ContainsFunc(c.texts, func(s string) bool { return !strings.Contains(all, s) }) {
			t.Errorf("%s: %q, want %q", c.name, texts, c.texts)
		}
		if len(r.Paces) != 1 || len(r.Paces[0].Launches) != len(c.times) {
			t.Errorf("%s: %+v", c.name, r.Paces)
		}
	}
	for _, bad := range []string{"900/900", "900/900 x/1", "900/900 0/1", "900/900 1e99/1", "900/900 1", "900/900 NaN/1", "900/900 ?", "900/900 ?/x", "900/900 1/2/3"} {
		set := launchesIn("57/57 57/57", 1, 2)
		set.Facts = append(set.Facts, sample.Fact{Key: sample.Paces, Value: bad})
		if _, err := Fit(set, Options{}); err == nil || !strings.Contains(err.Error(), "pace_ns") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Launches that do not count have no part in what is enough, nor in how many samples were slowed.
func TestPaceAside(t *testing.T) {
	set := pacedSet(pacedMachine, 3, func(l int, _ sample.Key) int { return map[bool]int{true: 20, false: 5}[l == 1] })
	set.Facts = append(set.Facts, sample.Fact{Key: sample.Paces, Value: "900/900 1700/900 900/900"})
	r := mustFit(t, set, Options{Replicates: 20})
	if p := r.Paces[0]; p.Slowed() != 0.75 || p.Mixed || !p.Launches[1].Aside || p.Launches[0].Aside || p.Launches[1].P1 != 1700 || p.Launches[1].Slowed != 0 {
		t.Errorf("%+v", p)
	}
	if got := shown(t, r); math.Abs(got-1) > 1e-3 {
		t.Errorf("%v times", got)
	}
}

// Where all samples count, both paces of a launch are one series: each root's samples stay in its half, and what differs between paces is no drift, whichever
// of the two is written first.
func TestPacesTogether(t *testing.T) {
	micros := func(xs ...float64) []unit.Time {
		var out []unit.Time
		for _, x := range xs {
			out = append(out, unit.FromMicros(x))
		}
		return out
	}
	for _, c := range []struct{ a, b, want []unit.Time }{
		{micros(1, 2), micros(3, 4), micros(1, 3, 2, 4)},
		{micros(1, 2), micros(3, 3, 3, 4, 4, 4), micros(3, 1, 3, 3, 4, 2, 4, 4)},
		{micros(1, 1, 2, 2), micros(3, 3, 3, 3, 4, 4, 4, 4), micros(3, 1, 3, 3, 1, 3, 4, 2, 4, 4, 2, 4)},
		{micros(1, 2), nil, micros(1, 2)},
		{nil, micros(3), micros(3)},
	} {
		if got := interleave(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: "2"}}}
	for _, pace := range []string{sample.Full, sample.SlowedP2} {
		n, by := 5, 1.0
		if pace == sample.SlowedP2 {
			n, by = 300, 2
		}
		s := series("send", sample.Timer21)
		s.Pace = pace
		for i := range 2 * n {
			side := 1.0
			if i >= n {
				side = 3
			}
			s.Times = append(s.Times, unit.FromMicros(side*by*(1+0.1*rng.Float64())))
		}
		set.Series = append(set.Series, s)
	}
	set.Series = append(set.Series, func() sample.Series { s := set.Series[1]; s.Bytes = 64; return s }()) // a cell without
	for range 2 {
		r := mustFit(t, set, Options{})
		if !slices.Equal(codes(r), []string{PaceMixed}) || warnedOf(r, "send", sample.Timer21, Drift) {
			t.Errorf("%v", r.Warnings)
		}
		if p := r.Curves[0].Points[0]; p.Samples != 610 || math.Abs(p.Value-4.2) > 0.05 { // the mean of both roots
			t.Errorf("%+v", p)
		}
		slices.Reverse(set.Series)
	}
}

// A difference of timers has the launches that all of them have.
func TestSumOfLaunches(t *testing.T) {
	a, b := stack{launches: []int{0, 1, 3}, values: []float64{1, 2, 3}}, stack{launches: []int{1, 2, 3}, values: []float64{5, 6, 7}}
	if got := sum([]stack{a, b}, []float64{2, -1}); !slices.Equal(got.launches, []int{1, 3}) || !slices.Equal(got.values, []float64{-1, -1}) {
		t.Errorf("%+v", got)
	}
}

// Whichever processor was slowed, a sample is not at full pace, and where all count a launch is one series.
func TestPaceOfEither(t *testing.T) {
	for _, full := range []int{10, 1} {
		set := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: "2"}}}
		for i, pace := range sample.Paced {
			s := series("send", sample.Timer11, slices.Repeat([]float64{float64(1 + i)}, map[bool]int{true: 2 * full, false: 20}[pace == sample.Full])...)
			s.Pace = pace
			set.Series = append(set.Series, s)
		}
		r := mustFit(t, set, Options{})
		want, codesWanted := Point{Value: 1, Samples: 20}, []string(nil)
		if full == 1 {
			want, codesWanted = Point{Value: 3, Samples: 62}, []string{PaceMixed}
		}
		if p := r.Curves[0].Points; len(p) != 1 || p[0].Value != want.Value || p[0].Samples != want.Samples || !slices.Equal(codes(r), codesWanted) {
			t.Errorf("%d at full pace: %+v, %q", 2*full, p, codes(r))
		}
		if l := r.Paces[0].Launches[0]; l.Slowed != 60 || l.Samples != 60+2*full {
			t.Errorf("%+v", l)
		}
	}
}

// Files of before, of which nobody knows the pace, are fitted together with those of which somebody does; a launch is known by its file.
func TestPaceOfFiles(t *testing.T) {
	paced := pacedSet(pacedMachine, 2, func(int, sample.Key) int { return 2 })
	plain := pacedSet(pacedMachine, 1, func(int, sample.Key) int { return 20 })
	set := &sample.Set{Facts: slices.Concat([]sample.Fact{{Key: sample.File, Value: "a"}}, paced.Facts, []sample.Fact{{Key: sample.Paces, Value: "900/900 910/900"}},
		[]sample.Fact{{Key: sample.File, Value: "b"}}, plain.Facts), Series: paced.Series}
	for _, s := range plain.Series {
		s.Launch, s.File, s.Pace = 2, 1, ""
		set.Series = append(set.Series, s)
	}
	r := mustFit(t, set, Options{Replicates: 20})
	if got := shown(t, r); math.Abs(got-1) > 1e-3 || len(codes(r)) > 0 {
		t.Errorf("%v times, %q", got, codes(r))
	}
	if p := r.Paces[0]; math.Abs(p.Slowed()-0.9) > 1e-9 || len(p.Launches) != 3 || p.Launches[1].P1 != 910 || p.Launches[2] != (LaunchPace{Launch: 2}) {
		t.Errorf("%+v", p)
	}
	// both launches of 40 samples at a cell, and that without pace whole
	if n := r.Curves[0].Points[0].Samples; n != 2*4+40 {
		t.Errorf("%d samples", n)
	}
}

// A survey shows what counts: tails and launches are not of slowed samples.
func TestSurveyPace(t *testing.T) {
	ms := surveyed(3)
	for i := range ms {
		for j, s := range ms[i].Set.Series {
			if s.Platform == "fast" {
				ms[i].Set.Series[j].Pace = sample.Full
				s.Pace, s.Times = sample.SlowedP2, slices.Clone(s.Times)
				for j := range s.Times {
					s.Times[j] *= 2
				}
				ms[i].Set.Series = append(ms[i].Set.Series, s)
			}
		}
	}
	ms[0].Set.Facts = append(ms[0].Set.Facts, sample.Fact{Key: sample.Paces, Value: "900/900 910/900 1700/900"})
	s, err := NewSurvey(ms, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Paces[0]; len(p.Launches) != 3 || p.Launches[2] != (LaunchPace{2, 1700, 900, 60 * 42, 30 * 42, true}) {
		t.Errorf("%+v", p)
	}
	if len(s.Paces) != 3 || len(s.Paces[1].Launches) != 0 || s.Paces[0].Slowed() != 0.5 {
		t.Errorf("%+v", s.Paces)
	}
	if x := s.Tails[0]; x.Samples != 60 || !about(x.Most, 1.1*1.008) { // of two launches, at full pace
		t.Errorf("%+v", x)
	}
	if x := s.Scatters[0]; !slices.Equal(x.Aside, []bool{false, false, true}) || !about(x.Values[2], 1.2*1.008) || !about(x.Middle, 1.05*1.008) {
		t.Errorf("%+v", x)
	}
}
