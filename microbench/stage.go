package microbench

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// sendMode is a send mode with its MPI call.
type sendMode struct {
	sample.Mode
	send  func(c *mpi.Comm, b []byte, dst, tag int)             // blocking
	start func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request // non-blocking
}

// modes has the modes of sample.Modes: MPI's eight sends and the low-level message.
var modes = func() []sendMode {
	sends := map[string]func(c *mpi.Comm, b []byte, dst, tag int){
		"send": mpi.Send[byte], "ssend": mpi.Ssend[byte], "rsend": mpi.Rsend[byte], "bsend": mpi.Bsend[byte],
		LowLevelMessage: func(c *mpi.Comm, b []byte, dst, _ int) { c.Messages().Send(b, dst) },
	}
	starts := map[string]func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request{
		"isend": mpi.Isend[byte], "issend": mpi.Issend[byte], "irsend": mpi.Irsend[byte], "ibsend": mpi.Ibsend[byte],
	}
	var list []sendMode
	for _, m := range sample.Modes {
		list = append(list, sendMode{m, sends[m.Name], starts[m.Name]})
	}
	return list
}()

// Modes returns the names of MPI's eight sends.
func Modes() []string {
	return slices.DeleteFunc(sample.ModeNames(), func(name string) bool { return name == LowLevelMessage })
}

func modeNamed(name string) *sendMode {
	i := sample.ModeIndex(name)
	if i == len(modes) {
		panic("microbench: no mode " + name)
	}
	return &modes[i]
}

// stage is a part of the benchmark of a cell, with the timers that the same rounds give.
type stage struct {
	timers        []string
	hasMode       func(m *sendMode, p *Plan) bool    // whether the stage applies to a mode
	roundsForReps func(reps int) int                 // rounds with each root for a number of repetitions
	run           func(b *pairBenchmark, rounds int) // on both ranks of a pair

	roundTimesWholeBatch  bool // one round is a batch; else each operation of a batch is a round
	intervalsPerOperation int  // between the readings of the clock
	realMachineOnly       bool // is measured on real machines alone

	// Of collective operations, instead of run:
	timeRound      func(w *collectiveWorker, window unit.Time) unit.Time
	summarizeRanks func(ranks []unit.Time) []unit.Time // the samples of a round from the ascending times of all ranks; nil: the round does not count
}

func (s *stage) hasTimer(timer string) bool { return slices.Contains(s.timers, timer) }

// isCollective reports whether the stage is for collective operations.
func (s *stage) isCollective() bool { return s.timeRound != nil }

// repsDivisor says how much less often than the paper's timers the others are repeated.
const repsDivisor = 4

// stages is the table of stages. Command.Stage is an index.
var stages []*stage

func init() { // the functions of collective operations name the table
	stages = []*stage{
		{timers: []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22}, hasMode: appliesToAllModes, roundsForReps: allReps, run: timePingPong, intervalsPerOperation: 1},
		{timers: []string{sample.TimerIdle}, hasMode: appliesToAllModes, roundsForReps: fourthOfReps, run: timeIdleSend, intervalsPerOperation: 1},
		{timers: []string{sample.TimerRTT}, hasMode: hasRoundTrip, roundsForReps: fourthOfReps, run: timeRoundTrip, roundTimesWholeBatch: true, intervalsPerOperation: 1},
		{timers: []string{sample.TimerTrain}, hasMode: canStream, roundsForReps: sixteenthOfReps, run: timeBurst, intervalsPerOperation: BurstLength - 1},
		{timers: []string{sample.TimerSender, sample.TimerOneWay}, hasMode: hasProtocolTimes, roundsForReps: allReps, run: timeDelivery, intervalsPerOperation: 1},
		{timers: []string{sample.TimerGet, sample.TimerPut}, hasMode: hasRemoteMemory, roundsForReps: fourthOfReps, run: timeRemoteMemory, intervalsPerOperation: 1},
		{timers: []string{sample.TrainTimer(RoundTripTrainLength)}, hasMode: canStream, roundsForReps: sixteenthOfReps, run: timeRoundTripTrain, intervalsPerOperation: 1, realMachineOnly: true},
		{timers: []string{sample.SpacedTrainTimer(RoundTripTrainLength)}, hasMode: canStream, roundsForReps: sixteenthOfReps, run: timeSpacedTrain, intervalsPerOperation: 1, realMachineOnly: true},
		{timers: []string{sample.TimerCollMin, sample.TimerCollMedian, sample.TimerCollMax}, timeRound: timeAfterBarrier, summarizeRanks: minMedianMax, roundsForReps: allReps},
		{timers: []string{sample.TimerCollLast}, timeRound: timeFromAgreedStart, summarizeRanks: slowestRank, roundsForReps: allReps},
	}
}

func allReps(reps int) int         { return reps }
func fourthOfReps(reps int) int    { return max(1, reps/repsDivisor) }
func sixteenthOfReps(reps int) int { return max(min(reps, 10), reps/repsDivisor/4) }

func appliesToAllModes(*sendMode, *Plan) bool { return true }
func hasRoundTrip(m *sendMode, p *Plan) bool {
	return m.Blocking && !m.Ready || p.SharedMachine && m.Name == "isend"
}

// hasProtocolTimes reports whether sender and delivery times are measured.
func hasProtocolTimes(m *sendMode, p *Plan) bool {
	return p.Protocol != "" || p.MeasureDelivery && m.Name != LowLevelMessage
}

// hasRemoteMemory reports whether remote memory access is measured, along with low-level messages.
// A rank whose port has no remote memory skips the stage.
func hasRemoteMemory(m *sendMode, _ *Plan) bool { return m.Name == LowLevelMessage }

// canStream reports whether messages of the mode can follow each other: a send neither needs a
// posted receive nor waits for one.
func canStream(m *sendMode, _ *Plan) bool {
	return m.Name == LowLevelMessage || m.Name == "send" || m.Name == "isend"
}

// stageIndices returns the indices of the stages of a mode.
func (p *Plan) stageIndices(m *sendMode) []int {
	var all []int
	for i, s := range stages {
		if !s.isCollective() && s.hasMode(m, p) && (p.SharedMachine || !s.realMachineOnly) && (p.Timers == nil || slices.ContainsFunc(p.Timers, s.hasTimer)) {
			all = append(all, i)
		}
	}
	return all
}

// stageWithTimer returns the index of the stage that has a timer.
func stageWithTimer(timer string) int {
	return slices.IndexFunc(stages, func(s *stage) bool { return s.hasTimer(timer) })
}
