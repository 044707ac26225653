package mpi

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// The collective operations. All ranks of a communicator call them, in the same order, and each
// takes as much data as the others give. Buffers may not overlap.

// Collectives are the collective operations of a library that has ways of its own for them, of one
// rank. They get data as it travels, and return false to leave an operation to this package; all
// ranks of a communicator do so alike. A Call is theirs until they return.
type Collectives interface {
	Barrier(k *Call) bool
	Bcast(k *Call, b []byte) bool
	Scatter(k *Call, in, out []byte) bool         // in is nil but at the root
	Allgather(k *Call, in, out []byte) bool       // in order of ranks, as that of Alltoall
	Alltoall(k *Call, in, out []byte) bool        // each part is of the same length
	Alltoallv(k *Call, in, out [][]byte) bool     // by rank
	Free(k *Call)                                 // the communicator is freed
	End()                                         // the program of the rank has returned
	Counts(yield func(name string, n int64) bool) // what they have counted, by names
}

// Bcast brings the root's data to all ranks.
func (c *Comm) Bcast(b Buffer, root int) {
	c.enterCollective("Bcast", root, b)
	c.bcast(b, root)
}

// bcast is Bcast within a call, as are other functions whose names begin with a small letter.
func (c *Comm) bcast(b Buffer, root int) {
	r := c.newRound(collective.Bcast, root, b.Type)
	data := c.flatData(b, c.rank == root)
	if tell := c.state.broadcast; tell != nil && c.rank == root {
		tell(len(data))
	}
	if !r.runOwnMethod(func(o Collectives, k *Call) bool { return o.Bcast(k, data) }) {
		r.runSchedule(r.collectiveJob(data), nil, data)
	}
	if c.rank != root {
		c.scatterFlat(b, data)
	}
}

// Scatter gives each rank its part of the root's data: recv.Count elements, which lie at the root
// one after another in the order of ranks, send.Count for each. send counts at the root only.
func (c *Comm) Scatter(send, recv Buffer, root int) {
	c.enterCollective("Scatter", root, recv)
	r := c.newRound(collective.Scatter, root, recv.Type)
	var in []byte
	if c.rank == root {
		all := c.checkBuffer(send.Part(0, c.size*send.Count))
		c.checkSameData(&send, &recv)
		c.checkDisjoint(&all, &recv)
		in = c.flatData(all, true)
	}
	out := c.flatData(recv, false)
	if !r.runOwnMethod(func(o Collectives, k *Call) bool { return o.Scatter(k, in, out) }) {
		r.runSchedule(r.collectiveJob(out), in, out)
	}
	c.scatterFlat(recv, out)
}

// Gather brings the data of all ranks to the root, where it lies in the order of ranks, recv.Count
// elements of each. recv counts at the root only.
func (c *Comm) Gather(send, recv Buffer, root int) {
	c.enterCollective("Gather", root, send)
	r := c.newRound(collective.Gather, root, send.Type)
	in := c.flatData(send, true)
	if c.rank != root {
		r.runSchedule(r.collectiveJob(in), in, nil)
		return
	}
	all := c.checkBuffer(recv.Part(0, c.size*recv.Count))
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &all)
	out := c.flatData(all, false)
	r.runSchedule(r.collectiveJob(in), in, out)
	c.scatterFlat(all, out)
}

// Allgather is Gather to all ranks.
func (c *Comm) Allgather(send, recv Buffer) {
	c.enterCollective("Allgather", 0, send)
	c.allgather(send, recv)
}

func (c *Comm) allgather(send, recv Buffer) {
	r := c.newRound(collective.Allgather, 0, send.Type)
	all := c.checkBuffer(recv.Part(0, c.size*recv.Count))
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &all)
	in, out := c.flatData(send, true), c.flatData(all, false)
	if !r.runOwnMethod(func(o Collectives, k *Call) bool { return o.Allgather(k, in, out) }) {
		r.runSchedule(r.collectiveJob(in), in, out)
	}
	c.scatterFlat(all, out)
}

