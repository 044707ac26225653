package params_test

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// On a machine with a long gap the barrier's last message hinders the send behind it, with either
// root; the same call after a wait is free of that. Where the two agree, timer11 counts, which has
// more samples. A synchronous send waits for its peer.
func TestIdle(t *testing.T) {
	set := &sample.Set{Series: []sample.Series{
		fittest.SeriesAt16Bytes("send", sample.Timer11, fittest.Repeat(40, 70)...), fittest.SeriesAt16Bytes("send", sample.TimerIdle, fittest.Repeat(10, 30)...),
		fittest.SeriesAt16Bytes("ssend", sample.Timer11, fittest.Repeat(40, 70)...), fittest.SeriesAt16Bytes("ssend", sample.TimerIdle, fittest.Repeat(10, 30)...),
		fittest.SeriesAt16Bytes("isend", sample.Timer11, fittest.Repeat(40, 30.1)...), fittest.SeriesAt16Bytes("isend", sample.TimerIdle, fittest.Repeat(10, 30)...),
	}}
	r := fitcheck.Fit(t, set, clean.Options{})
	for _, w := range []struct {
		Mode, method string
		value        float64
	}{{"send", sample.TimerIdle, 30}, {"ssend", sample.Timer11, 70}, {"isend", sample.Timer11, 30.1}} {
		if p := fitcheck.Row(t, r, w.Mode, "o_s", w.method, params.UnitMicros); p.Value != w.value || fitcheck.HasWarningOf(r, w.Mode, "o_s", clean.CodeHindered) != (w.method == sample.TimerIdle) {
			t.Errorf("%s: %+v, %v", w.Mode, p, r.Warnings)
		}
	}
	var long []sample.Series // of which nobody knows what they take after a wait
	for _, k := range []int{5000, 9000} {
		s := fittest.SeriesAt16Bytes("send", sample.Timer11, fittest.Repeat(40, 80)...)
		s.Bytes = k
		long = append(long, s)
	}
	some := fitcheck.Fit(t, &sample.Set{Series: append(long, set.Series[:2]...)}, clean.Options{})
	for _, p := range some.Parameters {
		if p.Name == "o_s" && p.Method != sample.Timer11 {
			t.Errorf("of one size in three: %+v", p)
		}
	}
}

// P2's send is a second reading of o_s only where it does not wait for P1, which receives late on
// purpose, and a synchronous send waits for its receiver anyway. Of roots that disagree only those
// matter that a parameter is of.
func TestSecondReading(t *testing.T) {
	for _, c := range []struct {
		mode string
		back float64
		want bool
	}{{"send", 30, false}, {"send", 40, true}, {"send", 79, true}, {"send", 500, false}, {"ssend", 40, false}} { // 80 is twice timer11 and timer12
		set := &sample.Set{Series: []sample.Series{fittest.SeriesAt16Bytes(c.mode, sample.Timer11, fittest.Repeat(40, 30)...), fittest.SeriesAt16Bytes(c.mode, sample.Timer12, fittest.Repeat(40, 10)...),
			fittest.SeriesAt16Bytes(c.mode, sample.Timer22, fittest.Repeat(40, c.back)...)}}
		if r := fitcheck.Fit(t, set, clean.Options{}); fitcheck.HasWarning(r, clean.CodeDirectionsDiffer) != c.want {
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
			s := fittest.SeriesAt16Bytes("send", c.timer, fittest.Repeat(40, 30)...)
			if slices.Contains(c.sizes, i) {
				s = fittest.SeriesAt16Bytes("send", c.timer, apart...)
			}
			s.Bytes = 1 << i
			set.Series = append(set.Series, s)
		}
		if r := fitcheck.Fit(t, set, clean.Options{}); fitcheck.HasWarning(r, clean.CodeRootsDisagree) != c.want {
			t.Errorf("%+v: %v", c, r.Warnings)
		}
	}
}

// A protocol that was forced is no choice of the library: it has curves, but no part in the
// parameters of the mode.
func TestForcedProtocol(t *testing.T) {
	set := &sample.Set{Series: []sample.Series{fittest.SeriesAt16Bytes("send", sample.Timer11, fittest.Repeat(30, 5)...), fittest.SeriesAt16Bytes("send", sample.Timer11, fittest.Repeat(30, 7)...)}}
	set.Series[0].Protocol = "RTA"
	r := fitcheck.Fit(t, set, clean.Options{})
	if p := fitcheck.Row(t, r, "send", "o_s", sample.Timer11, params.UnitMicros); p.Value != 7 || len(r.Curves) != 2 {
		t.Errorf("%+v", p)
	}
	set.Series = set.Series[:1]
	if r := fitcheck.Fit(t, set, clean.Options{}); len(r.Parameters) != 0 || len(r.Curves) != 1 {
		t.Errorf("parameters of a forced protocol: %+v", r.Parameters)
	}
	set.Series[0].Mode, set.Series[0].Protocol = "message", "T"
	fitcheck.Row(t, fitcheck.Fit(t, set, clean.Options{}), "message", "o_s", sample.Timer11, params.UnitMicros)
}

func TestDerivedPieces(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise = 0
	for _, c := range fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{}).Curves {
		if n := len(c.Pieces); n != 1 {
			t.Errorf("%s %s: %d pieces of a straight line: %+v", c.Mode, c.Timer, n, c.Pieces)
		}
	}
}
