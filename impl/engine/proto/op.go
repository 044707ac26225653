package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// op is a send or a receive that has been started.
type op struct {
	engine.Op
	posted       match.Entry[*op] // a receive, while it is posted
	protocol     *Protocol        // nil: a receive without a message
	staged       []byte           // a copy of Buf that others may access, or a bounce buffer
	key          device.Key       // of memory that was exposed: ours or the peer's
	pos, chunk   int              // how far the message is, and what is on its way
	reply        uint32           // the other rank's operation
	cancelSerial uint32           // names the cancel that is under way
	cancelling   bool             // the receiver was asked to take the message out
}

// NewOp implements engine.Engine. The first operation is a part of the engine: many a rank needs no
// other.
func (e *Engine) NewOp() *engine.Op {
	o := &e.op
	if len(e.ops) == 0 {
		e.ops = e.firstOps[:0]
	} else {
		o = new(op)
	}
	o.EngineOp, o.posted.Value = o, o
	e.ops = append(e.ops, o)
	return &o.Op
}

// data returns what other ranks are to see of the message.
func (o *op) data() []byte {
	if o.staged != nil {
		return o.staged
	}
	return o.Buf
}

// complete ends an operation.
func (e *Engine) complete(o *op) {
	o.cancelling = false
	e.rank.Complete(&o.Op)
}

// stage copies the message to where other ranks may access it, if the library needs that and it is
// not there.
func (e *Engine) stage(s *op) {
	e.spend(model.ProtoPack, len(s.Buf))
	if e.job.library.Proto.Long[e.tier(s.Peer)].Stage && len(s.Buf) > 0 && !s.IsBuffered() {
		s.staged = e.rank.ScratchBuffer(len(s.Buf))
		e.rank.Copy(s.staged, s.Buf)
	}
}

// unstage gives the copy back.
func (e *Engine) unstage(o *op) {
	if o.staged != nil {
		e.rank.ReleaseScratch(o.staged)
		o.staged = nil
	}
}

// ExplainWait implements engine.Engine.
func (e *Engine) ExplainWait(x *engine.Op) engine.Wait {
	o := x.EngineOp.(*op)
	w := engine.Wait{Cause: engine.WaitMessage, Peer: int(o.Peer), Context: o.Context, Tag: int(o.Tag)}
	switch {
	case !o.Receive:
		w.Cause, w.Bytes, w.Mode, w.Protocol = engine.WaitReceive, o.Size, o.Mode, o.protocol.Name
		if o.cancelling {
			w.Cause = engine.WaitCancelAnswer
		}
	case o.protocol != nil:
		w.Cause = engine.WaitData
	}
	return w
}