// Alltoall sends send.Count elements to each rank, and receives recv.Count of each. They lie in the
// order of ranks.
func (c *Comm) Alltoall(send, recv Buffer) {
	c.enterCollective("Alltoall", 0, send)
	r := c.newRound(collective.Alltoall, 0, send.Type)
	given, all := c.checkBuffer(send.Part(0, c.size*send.Count)), c.checkBuffer(recv.Part(0, c.size*recv.Count))
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&given, &all)
	in, out := c.flatData(given, true), c.flatData(all, false)
	if !r.runOwnMethod(func(o Collectives, k *Call) bool { return o.Alltoall(k, in, out) }) {
		r.runSchedule(collective.Job{Ranks: c.size, Bytes: send.Len()}, in, out)
	}
	c.scatterFlat(all, out)
}

// Reduce combines the elements of all ranks, in the order of ranks, and leaves the result at the
// root. recv counts there only.
func (c *Comm) Reduce(send, recv Buffer, op *Op, root int) {
	c.enterCollective("Reduce", root, send)
	c.reduce(send, recv, op, root)
}

func (c *Comm) reduce(send, recv Buffer, op *Op, root int) {
	r := c.newReductionRound(collective.Reduce, root, send, op)
	in := c.flatData(send, true)
	if c.rank != root {
		r.runSchedule(r.collectiveJob(in), in, nil)
		return
	}
	out := c.flatData(c.checkBuffer(recv), false)
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &recv)
	r.runSchedule(r.collectiveJob(in), in, out)
	c.scatterFlat(recv, out)
}

// Allreduce is Reduce to all ranks.
func (c *Comm) Allreduce(send, recv Buffer, op *Op) {
	c.reduceAll("Allreduce", collective.Allreduce, send, recv, op)
}

// Scan combines the elements of the ranks up to this one.
func (c *Comm) Scan(send, recv Buffer, op *Op) { c.reduceAll("Scan", collective.Scan, send, recv, op) }

// Exscan combines the elements of the ranks before this one. Rank 0 has none, and its recv stays as
// it is (MPI_Exscan). It is a Scan, whose results move on by a rank.
func (c *Comm) Exscan(send, recv Buffer, op *Op) {
	c.enterCollective("Exscan", 0, send)
	r := c.newReductionRound(collective.Scan, 0, send, op)
	in, own, out := c.flatData(send, true), make([]byte, send.Len()), c.flatData(c.checkBuffer(recv), false)
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &recv)
	r.runSchedule(r.collectiveJob(in), in, own)
	to, from := c.rank+1, c.rank-1
	if to == c.size {
		to, own = collective.None, nil
	}
	if from < 0 {
		from, out = collective.None, nil
	}
	if c.size > 1 {
		r.sendAndReceive(to, own, from, out)
	}
	if c.rank > 0 {
		c.scatterFlat(recv, out)
	}
}

// Combine leaves in ∘ inout in inout, and charges that, for collective operations that are made of
// messages.
func (c *Comm) Combine(op *Op, in, inout Buffer) {
	c.e.Port().Operate(inout.Count)
	op.Apply(in, inout)
}

func (c *Comm) reduceAll(call string, o collective.Operation, send, recv Buffer, op *Op) {
	c.enterCollective(call, 0, send)
	r := c.newReductionRound(o, 0, send, op)
	in, out := c.flatData(send, true), c.flatData(c.checkBuffer(recv), false)
	c.checkSameData(&send, &recv)
	c.checkDisjoint(&send, &recv)
	r.runSchedule(r.collectiveJob(in), in, out)
	c.scatterFlat(recv, out)
}

// newReductionRound returns the round of an operation that combines elements.
func (c *Comm) newReductionRound(o collective.Operation, root int, of Buffer, op *Op) *round {
	if err := op.Check(of.Type); err != nil {
		c.e.Fail(engine.ErrOp, "%v", err)
	}
	r := c.newRound(o, root, of.Type)
	r.op, r.of, r.combine, r.commutes = op, of.Type, op.FlatCombiner(of.Type), op.Commutes()
	r.tag = check.Tag(o, op.Identity(), root)
	c.e.ExpectCollectiveTag(r.tag)
	return r
}

