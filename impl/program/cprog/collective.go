//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
)

// Collective operations. A rank may pass MPI_IN_PLACE as its send buffer, or, at the root of a
// scatter, as its receive buffer. Package mpi has no in-place operations, so the data is copied
// first.

func barrier(r *rank, a args) { r.comm(a[0]).Barrier() }

func bcast(r *rank, a args) {
	c := r.comm(a[4])
	c.Bcast(r.buffer(a[0], int(a[1]), a[2]), int(a[3]))
}

// rankBlocksAt returns n blocks of count elements each as a buffer whose Count is count.
func (r *rank) rankBlocksAt(n int, at uintptr, count int, h uintptr) mpi.Buffer {
	t := r.datatype(h)
	if r.checkCount(count, t); productExceedsMemory(count*t.Size(), n) {
		r.raiseError(mpi.ErrCount, "%d elements of %d bytes for each of %d ranks are more than memory can have", count, t.Size(), n)
	}
	b := r.buffer(at, n*count, h)
	b.Count = count
	return b
}

// copyOwnPart returns a copy of this rank's part of b, as the send buffer of an in-place operation.
func copyOwnPart(c *comm, b mpi.Buffer) mpi.Buffer {
	return packedCopy(b.SubBuffer(c.Rank()*b.Count, b.Count))
}

// packedCopy returns a copy of a buffer in new memory that is no longer than the span of the data.
func packedCopy(b mpi.Buffer) mpi.Buffer {
	low, end := b.DataRange()
	if end <= low {
		b.Bytes, b.Origin = nil, 0
		return b
	}
	b.Bytes = device.CloneBytes(b.Bytes[b.Origin+low : b.Origin+end])
	b.Origin = -low
	return b
}

func gather(r *rank, a args) {
	c, root := r.comm(a[7]), int(a[6])
	var recv mpi.Buffer
	if c.Rank() == root {
		recv = r.rankBlocksAt(c.Size(), a[3], int(a[4]), a[5])
	}
	if a[0] == inPlace && c.Rank() == root {
		c.Gather(copyOwnPart(c, recv), recv, root)
		return
	}
	c.Gather(r.buffer(a[0], int(a[1]), a[2]), recv, root)
}

func scatter(r *rank, a args) {
	c, root := r.comm(a[7]), int(a[6])
	var send mpi.Buffer
	if c.Rank() == root {
		send = r.rankBlocksAt(c.Size(), a[0], int(a[1]), a[2])
	}
	if a[3] == inPlace && c.Rank() == root {
		c.Scatter(send, copyOwnPart(c, send), root)
		return
	}
	c.Scatter(send, r.buffer(a[3], int(a[4]), a[5]), root)
}

func allgather(r *rank, a args) {
	c := r.comm(a[6])
	recv := r.rankBlocksAt(c.Size(), a[3], int(a[4]), a[5])
	if a[0] == inPlace {
		c.Allgather(copyOwnPart(c, recv), recv)
		return
	}
	c.Allgather(r.buffer(a[0], int(a[1]), a[2]), recv)
}

func alltoall(r *rank, a args) {
	c := r.comm(a[6])
	recv := r.rankBlocksAt(c.Size(), a[3], int(a[4]), a[5])
	if a[0] == inPlace {
		c.Alltoall(cloneBuffer(recv), recv)
		return
	}
	c.Alltoall(r.rankBlocksAt(c.Size(), a[0], int(a[1]), a[2]), recv)
}

// rankParts is a buffer with one part per rank: part i is counts[i] elements, offsets[i] extents
// after the start.
type rankParts struct {
	buffer          mpi.Buffer
	counts, offsets []int
}

