// Package probe measures the MPI of the machine that it runs on, from inside a C program: the same
// timers as package microbench, by the same scheduler, without a call from Go in between, of
// messages between two ranks or of collective operations of all.
//
//  1. The program is compiled on the spot by the user's mpicc.
//  2. Their launcher starts all launches at first, since that takes longer than to measure. Each
//     waits asleep.
//  3. In its turn each is a worker: it does the scheduler's commands, which it gets over one
//     connection, and polls in between.
//
// What the numbers mean, package fit says; what they are worth, docs/measure.md.
package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// Settings says with what to measure.
type Settings struct {
	Compiler         string        // a command, looked for in PATH; "": that of the environment variable MPICC, or mpicc
	Launcher         []string      // a command and its arguments that start the ranks; none: that beside the compiler, with -n and their number
	Timeout          time.Duration // of the compiler, and of whatever a launch is to do; 0: DefaultTimeout
	Place            string        // inter or intra; "": intra if the ranks share memory
	SkipsEagerLimits bool          // the library is not asked for its eager limits
	Ranks            int           // that the launcher starts where several pairs of them measure

	compilerTimeout time.Duration // of the compiler alone; 0: Timeout. Tests of launches set it, as a compiler may be slow
}

// DefaultTimeout is how long the compiler, or a launch, may take.
const DefaultTimeout = 5 * time.Minute

// PlatformName is the name of the platform in samples.
const PlatformName = "mpi"

// VendorAlgorithm is what stands for the algorithm of a collective operation: the library takes one
// of its own, and does not say which.
const VendorAlgorithm = sample.UnforcedAlgorithm

// vendorAlgorithms are the algorithms of that name, by operation.
var vendorAlgorithms = func() []*collective.Algorithm {
	var all []*collective.Algorithm
	for _, o := range collective.Operations() {
		all = append(all, collective.NewUnknownAlgorithm(o, VendorAlgorithm))
	}
	return all
}()

// VendorAlgorithmOf returns the one of that name.
func VendorAlgorithmOf(o collective.Operation) *collective.Algorithm { return vendorAlgorithms[o] }

// measurement is an experiment under way.
type measurement struct {
	*compiledProgram
	*microbench.Experiment
	scheduler *microbench.Scheduler
	settings  Settings
	launcher  []string
	ranks     int

	concurrentLaunches int // launches that are started together: they end together, others one by one
	sessions           []*session
	greetings          []*launchGreeting // of each launch
	eagerVariables     []eagerVariable
}

