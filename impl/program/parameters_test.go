package program

import (
	"testing"

	"github.com/loggp/loggp/impl/program/cprog"
)

// The virtual time of computing is a factor or a clock rate, which is written as it was read.
func TestComputeParameter(t *testing.T) {
	for s, want := range map[string]cprog.Compute{"none": {}, "measured": {Factor: 1}, "measured*2.5": {Factor: 2.5}, "150MHz": {Rate: 150e6}, "2.1 GHz": {Rate: 2.1e9}, "1e9": {Rate: 1e9}} {
		if got, err := parseCompute(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "measured*", "measured*0", "measured2", "MHz", "-1GHz", "0", "inf"} {
		if got, err := parseCompute(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestClockRatesAreWrittenAsTheyAreRead(t *testing.T) {
	for _, text := range []string{"150MHz", "2.1GHz", "1kHz", "32.768kHz", "999Hz"} {
		rate, err := parseClockRate(text)
		if got := formatClockRate(rate); err != nil || got != text {
			t.Errorf("%s is written as %s: %v", text, got, err)
		}
	}
}
