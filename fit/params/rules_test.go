package params

import (
	"math"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// testCell is a cell whose replicates scatter symmetrically about its value, by at most half.
func testCell(bytes int, value, half float64) clean.Cell {
	c := clean.Cell{Bytes: bytes, SampleCount: 100, FewestSamples: 100, Value: value, Low: value - half, High: value + half}
	for i := range 41 {
		c.Replicates = append(c.Replicates, value+half*float64(i-20)/20)
	}
	return c
}

// testMode is a mode with curves by timer.
func testMode(timers map[string][]clean.Cell) Mode {
	e := &Extraction{Options: clean.Options{ConfidenceLevel: 0.95, ReplicateCount: 41}}
	for timer, cells := range timers {
		e.Curves = append(e.Curves, &curve.Curve{Mode: "send", Protocol: "auto", Timer: timer, Cells: cells})
	}
	return Mode{e, "send"}
}

// A value is weak if half of its interval is more than a fifth of it, and no value if the interval
// reaches zero.
func TestIntervalDecidesVerdict(t *testing.T) {
	m := testMode(nil)
	for _, c := range []struct {
		low, high float64
		doubtful  bool
		want      string
	}{
		{8.1, 11.9, false, string(GoodVerdict)}, {7.9, 12.1, false, string(WeakVerdict)}, {9.5, 10.5, true, string(WeakVerdict)},
		{0.001, 10, false, string(WeakVerdict)}, {0, 10.5, false, string(UnidentifiableVerdict)}, {-1, 21, false, string(UnidentifiableVerdict)},
	} {
		if row := m.fillPositiveRow(Parameter{Name: "g", Method: "train"}, 10, c.low, c.high, c.doubtful); string(row.Verdict) != c.want {
			t.Errorf("10 in [%g, %g], doubtful %v: %s, want %s", c.low, c.high, c.doubtful, row.Verdict, c.want)
		}
	}
}

// A bound begins at zero at the lowest, and what is not above zero bounds nothing.
func TestBoundsAreNotNegative(t *testing.T) {
	m := testMode(nil)
	row := m.fillUpperBoundRow(Parameter{Name: "g"}, MethodGapAtMostTrain, testCell(16, 2, 3))
	if row.Value != 2 || row.Low != 0 || row.High != 5 || !row.IsBound() {
		t.Errorf("a bound of 2 in [-1, 5]: %+v", row)
	}
	if row = m.fillUpperBoundRow(Parameter{Name: "g"}, MethodGapAtMostTrain, testCell(16, -1, 3)); !math.IsNaN(row.Value) || row.IsBound() {
		t.Errorf("a bound of -1: %+v", row)
	}
}

// Bytes of a message cost G, which was measured with longer ones, above 16 bytes and below the
// range of G.
func TestBelowGapPerByteRange(t *testing.T) {
	ps := ranged("send") // G from 400 to 1000 bytes
	for k, want := range map[int]bool{0: false, 16: false, 17: true, 399: true, 400: false, 1000: false} {
		if got := isBelowGapPerByteRange(ps, "send", k); got != want {
			t.Errorf("%d bytes: %v, want %v", k, got, want)
		}
	}
	if isBelowGapPerByteRange(ps, "ssend", 100) {
		t.Error("a mode without G")
	}
}

// g is the interval of a burst if that is longer than both overheads, at most the interval if only
// o_r may hide it, and at most o_s otherwise.
func TestGapRule(t *testing.T) {
	for _, c := range []struct {
		burst, send, receive float64
		value                float64
		method               string
	}{
		{30, 10, 20, 30, sample.TimerTrain}, {30, 10, 40, 30, MethodGapAtMostTrain}, {30, 35, 20, 35, MethodGapAtMostSendOverhead},
	} {
		m := testMode(map[string][]clean.Cell{
			sample.TimerTrain: {testCell(16, c.burst, 0.1)}, sample.Timer11: {testCell(16, c.send, 0.1)}, sample.Timer12: {testCell(16, c.receive, 0.1)},
		})
		m.addGap()
		if len(m.Parameters) != 1 || m.Parameters[0].Value != c.value || m.Parameters[0].Method != c.method {
			t.Errorf("burst %g, o_s %g, o_r %g: %+v, want %g by %s", c.burst, c.send, c.receive, m.Parameters, c.value, c.method)
		}
	}
}

// PLogP of a mode follows Kielmann's formulas: g(m) = (RTT(m) − RTT(0))/2 + g(0), and
// L = RTT(0)/2 − g(0).
func TestPLogPFormulas(t *testing.T) {
	m := testMode(map[string][]clean.Cell{
		sample.TimerRTT:   {testCell(0, 40, 0.1), testCell(1000, 60, 0.1), testCell(4000, 140, 0.1)},
		sample.TimerTrain: {testCell(0, 7, 0.1)}, sample.Timer11: {testCell(0, 3, 0.1)}, sample.Timer12: {testCell(0, 4, 0.1)},
	})
	m.addPLogP()
	p := m.PLogPParameters[0]
	if p.Latency.Value != 13 || p.ValuesBySize[0].SendOverhead.Value != 3 || p.ValuesBySize[0].RecvOverhead.Value != 4 {
		t.Errorf("L %g, o_s(0) %g, o_r(0) %g, want 13, 3, 4", p.Latency.Value, p.ValuesBySize[0].SendOverhead.Value, p.ValuesBySize[0].RecvOverhead.Value)
	}
	for i, want := range []float64{7, 17, 57} {
		if got := p.ValuesBySize[i].Gap.Value; math.Abs(got-want) > 1e-9 {
			t.Errorf("g(%d) = %g, want %g", p.ValuesBySize[i].Bytes, got, want)
		}
	}
	if x := p.ToLogGP(); math.Abs(x.LatencyMicros-(13+7-3-4)) > 1e-9 || x.OverheadMicros != 3.5 || x.GapMicros != 7 || math.Abs(x.GapMicrosPerByte-57.0/4000) > 1e-12 {
		t.Errorf("in terms of LogGP: %+v", x)
	}
}
