package mpi

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model/collective"
)

// Reduce combines the elements of all ranks, in the order of ranks, into recv at the root
// (MPI_Reduce). recv is significant at the root only.
func (c *Comm) Reduce(send, recv Buffer, op *Op, root int) {
	c.enterCollective("Reduce", root, &send)
	c.reduce(send, recv, op, root)
}

func (c *Comm) reduce(send, recv Buffer, op *Op, root int) {
	r := c.newReductionOperation(collective.Reduce, root, send.Type, op)
	in := c.flatData(send, true)
	if c.rank != root {
		r.runSchedule(r.collectiveJob(in), in, nil)
		return
	}
	out := c.flatData(c.checkBuffer(recv), false)
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &recv)
	r.runSchedule(r.collectiveJob(in), in, out)
	c.scatterFlat(&recv, out)
}

// Allreduce is a Reduce whose result all ranks receive (MPI_Allreduce).
func (c *Comm) Allreduce(send, recv Buffer, op *Op) {
	c.reduceAll("Allreduce", collective.Allreduce, &send, &recv, op)
}

// Scan combines the elements of ranks 0 up to and including this one (MPI_Scan).
func (c *Comm) Scan(send, recv Buffer, op *Op) {
	c.reduceAll("Scan", collective.Scan, &send, &recv, op)
}

// Exscan combines the elements of all ranks before this one (MPI_Exscan). Rank 0 does not change
// recv. It is a Scan followed by a shift of the results to the next rank.
func (c *Comm) Exscan(send, recv Buffer, op *Op) {
	c.enterCollective("Exscan", 0, &send)
	r := c.newReductionOperation(collective.Scan, 0, send.Type, op)
	in, out := c.flatBuffers(&send, &recv)
	own := device.NewBytes(send.Len(), send.Bytes)
	j := r.collectiveJob(in)
	r.runAlgorithm(r.chooseAlgorithm(&j), &j, in, own)
	to, from := c.rank+1, c.rank-1
	if to == c.size {
		to, own = collective.NoRank, nil
	}
	if from < 0 {
		from, out = collective.NoRank, nil
	}
	if c.size > 1 {
		r.sendAndReceive(to, own, from, out)
	}
	r.raiseError()
	if c.rank > 0 {
		c.scatterFlat(&recv, out)
	}
}

// ReduceScatter combines the elements of all ranks and scatters the result: rank i gets counts[i]
// elements (MPI_Reduce_scatter). If all counts are equal, it runs a schedule. Otherwise it is a
// reduction to rank 0 followed by a scatter.
func (c *Comm) ReduceScatter(send, recv Buffer, counts []int, op *Op) {
	c.enterCollective("ReduceScatter", 0, &recv)
	offsets, total, equal := make([]int, len(counts)), 0, true
	for i, n := range counts {
		offsets[i], total, equal = total, total+n, equal && n == counts[0]
	}
	c.checkParts(send, counts, offsets)
	if recv.Count != counts[c.rank] {
		c.engine.Fail(engine.ErrCount, "rank %d has room for %d elements, and its count is %d", c.rank, recv.Count, counts[c.rank])
	}
	send.Count = total
	part := send.SubBuffer(0, recv.Count)
	c.checkSameData(&part, &recv)
	c.checkDisjoint(&send, &recv)
	r := c.newReductionOperation(collective.ReduceScatter, 0, send.Type, op)
	in, out := c.flatData(send, true), c.flatData(recv, false)
	if equal {
		r.runSchedule(r.collectiveJob(out), in, out)
		c.scatterFlat(&recv, out)
		return
	}
	all := send
	all.Bytes, all.Origin = nil, 0
	if c.rank == 0 {
		low, end := send.DataRange()
		all.Bytes, all.Origin = device.NewBytes(end-low, send.Bytes), -low
	}
	c.reduce(send, all, op, 0)
	c.scatterv(all, counts, offsets, recv, 0)
}

// ReduceLocal stores in ∘ inout in inout and charges the time of the operation (MPI_Reduce_local).
// It is for collective operations that are built from messages.
func (c *Comm) ReduceLocal(op *Op, in, inout Buffer) {
	c.engine.Port().ChargeOperations(inout.Count)
	if !device.IsSizeOnly(inout.Bytes) {
		op.Apply(in, inout)
	}
}

// reduceAll is Allreduce or Scan. Ranks wait in it, so what takes much stack is in other functions.
func (c *Comm) reduceAll(call string, o collective.Operation, send, recv *Buffer, op *Op) {
	c.enterCollective(call, 0, send)
	r := c.newReductionOperation(o, 0, send.Type, op)
	in, out := c.flatBuffers(send, recv)
	j := r.collectiveJob(in)
	a := r.chooseAlgorithm(&j)
	if o == collective.Allreduce && a == reduceThenBcast && c.state.collectives != nil { // the broadcast may be a method of the library
		c.reduceAndBcast(send, recv, op)
		return
	}
	r.runAlgorithm(a, &j, in, out)
	r.raiseError()
	c.scatterFlat(recv, out)
}

// flatBuffers checks the buffers of a reduction and returns their data in travel order.
func (c *Comm) flatBuffers(send, recv *Buffer) (in, out []byte) {
	in, out = c.flatData(*send, true), c.flatData(c.checkBuffer(*recv), false)
	c.checkSameData(send, recv)
	c.checkDisjoint(send, recv)
	return in, out
}

func (c *Comm) reduceAndBcast(send, recv *Buffer, op *Op) {
	c.reduce(*send, *recv, op, 0)
	c.bcast(*recv, 0)
}

// reduceThenBcast is the Allreduce algorithm that consists of a reduction and a broadcast.
var reduceThenBcast = collective.AlgorithmNamed(collective.Allreduce, "reduce-bcast")

// CheckOp fails if an operation is not for elements of a type.
func (c *Comm) CheckOp(op *Op, of *Datatype) {
	if err := op.Check(of); err != nil {
		c.engine.Fail(engine.ErrOp, "%v", err)
	}
	c.ReportLogicalOfFloats(op, of)
}

// ReportLogicalOfFloats reports a logical operation of floating-point numbers, which some MPI
// libraries carry out, as an error or a warning, depending on the check mode.
func (c *Comm) ReportLogicalOfFloats(op *Op, of *Datatype) {
	if op.IsLogicalOfFloats(of) {
		c.engine.ReportViolation(LogicalOfFloats, engine.ErrOp, "%v is not for elements of %v: logical operations are for integers and logical values", op, of)
	}
}

// newReductionOperation returns a collective operation that combines elements.
func (c *Comm) newReductionOperation(o collective.Operation, root int, of *Datatype, op *Op) *collectiveOperation {
	c.CheckOp(op, of)
	r := c.newCollectiveOperation(o, root, of)
	r.op, r.elementType, r.combine, r.commutes = op, of, op.FlatCombiner(of), op.Commutes()
	r.tag = check.EncodeTag(o, op.Identity(), root)
	c.engine.ExpectCollectiveTag(r.tag)
	return r
}
