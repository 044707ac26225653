package mpi

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/datatype"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// Operations in which each rank may give or take another number of elements. Part i of a buffer is counts[i] elements, the first of them offsets[i]
// extents from where the buffer begins.

// Gatherv is Gather with parts of any length: that of rank i becomes part i of the root's recv. recv, counts and offsets count at the root only.
func (c *Comm) Gatherv(send, recv Buffer, counts, offsets []int, root int) {
	c.begin("Gatherv", root, send)
	r := c.round(collective.Gather, root, send.Type)
	mine := c.flat(send, true)
	if c.rank != root {
		r.pass(root, mine, collective.None, nil)
		return
	}
	c.partsApart(&send, &recv, counts, offsets)
	for i := range c.size {
		part := recv.Part(offsets[i], counts[i])
		data := c.flat(part, false)
		if i == root {
			r.keep(data, mine)
		} else {
			r.pass(collective.None, nil, i, data)
		}
		c.settle(part, data)
	}
}

// Scatterv is Scatter with parts of any length: rank i gets part i of the root's send. send, counts and offsets count at the root only.
func (c *Comm) Scatterv(send Buffer, counts, offsets []int, recv Buffer, root int) {
	c.begin("Scatterv", root, recv)
	c.scatterv(send, counts, offsets, recv, root)
}

func (c *Comm) scatterv(send Buffer, counts, offsets []int, recv Buffer, root int) {
	r := c.round(collective.Scatter, root, recv.Type)
	data := c.flat(recv, false)
	if c.rank != root {
		r.pass(collective.None, nil, root, data)
		c.settle(recv, data)
		return
	}
	c.parts(send, counts, offsets)
	if datatype.Near(&send, &recv) {
		c.mustBeApart(parts(send, counts, offsets), []Buffer{recv})
	}
	for i := range c.size {
		part := c.flat(send.Part(offsets[i], counts[i]), true)
		if i == root {
			r.keep(data, part)
			c.settle(recv, data)
		} else {
			r.pass(i, part, collective.None, nil)
		}
	}
}

// Allgatherv is Gatherv to all ranks, which know counts and offsets. Parts go around a ring.
func (c *Comm) Allgatherv(send, recv Buffer, counts, offsets []int) {
	c.begin("Allgatherv", 0, send)
	c.partsApart(&send, &recv, counts, offsets)
	r := c.round(collective.Allgather, 0, send.Type)
	data := make([][]byte, c.size)
	for i := range data {
		data[i] = c.flat(recv.Part(offsets[i], counts[i]), false)
	}
	r.keep(data[c.rank], c.flat(send, true))
	next, before := (c.rank+1)%c.size, (c.rank+c.size-1)%c.size
	for i := range c.size - 1 {
		r.pass(next, data[(c.rank-i+c.size)%c.size], before, data[(c.rank-i-1+c.size)%c.size])
	}
	for i := range data {
		c.settle(recv.Part(offsets[i], counts[i]), data[i])
	}
}

// Alltoallv is Alltoall with parts of any length: part i of send goes to rank i, what comes from rank i becomes part i of recv. Ranks
// exchange in pairs.
func (c *Comm) Alltoallv(send Buffer, sendCounts, sendOffsets []int, recv Buffer, recvCounts, recvOffsets []int) {
	c.enter("Alltoallv")
	c.intra()
	c.parts(send, sendCounts, sendOffsets)
	c.parts(recv, recvCounts, recvOffsets)
	c.disjoint(recvCounts, recvOffsets)
	if datatype.Near(&send, &recv) {
		c.mustBeApart(parts(send, sendCounts, sendOffsets), parts(recv, recvCounts, recvOffsets))
	}
	r := c.round(collective.Alltoall, 0, send.Type)
	for i := range c.size {
		to, from := (c.rank+i)%c.size, (c.rank-i+c.size)%c.size
		out := c.flat(send.Part(sendOffsets[to], sendCounts[to]), true)
		part := recv.Part(recvOffsets[from], recvCounts[from])
		in := c.flat(part, false)
		if i == 0 {
			r.keep(in, out)
		} else {
			r.pass(to, out, from, in)
		}
		c.settle(part, in)
	}
}

