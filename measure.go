package loggp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
)

// Measurement is the result of Measure.
type Measurement struct {
	Samples      *sample.Set
	Disturbances []string // what may have disturbed the measurement, or had too little time
	Notices      []string // what was omitted, or could not be done as requested

	forced     string // forced protocol; "": the library's choice
	collective bool
	nccl       *ncclGroup     // NCCL whose collective operations were measured; nil: another library
	library    *model.Library // of an emulated machine; nil otherwise
	routes     []route        // measured routes, on an emulated machine
}

// Measure times messages of many sizes between two ranks with the timers of Al-Tawil and Moritz, or
// times collective operations of all ranks.
func Measure(ctx context.Context, o MeasureOptions) (*Measurement, error) {
	if o.Managed != nil {
		defer o.Managed.Disband()
	}
	if o.Platform == "" {
		return nil, optionErrorf("Platform", "say what to measure: %s, a file, loggp:PARAMETERS, or this machine: %s or %s", strings.Join(platform.Names(), ", "), strings.Join(job.LocalPlatforms, ", "), probe.PlatformName)
	}
	if err := o.checkScopes(); err != nil {
		return nil, err
	}
	m := &measurement{MeasureOptions: o}
	if m.measuresAllPairs() && m.usesTransport() && m.Ranks == 0 && !m.hasHosts() {
		m.Ranks = max(2, len(host.Processors()))
	}
	defer m.close()
	if o.Managed == nil {
		m.findDisturbances(ctx)
	}
	var measured *Measurement
	g, err := newNCCLGroup(o.Platform, o.Library, o.Ranks)
	switch {
	case err != nil:
	case g != nil:
		measured, err = m.measureNCCL(ctx, g)
	case m.usesInstalledMPI():
		measured, err = m.measureVendor(ctx)
	case len(m.Collective) > 0:
		measured, err = m.measureCollectives(ctx)
	default:
		measured, err = m.measurePairs(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	measured.forced, measured.Disturbances = m.forcedProtocol(), m.disturbances
	if measured.forced != "" && m.usesTransport() {
		measured.Notices = append(measured.Notices, fmt.Sprintf("parameters are of the library's own choice of protocols; the samples have the times of %s, which 'loggp compare --samples FILE --params FILE' compares with predictions", measured.forced))
	}
	if m.job != nil {
		measured.library = m.job.Library
	}
	if len(m.disturbances) > 0 {
		measured.Samples.Facts = append(measured.Samples.Facts, sample.Fact{Key: sample.FailedChecksFact, Value: strings.Join(m.disturbances, "; ")})
	}
	return measured, nil
}

// Document shows the costs of messages or collective operations, and the fitted parameters. It
// compares times of a forced protocol on an emulated machine with the sums of all steps.
func (m *Measurement) Document() (*doc.Document, error) {
	if m.nccl != nil {
		return m.ncclTestsTable()
	}
	if m.collective {
		times, err := compare.ReadCollectives(m.Samples)
		if err != nil {
			return nil, err
		}
		d := reports.CollectiveTimes(compare.WithoutPrediction(times))
		addExpectedError(d, m.library, true)
		return d, nil
	}
	result, err := fit.Fit(m.Samples, clean.Options{})
	if err != nil {
		return nil, err
	}
	d := reports.MeasurementSummary(m.Samples, result)
	addExpectedError(d, m.library, false)
	if m.forced == "" || len(m.routes) == 0 {
		return d, nil
	}
	steps, err := compare.ComparePredictions(m.Samples, nil, sumSteps(m.routes))
	if err != nil {
		return nil, err
	}
	beside := reports.PredictionErrors(steps)
	d.Files, d.Sections = append(d.Files, beside.Files...), append(d.Sections, beside.Sections...)
	return d, nil
}

// measurement is a measurement in progress.
type measurement struct {
	MeasureOptions
	job          *job.Job     // nil for the installed MPI
	team         *launch.Team // nil: all ranks are on this host
	disturbances []string
}

func (m *measurement) usesTransport() bool    { return isThisMachine(m.Platform) }
func (m *measurement) usesInstalledMPI() bool { return m.Platform == probe.PlatformName }
func (m *measurement) measuresAllPairs() bool { return m.Pairs == PairsAll }

// forcedProtocol returns the forced protocol, or "" if the library chooses.
func (m *measurement) forcedProtocol() string {
	if m.Protocol == ProtocolAuto {
		return ""
	}
	return m.Protocol
}

func (m *measurement) close() {
	if m.team != nil {
		m.team.Close()
	}
}

// reportProgress returns a function that reports progress to the caller.
func (m *measurement) reportProgress(total int) func(done int) {
	if m.Progress == nil {
		return func(int) {}
	}
	return func(done int) { m.Progress(done, total) }
}

// findDisturbances performs quick checks for what will disturb a measurement on this computer. One
// process does it for all ranks. It does nothing for emulated machines, and if a launcher may start
// ranks elsewhere.
func (m *measurement) findDisturbances(ctx context.Context) {
	if launch.IsRank() || !m.usesTransport() && !(m.usesInstalledMPI() && m.Launcher == nil) {
		return
	}
	ranks := max(m.Ranks, 2)
	if m.Managed != nil {
		ranks = m.team.RanksOnProcessors()
	}
	m.disturbances = quickWarnings(ctx, ranks)
}

// quickWarnings checks this computer before a measurement; tests replace it.
var quickWarnings = host.QuickWarnings

// openJob sets up the job.
func (m *measurement) openJob(ctx context.Context) error {
	var err error
	if m.usesTransport() {
		err = m.openTransport(ctx)
	} else {
		err = m.openEmulated()
	}
	if err == nil && m.job.Ranks < 2 {
		err = &OptionError{"Ranks", fmt.Sprint(m.job.Ranks), errors.New("measuring needs at least two")}
	}
	return err
}

func (m *measurement) openEmulated() error {
	p, err := LoadPlatform(m.Platform)
	if u := (*platform.UnknownPlatformError)(nil); errors.As(err, &u) {
		return badOption("", fmt.Errorf("%w; this machine is %s or %s", u, strings.Join(job.LocalPlatforms, ", "), probe.PlatformName))
	}
	if err == nil {
		m.job, err = newJob(p, m.Library, m.Ranks, m.Noise)
	}
	return err
}

func (m *measurement) openTransport(ctx context.Context) error {
	if err := m.checkHosts(); err != nil {
		return err
	}
	if m.hasHosts() {
		if err := m.gatherTeam(ctx); err != nil {
			return err
		}
	}
	j, err := job.NewLocal(m.Library, m.Ranks, job.LocalOptions{Platform: m.Platform, Team: m.team, WaitPolicy: m.Wait, PinsRanks: !m.NoPin, RankCommand: m.Args})
	m.job = j
	return badOption("", err)
}

// measurePairs measures messages between one pair of ranks or all pairs.
func (m *measurement) measurePairs(ctx context.Context) (*Measurement, error) {
	if err := m.openJob(ctx); err != nil {
		return nil, err
	}
	plan, err := m.newPlan()
	if err != nil {
		return nil, badOption("", err)
	}
	plan.HasCommonClock = m.job.HasCommonClock()
	if plan.Pair, err = pairOf(m.job, m.Place); err != nil {
		return nil, err
	}
	if m.job.IsLocal() {
		if plan.Pair[0] != 0 { // samples are collected at rank 0, the process that the user started
			return nil, &OptionError{"Place", fmt.Sprintf("%d,%d", plan.Pair[0], plan.Pair[1]), errors.New("on this machine rank 0 is the first of the pair")}
		}
		return m.measureTransport(ctx, plan)
	}
	series, err := m.sweepPairs(ctx, plan)
	if err != nil {
		return nil, m.failure(err)
	}
	r := route{m.job.Platform, m.job.Ranks, plan.Pair}
	if m.measuresAllPairs() {
		r.pair = allPairs
	}
	return &Measurement{Samples: m.pairSamples(plan, series), routes: []route{r}}, nil
}

// failure returns the error of a measurement that has started.
func (m *measurement) failure(err error) error {
	return fmt.Errorf("measure on %s: %w", m.job.Platform.Machine.Name, err)
}

// openWorld opens a world of the job for a job of microbench.
func (m *measurement) openWorld(ctx context.Context, n int) (mpi.World, error) {
	return m.job.World(ctx, m.Seed*1_000_003+uint64(n))
}

// sweepPairs measures the plan on an emulated machine, for its pair of ranks or for all.
func (m *measurement) sweepPairs(ctx context.Context, plan *microbench.Plan) ([]sample.Series, error) {
	options := m.job.MPIOptions(m.forcedProtocol())
	if !m.measuresAllPairs() {
		return microbench.Sweep(ctx, plan, options, m.openWorld, m.reportProgress(len(plan.Cells())))
	}
	pairs := m.rankPairs(m.job.Ranks)
	return microbench.SweepPairs(ctx, plan, pairs, options, m.openWorld, m.reportProgress(len(pairs)))
}

// maxPairs is the maximum number of pairs to measure.
const maxPairs = 4096

// rankPairs returns the pairs of PairsAll.
func (m *measurement) rankPairs(ranks int) [][2]int {
	return microbench.SelectRankPairs(ranks, maxPairs, m.Seed)
}

// pairSamples returns the series as a data set.
func (m *measurement) pairSamples(plan *microbench.Plan, series []sample.Series) *sample.Set {
	j := m.job
	p1, p2 := plan.Pair[0], plan.Pair[1]
	pair := fmt.Sprintf("%d %d", p1, p2)
	if m.measuresAllPairs() {
		pair = sample.AllPairsValue
	}
	for i := range series {
		k := &series[i].Key
		k.Platform, k.Library, k.Clock, k.Protocol = j.Platform.Machine.Name, j.Library.Name, j.ClockKind(), ProtocolAuto
		if k.Place == "" {
			k.Place = j.PlaceOfPair(p1, p2)
		}
		if m.forcedProtocol() != "" {
			k.Protocol = m.forcedProtocol()
		}
	}
	facts := append(m.headFacts(), sample.Fact{Key: sample.PairFact, Value: pair})
	if !j.IsLocal() {
		facts = append(facts, m.emulationFacts(plan.Reps, plan.WarmupRounds)...)
	}
	facts = append(facts, sample.Fact{Key: sample.RootsFact, Value: "2"}, sample.Fact{Key: sample.ResolutionFact, Value: j.Platform.Machine.TimerResolution.MicrosString()})
	if place := commonPlace(j); m.measuresAllPairs() && place != "" {
		facts = append(facts, sample.Fact{Key: sample.OnePlaceFact, Value: place})
	}
	if n := j.Ranks * (j.Ranks - 1) / 2; m.measuresAllPairs() && n > maxPairs {
		facts = append(facts, sample.Fact{Key: "pairs_drawn", Value: fmt.Sprintf("%d of %d, of ranks drawn at random", len(m.rankPairs(j.Ranks)), n)})
	}
	return &sample.Set{Series: series, Facts: facts}
}

// commonPlace returns the common place of all pairs of ranks, or "" if they differ.
func commonPlace(j *job.Job) string {
	place := j.PlaceOfPair(0, j.Ranks-1)
	for a := range j.Ranks {
		for b := range a {
			if j.PlaceOfPair(b, a) != place {
				return ""
			}
		}
	}
	return place
}

// servedModes returns the modes that the forced protocol supports.
func (m *measurement) servedModes(modes []string) []string {
	return slices.DeleteFunc(slices.Clone(modes), func(mode string) bool {
		return (&microbench.Plan{Modes: []string{mode}, Sizes: []int{0}, Reps: 1, ForcedProtocol: m.forcedProtocol()}).Check() != nil
	})
}
