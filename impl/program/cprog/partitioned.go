//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Partitioned communication (MPI-4.0, chapter 4). Each partition of a sender is a message of its
// own, which leaves when the partition is marked ready. The sender describes its partitions to the
// receiver in one message when the request is made, since the two sides may divide the data in
// different ways.

// partitioned is a partitioned send or receive.
type partitioned struct {
	c          *comm
	aside      *mpi.Comm
	sends      bool
	peer, tag  int
	b          mpi.Buffer // of one partition, at the beginning of all
	partitions int
	message    int // tag of the message of the first partition: each has its own

	description []int64     // user tag, partitions, bytes of each, message tag: of the sender
	described   mpi.Request // sends or receives the description; null: it is complete

	ready     []bool
	unready   int
	staged    []byte // packed data, where partitions of the two sides do not divide at elements
	extracted []bool // receiver's partitions that were copied from there
}

// Tags of messages beside the program's, above those of collective operations.
const (
	firstPartitionTag   = 2*tags + 1
	firstDescriptionTag = 1 << 30
)

func psendInit(r *rank, a args) { r.initPartitioned(a, true) }
func precvInit(r *rank, a args) { r.initPartitioned(a, false) }

func (r *rank) initPartitioned(a args, sends bool) {
	c, n, count := r.comm(a[6]), int(a[1]), int(a[2])
	r.checkInfo(a[7])
	x := &partitioned{c: c, aside: c.InternalComm(), sends: sends, peer: destination(int(a[4])), tag: sendTag(int(a[5])), partitions: n}
	switch {
	case n < 1 || n > firstDescriptionTag-firstPartitionTag:
		r.raiseError(mpi.ErrArg, "%d partitions: there are 1 to %d", n, firstDescriptionTag-firstPartitionTag)
	case x.tag < 0:
		r.raiseError(mpi.ErrTag, "tag %d: it is one tag, and not negative", int(a[5]))
	case x.peer < 0 && x.peer != mpi.ProcNull || x.peer >= c.Size():
		r.raiseError(mpi.ErrRank, "rank %d is not in a communicator of %d", int(a[4]), c.Size())
	}
	x.b = r.blocks(n, a[0], count, a[3])
	if r.types.get(kindType, a[3]) != nil {
		x.b.Type = r.keptType(x.b.Type)
	}
	x.describe()
	r.storePersistent(a[8], &pending{r: r, c: c, partitions: x})
}

// describe starts the message that describes the sender's partitions.
func (x *partitioned) describe() {
	tag := firstDescriptionTag + x.tag%(mpi.MaxTag-firstDescriptionTag)
	switch {
	case x.peer == mpi.ProcNull:
	case x.sends:
		if x.c.partitioned < firstPartitionTag || x.c.partitioned+x.partitions > firstDescriptionTag {
			x.c.partitioned = firstPartitionTag
		}
		x.message = x.c.partitioned
		x.c.partitioned += x.partitions
		x.description = []int64{int64(x.tag), int64(x.partitions), int64(x.b.Len()), int64(x.message)}
		x.described = x.aside.Isend(mpi.BufferOf(x.description), x.peer, tag)
	default:
		x.description = make([]int64, 4)
		x.described = x.aside.Irecv(mpi.BufferOf(x.description), x.peer, tag)
	}
}

// begin starts the operation.
func (x *partitioned) begin(p *pending) {
	p.idle, p.done, p.reqs = false, false, nil
	if x.sends {
		x.ready, x.unready = make([]bool, x.partitions), x.partitions
	} else if x.described.IsNull() {
		x.receive(p)
	}
	p.finish = func() { x.complete(p) }
}

// markReady sends a partition.
func (x *partitioned) markReady(p *pending, i int) {
	r := p.r
	switch {
	case i < 0 || i >= x.partitions:
		r.raiseError(mpi.ErrArg, "partition %d: there are %d", i, x.partitions)
	case p.idle:
		r.raiseError(mpi.ErrRequest, "the request is not active: start it first")
	case x.ready[i]:
		r.raiseError(mpi.ErrArg, "partition %d was marked ready before", i)
	}
	x.ready[i] = true
	if x.unready--; x.peer != mpi.ProcNull {
		p.reqs = append(p.reqs, x.aside.Isend(block(x.b, i), x.peer, x.message+i))
	}
}