// enterCollective enters a call and checks its arguments.
func (c *Comm) enterCollective(call string, root int, b Buffer) {
	c.enterCall(call)
	c.checkIntra()
	if root < 0 || root >= c.size {
		c.e.Fail(engine.ErrRoot, "root %d is not in a communicator of %d", root, c.size)
	}
	c.checkBuffer(b)
}

// collectiveJob describes an operation whose block is data. Data that is not combined may be
// divided at any byte, as ranks may describe it by different types and have to divide it in the
// same way.
func (r *round) collectiveJob(data []byte) collective.Job {
	j := collective.Job{Ranks: r.size, Root: r.root, Bytes: len(data)}
	if r.of != nil {
		j.Unit = r.of.Size()
	}
	return j
}

// Operations in which ranks may send or receive different numbers of elements. Part i of a buffer
// is counts[i] elements; the first begins offsets[i] extents after the beginning of the buffer.

// Gatherv is Gather with parts of any length: that of rank i becomes part i of the root's recv.
// recv, counts and offsets count at the root only.
func (c *Comm) Gatherv(send, recv Buffer, counts, offsets []int, root int) {
	c.enterCollective("Gatherv", root, send)
	r := c.newRound(collective.Gather, root, send.Type)
	mine := c.flatData(send, true)
	if c.rank != root {
		r.sendAndReceive(root, mine, collective.None, nil)
		return
	}
	c.checkRecvParts(&send, &recv, counts, offsets)
	for i := range c.size {
		part := recv.Part(offsets[i], counts[i])
		data := c.flatData(part, false)
		if i == root {
			r.copyOwn(data, mine)
		} else {
			r.sendAndReceive(collective.None, nil, i, data)
		}
		c.scatterFlat(part, data)
	}
}

// Scatterv is Scatter with parts of any length: rank i gets part i of the root's send. send, counts
// and offsets count at the root only.
func (c *Comm) Scatterv(send Buffer, counts, offsets []int, recv Buffer, root int) {
	c.enterCollective("Scatterv", root, recv)
	c.scatterv(send, counts, offsets, recv, root)
}

func (c *Comm) scatterv(send Buffer, counts, offsets []int, recv Buffer, root int) {
	r := c.newRound(collective.Scatter, root, recv.Type)
	data := c.flatData(recv, false)
	if c.rank != root {
		r.sendAndReceive(collective.None, nil, root, data)
		c.scatterFlat(recv, data)
		return
	}
	c.checkParts(send, counts, offsets)
	if datatype.RangesOverlap(&send, &recv) {
		c.checkShared(bufferParts(send, counts, offsets), []Buffer{recv})
	}
	for i := range c.size {
		part := c.flatData(send.Part(offsets[i], counts[i]), true)
		if i == root {
			r.copyOwn(data, part)
			c.scatterFlat(recv, data)
		} else {
			r.sendAndReceive(i, part, collective.None, nil)
		}
	}
}

// Allgatherv is Gatherv to all ranks, which know counts and offsets. Parts go around a ring.
func (c *Comm) Allgatherv(send, recv Buffer, counts, offsets []int) {
	c.enterCollective("Allgatherv", 0, send)
	c.checkRecvParts(&send, &recv, counts, offsets)
	r := c.newRound(collective.Allgather, 0, send.Type)
	data := make([][]byte, c.size)
	for i := range data {
		data[i] = c.flatData(recv.Part(offsets[i], counts[i]), false)
	}
	r.copyOwn(data[c.rank], c.flatData(send, true))
	next, before := (c.rank+1)%c.size, (c.rank+c.size-1)%c.size
	for i := range c.size - 1 {
		r.sendAndReceive(next, data[(c.rank-i+c.size)%c.size], before, data[(c.rank-i-1+c.size)%c.size])
	}
	for i := range data {
		c.scatterFlat(recv.Part(offsets[i], counts[i]), data[i])
	}
}

