package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/match"
	"github.com/loggp/loggp/model"
)

// msg is what a receiver knows of a message from its first packet.
type msg struct {
	src      int32
	from     uint32 // the sender's operation
	size     int
	tag      int32
	sign     Sign
	key      device.Key
	protocol *Protocol
	data     []byte
}

// early is a message that came before its receive.
type early struct {
	match.Entry[*early]
	msg
	buf  []byte // memory of data
	next *early
}

// Recv receives into buf and returns when the message is there. Source and tag may be match.Any.
func (e *Engine) Recv(buf []byte, sign Sign, src int, context uint32, tag int) Status {
	return e.recv(e.into(buf, sign), src, context, tag)
}

func (e *Engine) recv(r *Op, src int, context uint32, tag int) Status {
	e.post(r, src, context, tag)
	e.await(r)
	e.spend(model.WorkReceived, 1)
	st, _ := r.Received()
	e.Release(r)
	return st
}

// Irecv starts to receive into buf.
func (e *Engine) Irecv(buf []byte, sign Sign, src int, context uint32, tag int) *Op {
	return e.irecv(e.into(buf, sign), src, context, tag)
}

func (e *Engine) irecv(r *Op, src int, context uint32, tag int) *Op {
	e.post(r, src, context, tag)
	e.spend(model.WorkPosted, 1)
	return r
}

// into returns an operation that is to receive into buf.
func (e *Engine) into(buf []byte, sign Sign) *Op {
	r := e.newOp()
	r.receive, r.buf, r.sign = true, buf, sign
	return r
}

// post starts an operation that receives: with a message that came early, or as one that waits.
func (e *Engine) post(r *Op, src int, context uint32, tag int) {
	e.spend(model.WorkReceive, 1)
	if e.watch != nil {
		e.watchReceive(r)
	}
	r.Envelope = match.Envelope{Context: context, Source: int32(src), Tag: int32(tag)}
	if m := e.lookEarly(r.Envelope); m != nil {
		e.early.Remove(&m.Entry)
		e.pair(r, &m.msg)
		e.drop(m)
	} else {
		e.posted.Add(&r.Entry)
	}
}

// drop gives back an early message that has been taken out of the queue.
func (e *Engine) drop(m *early) {
	m.data = nil
	m.next, e.spare = e.spare, m
}

func (e *Engine) lookEarly(x match.Envelope) *early {
	e.spend(model.WorkMatch, 1)
	if e.early.First() == nil {
		return nil
	}
	if m := e.early.Match(x); m != nil {
		return m.Value
	}
	return nil
}

// first takes in the first packet of a message.
func (e *Engine) first(p *device.Packet) {
	w := &p.Head
	m := &e.met // not a variable of its own: steps are called through pointers, so it would escape
	m.src, m.from, m.size, m.tag, m.key = int32(p.Src), uint32(w[3]), int(w[2]), int32(w[0]>>32), device.Key(w[4])
	m.protocol, m.sign, m.data = e.job.table[uint8(w[0]>>8)], Sign(w[3]>>32), p.Data
	x := match.Envelope{Context: uint32(w[1]), Source: m.src, Tag: m.tag}
	e.spend(model.WorkMatch, 1)
	r := e.posted.First()
	if r == nil || !r.Matches(x) {
		r = e.posted.Match(x)
	}
	if r != nil {
		e.posted.Remove(r)
		e.pair(r.Value, m)
		return
	}
	if model.Mode(w[0]>>16) == model.Ready {
		e.Fail(ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.named(m.src, x.Context), m.size, m.tag)
	}
	e.keep(x, m)
}

// keep keeps a message until its receive comes.
func (e *Engine) keep(x match.Envelope, m *msg) {
	k := e.spare
	if k == nil {
		k = &early{}
		k.Value = k
	} else {
		e.spare = k.next
		k.next = nil
	}
	k.Envelope, k.msg = x, *m
	if n := len(m.data); n > 0 {
		if cap(k.buf) < n {
			k.buf = make([]byte, n)
		}
		k.data = k.buf[:n]
		e.Copy(k.data, m.data)
	}
	e.early.Add(&k.Entry)
}

