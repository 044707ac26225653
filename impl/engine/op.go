package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// Op is an active send or receive, or a persistent one. Its memory is reused after Release. To keep
// a reference to an Op, also keep its Generation, and compare.
//
// An engine has its own operations, which embed an Op; EngineOp refers to the engine's operation.
//
// Note: engines copy Peer, Tag and Context to an envelope right after these have been written. In
// the envelope's order the compiler would load two of them at once, which waits for both stores.
type Op struct {
	EngineOp  any
	Buf       []byte    // of the user; of the rank if the user's data has gaps
	Size      int       // bytes of the message
	Peer      int32     // the other rank; for a receive, valid once it has a message
	Context   uint32    // not next to Peer and Tag in the order of match.Envelope: see the Note
	Tag       int32     // of the message
	Signature Signature // of the data
	Mode      model.Mode
	Receive   bool

	finished           bool
	isBufOfRank        bool // Buf is memory of the rank
	flags              opFlags
	generation         uint32
	id                 uint32           // index in Rank.ops
	bufferOffset       int32            // position of a buffered message in the attached buffer
	attachedBuffer     *attachedBuffer  // that buffer
	postingNumber      uint64           // receive: number in the order of posting
	layout             Layout           // receive: layout of the user's data; nil: contiguous
	mismatch           *receiveMismatch // receive: how the message differs; nil: it fits
	persistentTemplate *PersistentTemplate
	trackedCall        *call // in a checked program: the call whose memory is tracked; nil: none is
	next               *Op
}

// opFlags are rare properties of an operation.
type opFlags uint8

const (
	opDetached         opFlags = 1 << iota // a buffered message, unknown to the program
	opFreed                                // the program has freed it
	opCancelled                            // it was cancelled: no message was transferred
	opStarted                              // a persistent operation that has been started
	opAbandonedReceive                     // replaces a receive that the program left open; also opFreed
	opService                              // belongs to the service; unknown to the program
)

// IsFinished reports whether the operation is complete.
func (o *Op) IsFinished() bool { return o.finished }

// ID returns the number of the operation at its rank, from 0.
func (o *Op) ID() uint32 { return o.id }

// Generation distinguishes the uses of the Op's memory.
func (o *Op) Generation() uint32 { return o.generation }

// Received returns the status of a finished receive, and false for a send.
func (o *Op) Received() (Status, bool) {
	return Status{Source: int(o.Peer), Tag: int(o.Tag), Bytes: o.Size}, o.Receive
}

// Layout returns the layout of a receive's data, or nil if it is contiguous.
func (o *Op) Layout() Layout { return o.layout }

// ReplaceLayout replaces the layout with an equivalent one, for an observer.
func (o *Op) ReplaceLayout(x Layout) { o.layout = x }

// IsCancelled reports whether a finished operation was cancelled.
func (o *Op) IsCancelled() bool { return o.flags&opCancelled != 0 }

// IsBuffered reports whether the operation is a buffered message with its data in the attached
// buffer.
func (o *Op) IsBuffered() bool { return o.flags&opDetached != 0 }

// IsService reports whether the operation belongs to the rank's service.
func (o *Op) IsService() bool { return o.flags&opService != 0 }

// IsPersistent reports whether the operation can be started again.
func (o *Op) IsPersistent() bool { return o.persistentTemplate != nil }

// IsInactive reports whether the operation is persistent and not started.
func (o *Op) IsInactive() bool { return o.persistentTemplate != nil && o.flags&opStarted == 0 }

// SetSend makes o a send of buf.
func (o *Op) SetSend(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int) {
	o.Mode, o.Buf, o.Size, o.Signature = m, buf, len(buf), s
	o.Peer, o.Context, o.Tag = int32(dst), context, int32(tag)
}

// NewOp returns an operation that has not been started.
func (r *Rank) NewOp() *Op {
	o := r.freeOps
	if o == nil {
		return r.allocateOp()
	}
	r.freeOps = o.next
	o.next = nil
	o.finished, o.Receive, o.flags = false, false, 0
	return o
}

