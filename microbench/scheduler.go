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
//  1. warms up until round trips take the same time again and again,
//  2. in the first launch adds sizes around the eager limit, if that is asked for,
//  3. visits all tasks once, those first that have no samples yet; a task is a stage of a cell, and a
//     visit a command whose result has samples of it,
//  4. visits again and again what is not known yet, until everything is or the launch's time is over.
//
// A visit before or after which the fixed piece of work took longer than usual is disturbed. Its
// samples are kept and marked, but the task counts as not known until it has enough others.
type Scheduler struct {
	*Experiment
	Clock func() time.Time // nil: time.Now

	all    []*task
	health health
	rounds map[met]unit.Time // the shortest round of each that was met
	random *rand.Rand

	// Of the launch at hand:
	worker     Worker
	launch     int
	begun      time.Time
	share      time.Duration // what it may take from then on, but that it measures for as long as it took to start; 0: no limit
	start      time.Duration // what it took to start
	begin, end unit.Time     // by the worker's clock; end 0: there is none
	progress   func(part float64)
	visits     int
	measured   bool // something, of this launch or one before
	err        error

	out Outcome
}

// met is what tasks have the shortest round in common by.
type met struct {
	cell      Cell
	algorithm string
	pair      [2]int
}

// NewScheduler returns one for an experiment.
func NewScheduler(e *Experiment) *Scheduler {
	return &Scheduler{Experiment: e, all: e.tasks(), rounds: make(map[met]unit.Time), random: rand.New(rand.NewPCG(e.Seed, 1))}
}

func (s *Scheduler) now() time.Time {
	if s.Clock != nil {
		return s.Clock()
	}
	return time.Now()
}

// Parts of a launch's time.
const (
	forWarmth = 0.1 // until times are stable, at most
	forSizes  = 0.4 // until no size is added any more, at most
)

// Drive lets a worker measure a launch.
func (s *Scheduler) Drive(w Worker) error {
	s.worker, s.err, s.visits = w, nil, 0
	s.begin, s.end = w.Now(), 0
	if s.share > 0 {
		s.start = s.now().Sub(s.begun)
		s.end = s.begin + unit.Time(max(1, s.start, s.share-s.start))*unit.Nanosecond
	}
	if s.Shared {
		s.steady()
	}
	if s.Refine && s.launch == 0 {
		s.refine()
	}
	s.pass(s.all)
	for !s.over(1) {
		todo := slices.DeleteFunc(slices.Clone(s.all), s.known)
		if len(todo) == 0 {
			break
		}
		s.pass(todo)
	}
	s.out.drove = true
	return s.err
}

// over says whether a part of the launch's time is over, or it failed.
func (s *Scheduler) over(part float64) bool {
	return s.err != nil || s.end > 0 && float64(s.worker.Now()-s.begin) >= part*float64(s.end-s.begin)
}

// do lets the worker do a command. After an error nothing is done any more.
func (s *Scheduler) do(c Command) Result {
	var r Result
	if s.err == nil {
		r, s.err = s.worker.Do(c)
	}
	if s.err == nil && len(r.Work) > 0 {
		s.health.see(c, r.Work)
	}
	return r
}

// Bounds of warming up.
const (
	steadyBytes = 64

	spell     = 500 * unit.Microsecond // of rounds that have a median in common
	spells    = 4                      // that agree,
	agree     = 0.03                   // to this part of it
	longest   = 100 * unit.Millisecond // if a launch has no end
	mostTimes = 4096                   // rounds of a command
)

// steady lets all ranks warm up: a launch begins with processors that are not at their speed,
// caches that hold something else, and branches that were not predicted. So it begins with round
// trips, or barriers, that do not count, until they take the same time again and again.
func (s *Scheduler) steady() {
	c := Command{Stage: stageOf(sample.RTT), Bytes: steadyBytes, Rounds: 8, Batch: 1, Wait: 1}
	if len(s.Collectives) > 0 {
		c = resting(8)
	}
	if len(s.Pairs) > 0 {
		c.Pair = s.Pairs[0]
	}
	end := s.begin + longest
	if s.end > 0 {
		end = s.begin + unit.Time(forWarmth*float64(s.end-s.begin))
	}
	var medians []unit.Time
	for s.err == nil && s.worker.Now() < end {
		r := s.do(c)
		if r.Took < spell && c.Rounds < mostTimes {
			c.Rounds *= 2
			continue
		}
		medians = append(medians, unit.Time(median(r.Times[0]).value))
		if n := len(medians); n >= spells {
			of := medians[n-spells:]
			if least := slices.Min(of); float64(slices.Max(of)-least) <= agree*float64(least) {
				return
			}
		}
	}
}

