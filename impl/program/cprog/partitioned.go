//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Partitioned communication (MPI-4.0, chapter 4). Each partition of a sender is a separate message,
// which is sent when the partition is marked ready. Sender and receiver may divide the data
// differently, so the sender describes its partitions in one message when the request is created.

// partitionedOperation is a partitioned send or receive.
type partitionedOperation struct {
	comm            *comm
	internalComm    *mpi.Comm
	isSend          bool
	peer, tag       int
	firstPartition  mpi.Buffer // the first partition of the program's buffer
	partitions      int
	firstMessageTag int // tag of the first partition's message; the others follow

	description        []int64     // of the sender: user tag, number of partitions, bytes of each, tag of the first message
	descriptionRequest mpi.Request // for the description; null: complete

	ready        []bool
	unreadyCount int
	nextRequest  int    // first message that no test has seen to be complete
	packedData   []byte // packed data, if the two sides do not divide it at the same elements
	extracted    []bool // partitions of the receiver that were unpacked from packedData
}

// Tags of internal messages, above those of collective operations.
const (
	firstPartitionTag   = 2*maxOpenCollectives + 1
	firstDescriptionTag = 1 << 30
)

func psendInit(r *rank, a args) { r.storePartitionedInit(a, true) }
func precvInit(r *rank, a args) { r.storePartitionedInit(a, false) }

func (r *rank) storePartitionedInit(a args, sends bool) {
	c, n, count := r.comm(a[6]), int(a[1]), int(a[2])
	r.checkInfo(a[7])
	x := &partitionedOperation{comm: c, internalComm: c.InternalComm(), isSend: sends, peer: destinationRank(int(a[4])), tag: sendTag(int(a[5])), partitions: n}
	switch {
	case n < 1 || n > firstDescriptionTag-firstPartitionTag:
		r.raiseError(mpi.ErrArg, "%d partitions: there are 1 to %d", n, firstDescriptionTag-firstPartitionTag)
	case x.tag < 0:
		r.raiseError(mpi.ErrTag, "tag %d: it is not negative, and MPI_ANY_TAG is not allowed in partitioned communication", int(a[5]))
	case x.peer < 0 && x.peer != mpi.ProcNull || x.peer >= c.Size():
		r.raiseError(mpi.ErrRank, "rank %d is not in a communicator of %d", int(a[4]), c.Size())
	}
	x.firstPartition = r.rankBlocksAt(n, a[0], count, a[3])
	if r.types.get(kindType, a[3]) != nil {
		x.firstPartition.Type = r.copyType(x.firstPartition.Type)
	}
	x.startDescriptionMessage()
	r.storePersistent(a[8], &pendingOperation{rank: r, comm: c, partitioned: x})
}

// startDescriptionMessage starts the message that describes the sender's partitions.
func (x *partitionedOperation) startDescriptionMessage() {
	tag := firstDescriptionTag + x.tag%(mpi.MaxTag-firstDescriptionTag)
	switch {
	case x.peer == mpi.ProcNull:
	case x.isSend:
		if x.comm.nextPartitionTag < firstPartitionTag || x.comm.nextPartitionTag+x.partitions > firstDescriptionTag {
			x.comm.nextPartitionTag = firstPartitionTag
		}
		x.firstMessageTag = x.comm.nextPartitionTag
		x.comm.nextPartitionTag += x.partitions
		x.description = []int64{int64(x.tag), int64(x.partitions), int64(x.firstPartition.Len()), int64(x.firstMessageTag)}
		x.descriptionRequest = x.internalComm.Isend(mpi.BufferOf(x.description), x.peer, tag)
	default:
		x.description = make([]int64, 4)
		x.descriptionRequest = x.internalComm.Irecv(mpi.BufferOf(x.description), x.peer, tag)
	}
}

// start starts the operation.
func (x *partitionedOperation) start(p *pendingOperation) {
	p.isInactive, p.isComplete, p.reqs, x.nextRequest = false, false, nil, 0
	if x.isSend {
		x.ready, x.unreadyCount = make([]bool, x.partitions), x.partitions
	} else if x.descriptionRequest.IsNull() {
		x.startReceives(p)
	}
	p.onCompletion = func() { x.complete(p) }
}

// markReady sends partition i.
func (x *partitionedOperation) markReady(p *pendingOperation, i int) {
	r := p.rank
	switch {
	case i < 0 || i >= x.partitions:
		r.raiseError(mpi.ErrArg, "partition %d: there are %d", i, x.partitions)
	case p.isInactive:
		r.raiseError(mpi.ErrRequest, "the request is not active: start it first")
	case x.ready[i]:
		r.raiseError(mpi.ErrArg, "partition %d was marked ready before", i)
	}
	x.ready[i] = true
	p.copies.load(r)
	if x.unreadyCount--; x.peer != mpi.ProcNull {
		p.reqs = append(p.reqs, x.internalComm.Isend(rankBlock(x.firstPartition, i), x.peer, x.firstMessageTag+i))
	}
}