// Alltoallv is Alltoall with parts of any length: part i of send goes to rank i, and the data from
// rank i becomes part i of recv. Each rank posts all its receives before it sends.
func (c *Comm) Alltoallv(send Buffer, sendCounts, sendOffsets []int, recv Buffer, recvCounts, recvOffsets []int) {
	c.enterCall("Alltoallv")
	c.checkIntra()
	c.checkParts(send, sendCounts, sendOffsets)
	c.checkParts(recv, recvCounts, recvOffsets)
	c.checkPartsDisjoint(recv.Type, recvCounts, recvOffsets)
	if datatype.RangesOverlap(&send, &recv) {
		c.checkShared(bufferParts(send, sendCounts, sendOffsets), bufferParts(recv, recvCounts, recvOffsets))
	}
	r := c.newRound(collective.Alltoall, 0, send.Type)
	if c.state.own != nil {
		in, out := c.flatParts(bufferParts(send, sendCounts, sendOffsets), true), bufferParts(recv, recvCounts, recvOffsets)
		into := c.flatParts(out, false)
		if r.runOwnMethod(func(o Collectives, k *Call) bool { return o.Alltoallv(k, in, into) }) {
			c.unflattenParts(out, into)
			return
		}
	}
	r.exchange(func(to int) Buffer { return send.Part(sendOffsets[to], sendCounts[to]) },
		func(from int) Buffer { return recv.Part(recvOffsets[from], recvCounts[from]) })
}

// flatParts returns the data of buffers as it travels.
func (c *Comm) flatParts(all []Buffer, pack bool) [][]byte {
	flat := make([][]byte, len(all))
	for i, b := range all {
		flat[i] = c.flatData(b, pack)
	}
	return flat
}

func (c *Comm) unflattenParts(all []Buffer, flat [][]byte) {
	for i, b := range all {
		c.scatterFlat(b, flat[i])
	}
}

// exchange lets each rank send a part to each other one, in the order that the library has. A rank
// posts all its receives before it sends.
func (r *round) exchange(send, recv func(rank int) Buffer) {
	order := r.state.exchange
	in := make([][]byte, r.size)
	for i := range r.size {
		from := i
		if order != model.ExchangeByRank {
			from = (r.rank - i + r.size) % r.size
		}
		in[from] = r.flatData(recv(from), false)
		if from != r.rank {
			r.startRecv(from, in[from])
		}
	}
	r.copyOwn(in[r.rank], r.flatData(send(r.rank), true))
	for i := range r.size {
		to := i
		if order != model.ExchangeByRank {
			to = (r.rank + i) % r.size
		}
		switch b := send(to); {
		case to == r.rank:
		case order == model.ExchangePosted || order == model.ExchangeByRank:
			r.startSend(to, r.flatData(b, true))
		default:
			r.e.Send(model.StandardMode, r.flatData(b, true), r.sign, r.jobRank(to), r.context+1, r.tag)
		}
	}
	r.waitPosted()
	for from := range in {
		r.scatterFlat(recv(from), in[from])
	}
}

// Alltoallw is Alltoall with a buffer for each rank to send from, and one to receive into
// (MPI_Alltoallw), and exchanges them likewise.
func (c *Comm) Alltoallw(send, recv []Buffer) {
	c.enterCall("Alltoallw")
	c.checkIntra()
	if len(send) != c.size || len(recv) != c.size {
		c.e.Fail(engine.ErrCount, "%d and %d buffers, and the communicator has %d ranks", len(send), len(recv), c.size)
	}
	for i := range c.size {
		c.checkBuffer(send[i])
		c.checkBuffer(recv[i])
	}
	c.checkShared(send, recv)
	r := c.newRound(collective.Alltoall, 0, Packed) // each pair of ranks has types of its own
	r.exchange(func(to int) Buffer { return send[to] }, func(from int) Buffer { return recv[from] })
}

