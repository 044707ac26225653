package loggops

import (
	"math"
	"testing"

	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// The parameters of a LogGOPS machine are found again, with and without rendezvous.
func TestFit(t *testing.T) {
	for _, want := range []string{
		"L=2500ns,o=1500ns,g=3000ns,G=6ns,O=0ns",
		"L=40us,o=10us,g=25us,G=0.3ns,O=0.1ns,S=4KiB",
		"L=1us,o=200ns,g=300ns,G=1ns,O=1ns,S=64KiB",
	} {
		p, err := schedule.ParseParams(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{2, 5} {
			var times [][]unit.Time
			for _, s := range Probes(ranks) {
				res, err := s.Simulate(schedule.Options{Params: p})
				if err != nil {
					t.Fatal(err)
				}
				times = append(times, res.FinishTimes)
			}
			got, err := Fit(times)
			if err != nil {
				t.Fatal(err)
			}
			near := func(name string, a, b, most float64) {
				if math.Abs(a-b) > most*b+1000 && b > 0 || b == 0 && a > 0.01 {
					t.Errorf("%s, %d ranks: %s is %g, not %g: %v", want, ranks, name, a, b, got)
				}
			}
			near("L", float64(got.L), float64(p.L), 0.001)
			near("o", float64(got.Overhead), float64(p.Overhead), 0.001)
			near("g", float64(got.Gap), float64(p.Gap), 0.01)
			near("G", float64(got.GapPerByte)*1e6, float64(p.GapPerByte)*1e6, 0.01)
			near("O", float64(got.OverheadPerByte)*1e6, float64(p.OverheadPerByte)*1e6, 0.01)
			if got.EagerLimit != p.EagerLimit {
				t.Errorf("%s: S is %d", want, got.EagerLimit)
			}
		}
	}
}
