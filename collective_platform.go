package loggp

import (
	"context"
	"fmt"
	"slices"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// A prediction for a platform uses the costs of single messages, measured on the emulated machine
// without noise and fitted like samples of any machine. From the platform's file it takes the costs
// of copies and reductions, and what messages share.

// maxMeasuredRanks is the maximum number of ranks of the job in which messages are measured, and
// maxMeasuredBytes the longest of them. Beyond, times are linear.
const (
	maxMeasuredRanks = 256
	maxMeasuredBytes = 1 << 20
)

// usePlatformCalls sets the costs of a library's sends at a place or, if place is "", within nodes
// and between them.
func (m *collectiveModel) usePlatformCalls(ctx context.Context, p *platform.Platform, library, place string, ranks int) (*job.Job, error) {
	machine := p.Machine
	if ranks != 0 {
		ranks = min(max(ranks, machine.Ranks.Min), machine.Ranks.Max)
	}
	j, err := newJob(p, library, ranks, 0)
	if err != nil {
		return nil, err
	}
	pair, err := pairOf(j, place)
	if err != nil {
		return nil, err
	}
	m.Combining = unit.PerByte(machine.Processor.Operation) / elementBytes
	m.Copying = copyCurve(machine)
	m.source = "calls on " + machine.Name + ", " + j.Library.Name
	m.isPlatform, m.calibrated, m.libraryTitle = true, j.Library, j.Library.Name
	if place == "" {
		m.SharedOccupations = func(into []model.Occupation, from, to, bytes int) []model.Occupation {
			return machine.AppendOccupations(into, j.Library, from, to, bytes)
		}
	}
	if m.Parameters, err = measureCalls(ctx, j, pair); err != nil {
		return nil, err
	}
	near, err := j.PairToMeasure(model.IntraNode.String())
	if place == "" && err == nil && machine.TierOfRanks(pair[0], pair[1]) == model.InterNode {
		x, err := measureCalls(ctx, j, near)
		if err != nil {
			return nil, err
		}
		m.IntraNode = &x
	}
	return j, nil
}

// isLogGP reports whether a machine and its library are purely LogGP.
func isLogGP(j *job.Job) bool {
	machine := j.Platform.Machine
	_, is := machine.Network.(*model.LogGP)
	return is && machine.Nodes == nil && machine.Processor.Copy.Time(1<<20) == 0 && j.Library.Software == [model.MaxCosts]unit.Time{}
}

// elementBytes is the size of the elements that are combined: Float64.
const elementBytes = 8

// copyCurve returns the time of a copy as a function of its size.
func copyCurve(m *model.Machine) (curve model.Curve) {
	const long = 1 << 20
	for _, from := range append([]int{0}, m.CopySteps()...) {
		c := m.CopyChannel(from)
		curve = append(curve, model.Piece{From: from, ValueAtFrom: c.Time(from), PerByte: unit.PerByte(c.Time(long)-c.Start) / long})
	}
	return curve
}

// measureCalls returns the parameters of standard sends between two ranks of a job. If the machine
// is purely LogGP, these are its own parameters.
func measureCalls(ctx context.Context, j *job.Job, pair [2]int) (model.Parameters, error) {
	machine := j.Platform.Machine
	if isLogGP(j) {
		return model.LowLevelParameters(machine, j.Library, machine.PathBetweenRanks(j.Ranks, pair[0], pair[1])), nil
	}
	if j.Ranks == 1 { // a single rank sends no messages
		return model.Parameters{}, nil
	}
	ps, err := fitCalls(ctx, j, pair)
	if err != nil {
		return model.Parameters{}, err
	}
	return params.BlockingCallParametersBySize(ps, SendCalls[model.StandardMode])
}

// fitCalls measures the calls that collective operations consist of and fits their parameters. It
// measures them between the two given ranks or, in a large job, between two ranks at the same
// distance.
func fitCalls(ctx context.Context, j *job.Job, pair [2]int) ([]params.Parameter, error) {
	measured, err := newJob(j.Platform, j.Library.Name, min(j.Ranks, maxMeasuredRanks), 0)
	if err != nil {
		return nil, err
	}
	if max(pair[0], pair[1]) >= measured.Ranks {
		if pair, err = measured.PairToMeasure(model.InterNode.String()); err != nil {
			return nil, err
		}
	}
	plan := &microbench.Plan{
		Modes: []string{"send", "isend", "rsend"}, Sizes: []int{0},
		Timers: []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.TimerRTT},
		Reps:   2, WarmupRounds: 2, HasCommonClock: true, Pair: pair,
	}
	for k := 1; k <= maxMeasuredBytes; k *= 2 {
		plan.Sizes = append(plan.Sizes, k)
	}
	for _, r := range j.Library.Proto.Rules { // the next longer message may go by another protocol
		if r.MaxBytes >= 0 && r.MaxBytes < maxMeasuredBytes {
			plan.Sizes = append(plan.Sizes, r.MaxBytes, r.MaxBytes+1)
		}
	}
	slices.Sort(plan.Sizes)
	plan.Sizes = slices.Compact(plan.Sizes)
	open := func(ctx context.Context, cell int) (mpi.World, error) { return measured.World(ctx, 1+uint64(cell)) }
	series, err := microbench.Sweep(ctx, plan, measured.MPIOptions(""), open, nil)
	machine := j.Platform.Machine
	if err != nil {
		return nil, fmt.Errorf("measure single messages on %s: %w", machine.Name, err)
	}
	for i := range series {
		k := &series[i].Key
		k.Platform, k.Library, k.Clock, k.Protocol = machine.Name, j.Library.Name, measured.ClockKind(), "auto"
		k.Place = measured.PlaceOfPair(pair[0], pair[1])
	}
	set := &sample.Set{Series: series, Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}, {Key: sample.ResolutionFact, Value: machine.TimerResolution.MicrosString()}}}
	found, err := fit.Fit(set, clean.Options{ReplicateCount: 2})
	if err != nil {
		return nil, err
	}
	return found.Parameters, nil
}
