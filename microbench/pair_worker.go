package microbench

import (
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model/unit"
)

// pairWorker executes commands on one rank of a pair. The scheduler runs at P1, which is the Worker
// and sends each command to P2.
type pairWorker struct {
	*pairComms
	plan             Plan
	clockReadTime    unit.Time // what a reading of the clock costs
	dither           clockDither
	measureFixedWork func(*mpi.Comm) unit.Time

	commandBuffer                          [8 * CommandWordCount]byte
	sendBuffer, receiveBuffer, bsendBuffer []byte // for all sizes: buffers that stay in place stay in the caches
}

// commandTag is the tag of commands, and of the time that the fixed piece of work took P2.
const commandTag = 2

func (p *Plan) newPairWorker(x *pairComms, step unit.Time) *pairWorker {
	w := &pairWorker{pairComms: x, plan: *p, measureFixedWork: measureFixedWork}
	most := slices.Max(slices.Concat(p.Sizes, p.RoundTripSizes, []int{warmupMessageBytes}))
	w.sendBuffer, w.receiveBuffer, w.bsendBuffer = newPrefaultedBuffer(most), newPrefaultedBuffer(most), newPrefaultedBuffer(4*(most+mpi.BsendOverhead))
	w.clockReadTime, w.dither = measureClockReadTime(x.commsByBarrierRoot[0]), newDither(x.commsByBarrierRoot[0], step)
	return w
}

