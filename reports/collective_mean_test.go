package reports

import (
	"math"
	"testing"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/format"
)

// The mean of the ranks, which is all that some tools print, is called that. The fastest of several
// algorithms is "at best"; the only one is not.
func TestCostSentenceSaysWhichTimeItIs(t *testing.T) {
	of := func(algorithm string, mean, slowest float64) compare.CollectiveComparison {
		nan := math.NaN()
		return compare.CollectiveComparison{CollectiveTimes: compare.CollectiveTimes{Operation: "allreduce", Algorithm: algorithm, Ranks: 4, Bytes: 8, Min: nan, Median: nan, Max: slowest, Mean: mean, LastRankEnd: nan}}
	}
	for _, c := range []struct {
		times []compare.CollectiveComparison
		want  string
	}{
		{[]compare.CollectiveComparison{of("vendor", 22.25, math.NaN())}, "allreduce among 4 ranks of 8 B takes 22.25 us (mean of the ranks, not the slowest)."},
		{[]compare.CollectiveComparison{of("vendor", 22.25, 24.5)}, "allreduce among 4 ranks of 8 B takes 24.50 us."},
		{[]compare.CollectiveComparison{of("ring", 22.25, 24.5), of("linear", 32.25, 34.5)}, "At best, allreduce among 4 ranks of 8 B takes 24.50 us by ring."},
	} {
		r := &CollectiveReport{Times: [][]compare.CollectiveComparison{c.times}}
		if got := format.SingleLine(r.costSentence()); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
