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
		{[]Comparison{row(ValidationBasis, 1), row(ValidationBasis, -3), row(ValidationBasis, 2), row(CalibrationBasis, 90)}, []string{"3 predictions (validation): median error 2.0 %, worst -3 % (T_s(ssend) of 64 bytes by RTA, inter): use these predictions."}},
		{[]Comparison{row(ValidationBasis, 1), row(ValidationBasis, 1), row(ValidationBasis, 40)}, []string{"worst +40 %", "but not those of T_s(ssend) near 64 bytes"}},
		{[]Comparison{row(ValidationBasis, 10)}, []string{"orders of magnitude"}},
		{[]Comparison{row(ValidationBasis, -60)}, []string{"do not use"}},
		{[]Comparison{row(CalibrationBasis, 1), row(ValidationBasis, math.NaN())}, []string{"(calibration)", "--holdout"}},
	} {
		s, ok := Summarize(c.cs)
		for _, want := range c.want {
			if !ok || !strings.Contains(s.String(), want) {
				t.Errorf("%q lacks %q", s, want)
			}
		}
	}
	if s, ok := Summarize([]Comparison{row(ValidationBasis, math.NaN())}); ok {
		t.Errorf("of nothing: %+v", s)
	}
}