// newPrefaultedBuffer returns a buffer of n bytes whose pages have been written to.
func newPrefaultedBuffer(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// measureFixedWork returns the time of a fixed piece of work; 0 if the clock is not that of this
// machine.
func measureFixedWork(c *mpi.Comm) unit.Time {
	begin := c.Wtime()
	runtime.KeepAlive(host.RunPaceWork())
	return c.Wtime() - begin
}

func (w *pairWorker) Now() unit.Time { return w.commsByBarrierRoot[0].Wtime() }

// Execute executes a command on both ranks. P1 calls it.
func (w *pairWorker) Execute(c Command) (CommandResult, error) {
	w.sendCommand(c)
	r := w.executeOnThisRank(c)
	mpi.Recv(w.commsByBarrierRoot[0], w.commandBuffer[:8], 1, commandTag)
	if work := decodeTime(w.commandBuffer[:]); r.FixedWorkTimes[0] > 0 && work > 0 {
		r.FixedWorkTimes = append(r.FixedWorkTimes, work)
	} else {
		r.FixedWorkTimes = nil
	}
	return r, nil
}

// stopPeer ends followP1Commands on P2, by a command with a stage that does not exist.
func (w *pairWorker) stopPeer() { w.sendCommand(Command{StageIndex: len(stages)}) }

func (w *pairWorker) sendCommand(c Command) {
	raw := w.commandBuffer[:0]
	for _, n := range c.EncodeWords() {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
	}
	mpi.Send(w.commsByBarrierRoot[0], raw, 1, commandTag)
}

// followP1Commands executes the commands of P1 until it stops P2.
func (w *pairWorker) followP1Commands() {
	for {
		mpi.Recv(w.commsByBarrierRoot[0], w.commandBuffer[:], 0, commandTag)
		var words [CommandWordCount]int64
		for i := range words {
			words[i] = int64(binary.LittleEndian.Uint64(w.commandBuffer[8*i:]))
		}
		c := decodeCommand(words)
		if c.StageIndex == len(stages) {
			return
		}
		r := w.executeOnThisRank(c)
		encodeTime(w.commandBuffer[:], r.FixedWorkTimes[0])
		mpi.Send(w.commsByBarrierRoot[0], w.commandBuffer[:8], 0, commandTag)
	}
}

// executeOnThisRank executes a command on this rank. The result of P1 has the times of both ranks,
// but only the work of this rank.
func (w *pairWorker) executeOnThisRank(c Command) CommandResult {
	before := w.measureFixedWork(w.commsByBarrierRoot[0])
	w.clockReadTime = min(w.clockReadTime, meanClockReadTime(w.commsByBarrierRoot[0])) // the launch may have begun in a slow moment
	cell := Cell{modeNameAt(c.ModeOrOperationIndex), c.Bytes}
	w.plan.Delta, w.plan.WarmupRounds = c.DeltaOrStartLead, 0
	b := w.pairComms.newBenchmark(&w.plan, cell)
	b.clockReadTime, b.dither, b.operationsPerSample = w.clockReadTime, &w.dither, c.OperationsPerSample
	if c.Bytes > len(w.sendBuffer) {
		w.sendBuffer, w.receiveBuffer, w.bsendBuffer = newPrefaultedBuffer(c.Bytes), newPrefaultedBuffer(c.Bytes), newPrefaultedBuffer(4*(c.Bytes+mpi.BsendOverhead))
	}
	b.sendBuffer, b.receiveBuffer = w.sendBuffer[:c.Bytes], w.receiveBuffer[:c.Bytes]
	b.attachBsendBuffer(w.bsendBuffer)
	defer b.detachBsendBuffer()
	begin := w.Now()
	if c.Rounds == 0 {
		// No wait: the first rounds take much longer than those that follow, and a wait that begins
		// with them lasts.
		w.plan.WarmupRounds, w.plan.Delta = c.WarmupRounds, 1
		b.barrierRootIndex, b.barrierComm = 0, w.commsByBarrierRoot[0]
		timeAlTawilMoritzTimers(b, 0)
		return CommandResult{WarmupRoundTime: b.warmupRoundTime, AllRoundsDuration: w.Now() - begin, FixedWorkTimes: []unit.Time{before}}
	}
	s, warm := stages[c.StageIndex], c.WarmupRounds
	for i, root := range w.commsByBarrierRoot {
		b.barrierRootIndex, b.barrierComm = i, root
		b.discardsSamples = true
		s.runOnPair(b, warm)
		warm = c.P2RootWarmupRounds()
		b.discardsSamples = false
		s.runOnPair(b, c.Rounds)
	}
	r := CommandResult{AllRoundsDuration: w.Now() - begin, FixedWorkTimes: []unit.Time{max(before, w.measureFixedWork(w.commsByBarrierRoot[0]))}}
	b.collectSamples()
	for _, t := range b.timers {
		r.TimeColumns = append(r.TimeColumns, t.samplesByBarrierRoot[0], t.samplesByBarrierRoot[1])
	}
	return r
}

// modeIndex returns the index of a mode in the table, or its length for low-level messages.
func modeIndex(name string) int {
	i := slices.IndexFunc(sendModes, func(m sendMode) bool { return m.Name == name })
	if i < 0 {
		return len(sendModes)
	}
	return i
}

func modeNameAt(i int) string {
	if i < len(sendModes) {
		return sendModes[i].Name
	}
	return LowLevelMode
}

// allPairsWorker is one rank of a job in which one pair of ranks at a time executes commands. The
// scheduler runs at rank 0, which is the Worker. It tells two ranks that they are the pair; the
// others sleep.
type allPairsWorker struct {
	*Experiment
	comm        *mpi.Comm
	currentPair [2]int      // the same rank twice: none
	localWorker *pairWorker // of this rank, if it is in the pair
}

// Tags of what rank 0 tells ranks beside commands, and of results.
const (
	// pairSelectionTag is the tag of the ranks of a pair, and resultTag that of results.
	pairSelectionTag = commandTag + 1 + iota
	resultTag
)

// pairSelectionPollInterval is how long a rank sleeps between two checks whether it is in the next
// pair.
const pairSelectionPollInterval = 200 * unit.Microsecond

func (w *allPairsWorker) Now() unit.Time { return w.comm.Wtime() }

// Execute lets the pair of a command execute it. Rank 0 calls it.
func (w *allPairsWorker) Execute(c Command) (CommandResult, error) {
	w.selectPair(c.Pair)
	if w.localWorker != nil { // as P1, which is the lower rank
		return w.localWorker.Execute(c)
	}
	words := c.EncodeWords()
	mpi.Send(w.comm, words[:], c.Pair[0], commandTag)
	raw := make([]int64, w.comm.Probe(c.Pair[0], resultTag).Bytes/8)
	mpi.Recv(w.comm, raw, c.Pair[0], resultTag)
	return decodeResult(raw), nil
}

// selectPair makes a pair the current one.
func (w *allPairsWorker) selectPair(pair [2]int) {
	if pair == w.currentPair {
		return
	}
	w.stopCurrentPair()
	for _, r := range pair {
		if r != rootRank {
			mpi.Send(w.comm, []int64{int64(pair[0]), int64(pair[1])}, r, pairSelectionTag)
		}
	}
	w.currentPair, w.localWorker = pair, w.newWorkerIfInPair(pair)
}

// newWorkerIfInPair returns the worker of this rank, or nil if it is not in the pair.
func (w *allPairsWorker) newWorkerIfInPair(pair [2]int) *pairWorker {
	if !slices.Contains(pair[:], w.comm.Rank()) {
		return nil
	}
	return w.newPairWorker(createPairComms(w.comm, pair[0], pair[1], func(g mpi.Group) *mpi.Comm { return w.comm.CreateGroup(g, 0) }), w.ClockStep)
}

// stopCurrentPair ends the current pair.
func (w *allPairsWorker) stopCurrentPair() {
	if w.currentPair[0] == w.currentPair[1] {
		return
	}
	if w.localWorker != nil {
		w.localWorker.stopPeer()
	} else {
		end := Command{StageIndex: len(stages)}.EncodeWords()
		mpi.Send(w.comm, end[:], w.currentPair[0], commandTag)
	}
	w.currentPair, w.localWorker = [2]int{}, nil
}

// stopRanks ends followRootCommands on all other ranks.
func (w *allPairsWorker) stopRanks() {
	w.stopCurrentPair()
	for r := 1; r < w.comm.Size(); r++ {
		mpi.Send(w.comm, []int64{0, 0}, r, pairSelectionTag)
	}
}

// followRootCommands takes part in the pairs that rank 0 selects until it stops the ranks.
func (w *allPairsWorker) followRootCommands() {
	for {
		for _, there := w.comm.Iprobe(rootRank, pairSelectionTag); !there; _, there = w.comm.Iprobe(rootRank, pairSelectionTag) {
			w.comm.Compute(pairSelectionPollInterval)
		}
		var pair [2]int64
		mpi.Recv(w.comm, pair[:], rootRank, pairSelectionTag)
		if pair[0] == pair[1] {
			return
		}
		if me := w.newWorkerIfInPair([2]int{int(pair[0]), int(pair[1])}); me.isP1 {
			w.executeAsP1(me)
		} else {
			me.followP1Commands()
		}
	}
}

// executeAsP1 executes the commands of rank 0 as P1 of a pair.
func (w *allPairsWorker) executeAsP1(me *pairWorker) {
	for {
		var words [CommandWordCount]int64
		mpi.Recv(w.comm, words[:], rootRank, commandTag)
		c := decodeCommand(words)
		if c.StageIndex == len(stages) {
			me.stopPeer()
			return
		}
		r, _ := me.Execute(c)
		mpi.Send(w.comm, r.encodeWords(), rootRank, resultTag)
	}
}

// encodeWords encodes a result.
func (r CommandResult) encodeWords() []int64 {
	words := []int64{int64(r.WarmupRoundTime), int64(r.AllRoundsDuration)}
	for _, column := range append([][]unit.Time{r.FixedWorkTimes}, r.TimeColumns...) {
		words = append(words, int64(len(column)))
		for _, t := range column {
			words = append(words, int64(t))
		}
	}
	return words
}

// decodeResult decodes a result.
func decodeResult(words []int64) CommandResult {
	r := CommandResult{WarmupRoundTime: unit.Time(words[0]), AllRoundsDuration: unit.Time(words[1])}
	var columns [][]unit.Time
	for words = words[2:]; len(words) > 0; words = words[1+len(columns[len(columns)-1]):] {
		column := make([]unit.Time, words[0])
		for i := range column {
			column[i] = unit.Time(words[1+i])
		}
		columns = append(columns, column)
	}
	r.FixedWorkTimes, r.TimeColumns = columns[0], columns[1:]
	return r
}
