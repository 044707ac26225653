package loggp

import (
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

func TestFormatNanoseconds(t *testing.T) {
	if got := formatNanoseconds(1_500); got != "1.5" {
		t.Errorf("1500 ps are %s ns", got)
	}
	if got := formatNanoseconds(-500 + 10_000); got != "9.5" {
		t.Errorf("9500 ps are %s ns", got)
	}
}

func TestParseSweep(t *testing.T) {
	p := schedule.DefaultParams
	for _, c := range []struct {
		sweep string
		n     int
		last  func(schedule.Params) bool
	}{
		{"L=0..10us/0.5us", 21, func(p schedule.Params) bool { return p.L == 10*unit.Microsecond }},
		{"G=0..6ns/4ns", 2, func(p schedule.Params) bool { return p.GapPerByte == 4000 }},
		{"G=0..0.3ps/0.1ps", 4, func(p schedule.Params) bool { return math.Abs(float64(p.GapPerByte)-0.3) < 1e-12 }},
		{"S=0..64KiB/16KiB", 5, func(p schedule.Params) bool { return p.EagerLimit == 65536 }},
	} {
		sweep, err := parseSweep(c.sweep, p)
		if err != nil || len(sweep.params) != c.n || !c.last(sweep.params[len(sweep.params)-1]) {
			t.Errorf("%s: %v, %v", c.sweep, sweep, err)
		}
	}
	for _, bad := range []string{"L", "L=1us", "L=1us..2us", "x=0..1us/1us", "L=2us..1us/1us", "L=0..1s/1ps", "L=0..1us/0s"} {
		if _, err := parseSweep(bad, p); err == nil || !strings.Contains(err.Error(), "write L=0..10us/0.5us") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWrongAlgorithmsOfWorkloads(t *testing.T) {
	for word, want := range map[string]string{
		"allreduce":                     "say by which algorithm, as allreduce=",
		"sum=ring":                      `there is no operation "sum"`,
		"allreduce=round":               `allreduce has no algorithm "round"`,
		"allreduce=ring,allreduce=ring": "allreduce is named twice",
	} {
		_, err := ReadWorkload([]string{"model/training/testdata/gpt.yaml"}, WorkloadOptions{Collective: strings.Split(word, ",")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", word, err, want)
		}
	}
}
