package reports

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// shown is what a view writes, with spaces of any number as one.
func shown(t *testing.T, d *doc.Document, verbose bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := render.WriteText(&b, d, render.Style{Width: 200, Verbose: verbose}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// toys has the readings of L of a real machine: of one there is no number.
func toys() *fit.Result {
	nan := math.NaN()
	row := func(name, method, unit string, from, to int, value, low, high float64, v params.Verdict) params.Parameter {
		return params.Parameter{Platform: "toy", Library: "lib", Place: "intra", Mode: "send", Name: name, Method: method, Unit: unit, From: from, To: to, Value: value, Low: low, High: high, Verdict: v}
	}
	r := &fit.Result{Parameters: []params.Parameter{
		row("o_s", "timer11", params.UnitMicros, 1, 4096, 2, 1.9, 2.1, params.GoodVerdict), row("o_r", "timer12", params.UnitMicros, 1, 4096, 4, 3.9, 4.1, params.BadVerdict),
		row("L", params.MethodHalfRoundTripLessOverheads+": not identifiable", params.UnitMicros, 1, 1, nan, nan, nan, params.UnidentifiableVerdict),
		row("L", params.MethodHalfRoundTrip, params.UnitMicros, 1, 1, 5, 4.9, 5.1, params.GoodVerdict), row("L", params.MethodHalfRoundTripLessGap, params.UnitMicros, 1, 1, 3, 2.9, 3.1, params.GoodVerdict),
		row("g", params.MethodTrain, params.UnitMicros, 1, 1, 7, 6.9, 7.1, params.GoodVerdict), row("G", params.MethodHalfRoundTrip, params.UnitMicrosPerByte, 1, 4096, 0.01, 0.009, 0.011, params.GoodVerdict),
		row("S", "rtt: eager limit", params.UnitBytes, -1, -1, 4096, 4096, 8191, params.GoodVerdict),
	}}
	r.EagerLimitEvidence = []params.EagerLimitEvidence{{Parameter: r.Parameters[7], CostJump: 480, RoundTripOfSmallestMessage: 120, IsConfirmed: true}}
	r.Parameters[1].MedianFitDeviation = 0.25
	times := func(x float64) params.TimeEstimate { return params.TimeEstimate{Value: x, Low: x, High: x} }
	r.PLogP = []params.PLogP{{Platform: "toy", Library: "lib", Place: "intra", Mode: "send", SmallestBytes: 1, Latency: times(3), ValuesBySize: []params.PLogPValues{
		{Bytes: 1, SendOverhead: times(2), RecvOverhead: times(4), Gap: times(7)}, {Bytes: 1000, SendOverhead: times(2), RecvOverhead: params.TimeEstimate{Value: nan}, Gap: times(10)}}}}
	for _, mode := range []string{"send", "isend"} {
		for i, timer := range []string{"timer11", "timer12"} {
			r.Warnings = append(r.Warnings, clean.Warning{Mode: mode, Parameter: timer, Code: clean.CodeHeavyTail, Text: "many, at 5 of 10 sizes", AffectedSizeCount: 5 + i, SizeCount: 10})
		}
		for range 3 {
			r.Warnings = append(r.Warnings, clean.Warning{Mode: mode, Parameter: "o_s", Code: clean.CodeNotLinear, Text: "bent"})
		}
	}
	return r
}

// All readings of L stand side by side, by their names; the gravest warnings are explained, and
// all with --verbose.
func TestParameters(t *testing.T) {
	got := shown(t, Parameters(toys()), false)
	for _, want := range []string{"LogP PLogP with overheads rtt/2-o_s-o_r rtt/2-g rtt/2", "send ? 3.00 ±0.10 5.00 ±0.10", "1 B to 4 KiB!! (off 25 %)", "Warnings (--verbose lists all 10): not-linear ("} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if got := shown(t, Parameters(toys()), true); !strings.Contains(got, "heavy-tail (4): Some calls took far longer than most.") {
		t.Error(got)
	}
}

// L' = 3 + 7 − 2 − 4, o = (2 + 4)/2, G = 10/1000.
func TestPLogP(t *testing.T) {
	got := shown(t, PLogPParameters(toys()), false)
	for _, want := range []string{"PLogP of toy, lib, within a node, send", "1 B 2.000 ±0 4.000 ±0 7.000 ±0", "1 KB 2.000 ±0 - 10.00 ±0", "L is 3.000 ±0", "L' = L + g - o_s - o_r = 4.000 us, o = (o_s + o_r)/2 = 3.000 us, g = 7.000 us, G = g(m)/m = 0.01000 us/B"} {
		if !strings.Contains(strings.ReplaceAll(got, format.NonBreakingSpace, " "), want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// The eager limit stands with its evidence where there is one, and only there.
func TestEagerLimits(t *testing.T) {
	r := toys()
	for confirmed, evidence := range map[bool]string{true: "round trip; other timers do not contradict it", false: "round trip only: no other timer changes there"} {
		r.EagerLimitEvidence[0].IsConfirmed = confirmed
		for _, d := range []*doc.Document{Parameters(r), (&Report{Results: []*fit.Result{r}}).Document()} {
			if got, want := strings.ReplaceAll(shown(t, d, false), format.NonBreakingSpace, " "), "send 4 KiB to 8191 B 480.0 120.0 "+evidence; !strings.Contains(got, want) {
				t.Errorf("no %q in %s", want, got)
			}
		}
	}
	r.EagerLimitEvidence = nil
	if got := shown(t, Parameters(r), false); strings.Contains(got, "Eager limit") {
		t.Error(got)
	}
}

func TestLogGPS(t *testing.T) {
	r := toys()
	got := shown(t, LogGPSParameters(r), false)
	if want := "send ? 3.000 7.00 ±0.10 0.0100 ±0.0010 4 KiB to 8191 B"; !strings.Contains(strings.ReplaceAll(got, format.NonBreakingSpace, " "), want) {
		t.Errorf("no %q in %s", want, got)
	}
	r.Parameters = r.Parameters[:len(r.Parameters)-1]
	if got := shown(t, LogGPSParameters(r), false); !strings.Contains(got, "no eager limit found") {
		t.Error(got)
	}
}

func TestHeldOut(t *testing.T) {
	hs := []compare.HoldOutError{{Platform: "toy", Library: "lib", Place: "intra", Mode: "send", FittedSizeCount: 10, HeldOutSizes: make([]compare.PredictedHalfTrip, 9), MedianError: 2.34, LargestError: 20}}
	if got := shown(t, HoldOutErrors(hs), false); !strings.Contains(got, "send 10 9 2.3 20.0") || strings.Contains(got, "all ") {
		t.Error(got)
	}
	// Of several modes of one place, all errors together: the median of 1, 2, 3, 4 and 20, without
	// their signs.
	other := hs[0]
	other.Place = "inter"
	of := func(mode string, errors ...float64) compare.HoldOutError {
		h := compare.HoldOutError{Platform: "toy", Library: "lib", Place: "intra", Mode: mode, FittedSizeCount: 4}
		for _, e := range errors {
			h.HeldOutSizes = append(h.HeldOutSizes, compare.PredictedHalfTrip{Error: e})
		}
		return h
	}
	got := shown(t, HoldOutErrors([]compare.HoldOutError{of("send", -1, 20, 3), of("isend", 2, -4), other}), false)
	if strings.Count(got, "all ") != 1 || !strings.Contains(got, "all 8 5 3.0 20.0") {
		t.Error(got)
	}
}
