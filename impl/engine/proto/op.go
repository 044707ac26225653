package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// op is an active send or receive.
type op struct {
	engine.Op
	postedEntry           match.Entry[*op] // used while a receive is posted
	protocol              *Protocol        // nil: a receive without a message
	stagingBuffer         []byte           // a copy of Buf that other ranks may access, or a bounce buffer
	key                   device.Key       // of exposed memory: this rank's or the peer's
	doneBytes, chunkBytes int              // bytes that are done, and bytes under way
	peerOp                uint32           // operation of the other rank
	cancelSerial          uint32           // number of the cancel under way
	cancelRequested       bool             // the receiver was asked to discard the message
}

// NewOp implements engine.Engine. The first operation is part of the engine, because many ranks
// need no other.
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

// exposedData returns the memory that other ranks may access for the message.
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

// stageForRemoteAccess copies the message to memory that other ranks can access, if the library
// requires that.
func (e *Engine) stageForRemoteAccess(s *op) {
	e.spend(model.ProtoPackCost, len(s.Buf))
	if e.job.library.Proto.LongMessages[e.tier(s.Peer)].CopiesToAccessibleMemory && len(s.Buf) > 0 && !s.IsBuffered() {
		s.stagingBuffer = e.rank.ScratchFor(len(s.Buf), device.IsSizeOnly(s.Buf))
		e.rank.Copy(s.stagingBuffer, s.Buf)
	}
}

// releaseStaging releases the copy.
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