// Measure executes an experiment, whose protocol, pair and Common are ignored, between two ranks,
// between the pairs of Settings.Ranks or, of collective operations, between as many as their jobs
// have, by VendorAlgorithmOf. The budget starts after compiling. progress, which may be nil, is
// called from time to time with the fraction that is done, from 0 to 1. Whether it fails, is
// cancelled or succeeds, it leaves no file and no process behind.
func Measure(ctx context.Context, e *microbench.Experiment, s Settings, progress func(part float64)) (_ *sample.Set, _ *microbench.ExperimentResult, err error) {
	if err := checkExperiment(e); err != nil {
		return nil, nil, err
	}
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	s.compilerTimeout = cmp.Or(s.compilerTimeout, s.Timeout)
	dir, remove, err := makeDirectory()
	if err != nil {
		return nil, nil, fmt.Errorf("a directory to compile in: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	m := &measurement{Experiment: e, settings: s, ranks: 2}
	var options []string
	if len(e.Collectives) > 0 {
		m.ranks, options = e.Collectives[0].Ranks, []string{collectivesOption}
	}
	if len(e.Pairs) > 0 {
		m.ranks = s.Ranks
	}
	if m.compiledProgram, err = compileProgram(ctx, dir, s, options...); err != nil {
		return nil, nil, err
	}
	if m.launcher, err = findLauncher(s.Launcher, m.compilerPath, m.ranks); err != nil {
		return nil, nil, err
	}
	defer func() {
		for _, s := range m.sessions {
			s.stop()
		}
	}()
	out, err := m.run(ctx, progress)
	if err != nil {
		return nil, nil, err
	}
	set, err := m.buildSet(out)
	return set, out, err
}

// Ranks of launches that are started together, at most, and for how long they may have to wait for
// their turns.
const (
	maxConcurrentRanks    = 20
	maxConcurrentDuration = time.Minute
)

// run measures, from the first start to the last end. Launches are started together, since that
// takes longer than to measure, and most of it is waiting. Only those of a launcher that was named
// are started one after the other, as it may have places for one at a time.
func (m *measurement) run(ctx context.Context, progress func(part float64)) (*microbench.ExperimentResult, error) {
	begin := time.Now()
	if len(m.settings.Launcher) == 0 && m.TotalTimeLimit() > 0 && m.TotalTimeLimit() <= maxConcurrentDuration {
		m.concurrentLaunches = min(m.LaunchesOrDefault(), max(1, maxConcurrentRanks/m.ranks))
	}
	first := max(1, m.concurrentLaunches) // what the first says of its clock is for all
	for range first {
		if err := m.startSessions(ctx); err != nil {
			return nil, err
		}
	}
	for n := range first {
		if err := m.awaitLaunch(n); err != nil {
			return nil, err
		}
	}
	e := *m.Experiment
	if m.TotalTimeLimit() > 0 { // a slow launcher may have taken all of it
		e.Budget = max(m.TotalTimeLimit()/4, m.TotalTimeLimit()-time.Since(begin))
	}
	m.scheduler = microbench.NewScheduler(&e)
	out, err := m.scheduler.RunLaunches(ctx, m.launch, progress)
	if err != nil {
		return nil, err
	}
	return out, m.endSessions(m.sessions[:m.concurrentLaunches])
}

// endSessions lets launches end, and waits until they have. The first is asked for the library's
// eager limits before, as that may open more of it.
func (m *measurement) endSessions(sessions []*session) (err error) {
	for _, s := range sessions {
		if s == m.sessions[0] && !m.settings.SkipsEagerLimits {
			if m.eagerVariables, err = s.readEagerVariables(); err != nil {
				return err
			}
		}
		if err := s.sendRequest(endRequest, microbench.Command{}); err != nil {
			return err
		}
	}
	for _, s := range sessions {
		if err := s.awaitEnd(); err != nil {
			return err
		}
	}
	return nil
}

// launch lets the ranks of a launch measure, which are asleep before and after that.
func (m *measurement) launch(ctx context.Context, n int) error {
	if n == len(m.sessions) {
		if err := m.startSessions(ctx); err != nil {
			return err
		}
		if err := m.awaitLaunch(n); err != nil {
			return err
		}
	}
	s := m.sessions[n]
	s.beginTime = time.Now()
	if err := m.scheduler.MeasureLaunch(s); err != nil {
		return err
	}
	if n >= m.concurrentLaunches {
		return m.endSessions(m.sessions[n:])
	}
	return s.sendRequest(idleRequest, microbench.Command{})
}

func (m *measurement) startSessions(ctx context.Context) error {
	s, err := m.startSession(ctx, m.ranks, m.launcher, m.settings.Timeout, len(m.sessions), len(m.settings.Launcher) == 0)
	if err == nil {
		m.sessions = append(m.sessions, s)
	}
	return err
}

// awaitLaunch waits until the ranks of a launch are there. The first says of all what clocks can
// tell.
func (m *measurement) awaitLaunch(n int) error {
	h, err := m.sessions[n].awaitRanks()
	if err != nil {
		return err
	}
	if m.ranks == 2 && h.isOversubscribed() {
		return fmt.Errorf("%s lets both ranks run on processor %s alone, where they would take turns: they need two", quoteCommand(m.launcher), h.ranks[0].bound)
	}
	if m.greetings = append(m.greetings, h); n == 0 {
		m.ClockStep = largestTime(m.greetings, func(x rank) unit.Time { return x.resolution })
		m.HasCommonClock = len(m.Collectives) > 0 && h.reasonForSeparateClocks() == ""
	}
	if first := m.greetings[0]; m.settingOfLaunch(h) != m.settingOfLaunch(first) {
		return fmt.Errorf("launch %d ran on %s with %s, and the first on %s with %s: they are no launches of one thing",
			n+1, h.hostNames(), libraryName(h.library), first.hostNames(), libraryName(first.library))
	}
	return nil
}

// checkExperiment says what of an experiment cannot be measured here.
func checkExperiment(e *microbench.Experiment) error {
	e.IsRealMachine = true
	if err := e.Check(); err != nil {
		return err
	}
	if e.ForcedProtocol != "" {
		return fmt.Errorf("protocol %s cannot be forced on the vendor's MPI", e.ForcedProtocol)
	}
	if e.MeasuresDeliveryTimes {
		return errors.New("the vendor's MPI is not measured for T_s and T_s-r")
	}
	for _, m := range e.Modes {
		if m == microbench.LowLevelMode {
			return errors.New("the vendor's MPI has no low-level messages to measure")
		}
		if sample.IsOneSidedMode(m) {
			return fmt.Errorf("accesses to windows of the vendor's MPI are not measured: leave out %s", m)
		}
	}
	for _, x := range e.Collectives {
		if x.Name != VendorAlgorithm {
			return fmt.Errorf("%v: the vendor's MPI takes algorithms of its own", x.Algorithm)
		}
	}
	return nil
}
