package microbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// simulated is a worker whose clock is simulated. A sample takes the time that the function says,
// and a round as long.
type simulated struct {
	now      unit.Time
	commands []Command
	time     func(w *simulated, c Command, timer string) unit.Time
	work     func(w *simulated) []unit.Time // nil: always the same
	fails    int                            // at this command; 0: never
}

func (w *simulated) Now() unit.Time { return w.now }

func (w *simulated) Execute(c Command) (CommandResult, error) {
	if w.commands = append(w.commands, c); len(w.commands) == w.fails {
		return CommandResult{}, errors.New("rank 1 is gone")
	}
	s := stages[c.StageIndex]
	r := CommandResult{FixedWorkTimes: []unit.Time{1000, 1000}, WarmupRoundTime: w.time(w, c, s.timers[0])}
	if w.work != nil {
		r.FixedWorkTimes = w.work(w)
	}
	r.AllRoundsDuration = unit.Time(c.WarmupRounds) * r.WarmupRoundTime
	if c.Rounds > 0 {
		r.AllRoundsDuration = unit.Time(c.WarmupRounds+c.P2RootWarmupRounds()+2*c.Rounds) * r.WarmupRoundTime
	}
	w.now += r.AllRoundsDuration + 10*unit.Microsecond
	for _, timer := range s.timers {
		for range 2 {
			var times []unit.Time
			for range c.Rounds / map[bool]int{true: 1, false: c.OperationsPerSample}[s.hasOneSamplePerRound] {
				times = append(times, w.time(w, c, timer))
			}
			r.TimeColumns = append(r.TimeColumns, times)
		}
	}
	return r, nil
}

// scattered makes times that scatter by one part in so many, around a microsecond and a nanosecond
// a byte.
func scattered(parts unit.Time) func(*simulated, Command, string) unit.Time {
	return func(w *simulated, c Command, _ string) unit.Time {
		t := unit.Microsecond + unit.Time(c.Bytes)*unit.Nanosecond
		w.now++ // for the sake of the scatter
		return t - t/parts + 2*t/parts*(w.now*7919%101)/101
	}
}

// runOn runs an experiment on a simulated worker of a shared machine. Starting a launch takes 20
// ms.
func runOn(t *testing.T, e *Experiment, w *simulated) *ExperimentResult {
	t.Helper()
	e.IsRealMachine = true
	return runWorker(t, e, w, &w.now)
}

