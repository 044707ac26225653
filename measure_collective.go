package loggp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Limits for collective operations.
const (
	maxCollectiveMemory = 1 << 30 // bytes in the buffers of all ranks
)

// defaultCollectiveSizes are the default data sizes in bytes.
var defaultCollectiveSizes = []int{8, 64, 512, 4 << 10, 32 << 10}

// Default repetitions on emulated machines, where all are equal without noise.
const (
	noisyCollectiveReps     = 10
	noiselessCollectiveReps = 1
	collectiveWarmup        = 2
)

// CollectiveNames returns the names of the collective operations.
func CollectiveNames() []string {
	var names []string
	for _, o := range collective.Operations() {
		names = append(names, o.String())
	}
	return names
}

// measureCollectives measures collective operations.
func (m *measurement) measureCollectives(ctx context.Context) (*Measurement, error) {
	if err := m.openJob(ctx); err != nil {
		return nil, err
	}
	x, err := m.newCollectiveExperiment(m.job.Ranks, m.job.RanksByNode())
	if err != nil {
		return nil, badOption("", err)
	}
	x.ClockStep = m.job.Platform.Machine.TimerResolution
	noCommonStart := reasonForNoCommonStart(m.job)
	x.HasCommonClock = noCommonStart == ""
	var outcome *microbench.ExperimentResult
	if m.job.IsLocal() {
		outcome, err = m.runLaunches(ctx, x)
	} else {
		x.Reps, x.WarmupRounds = m.emulatedCollectiveRepetitions()
		outcome, err = microbench.SweepCollectives(ctx, x, m.job.MPIOptions(""), m.openWorld, m.reportProgress(len(x.Collectives)))
	}
	if err != nil {
		return nil, m.failure(err)
	}
	set := m.collectiveSamples(x, outcome, noCommonStart)
	if m.job.IsLocal() {
		set.Facts = append(set.Facts, m.outcomeFacts(x, outcome)...)
		set.Facts = append(set.Facts, sample.Fact{Key: sample.ClockCostHandlingFact, Value: sample.ClockCostSubtracted})
		m.addShortage(x, outcome, "--collective, --algorithm")
	} else {
		set.Facts = append(set.Facts, m.emulationFacts(x.Reps, x.WarmupRounds)...)
	}
	return newCollectiveMeasurement(set, outcome, noCommonStart), nil
}

// newCollectiveMeasurement returns the result. noCommonStart says why ranks did not start at the
// same time; "": they did.
func newCollectiveMeasurement(set *sample.Set, outcome *microbench.ExperimentResult, noCommonStart string) *Measurement {
	m := &Measurement{Samples: set, collective: true}
	if late, all := outcome.LateStartCount, outcome.AgreedStartAttempts; late > 0 {
		m.Notices = append(m.Notices, fmt.Sprintf("%d of %d repetitions were dropped, as a rank came too late to the start that was agreed on", late, all))
	}
	if noCommonStart != "" {
		m.Notices = append(m.Notices, "no common start: "+noCommonStart)
	}
	return m
}

// emulatedCollectiveRepetitions returns the repetitions and warm-up rounds for an emulated machine.
func (m *measurement) emulatedCollectiveRepetitions() (reps, warmup int) {
	usual := noisyCollectiveReps
	if m.job.Noise == 0 {
		usual = noiselessCollectiveReps
	}
	return cmp.Or(m.Reps, usual), max(0, cmp.Or(m.Warmup, collectiveWarmup))
}

// newCollectiveExperiment returns an experiment with collective operations of a number of ranks.
func (m *measurement) newCollectiveExperiment(ranks int, nodes *collective.Nodes) (*microbench.Experiment, error) {
	cells, err := m.collectiveCells(ranks, nodes)
	if err != nil {
		return nil, err
	}
	reps, _, err := m.repetitions()
	if err != nil {
		return nil, err
	}
	x, err := m.newExperiment(&microbench.Plan{Reps: reps})
	if err != nil {
		return nil, err
	}
	x.RefineSizes, x.RoundTripSizes, x.Collectives = false, nil, cells
	x.IsRealMachine = m.usesTransport() || m.usesInstalledMPI()
	return x, x.Check()
}