// pair goes on with a message whose receive is found.
func (e *Engine) pair(r *Op, m *msg) {
	if m.size > len(r.buf) {
		e.truncated(r, m)
	}
	if m.sign != r.sign {
		e.compare(r, m)
	}
	r.peer, r.tag, r.size, r.protocol = m.src, m.tag, m.size, m.protocol
	if m.protocol.Eager {
		e.take(r, m)
	}
	if m.protocol.Forgets {
		e.complete(r)
		return
	}
	m.protocol.Matched(e, r, m)
}

// truncated complains of a message that is too long. Tags of collective operations are none of the program's.
func (e *Engine) truncated(r *Op, m *msg) {
	if r.Context%2 == 1 {
		e.mustMatch(r, m)
		e.FailWith(int(m.src), ErrTruncate, "%s sent %d bytes where %d were expected: the ranks do not give as much as they take", e.named(m.src, r.Context), m.size, len(r.buf))
	}
	e.Fail(ErrTruncate, "the message from %s with tag %d has %d bytes, the receive has room for %d", e.named(m.src, r.Context), m.tag, m.size, len(r.buf))
}

// mustMatch complains of a message of another collective call than the one that receives it.
func (e *Engine) mustMatch(r *Op, m *msg) {
	if e.job.mismatch == nil {
		return
	}
	if c, text := e.job.mismatch(e.port.Rank(), r.Context&^1, int(m.src), int(m.tag), e.expect); c != "" {
		e.FailWith(int(m.src), c, "%s", text)
	}
}

// take copies the data of an RM to the user and frees its place in the window.
func (e *Engine) take(r *Op, m *msg) {
	e.Copy(r.buf, m.data)
	e.spend(model.WorkUnpack, len(m.data))
	e.flow.freed(int(m.src), len(m.data))
}

// unpack copies what came with a packet to where it is to be.
func (e *Engine) unpack(to, data []byte) {
	e.Copy(to, data)
	e.spend(model.WorkUnpack, len(data))
}

// await makes progress until an operation is finished.
func (e *Engine) await(o *Op) {
	if o.finished {
		return
	}
	e.wait = o
	for !o.finished {
		e.dispatch(e.next(true))
	}
	e.wait = nil
}

// Wait waits for an operation to finish. It is to be released then.
func (e *Engine) Wait(o *Op) {
	e.await(o)
	e.spend(model.WorkComplete, 1)
}

// Until makes progress until found. What it waits for, an operation among others, is for whoever asks.
func (e *Engine) Until(o *Op, found func() bool) {
	e.wait = o
	for !found() {
		e.progress(true)
	}
	e.wait = nil
	e.spend(model.WorkComplete, 1)
}

// look is how many packets a call that does not wait takes in at most: others may send faster than they can be taken in.
const look = 256

// Poll takes in what has arrived, and charges for having found something or nothing.
func (e *Engine) Poll(found func() bool) bool {
	ok := found()
	for i := 0; i < look && !ok && e.progress(false); i++ {
		ok = found()
	}
	if ok {
		e.spend(model.WorkComplete, 1)
	} else {
		e.spend(model.WorkPoll, 1)
	}
	return ok
}

// Test reports whether an operation is finished, after a look at what has arrived.
func (e *Engine) Test(o *Op) bool {
	for i := 0; i < look && !o.finished && e.progress(false); i++ {
	}
	if !o.finished {
		e.spend(model.WorkPoll, 1)
		return false
	}
	e.spend(model.WorkComplete, 1)
	return true
}

// Probe looks for an early message that a receive would take, and waits for one if block is true.
func (e *Engine) Probe(src int, context uint32, tag int, block bool) (Status, bool) {
	x := match.Envelope{Context: context, Source: int32(src), Tag: int32(tag)}
	for {
		for i := 0; i < look && e.progress(false); i++ {
		}
		if m := e.lookEarly(x); m != nil {
			return Status{int(m.src), int(m.tag), m.size}, true
		}
		if !block {
			return Status{}, false
		}
		e.sought = sought(x)
		e.wait = &e.sought
		e.progress(true)
		e.wait = nil
	}
}