// runWorker runs an experiment on a worker with a simulated clock.
func runWorker(t *testing.T, e *Experiment, w Worker, now *unit.Time) *ExperimentResult {
	t.Helper()
	s := NewScheduler(e)
	s.Clock = func() time.Time { return time.Unix(0, int64(*now/unit.Nanosecond)) }
	out, err := s.RunLaunches(t.Context(), func(context.Context, int) error {
		*now += 20 * unit.Millisecond
		return s.MeasureLaunch(w)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func allModes() Plan { return Plan{Modes: SendModeNames(), Sizes: RealMachineSizes} }

// A budget is kept, however short it is: it is exceeded by no more than a visit. In scarce time
// launches together come to as much as they can, each with as many samples as in any other.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		budget   time.Duration
		round    unit.Time
		launches int
	}{{100 * time.Millisecond, unit.Microsecond, 5}, {600 * time.Millisecond, unit.Microsecond, 5}, {600 * time.Millisecond, 50 * unit.Microsecond, 5}, {4 * time.Second, unit.Microsecond, 5}} {
		w := &simulated{time: func(w *simulated, x Command, timer string) unit.Time {
			return c.round * scattered(5)(w, x, timer) / unit.Microsecond
		}}
		if c.round > unit.Microsecond {
			w.time = func(*simulated, Command, string) unit.Time { return c.round }
		}
		e := &Experiment{Plan: allModes(), Budget: c.budget}
		e.RoundTripSizes = RealMachineRoundTripSizes
		out := runOn(t, e, w)
		if over := time.Duration(w.now/unit.Nanosecond) - c.budget; over > 25*time.Millisecond || out.WallDuration > c.budget+25*time.Millisecond {
			t.Errorf("a budget of %v: it took %v", c.budget, time.Duration(w.now/unit.Nanosecond))
		}
		if out.LaunchCount < 1 || out.LaunchCount > 2*c.launches || out.TaskCount != len(e.listTasks()) {
			t.Errorf("a budget of %v: %d launches, %d tasks", c.budget, out.LaunchCount, out.TaskCount)
		}
		done := map[string]bool{}
		for _, s := range out.Series {
			if len(s.Times) < 4 || len(s.Times)%2 != 0 {
				t.Errorf("a budget of %v: %d samples of %v", c.budget, len(s.Times), s.Key)
			}
			done[fmt.Sprint(s.Mode, s.Bytes, firstStageIndexOfTimer(s.Timer))] = true
		}
		if len(done) != out.TaskCount-out.TasksWithoutSamples {
			t.Errorf("a budget of %v: samples of %d tasks, of %d without %d", c.budget, len(done), out.TaskCount, out.TasksWithoutSamples)
		}
		if c.budget > time.Second && out.TasksWithoutSamples > 0 {
			t.Errorf("a budget of %v: %d of %d tasks have no samples", c.budget, out.TasksWithoutSamples, out.TaskCount)
		}
	}
	// Warming up takes all of the time: one task is measured all the same.
	if out := runOn(t, &Experiment{Plan: allModes(), Budget: 1}, &simulated{time: func(_ *simulated, c Command, _ string) unit.Time { return unit.Second }}); out.TasksWithoutSamples != out.TaskCount-1 {
		t.Errorf("in no time %d of %d tasks were measured", out.TaskCount-out.TasksWithoutSamples, out.TaskCount)
	}
}

// Tasks that no launch has come to are visited first in the next.
func TestScarceTime(t *testing.T) {
	w := &simulated{time: func(*simulated, Command, string) unit.Time { return 100 * unit.Microsecond }}
	out := runOn(t, &Experiment{Plan: allModes(), Budget: 2 * time.Second, Launches: 4}, w)
	launches := map[string]map[int]bool{}
	for _, s := range out.Series {
		k := fmt.Sprint(s.Mode, s.Bytes, firstStageIndexOfTimer(s.Timer))
		if launches[k] == nil {
			launches[k] = map[int]bool{}
		}
		launches[k][s.Launch] = true
	}
	twice := 0
	for _, of := range launches {
		if len(of) > 1 {
			twice++
		}
	}
	if out.TasksWithoutSamples > 0 && twice > out.TaskCount/10 {
		t.Errorf("%d tasks have no samples, and %d those of several launches", out.TasksWithoutSamples, twice)
	}
}

// Nothing is measured that is known, and what scatters more is visited more often.
func TestStopsWhenKnown(t *testing.T) {
	w := &simulated{time: func(w *simulated, c Command, timer string) unit.Time {
		if timer == sample.TimerRTT {
			return scattered(3)(w, c, timer)
		}
		return scattered(200)(w, c, timer)
	}}
	out := runOn(t, &Experiment{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0, 1000, 10000}}, Budget: 10 * time.Second}, w)
	if out.PreciseMedianCount != out.MedianCount || out.WallDuration > 2*time.Second {
		t.Errorf("%d of %d medians are known after %v", out.PreciseMedianCount, out.MedianCount, out.WallDuration)
	}
	n := map[string]int{}
	for _, s := range out.Series {
		n[s.Timer] += len(s.Times)
	}
	if n[sample.TimerRTT] < 2*n[sample.Timer11] {
		t.Errorf("samples: %v", n)
	}
}

// If repetitions are given there are so many of each launch, disturbed or not, in several visits.
func TestFixedRepetitions(t *testing.T) {
	busy := func(w *simulated) []unit.Time { return []unit.Time{1000, 1000 + unit.Time(len(w.commands)%2)*500} }
	w := &simulated{time: scattered(5), work: busy}
	out := runOn(t, &Experiment{Plan: Plan{Modes: []string{"send", "isend"}, Sizes: []int{0, 1000}, Reps: 40}, Launches: 2}, w)
	n := map[sample.Key]int{}
	for _, s := range out.Series {
		s.Disturbed = false
		n[s.Key] += len(s.Times)
	}
	for k, n := range n {
		if want := 2 * stages[firstStageIndexOfTimer(k.Timer)].roundsForReps(40); n != want {
			t.Errorf("%v: %d samples, not %d", k, n, want)
		}
	}
	if want := 2 * 2 * 2 * 9; len(n) != want {
		t.Errorf("%d series, of %d", len(n), want)
	}
}