// startReceives starts to receive the sender's partitions, once the description has arrived.
func (x *partitionedOperation) startReceives(p *pendingOperation) {
	if x.peer == mpi.ProcNull {
		return
	}
	r, tag, n, size := p.rank, int(x.description[0]), int(x.description[1]), int(x.description[2])
	x.firstMessageTag = int(x.description[3])
	total := x.partitions * x.firstPartition.Len()
	switch {
	case tag != x.tag:
		r.raiseError(mpi.ErrTag, "tags %d and %d cannot be distinguished in partitioned communication", x.tag, tag)
	case n*size != total:
		r.raiseError(mpi.ErrTruncate, "the sender has %d partitions of %d bytes, the receiver %d of %d", n, size, x.partitions, x.firstPartition.Len())
	}
	each := x.firstPartition.Type.Size()
	x.packedData, x.extracted = nil, make([]bool, x.partitions)
	if each > 0 && size%each > 0 {
		x.packedData = make([]byte, total)
	}
	for i := range n {
		b := mpi.Buffer{}
		switch {
		case x.packedData != nil:
			b = mpi.PackedBuffer(x.packedData[i*size : (i+1)*size])
		case each == 0:
			b = emptyBuffer
		default:
			b = x.firstPartition.SubBuffer(i*(size/each), size/each)
		}
		p.reqs = append(p.reqs, x.internalComm.Irecv(b, x.peer, x.firstMessageTag+i))
	}
}

// wait waits for all messages.
func (x *partitionedOperation) wait(p *pendingOperation) {
	if x.isSend && x.unreadyCount > 0 {
		p.rank.raiseError(mpi.ErrPending, "the rank waits for a send of which %d partitions are not marked ready", x.unreadyCount)
	}
	if !x.descriptionRequest.IsNull() {
		x.descriptionRequest.Wait()
		if !x.isSend {
			x.startReceives(p)
		}
	}
	mpi.WaitAll(p.reqs, nil)
}

// test reports whether all messages have been sent or received.
func (x *partitionedOperation) test(p *pendingOperation) bool {
	if !x.descriptionRequest.IsNull() {
		if _, done := x.descriptionRequest.Test(); !done {
			return false
		}
		if !x.isSend {
			x.startReceives(p)
		}
	}
	return x.unreadyCount == 0 && mpi.TestAllAgain(p.reqs, nil, &x.nextRequest)
}

// hasArrived reports whether partition i of the receiver has arrived.
func (x *partitionedOperation) hasArrived(p *pendingOperation, i int) bool {
	switch {
	case x.isSend:
		p.rank.raiseError(mpi.ErrRequest, "the request is a send: only receives have partitions that arrive")
	case i < 0 || i >= x.partitions:
		p.rank.raiseError(mpi.ErrArg, "partition %d: there are %d", i, x.partitions)
	}
	if p.isInactive || p.test() {
		return true
	}
	size := x.firstPartition.Len()
	if !x.descriptionRequest.IsNull() || size == 0 {
		return false
	}
	theirs := int(x.description[2])
	for k := i * size / theirs; k*theirs < (i+1)*size; k++ {
		if !p.reqs[k].IsComplete() {
			return false
		}
	}
	x.unpackPartition(i)
	p.copies.store(p.rank)
	return true
}

// unpackPartition copies partition i to the program's buffer, unless it was received there.
func (x *partitionedOperation) unpackPartition(i int) {
	if x.packedData != nil && !x.extracted[i] {
		x.extracted[i] = true
		rankBlock(x.firstPartition, i).Unpack(x.packedData[i*x.firstPartition.Len():(i+1)*x.firstPartition.Len()], 0)
	}
}

// complete ends an operation whose messages have been sent or received.
func (x *partitionedOperation) complete(p *pendingOperation) {
	s := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
	if !x.isSend {
		for i := range x.extracted {
			x.unpackPartition(i)
		}
		s = mpi.Status{Source: x.peer, Tag: x.tag, Bytes: x.partitions * x.firstPartition.Len()}
		if x.peer == mpi.ProcNull {
			s.Tag, s.Bytes = mpi.AnyTag, 0
		}
	}
	p.status = &s
}

// freeDescription frees the description's request if the program has never waited for it.
func (x *partitionedOperation) freeDescription() {
	if !x.descriptionRequest.IsNull() {
		x.descriptionRequest.Free()
	}
}

// partitionedRequest returns the partitioned operation with a handle.
func (r *rank) partitionedRequest(h uintptr) (*pendingOperation, *partitionedOperation) {
	_, x := r.requestOf(h)
	if x == nil || x.pending == nil || x.pending.partitioned == nil {
		r.raiseError(mpi.ErrRequest, "the request is not one of partitioned communication")
	}
	return x.pending, x.pending.partitioned
}

// markPartitions marks partitions of a send as ready.
func (r *rank) markPartitions(h uintptr, list []int) {
	p, x := r.partitionedRequest(h)
	if !x.isSend {
		r.raiseError(mpi.ErrRequest, "the request is a receive: only partitions of sends are marked ready")
	}
	for _, i := range list {
		x.markReady(p, i)
	}
}

func pready(r *rank, a args)     { r.markPartitions(a[1], []int{int(a[0])}) }
func preadyList(r *rank, a args) { r.markPartitions(a[2], intsAt(a[1], r.checkedCount(a[0]))) }

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
	storeAt(a[2], intOfBool(x.hasArrived(p, int(a[1]))))
}
