package compare

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
)

// measured returns the samples of a machine under a name.
func measuredOf(m fittest.Machine, platform string, seed uint64) sample.Machine {
	set := m.Samples(seed, fittest.WholePlan)
	for i := range set.Series {
		set.Series[i].Platform = platform
	}
	return sample.Machine{Files: []string{platform + ".csv"}, Set: set}
}

func sideBySide(t *testing.T, o clean.Options, ms ...sample.Machine) *Table {
	t.Helper()
	c, err := CompareSubjects(ms, o, 0.2, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// value returns that of the second subject.
func (c *Table) value(t *testing.T, name, mode string, bytes int) Value {
	t.Helper()
	for _, r := range c.Rows {
		if v := r.ValueOf(1); v != nil && r.Name == name && r.Mode == mode && r.Method == "" && (r.Bytes == bytes || bytes < 0) {
			return *v
		}
	}
	t.Fatalf("no %s of %s at %d bytes in %+v", name, mode, bytes, c.Rows)
	return Value{}
}

// The intervals of ratios hold what the formulas were given, as those of TestCoverage do; the
// second machine is called like the first, so that both draw the same random numbers.
func TestRatios(t *testing.T) {
	a, b := fittest.TypicalMachine(), fittest.TypicalMachine()
	a.Skew, b.Skew = 0, 0
	b.SendO, b.L, b.G = 45, 18, 0.03
	a.Sizes, b.Sizes = fittest.Powers(1, 1<<12), fittest.Powers(1, 1<<12)
	const seeds = 100
	truths := []struct {
		name, Mode string
		bytes      int
		ratio      float64
		outcome    Outcome
	}{
		{"o_s", "send", 16, 1.5, WorseOutcome},
		{"one-way", "send", 1, (45.0 + 18 + 15) / (30 + 12 + 15), WorseOutcome},
		{"L", "message", -1, 1.5, WorseOutcome},
		{"G", "send", -1, 0.75, BetterOutcome},
		{"1/G", "send", -1, 4.0 / 3, BetterOutcome},
	}
	held := make([]int, len(truths))
	all := make([]*Table, seeds)
	clean.RunParallel(seeds, func(seed int) {
		x, y := measuredOf(a, "x", uint64(seed)), measuredOf(b, "x", uint64(seed)+1000)
		y.Files = []string{"y.csv"}
		c, err := CompareSubjects([]sample.Machine{x, y}, clean.Options{Seed: uint64(seed), ReplicateCount: 200}, 0.2, false)
		if err != nil {
			panic(err)
		}
		all[seed] = c
	})
	for _, c := range all {
		for i, w := range truths {
			r := c.value(t, w.name, w.Mode, w.bytes)
			if r.RatioLow <= w.ratio && w.ratio <= r.RatioHigh {
				held[i]++
			}
			if !(r.Low < r.Value && r.Value < r.High) {
				t.Errorf("%s of %s: %v is not in [%v, %v]", w.name, w.Mode, r.Value, r.Low, r.High)
			}
			if r.Outcome != w.outcome && w.name != "L" { // of which the interval is wide
				t.Errorf("%s of %s: %+v", w.name, w.Mode, r)
			}
		}
	}
	for i, w := range truths {
		t.Logf("%s of %s: %d of %d", w.name, w.Mode, held[i], seeds)
		if held[i] < 90 {
			t.Errorf("%s of %s: the interval held the ratio %.4g in %d of %d seeds", w.name, w.Mode, w.ratio, held[i], seeds)
		}
	}
}

// Two machines of one name share no chance: their replicates are not correlated. Those of one
// machine stay what they are.
func TestShuffle(t *testing.T) {
	m := fittest.TypicalMachine()
	x, y := measuredOf(m, "x", 1), measuredOf(m, "x", 1)
	y.Files = []string{"y.csv"}
	c := sideBySide(t, clean.Options{}, x, y)
	a, b := c.Rows[0].Values[0], c.Rows[0].Values[1]
	if a.SubjectIndex != 0 || b.SubjectIndex != 1 || a.Value != b.Value || a.Low != b.Low || a.High != b.High {
		t.Fatalf("%+v and %+v are of the same samples", a, b)
	}
	if r := stat.Correlation(a.reps, b.reps, nil); math.Abs(r) > 0.2 { // four standard deviations of 400 replicates
		t.Errorf("replicates of two machines are correlated by %.2f", r)
	}
	alone := fitted(t, measuredOf(m, "x", 1).Set, clean.Options{}).Parameters
	for _, row := range c.Rows {
		if row.Name != "L" && row.Name != "G" {
			continue
		}
		r := row.Values[0]
		found := false
		for _, p := range alone {
			found = found || p == r.Parameter
		}
		if !found && !math.IsNaN(r.Value) {
			t.Errorf("%+v is not what Fit says", r.Parameter)
		}
	}
}

func TestOutcome(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		low, high  float64
		time, rate Outcome
	}{{1.2, 1.3, WorseOutcome, BetterOutcome}, {0.5, 0.99, BetterOutcome, WorseOutcome}, {0.991, 1.009, NoDifferenceOutcome, NoDifferenceOutcome}, {1.001, 1.009, NoDifferenceOutcome, NoDifferenceOutcome}, {1.001, 1.02, WorseOutcome, BetterOutcome}, {0.98, 1.02, UndecidedOutcome, UndecidedOutcome}, {nan, nan, "", ""}} {
		if time, rate := judgeRatio(c.low, c.high, 0.005, false), judgeRatio(c.low, c.high, 0.005, true); time != c.time || rate != c.rate {
			t.Errorf("[%v, %v]: %q and %q, want %q and %q", c.low, c.high, time, rate, c.time, c.rate)
		}
	}
}

// What an interval has beyond its replicates is in the ratio, and of what may be nothing there is
// none.
func TestRatio(t *testing.T) {
	two, one := []float64{2, 2, 2}, []float64{1, 1, 1}
	nan := math.NaN()
	for _, c := range []struct {
		a, b             estimate
		value, low, high float64
	}{
		{estimate{2, 2, 2, two}, estimate{1, 1, 1, one}, 2, 2, 2},
		{estimate{2, 1, 3, two}, estimate{1, 0.5, 2, one}, 2, 0.5, 6},
		{estimate{2, 0, 3, two}, estimate{1, 1, 1, one}, 2, 0, 3},
		{estimate{2, -1, 5, []float64{-1, 2, 5}}, estimate{1, 1, 1, one}, 2, 0.1, 5}, // quantile 2.5 % of 0, 2 and 5
		{estimate{2, 2, 2, two}, estimate{1, 0, 1, one}, nan, nan, nan},
		{estimate{2, 2, 2, two}, estimate{0, 0, 0, one}, nan, nan, nan},
		{estimate{nan, nan, nan, two}, estimate{1, 1, 1, one}, nan, nan, nan},
	} {
		x := ratioOf(c.a, c.b, 0.95)
		if got, want := fmt.Sprint(x.value, clean.RoundDigits(x.low), x.high), fmt.Sprint(c.value, c.low, c.high); got != want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Subjects are named by what tells them apart, and by no more.
func TestNames(t *testing.T) {
	m := fittest.Machine{SendO: 1, RecvO: 1, ISendO: 1, IRecvO: 1, L: 1, Sizes: []int{1}, Reps: 2}
	of := func(platform, library, place, file string) sample.Machine {
		x := measuredOf(m, platform, 1)
		for i := range x.Series {
			x.Series[i].Library, x.Series[i].Place = library, place
		}
		x.Files = []string{file}
		return x
	}
	for _, c := range []struct {
		ms   []sample.Machine
		want string
	}{
		{[]sample.Machine{of("a", "l", "inter", "f"), of("b", "m", "intra", "g")}, "a b"},
		{[]sample.Machine{of("a", "l", "inter", "f"), of("a", "m", "inter", "f"), of("b", "l", "inter", "f")}, "a/l a/m b"},
		{[]sample.Machine{of("a", "l", "inter", "f"), of("a", "l", "intra", "f"), of("b", "m", "inter", "f")}, "a/inter a/intra b"},
		{[]sample.Machine{of("a", "l", "inter", "f"), of("a", "l", "inter", "g")}, "a/f a/g"},
	} {
		var got []string
		for _, s := range sideBySide(t, clean.Options{ReplicateCount: 5}, c.ms...).Subjects {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

func TestWriteTable(t *testing.T) {
	a := calls{block: straight(30, 0.01), start: straight(10, 0)}.samples("a", 1, []int{1, 10000}, 20, 0)
	b := calls{block: straight(20, 0.02), start: straight(20, 0)}.samples("b", 1, []int{1, 10000}, 20, 0)
	var out bytes.Buffer
	if err := WriteTable(&out, sideBySide(t, clean.Options{}, a, b)); err != nil {
		t.Fatal(err)
	}
	// by hand: 20 + 0.02k = 24 at 200, 30 + 0.01k = 20 + 0.02k at 1000, and half a percent beyond
	// either way
	const want = tableHeader + `
o_s,send,1,1,a,,30.01,30.01,30.01,us,good,,,,,timer11,,
o_s,send,1,1,b,a,20.02,20.02,20.02,us,good,0.667110963,0.667110963,0.667110963,better,timer11,,
o_s,send,10000,10000,a,,130,130,130,us,good,,,,,timer11,,
`
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s", out.String())
	}
	for _, line := range []string{
		"overlap(o_s),send,1,10000,a,,,,,B,good,,,,yes,,,",
		"overlap(o_s),send,1,10000,b,,,,,B,weak,,,,no,,,",
		"overlap(o_s),send,1,10000,b,,201,191,209,B,weak,,,,yes,,,",
		"faster(o_s),send,1,10000,b,a,,,,B,weak,,,,yes,,,",
		"faster(o_s),send,1,10000,b,a,1001,972,1029,B,weak,,,,no,,,",
		"faster(o_s),isend,1,10000,b,a,,,,B,good,,,,no,,,",
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("%s is not in\n%s", line, out.String())
		}
	}
}

func fitted(t *testing.T, set *sample.Set, o clean.Options) *fit.Result {
	t.Helper()
	r, err := fit.Fit(set, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