// A disturbed visit is repeated while there is time; its samples are kept and marked, and so are
// those that were made before better moments showed that they were disturbed.
func TestDisturbedVisits(t *testing.T) {
	slow := func(part int) func(w *simulated) []unit.Time {
		return func(w *simulated) []unit.Time {
			if len(w.commands)%10 < part {
				return []unit.Time{1000, 1300}
			}
			return []unit.Time{1050, 1000}
		}
	}
	for part, tasks := range map[int]bool{0: false, 5: true, 9: true} {
		w := &simulated{time: scattered(300), work: slow(part)}
		out := runOn(t, &Experiment{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0, 1000}}, Budget: time.Second, Launches: 1, Precision: 1e-6}, w)
		disturbed, others := map[sample.Key]int{}, map[sample.Key]int{}
		for _, s := range out.Series {
			of := others
			if s.Disturbed {
				of = disturbed
			}
			s.Disturbed = false
			of[s.Key] += len(s.Times)
		}
		if tasks != (len(disturbed) > 0) {
			t.Errorf("%d of 10 visits are disturbed: %v", part, disturbed)
		}
		for k := range disturbed {
			if others[k] < 20 {
				t.Errorf("%d of 10 visits are disturbed: %v has %d samples beside them", part, k, others[k])
			}
		}
	}
	var h disturbanceDetector
	for range 50 {
		h.recordFixedWorkTimes(Command{}, []unit.Time{1300, 1000})
	}
	if h.isDisturbed(Command{}, []unit.Time{1300, 1000}) {
		t.Error("disturbed at its best")
	}
	for range 50 {
		h.recordFixedWorkTimes(Command{}, []unit.Time{1000, 1000})
	}
	if !h.isDisturbed(Command{}, []unit.Time{1300, 1000}) || h.isDisturbed(Command{}, []unit.Time{1050, 1000}) || h.isDisturbed(Command{}, nil) {
		t.Error("it is disturbed if it takes a tenth longer than at its best")
	}
}

// Two workers that give the same answers get the same commands, so that this library and the
// vendor's are measured by the same rules.
func TestSameCommands(t *testing.T) {
	e := Experiment{Plan: allModes(), Budget: time.Second, RefineSizes: true, Seed: 7, ClockStep: 10 * unit.Nanosecond}
	e.RoundTripSizes = RealMachineRoundTripSizes
	a, b := &simulated{time: scattered(5)}, &simulated{time: scattered(5)}
	first, second := e, e
	runOn(t, &first, a)
	runOn(t, &second, b)
	if len(a.commands) < 1000 || !slices.Equal(a.commands, b.commands) {
		t.Errorf("%d commands and %d, not the same", len(a.commands), len(b.commands))
	}
	third, c := e, &simulated{time: scattered(5)}
	third.Seed = 8
	if runOn(t, &third, c); slices.Equal(a.commands, c.commands) {
		t.Error("another seed makes no other order")
	}
	for _, x := range a.commands {
		if decodeCommand(x.EncodeWords()) != x {
			t.Fatalf("%+v is %+v as numbers", x, decodeCommand(x.EncodeWords()))
		}
	}
}

