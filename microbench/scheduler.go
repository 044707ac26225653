package microbench

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Scheduler decides what the ranks of an experiment do, in all its launches. Each launch
//
//  1. warms up until the times of round trips are steady,
//  2. in the first launch adds sizes around the eager limit, if that is wanted,
//  3. visits all tasks once, those without samples first; a task is a stage of a cell, and a visit
//     is a command that takes samples of it,
//  4. visits the tasks that are not known precisely enough, until all are known or the time of the
//     launch has passed.
//
// A visit is disturbed if the fixed piece of work before or after it took longer than usual. Its
// samples are kept and marked, but do not count towards the number that the task needs.
type Scheduler struct {
	*Experiment
	Clock func() time.Time // nil: time.Now

	tasks                 []*task
	disturbanceDetector   disturbanceDetector
	warmupRoundTimeByCell map[warmupRoundTimeKey]unit.Time // by cell, algorithm and pair
	random                *rand.Rand

	// Of the launch at hand:
	worker                                Worker
	launchIndex                           int
	launchStart                           time.Time
	launchTimeLimit                       time.Duration // for this launch from launchStart on, except that it may measure for as long as it took to start; 0: no limit
	startupDuration                       time.Duration // of the ranks
	measurementStart, measurementDeadline unit.Time     // 0: no limit
	reportProgress                        func(part float64)
	visitsInLaunch                        int
	hasAnySample                          bool // of this launch or an earlier one
	err                                   error

	result ExperimentResult
}

// warmupRoundTimeKey says which tasks share the time of a round of the warm-up.
type warmupRoundTimeKey struct {
	cell      Cell
	algorithm string
	pair      [2]int
}

// NewScheduler returns a scheduler for an experiment.
func NewScheduler(e *Experiment) *Scheduler {
	return &Scheduler{Experiment: e, tasks: e.listTasks(), warmupRoundTimeByCell: make(map[warmupRoundTimeKey]unit.Time), random: rand.New(rand.NewPCG(e.Seed, 1))}
}

func (s *Scheduler) now() time.Time {
	if s.Clock != nil {
		return s.Clock()
	}
	return time.Now()
}

// Fractions of a launch's time.
const (
	maxWarmupBudgetFraction = 0.1 // until times are stable
	maxRefineBudgetFraction = 0.4 // until the last size is added
)

// MeasureLaunch measures one launch with a worker.
func (s *Scheduler) MeasureLaunch(w Worker) error {
	s.worker, s.err, s.visitsInLaunch = w, nil, 0
	s.measurementStart, s.measurementDeadline = w.Now(), 0
	if s.launchTimeLimit > 0 {
		s.startupDuration = s.now().Sub(s.launchStart)
		s.measurementDeadline = s.measurementStart + unit.Time(max(1, s.startupDuration, s.launchTimeLimit-s.startupDuration))*unit.Nanosecond
	}
	if s.IsRealMachine {
		s.warmUpUntilTimesSteady()
	}
	if s.RefineSizes && s.launchIndex == 0 {
		s.refineSizes()
	}
	s.takeSamplesOfTasks(s.tasks)
	for !s.hasUsedBudgetFraction(1) {
		todo := slices.DeleteFunc(slices.Clone(s.tasks), s.hasEnoughSamples)
		if len(todo) == 0 {
			break
		}
		s.takeSamplesOfTasks(todo)
	}
	s.result.isSchedulerProcess = true
	return s.err
}

// hasUsedBudgetFraction reports whether a fraction of the launch's time has passed, or the launch
// has failed.
func (s *Scheduler) hasUsedBudgetFraction(fraction float64) bool {
	return s.err != nil || s.measurementDeadline > 0 && float64(s.worker.Now()-s.measurementStart) >= fraction*float64(s.measurementDeadline-s.measurementStart)
}

// executeCommand makes the worker execute a command. After an error it does nothing.
func (s *Scheduler) executeCommand(c Command) CommandResult {
	var r CommandResult
	if s.err == nil {
		r, s.err = s.worker.Execute(c)
	}
	if s.err == nil && len(r.FixedWorkTimes) > 0 {
		s.disturbanceDetector.recordFixedWorkTimes(c, r.FixedWorkTimes)
	}
	return r
}

// Bounds of warming up.
const (
	warmupMessageBytes = 64

	minWarmupSeriesDuration = 500 * unit.Microsecond // a series is the rounds of one median
	steadySeriesCount       = 4                      // consecutive medians that agree
	steadyRelativeTolerance = 0.03                   // relative difference up to which they agree
	maxLaunchWarmupDuration = 100 * unit.Millisecond // if the time of a launch is not limited
	maxRoundsPerCommand     = 4096
)

