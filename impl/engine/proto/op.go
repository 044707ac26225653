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
	postedEntry           match.Entry[*op] // a receive, while it is posted
	protocol              *Protocol        // nil: a receive without a message
	stagingBuffer         []byte           // a copy of Buf that others may access, or a bounce buffer
	key                   device.Key       // of memory that was exposed: ours or the peer's
	doneBytes, chunkBytes int              // how far the message is, and what is on its way
	peerOp                uint32           // the other rank's operation
	cancelSerial          uint32           // names the cancel that is under way
	cancelRequested       bool             // the receiver was asked to take the message out
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
	o.EngineOp, o.postedEntry.Value = o, o
	e.ops = append(e.ops, o)
	return &o.Op
}

// exposedData returns what other ranks are to see of the message.
func (o *op) exposedData() []byte {
	if o.stagingBuffer != nil {
		return o.stagingBuffer
	}
	return o.Buf
}

// complete ends an operation.
func (e *Engine) complete(o *op) {
	o.cancelRequested = false
	e.rank.Complete(&o.Op)
}

// stageForRemoteAccess copies the message to where other ranks may access it, if the library needs
// that and it is not there.
func (e *Engine) stageForRemoteAccess(s *op) {
	e.spend(model.ProtoPackCost, len(s.Buf))
	if e.job.library.Proto.LongMessages[e.tier(s.Peer)].CopiesToAccessibleMemory && len(s.Buf) > 0 && !s.IsBuffered() {
		s.stagingBuffer = e.rank.ScratchBuffer(len(s.Buf))
		e.rank.Copy(s.stagingBuffer, s.Buf)
	}
}

// releaseStaging gives the copy back.
func (e *Engine) releaseStaging(o *op) {
	if o.stagingBuffer != nil {
		e.rank.ReleaseScratch(o.stagingBuffer)
		o.stagingBuffer = nil
	}
}

// ExplainWait implements engine.Engine.
func (e *Engine) ExplainWait(x *engine.Op) engine.WaitDescription {
	o := x.EngineOp.(*op)
	w := engine.WaitDescription{Cause: engine.WaitMessage, Peer: int(o.Peer), Context: o.Context, Tag: int(o.Tag)}
	switch {
	case !o.Receive:
		w.Cause, w.Bytes, w.Mode, w.Protocol = engine.WaitReceive, o.Size, o.Mode, o.protocol.Name
		if o.cancelRequested {
			w.Cause = engine.WaitCancelAnswer
		}
	case o.protocol != nil:
		w.Cause = engine.WaitData
	}
	return w
}
