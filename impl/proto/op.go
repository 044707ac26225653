package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/match"
	"github.com/loggp/loggp/model"
)

// Op is a send or a receive that has been started. Its memory is used again after Release: whoever keeps an Op
// keeps its Use too, and compares.
type Op struct {
	match.Entry[*Op] // a receive, while it is posted
	protocol         *Protocol
	buf              []byte     // the user's, or the engine's if the user's has gaps
	staged           []byte     // a copy of buf that others may access, or a bounce buffer
	key              device.Key // of memory that was exposed: ours or the peer's
	size             int        // bytes of the message
	pos, piece       int        // how far the message is, and what is on its way
	peer             int32      // the other rank; of a receive, once it has a message
	tag              int32      // of the message
	id               uint32     // its place in Engine.ops
	reply            uint32     // the other rank's operation
	use              uint32
	sign             Sign
	shape            Shape  // of the user's data, of a receive; nil: it lies as it travels
	gathered         bool   // buf is the engine's
	recall           uint32 // names the cancel that is under way
	mode             model.Mode
	state            state
	receive          bool
	finished         bool
	plan             *Plan // of a persistent operation
	next             *Op
}

// state is what few operations are, in bits.
type state uint8

const (
	detached   state = 1 << iota // nobody will ask for it: a buffered message
	freed                        // nobody will ask for it: the program gave it up
	cancelling                   // the receiver was asked to take the message out
	cancelled                    // it has ended, and no message came or went
	started                      // a persistent operation, that Start has begun
)

// Status is what is known of a message that was received.
type Status struct {
	Source, Tag int // Source in ranks of the engine's world
	Bytes       int
}

// Finished reports whether the operation is complete.
func (o *Op) Finished() bool { return o.finished }

// Use tells the uses of the Op's memory apart.
func (o *Op) Use() uint32 { return o.use }

// Received returns what a finished receive received, and false of a send.
func (o *Op) Received() (Status, bool) { return Status{int(o.peer), int(o.tag), o.size}, o.receive }

// Cancelled reports whether a finished operation was cancelled.
func (o *Op) Cancelled() bool { return o.state&cancelled != 0 }

// data returns what other ranks are to see of the message.
func (o *Op) data() []byte {
	if o.staged != nil {
		return o.staged
	}
	return o.buf
}

func (e *Engine) newOp() *Op {
	o := e.unused
	if o == nil {
		return e.oneMore()
	}
	e.unused = o.next
	o.next = nil
	o.finished, o.receive, o.state = false, false, 0
	return o
}

// oneMore makes an operation. The first is a part of the engine: many a rank needs no other. It is not inlined, so that newOp is.
//
//go:noinline
func (e *Engine) oneMore() *Op {
	o := &e.op
	if len(e.ops) == 0 {
		e.ops = e.opAt[:0]
	} else {
		o = new(Op)
	}
	o.Value, o.id = o, uint32(len(e.ops))
	e.ops = append(e.ops, o)
	return o
}

// Finish returns an operation that is finished: one that has nothing to do. As a receive it has the status st.
func (e *Engine) Finish(receive bool, st Status) *Op {
	o := e.newOp()
	o.receive, o.finished = receive, true
	o.peer, o.tag, o.size = int32(st.Source), int32(st.Tag), st.Bytes
	return o
}

// Release gives back an operation that is finished and that nobody will look at any more. A persistent one is inactive then.
func (e *Engine) Release(o *Op) {
	if e.watch != nil {
		e.watch.forget(o)
	}
	if o.gathered {
		e.giveBack(o.buf)
		o.gathered = false
	}
	o.buf, o.protocol, o.shape = nil, nil, nil
	if o.plan != nil {
		o.finished, o.state = false, 0
		return
	}
	o.use++
	o.next, e.unused = e.unused, o
}

// complete ends an operation.
func (e *Engine) complete(o *Op) {
	o.finished = true
	if o.receive && o.gathered {
		o.shape.Scatter(o.buf[:o.size])
	}
	if o.state != 0 {
		e.completed(o)
	}
}

// completed does what is left to do with an operation that nobody will ask for.
func (e *Engine) completed(o *Op) {
	switch {
	case o.state&detached != 0:
		e.buffer.free(o.pos)
		e.Release(o)
	case o.state&freed != 0:
		e.freed--
		e.Release(o)
	}
}

// Open returns how many operations have not been released.
func (e *Engine) Open() int {
	n := len(e.ops)
	for o := e.unused; o != nil; o = o.next {
		n--
	}
	return n
}

// room returns n bytes of memory to stage or bounce in. One that is too short makes way for a longer one, so that there are no more
// than were ever in use at once.
func (e *Engine) room(n int) []byte {
	last := len(e.stages) - 1
	for i := last; i >= 0; i-- {
		if b := e.stages[i]; cap(b) >= n {
			e.stages[i], e.stages = e.stages[last], e.stages[:last]
			return b[:n]
		}
	}
	if last >= 0 {
		e.stages = e.stages[:last]
	}
	return make([]byte, n)
}

// stage copies the message to where other ranks may access it, if the library needs that and it is not there.
func (e *Engine) stage(s *Op) {
	e.spend(model.WorkPack, len(s.buf))
	if e.job.lib.Long[e.tier(s.peer)].Stage && len(s.buf) > 0 && s.state&detached == 0 {
		s.staged = e.room(len(s.buf))
		e.Copy(s.staged, s.buf)
	}
}

// unstage gives the copy back.
func (e *Engine) unstage(o *Op) {
	if o.staged != nil {
		e.giveBack(o.staged)
		o.staged = nil
	}
}

// giveBack gives back what room has returned.
func (e *Engine) giveBack(b []byte) { e.stages = append(e.stages, b) }
