package engine

import (
	"math"
	"slices"
)

// attachedBuffer is the buffer that a program has lent for its buffered messages.
type attachedBuffer struct {
	memory           []byte
	attached         bool
	grows            bool         // it is the library's
	usedSpans        []bufferSpan // in order of place
	messagesInBuffer int          // messages that have not left
}

// bufferSpan is a part of the buffer in use.
type bufferSpan struct{ from, to int }

// BufferedOverhead is how much of the buffer each message takes beside its data
// (MPI_BSEND_OVERHEAD).
const BufferedOverhead = 16

// AttachBuffer lends a buffer for buffered messages.
func (r *Rank) AttachBuffer(b []byte) {
	if r.buffer.attached {
		r.Fail(ErrBuffer, "a buffer of %d bytes is attached already", len(r.buffer.memory))
	}
	r.buffer.memory, r.buffer.attached = b, true
}

// AttachGrowingBuffer lets the library make the buffer, as large as messages need
// (MPI_BUFFER_AUTOMATIC).
func (r *Rank) AttachGrowingBuffer() {
	r.AttachBuffer(nil)
	r.buffer.grows = true
}

// DetachBuffer returns the buffer when all its messages have left.
func (r *Rank) DetachBuffer() []byte {
	if !r.buffer.attached {
		r.Fail(ErrBuffer, "no buffer is attached")
	}
	r.WaitForBufferedSends()
	b := r.buffer.memory
	r.buffer = attachedBuffer{}
	return b
}

// WaitForBufferedSends makes progress until no buffered message is left.
func (r *Rank) WaitForBufferedSends() {
	r.waitTarget = &r.buffer
	for r.buffer.messagesInBuffer > 0 {
		r.engine.Progress(true)
	}
	r.waitTarget = nil
}

// ReserveBuffered makes o a buffered message of n bytes: it returns memory of the attached buffer
// to copy them to, which is free again when o is complete. Packets that have arrived may free some
// first.
func (r *Rank) ReserveBuffered(o *Op, n int) []byte {
	a := &r.buffer
	for {
		if at, ok := a.allocate(n); ok {
			a.messagesInBuffer++
			o.bufferOffset = int32(at)
			o.flags |= opDetached
			return a.memory[at : at+n]
		}
		if a.grows && len(a.memory)+n+BufferedOverhead <= math.MaxInt32/2 {
			a.memory = make([]byte, 2*(len(a.memory)+n+BufferedOverhead)) // messages that are in it keep what it was
			continue
		}
		if a.messagesInBuffer == 0 || !r.engine.Progress(false) {
			r.Fail(ErrBuffer, "no room for a message of %d bytes and %d of overhead: the attached buffer has %d bytes, %d messages are in it",
				n, BufferedOverhead, len(a.memory), len(a.usedSpans))
		}
	}
}

// NewSendOfBuffered returns a send of what a buffered send o has, from memory of the attached
// buffer.
func (r *Rank) NewSendOfBuffered(o *Op) *Op {
	b := r.NewOp()
	b.SetSend(o.Mode, o.Buf, o.Signature, int(o.Peer), o.Context, int(o.Tag))
	b.Buf = r.ReserveBuffered(b, len(o.Buf))
	r.Copy(b.Buf, o.Buf)
	return b
}

// NewDetachedSend lets a send of the program end before it is known that its message has arrived:
// it returns a send of the same data that goes on in its place, and whose data Own keeps when it
// has left for the first time.
func (r *Rank) NewDetachedSend(o *Op) *Op {
	x := r.NewOp()
	x.SetSend(o.Mode, o.Buf, o.Signature, int(o.Peer), o.Context, int(o.Tag))
	x.flags |= opFreed
	r.freedOps++
	return x
}

// CopyDetachedSendData keeps the data of such a send in memory of the rank. That costs no time: the
// system below has copied the data in the calls that sent it, and sends it again from there.
func (r *Rank) CopyDetachedSendData(o *Op) {
	b := r.ScratchBuffer(len(o.Buf))
	copy(b, o.Buf)
	o.Buf, o.isBufOfRank = b, true
}

// allocate takes the first room that is large enough.
func (a *attachedBuffer) allocate(n int) (int, bool) {
	at, i := 0, 0
	for i < len(a.usedSpans) && a.usedSpans[i].from-at < n+BufferedOverhead {
		at = a.usedSpans[i].to
		i++
	}
	if i == len(a.usedSpans) && len(a.memory)-at < n+BufferedOverhead {
		return 0, false
	}
	a.usedSpans = slices.Insert(a.usedSpans, i, bufferSpan{at, at + n + BufferedOverhead})
	return at, true
}

// release gives back the room at a place.
func (a *attachedBuffer) release(at int) {
	i := slices.IndexFunc(a.usedSpans, func(s bufferSpan) bool { return s.from == at })
	a.usedSpans = slices.Delete(a.usedSpans, i, i+1)
	a.messagesInBuffer--
}
