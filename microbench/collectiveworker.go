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
	c       *mpi.Comm // of barriers, of what is agreed on and of what is gathered
	tuned   *mpi.Comm // of what is measured
	reading unit.Time // what it costs to read a real clock

	doing   Command // at hand
	call    func()
	in, out []byte // for all cells, so that they stay where they were: in the caches

	round  unit.Time // of the rounds that do not count the shortest; the longest if nothing else holds rounds up
	words  [CommandWords]int64
	times  []int64 // of this rank
	all    []int64 // of all ranks, at rank 0
	memory runtime.MemStats
	kept   uint64 // bytes in use when garbage was collected last
}

func (e *Experiment) collectiveWorker(comm *mpi.Comm) *collectiveWorker {
	w := &collectiveWorker{Experiment: e, c: comm, tuned: comm.Dup(), doing: resting(0)}
	w.call = w.c.Barrier
	for _, x := range e.Collectives {
		in, out := x.rooms()
		w.in, w.out = grown(w.in, in), grown(w.out, out)
	}
	if e.Shared {
		w.reading = calibrate(comm)
	}
	return w
}

// grown returns a buffer of at least n bytes whose pages have all been written to.
func grown(b []byte, n int) []byte {
	if n <= len(b) {
		return b
	}
	return touched(n)
}

// root is the rank that gives, or gets.
const root = 0

// resting is a command of rounds behind barriers in which nothing is done but a barrier, untuned.
func resting(rounds int) Command {
	return Command{Stage: behindBarrierStage, Mode: int(collective.Barrier), Algorithm: -1, Rounds: rounds, Batch: 1}
}

const behindBarrierStage, atOnceStage = 8, 9

// take takes up what a command is of.
func (w *collectiveWorker) take(c Command) {
	before := w.doing
	w.doing = c
	if c.Mode == before.Mode && c.Algorithm == before.Algorithm && c.Bytes == before.Bytes {
		return
	}
	if c.Algorithm < 0 {
		w.call = w.c.Barrier
		return
	}
	x := w.Collectives[slices.IndexFunc(w.Collectives, func(x CollectiveCell) bool {
		return int(x.Operation) == c.Mode && x.number() == c.Algorithm && x.Bytes == c.Bytes
	})]
	w.tuned.Tune([]collective.Rule{{Operation: x.Operation, Bytes: -1, Algorithm: x.Name}})
	in, out := x.rooms()
	w.call = calling(w.tuned, x, x.buffer(w.in[:in]), x.buffer(w.out[:out]))
}

// buffer describes the data of blocks to MPI: elements that are combined, or bytes. It counts the
// elements of one.
func (c CollectiveCell) buffer(b []byte) mpi.Buffer {
	x := mpi.Buffer{Bytes: b, Count: c.Bytes, Type: mpi.Byte}
	if c.Unit == 8 {
		x.Count, x.Type = c.Bytes/c.Unit, mpi.Float64
	}
	return x
}

// calling returns how a rank calls the operation.
func calling(c *mpi.Comm, x CollectiveCell, in, out mpi.Buffer) func() {
	switch x.Operation {
	case collective.Barrier:
		return c.Barrier
	case collective.Bcast:
		return func() { c.Bcast(out, root) }
	case collective.Scatter:
		return func() { c.Scatter(in, out, root) }
	case collective.Gather:
		return func() { c.Gather(in, out, root) }
	case collective.Allgather:
		return func() { c.Allgather(in, out) }
	case collective.Alltoall:
		return func() { c.Alltoall(in, out) }
	case collective.Reduce:
		return func() { c.Reduce(in, out, mpi.Sum, root) }
	case collective.Allreduce:
		return func() { c.Allreduce(in, out, mpi.Sum) }
	case collective.Scan:
		return func() { c.Scan(in, out, mpi.Sum) }
	}
	counts := slices.Repeat([]int{out.Count}, c.Size())
	return func() { c.ReduceScatter(in, out, counts, mpi.Sum) }
}

func (w *collectiveWorker) Now() unit.Time { return w.c.Wtime() }

// Do does a command on all ranks. It is called at rank 0.
func (w *collectiveWorker) Do(c Command) (Result, error) {
	w.words = c.Words()
	w.c.Bcast(mpi.Of(w.words[:]), root)
	begin := w.Now()
	w.do(c)
	r := Result{Round: w.round, Took: w.Now() - begin, Times: make([][]unit.Time, w.c.Size())}
	for i, t := range w.all {
		if c.Rounds > 0 {
			r.Times[i/c.Rounds] = append(r.Times[i/c.Rounds], unit.Time(t))
		}
	}
	return r, nil
}

// end lets the other ranks end.
func (w *collectiveWorker) end() {
	w.words = Command{Stage: len(stages)}.Words()
	w.c.Bcast(mpi.Of(w.words[:]), root)
}

