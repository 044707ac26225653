package microbench

import (
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// collectiveWorker is the ranks of a job that do commands of collective operations, as one of them
// sees it. Rank 0 has the scheduler and is the Worker; it broadcasts each command.
type collectiveWorker struct {
	*Experiment
	comm          *mpi.Comm // of barriers, of what is agreed on and of what is gathered
	measuredComm  *mpi.Comm // of what is measured
	clockReadTime unit.Time // what it costs to read a real clock

	command                   Command // at hand
	operation                 func()
	sendBuffer, receiveBuffer []byte // for all cells, so that they stay where they were: in the caches

	warmupRound   unit.Time // of the rounds that do not count the shortest; the longest if nothing else holds rounds up
	commandWords  [CommandWords]int64
	localTimes    []int64 // of this rank
	gatheredTimes []int64 // of all ranks, at rank 0
	memStats      runtime.MemStats
	heapAfterGC   uint64 // bytes in use when garbage was collected last
}

func (e *Experiment) newCollectiveWorker(comm *mpi.Comm) *collectiveWorker {
	w := &collectiveWorker{Experiment: e, comm: comm, measuredComm: comm.Dup(), command: barrierCommand(0)}
	w.operation = w.comm.Barrier
	for _, x := range e.Collectives {
		in, out := x.bufferSizes()
		w.sendBuffer, w.receiveBuffer = growBuffer(w.sendBuffer, in), growBuffer(w.receiveBuffer, out)
	}
	if e.SharedMachine {
		w.clockReadTime = measureClockReadTime(comm)
	}
	return w
}

// growBuffer returns a buffer of at least n bytes whose pages have all been written to.
func growBuffer(b []byte, n int) []byte {
	if n <= len(b) {
		return b
	}
	return newTouchedBuffer(n)
}

// rootRank is the rank that gives, or gets.
const rootRank = 0

// barrierCommand is a command of rounds behind barriers in which nothing is done but a barrier,
// untuned.
func barrierCommand(rounds int) Command {
	return Command{Stage: barrierStage, Mode: int(collective.Barrier), Algorithm: -1, Rounds: rounds, Batch: 1}
}

const barrierStage, agreedStartStage = 8, 9

// prepareOperation takes up what a command is of.
func (w *collectiveWorker) prepareOperation(c Command) {
	before := w.command
	w.command = c
	if c.Mode == before.Mode && c.Algorithm == before.Algorithm && c.Bytes == before.Bytes {
		return
	}
	if c.Algorithm < 0 {
		w.operation = w.comm.Barrier
		return
	}
	x := w.Collectives[slices.IndexFunc(w.Collectives, func(x CollectiveCell) bool {
		return int(x.Operation) == c.Mode && x.algorithmIndex() == c.Algorithm && x.Bytes == c.Bytes
	})]
	w.measuredComm.Tune([]collective.Rule{{Operation: x.Operation, Bytes: -1, Algorithm: x.Name}})
	in, out := x.bufferSizes()
	w.operation = operationCall(w.measuredComm, x, x.mpiBuffer(w.sendBuffer[:in]), x.mpiBuffer(w.receiveBuffer[:out]))
}

// mpiBuffer describes the data of blocks to MPI: elements that are combined, or bytes. It counts
// the elements of one.
func (c CollectiveCell) mpiBuffer(b []byte) mpi.Buffer {
	x := mpi.Buffer{Bytes: b, Count: c.Bytes, Type: mpi.Byte}
	if c.Unit == 8 {
		x.Count, x.Type = c.Bytes/c.Unit, mpi.Float64
	}
	return x
}

// operationCall returns how a rank calls the operation.
func operationCall(c *mpi.Comm, x CollectiveCell, in, out mpi.Buffer) func() {
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

func (w *collectiveWorker) Now() unit.Time { return w.comm.Wtime() }

// Execute does a command on all ranks. It is called at rank 0.
func (w *collectiveWorker) Execute(c Command) (Result, error) {
	w.commandWords = c.Words()
	w.comm.Bcast(mpi.Of(w.commandWords[:]), rootRank)
	begin := w.Now()
	w.execute(c)
	r := Result{WarmupRound: w.warmupRound, Elapsed: w.Now() - begin, Times: make([][]unit.Time, w.comm.Size())}
	for i, t := range w.gatheredTimes {
		if c.Rounds > 0 {
			r.Times[i/c.Rounds] = append(r.Times[i/c.Rounds], unit.Time(t))
		}
	}
	return r, nil
}

// stopRanks lets the other ranks end.
func (w *collectiveWorker) stopRanks() {
	w.commandWords = Command{Stage: len(stages)}.Words()
	w.comm.Bcast(mpi.Of(w.commandWords[:]), rootRank)
}

// followRoot does what rank 0 broadcasts until it is to end.
func (w *collectiveWorker) followRoot() {
	for {
		w.comm.Bcast(mpi.Of(w.commandWords[:]), rootRank)
		c := commandFromWords(w.commandWords)
		if c.Stage == len(stages) {
			return
		}
		w.execute(c)
	}
}

// execute goes through the rounds of a command, and brings the times of those that count to rank 0.
func (w *collectiveWorker) execute(c Command) {
	w.prepareOperation(c)
	w.collectGarbage()
	w.warmUp(c.WarmupRounds)
	w.localTimes = w.localTimes[:0]
	for range c.Rounds {
		w.localTimes = append(w.localTimes, int64(stages[c.Stage].timeRound(w, c.Wait)))
	}
	if c.Rounds > 0 {
		w.gatherTimes()
	}
}

// warmUp goes through rounds that do not count, and notes how long one takes from barrier to
// barrier.
func (w *collectiveWorker) warmUp(rounds int) {
	w.comm.Barrier()
	for i := range rounds {
		begin := w.comm.Wtime()
		w.operation()
		w.comm.Barrier()
		switch d := w.comm.Wtime() - begin; {
		case i == 0:
			w.warmupRound = d
		case w.SharedMachine:
			w.warmupRound = min(w.warmupRound, d)
		default:
			w.warmupRound = max(w.warmupRound, d)
		}
	}
}

// gatherTimes brings the times of all ranks to rank 0.
func (w *collectiveWorker) gatherTimes() {
	n := len(w.localTimes)
	if w.comm.Rank() != rootRank {
		w.comm.Gather(mpi.Of(w.localTimes), mpi.Buffer{}, rootRank)
		return
	}
	w.gatheredTimes = slices.Grow(w.gatheredTimes[:0], n*w.comm.Size())[:n*w.comm.Size()]
	all := mpi.Of(w.gatheredTimes)
	all.Count = n
	w.comm.Gather(mpi.Of(w.localTimes), all, rootRank)
}

// maxGarbageBytes is how much of it a rank lets gather at most, in bytes.
const maxGarbageBytes = 64 << 20

// collectGarbage collects garbage where there is much of it, so that none is while rounds are
// timed.
func (w *collectiveWorker) collectGarbage() {
	if !w.SharedMachine {
		return
	}
	if runtime.ReadMemStats(&w.memStats); w.memStats.HeapAlloc > w.heapAfterGC+maxGarbageBytes {
		runtime.GC()
		runtime.ReadMemStats(&w.memStats)
		w.heapAfterGC = w.memStats.HeapAlloc
	}
}

// startLeadRounds is how many rounds from barrier to barrier an agreed start is ahead: interfaces
// are free by then, and all ranks know of it.
const startLeadRounds = 2

// timeAfterBarrier lets each rank begin when it leaves a barrier, and returns the time of its call.
// A rank that has finished stays quiet for as long as a round takes, until all have finished:
// otherwise ranks that are still in the operation would take in messages of the next one.
func timeAfterBarrier(w *collectiveWorker, window unit.Time) unit.Time {
	w.comm.Barrier()
	begin := w.comm.Wtime()
	w.operation()
	end := w.comm.Wtime()
	w.waitFor(w.comm, window/startLeadRounds)
	return max(0, end-begin-w.clockReadTime)
}

func minMedianMax(ranks []unit.Time) []unit.Time {
	n := len(ranks)
	low, high := ranks[(n-1)/2], ranks[n/2]
	return []unit.Time{ranks[0], low + (high-low)/2, ranks[n-1]}
}

// maxStartDelay is how long after the agreed time a rank may begin, or a step of the clock if that
// is longer: to read it a few times.
const maxStartDelay = 200 * unit.Nanosecond

// timeFromAgreedStart lets all ranks begin at the same time by their common clock, and returns how
// long after it this one has ended.
func timeFromAgreedStart(w *collectiveWorker, window unit.Time) unit.Time {
	begin := w.commandWords[:1]
	begin[0] = int64(w.comm.Wtime() + window)
	w.comm.Bcast(mpi.Of(begin), rootRank)
	start := unit.Time(begin[0])
	late := w.waitUntil(start) > max(maxStartDelay, w.ClockStep)
	w.operation()
	end := w.comm.Wtime()
	if over := start + window/startLeadRounds; end < over {
		w.waitFor(w.comm, over-end)
	}
	if late {
		return LateStartTime
	}
	return max(0, end-start-w.clockReadTime)
}

// waitUntil waits until a time, and returns how long after it that is.
func (w *collectiveWorker) waitUntil(start unit.Time) unit.Time {
	const watching = unit.Microsecond // before a start a rank looks at a real clock all the time
	now := w.comm.Wtime()
	switch {
	case now > start:
	case w.SharedMachine:
		w.waitFor(w.comm, max(0, start-now-watching))
		for now = w.comm.Wtime(); now < start; now = w.comm.Wtime() {
		}
	default:
		// Ranks come to the end of the wait in the order of their numbers, by picoseconds that no
		// clock shows: where messages get somewhere at the same time, that order decides which is
		// the first, as in the model.
		order := min(start-now, unit.Time(w.comm.Size()-w.comm.Rank()))
		w.comm.Compute(start - now - order)
		w.comm.Compute(order)
		now = w.comm.Wtime()
	}
	return now - start
}

func slowestRank(ranks []unit.Time) []unit.Time {
	if ranks[0] == LateStartTime {
		return nil
	}
	return ranks[len(ranks)-1:]
}
