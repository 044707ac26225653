package params_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// What a byte costs in long messages is the slope of the longest, where real time bends: the many
// short ones do not count.
func TestLongestMessages(t *testing.T) {
	bend := func(k int) float64 { // 1 ns a byte below 16 KiB and 2 above
		return 100 + 0.001*float64(k) + 0.001*math.Max(0, float64(k-16<<10))
	}
	for _, c := range []struct {
		clock    string
		from, to int
		want     float64
	}{
		{"real", 1, 128 << 10, 0.002 / 2},
		{"real", 32 << 10, 128 << 10, 0.002 / 2},
		{"real", 1, 8 << 10, 0.001 / 2},
	} {
		set := &sample.Set{}
		for k := c.from; k <= c.to; k *= 2 {
			s := fittest.SeriesAt16Bytes("send", sample.TimerRTT, bend(k)*0.999, bend(k), bend(k)*1.001)
			s.Bytes, s.Clock = k, c.clock
			set.Series = append(set.Series, s)
		}
		r := fitcheck.Fit(t, set, clean.Options{MaxPieces: 1})
		rows := slices.DeleteFunc(r.Parameters, func(p params.Parameter) bool { return p.Name != "G" || p.Method != params.MethodHalfRoundTrip })
		if len(rows) != 1 || math.Abs(rows[0].Value-c.want) > 0.01*c.want || rows[0].To != c.to || rows[0].From != c.to/4 || rows[0].Low > rows[0].Value || rows[0].High < rows[0].Value {
			t.Errorf("%+v: %+v", c, rows)
		}
	}
	set := &sample.Set{}
	for k := 1; k <= 128<<10; k *= 2 {
		s := fittest.SeriesAt16Bytes("send", sample.TimerRTT, bend(k), bend(k))
		s.Bytes, s.Clock = k, "virtual"
		set.Series = append(set.Series, s)
	}
	for _, p := range fitcheck.Fit(t, set, clean.Options{MaxPieces: 1}).Parameters {
		if p.Name == "G" && p.From != 1 {
			t.Errorf("an emulation, whose times are lines: %+v", p)
		}
	}
}

// Where long messages do not count, as they were held up, it is said of G, which is weak; and where
// too few are left there is none.
func TestLongMessagesLost(t *testing.T) {
	const far = 512 << 10
	lengths := []int{64, 1 << 10, 8 << 10, 32 << 10, 64 << 10, 128 << 10, 192 << 10, 256 << 10, 384 << 10, far}
	for _, c := range []struct {
		clock    string // or sizes
		from, to int    // that were held up
		want     params.Verdict
	}{
		{"real", 1, 0, params.GoodVerdict}, {"real", 8 << 10, 8 << 10, params.GoodVerdict}, {"real", 64 << 10, 128 << 10, params.GoodVerdict}, {"real", 256 << 10, 256 << 10, params.WeakVerdict}, {"real", far, far, params.WeakVerdict},
		{"doubled", 8 << 10, 8 << 10, params.GoodVerdict}, {"doubled", far, far, params.UnidentifiableVerdict}, // of powers of two no three are long
		{"real", 256 << 10, 384 << 10, params.UnidentifiableVerdict}, {"virtual", far, far, params.UnidentifiableVerdict}, // another protocol
	} {
		set := &sample.Set{}
		for _, k := range lengths {
			if c.clock == "doubled" && k&(k-1) != 0 {
				continue
			}
			us := 10 + 0.001*float64(k)
			if k >= c.from && k <= c.to {
				us *= 20
			}
			s := fittest.SeriesAt16Bytes("send", sample.TimerRTT, slices.Repeat([]float64{us * 0.999, us, us * 1.001}, 10)...)
			if s.Bytes, s.Clock = k, "real"; c.clock == "virtual" {
				s.Clock = c.clock
			}
			set.Series = append(set.Series, s)
		}
		r := fitcheck.Fit(t, set, clean.Options{})
		i := slices.IndexFunc(r.Parameters, func(p params.Parameter) bool {
			return p.Name == "G" && strings.HasPrefix(p.Method, params.MethodHalfRoundTrip)
		})
		if i < 0 || r.Parameters[i].Verdict != c.want || fitcheck.HasWarningOf(r, "send", "G", clean.CodeFewSizes) != (c.want != params.GoodVerdict) {
			t.Errorf("%+v: %+v, %v", c, r.Parameters, r.Warnings)
		}
	}
}

// Of three points on no line G does not depend on which is known best.
func TestLongestOnNoLine(t *testing.T) {
	x, y := []float64{32, 64, 128}, []float64{6, 12.6, 18.3} // a step, as of a second part of a message
	var rows []params.Parameter
	for _, scatter := range [][]float64{{0.001, 0.05, 0.05}, {0.05, 0.001, 0.05}, {0.05, 0.05, 0.001}} {
		set := &sample.Set{}
		for i, us := range y {
			s := fittest.SeriesAt16Bytes("send", sample.TimerRTT, us*(1-scatter[i]), us*(1-scatter[i]/2), us, us*(1+scatter[i]/2), us*(1+scatter[i]))
			s.Bytes, s.Clock = int(x[i]), "real"
			set.Series = append(set.Series, s)
		}
		for _, p := range fitcheck.Fit(t, set, clean.Options{}).Parameters {
			if p.Name == "G" && p.Method == params.MethodHalfRoundTrip {
				rows = append(rows, p)
			}
		}
	}
	if len(rows) != 3 || math.Abs(rows[0].Value/rows[1].Value-1) > 0.03 || math.Abs(rows[1].Value/rows[2].Value-1) > 0.03 {
		t.Errorf("G is by which time scatters least: %+v", rows)
	}
}