// follow does what rank 0 broadcasts until it is to end.
func (w *collectiveWorker) follow() {
	for {
		w.c.Bcast(mpi.Of(w.words[:]), root)
		c := commandOf(w.words)
		if c.Stage == len(stages) {
			return
		}
		w.do(c)
	}
}

// do goes through the rounds of a command, and brings the times of those that count to rank 0.
func (w *collectiveWorker) do(c Command) {
	w.take(c)
	w.tidy()
	w.warm(c.Warm)
	w.times = w.times[:0]
	for range c.Rounds {
		w.times = append(w.times, int64(stages[c.Stage].round(w, c.Wait)))
	}
	if c.Rounds > 0 {
		w.gather()
	}
}

// warm goes through rounds that do not count, and notes how long one takes from barrier to barrier.
func (w *collectiveWorker) warm(rounds int) {
	w.c.Barrier()
	for i := range rounds {
		begin := w.c.Wtime()
		w.call()
		w.c.Barrier()
		switch d := w.c.Wtime() - begin; {
		case i == 0:
			w.round = d
		case w.Shared:
			w.round = min(w.round, d)
		default:
			w.round = max(w.round, d)
		}
	}
}

// gather brings the times of all ranks to rank 0.
func (w *collectiveWorker) gather() {
	n := len(w.times)
	if w.c.Rank() != root {
		w.c.Gather(mpi.Of(w.times), mpi.Buffer{}, root)
		return
	}
	w.all = slices.Grow(w.all[:0], n*w.c.Size())[:n*w.c.Size()]
	all := mpi.Of(w.all)
	all.Count = n
	w.c.Gather(mpi.Of(w.times), all, root)
}

// garbage is how much of it a rank lets gather at most, in bytes.
const garbage = 64 << 20

// tidy collects garbage where there is much of it, so that none is while rounds are timed.
func (w *collectiveWorker) tidy() {
	if !w.Shared {
		return
	}
	if runtime.ReadMemStats(&w.memory); w.memory.HeapAlloc > w.kept+garbage {
		runtime.GC()
		runtime.ReadMemStats(&w.memory)
		w.kept = w.memory.HeapAlloc
	}
}

// ahead is how many rounds from barrier to barrier an agreed start is ahead: interfaces are free by
// then, and all ranks know of it.
const ahead = 2

// behindBarrier lets each rank begin when it leaves a barrier, and returns the time of its call. A
// rank that has finished stays quiet for as long as a round takes, until all have finished:
// otherwise ranks that are still in the operation would take in messages of the next one.
func behindBarrier(w *collectiveWorker, window unit.Time) unit.Time {
	w.c.Barrier()
	begin := w.c.Wtime()
	w.call()
	end := w.c.Wtime()
	w.compute(w.c, window/ahead)
	return max(0, end-begin-w.reading)
}

func spread(ranks []unit.Time) []unit.Time {
	n := len(ranks)
	low, high := ranks[(n-1)/2], ranks[n/2]
	return []unit.Time{ranks[0], low + (high-low)/2, ranks[n-1]}
}

// prompt is how long after the agreed time a rank may begin, or a step of the clock if that is
// longer: to read it a few times.
const prompt = 200 * unit.Nanosecond

// atOnce lets all ranks begin at the same time by their common clock, and returns how long after it
// this one has ended.
func atOnce(w *collectiveWorker, window unit.Time) unit.Time {
	begin := w.words[:1]
	begin[0] = int64(w.c.Wtime() + window)
	w.c.Bcast(mpi.Of(begin), root)
	start := unit.Time(begin[0])
	late := w.await(start) > max(prompt, w.Step)
	w.call()
	end := w.c.Wtime()
	if over := start + window/ahead; end < over {
		w.compute(w.c, over-end)
	}
	if late {
		return TooLate
	}
	return max(0, end-start-w.reading)
}

// await waits until a time, and returns how long after it that is.
func (w *collectiveWorker) await(start unit.Time) unit.Time {
	const watching = unit.Microsecond // before a start a rank looks at a real clock all the time
	now := w.c.Wtime()
	switch {
	case now > start:
	case w.Shared:
		w.compute(w.c, max(0, start-now-watching))
		for now = w.c.Wtime(); now < start; now = w.c.Wtime() {
		}
	default:
		// Ranks come to the end of the wait in the order of their numbers, by picoseconds that no
		// clock shows: where messages get somewhere at the same time, that order decides which is
		// the first, as in the model.
		order := min(start-now, unit.Time(w.c.Size()-w.c.Rank()))
		w.c.Compute(start - now - order)
		w.c.Compute(order)
		now = w.c.Wtime()
	}
	return now - start
}

func last(ranks []unit.Time) []unit.Time {
	if ranks[0] == TooLate {
		return nil
	}
	return ranks[len(ranks)-1:]
}