// Around the eager limit sizes are added, of all modes, and nowhere else.
func TestRefines(t *testing.T) {
	limit := 3000
	w := &simulated{time: func(w *simulated, c Command, timer string) unit.Time {
		t := scattered(300)(w, c, timer)
		if c.Bytes > limit && (modeNameAt(c.ModeOrOperationIndex) == "send" || modeNameAt(c.ModeOrOperationIndex) == "isend") {
			t += 8 * unit.Microsecond
		}
		return t
	}}
	out := runOn(t, &Experiment{Plan: Plan{Modes: []string{"send", "ssend"}, Sizes: RealMachineSizes}, RefineSizes: true}, w)
	sizes := slices.Sorted(slices.Values(append(slices.Clone(RealMachineSizes), out.AddedSizes...)))
	i, _ := slices.BinarySearch(sizes, limit)
	if n := len(out.AddedSizes); n < 2 || n > 8 || sizes[i]-sizes[i-1] > limit/minSizeDistanceDivisor+minSizeDistance || slices.Max(out.AddedSizes) > 4096 || slices.Min(out.AddedSizes) < 2048 {
		t.Errorf("added %v: the limit is between %d and %d", out.AddedSizes, sizes[i-1], sizes[i])
	}
	for _, k := range out.AddedSizes {
		if !slices.ContainsFunc(out.Series, func(s sample.Series) bool { return s.Mode == "ssend" && s.Bytes == k && s.Launch > 0 }) {
			t.Errorf("%d bytes are not measured of ssend in later launches", k)
		}
	}
	w.work = func(w *simulated) []unit.Time { // most visits are disturbed
		if len(w.commands)%20 == 0 {
			return []unit.Time{1000, 1000}
		}
		return []unit.Time{1000, 1500}
	}
	busy := runOn(t, &Experiment{Plan: Plan{Modes: []string{"send", "ssend"}, Sizes: RealMachineSizes}, RefineSizes: true}, w)
	if len(busy.AddedSizes) < 2 || len(slices.Compact(slices.Clone(busy.AddedSizes))) != len(busy.AddedSizes) {
		t.Errorf("added %v on a busy machine", busy.AddedSizes)
	}
	seen := map[sample.Key]bool{}
	for _, s := range busy.Series {
		if seen[s.Key] {
			t.Fatalf("%v is there twice", s.Key)
		}
		seen[s.Key] = true
	}
	w.time, w.work = scattered(300), nil
	if out := runOn(t, &Experiment{Plan: Plan{Modes: []string{"send", "ssend"}, Sizes: RealMachineSizes}, RefineSizes: true}, w); len(out.AddedSizes) > 0 {
		t.Errorf("without a limit %v were added", out.AddedSizes)
	}
}

// Of some sizes only round trips are measured, and trains of long messages are not.
func TestTripsAndTrains(t *testing.T) {
	e := &Experiment{Plan: Plan{Modes: []string{"send", "rsend"}, Sizes: []int{0, 1000, 50000}, RoundTripSizes: []int{8, 1000}, IsRealMachine: true}, MaxTrainMessageBytes: 1000}
	n := map[string]int{}
	for _, x := range e.listTasks() {
		for _, timer := range stages[x.stageIndex].timers {
			n[fmt.Sprint(x.cell.Mode, " ", x.Bytes, " ", timer)]++
		}
	}
	for name, want := range map[string]int{"send 8 rtt": 1, "send 8 timer11": 0, "rsend 8 rtt": 0, "send 1000 rtt": 1, "send 1000 timer11": 1, "send 1000 train": 1, "send 50000 train": 0, "send 50000 prtt10-d": 0, "send 50000 idle": 1} {
		if n[name] != want {
			t.Errorf("%s is measured %d times, not %d", name, n[name], want)
		}
	}
}

// What is shorter than the steps of the clock is measured in batches, unless that takes too long.
func TestBatches(t *testing.T) {
	w := &simulated{time: func(_ *simulated, c Command, _ string) unit.Time {
		return 30 * unit.Nanosecond * unit.Time(1+c.Bytes)
	}}
	out := runOn(t, &Experiment{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0, 100_000}}, ClockStep: 10 * unit.Nanosecond, Budget: time.Second}, w)
	of := map[string]int{}
	for _, b := range out.BatchOperations {
		of[b.Timer] = b.LargestBatch
	}
	if of[sample.Timer11] != maxBatchOperations || of[sample.TimerRTT] < 32 || of[sample.TimerTrain] >= maxBatchOperations {
		t.Errorf("batches: %v", of)
	}
	for _, c := range w.commands {
		if c.Bytes > 0 && c.OperationsPerSample > 1 && c.Bytes != warmupMessageBytes {
			t.Errorf("a batch of what takes long: %+v", c)
		}
		if c.OperationsPerSample > 1 && !stages[c.StageIndex].hasOneSamplePerRound && c.Rounds%c.OperationsPerSample != 0 {
			t.Errorf("%d rounds are no samples of %d", c.Rounds, c.OperationsPerSample)
		}
	}
}

