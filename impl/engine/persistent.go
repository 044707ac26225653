package engine

import "github.com/loggp/loggp/model"

// PersistentTemplate describes the operation that a persistent operation performs at each start.
type PersistentTemplate struct {
	Buf       []byte
	Signature Signature
	Layout    Layout // in place of Buf and Signature, for noncontiguous data
	Receive   bool
	Mode      model.Mode // of a send
	Null      bool       // the peer is ProcNull: nothing to do; a receive gets Peer and Tag as its status
	Peer      int
	Context   uint32
	Tag       int
}

// NewPersistent returns an inactive persistent operation. StartPersistent starts it, Release makes
// it inactive again, and FreeOp ends its use.
func (r *Rank) NewPersistent(t PersistentTemplate) *Op {
	o := r.NewOp()
	o.persistentTemplate = &t
	return o
}

// StartPersistent starts an inactive operation. It costs as much as Isend or Irecv.
func (r *Rank) StartPersistent(o *Op) {
	t := o.persistentTemplate
	o.flags = opStarted
	switch {
	case t.Null:
		o.Receive, o.finished = t.Receive, true
		o.Peer, o.Tag, o.Size = int32(t.Peer), int32(t.Tag), 0
	case t.Receive && t.Layout != nil:
		r.setReceiveLayout(o, t.Layout)
		r.irecv(o, t.Peer, t.Context, t.Tag)
	case t.Receive:
		o.Buf, o.Signature = t.Buf, t.Signature
		r.irecv(o, t.Peer, t.Context, t.Tag)
	case t.Layout != nil:
		r.isendLayout(o, t.Mode, t.Layout, t.Peer, t.Context, t.Tag)
	default:
		o.Buf = t.Buf
		r.isend(o, t.Mode, t.Signature, t.Peer, t.Context, t.Tag)
	}
}

// FreeOp ends the program's use of an operation. An active one completes by itself and is released
// then.
func (r *Rank) FreeOp(o *Op) {
	idle := o.finished || o.IsInactive()
	o.persistentTemplate = nil
	if idle {
		r.Release(o)
		return
	}
	o.generation++ // makes the program's copies stale
	o.flags |= opFreed
	r.freedOps++
}
