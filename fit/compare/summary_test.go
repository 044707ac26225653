package compare

import (
	"math"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	row := func(basis string, off float64) Comparison {
		return Comparison{Place: "inter", Protocol: "RTA", Bytes: 64, Quantity: "T_s(ssend)", Error: off, Basis: basis}
	}
	for _, c := range []struct {
		cs   []Comparison
		want []string
	}{
		{[]Comparison{row(Validation, 1), row(Validation, -3), row(Validation, 2), row(Calibration, 90)}, []string{"3 predictions (validation): median error 2.0 %, worst -3 % (T_s(ssend) of 64 bytes by RTA, inter): use these predictions."}},
		{[]Comparison{row(Validation, 1), row(Validation, 1), row(Validation, 40)}, []string{"worst +40 %", "but not those of T_s(ssend) near 64 bytes"}},
		{[]Comparison{row(Validation, 10)}, []string{"orders of magnitude"}},
		{[]Comparison{row(Validation, -60)}, []string{"do not use"}},
		{[]Comparison{row(Calibration, 1), row(Validation, math.NaN())}, []string{"(calibration)", "--holdout"}},
	} {
		s, ok := Summarize(c.cs)
		for _, want := range c.want {
			if !ok || !strings.Contains(s.String(), want) {
				t.Errorf("%q lacks %q", s, want)
			}
		}
	}
	if s, ok := Summarize([]Comparison{row(Validation, math.NaN())}); ok {
		t.Errorf("of nothing: %+v", s)
	}
}