// A visit of much warms up for 100 us, one of a long message by one round.
func TestWarm(t *testing.T) {
	s := NewScheduler(&Experiment{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0}, IsRealMachine: true}})
	for _, c := range []struct {
		cost  unit.Time
		batch int
		want  int
	}{{2 * unit.Microsecond, 1, maxVisitWarmupRounds}, {20 * unit.Microsecond, 1, 10}, {20 * unit.Microsecond, 2, 20}, {500 * unit.Microsecond, 1, minVisitWarmupRounds}, {2 * unit.Millisecond, 1, 1}} {
		if got := s.warmupRoundsPerVisit(&task{sampleDuration: c.cost, Command: Command{OperationsPerSample: c.batch}}); got != c.want {
			t.Errorf("%v a sample of %d: %d rounds, not %d", c.cost, c.batch, got, c.want)
		}
	}
	if (Command{WarmupRounds: 40, Rounds: 50}).P2RootWarmupRounds() != 3 || (Command{WarmupRounds: 40, Rounds: 2}).P2RootWarmupRounds() != 1 || (Command{WarmupRounds: 1, Rounds: 50}).P2RootWarmupRounds() != 1 {
		t.Error("rounds with the other root")
	}
}

// A further launch needs at least half of the time that the previous ones took on average. There is
// none if so many as were asked for are over, or too little time to start one.
func TestFurtherLaunchNeedsHalfOfItsTime(t *testing.T) {
	for _, c := range []struct {
		launches, asked int
		took, startup   time.Duration
		want            bool
	}{
		{0, 0, 0, 0, true},
		{4, 0, 3 * time.Second, 0, true},
		{5, 0, 3600 * time.Millisecond, 0, true},  // 400 ms are left, a launch took 720 ms
		{5, 0, 3640 * time.Millisecond, 0, false}, // 360 ms are left, a launch took 728 ms
		{4, 0, 3 * time.Second, 500 * time.Millisecond, false},
		{2, 2, time.Second, 0, false},
		{1, 2, time.Second, 0, true},
	} {
		s := NewScheduler(&Experiment{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0}}, Budget: 4 * time.Second, Launches: c.asked})
		s.result.LaunchCount, s.result.isSchedulerProcess, s.startupDuration = c.launches, true, c.startup
		for launch, time := range []unit.Time{1000, 2000} { // that disagree
			s.tasks[0].recordVisit(launch, CommandResult{TimeColumns: [][]unit.Time{{time}, {time}, {time}, {time}, {time}, {time}, {time}, {time}}})
		}
		if got := s.needsAnotherLaunch(c.took); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The first command of a cell takes the time of a round of its warm-up. P1 then waits for half of
// it, unless the plan says for how long.
func TestP1WaitsForHalfOfAWarmupRound(t *testing.T) {
	for _, delta := range []unit.Time{0, 7 * unit.Microsecond} {
		w := &simulated{time: func(*simulated, Command, string) unit.Time { return 10 * unit.Microsecond }}
		runOn(t, &Experiment{Plan: Plan{Modes: []string{"send"}, Sizes: []int{0}, Delta: delta}, Launches: 1, Budget: time.Second}, w)
		want := 5 * unit.Microsecond
		if delta > 0 {
			want = delta
		}
		if last := w.commands[len(w.commands)-1]; last.DeltaOrStartLead != want {
			t.Errorf("with delta %v P1 waits for %v, not %v", delta, last.DeltaOrStartLead, want)
		}
	}
}