// warmUpUntilTimesSteady lets all ranks warm up. When a launch begins, processors are not yet at
// their speed, caches hold other data, and branches are not predicted. So it begins with round
// trips, or barriers, that do not count, until their times are steady.
func (s *Scheduler) warmUpUntilTimesSteady() {
	c := Command{StageIndex: firstStageIndexOfTimer(sample.TimerRTT), Bytes: warmupMessageBytes, Rounds: 8, OperationsPerSample: 1, DeltaOrStartLead: 1}
	if len(s.Collectives) > 0 {
		c = newBarrierCommand(8)
	}
	if len(s.Pairs) > 0 {
		c.Pair = s.Pairs[0]
	}
	end := s.measurementStart + maxLaunchWarmupDuration
	if s.measurementDeadline > 0 {
		end = s.measurementStart + unit.Time(maxWarmupBudgetFraction*float64(s.measurementDeadline-s.measurementStart))
	}
	var medians []unit.Time
	for s.err == nil && s.worker.Now() < end {
		r := s.executeCommand(c)
		if r.AllRoundsDuration < minWarmupSeriesDuration && c.Rounds < maxRoundsPerCommand {
			c.Rounds *= 2
			continue
		}
		medians = append(medians, unit.Time(medianEstimate(r.TimeColumns[0]).value))
		if n := len(medians); n >= steadySeriesCount {
			of := medians[n-steadySeriesCount:]
			if least := slices.Min(of); float64(slices.Max(of)-least) <= steadyRelativeTolerance*float64(least) {
				return
			}
		}
	}
}

// takeSamplesOfTasks visits tasks once, as long as there is time, those without samples first. The
// order is random, but tasks of a mode stay together: branch prediction works best when the same
// code has just run. One task is measured even if starting took all the time.
func (s *Scheduler) takeSamplesOfTasks(tasks []*task) {
	tasks = slices.Clone(tasks)
	s.random.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	if turn := s.random.Perm(len(sendModes) + 1); len(s.Collectives) == 0 {
		slices.SortStableFunc(tasks, func(a, b *task) int { return turn[a.ModeOrOperationIndex] - turn[b.ModeOrOperationIndex] })
	}
	if n := len(s.Pairs); n > 0 { // another pair is another two ranks that have to wake up
		turn := make(map[[2]int]int, n)
		for i, at := range s.random.Perm(n) {
			turn[s.Pairs[i]] = at
		}
		slices.SortStableFunc(tasks, func(a, b *task) int { return turn[a.Pair] - turn[b.Pair] })
	}
	slices.SortStableFunc(tasks, func(a, b *task) int { return min(1, len(a.samplesByVisit)) - min(1, len(b.samplesByVisit)) })
	for _, t := range tasks {
		if s.err != nil || s.hasAnySample && s.hasUsedBudgetFraction(1) {
			return
		}
		s.takeSamplesOfTask(t)
	}
}

// Samples of a task with each root.
const (
	minSamplesPerTask   = 20 // of all launches, with both roots together
	maxSamplesPerVisit  = 50
	maxSamplesPerLaunch = 2000
	visitsPerLaunch     = 5 // that make the repetitions, if their number is set
)

// maxVisitDuration limits a visit, unless it needs longer for the least number of samples. When
// another process runs on the same core, everything takes longer for some milliseconds, so a task
// should be visited at many different times.
const maxVisitDuration = unit.Millisecond

// minSamplesPerLaunchAndRoot returns the least number of samples with each root that a launch
// should have of a task.
func (s *Scheduler) minSamplesPerLaunchAndRoot(t *task) int {
	n := (minSamplesPerTask + t.barrierRootCount()*s.LaunchesOrDefault() - 1) / (t.barrierRootCount() * s.LaunchesOrDefault())
	if t.isCollective() {
		n = max(n, 8)
	}
	return max(n, 2)
}

// maxSamplesPerLaunchAndRoot returns the largest number of samples with each root that a launch may
// have of a task.
func (s *Scheduler) maxSamplesPerLaunchAndRoot(t *task) int {
	if s.Reps > 0 {
		return stages[t.stageIndex].roundsForReps(s.Reps)
	}
	rows := sample.MaxRows / max(s.LaunchesOrDefault(), s.launchIndex+1) / len(s.tasks) / len(stages[t.stageIndex].timers) / t.barrierRootCount()
	return max(s.minSamplesPerLaunchAndRoot(t), min(maxSamplesPerLaunch, rows))
}

