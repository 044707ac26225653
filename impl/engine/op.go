package engine

import "github.com/loggp/loggp/model"

// Op is a send or a receive that has been started, or a persistent one. Its memory is used again
// after Release. To keep an Op, keep its Use too, and compare.
//
// An engine has operations of its own, each with an Op in it whose Self is that operation.
//
// Note: an engine copies Peer, Tag and Context to an envelope as soon as they have been written. In
// the envelope's order the compiler would load two of them at once, which waits for both stores.
type Op struct {
	EngineOp  any
	Buf       []byte    // the user's, or the rank's if the user's has gaps
	Size      int       // bytes of the message
	Peer      int32     // the other rank; of a receive, once it has a message
	Context   uint32    // not beside Peer and Tag in the order of match.Envelope: see the Note
	Tag       int32     // of the message
	Signature Signature // of the data
	Mode      model.Mode
	Receive   bool

	finished           bool
	isBufOfRank        bool // Buf is the rank's
	flags              opFlags
	generation         uint32
	id                 uint32           // its place in Rank.ops
	bufferOffset       int32            // place of a buffered message in the attached buffer
	attachedBuffer     *attachedBuffer  // that buffer
	postingNumber      uint64           // of a receive: its number among those of the rank
	layout             Layout           // of the user's data, of a receive; nil: it lies as it travels
	mismatch           *receiveMismatch // of a receive whose message is not what it wants; nil: it is
	persistentTemplate *PersistentTemplate
	next               *Op
}

// opFlags is what few operations are, in bits.
type opFlags uint8

const (
	opDetached         opFlags = 1 << iota // a buffered message: the program does not know it
	opFreed                                // the program gave it up
	opCancelled                            // it has ended, and no message came or went
	opStarted                              // a persistent operation, that Start has begun
	opAbandonedReceive                     // a receive in place of one that the program has left open; it is freed, too
	opService                              // the service's: the program does not know it
)

// IsFinished reports whether the operation is complete.
func (o *Op) IsFinished() bool { return o.finished }

// ID names the operation among those of its rank, from 0.
func (o *Op) ID() uint32 { return o.id }

// Generation tells the uses of the Op's memory apart.
func (o *Op) Generation() uint32 { return o.generation }

// Received returns what a finished receive received, and false of a send.
func (o *Op) Received() (Status, bool) {
	return Status{Source: int(o.Peer), Tag: int(o.Tag), Bytes: o.Size}, o.Receive
}

// Layout returns the layout of the data of a receive, or nil if it lies as it travels.
func (o *Op) Layout() Layout { return o.layout }

// ReplaceLayout replaces it by one that does the same, for an observer.
func (o *Op) ReplaceLayout(x Layout) { o.layout = x }

// IsCancelled reports whether a finished operation was cancelled.
func (o *Op) IsCancelled() bool { return o.flags&opCancelled != 0 }

// IsBuffered reports whether the operation is a buffered message, whose data is in the attached
// buffer.
func (o *Op) IsBuffered() bool { return o.flags&opDetached != 0 }

// IsService reports whether the operation is one of the rank's service.
func (o *Op) IsService() bool { return o.flags&opService != 0 }

// IsPersistent reports whether the operation can be started again.
func (o *Op) IsPersistent() bool { return o.persistentTemplate != nil }

// IsInactive reports whether the operation is persistent and has not been started.
func (o *Op) IsInactive() bool { return o.persistentTemplate != nil && o.flags&opStarted == 0 }

// SetSend makes o the send of buf.
func (o *Op) SetSend(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int) {
	o.Mode, o.Buf, o.Size, o.Signature = m, buf, len(buf), s
	o.Peer, o.Context, o.Tag = int32(dst), context, int32(tag)
}

// NewOp returns an operation that is not started.
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

// allocateOp makes an operation. It is not inlined, so that NewOp is.
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

// NewFinishedOp returns an operation that is finished: one that has nothing to do. As a receive it
// has the status st.
func (r *Rank) NewFinishedOp(receive bool, st Status) *Op {
	o := r.NewOp()
	o.Receive, o.finished = receive, true
	o.Peer, o.Tag, o.Size = int32(st.Source), int32(st.Tag), st.Bytes
	return o
}

// Release gives back an operation that is finished and no longer needed. A
// persistent one is inactive then.
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

// Complete ends an operation.
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

// finishDetachedOp does what is left to do with an operation that the program will not ask for.
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

// FinishCancelled ends an operation that no message comes of.
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

// OpenOps returns how many operations have not been released.
func (r *Rank) OpenOps() int {
	n := len(r.ops)
	for o := r.freeOps; o != nil; o = o.next {
		n--
	}
	return n
}

// ScratchBuffer returns n bytes of memory to copy messages through, to be given back by GiveBack.
// One piece that is too short makes way for a longer one, so that there are no more than were ever
// in use at once.
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

// ReleaseScratch gives back what Room has returned.
func (r *Rank) ReleaseScratch(b []byte) { r.scratch = append(r.scratch, b) }
