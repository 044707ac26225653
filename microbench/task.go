package microbench

import (
	"slices"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// task is a stage of a cell, which is visited until it has enough samples.
type task struct {
	Command    // of each visit, except for the rounds
	cell       Cell
	stageIndex int
	algorithm  string

	isSamplingPlanned     bool
	sampleDuration        unit.Time // time of a sample with each root
	startLeadLimit        unit.Time // limit of Command.DeltaOrStartLead of collective operations
	samplesByVisit        []visitSamples
	hasEnoughSamplesCache struct { // of hasEnoughSamples, when it was last computed
		launchIndex, sampleCount int
		hasEnough                bool
	}
}

// visitSamples is the samples of one command.
type visitSamples struct {
	launchIndex    int
	samplesByTimer [][2][]unit.Time // by timer and root
	fixedWorkTimes []unit.Time      // by rank, before and after the command
}

// listTasks returns all tasks of the experiment.
func (e *Experiment) listTasks() []*task {
	var all []*task
	for _, x := range e.Collectives {
		for _, s := range []int{barrierStartStageIndex, agreedStartStageIndex} {
			if s == barrierStartStageIndex || e.HasCommonClock {
				all = append(all, &task{stageIndex: s, cell: Cell{x.Operation.String(), x.Bytes}, algorithm: x.Name,
					Command: Command{StageIndex: s, ModeOrOperationIndex: int(x.Operation), AlgorithmIndex: e.algorithmIndex(x), Bytes: x.Bytes, OperationsPerSample: 1}})
			}
		}
	}
	if len(e.Collectives) > 0 {
		return all
	}
	for _, m := range e.Modes {
		for _, k := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(e.Sizes, e.RoundTripSizes)))) {
			all = append(all, e.listCellTasks(Cell{m, k})...)
		}
	}
	if len(e.Pairs) == 0 {
		return all
	}
	var of []*task
	for _, p := range e.Pairs {
		for _, t := range all {
			one := *t
			one.Pair = p
			of = append(of, &one)
		}
	}
	return of
}

// listCellTasks returns the tasks of a cell.
func (e *Experiment) listCellTasks(c Cell) []*task {
	var all []*task
	for _, i := range e.stageIndices(findSendMode(c.Mode)) {
		switch s := stages[i]; {
		case e.MeasuresOnlyRoundTripsAt(c.Bytes) && !s.hasTimer(sample.TimerRTT):
		case e.MaxTrainMessageBytes > 0 && c.Bytes > e.MaxTrainMessageBytes && canSendInTrains(findSendMode(c.Mode), &e.Plan) && s.roundsForReps(1000) == roundsForSixteenthOfReps(1000):
		default:
			all = append(all, &task{stageIndex: i, cell: c, Command: Command{StageIndex: i, ModeOrOperationIndex: modeIndex(c.Mode), Bytes: c.Bytes, OperationsPerSample: 1}})
		}
	}
	return all
}

// isCollective reports whether the task is a collective operation.
func (t *task) isCollective() bool { return stages[t.stageIndex].isCollective() }

// barrierRootCount returns the number of roots of the barrier with which there are samples.
func (t *task) barrierRootCount() int {
	if t.isCollective() {
		return 1
	}
	return 2
}

// recordVisit adds the result of a command. It returns the number of late starts of a collective
// operation.
func (t *task) recordVisit(launch int, r CommandResult) (late int) {
	v := visitSamples{launchIndex: launch, fixedWorkTimes: r.FixedWorkTimes}
	if !t.isCollective() {
		for i := 0; i+1 < len(r.TimeColumns); i += 2 {
			v.samplesByTimer = append(v.samplesByTimer, [2][]unit.Time{r.TimeColumns[i], r.TimeColumns[i+1]})
		}
		t.samplesByVisit = append(t.samplesByVisit, v)
		return 0
	}
	s := stages[t.stageIndex]
	v.samplesByTimer = make([][2][]unit.Time, len(s.timers))
	ranks := make([]unit.Time, len(r.TimeColumns))
	for i := range r.TimeColumns[0] {
		for rank := range ranks {
			ranks[rank] = r.TimeColumns[rank][i]
		}
		slices.Sort(ranks)
		sums := s.summarizeRankTimes(ranks)
		if sums == nil {
			late++
		}
		for timer, x := range sums {
			v.samplesByTimer[timer][0] = append(v.samplesByTimer[timer][0], x)
		}
	}
	t.samplesByVisit = append(t.samplesByVisit, v)
	return late
}