func (r *rank) rankPartsAt(n int, at, counts, offsets, h uintptr) rankParts {
	t := r.datatype(h)
	p := rankParts{counts: r.countsAt(counts, n), offsets: r.countsAt(offsets, n)}
	if n > 0 && counts == 0 {
		r.raiseError(mpi.ErrArg, "the array of counts is a null pointer")
	}
	low, end := 0, 0
	for i, count := range p.counts {
		if r.checkCount(count, t); count == 0 {
			continue
		}
		if offset := p.offsets[i]; productExceedsMemory(max(offset, -offset), max(t.Extent(), -t.Extent())) {
			r.raiseError(mpi.ErrArg, "displacement %d of elements of %d bytes is more than memory can have", offset, t.Extent())
		}
		l, e := mpi.Buffer{Count: count, Type: t}.DataRange()
		if e > l {
			shift := p.offsets[i] * t.Extent()
			if low == end {
				low, end = l+shift, e+shift
			} else {
				low, end = min(low, l+shift), max(end, e+shift)
			}
		}
	}
	p.buffer = r.bufferInRange(at, low, end, 0, t)
	p.buffer.Bytes = r.markMessageData(p.buffer.Bytes)
	return p
}

// list returns the parts of all ranks.
func (p rankParts) list() []mpi.Buffer {
	all := make([]mpi.Buffer, len(p.counts))
	for i := range all {
		all[i] = p.part(i)
	}
	return all
}

func (p rankParts) part(i int) mpi.Buffer { return p.buffer.SubBuffer(p.offsets[i], p.counts[i]) }

func gatherv(r *rank, a args) {
	c, root := r.comm(a[8]), int(a[7])
	if c.Rank() != root {
		c.Gatherv(r.buffer(a[0], int(a[1]), a[2]), mpi.Buffer{}, nil, nil, root)
		return
	}
	p := r.rankPartsAt(c.Size(), a[3], a[4], a[5], a[6])
	if a[0] == inPlace {
		c.Gatherv(packedCopy(p.part(root)), p.buffer, p.counts, p.offsets, root)
		return
	}
	c.Gatherv(r.buffer(a[0], int(a[1]), a[2]), p.buffer, p.counts, p.offsets, root)
}

func scatterv(r *rank, a args) {
	c, root := r.comm(a[8]), int(a[7])
	if c.Rank() != root {
		c.Scatterv(mpi.Buffer{}, nil, nil, r.buffer(a[4], int(a[5]), a[6]), root)
		return
	}
	p := r.rankPartsAt(c.Size(), a[0], a[1], a[2], a[3])
	if a[4] == inPlace {
		c.Scatterv(p.buffer, p.counts, p.offsets, packedCopy(p.part(root)), root)
		return
	}
	c.Scatterv(p.buffer, p.counts, p.offsets, r.buffer(a[4], int(a[5]), a[6]), root)
}

func allgatherv(r *rank, a args) {
	c := r.comm(a[7])
	p := r.rankPartsAt(c.Size(), a[3], a[4], a[5], a[6])
	if a[0] == inPlace {
		c.Allgatherv(packedCopy(p.part(c.Rank())), p.buffer, p.counts, p.offsets)
		return
	}
	c.Allgatherv(r.buffer(a[0], int(a[1]), a[2]), p.buffer, p.counts, p.offsets)
}

func alltoallv(r *rank, a args) {
	c := r.comm(a[8])
	into := r.rankPartsAt(c.Size(), a[4], a[5], a[6], a[7])
	from := into
	if a[0] == inPlace {
		from.buffer = cloneBuffer(into.buffer)
	} else {
		from = r.rankPartsAt(c.Size(), a[0], a[1], a[2], a[3])
	}
	c.Alltoallv(from.buffer, from.counts, from.offsets, into.buffer, into.counts, into.offsets)
}

// buffers returns a buffer for each rank. where has their displacements in bytes.
func (r *rank) buffers(at, counts uintptr, where []int, types uintptr) []mpi.Buffer {
	out := make([]mpi.Buffer, len(where))
	handles := r.handlesAt(types, len(out))
	for i, count := range r.countsAt(counts, len(out)) {
		out[i] = r.buffer(at+uintptr(where[i]), count, handles[i])
	}
	return out
}