// receive starts to receive the sender's partitions, which are described now.
func (x *partitioned) receive(p *pending) {
	if x.peer == mpi.ProcNull {
		return
	}
	r, tag, n, size := p.r, int(x.description[0]), int(x.description[1]), int(x.description[2])
	x.message = int(x.description[3])
	total := x.partitions * x.b.Len()
	switch {
	case tag != x.tag:
		r.raiseError(mpi.ErrTag, "tags %d and %d cannot be distinguished in partitioned communication", x.tag, tag)
	case n*size != total:
		r.raiseError(mpi.ErrTruncate, "the sender has %d partitions of %d bytes, the receiver %d of %d", n, size, x.partitions, x.b.Len())
	}
	each := x.b.Type.Size()
	x.staged, x.extracted = nil, make([]bool, x.partitions)
	if each > 0 && size%each > 0 {
		x.staged = make([]byte, total)
	}
	for i := range n {
		b := mpi.Buffer{}
		switch {
		case x.staged != nil:
			b = mpi.PackedBuffer(x.staged[i*size : (i+1)*size])
		case each == 0:
			b = zero
		default:
			b = x.b.SubBuffer(i*(size/each), size/each)
		}
		p.reqs = append(p.reqs, x.aside.Irecv(b, x.peer, x.message+i))
	}
}

// wait waits for the messages.
func (x *partitioned) wait(p *pending) {
	if x.sends && x.unready > 0 {
		p.r.raiseError(mpi.ErrPending, "the rank waits for a send of which %d partitions are not marked ready", x.unready)
	}
	if !x.described.IsNull() {
		x.described.Wait()
		if !x.sends {
			x.receive(p)
		}
	}
	mpi.WaitAll(p.reqs, nil)
}

// test reports whether the messages have been sent or received.
func (x *partitioned) test(p *pending) bool {
	if !x.described.IsNull() {
		if _, done := x.described.Test(); !done {
			return false
		}
		if !x.sends {
			x.receive(p)
		}
	}
	return x.unready == 0 && mpi.TestAll(p.reqs, nil)
}

// arrived reports whether a partition of the receiver's has been received.
func (x *partitioned) arrived(p *pending, i int) bool {
	switch {
	case x.sends:
		p.r.raiseError(mpi.ErrRequest, "the request is a send: only receives have partitions that arrive")
	case i < 0 || i >= x.partitions:
		p.r.raiseError(mpi.ErrArg, "partition %d: there are %d", i, x.partitions)
	}
	if p.idle || p.test() {
		return true
	}
	size := x.b.Len()
	if !x.described.IsNull() || size == 0 {
		return false
	}
	theirs := int(x.description[2])
	for k := i * size / theirs; k*theirs < (i+1)*size; k++ {
		if !p.reqs[k].IsComplete() {
			return false
		}
	}
	x.extract(i)
	return true
}

// extract copies a partition from where it was received to where it belongs, unless it was received
// there.
func (x *partitioned) extract(i int) {
	if x.staged != nil && !x.extracted[i] {
		x.extracted[i] = true
		block(x.b, i).Unpack(x.staged[i*x.b.Len():(i+1)*x.b.Len()], 0)
	}
}

// complete ends an operation whose messages have been sent or received.
func (x *partitioned) complete(p *pending) {
	s := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
	if !x.sends {
		for i := range x.extracted {
			x.extract(i)
		}
		s = mpi.Status{Source: x.peer, Tag: x.tag, Bytes: x.partitions * x.b.Len()}
		if x.peer == mpi.ProcNull {
			s.Tag, s.Bytes = mpi.AnyTag, 0
		}
	}
	p.status = &s
}

// free lets the description go on by itself if it was never waited for.
func (x *partitioned) free() {
	if !x.described.IsNull() {
		x.described.Free()
	}
}

// partitionedRequest returns the partitioned operation of a handle.
func (r *rank) partitionedRequest(h uintptr) (*pending, *partitioned) {
	_, x := r.requestOf(h)
	if x == nil || x.p == nil || x.p.partitions == nil {
		r.raiseError(mpi.ErrRequest, "the request is not one of partitioned communication")
	}
	return x.p, x.p.partitions
}

// markPartitions marks partitions of a send ready.
func (r *rank) markPartitions(h uintptr, list []int) {
	p, x := r.partitionedRequest(h)
	if !x.sends {
		r.raiseError(mpi.ErrRequest, "the request is a receive: only partitions of sends are marked ready")
	}
	for _, i := range list {
		x.markReady(p, i)
	}
}

func pready(r *rank, a args)     { r.markPartitions(a[1], []int{int(a[0])}) }
func preadyList(r *rank, a args) { r.markPartitions(a[2], intsAt(a[1], r.count(a[0]))) }

func preadyRange(r *rank, a args) {
	low, high := int(a[0]), int(a[1])
	if _, x := r.partitionedRequest(a[2]); low < 0 || high >= x.partitions || low > high {
		r.raiseError(mpi.ErrArg, "partitions %d to %d: there are %d", low, high, x.partitions)
	}
	list := make([]int, 0, high-low+1)
	for i := low; i <= high; i++ {
		list = append(list, i)
	}
	r.markPartitions(a[2], list)
}

func parrived(r *rank, a args) {
	p, x := r.partitionedRequest(a[0])
	storeAt(a[2], intOfBool(x.arrived(p, int(a[1]))))
}