// collectiveCells returns the cells to measure. It fails if a requested size needs too much memory.
func (m *measurement) collectiveCells(ranks int, nodes *collective.Nodes) ([]microbench.CollectiveCell, error) {
	if err := checkRange("Ranks", ranks, 2, maxCollectiveRanks); err != nil {
		return nil, err
	}
	operations, err := parseOperations(m.Collective)
	if err != nil {
		return nil, err
	}
	if err := rejectBarrierSizes(operations, m.Sizes); err != nil {
		return nil, err
	}
	sizes := m.Sizes
	if sizes == nil {
		sizes = defaultCollectiveSizes
	}
	var cells []microbench.CollectiveCell
	for _, o := range operations {
		for _, a := range m.withLibraryChoices(m.algorithms(o), o, ranks, sizes, nodes) {
			for i, k := range sizes {
				x := microbench.CollectiveCell{Algorithm: a, Job: o.StandardJob(ranks, k, nodes)}
				if !a.Serves(x.Job) || o == collective.Barrier && i > 0 {
					continue
				}
				if k > MaxMessageBytes || x.TotalBufferBytes() > maxCollectiveMemory {
					if m.Sizes != nil {
						return nil, optionErrorf("Sizes", "%v of %s by %d ranks takes more memory than %s: take shorter lengths or fewer ranks", a, unit.Bytes(k), ranks, unit.Bytes(maxCollectiveMemory))
					}
					continue
				}
				cells = append(cells, x)
			}
		}
	}
	if len(cells) == 0 {
		return nil, m.noAlgorithmError(operations, ranks, nodes)
	}
	return cells, nil
}

// algorithms returns the requested algorithms of an operation.
func (m *measurement) algorithms(o collective.Operation) []*collective.Algorithm {
	switch {
	case m.usesInstalledMPI():
		return []*collective.Algorithm{probe.VendorAlgorithmOf(o)}
	case m.Algorithm == "" || m.Algorithm == "all":
		return collective.AlgorithmsOf(o)
	}
	if a := collective.AlgorithmNamed(o, m.Algorithm); a != nil {
		return []*collective.Algorithm{a}
	}
	return nil
}

// withLibraryChoices returns all algorithms of an operation and those that the library takes by its
// decisions besides; of a requested one, nothing else.
func (m *measurement) withLibraryChoices(all []*collective.Algorithm, o collective.Operation, ranks int, sizes []int, nodes *collective.Nodes) []*collective.Algorithm {
	if m.usesInstalledMPI() || m.Algorithm != "" && m.Algorithm != "all" {
		return all
	}
	choose := platformChooser(m.job.Platform, m.job.Library, ranks, nodes)
	if choose == nil {
		return all
	}
	all = slices.Clone(all)
	for _, k := range sizes {
		if a := collective.AlgorithmNamed(o, choose(o, ranks, k)); a != nil && !slices.ContainsFunc(all, func(b *collective.Algorithm) bool { return b.Name == a.Name }) {
			all = append(all, a)
		}
	}
	return all
}

// noAlgorithmError says why there is nothing to measure.
func (m *measurement) noAlgorithmError(operations []collective.Operation, ranks int, nodes *collective.Nodes) error {
	var names []string
	for _, o := range operations {
		if a := collective.AlgorithmNamed(o, m.Algorithm); a != nil {
			return optionErrorf("Algorithm", "%v is for %s, and %s", a, a.RankRequirement(), describeRanks(ranks, nodes))
		}
		for _, name := range collective.NameForms(o) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return optionErrorf("Algorithm", "%s has no %q%s", strings.Join(m.Collective, ","), m.Algorithm, table.NameChoices(m.Algorithm, names))
}

// reasonForNoCommonStart says why the clocks of the ranks do not allow a common start, or returns
// "".
func reasonForNoCommonStart(j *job.Job) string {
	switch n := len(host.Processors()); {
	case !j.HasCommonClock():
		return "hosts have clocks of their own"
	case j.IsLocal() && n > 0 && n < j.Ranks:
		return fmt.Sprintf("%d ranks have %d processors, and cannot all begin at once", j.Ranks, n)
	}
	return ""
}

// collectiveSamples returns the series as a data set.
func (m *measurement) collectiveSamples(x *microbench.Experiment, outcome *microbench.ExperimentResult, noCommonStart string) *sample.Set {
	machine := m.job.Platform.Machine
	place := model.IntraNode
	if x.Collectives[0].Nodes.Count() > 1 {
		place = model.InterNode
	}
	for i := range outcome.Series {
		k := &outcome.Series[i].Key
		k.Platform, k.Library, k.Clock, k.Place = machine.Name, m.job.Library.Name, m.job.ClockKind(), place.String()
	}
	facts := append(m.headFacts(), sample.Fact{Key: sample.ResolutionFact, Value: machine.TimerResolution.MicrosString()}, sample.Fact{Key: "root", Value: "0"})
	return &sample.Set{Series: outcome.Series, Facts: append(facts, microbench.CollectiveStartFact(noCommonStart, outcome.LateStartCount, outcome.AgreedStartAttempts))}
}
