package programs

import (
	"fmt"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// Execution runs a communication schedule as a program of MPI: each rank begins an operation when all
// that it requires has ended, messages first, and computes when no message can begin. A rank has one
// processor: what the schedule has for several CPUs is computed one after the other.
type Execution struct{ *schedule.Schedule }

// Check returns an error if MPI cannot carry the schedule.
func (x Execution) Check() error {
	for rank := range x.Ranks() {
		for _, o := range x.Of(rank) {
			switch {
			case o.Kind == schedule.Calc:
			case o.Size > unit.MaxSize:
				return fmt.Errorf("rank %d: %v: a message has %d bytes at most", rank, o, unit.MaxSize)
			case o.Tag != schedule.Any && o.Tag > mpi.MaxTag:
				return fmt.Errorf("rank %d: %v: tags are from 0 to %d", rank, o, mpi.MaxTag)
			}
		}
	}
	return nil
}

// Run lets the calling rank do its operations, and returns at rank 0 when each rank has ended its
// last, from the common start.
func (x Execution) Run(c *mpi.Comm) []unit.Time {
	results := c.Dup() // so that no operation for any source takes them
	e := &executor{c: c, ops: x.Of(c.Rank()), free: map[int][][]byte{}}
	e.dependants = func(i int) []schedule.Dependant { return x.Dependants(c.Rank(), i) }
	e.prepare()
	begin := together(results)
	for e.step() {
	}
	end := []int64{int64(c.Wtime() - begin)}
	if c.Rank() != 0 {
		mpi.Send(results, mpi.Raw(end), 0, 0)
		return nil
	}
	finish := []unit.Time{unit.Time(end[0])}
	for src := 1; src < c.Size(); src++ {
		mpi.Recv(results, mpi.Raw(end), src, 0)
		finish = append(finish, unit.Time(end[0]))
	}
	return finish
}

// together lets all ranks go on at one time, which it returns. Their clocks are one.
func together(c *mpi.Comm) unit.Time {
	c.Barrier()
	before := c.Wtime()
	c.Barrier()
	now := c.Wtime()
	latest := []int64{0}
	c.Allreduce(mpi.Of([]int64{int64(now + 8*(now-before))}), mpi.Of(latest), mpi.Max)
	begin := unit.Time(latest[0])
	c.Compute(max(0, begin-c.Wtime()))
	return begin
}

// executor is one rank's course through its operations.
type executor struct {
	c          *mpi.Comm
	ops        []schedule.Op
	dependants func(i int) []schedule.Dependant
	waits      []int    // by operation: for so many others
	ready      [3][]int // by kind, in the order of the schedule

	open []int // operations under way
	reqs []mpi.Request
	bufs [][]byte
	free map[int][][]byte // buffers to use again, by length
}

func (e *executor) prepare() {
	e.waits = make([]int, len(e.ops))
	for i := range e.ops {
		for _, d := range e.dependants(i) {
			e.waits[d.Op]++
		}
	}
	for i, o := range e.ops {
		if e.waits[i] == 0 {
			e.ready[o.Kind] = append(e.ready[o.Kind], i)
		}
	}
}

// release lets operations begin that waited for the start of operation i, or for its end.
func (e *executor) release(i int, start bool) {
	for _, d := range e.dependants(i) {
		if d.Start != start {
			continue
		}
		if e.waits[d.Op]--; e.waits[d.Op] == 0 {
			k := e.ops[d.Op].Kind
			e.ready[k] = append(e.ready[k], d.Op)
		}
	}
}

// step begins an operation, or waits for one that is under way. It returns false if there is neither.
func (e *executor) step() bool {
	for kind := range e.ready {
		if len(e.ready[kind]) == 0 {
			continue
		}
		i := e.ready[kind][0]
		e.ready[kind] = e.ready[kind][1:]
		e.begin(i)
		return true
	}
	if len(e.open) == 0 {
		return false
	}
	n, _ := mpi.WaitAny(e.reqs)
	i, b, last := e.open[n], e.bufs[n], len(e.open)-1
	e.open[n], e.reqs[n], e.bufs[n] = e.open[last], e.reqs[last], e.bufs[last]
	e.open, e.reqs, e.bufs = e.open[:last], e.reqs[:last], e.bufs[:last]
	e.free[len(b)] = append(e.free[len(b)], b)
	e.release(i, false)
	return true
}

func (e *executor) begin(i int) {
	o := e.ops[i]
	e.release(i, true)
	if o.Kind == schedule.Calc {
		e.c.Compute(unit.Time(o.Size) * unit.Nanosecond)
		e.release(i, false)
		return
	}
	b := e.buffer(int(o.Size))
	peer, tag := int(o.Peer), int(o.Tag)
	if o.Peer == schedule.Any {
		peer = mpi.AnySource
	}
	if o.Tag == schedule.Any {
		tag = mpi.AnyTag
	}
	var r mpi.Request
	if o.Kind == schedule.Send {
		r = mpi.Isend(e.c, b, peer, tag)
	} else {
		r = mpi.Irecv(e.c, b, peer, tag)
	}
	e.open, e.reqs, e.bufs = append(e.open, i), append(e.reqs, r), append(e.bufs, b)
}

func (e *executor) buffer(n int) []byte {
	all := e.free[n]
	if len(all) == 0 {
		return make([]byte, n)
	}
	e.free[n] = all[:len(all)-1]
	return all[len(all)-1]
}