// allocateOp allocates an operation. It is not inlined, so that NewOp is.
//
//go:noinline
func (r *Rank) allocateOp() *Op {
	o := r.engine.NewOp()
	o.id = uint32(len(r.ops))
	if r.ops == nil {
		r.ops = r.firstOps[:0]
	}
	r.ops = append(r.ops, o)
	return o
}

// NewFinishedOp returns a finished operation without a message, such as one with ProcNull. As a
// receive it has the status st.
func (r *Rank) NewFinishedOp(receive bool, st Status) *Op {
	o := r.NewOp()
	o.Receive, o.finished = receive, true
	o.Peer, o.Tag, o.Size = int32(st.Source), int32(st.Tag), st.Bytes
	return o
}

// Release makes a finished operation available for reuse. A persistent one becomes inactive.
func (r *Rank) Release(o *Op) {
	if r.overlapChecker != nil {
		r.overlapChecker.stopTracking(o)
	}
	if o.isBufOfRank {
		r.ReleaseScratch(o.Buf)
		o.isBufOfRank = false
	}
	o.Buf, o.layout, o.mismatch = nil, nil, nil
	if o.persistentTemplate != nil {
		o.finished, o.flags = false, 0
		return
	}
	o.generation++
	o.next, r.freeOps = r.freeOps, o
}

// Complete marks an operation as finished.
func (r *Rank) Complete(o *Op) {
	o.finished = true
	if o.Receive && o.flags&opCancelled == 0 {
		r.traffic.Received[o.Context&1].add(int(o.Peer))
		if r.overlapChecker != nil {
			r.overlapChecker.countPeerMessages(int(o.Peer), o.Context, 1, 1)
		}
		if o.isBufOfRank {
			o.layout.Scatter(o.Buf[:o.Size])
		}
	}
	if o.flags != 0 {
		r.finishDetachedOp(o)
	}
}

// finishDetachedOp completes the remaining work for an operation that the program will not
// complete.
func (r *Rank) finishDetachedOp(o *Op) {
	switch {
	case o.flags&opDetached != 0:
		o.attachedBuffer.release(int(o.bufferOffset))
		r.Release(o)
	case o.flags&opFreed != 0:
		r.freedOps--
		if o.flags&opAbandonedReceive != 0 {
			r.abandonedReceives--
		}
		r.Release(o)
	case o.flags&opService != 0:
		r.service.hasFinishedOps = true
	}
}

// FinishCancelled marks an operation as cancelled.
func (r *Rank) FinishCancelled(o *Op) {
	o.flags |= opCancelled
	o.Size = 0
	if t := &r.traffic.Sent[o.Context&1]; !o.Receive {
		t.Count--
		t.Peers -= int(o.Peer)
		if r.overlapChecker != nil {
			r.overlapChecker.countPeerMessages(int(o.Peer), o.Context, 0, -1)
		}
	}
	r.Complete(o)
}

// OpenOps returns the number of operations that have not been released.
func (r *Rank) OpenOps() int {
	n := len(r.ops)
	for o := r.freeOps; o != nil; o = o.next {
		n--
	}
	return n
}

// ScratchBuffer returns n bytes of temporary memory for copying messages. Return it by
// ReleaseScratch. A buffer that is too short is replaced by a longer one, so there are never more
// buffers than were in use at once.
func (r *Rank) ScratchBuffer(n int) []byte {
	last := len(r.scratch) - 1
	for i := last; i >= 0; i-- {
		if b := r.scratch[i]; cap(b) >= n {
			r.scratch[i], r.scratch = r.scratch[last], r.scratch[:last]
			return b[:n]
		}
	}
	if last >= 0 {
		r.scratch = r.scratch[:last]
	}
	return make([]byte, n)
}

// ScratchFor is ScratchBuffer for n bytes of data, which is size-only if sizeOnly is true.
func (r *Rank) ScratchFor(n int, sizeOnly bool) []byte {
	if sizeOnly {
		return device.SizeOnly(r.ScratchBuffer(n + 1)[:n])
	}
	return r.ScratchBuffer(n)
}

// ReleaseScratch takes back memory of ScratchBuffer.
func (r *Rank) ReleaseScratch(b []byte) { r.scratch = append(r.scratch, device.ClearSizeOnly(b)) }
