package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
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
		{"one launch, too few", 1, each(3), 2, 0.85, []string{PaceSlowed}},
		{"in one of three alone", 3, func(l int, _ sample.Key) int { return map[bool]int{true: 20}[l == 0] }, 2, 2. / 3, []string{PaceSlowed}},
		{"in two of three", 3, func(l int, _ sample.Key) int { return map[bool]int{true: 20}[l > 0] }, 1, 1. / 3, nil},
		{"a cell without", 3, func(_ int, k sample.Key) int {
			return map[bool]int{false: 20, true: 1}[k.Timer == sample.Timer11 && k.Bytes == 64]
		}, 1, 2 * 0.95 / 90, []string{PaceFew}},
		{"one in four without", 3, func(_ int, k sample.Key) int { return map[bool]int{false: 20}[k.Bytes == 1 || k.Bytes == 1<<16] }, 0, 2. / 9, []string{PaceMixed}},
		{"none at full pace", 3, each(0), 2, 1, []string{PaceSlowed}},
		{"too few slowed as well", 3, func(_ int, k sample.Key) int { return map[bool]int{false: 0, true: 20}[k.Bytes <= 8] }, 0, 7. / 9, []string{PaceMixed}},
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
func TestPaceFew(t *testing.T) {
	set := pacedSet(pacedMachine, 3, func(_ int, k sample.Key) int { return map[bool]int{false: 20, true: 1}[k.Bytes == 64] })
	r := mustFit(t, set, Options{Replicates: 20})
	var got []Warning
	for _, w := range r.Warnings {
		if w.Code == PaceFew {
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
			all = append(all, share{[2]int{0, i}, c.full[i], c.full[i] + c.slowed[i]})
		}
		if got := enough(all); got != c.want {
			t.Errorf("%v of which slowed %v: %v", c.full, c.slowed, got)
		}
	}
}

// launchesInFiles are launches each of which is in a file of its own.
func launchesInFiles(lines, paces string, times ...float64) *sample.Set {
	set := launchesIn("", times...)
	set.Facts = nil
	at := func(words string, i int) string {
		return append(strings.Fields(words), slices.Repeat([]string{""}, len(times))...)[i]
	}
	for i := range times {
		set.Series[i].File = i
		set.Facts = append(set.Facts, sample.Fact{Key: sample.File, Value: strconv.Itoa(i)}, sample.Fact{Key: sample.Paces, Value: at(paces, i)})
		if lines != "" {
			set.Facts = append(set.Facts, sample.Fact{Key: sample.Lines, Value: at(lines, i)})
		}
	}
	return set
}

// A file whose processors were slowed all the time is one of another mode, also where cache lines are alike: what is at full pace in it is not in another. In one file samples of all
// launches are told by the best moments of all.
func TestFileSlowed(t *testing.T) {
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
		r := mustFit(t, launchesInFiles(c.lines, c.paces, c.times...), Options{})
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
	set := launchesIn("57/57 57/57 57/57", 10, 20, 30)
	set.Facts = append(set.Facts, sample.Fact{Key: sample.Paces, Value: "900/910 1800/910 ?/950"})
	if r := mustFit(t, set, Options{}); len(codes(r)) > 0 || r.Curves[0].Points[0].Value != 20 || r.Paces[0].Launches[1].P1 != 1800 {
		t.Errorf("in one file: %q, %+v", codes(r), r.Paces)
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
	set.Facts = append(set.Facts, sample.Fact{Key: sample.Lines, Value: "57/57 250/250 57/57"}, sample.Fact{Key: sample.Paces, Value: "900/900 1700/900 900/900"})
	r := mustFit(t, set, Options{Replicates: 20})
	if p := r.Paces[0]; p.Slowed() != 0.75 || p.State != sample.Full || !p.Launches[1].Aside || p.Launches[0].Aside || p.Launches[1].P1 != 1700 || p.Launches[1].Slowed != 0 {
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
	set.Series = append(set.Series, func() sample.Series { s := set.Series[1]; s.Bytes, s.Pace = 64, sample.SlowedP1; return s }()) // a cell without
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

// Whichever processor was slowed, a sample is not at full pace.
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
			want, codesWanted = Point{Value: 2, Samples: 20}, []string{PaceSlowed}
		}
		if p := r.Curves[0].Points; len(p) != 1 || p[0].Value != want.Value || p[0].Samples != want.Samples || !slices.Equal(codes(r), codesWanted) {
			t.Errorf("%d at full pace: %+v, %q", 2*full, p, codes(r))
		}
		if l := r.Paces[0].Launches[0]; l.Slowed != 60 || l.Samples != 60+2*full {
			t.Errorf("%+v", l)
		}
	}
}

