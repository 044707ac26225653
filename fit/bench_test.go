package fit_test

import (
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/microbench/sample"
)

// The default plan: 8 modes, 5 timers, 16 sizes, 1200 repetitions.
func BenchmarkFit(b *testing.B) {
	m := fittest.TypicalMachine()
	m.Sizes, m.Reps = fittest.DoublingSizes(16), 1200
	plan := map[string][]string{}
	for _, m := range sample.Modes[:8] {
		mode := m.Name
		plan[mode] = []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.TimerRTT}
	}
	set := m.Samples(1, plan)
	b.ReportMetric(float64(set.SampleCount()), "samples")
	for b.Loop() {
		if _, err := fit.Fit(set, clean.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// All pairs of 16 ranks, eight to a hypernode: 120 pairs, 3 modes, 3 sizes, 20 repetitions.
func BenchmarkFitPairs(b *testing.B) {
	inside, between := fittest.ConvexMachines()
	set := fittest.Hierarchy{Group: [][]int{fittest.GroupOfRanks(8, 8)}, Times: []fittest.Machine{inside, between}}.Samples(16, 1)
	b.ReportMetric(float64(set.SampleCount()), "samples")
	for b.Loop() {
		if _, err := fit.Fit(set, clean.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
