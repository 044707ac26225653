package mpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// SendInit returns a persistent request that sends in standard mode whenever it is started. It lives until Free. Start costs what Isend does, and allocates nothing.
func (c *Comm) SendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("SendInit", model.Standard, &b, dst, tag)
}

// SsendInit returns a persistent request that sends in synchronous mode.
func (c *Comm) SsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("SsendInit", model.Synchronous, &b, dst, tag)
}

// RsendInit returns a persistent request that sends in ready mode: the matching receive must have been posted when it is started.
func (c *Comm) RsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("RsendInit", model.Ready, &b, dst, tag)
}

// BsendInit returns a persistent request that sends in buffered mode: each start is complete when its copy is in the attached buffer.
func (c *Comm) BsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("BsendInit", model.Buffered, &b, dst, tag)
}

// RecvInit returns a persistent request that receives whenever it is started. Source and tag may be AnySource and AnyTag.
func (c *Comm) RecvInit(b Buffer, src, tag int) Request {
	p := engine.Template{Receive: true, Peer: ProcNull, Tag: AnyTag, Null: true}
	if c.receiving("RecvInit", src, tag) {
		p = engine.Template{Receive: true, Peer: c.world(src), Context: c.context, Tag: tag}
		if flat, sign, ok := b.Plain(); ok {
			p.Buf, p.Sign = flat, engine.Signature(sign)
		} else {
			p.Layout = c.room(&b)
		}
	}
	return c.request(c.e.Init(p))
}

func (c *Comm) sendInit(call string, m model.Mode, b *Buffer, dst, tag int) Request {
	p := engine.Template{Mode: m, Peer: ProcNull, Tag: tag, Null: true}
	if c.sending(call, dst, tag) {
		p = engine.Template{Mode: m, Peer: c.world(dst), Context: c.context, Tag: tag}
		if flat, sign, ok := b.Plain(); ok {
			p.Buf, p.Sign = flat, engine.Signature(sign)
		} else {
			p.Layout = c.shaped(b)
		}
	}
	return c.request(c.e.Init(p))
}

// Start begins the operation of a persistent request that is inactive.
func (r *Request) Start() { r.start("Start") }

// StartAll starts all of a list, in its order.
func StartAll(reqs []Request) {
	for i := range reqs {
		reqs[i].start("StartAll")
	}
}

func (r *Request) start(call string) {
	r.named(call)
	switch {
	case !r.op.Persistent():
		r.c.e.Fail(engine.ErrRequest, "the request is not persistent: it was started when it was made")
	case !r.op.Inactive():
		r.c.e.Fail(engine.ErrRequest, "the request is active already: wait for it first")
	}
	r.c.e.Start(r.op)
}

// Free gives the request up, which is null then. An operation that is under way completes by itself, and Finalize waits for it; nobody will know when its buffer may be
// used again. A persistent request that is inactive is gone at once.
func (r *Request) Free() {
	r.named("Free")
	r.c.e.Free(r.op)
	*r = Request{}
}

// Cancel asks for an active operation to end without a message, and returns at once. Wait or Test is still to be called, and its Status says whether it was cancelled: either it was,
// and no message came or went, or it completed as ever.
//
// A receive is cancelled if it has no message. A send is cancelled by its receiver, if the message has no receive there: this takes a packet each way, and the receiver has to be
// in a call, or in Finalize with the message taken in. What has left and is complete, as buffered sends and short ones are, goes on.
func (r *Request) Cancel() {
	r.named("Cancel")
	if r.op.Inactive() {
		r.c.e.Fail(engine.ErrRequest, "the request is not active")
	}
	r.c.e.Cancel(r.op)
}

// named enters a call that needs a request.
func (r *Request) named(call string) {
	if r.op == nil {
		fail(call, engine.ErrRequest, "the request is null")
	}
	r.c.e.EnterOn(call, r.c.context)
	r.check()
}
