package engine

import (
	"maps"
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

// bufferScope is a set of communicators that have a buffer of their own, as a rank uses it.
type bufferScope struct {
	attachedBuffer
	outer *bufferScope // whose buffer is used if this one has none; nil: the rank's
}

// ScopeOfRank is the buffer scope of all communicators.
const ScopeOfRank = AnyContext

// NestBufferScope lets messages with a context use the buffer of an outer scope if that context has
// no buffer of its own. Scopes are named by contexts.
func (r *Rank) NestBufferScope(context, outer uint32) {
	r.bufferScopeOf(context).outer = r.bufferScopeOf(outer)
}

// EndBufferScope ends the use of a scope, when all messages have left its buffer.
func (r *Rank) EndBufferScope(context uint32) {
	if s := r.bufferScopes[context]; s != nil {
		r.waitForBuffer(&s.attachedBuffer)
		delete(r.bufferScopes, context)
	}
}

func (r *Rank) bufferScopeOf(context uint32) *bufferScope {
	s := r.bufferScopes[context]
	if s == nil {
		if r.bufferScopes == nil {
			r.bufferScopes = map[uint32]*bufferScope{}
		}
		s = &bufferScope{}
		r.bufferScopes[context] = s
	}
	return s
}

// bufferOfScope returns the buffer of a scope, attached or not.
func (r *Rank) bufferOfScope(scope uint32) *attachedBuffer {
	if scope == ScopeOfRank {
		return &r.buffer
	}
	return &r.bufferScopeOf(scope).attachedBuffer
}

// bufferOfMessage returns the buffer for messages with a context.
func (r *Rank) bufferOfMessage(context uint32) *attachedBuffer {
	if r.bufferScopes != nil {
		for s := r.bufferScopes[context]; s != nil; s = s.outer {
			if s.attached {
				return &s.attachedBuffer
			}
		}
	}
	return &r.buffer
}

// AttachBuffer lends a buffer for buffered messages of a scope.
func (r *Rank) AttachBuffer(scope uint32, b []byte) {
	a := r.bufferOfScope(scope)
	if a.attached {
		r.Fail(ErrBuffer, "a buffer of %d bytes is attached already", len(a.memory))
	}
	a.memory, a.attached = b, true
}

// AttachGrowingBuffer lets the library make the buffer, as large as messages need
// (MPI_BUFFER_AUTOMATIC).
func (r *Rank) AttachGrowingBuffer(scope uint32) {
	r.AttachBuffer(scope, nil)
	r.bufferOfScope(scope).grows = true
}

// DetachBuffer returns the buffer of a scope when all its messages have left.
func (r *Rank) DetachBuffer(scope uint32) []byte {
	a := r.bufferOfScope(scope)
	if !a.attached {
		r.Fail(ErrBuffer, "no buffer is attached")
	}
	r.waitForBuffer(a)
	b := a.memory
	*a = attachedBuffer{}
	return b
}

// WaitForBufferedSends makes progress until no buffered message is left.
func (r *Rank) WaitForBufferedSends() {
	r.waitForBuffer(&r.buffer)
	if len(r.bufferScopes) == 0 {
		return // without an allocation
	}
	for _, context := range slices.Sorted(maps.Keys(r.bufferScopes)) {
		r.waitForBuffer(&r.bufferScopes[context].attachedBuffer)
	}
}

func (r *Rank) waitForBuffer(a *attachedBuffer) {
	r.waitTarget = a
	for a.messagesInBuffer > 0 {
		r.engine.Progress(true)
	}
	r.waitTarget = nil
}

// bufferedMessages returns how many messages have not left the buffers.
func (r *Rank) bufferedMessages() int {
	n := r.buffer.messagesInBuffer
	for _, s := range r.bufferScopes {
		n += s.messagesInBuffer
	}
	return n
}

// ReserveBuffered makes o a buffered message of n bytes: it returns memory of the attached buffer
// to copy them to, which is free again when o is complete. Packets that have arrived may free some
// first.
func (r *Rank) ReserveBuffered(o *Op, n int) []byte {
	a := r.bufferOfMessage(o.Context)
	for {
		if at, ok := a.allocate(n); ok {
			a.messagesInBuffer++
			o.bufferOffset, o.attachedBuffer = int32(at), a
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
