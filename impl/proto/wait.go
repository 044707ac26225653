package proto

import (
	"github.com/loggp/loggp/impl/match"
	"github.com/loggp/loggp/model"
)

// Wait is what a rank waits for, for those who explain why a job does not end.
type Wait struct {
	Call string // it is in; "": in none
	For  Awaited

	Peer     int    // in the job, whom it waits for; match.Any: anybody
	Context  uint32 // of the message
	Tag      int    // of the message, or match.Any
	Bytes    int    // of the message, if it is one to be taken
	Mode     model.Mode
	Protocol string

	Open int  // how many operations a list has of which the call waits for, and this is the first; 0: there is no list
	One  bool // of a list, one is enough

	Early *Arrival // the first message of the context that has come and that nobody receives, or nil
}

// Arrival is a message that has come before its receive.
type Arrival struct {
	Source, Tag, Bytes int // Source in the job
	Context            uint32
}

func (m *early) arrival() *Arrival { return &Arrival{int(m.src), int(m.tag), m.size, m.Context} }

// Awaited is a kind of things to wait for.
type Awaited uint8

// The kinds.
const (
	ForNothing  Awaited = iota // that is known
	ForMessage                 // a message that may be received
	ForData                    // of a message that has been announced
	ForTaker                   // somebody who receives a message
	ForBuffered                // as many buffered messages to leave as are in Open
	ForAnswer                  // to the cancel of a message
	ForCancel                  // of a message that nobody received
	ForStart                   // of a persistent operation, or Free
	ForEnd                     // nothing: it has ended
)

// awaited is something to wait for.
type awaited interface{ awaited() Wait }

// Waits returns what the rank waits for.
func (e *Engine) Waits() Wait {
	w := Wait{Peer: match.Any}
	if e.wait != nil {
		w = e.wait.awaited()
	}
	w.Call = e.call
	if e.list.open > 0 && e.list.call == e.call {
		w.Open, w.One = e.list.open, e.list.one
	}
	if m := e.early.Match(match.Envelope{Context: w.Context, Source: match.Any, Tag: match.Any}); m != nil {
		w.Early = m.Value.arrival()
	}
	return w
}

// list is what a rank has been stopped in that waits for several operations.
type list struct {
	call string
	open int
	one  bool
}

// Left notes how many operations of a list are open, for Waits: one says that the call waits for one of them, not for all. It is called when a rank
// is stopped.
func (e *Engine) Left(open int, one bool) { e.list = list{e.call, open, one} }

func (o *Op) awaited() Wait {
	w := Wait{For: ForMessage, Peer: int(o.Source), Context: o.Context, Tag: int(o.Tag)}
	switch {
	case o.Inactive():
		return Wait{For: ForStart, Peer: o.plan.Peer, Context: o.plan.Context, Tag: o.plan.Tag}
	case o.finished:
		return Wait{For: ForEnd, Peer: match.Any}
	case !o.receive:
		w = Wait{For: ForTaker, Peer: int(o.peer), Context: o.Context, Tag: int(o.tag), Bytes: o.size, Mode: o.mode, Protocol: o.protocol.Name}
		if o.state&cancelling != 0 {
			w.For = ForAnswer
		}
	case o.protocol != nil:
		w.For, w.Peer, w.Tag = ForData, int(o.peer), int(o.tag)
	}
	return w
}

// sought is a message that a probe waits for.
type sought match.Envelope

func (x *sought) awaited() Wait {
	return Wait{For: ForMessage, Peer: int(x.Source), Context: x.Context, Tag: int(x.Tag)}
}

func (a *attached) awaited() Wait { return Wait{For: ForBuffered, Peer: match.Any, Open: a.pending} }
