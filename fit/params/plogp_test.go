package params_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
)

// Of a machine by formula, without noise and with bursts of 40 us: half a round trip of k bytes is
// 57 + 0.04·(k−1) us, so that L is 57 − 40, and g grows as that does.
func TestPLogP(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise = 0
	r := fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
	for _, v := range r.PLogP {
		if v.Mode != "send" {
			continue
		}
		if math.Abs(v.Latency.Value-17) > 1e-6 || v.SmallestBytes != 1 || len(v.ValuesBySize) != len(m.Sizes) {
			t.Errorf("%+v", v)
		}
		for _, s := range v.ValuesBySize {
			if want := 40 + 0.04*float64(s.Bytes-1); math.Abs(s.Gap.Value-want) > 1e-5 || math.Abs(s.SendOverhead.Value-30) > 1e-6 || math.Abs(s.RecvOverhead.Value-15) > 1e-6 {
				t.Errorf("%+v, want g %v", s, want)
			}
		}
		// back to LogGP: L is 12 again
		if x := v.ToLogGP(); math.Abs(x.LatencyMicros-12) > 1e-6 || math.Abs(x.OverheadMicros-22.5) > 1e-6 || math.Abs(x.GapMicros-40) > 1e-6 || math.Abs(x.GapMicrosPerByte-(40+0.04*16383)/16384) > 1e-8 {
			t.Errorf("%+v", x)
		}
		var b bytes.Buffer
		if err := params.WritePLogP(&b, []params.PLogP{v}); err != nil || !strings.Contains(b.String(), "loggp,direct,inter,send,g,4096,203.8,") {
			t.Errorf("%v %s", err, b.String())
		}
		return
	}
	t.Errorf("no view of send in %+v", r.PLogP)
}
