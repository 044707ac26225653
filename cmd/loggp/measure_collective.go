package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// What measure has for collective operations.

// together has its flags.
type together struct {
	operations, algorithm string
	vendor                bool // those of the machine's own MPI
}

func (t *together) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.operations, "collective", "", "measure collective operations of all ranks instead: a list of "+strings.Join(collectiveNames()[1:], ", ")+", or all")
	f.StringVar(&t.algorithm, "algorithm", "all", "with --collective: the algorithm of that name alone, of the operations that have it")
	mustComplete(cmd, "collective", collectiveNames())
}

// pairOnly are the flags that are for pairs of ranks alone.
var pairOnly = []string{"place", "pairs", "modes", "protocol", "level", "delta"}

// check complains of flags that do not go together.
func (t *together) check(cmd *cobra.Command, m *measure) error {
	switch {
	case !cmd.Flags().Changed("collective") && cmd.Flags().Changed("algorithm"):
		return errors.New("--algorithm: it is for --collective")
	case t.operations == "" && cmd.Flags().Changed("collective"):
		return errors.New("--collective: name operations, such as bcast,allreduce, or all")
	case t.operations == "":
		return nil
	case m.platform == probe.Platform && cmd.Flags().Changed("algorithm"):
		return fmt.Errorf("--algorithm: the MPI of this machine takes one of its own; those of this program's library are with --platform %s", strings.Join(job.Here, " or "))
	}
	t.vendor = m.platform == probe.Platform
	for _, flag := range pairOnly {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: it is for messages between two ranks, and --collective is of all", flag)
		}
	}
	return nil
}

// Bounds of what is measured.
const (
	mostTogether = 4096    // ranks; a pairwise exchange has the square of messages
	mostRoom     = 1 << 30 // bytes of all ranks' buffers
)

// togetherSizes are the lengths that are measured unless others are asked for.
var togetherSizes = []int{8, 64, 512, 4 << 10, 32 << 10}

// Repetitions on emulated machines, unless flags say otherwise: without noise one is as another.
const (
	noisyReps  = 10
	steadyReps = 1
	fewWarm    = 2
)

// cells returns what is to be measured of a number of ranks. Lengths for which there is no room are
// an error if they were asked for.
func (t *together) cells(ranks int, nodes *collective.Nodes, asked string) ([]microbench.CollectiveCell, error) {
	if err := inRange("--ranks", ranks, 2, mostTogether); err != nil {
		return nil, err
	}
	operations, err := operationsOf(t.operations)
	if err != nil {
		return nil, err
	}
	lengths, err := sizes(asked, togetherSizes)
	if err != nil {
		return nil, err
	}
	var all []microbench.CollectiveCell
	for _, o := range operations {
		for _, a := range t.algorithms(o) {
			for i, k := range lengths {
				x := microbench.CollectiveCell{Algorithm: a, Job: o.Job(ranks, k, nodes)}
				if !a.Serves(x.Job) || o == collective.Barrier && i > 0 {
					continue
				}
				if k > longest || x.TotalBufferBytes() > mostRoom {
					if asked != "" {
						return nil, fmt.Errorf("--sizes: %v of %s by %d ranks takes more memory than %s: take shorter lengths or fewer ranks", a, unit.Bytes(k), ranks, unit.Bytes(mostRoom))
					}
					continue
				}
				all = append(all, x)
			}
		}
	}
	if len(all) == 0 {
		return nil, t.none(operations, ranks, nodes)
	}
	return all, nil
}

