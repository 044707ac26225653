package proto

import "slices"

// attached is the buffer that a program has lent for its buffered messages.
type attached struct {
	memory  []byte
	lent    bool
	used    []span // in order of place
	pending int    // messages that have not left
}

// span is a part of the buffer in use.
type span struct{ from, to int }

// Overhead is how much of the buffer each message takes beside its data (MPI_BSEND_OVERHEAD).
const Overhead = 16

// Attach lends a buffer for buffered messages.
func (e *Engine) Attach(b []byte) {
	if e.buffer.lent {
		e.Fail(ErrBuffer, "a buffer of %d bytes is attached already", len(e.buffer.memory))
	}
	e.buffer.memory, e.buffer.lent = b, true
}

// Detach returns the buffer when all its messages have left.
func (e *Engine) Detach() []byte {
	if !e.buffer.lent {
		e.Fail(ErrBuffer, "no buffer is attached")
	}
	e.drain()
	b := e.buffer.memory
	e.buffer = attached{}
	return b
}

// drain makes progress until no buffered message is left.
func (e *Engine) drain() {
	e.wait = &e.buffer
	for e.buffer.pending > 0 {
		e.progress(true)
	}
	e.wait = nil
}

// take finds room for n bytes and returns its place. What has arrived may free some first.
func (a *attached) take(e *Engine, n int) int {
	for {
		if at, ok := a.fit(n); ok {
			a.pending++
			return at
		}
		if a.pending == 0 || !e.progress(false) {
			e.Fail(ErrBuffer, "no room for a message of %d bytes and %d of overhead: the attached buffer has %d bytes, %d messages are in it",
				n, Overhead, len(a.memory), len(a.used))
		}
	}
}

// fit takes the first room that is large enough.
func (a *attached) fit(n int) (int, bool) {
	at, i := 0, 0
	for i < len(a.used) && a.used[i].from-at < n+Overhead {
		at = a.used[i].to
		i++
	}
	if i == len(a.used) && len(a.memory)-at < n+Overhead {
		return 0, false
	}
	a.used = slices.Insert(a.used, i, span{at, at + n + Overhead})
	return at, true
}

// free gives back the room at a place.
func (a *attached) free(at int) {
	i := slices.IndexFunc(a.used, func(s span) bool { return s.from == at })
	a.used = slices.Delete(a.used, i, i+1)
	a.pending--
}
