package engine

import "github.com/loggp/loggp/model"

// Wait is what a rank waits for, to explain why a job does not end.
type Wait struct {
	Call string // it is in; "": in none
	For  Awaited

	Peer     int    // in the job, whom it waits for; Any: anybody
	Context  uint32 // of the message
	Tag      int    // of the message, or Any
	Bytes    int    // of the message, if it is one to be taken
	Mode     model.Mode
	Protocol string

	Open int  // operations of the list that the call waits for, if any: this is the first of them
	One  bool // of a list, one is enough

	Early *Arrival // the first message of the context that has come and that is not received, or nil
}

// Arrival is a message that has come before its receive.
type Arrival struct {
	Source, Tag, Bytes int // Source in the job
	Context            uint32
}

// Awaited is a kind of things to wait for.
type Awaited uint8

// The kinds.
const (
	ForNothing  Awaited = iota // that is known
	ForMessage                 // a message that may be received
	ForData                    // of a message that has been announced
	ForReceive                 // of a message that was sent
	ForBuffered                // as many buffered messages to leave as are in Open
	ForAnswer                  // to the cancel of a message
	ForCancel                  // of a message that was not received
	ForStart                   // of a persistent operation, or Free
	ForEnd                     // nothing: it has ended
	ForBarrier                 // the other's signal in a barrier
)

// waiting is something to wait for.
type waiting interface{ wait(r *Rank) Wait }

// Waits returns what the rank waits for.
func (r *Rank) Waits() Wait {
	w := Wait{Peer: Any}
	if r.waits != nil {
		w = r.waits.wait(r)
	}
	w.Call = r.call
	if r.list.open > 0 && r.list.call == r.call {
		w.Open, w.One = r.list.open, r.list.one
	}
	_, w.Early = r.engine.Unreceived(w.Context)
	return w
}

// explain says what an operation waits for.
func (r *Rank) explain(o *Op) Wait {
	switch t := o.template; {
	case o.Inactive():
		return Wait{For: ForStart, Peer: t.Peer, Context: t.Context, Tag: t.Tag}
	case o.finished:
		return Wait{For: ForEnd, Peer: Any}
	}
	return r.engine.Explain(o)
}

func (o *Op) wait(r *Rank) Wait { return r.explain(o) }

// list is a call that waits for several operations.
type list struct {
	call string
	open int
	one  bool
}

// Left notes how many operations of a list are open, for Waits: one says that the call waits for
// one of them, not for all. It is called when a rank is stopped.
func (r *Rank) Left(open int, one bool) { r.list = list{r.call, open, one} }

// sought is a message that a probe waits for.
type sought struct {
	src     int
	context uint32
	tag     int
}

func (x *sought) wait(*Rank) Wait {
	return Wait{For: ForMessage, Peer: x.src, Context: x.context, Tag: x.tag}
}

func (a *attached) wait(*Rank) Wait { return Wait{For: ForBuffered, Peer: Any, Open: a.pending} }