// Where full pace cannot be had, what counts is of the state of both processors of which there is the most; of what P1 does alone, of its own part of that.
func TestState(t *testing.T) {
	at := func(timer, pace string, us float64, n int) sample.Series {
		s := series("send", timer, slices.Repeat([]float64{us}, n)...)
		s.Pace = pace
		return s
	}
	const full, p1, p2, both = sample.Full, sample.SlowedP1, sample.SlowedP2, sample.SlowedBoth
	for _, c := range []struct {
		name          string
		rtt, own      [4]int // samples in each state; of what P1 does alone in two
		state         string
		rttUS, ownUS  float64
		left, samples int
		codes         []string
	}{
		{"full", [4]int{8, 90, 90, 90}, [4]int{8, 90}, full, 1, 1, 16, 376, nil},
		{"P1 slowed", [4]int{7, 90, 20, 20}, [4]int{90, 90}, p1, 2, 2, 180, 317, []string{PaceSlowed}},
		{"P2 slowed", [4]int{7, 7, 20, 7}, [4]int{9, 90}, p2, 3, 1, 29, 140, []string{PaceSlowed}},
		{"both", [4]int{0, 0, 7, 20}, [4]int{9, 90}, both, 4, 2, 110, 126, []string{PaceSlowed}},
		{"none", [4]int{7, 7, 7, 7}, [4]int{9, 9}, "", 2.5, 1.5, 46, 46, []string{PaceMixed}},
	} {
		set := &sample.Set{}
		for i, pace := range sample.Paced {
			for timer, n := range map[string]int{sample.RTT: c.rtt[i], sample.Timer11: c.own[i]} {
				if n > 0 {
					set.Series = append(set.Series, at(timer, pace, float64(1+i), n))
				}
			}
		}
		r := mustFit(t, set, Options{})
		if p := r.Paces[0]; p.State != c.state || p.Launches[0].Samples != c.samples || p.Launches[0].Out != c.samples-c.left || !slices.Equal(codes(r), c.codes) {
			t.Errorf("%s: %+v, %q", c.name, p, codes(r))
		}
		for _, x := range r.Curves {
			if want := map[string]float64{sample.RTT: c.rttUS, sample.Timer11: c.ownUS}[x.Timer]; len(x.Points) != 1 || x.Points[0].Value != want {
				t.Errorf("%s: %s: %+v, want %v", c.name, x.Timer, x.Points, want)
			}
		}
	}
}