// There are more launches than usual while they disagree and there is time, and as many as were
// asked for; a worker that fails ends it all.
func TestLaunches(t *testing.T) {
	plan := Plan{Modes: []string{"ssend"}, Sizes: []int{0}}
	w := &simulated{time: scattered(300)}
	if out := runOn(t, &Experiment{Plan: plan, Budget: time.Minute}, w); out.LaunchCount != 5 || out.PreciseMedianCount != out.MedianCount {
		t.Errorf("launches that agree: %d, %d of %d known", out.LaunchCount, out.PreciseMedianCount, out.MedianCount)
	}
	launch := 0
	w = &simulated{}
	w.time = func(w *simulated, c Command, timer string) unit.Time {
		return unit.Microsecond * unit.Time(1+max(0, 4-launch))
	}
	e := &Experiment{Plan: plan, Budget: time.Minute, Precision: 0.4, Launches: 0}
	e.IsRealMachine = true
	s := NewScheduler(e)
	s.Clock = func() time.Time { return time.Unix(0, int64(w.now/unit.Nanosecond)) }
	out, err := s.RunLaunches(t.Context(), func(_ context.Context, n int) error { launch = n; return s.MeasureLaunch(w) }, nil)
	if err != nil || out.LaunchCount <= 5 || out.PreciseMedianCount != out.MedianCount {
		t.Errorf("launches of which the first disagree: %d, %d of %d known, %v", out.LaunchCount, out.PreciseMedianCount, out.MedianCount, err)
	}
	w = &simulated{time: scattered(300)}
	if out := runOn(t, &Experiment{Plan: plan, Launches: 2, Budget: time.Minute}, w); out.LaunchCount != 2 {
		t.Errorf("two were asked for: %d launches", out.LaunchCount)
	}
	w = &simulated{time: scattered(5), fails: 100}
	s = NewScheduler(&Experiment{Plan: allModes(), Budget: time.Minute})
	if _, err := s.RunLaunches(t.Context(), func(context.Context, int) error { return s.MeasureLaunch(w) }, nil); err == nil || err.Error() != "rank 1 is gone" || len(w.commands) != 100 {
		t.Errorf("%v after %d commands", err, len(w.commands))
	}
}

// What an experiment leaves open is set, and what cannot be is refused with a word about it.
func TestExperimentCheck(t *testing.T) {
	plan := Plan{Modes: []string{"send"}, Sizes: []int{1}}
	e := Experiment{Plan: plan}
	if err := e.Check(); err != nil || e.LaunchesOrDefault() != 5 || e.TotalTimeLimit() != 4*time.Second || e.PrecisionOrDefault() != 0.02 {
		t.Errorf("%v: %d launches, %v, %v", err, e.LaunchesOrDefault(), e.TotalTimeLimit(), e.PrecisionOrDefault())
	}
	if e.Reps = 8; e.TotalTimeLimit() != 0 {
		t.Errorf("8 repetitions may take %v", e.TotalTimeLimit())
	}
	for says, change := range map[string]func(e *Experiment){
		"1001 launches": func(e *Experiment) { e.Launches = 1001 },
		"budget":        func(e *Experiment) { e.Budget = -1 },
		"precision":     func(e *Experiment) { e.Precision = 1 },
		"repetitions":   func(e *Experiment) { e.Reps = -1 },
		"zsend":         func(e *Experiment) { e.Modes = []string{"zsend"} },
		"round trips":   func(e *Experiment) { e.RoundTripSizes = []int{MaxMessageBytes + 1} },
		"samples":       func(e *Experiment) { e.Reps = sample.MaxRows },
	} {
		e := Experiment{Plan: plan}
		change(&e)
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for _, sizes := range [][]int{RealMachineSizes, SegmentedTransportSizes, QuickSizes} {
		if !slices.IsSorted(sizes) || len(slices.Compact(slices.Clone(sizes))) != len(sizes) {
			t.Errorf("sizes %v", sizes)
		}
	}
	for k := slices.Max(RealMachineSizes) * 2; k <= 4<<20; k *= 2 {
		if !slices.Contains(RealMachineRoundTripSizes, k) {
			t.Errorf("no round trips of %d bytes", k)
		}
	}
}

// Dithering spreads the ends of waits over a step of the clock.
func TestDither(t *testing.T) {
	d := clockDither{loopsPerClockTick: 1000}
	var seen [10]int
	for range 100 {
		seen[d.nextLoopCount()/100]++
	}
	if slices.Min(seen[:]) < 8 || slices.Max(seen[:]) > 12 {
		t.Errorf("of a hundred waits: %v", seen)
	}
}
