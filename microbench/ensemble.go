package microbench

import (
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// ensemble is one rank's side of measuring collective operations.
type ensemble struct {
	*Collectives
	c       *mpi.Comm // of barriers, of what is agreed on and of what is gathered
	tuned   *mpi.Comm // of what is measured
	reading unit.Time // what it costs to read a real clock

	cell    int // at hand
	call    func()
	in, out []byte // for all cells, so that they are where they were: in the caches

	round  unit.Time // of the rounds before those that count the longest, or the shortest where others hold them up
	words  [cueWords]int64
	times  []int64 // of this rank, of a cue's rounds
	all    []int64 // of all ranks, at rank 0
	memory runtime.MemStats
	kept   uint64 // bytes in use when garbage was collected last
}

func (c *Collectives) ensemble(comm *mpi.Comm) *ensemble {
	e := &ensemble{Collectives: c, c: comm, tuned: comm.Dup(), cell: resting}
	e.call = e.c.Barrier
	for _, x := range c.Of {
		in, out := x.rooms()
		e.in, e.out = grown(e.in, in), grown(e.out, out)
	}
	if c.Shared {
		e.reading = calibrate(comm)
	}
	return e
}

// grown returns a buffer of n bytes at least, all of which have been written to.
func grown(b []byte, n int) []byte {
	if n <= len(b) {
		return b
	}
	return touched(n)
}

// root is the rank that gives, or gets.
const root = 0

// resting stands for no cell: its operation is a barrier.
const resting = -1

// take takes up a cell.
func (e *ensemble) take(cell int) {
	if cell == e.cell {
		return
	}
	e.cell = cell
	if cell == resting {
		e.call = e.c.Barrier
		return
	}
	x := e.Of[cell]
	e.tuned.Tune([]collective.Rule{{Operation: x.Operation, Bytes: -1, Algorithm: x.Name}})
	in, out := x.rooms()
	e.call = calling(e.tuned, x, x.buffer(e.in[:in]), x.buffer(e.out[:out]))
}

// buffer describes the data of blocks to MPI: elements that are combined, or bytes. It counts the elements of one.
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

// cue is what all ranks do next.
type cue struct {
	end    bool      // nothing any more
	cell   int       // of those to measure, or resting
	way    int       // in which rounds begin
	warm   int       // rounds before them, behind barriers
	rounds int       //
	window unit.Time // how far ahead a start is agreed on
}

const cueWords = 6

// give sends a cue to all.
func (e *ensemble) give(q cue) {
	end := 0
	if q.end {
		end = 1
	}
	for i, n := range [cueWords]int{end, q.cell, q.way, q.warm, q.rounds, int(q.window)} {
		e.words[i] = int64(n)
	}
	e.c.Bcast(mpi.Of(e.words[:]), root)
}

// hear receives one.
func (e *ensemble) hear() cue {
	e.c.Bcast(mpi.Of(e.words[:]), root)
	n := e.words
	return cue{n[0] == 1, int(n[1]), int(n[2]), int(n[3]), int(n[4]), unit.Time(n[5])}
}

// follow does what rank 0 says until there is nothing any more.
func (e *ensemble) follow() {
	for q := e.hear(); !q.end; q = e.hear() {
		e.play(q)
	}
}

// play does what a cue says, and brings the times of its rounds to rank 0.
func (e *ensemble) play(q cue) {
	e.take(q.cell)
	e.tidy()
	e.warm(q.warm)
	e.times = e.times[:0]
	for range q.rounds {
		e.times = append(e.times, int64(ways[q.way].round(e, q.window)))
	}
	if q.rounds > 0 {
		e.gather()
	}
}

// warm goes through rounds that do not count, and notes how long one takes from barrier to barrier.
func (e *ensemble) warm(rounds int) {
	e.c.Barrier()
	for i := range rounds {
		begin := e.c.Wtime()
		e.call()
		e.c.Barrier()
		switch d := e.c.Wtime() - begin; {
		case i == 0:
			e.round = d
		case e.Shared:
			e.round = min(e.round, d)
		default:
			e.round = max(e.round, d)
		}
	}
}

// gather brings the times of all ranks to rank 0.
func (e *ensemble) gather() {
	n := len(e.times)
	if e.c.Rank() != root {
		e.c.Gather(mpi.Of(e.times), mpi.Buffer{}, root)
		return
	}
	e.all = slices.Grow(e.all[:0], n*e.c.Size())[:n*e.c.Size()]
	all := mpi.Of(e.all)
	all.Count = n
	e.c.Gather(mpi.Of(e.times), all, root)
}

// garbage is how much of it a rank lets gather at most, in bytes.
const garbage = 64 << 20

// tidy collects garbage where there is much of it, so that none is while rounds are timed.
func (e *ensemble) tidy() {
	if !e.Shared {
		return
	}
	if runtime.ReadMemStats(&e.memory); e.memory.HeapAlloc > e.kept+garbage {
		runtime.GC()
		runtime.ReadMemStats(&e.memory)
		e.kept = e.memory.HeapAlloc
	}
}