// Full pace is enough where another state has more cells. Launches in another mode of the machine have no part in the choice. What depends on both processors is known by either of the
// states that tell.
func TestStateChosen(t *testing.T) {
	const full, p1, both = sample.Full, sample.SlowedP1, sample.SlowedBoth
	type cell struct {
		bytes, launch int
		pace          string
		n             int
	}
	cells := func(launch, from, to int, pace string) (out []cell) {
		for k := from; k <= to; k++ {
			out = append(out, cell{k, launch, pace, 8})
		}
		return out
	}
	for _, c := range []struct {
		name, lines string
		cells       [][]cell
		state, says string
	}{
		{"four in five at full pace", "", [][]cell{cells(0, 1, 4, full), cells(0, 1, 5, p1)}, full, "of 1 of 5 timers"},
		{"three in five", "", [][]cell{cells(0, 1, 3, full), cells(0, 1, 5, p1)}, p1, "P1's processor was slowed"},
		{"three in five of either", "", [][]cell{cells(0, 1, 3, full), cells(0, 3, 5, p1)}, "", "and of 2 of 5 timers at a size there are too few others"},
		{"full pace in another mode", "57/57 57/57 57/57 250/250 250/250", [][]cell{cells(0, 1, 5, p1), cells(1, 1, 5, p1), cells(2, 1, 5, p1), cells(3, 1, 5, full), cells(4, 1, 5, full)}, p1, "P1's processor was slowed"},
		{"never P2 alone", "", [][]cell{cells(0, 1, 2, p1), cells(0, 1, 5, both)}, both, "the processors of both ranks were slowed"},
	} {
		set := &sample.Set{}
		if c.lines != "" {
			set.Facts = []sample.Fact{{Key: sample.Lines, Value: c.lines}}
		}
		for _, x := range slices.Concat(c.cells...) {
			s := series("send", sample.RTT, slices.Repeat([]float64{1}, x.n)...)
			s.Bytes, s.Launch, s.Pace = x.bytes, x.launch, x.pace
			set.Series = append(set.Series, s)
		}
		r := mustFit(t, set, Options{})
		said := slices.ContainsFunc(r.Warnings, func(w Warning) bool { return strings.HasPrefix(w.Code, "pace-") && strings.Contains(w.Text, c.says) })
		if r.Paces[0].State != c.state || !said {
			t.Errorf("%s: %+v, %v", c.name, r.Paces[0], r.Warnings)
		}
	}
}

// What is said of the state is whose processor was slowed, and how much is left out.
func TestDoubt(t *testing.T) {
	if got := (Pace{}).Doubt(); got != "" || (Pace{}).Mixed() {
		t.Errorf("where nobody looked: %q", got)
	}
	for want, p := range map[string]Pace{
		"": {State: sample.Full, Launches: []LaunchPace{{Samples: 100, Slowed: 20, Out: 20}, {Samples: 900, Slowed: 900, Aside: true}}},
		"processors were slowed in 21 % of the samples, which are left out: something else ran on their cores, or their clocks were lower": {State: sample.Full, Launches: []LaunchPace{{Samples: 100, Slowed: 21, Out: 21}}},
		"P2's processor was slowed in what counts, as there is too little else (30 % of the samples are left out): something else ran there as well, or the clock was lower, and what a rank does alone takes up to twice as long": {State: sample.SlowedP2,
			Launches: []LaunchPace{{Samples: 100, Slowed: 98, Out: 30}}},
		"processors were slowed in 98 % of the samples, which count as well, as there are too few others: something else ran on their cores, or their clocks were lower": {Launches: []LaunchPace{{Samples: 100, Slowed: 98}}},
	} {
		if got := p.Doubt(); got != want {
			t.Errorf("got %q, want %q", got, want)
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
	ms[0].Set.Facts[0].Value = "150/160 150/160 300/300"
	s, err := NewSurvey(ms, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Paces[0]; len(p.Launches) != 3 || p.Launches[2] != (LaunchPace{2, 1700, 900, 60 * 42, 30 * 42, 30 * 42, true}) {
		t.Errorf("%+v", p)
	}
	if len(s.Paces) != 3 || len(s.Paces[1].Launches) != 0 || s.Paces[0].Slowed() != 0.5 {
		t.Errorf("%+v", s.Paces)
	}
	for i, p := range s.Paces[1:] { // nobody looked
		if p.Doubt() != "" || p.Mixed() {
			t.Errorf("subject %d: %+v, %q", i+1, p, p.Doubt())
		}
	}
	if x := s.Tails[0]; x.Samples != 60 || !about(x.Most, 1.1*1.008) { // of two launches, at full pace
		t.Errorf("%+v", x)
	}
	if x := s.Scatters[0]; !slices.Equal(x.Aside, []bool{false, false, true}) || !about(x.Values[2], 1.2*1.008) || !about(x.Middle, 1.05*1.008) {
		t.Errorf("%+v", x)
	}
}
