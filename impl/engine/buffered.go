package engine

import (
	"maps"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/device"
)

// attachedBuffer is a buffer that a program has attached for buffered sends.
type attachedBuffer struct {
	memory           []byte
	attached         bool
	grows            bool         // the library allocates it and makes it larger as needed
	usedSpans        []bufferSpan // in address order
	messagesInBuffer int          // number of messages that have not left
}

// bufferSpan is a part of the buffer that is in use.
type bufferSpan struct{ from, to int }

// BufferedOverhead is the number of bytes that a message occupies in the buffer in addition to its
// data (MPI_BSEND_OVERHEAD).
const BufferedOverhead = 16

// bufferScope is a set of communicators with a common buffer, as used by one rank.
type bufferScope struct {
	attachedBuffer
	outer *bufferScope // its buffer is used if this scope has none; nil: the rank's
}

// ScopeOfRank is the buffer scope of all communicators of the rank.
const ScopeOfRank = AnyContext

// InheritAttachedBuffer makes messages with a context use the buffer of the scope outer if the
// context has no buffer of its own. A scope is identified by a context.
func (r *Rank) InheritAttachedBuffer(context, outer uint32) {
	r.bufferScopeOf(context).outer = r.bufferScopeOf(outer)
}

// EndBufferScope removes a scope after all messages have left its buffer.
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

// bufferOfScope returns the buffer of a scope, whether attached or not.
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

// AttachBuffer attaches a buffer for the buffered messages of a scope.
func (r *Rank) AttachBuffer(scope uint32, b []byte) {
	a := r.bufferOfScope(scope)
	if a.attached {
		r.Fail(ErrBuffer, "a buffer of %d bytes is attached already", len(a.memory))
	}
	a.memory, a.attached = b, true
}

// AttachGrowingBuffer makes the library allocate the buffer, as large as messages need
// (MPI_BUFFER_AUTOMATIC).
func (r *Rank) AttachGrowingBuffer(scope uint32) {
	r.AttachBuffer(scope, nil)
	r.bufferOfScope(scope).grows = true
}

// DetachBuffer waits until all messages have left the buffer of a scope, and returns it.
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
		return // allocates nothing
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

// bufferedMessages returns the number of messages that have not left the buffers.
func (r *Rank) bufferedMessages() int {
	n := r.buffer.messagesInBuffer
	for _, s := range r.bufferScopes {
		n += s.messagesInBuffer
	}
	return n
}

// ReserveBuffered makes o, whose Buf is the data to send, a buffered message of n bytes. It
// returns memory of the attached buffer for the data, which is freed when o is complete. It first
// handles arrived packets, which may free memory.
func (r *Rank) ReserveBuffered(o *Op, n int) []byte {
	a := r.bufferOfMessage(o.Context)
	for {
		if at, ok := a.allocate(n); ok {
			a.messagesInBuffer++
			o.bufferOffset, o.attachedBuffer = int32(at), a
			o.flags |= opDetached
			return device.SizeOnlyIf(device.IsSizeOnly(o.Buf), a.memory[at:at+n])
		}
		if a.grows && len(a.memory)+n+BufferedOverhead <= math.MaxInt32/2 {
			a.memory = make([]byte, 2*(len(a.memory)+n+BufferedOverhead)) // messages in the old memory keep it
			continue
		}
		if a.messagesInBuffer == 0 || !r.engine.Progress(false) {
			r.Fail(ErrBuffer, "no room for a message of %d bytes and %d of overhead: the attached buffer has %d bytes, %d messages are in it",
				n, BufferedOverhead, len(a.memory), len(a.usedSpans))
		}
	}
}

// NewSendOfBuffered returns a send of the data of the buffered send o, from the attached buffer.
func (r *Rank) NewSendOfBuffered(o *Op) *Op {
	b := r.NewOp()
	b.SetSend(o.Mode, o.Buf, o.Signature, int(o.Peer), o.Context, int(o.Tag))
	b.Buf = r.ReserveBuffered(b, len(o.Buf))
	r.Copy(b.Buf, o.Buf)
	return b
}

// NewDetachedSend allows a send of the program to complete before its message is known to have
// arrived. It returns a send of the same data that continues in its place. Call
// CopyDetachedSendData when the data has left for the first time.
func (r *Rank) NewDetachedSend(o *Op) *Op {
	x := r.NewOp()
	x.SetSend(o.Mode, o.Buf, o.Signature, int(o.Peer), o.Context, int(o.Tag))
	x.flags |= opFreed
	r.freedOps++
	return x
}

// CopyDetachedSendData copies the data of a detached send to memory of the rank. This takes no
// virtual time: the system below has already copied the data in the calls that sent it, and
// retransmits its own copy.
func (r *Rank) CopyDetachedSendData(o *Op) {
	b := r.ScratchFor(len(o.Buf), device.IsSizeOnly(o.Buf))
	device.CopyBytes(b, o.Buf)
	o.Buf, o.isBufOfRank = b, true
}

// allocate allocates the first free span that is large enough.
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

// release frees the span at an offset.
func (a *attachedBuffer) release(at int) {
	i := slices.IndexFunc(a.usedSpans, func(s bufferSpan) bool { return s.from == at })
	a.usedSpans = slices.Delete(a.usedSpans, i, i+1)
	a.messagesInBuffer--
}
