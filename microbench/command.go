package microbench

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Command says what all ranks of a job do next. Ranks keep no state between commands: the Scheduler
// alone decides what to measure, how often, and when to end.
type Command struct {
	StageIndex           int       // index in StageTimers
	ModeOrOperationIndex int       // index of SendModeNames, len(SendModeNames()) for low-level messages, or a collective.Operation
	AlgorithmIndex       int       // index among those of the collective operation; -1: the library chooses
	Bytes                int       // of a message or of a block
	WarmupRounds         int       // uncounted rounds before the counted ones
	Rounds               int       // with each root of the barrier; 0: only warm-up rounds, which are timed
	OperationsPerSample  int       // operations in a sample
	DeltaOrStartLead     unit.Time // delta, the wait of P1 before timer12; for collective operations the lead time of an agreed start
	Pair                 [2]int    // ranks P1 and P2, if several pairs are measured; otherwise zero
}

// CommandWordCount is the number of integers that encode a command.
const CommandWordCount = 10

// EncodeWords encodes a command for sending it to ranks.
func (c Command) EncodeWords() [CommandWordCount]int64 {
	return [...]int64{int64(c.StageIndex), int64(c.ModeOrOperationIndex), int64(c.AlgorithmIndex), int64(c.Bytes), int64(c.WarmupRounds), int64(c.Rounds), int64(c.OperationsPerSample), int64(c.DeltaOrStartLead), int64(c.Pair[0]), int64(c.Pair[1])}
}

// decodeCommand decodes a command.
func decodeCommand(w [CommandWordCount]int64) Command {
	return Command{int(w[0]), int(w[1]), int(w[2]), int(w[3]), int(w[4]), int(w[5]), int(w[6]), unit.Time(w[7]), [2]int{int(w[8]), int(w[9])}}
}

// rankMeasuringFixedWork returns the rank of the i-th time in CommandResult.FixedWorkTimes.
func (c Command) rankMeasuringFixedWork(i int) int {
	if c.Pair[0] != c.Pair[1] {
		return c.Pair[i]
	}
	return i
}

// P2RootWarmupRounds returns the number of warm-up rounds with the barrier's root at P2. A few
// suffice, because the rounds with the root at P1 have warmed up caches and branch predictors.
func (c Command) P2RootWarmupRounds() int { return min(c.WarmupRounds, 3, max(1, c.Rounds/2)) }

// CommandResult is the result of a command.
type CommandResult struct {
	// TimeColumns has two columns for each timer of a pair: with the barrier's root at P1 and at
	// P2. For collective operations it has a column for each rank, in which LateStartMarker marks
	// late starts.
	TimeColumns [][]unit.Time

	WarmupRoundTime   unit.Time // a warm-up round from barrier to barrier: the longest, or the shortest on a shared machine
	AllRoundsDuration unit.Time // all rounds together

	// FixedWorkTimes has the time of a fixed piece of work on each rank, or on P1 and P2: the
	// longer of those before and after the rounds. It is empty if the clock is not that of the
	// processors.
	FixedWorkTimes []unit.Time
}

// Worker is the interface of the Scheduler to the ranks of a job.
type Worker interface {
	// Execute executes a command on all ranks. An error ends the launch.
	Execute(Command) (CommandResult, error)

	// Now returns the time of the clock that limits a launch.
	Now() unit.Time
}

// LateStartMarker, in place of a time, says that a rank started a collective operation after the
// agreed start.
const LateStartMarker unit.Time = -1

// StageTimers returns the names of the timers of each stage, in the order of Command.StageIndex.
func StageTimers() [][]string {
	var all [][]string
	for _, s := range stages {
		all = append(all, slices.Clone(s.timers))
	}
	return all
}
