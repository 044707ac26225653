package microbench

import (
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// lateRanks is a worker with four ranks, one of which is late unless it hears of an agreed start
// early enough.
type lateRanks struct {
	simulated
	needs unit.Time            // the least Command.DeltaOrStartLead with which no rank is late
	late  func(round int) bool // with a shorter one; nil: in every round
	waits []unit.Time          // of the commands with agreed starts
}

func (w *lateRanks) Execute(c Command) (CommandResult, error) {
	const round = 10 * unit.Microsecond
	r := CommandResult{WarmupRoundTime: round, AllRoundsDuration: unit.Time(c.WarmupRounds+c.Rounds) * round, TimeColumns: make([][]unit.Time, 4)}
	w.now += r.AllRoundsDuration
	if c.StageIndex == agreedStartStageIndex && c.Rounds > 0 {
		w.waits = append(w.waits, c.DeltaOrStartLead)
	}
	for rank := range r.TimeColumns {
		for i := range c.Rounds {
			t := round
			if c.StageIndex == agreedStartStageIndex && rank == 2 && c.DeltaOrStartLead < w.needs && (w.late == nil || w.late(i)) {
				t = LateStartMarker
			}
			r.TimeColumns[rank] = append(r.TimeColumns[rank], t)
		}
	}
	return r, nil
}

// measureAgreedStarts measures a broadcast with agreed starts and returns its samples.
func measureAgreedStarts(t *testing.T, w *lateRanks) (samples int, out *ExperimentResult) {
	t.Helper()
	e := &Experiment{Collectives: []CollectiveCell{{Algorithm: collective.AlgorithmNamed(collective.Bcast, "binomial"), Job: collective.Bcast.StandardJob(4, 64, nil)}}, Launches: 1}
	e.HasCommonClock, e.Reps = true, 40
	out = runWorker(t, e, w, &w.now)
	for _, s := range out.Series {
		if s.Timer == sample.TimerCollLast {
			samples += len(s.Times)
		}
	}
	return samples, out
}

// If ranks are late, the scheduler doubles how far ahead they agree on a start until they are in
// time, and never again after that.
func TestStartWindowWidensUntilRanksAreInTime(t *testing.T) {
	const first = agreedStartLeadInRounds * 10 * unit.Microsecond
	w := &lateRanks{needs: 5 * first}
	samples, out := measureAgreedStarts(t, w)
	if len(w.waits) < 5 || w.waits[0] != first || w.waits[1] != 2*first || w.waits[2] != 4*first || w.waits[3] != 8*first || w.waits[len(w.waits)-1] != 8*first {
		t.Errorf("starts are agreed on %v ahead", w.waits)
	}
	if samples < 40 || out.LateStartCount == 0 || out.AgreedStartAttempts-out.LateStartCount != samples {
		t.Errorf("%d samples, %d late starts of %d", samples, out.LateStartCount, out.AgreedStartAttempts)
	}
}

// The window ends at 16 times the first one: a rank that is still late is late for another reason.
func TestStartWindowHasALimit(t *testing.T) {
	const first = agreedStartLeadInRounds * 10 * unit.Microsecond
	w := &lateRanks{needs: unit.Second}
	samples, out := measureAgreedStarts(t, w)
	if last := w.waits[len(w.waits)-1]; last != 16*first || samples != 0 || out.LateStartCount != out.AgreedStartAttempts {
		t.Errorf("the last start was agreed on %v ahead, %d samples, %d late starts of %d", last, samples, out.LateStartCount, out.AgreedStartAttempts)
	}
}

// Late starts in more than a quarter of the rounds widen the window, fewer do not.
func TestLateStartsWidenTheWindowIfManyRoundsHaveThem(t *testing.T) {
	const first = agreedStartLeadInRounds * 10 * unit.Microsecond
	for every, want := range map[int]unit.Time{2: 2 * first, 4: first} {
		w := &lateRanks{needs: 2 * first, late: func(round int) bool { return round%every == every-1 }}
		samples, out := measureAgreedStarts(t, w)
		if last := w.waits[len(w.waits)-1]; last != want || samples < 40 || out.LateStartCount == 0 {
			t.Errorf("with every %d. start late the last one was agreed on %v ahead, %d samples, %d late starts of %d", every, last, samples, out.LateStartCount, out.AgreedStartAttempts)
		}
	}
}
