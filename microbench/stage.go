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
	blockingSend    func(c *mpi.Comm, b []byte, dst, tag int)             // blocking
	nonblockingSend func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request // non-blocking
}

// sendModes has the modes of sample.SendModeNames. Accesses to windows warm up by messages.
var sendModes = func() []sendMode {
	sends := map[string]func(c *mpi.Comm, b []byte, dst, tag int){
		"send": mpi.Send[byte], "ssend": mpi.Ssend[byte], "rsend": mpi.Rsend[byte], "bsend": mpi.Bsend[byte],
		LowLevelMode: func(c *mpi.Comm, b []byte, dst, _ int) { c.LowLevelMessages().Send(b, dst) },
		"put":        mpi.Send[byte], "get": mpi.Send[byte],
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

// SendModeNames returns the names of MPI's eight sends.
func SendModeNames() []string {
	return slices.DeleteFunc(sample.ModeNames(), func(name string) bool { return name == LowLevelMode || sample.IsOneSidedMode(name) })
}

// OptionalModeNames returns the names of the modes that are measured only if they are asked for.
func OptionalModeNames() []string {
	return slices.DeleteFunc(sample.ModeNames(), func(name string) bool { return slices.Contains(SendModeNames(), name) })
}

func findSendMode(name string) *sendMode {
	i := sample.ModeIndex(name)
	if i == len(sendModes) {
		panic("microbench: no mode " + name)
	}
	return &sendModes[i]
}

// stage is a part of the benchmark of a cell, with the timers that the same rounds give.
type stage struct {
	timers        []string
	appliesToMode func(m *sendMode, p *Plan) bool    // whether the stage applies to a mode
	roundsForReps func(reps int) int                 // rounds with each root for a number of repetitions
	runOnPair     func(b *pairBenchmark, rounds int) // on both ranks of a pair

	hasOneSamplePerRound       bool // one round is a batch; else each operation of a batch is a round
	operationsPerTimedInterval int  // between the readings of the clock
	isRealMachineOnly          bool // is measured on real machines alone
	isOptional                 bool // it is measured only if the plan names one of its timers

	// Of collective operations, instead of run:
	runOnCollectiveRank func(w *collectiveWorker, startLead unit.Time) unit.Time
	summarizeRankTimes  func(ranks []unit.Time) []unit.Time // the samples of a round from the ascending times of all ranks; nil: the round does not count
}

func (s *stage) hasTimer(timer string) bool { return slices.Contains(s.timers, timer) }

// isCollective reports whether the stage is for collective operations.
func (s *stage) isCollective() bool { return s.runOnCollectiveRank != nil }

// extraTimerRepsDivisor says how much less often than the paper's timers the others are
// repeated.
const extraTimerRepsDivisor = 4

// stages is the table of stages. Command.StageIndex is an index.
var stages = []*stage{
	{timers: []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22}, appliesToMode: isTwoSidedMode, roundsForReps: roundsForAllReps, runOnPair: timeAlTawilMoritzTimers, operationsPerTimedInterval: 1},
	{timers: []string{sample.TimerIdle}, appliesToMode: isTwoSidedMode, roundsForReps: roundsForQuarterOfReps, runOnPair: timeIdleSend, operationsPerTimedInterval: 1},
	{timers: []string{sample.TimerRTT}, appliesToMode: measuresRoundTrips, roundsForReps: roundsForQuarterOfReps, runOnPair: timeRoundTrip, hasOneSamplePerRound: true, operationsPerTimedInterval: 1},
	{timers: []string{sample.TimerTrain}, appliesToMode: canSendInTrains, roundsForReps: roundsForSixteenthOfReps, runOnPair: timeBurst, operationsPerTimedInterval: MessagesPerBurst - 1},
	{timers: []string{sample.TimerSender, sample.TimerOneWay}, appliesToMode: measuresDeliveryTimes, roundsForReps: roundsForAllReps, runOnPair: timeDelivery, operationsPerTimedInterval: 1},
	{timers: []string{sample.TimerGet, sample.TimerPut}, appliesToMode: isLowLevelMode, roundsForReps: roundsForQuarterOfReps, runOnPair: timeRemoteReadAndWrite, operationsPerTimedInterval: 1},
	{timers: []string{sample.TrainTimer(MessagesPerRoundTripTrain)}, appliesToMode: canSendInTrains, roundsForReps: roundsForSixteenthOfReps, runOnPair: timeRoundTripTrain, operationsPerTimedInterval: 1, isRealMachineOnly: true},
	{timers: []string{sample.SpacedTrainTimer(MessagesPerRoundTripTrain)}, appliesToMode: canSendInTrains, roundsForReps: roundsForSixteenthOfReps, runOnPair: timeSpacedTrain, operationsPerTimedInterval: 1, isRealMachineOnly: true},
	{timers: []string{sample.TimerCollMin, sample.TimerCollMedian, sample.TimerCollMax}, runOnCollectiveRank: timeCollectiveAfterBarrier, summarizeRankTimes: minMedianMaxOverRanks, roundsForReps: roundsForAllReps},
	{timers: []string{sample.TimerCollLast}, runOnCollectiveRank: timeCollectiveFromAgreedStart, summarizeRankTimes: slowestRankTime, roundsForReps: roundsForAllReps},
	{timers: []string{sample.TimerPut, sample.TimerFlush}, appliesToMode: appliesOnlyToMode("put"), roundsForReps: roundsForAllReps, runOnPair: timeWindowPut, operationsPerTimedInterval: 1},
	{timers: []string{sample.TimerGet, sample.TimerFlush}, appliesToMode: appliesOnlyToMode("get"), roundsForReps: roundsForAllReps, runOnPair: timeWindowGet, operationsPerTimedInterval: 1},
	{timers: []string{sample.TimerStream}, appliesToMode: appliesOnlyToMode("isend"), roundsForReps: roundsForSixteenthOfReps, runOnPair: timeStream, operationsPerTimedInterval: MessagesPerStreamWindow, isOptional: true},
	{timers: []string{sample.TimerStreamBoth}, appliesToMode: appliesOnlyToMode("isend"), roundsForReps: roundsForSixteenthOfReps, runOnPair: timeBidirectionalStream, operationsPerTimedInterval: MessagesPerStreamWindow, isOptional: true},
}

func roundsForAllReps(reps int) int       { return reps }
func roundsForQuarterOfReps(reps int) int { return max(1, reps/extraTimerRepsDivisor) }
func roundsForSixteenthOfReps(reps int) int {
	return max(min(reps, 10), reps/extraTimerRepsDivisor/4)
}

// isTwoSidedMode reports whether the messages of a mode are received: those of all modes but put
// and get.
func isTwoSidedMode(m *sendMode, _ *Plan) bool { return !m.OneSided }
func appliesOnlyToMode(name string) func(*sendMode, *Plan) bool {
	return func(m *sendMode, _ *Plan) bool { return m.Name == name }
}
func measuresRoundTrips(m *sendMode, p *Plan) bool {
	return m.Blocking && !m.Ready && !m.OneSided || p.IsRealMachine && m.Name == "isend"
}

// measuresDeliveryTimes reports whether sender and delivery times are measured.
func measuresDeliveryTimes(m *sendMode, p *Plan) bool {
	return p.ForcedProtocol != "" || p.MeasuresDeliveryTimes && m.Name != LowLevelMode && !m.OneSided
}

// isLowLevelMode reports whether remote memory access is measured, along with low-level
// messages. A rank whose port has no remote memory skips the stage.
func isLowLevelMode(m *sendMode, _ *Plan) bool { return m.Name == LowLevelMode }

// canSendInTrains reports whether messages of the mode can follow each other: a send neither needs
// a posted receive nor waits for one.
func canSendInTrains(m *sendMode, _ *Plan) bool {
	return m.Name == LowLevelMode || m.Name == "send" || m.Name == "isend"
}

// stageIndices returns the indices of the stages of a mode.
func (p *Plan) stageIndices(m *sendMode) []int {
	var all []int
	for i, s := range stages {
		if !s.isCollective() && s.appliesToMode(m, p) && (p.IsRealMachine || !s.isRealMachineOnly) && (p.Timers == nil && !s.isOptional || slices.ContainsFunc(p.Timers, s.hasTimer)) {
			all = append(all, i)
		}
	}
	return all
}

// firstStageIndexOfTimer returns the index of the stage that has a timer.
func firstStageIndexOfTimer(timer string) int {
	return slices.IndexFunc(stages, func(s *stage) bool { return s.hasTimer(timer) })
}