// maxAttemptsPerRound limits the repetition of rounds with late ranks: a launch runs at most so
// many times the rounds that were asked for.
const maxAttemptsPerRound = 5

// hasEnoughSamples reports whether the launch has enough samples of a task.
func (s *Scheduler) hasEnoughSamples(t *task) bool {
	have, undisturbed := t.countSamples(s.launchIndex, s.disturbanceDetector)
	switch n := len(t.samplesByVisit); {
	case n > 0 && len(t.samplesByVisit[n-1].samplesByTimer) == 0: // the ranks do not have the stage
		return true
	case have >= s.maxSamplesPerLaunchAndRoot(t) || s.Reps > 0 && n >= maxAttemptsPerRound*visitsPerLaunch*(s.launchIndex+1):
		return true
	case s.Reps > 0 || undisturbed < s.minSamplesPerLaunchAndRoot(t):
		return false
	case t.hasEnoughSamplesCache.launchIndex == s.launchIndex && 4*have < 5*t.hasEnoughSamplesCache.sampleCount: // sorting all samples at each visit would take long
		return t.hasEnoughSamplesCache.hasEnough
	}
	t.hasEnoughSamplesCache.launchIndex, t.hasEnoughSamplesCache.sampleCount = s.launchIndex, have
	t.hasEnoughSamplesCache.hasEnough = !slices.ContainsFunc(t.timerEstimates(s.launchIndex, s.disturbanceDetector), func(e intervalEstimate) bool { return !e.isPreciseWithin(s.PrecisionOrDefault(), s.ClockStep) })
	return t.hasEnoughSamplesCache.hasEnough
}

// takeSamplesOfTask takes samples of a task.
func (s *Scheduler) takeSamplesOfTask(t *task) {
	if !t.isSamplingPlanned {
		s.planTaskSampling(t)
	}
	have, _ := t.countSamples(s.launchIndex, s.disturbanceDetector)
	n := s.maxSamplesPerLaunchAndRoot(t) - have
	switch {
	case s.Reps > 0 && len(s.Pairs) > 0:
	case s.Reps > 0:
		n = min(n, max(1, s.maxSamplesPerLaunchAndRoot(t)/visitsPerLaunch))
	default:
		n = min(n, max(s.minSamplesPerLaunchAndRoot(t), min(maxSamplesPerVisit, int(maxVisitDuration/t.sampleDuration))))
	}
	if n < 1 {
		return
	}
	c := t.Command
	c.WarmupRounds, c.Rounds = s.warmupRoundsPerVisit(t), min(n*t.roundsPerSample(), maxRoundsPerCommand/t.roundsPerSample()*t.roundsPerSample())
	r := s.executeCommand(c)
	if s.err != nil {
		return
	}
	late := t.recordVisit(s.launchIndex, r)
	s.hasAnySample = s.hasAnySample || late < c.Rounds
	t.sampleDuration = max(1, r.AllRoundsDuration*unit.Time(t.barrierRootCount()*t.roundsPerSample())/unit.Time(t.barrierRootCount()*c.Rounds+c.WarmupRounds+(t.barrierRootCount()-1)*c.P2RootWarmupRounds()))
	if t.stageIndex == agreedStartStageIndex {
		if s.result.LateStartCount, s.result.AgreedStartAttempts = s.result.LateStartCount+late, s.result.AgreedStartAttempts+c.Rounds; 4*late > c.Rounds {
			t.DeltaOrStartLead = min(2*t.DeltaOrStartLead, t.startLeadLimit)
		}
	}
	if s.visitsInLaunch++; s.reportProgress != nil {
		part := float64(s.visitsInLaunch) / float64((visitsPerLaunch+1)*len(s.tasks))
		if s.measurementDeadline > 0 {
			part = float64(s.worker.Now()-s.measurementStart) / float64(s.measurementDeadline-s.measurementStart)
		}
		s.reportProgress(min(1, part))
	}
}

// roundsPerSample returns the number of rounds that give one sample.
func (t *task) roundsPerSample() int {
	if stages[t.stageIndex].hasOneSamplePerRound {
		return 1
	}
	return t.OperationsPerSample
}

// Rounds of warm-up.
const (
	minFirstVisitWarmupRounds = 4 // of a new cell
	maxVisitWarmupRounds      = 40
	maxVisitWarmupDuration    = 100 * unit.Microsecond
	minVisitWarmupRounds      = 3
)