// pass visits tasks once, as long as there is time: in a random order, in which those of a mode
// stay together, as processors foresee best which way a program goes if it has just gone there;
// those first that have no samples yet. Something is measured even if starting took all the time.
func (s *Scheduler) pass(tasks []*task) {
	tasks = slices.Clone(tasks)
	s.random.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	if turn := s.random.Perm(len(modes) + 1); len(s.Collectives) == 0 {
		slices.SortStableFunc(tasks, func(a, b *task) int { return turn[a.Mode] - turn[b.Mode] })
	}
	if n := len(s.Pairs); n > 0 { // another pair is another two ranks that have to wake up
		turn := make(map[[2]int]int, n)
		for i, at := range s.random.Perm(n) {
			turn[s.Pairs[i]] = at
		}
		slices.SortStableFunc(tasks, func(a, b *task) int { return turn[a.Pair] - turn[b.Pair] })
	}
	slices.SortStableFunc(tasks, func(a, b *task) int { return min(1, len(a.visits)) - min(1, len(b.visits)) })
	for _, t := range tasks {
		if s.err != nil || s.measured && s.over(1) {
			return
		}
		s.visit(t)
	}
}

// Samples of a task with each root.
const (
	enough = 20   // that all launches shall have together, at least, with both
	most   = 50   // of a visit
	limit  = 2000 // of a launch
	times  = 5    // as many visits make the repetitions that were asked for
)

// stay is how long a visit lasts at most, or for the least number of samples: there are moments of
// some milliseconds in which everything takes longer, as something else runs on the core that a
// processor is a part of, so that a task is to be visited at many times.
const stay = unit.Millisecond

// least returns how many samples with each root a launch shall have of a task.
func (s *Scheduler) least(t *task) int {
	n := (enough + t.roots()*s.LeastLaunches() - 1) / (t.roots() * s.LeastLaunches())
	if t.collective() {
		n = max(n, 8)
	}
	return max(n, 2)
}

// limit returns how many samples with each root a launch may have of a task.
func (s *Scheduler) limit(t *task) int {
	if s.Reps > 0 {
		return stages[t.stage].rounds(s.Reps)
	}
	rows := sample.MaxRows / max(s.LeastLaunches(), s.launch+1) / len(s.all) / len(stages[t.stage].timers) / t.roots()
	return max(s.least(t), min(limit, rows))
}

// hopeless is how many times as many rounds as are wanted may be gone through for them, if ranks
// come too late.
const hopeless = 5

// known says whether the launch has enough of a task.
func (s *Scheduler) known(t *task) bool {
	have, undisturbed := t.samples(s.launch, s.health)
	switch n := len(t.visits); {
	case n > 0 && len(t.visits[n-1].samples) == 0: // the ranks do not have the stage
		return true
	case have >= s.limit(t) || s.Reps > 0 && n >= hopeless*times*(s.launch+1):
		return true
	case s.Reps > 0 || undisturbed < s.least(t):
		return false
	case t.judged.launch == s.launch && 4*have < 5*t.judged.samples: // sorting all samples at each visit would take long
		return t.judged.known
	}
	t.judged.launch, t.judged.samples = s.launch, have
	t.judged.known = !slices.ContainsFunc(t.estimates(s.launch, s.health), func(e estimate) bool { return !e.within(s.Wanted(), s.Step) })
	return t.judged.known
}

// visit makes samples of a task.
func (s *Scheduler) visit(t *task) {
	if !t.met {
		s.meet(t)
	}
	have, _ := t.samples(s.launch, s.health)
	n := s.limit(t) - have
	switch {
	case s.Reps > 0 && len(s.Pairs) > 0:
	case s.Reps > 0:
		n = min(n, max(1, s.limit(t)/times))
	default:
		n = min(n, max(s.least(t), min(most, int(stay/t.cost))))
	}
	if n < 1 {
		return
	}
	c := t.Command
	c.Warm, c.Rounds = s.warm(t), min(n*t.each(), mostTimes/t.each()*t.each())
	r := s.do(c)
	if s.err != nil {
		return
	}
	late := t.add(s.launch, r)
	s.measured = s.measured || late < c.Rounds
	t.cost = max(1, r.Took*unit.Time(t.roots()*t.each())/unit.Time(t.roots()*c.Rounds+c.Warm+(t.roots()-1)*c.Rewarm()))
	if t.stage == atOnceStage {
		if s.out.Late, s.out.Started = s.out.Late+late, s.out.Started+c.Rounds; 4*late > c.Rounds {
			t.Wait = min(2*t.Wait, t.widest)
		}
	}
	if s.visits++; s.progress != nil {
		part := float64(s.visits) / float64((times+1)*len(s.all))
		if s.end > 0 {
			part = float64(s.worker.Now()-s.begin) / float64(s.end-s.begin)
		}
		s.progress(min(1, part))
	}
}

