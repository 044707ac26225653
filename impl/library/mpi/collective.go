package mpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// Collective operations. All ranks of a communicator call them in the same order, with matching
// amounts of data. Buffers must not overlap.

// Collectives carries out the collective operations of one rank by methods of the library, without
// a schedule. Data is passed in the order in which it travels. A method returns false to leave the
// operation to this package. It must return the same value on all ranks of the communicator. It
// must not use a CollectiveCall after it has returned.
type Collectives interface {
	Barrier(k *CollectiveCall) bool
	Bcast(k *CollectiveCall, b []byte) bool
	Scatter(k *CollectiveCall, in, out []byte) bool     // in is nil except at the root
	Allgather(k *CollectiveCall, in, out []byte) bool   // in order of ranks, as in Alltoall
	Alltoall(k *CollectiveCall, in, out []byte) bool    // all parts have the same length
	Alltoallv(k *CollectiveCall, in, out [][]byte) bool // by rank
	Free(k *CollectiveCall)                             // the communicator has been freed
	End()                                               // the program of the rank has returned
	Counts(yield func(name string, n int64) bool)       // yields the library's counters by name
}

// Bcast sends the root's data to all ranks (MPI_Bcast).
func (c *Comm) Bcast(b Buffer, root int) {
	c.enterCollective("Bcast", root, &b)
	c.bcast(b, root)
}

// bcast is Bcast within a call. Other functions with lower-case names follow the same rule.
func (c *Comm) bcast(b Buffer, root int) {
	r := c.newCollectiveOperation(collective.Bcast, root, b.Type)
	data := c.flatData(b, c.rank == root)
	if tell := c.state.onBroadcast; tell != nil && c.rank == root {
		tell(len(data))
	}
	if !r.runLibraryMethod(func(o Collectives, k *CollectiveCall) bool { return o.Bcast(k, data) }) {
		r.runSchedule(r.collectiveJob(data), nil, data)
	}
	if c.rank != root {
		c.scatterFlat(&b, data)
	}
}

// Scatter gives each rank its part of the root's data (MPI_Scatter). Each rank receives recv.Count
// elements. At the root the parts, of send.Count elements each, lie one after another in the order
// of ranks. send is significant at the root only.
func (c *Comm) Scatter(send, recv Buffer, root int) {
	c.enterCollective("Scatter", root, &recv)
	r := c.newCollectiveOperation(collective.Scatter, root, recv.Type)
	var in []byte
	if c.rank == root {
		all := c.checkBuffer(send.SubBuffer(0, c.size*send.Count))
		c.checkSameData(&send, &recv)
		c.checkDisjoint(&all, &recv)
		in = c.flatData(all, true)
	}
	out := c.flatData(recv, false)
	if !r.runLibraryMethod(func(o Collectives, k *CollectiveCall) bool { return o.Scatter(k, in, out) }) {
		r.runSchedule(r.collectiveJob(out), in, out)
	}
	c.scatterFlat(&recv, out)
}

// Gather collects the data of all ranks at the root (MPI_Gather), recv.Count elements of each rank
// in the order of ranks. recv is significant at the root only.
func (c *Comm) Gather(send, recv Buffer, root int) {
	c.enterCollective("Gather", root, &send)
	r := c.newCollectiveOperation(collective.Gather, root, send.Type)
	in := c.flatData(send, true)
	if c.rank != root {
		r.runSchedule(r.collectiveJob(in), in, nil)
		return
	}
	all := c.checkBuffer(recv.SubBuffer(0, c.size*recv.Count))
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &all)
	out := c.flatData(all, false)
	r.runSchedule(r.collectiveJob(in), in, out)
	c.scatterFlat(&all, out)
}

// Allgather is a Gather whose result all ranks receive (MPI_Allgather).
func (c *Comm) Allgather(send, recv Buffer) {
	c.enterCollective("Allgather", 0, &send)
	c.allgather(send, recv)
}

func (c *Comm) allgather(send, recv Buffer) {
	r := c.newCollectiveOperation(collective.Allgather, 0, send.Type)
	all := c.checkBuffer(recv.SubBuffer(0, c.size*recv.Count))
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &all)
	in, out := c.flatData(send, true), c.flatData(all, false)
	if !r.runLibraryMethod(func(o Collectives, k *CollectiveCall) bool { return o.Allgather(k, in, out) }) {
		r.runSchedule(r.collectiveJob(in), in, out)
	}
	c.scatterFlat(&all, out)
}

// Alltoall sends send.Count elements to each rank and receives recv.Count elements from each, in
// the order of ranks (MPI_Alltoall).
func (c *Comm) Alltoall(send, recv Buffer) {
	c.enterCollective("Alltoall", 0, &send)
	r := c.newCollectiveOperation(collective.Alltoall, 0, send.Type)
	given, all := c.checkBuffer(send.SubBuffer(0, c.size*send.Count)), c.checkBuffer(recv.SubBuffer(0, c.size*recv.Count))
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&given, &all)
	in, out := c.flatData(given, true), c.flatData(all, false)
	if !r.runLibraryMethod(func(o Collectives, k *CollectiveCall) bool { return o.Alltoall(k, in, out) }) {
		r.runSchedule(collective.Job{Ranks: c.size, Bytes: send.Len()}, in, out)
	}
	c.scatterFlat(&all, out)
}

// enterCollective enters a call and checks its arguments.
func (c *Comm) enterCollective(call string, root int, b *Buffer) {
	c.enterCall(call)
	c.checkIntra()
	if root < 0 || root >= c.size {
		c.engine.Fail(engine.ErrRoot, "root %d is not in a communicator of %d", root, c.size)
	}
	c.checkBuffer(*b)
}

// collectiveJob describes an operation on a block of data. If the operation does not combine
// elements, the block may be divided at any byte: ranks may use different types for it but must
// divide it alike.
func (r *collectiveOperation) collectiveJob(data []byte) collective.Job {
	j := collective.Job{Ranks: r.size, Root: r.root, Bytes: len(data)}
	if r.elementType != nil {
		j.ElementBytes = r.elementType.Size()
	}
	return j
}

// sendAndReceive sends out to rank to and receives in from rank from, as a step of a schedule does.
// Either rank may be None.
func (r *collectiveOperation) sendAndReceive(to int, out []byte, from int, in []byte) {
	r.areaMemory[collective.In], r.areaMemory[collective.Out] = out, in
	r.transfer(&collective.Step{To: to, From: from,
		Send: collective.Span{Area: collective.In, Bytes: len(out)}, Recv: collective.Span{Area: collective.Out, Bytes: len(in)}})
}

// copyOwnPart copies a rank's contribution to itself.
func (r *collectiveOperation) copyOwnPart(into, data []byte) {
	if len(into) != len(data) {
		r.engine.Fail(engine.ErrTruncate, "rank %d gives itself %d bytes where it takes %d", r.rank, len(data), len(into))
	}
	r.engine.Port().Copy(into, data)
}