// ReduceScatter combines the elements of all ranks, and gives rank i the counts[i] elements that
// follow those of the ranks before it. If all counts are equal it is a schedule, else a reduction
// to rank 0 and a scatter.
func (c *Comm) ReduceScatter(send, recv Buffer, counts []int, op *Op) {
	c.enterCollective("ReduceScatter", 0, recv)
	offsets, total, equal := make([]int, len(counts)), 0, true
	for i, n := range counts {
		offsets[i], total, equal = total, total+n, equal && n == counts[0]
	}
	c.checkParts(send, counts, offsets)
	if recv.Count != counts[c.rank] {
		c.e.Fail(engine.ErrCount, "rank %d has room for %d elements, and its count is %d", c.rank, recv.Count, counts[c.rank])
	}
	send.Count = total
	part := send.Part(0, recv.Count)
	c.checkSameData(&part, &recv)
	c.checkDisjoint(&send, &recv)
	r := c.newReductionRound(collective.ReduceScatter, 0, send, op)
	in, out := c.flatData(send, true), c.flatData(recv, false)
	if equal {
		r.runSchedule(r.collectiveJob(out), in, out)
		c.scatterFlat(recv, out)
		return
	}
	all := send
	all.Bytes, all.Origin = nil, 0
	if c.rank == 0 {
		low, end := send.DataRange()
		all.Bytes, all.Origin = make([]byte, end-low), -low
	}
	c.reduce(send, all, op, 0)
	c.scatterv(all, counts, offsets, recv, 0)
}

// checkParts fails if counts and offsets do not describe a part of the buffer for each rank.
func (c *Comm) checkParts(b Buffer, counts, offsets []int) {
	if len(counts) != c.size || len(offsets) != c.size {
		c.e.Fail(engine.ErrCount, "%d counts and %d offsets, and the communicator has %d ranks", len(counts), len(offsets), c.size)
	}
	for i := range counts {
		c.checkBuffer(b.Part(offsets[i], counts[i]))
	}
}

// checkRecvParts is parts for a buffer to receive into: its parts may share bytes neither with each
// other nor with the buffer to send from.
func (c *Comm) checkRecvParts(send, recv *Buffer, counts, offsets []int) {
	c.checkParts(*recv, counts, offsets)
	c.checkPartsDisjoint(recv.Type, counts, offsets)
	if datatype.RangesOverlap(send, recv) {
		c.checkShared([]Buffer{*send}, bufferParts(*recv, counts, offsets))
	}
}

// bufferParts returns the parts of a buffer.
func bufferParts(b Buffer, counts, offsets []int) []Buffer {
	all := make([]Buffer, len(counts))
	for i := range all {
		all[i] = b.Part(offsets[i], counts[i])
	}
	return all
}

// checkPartsDisjoint fails if two parts have an element in common. It is fast if they lie in order.
func (c *Comm) checkPartsDisjoint(t *Datatype, counts, offsets []int) {
	if t.Size() == 0 {
		return
	}
	end, ordered := math.MinInt, true
	for i := range counts {
		ordered = ordered && (counts[i] == 0 || offsets[i] >= end)
		end = max(end, offsets[i]+counts[i])
	}
	if ordered {
		return
	}
	order := make([]int, 0, len(counts))
	for i, n := range counts {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
	for k := range len(order) - 1 {
		if a, b := order[k], order[k+1]; offsets[a]+counts[a] > offsets[b] {
			c.e.Fail(engine.ErrBuffer, "what comes from rank %d (%d elements from %d on) and from rank %d (%d from %d on) goes to the same memory",
				a, counts[a], offsets[a], b, counts[b], offsets[b])
		}
	}
}

// sendAndReceive sends data to one rank and receives from another, as a step of a schedule does;
// either may be None.
func (r *round) sendAndReceive(to int, out []byte, from int, in []byte) {
	r.areas[collective.In], r.areas[collective.Out] = out, in
	r.transfer(&collective.Step{To: to, From: from,
		Send: collective.Span{Area: collective.In, Len: len(out)}, Recv: collective.Span{Area: collective.Out, Len: len(in)}})
}

// copyOwn copies a rank's contribution to itself.
func (r *round) copyOwn(into, data []byte) {
	if len(into) != len(data) {
		r.e.Fail(engine.ErrTruncate, "rank %d gives itself %d bytes where it takes %d", r.rank, len(data), len(into))
	}
	r.e.Port().Copy(into, data)
}