// countSamples returns how many samples of each timer with each root a launch has, and how many of
// them are undisturbed.
func (t *task) countSamples(launch int, h disturbanceDetector) (all, undisturbed int) {
	for _, v := range t.samplesByVisit {
		if v.launchIndex != launch || len(v.samplesByTimer) == 0 {
			continue
		}
		n := len(v.samplesByTimer[0][0])
		all += n
		if !h.isDisturbed(t.Command, v.fixedWorkTimes) {
			undisturbed += n
		}
	}
	return all, undisturbed
}

// timerEstimates returns estimates of each timer from undisturbed samples of a launch: the mean of
// the medians with the two roots, as the fit combines them. It leaves out timer22, which has no
// parameter.
func (t *task) timerEstimates(launch int, h disturbanceDetector) []intervalEstimate {
	var all []intervalEstimate
	for i, name := range stages[t.stageIndex].timers {
		if name == sample.Timer22 { // there is no parameter of it
			continue
		}
		var of [2]intervalEstimate
		for root := range t.barrierRootCount() {
			var times []unit.Time
			for _, v := range t.samplesByVisit {
				if v.launchIndex == launch && i < len(v.samplesByTimer) && !h.isDisturbed(t.Command, v.fixedWorkTimes) {
					times = append(times, v.samplesByTimer[i][root]...)
				}
			}
			of[root] = medianEstimate(times)
		}
		if t.barrierRootCount() == 1 {
			all = append(all, of[0])
		} else {
			all = append(all, meanOfTwoEstimates(of))
		}
	}
	return all
}

// launchSeries returns the samples of all launches, by launch and timer. Samples with the barrier's
// root at P1 are the first half of each series.
func (t *task) launchSeries(h disturbanceDetector) []sample.Series {
	var all []sample.Series
	at := make(map[sample.Key]int)
	for timer, name := range stages[t.stageIndex].timers {
		for root := range t.barrierRootCount() {
			for _, v := range t.samplesByVisit {
				if timer >= len(v.samplesByTimer) || len(v.samplesByTimer[timer][root]) == 0 {
					continue
				}
				k := sample.Key{Mode: t.cell.Mode, Bytes: t.cell.Bytes, Protocol: t.algorithm, Timer: name, Launch: v.launchIndex, Disturbed: h.isDisturbed(t.Command, v.fixedWorkTimes)}
				if t.Pair[0] != t.Pair[1] {
					k.Place = sample.PairPlace(t.Pair[0], t.Pair[1])
				}
				i, ok := at[k]
				if !ok {
					i, at[k] = len(all), len(all)
					all = append(all, sample.Series{Key: k})
				}
				all[i].Times = append(all[i].Times, v.samplesByTimer[timer][root]...)
			}
		}
	}
	return all
}

// disturbanceDetector is the state of the ranks' processors. Each rank does a fixed piece of work
// before and after each command; by rank there are the shortest times, in order, and the number of
// times.
type disturbanceDetector struct {
	shortestFixedWorkTimesByRank [][]unit.Time
	fixedWorkRunsByRank          []int
}

// recordFixedWorkTimes adds the times of the work at one command.
func (h *disturbanceDetector) recordFixedWorkTimes(c Command, work []unit.Time) {
	const kept = 256
	for i, t := range work {
		rank := c.rankMeasuringFixedWork(i)
		for len(h.shortestFixedWorkTimesByRank) <= rank {
			h.shortestFixedWorkTimesByRank, h.fixedWorkRunsByRank = append(h.shortestFixedWorkTimesByRank, nil), append(h.fixedWorkRunsByRank, 0)
		}
		h.fixedWorkRunsByRank[rank]++
		n, _ := slices.BinarySearch(h.shortestFixedWorkTimesByRank[rank], t)
		if n < kept {
			h.shortestFixedWorkTimesByRank[rank] = slices.Insert(h.shortestFixedWorkTimesByRank[rank], n, t)
			h.shortestFixedWorkTimesByRank[rank] = h.shortestFixedWorkTimesByRank[rank][:min(kept, len(h.shortestFixedWorkTimesByRank[rank]))]
		}
	}
}

// isDisturbed reports whether the work took a rank longer than at its best moments: another process
// ran on its core, or its clock was slower.
func (h disturbanceDetector) isDisturbed(c Command, work []unit.Time) bool {
	for i, t := range work {
		rank := c.rankMeasuringFixedWork(i)
		if rank >= len(h.shortestFixedWorkTimesByRank) {
			continue
		}
		best := h.shortestFixedWorkTimesByRank[rank][min(host.BestTimeIndex(h.fixedWorkRunsByRank[rank]), len(h.shortestFixedWorkTimesByRank[rank])-1)]
		if float64(t) > host.PaceTolerance*float64(best) {
			return true
		}
	}
	return false
}