// A difference of curves is as uncertain as what it is made of: where two large times nearly
// cancel, their deviations of half a percent are no pieces.
func TestDifferenceOfLargeTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 14))
	set := &sample.Set{}
	for i, k := range fittest.DoublingSizes(17) {
		wiggle := 1 + 0.003*float64(i*i%5-2)
		wait, start := fittest.SeriesAt16Bytes("send", sample.Timer21, (1000+0.04*float64(k))*wiggle), fittest.SeriesAt16Bytes("isend", sample.Timer21, 999*(1+0.002*rng.NormFloat64()))
		wait.Bytes, start.Bytes = k, k
		set.Series = append(set.Series, wait, start)
	}
	r := fitcheck.Fit(t, set, clean.Options{})
	p := fitcheck.Row(t, r, "send", "G", params.MethodReceiveLessWaitDifference, params.UnitMicrosPerByte)
	if p.From != 1 || p.To != 1<<16 || math.Abs(p.Value-0.04) > 0.002 {
		t.Errorf("%+v", p)
	}
}

// Where the barrier's skew is longer than the way of a short message, the late receive finds it
// there: half of the mean of the roots knows nothing of the way, and G comes from the other half.
func TestSkew(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise, m.Skew = 0, 300 // the way is 57 us for a byte and 0.7 ms for 16 KiB
	set := m.Samples(1, fittest.WholePlan)
	for _, s := range set.Series {
		if s.Timer == sample.Timer21 && sample.IsBlockingMode(s.Mode) {
			for i := range s.Times {
				s.Times[i] = max(s.Times[i], unit.FromMicros(m.RecvO))
			}
		}
	}
	r := fitcheck.Fit(t, set, clean.Options{})
	p := fitcheck.Row(t, r, "send", "G", params.MethodReceiveLessWaitDifference, params.UnitMicrosPerByte)
	if math.Abs(p.Value-m.G) > 1e-3*m.G || p.From != 1 || p.Verdict != params.WeakVerdict || !fitcheck.HasWarningOf(r, "send", "G", clean.CodeSkew) {
		t.Errorf("%+v, %v", p, r.Warnings)
	}
	// (57 + 300 + 15)/2 − 15 is above L, and knows nothing of it: the bound is 57 + 300 − 15
	if p := fitcheck.Row(t, r, "ssend", "L", params.MethodReceiveDifference, params.UnitMicros); !p.IsBound() || math.Abs(p.Value-342) > 0.1 || !fitcheck.HasWarningOf(r, "ssend", "L", clean.CodeSkew) {
		t.Errorf("%+v, %v", p, r.Warnings)
	}
	if r := fitcheck.Fit(t, fittest.TypicalMachine().Samples(1, fittest.WholePlan), clean.Options{}); fitcheck.HasWarning(r, clean.CodeSkew) {
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
			s := fittest.SeriesAt16Bytes(mode, timer, append(fittest.Repeat(20, first), fittest.Repeat(20, second)...)...)
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
		r := fitcheck.Fit(t, set, clean.Options{})
		p := fitcheck.Row(t, r, "send", "G", params.MethodReceiveLessWaitDifference, params.UnitMicrosPerByte)
		if math.Abs(p.Value-c.early) > 1e-3*c.early || fitcheck.HasWarningOf(r, "send", "G", clean.CodeSkew) != c.skew || p.To != 128<<10 {
			t.Errorf("%s: %+v, %v", c.name, p, r.Warnings)
		}
	}
}

// A mean that another tool printed is one sample a cell, which shows a slope and no interval.
func TestSingleSamples(t *testing.T) {
	scatter := []float64{1.02, 0.99, 1.01, 0.98, 1.02, 0.985, 1.01, 0.99}
	set := &sample.Set{}
	for i, f := range scatter {
		k := 1000 * (i + 1)
		key := sample.Key{Platform: "x", Clock: "real", Place: "inter", Mode: "send", Protocol: "auto", Timer: sample.TimerRTT, Bytes: k}
		set.Series = append(set.Series, sample.Series{Key: key, Times: []unit.Time{unit.FromMicros(f * 2 * (5 + 0.01*float64(k)))}})
	}
	p := fitcheck.Row(t, fitcheck.Fit(t, set, clean.Options{}), "send", "G", params.MethodHalfRoundTrip, params.UnitMicrosPerByte)
	if math.Abs(p.Value-0.01) > 0.0005 || !math.IsNaN(p.Low) || !math.IsNaN(p.High) || p.Verdict != params.WeakVerdict {
		t.Errorf("G is %v from %v to %v, %s", p.Value, p.Low, p.High, p.Verdict)
	}
}
