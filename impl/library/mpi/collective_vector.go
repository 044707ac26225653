package mpi

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Operations in which the number of elements may differ by rank. Part i of a buffer is counts[i]
// elements, which begin offsets[i] extents of the type after the start of the buffer.

// Gatherv is Gather with parts of different lengths (MPI_Gatherv). The data of rank i becomes part
// i of the root's recv. recv, counts and offsets are significant at the root only.
func (c *Comm) Gatherv(send, recv Buffer, counts, offsets []int, root int) {
	c.enterCollective("Gatherv", root, &send)
	r := c.newCollectiveOperation(collective.Gather, root, send.Type)
	mine := c.flatData(send, true)
	if c.rank != root {
		r.sendAndReceive(root, mine, collective.NoRank, nil)
		return
	}
	c.checkRecvParts(&send, &recv, counts, offsets)
	for i := range c.size {
		part := recv.SubBuffer(offsets[i], counts[i])
		data := c.flatData(part, false)
		if i == root {
			r.copyOwnPart(data, mine)
		} else {
			r.sendAndReceive(collective.NoRank, nil, i, data)
		}
		c.scatterFlat(&part, data)
	}
	r.raiseError()
}

// Scatterv is Scatter with parts of different lengths (MPI_Scatterv). Rank i receives part i of the
// root's send. send, counts and offsets are significant at the root only.
func (c *Comm) Scatterv(send Buffer, counts, offsets []int, recv Buffer, root int) {
	c.enterCollective("Scatterv", root, &recv)
	c.scatterv(send, counts, offsets, recv, root)
}

func (c *Comm) scatterv(send Buffer, counts, offsets []int, recv Buffer, root int) {
	r := c.newCollectiveOperation(collective.Scatter, root, recv.Type)
	data := c.flatData(recv, false)
	if c.rank != root {
		r.sendAndReceive(collective.NoRank, nil, root, data)
		r.raiseError()
		c.scatterFlat(&recv, data)
		return
	}
	c.checkParts(send, counts, offsets)
	if datatype.RangesOverlap(&send, &recv) {
		c.checkBuffersDisjoint(bufferParts(send, counts, offsets), []Buffer{recv})
	}
	for i := range c.size {
		part := c.flatData(send.SubBuffer(offsets[i], counts[i]), true)
		if i == root {
			r.copyOwnPart(data, part)
			c.scatterFlat(&recv, data)
		} else {
			r.sendAndReceive(i, part, collective.NoRank, nil)
		}
	}
}

// Allgatherv is a Gatherv whose result all ranks receive (MPI_Allgatherv). counts and offsets are
// the same on all ranks. The parts go around a ring.
func (c *Comm) Allgatherv(send, recv Buffer, counts, offsets []int) {
	c.enterCollective("Allgatherv", 0, &send)
	c.checkRecvParts(&send, &recv, counts, offsets)
	r := c.newCollectiveOperation(collective.Allgather, 0, send.Type)
	data := make([][]byte, c.size)
	for i := range data {
		data[i] = c.flatData(recv.SubBuffer(offsets[i], counts[i]), false)
	}
	r.copyOwnPart(data[c.rank], c.flatData(send, true))
	next, before := (c.rank+1)%c.size, (c.rank+c.size-1)%c.size
	for i := range c.size - 1 {
		r.sendAndReceive(next, data[(c.rank-i+c.size)%c.size], before, data[(c.rank-i-1+c.size)%c.size])
	}
	r.raiseError()
	for i := range data {
		part := recv.SubBuffer(offsets[i], counts[i])
		c.scatterFlat(&part, data[i])
	}
}

