package proto

import "github.com/loggp/loggp/model"

// Plan is what a persistent operation does whenever it is started.
type Plan struct {
	Buf     []byte
	Sign    Sign
	Shape   Shape // in place of both, of data that has one
	Receive bool
	Mode    model.Mode // of a send
	Nobody  bool       // there is no peer, so there is nothing to do: a receive has Peer and Tag as its status
	Peer    int
	Context uint32
	Tag     int
}

// Init returns a persistent operation, which is inactive: it lives until Free, and does nothing until Start. Release makes it inactive again.
func (e *Engine) Init(p Plan) *Op {
	o := e.newOp()
	o.plan = &p
	return o
}

// Persistent reports whether an operation can be started again.
func (o *Op) Persistent() bool { return o.plan != nil }

// Inactive reports whether an operation is persistent and has not been started.
func (o *Op) Inactive() bool { return o.plan != nil && o.state&started == 0 }

// Start begins an inactive operation. It costs what Isend and Irecv do.
func (e *Engine) Start(o *Op) {
	p := o.plan
	o.state = started
	switch {
	case p.Nobody:
		o.receive, o.finished = p.Receive, true
		o.peer, o.tag, o.size = int32(p.Peer), int32(p.Tag), 0
	case p.Receive:
		e.startReceive(o, p)
	default:
		e.startSend(o, p)
	}
}

func (e *Engine) startReceive(r *Op, p *Plan) {
	if p.Shape != nil {
		e.lay(r, p.Shape)
	} else {
		r.receive, r.buf, r.sign = true, p.Buf, p.Sign
	}
	e.irecv(r, p.Peer, p.Context, p.Tag)
}

// startSend begins a send. That of a buffered message is complete when another operation has the message.
func (e *Engine) startSend(o *Op, p *Plan) {
	buf, sign, gathered := p.Buf, p.Sign, false
	if p.Shape != nil {
		buf, gathered = e.gather(p.Shape)
		sign = p.Shape.Sign(len(buf))
	}
	e.spend(model.WorkSend, 1)
	s := o
	if p.Mode == model.Buffered {
		s = e.newOp()
		o.finished = true
	}
	e.begin(s, e.choose(p.Mode, len(buf), p.Peer, p.Context), p.Mode, buf, sign, p.Peer, p.Context, p.Tag)
	switch {
	case gathered && p.Mode == model.Buffered: // has been copied once more
		e.giveBack(buf)
	case gathered:
		s.gathered = true
	}
	e.spend(model.Epilogue(p.Mode), 1)
}

// Free gives up an operation: it ends by itself if it is under way, and is given back then.
func (e *Engine) Free(o *Op) {
	idle := o.finished || o.Inactive()
	o.plan = nil
	if idle {
		e.Release(o)
		return
	}
	o.use++ // the program knows it no more
	o.state |= freed
	e.freed++
}