func alltoallw(r *rank, a args) {
	c := r.comm(a[8])
	into := r.buffers(a[4], a[5], r.countsAt(a[6], c.Size()), a[7])
	var from []mpi.Buffer
	if a[0] == inPlace {
		from = make([]mpi.Buffer, len(into))
		for i := range into {
			from[i] = packedCopy(into[i])
		}
	} else {
		from = r.buffers(a[0], a[1], r.countsAt(a[2], c.Size()), a[3])
	}
	c.Alltoallw(from, into)
}

// checkDisjoint fails if the two buffers of a collective operation overlap.
func (r *rank) checkDisjoint(send, recv mpi.Buffer) {
	r.checkPartsDisjoint([]mpi.Buffer{send}, []mpi.Buffer{recv})
}

// checkPartsDisjoint fails if a send buffer overlaps a receive buffer.
func (r *rank) checkPartsDisjoint(send, recv []mpi.Buffer) {
	if text := mpi.DescribeOverlap(send, recv); text != "" {
		r.raiseError(mpi.ErrBuffer, "%s", text)
	}
}

// resultBuffersAt returns the buffers of a reduction whose result this rank receives.
func (r *rank) resultBuffersAt(send, recv uintptr, count int, h uintptr) (in, out mpi.Buffer) {
	out = r.buffer(recv, count, h)
	if send == inPlace {
		return packedCopy(out), out
	}
	return r.buffer(send, count, h), out
}

func reduce(r *rank, a args) {
	c, root := r.comm(a[6]), int(a[5])
	o := r.op(a[4], a[3])
	if c.Rank() != root {
		c.Reduce(r.buffer(a[0], int(a[2]), a[3]), mpi.Buffer{}, o, root)
		return
	}
	in, out := r.resultBuffersAt(a[0], a[1], int(a[2]), a[3])
	c.Reduce(in, out, o, root)
}

func reduceAllHandler(f func(c *mpi.Comm, send, recv mpi.Buffer, op *mpi.Op)) handler {
	return func(r *rank, a args) {
		c := r.comm(a[5])
		o := r.op(a[4], a[3])
		in, out := r.resultBuffersAt(a[0], a[1], int(a[2]), a[3])
		f(c.Comm, in, out, o)
	}
}

// exscan keeps the receive buffer of rank 0, which has no result, unchanged.
func exscan(r *rank, a args) {
	c := r.comm(a[5])
	o := r.op(a[4], a[3])
	if c.Rank() == 0 && a[0] != inPlace && a[0] != a[1] { // otherwise the buffers are wrong there, too
		in := r.buffer(a[0], int(a[2]), a[3])
		c.Exscan(in, packedCopy(in), o)
		return
	}
	in, out := r.resultBuffersAt(a[0], a[1], int(a[2]), a[3])
	c.Exscan(in, out, o)
}

func reduceScatter(r *rank, a args) {
	c := r.comm(a[5])
	counts := r.countsAt(a[2], c.Size())
	for _, n := range counts {
		r.checkCount(n, r.datatype(a[3]))
	}
	r.reduceParts(c, a[0], a[1], counts, a[3], a[4])
}

func reduceScatterBlock(r *rank, a args) {
	c := r.comm(a[5])
	counts := make([]int, c.Size())
	r.checkCount(int(a[2]), r.datatype(a[3]))
	for i := range counts {
		counts[i] = int(a[2])
	}
	r.reduceParts(c, a[0], a[1], counts, a[3], a[4])
}

func (r *rank) reduceParts(c *comm, send, recv uintptr, counts []int, h, op uintptr) {
	total := 0
	for _, n := range counts {
		total += n
	}
	o := r.op(op, h)
	var in mpi.Buffer
	if send == inPlace {
		in = packedCopy(r.buffer(recv, total, h))
	} else {
		in = r.buffer(send, total, h)
	}
	c.ReduceScatter(in, r.buffer(recv, counts[c.Rank()], h), counts, o)
}