// operationsOf reads a list of operations.
func operationsOf(list string) ([]collective.Operation, error) {
	if list == "all" {
		return collective.Operations(), nil
	}
	var of []collective.Operation
	for _, name := range words(list) {
		o, err := operation(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(of, o) {
			return nil, fmt.Errorf("--collective: %v is named twice", o)
		}
		of = append(of, o)
	}
	return of, nil
}

// algorithms returns those of an operation that are asked for.
func (t *together) algorithms(o collective.Operation) []*collective.Algorithm {
	switch {
	case t.vendor:
		return []*collective.Algorithm{probe.Algorithm(o)}
	case t.algorithm == "all":
		return collective.Of(o)
	}
	if a := collective.Named(o, t.algorithm); a != nil {
		return []*collective.Algorithm{a}
	}
	return nil
}

// none says why there is nothing to measure.
func (t *together) none(operations []collective.Operation, ranks int, nodes *collective.Nodes) error {
	var names []string
	for _, o := range operations {
		for _, a := range collective.Of(o) {
			if a.Name == t.algorithm {
				return fmt.Errorf("--algorithm: %v is for %s, and %s", a, a.Needs(), these(ranks, nodes))
			}
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return fmt.Errorf("--algorithm: %s has no %q: there are %s", t.operations, t.algorithm, strings.Join(names, ", "))
}

// collectives measures collective operations.
func (m *measure) collectives(cmd *cobra.Command) error {
	job, err := m.open(cmd)
	if err != nil {
		return err
	}
	c, err := m.collectiveExperiment(cmd, job.Ranks, nodesOf(job))
	if err != nil {
		return misuse(cmd, err)
	}
	c.ClockStep = job.Platform.Machine.Timer
	apart := clocksApart(job)
	c.CommonClock = apart == ""
	if job.Real() {
		return m.collectivesHere(cmd, job, c, apart)
	}
	m.emulate(cmd, job, c)
	bar := newProgress(cmd.ErrOrStderr(), len(c.Collectives))
	out, err := microbench.SweepCollectives(cmd.Context(), c, job.Options(""), func(ctx context.Context, n int) (mpi.World, error) {
		return job.World(ctx, m.seed*1_000_003+uint64(n))
	}, bar.done)
	bar.end()
	if err != nil {
		return fmt.Errorf("measure on %s: %w", job.Platform.Machine.Name, err)
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	set := m.collectiveSet(cmd, job, c, out, apart)
	set.Facts = append(set.Facts, m.emulation(job, c.Reps, c.WarmupRounds)...)
	return m.writeCollectives(cmd, out, set, apart)
}

// nodesOf returns which ranks of a job are near each other.
func nodesOf(job *job.Job) *collective.Nodes {
	names := make([]int, job.Ranks)
	for r := range names {
		for job.Place(names[r], r) != model.Intra.String() {
			names[r]++ // to the rank itself at most
		}
	}
	return collective.NewNodes(names)
}

// collectiveExperiment makes an experiment of the flags.
func (m *measure) collectiveExperiment(cmd *cobra.Command, ranks int, nodes *collective.Nodes) (*microbench.Experiment, error) {
	if m.maxSize != "" {
		return nil, errors.New("--max-size: --collective takes its sizes from --sizes")
	}
	cells, err := m.together.cells(ranks, nodes, m.sizes)
	if err != nil {
		return nil, err
	}
	if err := inRange("--reps", m.reps, 1, 1_000_000); err != nil {
		return nil, err
	}
	if err := inRange("--warmup", m.warmup, 0, 1_000_000); err != nil {
		return nil, err
	}
	e, err := m.effort.experiment(cmd, &microbench.Plan{Reps: m.reps}, m.seed)
	if err != nil {
		return nil, err
	}
	e.RefineSizes, e.RoundTripSizes, e.Collectives = false, nil, cells
	e.SharedMachine = isHere(m.platform) || m.platform == probe.Platform
	return e, e.Check()
}

// emulate sets what is other on an emulated machine.
func (m *measure) emulate(cmd *cobra.Command, job *job.Job, c *microbench.Experiment) {
	given := cmd.Flags().Changed
	c.Reps, c.WarmupRounds = m.reps, m.warmup
	if !given("reps") {
		if c.Reps = noisyReps; job.Noise == 0 {
			c.Reps = steadyReps
		}
	}
	if !given("warmup") {
		c.WarmupRounds = fewWarm
	}
}

// clocksApart says why ranks cannot begin at the same time by their clocks, or returns "".
func clocksApart(job *job.Job) string {
	switch n := len(host.Processors()); {
	case !job.Common():
		return "hosts have clocks of their own"
	case job.Real() && n > 0 && n < job.Ranks:
		return fmt.Sprintf("%d ranks have %d processors, and cannot all begin at once", job.Ranks, n)
	}
	return ""
}

// collectivesHere measures on this machine.
func (m *measure) collectivesHere(cmd *cobra.Command, job *job.Job, c *microbench.Experiment, apart string) error {
	out, err := m.launches(cmd, job, c)
	if err != nil {
		return fmt.Errorf("measure on %s: %w", job.Platform.Machine.Name, err)
	}
	set := m.collectiveSet(cmd, job, c, out, apart)
	set.Facts = append(set.Facts, m.effort.facts(c, out)...)
	set.Facts = append(set.Facts, sample.Fact{Key: sample.ClockCostHandlingFact, Value: sample.ClockCostSubtracted})
	m.spoiled = append(m.spoiled, shortage(c, out, "--collective, --algorithm")...)
	return m.writeCollectives(cmd, out, set, apart)
}

// collectiveSet makes a data set of the series.
func (m *measure) collectiveSet(cmd *cobra.Command, job *job.Job, c *microbench.Experiment, out *microbench.ExperimentResult, apart string) *sample.Set {
	place := model.Intra
	if c.Collectives[0].Nodes.Count() > 1 {
		place = model.Inter
	}
	for i := range out.Series {
		k := &out.Series[i].Key
		k.Platform, k.Library, k.Clock, k.Place = job.Platform.Machine.Name, job.Library.Name, job.Clock(), place.String()
	}
	set := &sample.Set{Series: out.Series, Facts: m.head(cmd, job)}
	set.Facts = append(set.Facts, sample.Fact{Key: sample.ResolutionFact, Value: job.Platform.Machine.Timer.MicrosString()}, sample.Fact{Key: "root", Value: "0"})
	set.Facts = append(set.Facts, microbench.StartFact(apart, out.LateStarts, out.AgreedStarts))
	return set
}

// writeCollectives saves or prints what was measured.
func (m *measure) writeCollectives(cmd *cobra.Command, outcome *microbench.ExperimentResult, set *sample.Set, apart string) error {
	set.Facts = append(set.Facts, m.spoiled.facts()...)
	if err := m.keep(cmd, set); err != nil || m.bare() {
		return err
	}
	times, err := compare.ReadCollectives(set)
	if err != nil {
		return err
	}
	if err := text(cmd, reports.CollectiveTimes(compare.WithoutPrediction(times))); err != nil {
		return err
	}
	if late, of := outcome.LateStarts, outcome.AgreedStarts; late > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d repetitions were dropped, as a rank came too late to the start that was agreed on\n", late, of)
	}
	if apart != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "no common start: %s\n", apart)
	}
	return nil
}