// each returns how many rounds of its stage make a sample.
func (t *task) each() int {
	if stages[t.stage].inRound {
		return 1
	}
	return t.Batch
}

// Rounds of a visit that do not count: as many as there is time for, but some at least, or one of
// what takes so long that it warms up by itself.
const (
	meeting = 4 // when a cell is met
	warming = 40
	warmth  = 100 * unit.Microsecond
	some    = 3
)

func (s *Scheduler) warm(t *task) int {
	if !s.Shared {
		return max(1, s.Warmup)
	}
	least := some
	if t.cost > stay {
		least = 1
	}
	return max(least, int(min(warming, warmth*unit.Time(t.roots()*t.each())/t.cost)))
}

// meet finds out what a sample of a task takes, how long P1 has to wait in it or how far ahead
// ranks agree on a start, and how many operations make a sample.
func (s *Scheduler) meet(t *task) {
	t.met = true
	c := t.Command
	this := met{t.cell, t.algorithm, t.Pair}
	round, ok := s.rounds[this]
	if !ok {
		c.Warm = meeting
		if t.collective() {
			c.Warm = max(s.Warmup, 1)
			if s.Shared {
				c.Warm = max(c.Warm, meeting)
			}
		}
		round = s.do(c).Round
		s.rounds[this] = round
	}
	if t.collective() {
		t.Wait = max(1, ahead*round)
		t.widest, t.cost = 16*t.Wait, t.Wait // ranks that are late for another reason stay late, and all would wait for them
		return
	}
	if t.Wait = s.Delta; t.Wait == 0 {
		t.Wait = max(1, round/2) // a barrier and a message
	}
	c = t.Command
	c.Warm, c.Rounds = 1, 2
	r := s.do(c)
	t.cost = max(1, r.Took*2/unit.Time(2*c.Rounds+c.Warm+c.Rewarm()))
	t.Batch = s.batch(t, r)
	t.cost *= unit.Time(t.Batch)
}

// Batches make of what is shorter than so many steps of the clock something that is not.
const (
	fine     = 100
	maxBatch = 16                     // or
	maxTrips = 64                     // if a batch is one round, which lasts
	tripTime = 10 * unit.Microsecond  // so that what begins and ends it does not show, and
	dear     = 200 * unit.Microsecond // which a sample with each root takes no more than twice
)

// Batch says of a timer that samples of it are the means of several operations.
type Batch struct {
	Timer      string
	Operations int // at most
}

// batch returns how many operations make a sample, by a few single ones.
func (s *Scheduler) batch(t *task, r Result) int {
	x := stages[t.stage]
	n, most := 1, maxBatch
	if x.inRound {
		most = maxTrips
	}
	for i, name := range x.timers {
		if 2*i+1 >= len(r.Times) || name == sample.Timer22 {
			continue
		}
		value := meanOf([2]estimate{median(slices.Clone(r.Times[2*i])), median(slices.Clone(r.Times[2*i+1]))}).value
		shortest := fine * float64(s.Step)
		if x.inRound && s.Step > 0 {
			shortest = max(shortest, float64(tripTime))
		}
		for n < most && float64(n*x.span)*value < shortest && unit.Time(n)*t.cost < dear {
			n *= 2
		}
	}
	for i := range x.timers {
		if n > 1 && 2*i < len(r.Times) {
			b := slices.IndexFunc(s.out.Batches, func(b Batch) bool { return b.Timer == x.timers[i] })
			if b < 0 {
				b, s.out.Batches = len(s.out.Batches), append(s.out.Batches, Batch{Timer: x.timers[i]})
			}
			s.out.Batches[b].Operations = max(s.out.Batches[b].Operations, n)
		}
	}
	return n
}
