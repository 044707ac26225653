package microbench

import (
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// collectiveWorker executes commands for collective operations on one rank. The scheduler runs at
// rank 0, which is the Worker and broadcasts each command.
type collectiveWorker struct {
	*Experiment
	controlComm   *mpi.Comm // for commands, barriers and results
	measuredComm  *mpi.Comm // for the operation, with its algorithm
	clockReadTime unit.Time // cost of reading a real clock

	currentCommand            Command // the command being executed
	operationCall             func()
	sendBuffer, receiveBuffer []byte // used for all cells, so that they stay in the caches

	warmupRoundTime unit.Time // shortest warm-up round on a shared machine, otherwise the longest
	commandWords    [CommandWordCount]int64
	localTimes      []int64 // of this rank
	gatheredTimes   []int64 // of all ranks, at rank 0
	memStats        runtime.MemStats
	heapAfterGC     uint64 // heap bytes after the last garbage collection
}

func (e *Experiment) newCollectiveWorker(comm *mpi.Comm) *collectiveWorker {
	w := &collectiveWorker{Experiment: e, controlComm: comm, measuredComm: comm.Dup(), currentCommand: newBarrierCommand(0)}
	w.operationCall = w.controlComm.Barrier
	for _, x := range e.Collectives {
		in, out := x.bufferSizes()
		w.sendBuffer, w.receiveBuffer = e.growBuffer(w.sendBuffer, in), e.growBuffer(w.receiveBuffer, out)
	}
	if e.IsRealMachine {
		w.clockReadTime = measureClockReadTime(comm)
	}
	return w
}

// growBuffer returns a buffer of at least n bytes: on a real machine one whose pages have been
// touched, and on an emulated one size-only data.
func (e *Experiment) growBuffer(b []byte, n int) []byte {
	switch {
	case n <= len(b):
		return b
	case e.IsRealMachine:
		return newPrefaultedBuffer(n)
	}
	return mpi.NewSizeOnlyBytes(n)
}

// rootRank is the root of all collective operations.
const rootRank = 0

// newBarrierCommand returns a command that only runs barriers, with the library's algorithm.
func newBarrierCommand(rounds int) Command {
	return Command{StageIndex: barrierStartStageIndex, ModeOrOperationIndex: int(collective.Barrier), AlgorithmIndex: -1, Rounds: rounds, OperationsPerSample: 1}
}

const barrierStartStageIndex, agreedStartStageIndex = 8, 9

// prepareOperation sets up the operation of a command.
func (w *collectiveWorker) prepareOperation(c Command) {
	before := w.currentCommand
	w.currentCommand = c
	if c.ModeOrOperationIndex == before.ModeOrOperationIndex && c.AlgorithmIndex == before.AlgorithmIndex && c.Bytes == before.Bytes {
		return
	}
	if c.AlgorithmIndex < 0 {
		w.operationCall = w.controlComm.Barrier
		return
	}
	x := w.Collectives[slices.IndexFunc(w.Collectives, func(x CollectiveCell) bool {
		return int(x.Operation) == c.ModeOrOperationIndex && w.algorithmIndex(x) == c.AlgorithmIndex && x.Bytes == c.Bytes
	})]
	w.measuredComm.SetCollectiveRules([]collective.Rule{{Operation: x.Operation, MaxBytes: -1, Algorithm: x.Name}})
	in, out := x.bufferSizes()
	w.operationCall = newOperationCall(w.measuredComm, x, x.mpiBuffer(w.sendBuffer[:in]), x.mpiBuffer(w.receiveBuffer[:out]))
}

// mpiBuffer describes blocks of data as a buffer of elements for a reduction, or of bytes. Its
// count is that of one block.
func (c CollectiveCell) mpiBuffer(b []byte) mpi.Buffer {
	x := mpi.Buffer{Bytes: b, Count: c.Bytes, Type: mpi.Uint8}
	if c.ElementBytes == 8 {
		x.Count, x.Type = c.Bytes/c.ElementBytes, mpi.Float64
	}
	return x
}

// newOperationCall returns a function that calls the operation on one rank.
func newOperationCall(c *mpi.Comm, x CollectiveCell, in, out mpi.Buffer) func() {
	switch x.Operation {
	case collective.Barrier:
		return c.Barrier
	case collective.Bcast:
		return func() { c.Bcast(out, rootRank) }
	case collective.Scatter:
		return func() { c.Scatter(in, out, rootRank) }
	case collective.Gather:
		return func() { c.Gather(in, out, rootRank) }
	case collective.Allgather:
		return func() { c.Allgather(in, out) }
	case collective.Alltoall:
		return func() { c.Alltoall(in, out) }
	case collective.Reduce:
		return func() { c.Reduce(in, out, mpi.Sum, rootRank) }
	case collective.Allreduce:
		return func() { c.Allreduce(in, out, mpi.Sum) }
	case collective.Scan:
		return func() { c.Scan(in, out, mpi.Sum) }
	}
	counts := slices.Repeat([]int{out.Count}, c.Size())
	return func() { c.ReduceScatter(in, out, counts, mpi.Sum) }
}

func (w *collectiveWorker) Now() unit.Time { return w.controlComm.Wtime() }

// Execute executes a command on all ranks. Rank 0 calls it.
func (w *collectiveWorker) Execute(c Command) (CommandResult, error) {
	w.commandWords = c.EncodeWords()
	w.controlComm.Bcast(mpi.BufferOf(w.commandWords[:]), rootRank)
	begin := w.Now()
	w.executeOnThisRank(c)
	r := CommandResult{WarmupRoundTime: w.warmupRoundTime, AllRoundsDuration: w.Now() - begin, TimeColumns: make([][]unit.Time, w.controlComm.Size())}
	for i, t := range w.gatheredTimes {
		if c.Rounds > 0 {
			r.TimeColumns[i/c.Rounds] = append(r.TimeColumns[i/c.Rounds], unit.Time(t))
		}
	}
	return r, nil
}

// stopRanks ends followRootCommands on the other ranks by a command with an invalid stage.
func (w *collectiveWorker) stopRanks() {
	w.commandWords = Command{StageIndex: len(stages)}.EncodeWords()
	w.controlComm.Bcast(mpi.BufferOf(w.commandWords[:]), rootRank)
}

// followRootCommands executes the commands of rank 0 until it stops the ranks.
func (w *collectiveWorker) followRootCommands() {
	for {
		w.controlComm.Bcast(mpi.BufferOf(w.commandWords[:]), rootRank)
		c := decodeCommand(w.commandWords)
		if c.StageIndex == len(stages) {
			return
		}
		w.executeOnThisRank(c)
	}
}

// executeOnThisRank runs the rounds of a command, and gathers the times of the counted rounds at
// rank 0.
func (w *collectiveWorker) executeOnThisRank(c Command) {
	w.prepareOperation(c)
	w.collectGarbage()
	w.runWarmupRounds(c.WarmupRounds)
	w.localTimes = w.localTimes[:0]
	for range c.Rounds {
		w.localTimes = append(w.localTimes, int64(stages[c.StageIndex].runOnCollectiveRank(w, c.DeltaOrStartLead)))
	}
	if c.Rounds > 0 {
		w.gatherTimes()
	}
}

// runWarmupRounds runs rounds that do not count, and records their time from barrier to barrier.
func (w *collectiveWorker) runWarmupRounds(rounds int) {
	w.controlComm.Barrier()
	for i := range rounds {
		begin := w.controlComm.Wtime()
		w.operationCall()
		w.controlComm.Barrier()
		switch d := w.controlComm.Wtime() - begin; {
		case i == 0:
			w.warmupRoundTime = d
		case w.IsRealMachine:
			w.warmupRoundTime = min(w.warmupRoundTime, d)
		default:
			w.warmupRoundTime = max(w.warmupRoundTime, d)
		}
	}
}

// gatherTimes gathers the times of all ranks at rank 0.
func (w *collectiveWorker) gatherTimes() {
	n := len(w.localTimes)
	if w.controlComm.Rank() != rootRank {
		w.controlComm.Gather(mpi.BufferOf(w.localTimes), mpi.Buffer{}, rootRank)
		return
	}
	w.gatheredTimes = slices.Grow(w.gatheredTimes[:0], n*w.controlComm.Size())[:n*w.controlComm.Size()]
	all := mpi.BufferOf(w.gatheredTimes)
	all.Count = n
	w.controlComm.Gather(mpi.BufferOf(w.localTimes), all, rootRank)
}

// maxGarbageBytes is the growth of the heap after which garbage is collected.
const maxGarbageBytes = 64 << 20

// collectGarbage collects garbage before timed rounds, if there is much.
func (w *collectiveWorker) collectGarbage() {
	if !w.IsRealMachine {
		return
	}
	if runtime.ReadMemStats(&w.memStats); w.memStats.HeapAlloc > w.heapAfterGC+maxGarbageBytes {
		runtime.GC()
		runtime.ReadMemStats(&w.memStats)
		w.heapAfterGC = w.memStats.HeapAlloc
	}
}

// agreedStartLeadInRounds is the lead time of an agreed start, in rounds from barrier to barrier.
// By the start all ranks know it and interfaces are idle.
const agreedStartLeadInRounds = 2

// timeCollectiveAfterBarrier makes each rank start when it leaves a barrier, and returns the time
// of its call. A rank that has finished then stays idle for the duration of a round, until all have
// finished. Otherwise ranks that are still in the operation would handle messages of the next one.
func timeCollectiveAfterBarrier(w *collectiveWorker, startLead unit.Time) unit.Time {
	w.controlComm.Barrier()
	begin := w.controlComm.Wtime()
	w.operationCall()
	end := w.controlComm.Wtime()
	w.computeInSlices(w.controlComm, startLead/agreedStartLeadInRounds)
	return max(0, end-begin-w.clockReadTime)
}

// minMedianMaxOverRanks returns the smallest, the median and the largest time of the ranks.
func minMedianMaxOverRanks(ranks []unit.Time) []unit.Time {
	n := len(ranks)
	low, high := ranks[(n-1)/2], ranks[n/2]
	return []unit.Time{ranks[0], low + (high-low)/2, ranks[n-1]}
}

// maxStartLateness is the largest delay of a rank after the agreed start, unless the clock's
// step is longer. It allows for a few readings of the clock.
const maxStartLateness = 200 * unit.Nanosecond

// timeCollectiveFromAgreedStart makes all ranks start at the same time of their common clock, and
// returns the time from then to the end on this rank.
func timeCollectiveFromAgreedStart(w *collectiveWorker, startLead unit.Time) unit.Time {
	begin := w.commandWords[:1]
	begin[0] = int64(w.controlComm.Wtime() + startLead)
	w.controlComm.Bcast(mpi.BufferOf(begin), rootRank)
	start := unit.Time(begin[0])
	late := w.waitUntil(start) > max(maxStartLateness, w.ClockStep)
	w.operationCall()
	end := w.controlComm.Wtime()
	if over := start + startLead/agreedStartLeadInRounds; end < over {
		w.computeInSlices(w.controlComm, over-end)
	}
	if late {
		return LateStartMarker
	}
	return max(0, end-start-w.clockReadTime)
}

// waitUntil waits until a time, and returns by how much the end of the wait was late.
func (w *collectiveWorker) waitUntil(start unit.Time) unit.Time {
	const watching = unit.Microsecond // before the start a rank polls a real clock continuously
	now := w.controlComm.Wtime()
	switch {
	case now > start:
	case w.IsRealMachine:
		w.computeInSlices(w.controlComm, max(0, start-now-watching))
		for now = w.controlComm.Wtime(); now < start; now = w.controlComm.Wtime() {
		}
	default:
		// Ranks finish the wait in the order of their numbers, by picoseconds that no clock shows.
		// If messages arrive at the same time, this order decides which is first, as in the model.
		order := min(start-now, unit.Time(w.controlComm.Size()-w.controlComm.Rank()))
		w.controlComm.Compute(start - now - order)
		w.controlComm.Compute(order)
		now = w.controlComm.Wtime()
	}
	return now - start
}

// slowestRankTime returns the time of the slowest rank, or nil if a rank was late.
func slowestRankTime(ranks []unit.Time) []unit.Time {
	if ranks[0] == LateStartMarker {
		return nil
	}
	return ranks[len(ranks)-1:]
}
