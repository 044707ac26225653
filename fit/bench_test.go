package fit

import (
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// The default plan: 8 modes, 5 timers, 16 sizes, 1200 repetitions.
func BenchmarkFit(b *testing.B) {
	m := typical()
	m.sizes, m.reps = doubling(16), 1200
	plan := map[string][]string{}
	for _, mode := range modes[:8] {
		plan[mode] = []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.RTT}
	}
	set := m.samples(1, plan)
	b.ReportMetric(float64(set.Rows()), "samples")
	for b.Loop() {
		if _, err := Fit(set, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// All pairs of 16 ranks, eight to a hypernode: 120 pairs, 3 modes, 3 sizes, 20 repetitions.
func BenchmarkFitPairs(b *testing.B) {
	inside, between := convex()
	set := hierarchy{group: [][]int{blocks(8, 8)}, times: []machine{inside, between}}.samples(16, 1)
	b.ReportMetric(float64(set.Rows()), "samples")
	for b.Loop() {
		if _, err := Fit(set, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