// Alltoallv is Alltoall with parts of different lengths (MPI_Alltoallv). Part i of send goes to
// rank i, and the data from rank i becomes part i of recv. Each rank posts all its receives before
// it sends.
func (c *Comm) Alltoallv(send Buffer, sendCounts, sendOffsets []int, recv Buffer, recvCounts, recvOffsets []int) {
	c.enterCall("Alltoallv")
	c.checkIntra()
	c.checkParts(send, sendCounts, sendOffsets)
	c.checkParts(recv, recvCounts, recvOffsets)
	c.checkPartsDisjoint(recv.Type, recvCounts, recvOffsets)
	if datatype.RangesOverlap(&send, &recv) {
		c.checkBuffersDisjoint(bufferParts(send, sendCounts, sendOffsets), bufferParts(recv, recvCounts, recvOffsets))
	}
	r := c.newCollectiveOperation(collective.Alltoall, 0, send.Type)
	if c.state.collectives != nil {
		in, out := c.flatParts(bufferParts(send, sendCounts, sendOffsets), true), bufferParts(recv, recvCounts, recvOffsets)
		into := c.flatParts(out, false)
		if r.runLibraryMethod(func(o Collectives, k *CollectiveCall) bool { return o.Alltoallv(k, in, into) }) {
			c.unflattenParts(out, into)
			return
		}
	}
	r.exchangeParts(func(to int) Buffer { return send.SubBuffer(sendOffsets[to], sendCounts[to]) },
		func(from int) Buffer { return recv.SubBuffer(recvOffsets[from], recvCounts[from]) })
}

// Alltoallw is Alltoallv with one send and one receive buffer for each rank (MPI_Alltoallw).
func (c *Comm) Alltoallw(send, recv []Buffer) {
	c.enterCall("Alltoallw")
	c.checkIntra()
	if len(send) != c.size || len(recv) != c.size {
		c.engine.Fail(engine.ErrCount, "%d and %d buffers, and the communicator has %d ranks", len(send), len(recv), c.size)
	}
	for i := range c.size {
		c.checkBuffer(send[i])
		c.checkBuffer(recv[i])
	}
	c.checkBuffersDisjoint(send, recv)
	r := c.newCollectiveOperation(collective.Alltoall, 0, Packed) // Packed, because each pair of ranks has its own types
	r.exchangeParts(func(to int) Buffer { return send[to] }, func(from int) Buffer { return recv[from] })
}

// flatParts is flatData for each buffer of a list.
func (c *Comm) flatParts(all []Buffer, pack bool) [][]byte {
	flat := make([][]byte, len(all))
	for i, b := range all {
		flat[i] = c.flatData(b, pack)
	}
	return flat
}

func (c *Comm) unflattenParts(all []Buffer, flat [][]byte) {
	for i, b := range all {
		c.scatterFlat(&b, flat[i])
	}
}

// exchangeParts sends a part to each other rank, in the exchange order of the library. Each rank
// posts all its receives before it sends.
func (r *collectiveOperation) exchangeParts(send, recv func(rank int) Buffer) {
	order := r.state.exchangeOrder
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
	r.copyOwnPart(in[r.rank], r.flatData(send(r.rank), true))
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
			r.engine.Send(model.StandardMode, r.flatData(b, true), r.signature, r.jobRank(to), r.context+1, r.tag)
		}
	}
	r.waitPosted()
	r.raiseError()
	for from := range in {
		part := recv(from)
		r.scatterFlat(&part, in[from])
	}
}

// checkParts fails unless counts and offsets describe one valid part of b for each rank.
func (c *Comm) checkParts(b Buffer, counts, offsets []int) {
	if len(counts) != c.size || len(offsets) != c.size {
		c.engine.Fail(engine.ErrCount, "%d counts and %d offsets, and the communicator has %d ranks", len(counts), len(offsets), c.size)
	}
	for i := range counts {
		c.checkBuffer(b.SubBuffer(offsets[i], counts[i]))
	}
}

// checkRecvParts is checkParts for a receive buffer: its parts must not overlap each other or the
// send buffer.
func (c *Comm) checkRecvParts(send, recv *Buffer, counts, offsets []int) {
	c.checkParts(*recv, counts, offsets)
	c.checkPartsDisjoint(recv.Type, counts, offsets)
	if datatype.RangesOverlap(send, recv) {
		c.checkBuffersDisjoint([]Buffer{*send}, bufferParts(*recv, counts, offsets))
	}
}

// bufferParts returns the parts of a buffer.
func bufferParts(b Buffer, counts, offsets []int) []Buffer {
	all := make([]Buffer, len(counts))
	for i := range all {
		all[i] = b.SubBuffer(offsets[i], counts[i])
	}
	return all
}

// checkPartsDisjoint reports two parts that share an element. It is fast if the parts are in order.
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
			c.engine.ReportViolation(OverlappingReceives, engine.ErrBuffer, "what comes from rank %d (%d elements from %d on) and from rank %d (%d from %d on) goes to the same memory",
				a, counts[a], offsets[a], b, counts[b], offsets[b])
			return
		}
	}
}
