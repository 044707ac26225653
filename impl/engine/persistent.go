package engine

import "github.com/loggp/loggp/model"

// PersistentTemplate is what a persistent operation does whenever it is started.
type PersistentTemplate struct {
	Buf       []byte
	Signature Signature
	Layout    Layout // in place of both, of data that has one
	Receive   bool
	Mode      model.Mode // of a send
	Null      bool       // there is no peer, so there is nothing to do: a receive has Peer and Tag as its status
	Peer      int
	Context   uint32
	Tag       int
}

// NewPersistent returns a persistent operation, which is inactive: it lives until Free, and does
// nothing until Start. Release makes it inactive again.
func (r *Rank) NewPersistent(t PersistentTemplate) *Op {
	o := r.NewOp()
	o.persistentTemplate = &t
	return o
}

// StartPersistent begins an inactive operation. It costs what Isend and Irecv do.
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

// FreeOp gives up an operation: it ends by itself if it is under way, and is given back then.
func (r *Rank) FreeOp(o *Op) {
	idle := o.finished || o.IsInactive()
	o.persistentTemplate = nil
	if idle {
		r.Release(o)
		return
	}
	o.generation++ // the program knows it no more
	o.flags |= opFreed
	r.freedOps++
}