// ReduceScatter combines the elements of all ranks, and gives rank i the counts[i] that follow those of the ranks before it. Where all get as many, a
// schedule does it, else it is a reduction to rank 0 and a scatter.
func (c *Comm) ReduceScatter(send, recv Buffer, counts []int, op *Op) {
	c.begin("ReduceScatter", 0, recv)
	offsets, total, equal := make([]int, len(counts)), 0, true
	for i, n := range counts {
		offsets[i], total, equal = total, total+n, equal && n == counts[0]
	}
	c.parts(send, counts, offsets)
	if recv.Count != counts[c.rank] {
		c.e.Fail(engine.ErrCount, "rank %d has room for %d elements, and its count is %d", c.rank, recv.Count, counts[c.rank])
	}
	send.Count = total
	part := send.Part(0, recv.Count)
	c.alike(&part, &recv)
	c.apart(&send, &recv)
	r := c.combining(collective.ReduceScatter, 0, send, op)
	in, out := c.flat(send, true), c.flat(recv, false)
	if equal {
		r.carryOut(r.job(out), in, out)
		c.settle(recv, out)
		return
	}
	all := send
	all.Bytes, all.Origin = nil, 0
	if c.rank == 0 {
		low, end := send.Reach()
		all.Bytes, all.Origin = make([]byte, end-low), -low
	}
	c.reduceThenScatter(send, all, recv, counts, offsets, op)
}

// reduceThenScatter leaves all combined elements at rank 0 in all, and each rank's in its recv.
func (c *Comm) reduceThenScatter(send, all, recv Buffer, counts, offsets []int, op *Op) {
	c.reduce(send, all, op, 0)
	c.scatterv(all, counts, offsets, recv, 0)
}

// parts ends the rank if counts and offsets do not describe a part of the buffer for each rank.
func (c *Comm) parts(b Buffer, counts, offsets []int) {
	if len(counts) != c.size || len(offsets) != c.size {
		c.e.Fail(engine.ErrCount, "%d counts and %d offsets, and the communicator has %d ranks", len(counts), len(offsets), c.size)
	}
	for i := range counts {
		c.checked(b.Part(offsets[i], counts[i]))
	}
}

// partsApart is parts of a buffer to receive into, whose parts may share bytes neither with each other nor with what is sent.
func (c *Comm) partsApart(send, recv *Buffer, counts, offsets []int) {
	c.parts(*recv, counts, offsets)
	c.disjoint(counts, offsets)
	if datatype.Near(send, recv) {
		c.mustBeApart([]Buffer{*send}, parts(*recv, counts, offsets))
	}
}

// parts returns the parts of a buffer.
func parts(b Buffer, counts, offsets []int) []Buffer {
	all := make([]Buffer, len(counts))
	for i := range all {
		all[i] = b.Part(offsets[i], counts[i])
	}
	return all
}

// disjoint ends the rank if two parts have an element in common. It takes little time where they lie one after another.
func (c *Comm) disjoint(counts, offsets []int) {
	end := math.MinInt
	for i := range counts {
		if counts[i] > 0 && offsets[i] < end {
			c.mustBeDisjoint(counts, offsets)
			return
		}
		end = max(end, offsets[i]+counts[i])
	}
}

// mustBeDisjoint is disjoint for parts in any order.
func (c *Comm) mustBeDisjoint(counts, offsets []int) {
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

// pass sends data to one rank and receives from another, as a step of a schedule does; either may be None.
func (r *round) pass(to int, out []byte, from int, in []byte) {
	r.areas[collective.In], r.areas[collective.Out] = out, in
	r.transfer(&collective.Step{To: to, From: from,
		Send: collective.Span{Area: collective.In, Len: len(out)}, Recv: collective.Span{Area: collective.Out, Len: len(in)}})
}

// keep copies what a rank gives itself.
func (r *round) keep(into, data []byte) {
	if len(into) != len(data) {
		r.e.Fail(engine.ErrTruncate, "rank %d gives itself %d bytes where it takes %d", r.rank, len(data), len(into))
	}
	r.e.Port().Copy(into, data)
}
