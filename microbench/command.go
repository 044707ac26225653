package microbench

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Command says what all ranks of a job do next. Ranks keep nothing from one command to the next, so
// what is measured, how often, and when it ends is decided in one place, by the Scheduler.
type Command struct {
	Stage        int       // of StageTimers
	Mode         int       // index of Modes, len(Modes()) for low-level messages, or a collective.Operation
	Algorithm    int       // of a collective operation, among those of it; -1: whichever the library takes
	Bytes        int       // of a message or a block
	WarmupRounds int       // rounds that do not count before those that do
	Rounds       int       // with each root of the barrier; 0: only the rounds that do not count, which are timed
	Batch        int       // operations in a sample
	Wait         unit.Time // of P1 before timer12 (delta); or how far ahead ranks agree on a start
	Pair         [2]int    // the ranks P1 and P2 of an experiment with several pairs; else zero
}

// CommandWords is the length of a command in numbers.
const CommandWords = 10

// Words returns a command as numbers, in which form it is sent to ranks.
func (c Command) Words() [CommandWords]int64 {
	return [...]int64{int64(c.Stage), int64(c.Mode), int64(c.Algorithm), int64(c.Bytes), int64(c.WarmupRounds), int64(c.Rounds), int64(c.Batch), int64(c.Wait), int64(c.Pair[0]), int64(c.Pair[1])}
}

func commandFromWords(w [CommandWords]int64) Command {
	return Command{int(w[0]), int(w[1]), int(w[2]), int(w[3]), int(w[4]), int(w[5]), int(w[6]), unit.Time(w[7]), [2]int{int(w[8]), int(w[9])}}
}

// workRank returns the rank of the i-th time of Result.Work.
func (c Command) workRank(i int) int {
	if c.Pair[0] != c.Pair[1] {
		return c.Pair[i]
	}
	return i
}

// RewarmRounds returns how many rounds with the second root do not count: it finds caches and
// branch predictors as the first root left them.
func (c Command) RewarmRounds() int { return min(c.WarmupRounds, 3, max(1, c.Rounds/2)) }

// Result is what a command brought.
type Result struct {
	// Times has a column for each timer of a pair with each root of the barrier: the first timer
	// with the root at P1, the same with the root at P2, the second timer, and so on. Of collective
	// operations it has a column for each rank, in which LateStartTime marks a late start.
	Times [][]unit.Time

	WarmupRound unit.Time // the shortest of the rounds that did not count, from barrier to barrier
	Elapsed     unit.Time // all rounds together

	// WorkTimes is what a fixed piece of work took each rank, or P1 and P2: the longer one of
	// before and after the rounds; none where the clock is not that of the processors.
	WorkTimes []unit.Time
}

// Worker is the ranks of a job, as the Scheduler sees them.
type Worker interface {
	// Execute lets all ranks do what a command says. An error ends the launch.
	Execute(Command) (Result, error)

	// Now reads a clock, by which a launch knows how much of its time is over.
	Now() unit.Time
}

// LateStartTime is the time of a rank that did not begin a collective operation with the others.
const LateStartTime unit.Time = -1

// StageTimers names the timers of each stage, in the order of Command.Stage.
func StageTimers() [][]string {
	var all [][]string
	for _, s := range stages {
		all = append(all, slices.Clone(s.timers))
	}
	return all
}
