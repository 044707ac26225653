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