// warmupRoundsPerVisit returns the rounds of warm-up in a visit: as many as the time allows, but at
// least a few, or one if a round takes so long that it warms up by itself.
func (s *Scheduler) warmupRoundsPerVisit(t *task) int {
	if !s.IsRealMachine {
		return max(1, s.WarmupRounds)
	}
	least := minVisitWarmupRounds
	if t.sampleDuration > maxVisitDuration {
		least = 1
	}
	return max(least, int(min(maxVisitWarmupRounds, maxVisitWarmupDuration*unit.Time(t.barrierRootCount()*t.roundsPerSample())/t.sampleDuration)))
}

// planTaskSampling determines the time of a sample of a task, the wait of P1 or the time to an
// agreed start, and the number of operations in a sample.
func (s *Scheduler) planTaskSampling(t *task) {
	t.isSamplingPlanned = true
	c := t.Command
	this := warmupRoundTimeKey{t.cell, t.algorithm, t.Pair}
	round, ok := s.warmupRoundTimeByCell[this]
	if !ok {
		c.WarmupRounds = minFirstVisitWarmupRounds
		if t.isCollective() {
			c.WarmupRounds = max(s.WarmupRounds, 1)
			if s.IsRealMachine {
				c.WarmupRounds = max(c.WarmupRounds, minFirstVisitWarmupRounds)
			}
		}
		round = s.executeCommand(c).WarmupRoundTime
		s.warmupRoundTimeByCell[this] = round
	}
	if t.isCollective() {
		t.DeltaOrStartLead = max(1, agreedStartLeadInRounds*round)
		t.startLeadLimit, t.sampleDuration = 16*t.DeltaOrStartLead, t.DeltaOrStartLead // ranks that are late for another reason stay late, and all would wait for them
		return
	}
	if t.DeltaOrStartLead = s.Delta; t.DeltaOrStartLead == 0 {
		t.DeltaOrStartLead = max(1, round/2) // a barrier and a message
	}
	c = t.Command
	c.WarmupRounds, c.Rounds = 1, 2
	r := s.executeCommand(c)
	t.sampleDuration = max(1, r.AllRoundsDuration*2/unit.Time(2*c.Rounds+c.WarmupRounds+c.P2RootWarmupRounds()))
	t.OperationsPerSample = s.operationsPerSample(t, r)
	t.sampleDuration *= unit.Time(t.OperationsPerSample)
}

// If an operation is shorter than minBatchDurationInClockSteps, a sample is a batch of operations.
const (
	minBatchDurationInClockSteps = 100                    // of the clock that a batch should take
	maxBatchOperations           = 16                     // if each is a round
	maxBatchRoundTrips           = 64                     // if the batch is one round,
	minRoundTripBatchDuration    = 10 * unit.Microsecond  // which should last so long that its begin and end do not show
	maxBatchDuration             = 200 * unit.Microsecond // above which the batch does not grow
)

// TimerBatchOperations says that samples of a timer are means of several operations.
type TimerBatchOperations struct {
	Timer        string
	LargestBatch int // the largest number in a sample
}

// operationsPerSample returns the number of operations in a sample, from a few single ones.
func (s *Scheduler) operationsPerSample(t *task, r CommandResult) int {
	x := stages[t.stageIndex]
	n, most := 1, maxBatchOperations
	if x.hasOneSamplePerRound {
		most = maxBatchRoundTrips
	}
	for i, name := range x.timers {
		if 2*i+1 >= len(r.TimeColumns) || name == sample.Timer22 {
			continue
		}
		value := meanOfTwoEstimates([2]intervalEstimate{medianEstimate(slices.Clone(r.TimeColumns[2*i])), medianEstimate(slices.Clone(r.TimeColumns[2*i+1]))}).value
		shortest := minBatchDurationInClockSteps * float64(s.ClockStep)
		if x.hasOneSamplePerRound && s.ClockStep > 0 {
			shortest = max(shortest, float64(minRoundTripBatchDuration))
		}
		for n < most && float64(n*x.operationsPerTimedInterval)*value < shortest && unit.Time(n)*t.sampleDuration < maxBatchDuration {
			n *= 2
		}
	}
	for i := range x.timers {
		if n > 1 && 2*i < len(r.TimeColumns) {
			b := slices.IndexFunc(s.result.BatchOperations, func(b TimerBatchOperations) bool { return b.Timer == x.timers[i] })
			if b < 0 {
				b, s.result.BatchOperations = len(s.result.BatchOperations), append(s.result.BatchOperations, TimerBatchOperations{Timer: x.timers[i]})
			}
			s.result.BatchOperations[b].LargestBatch = max(s.result.BatchOperations[b].LargestBatch, n)
		}
	}
	return n
}
