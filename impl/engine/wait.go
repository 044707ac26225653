package engine

import "github.com/loggp/loggp/model"

// Wait is what a rank waits for, to explain why a job does not end.
type Wait struct {
	Call  string // it is in; "": in none
	Cause WaitCause

	Peer     int    // in the job, whom it waits for; Any: anybody
	Context  uint32 // of the message
	Tag      int    // of the message, or Any
	Bytes    int    // of the message, if it is one to be taken
	Mode     model.Mode
	Protocol string

	OpenOps int  // operations of the list that the call waits for, if any: this is the first of them
	AnyOne  bool // of a list, one is enough
	Polls   bool // the call only looks, and the program makes it again and again

	Unexpected *UnexpectedMessage // the first message of the context that has come and that is not received, or nil
}

// UnexpectedMessage is a message that has come before its receive.
type UnexpectedMessage struct {
	Source, Tag, Bytes int // Source in the job
	Context            uint32
}

// WaitCause is a kind of things to wait for.
type WaitCause uint8

// The kinds.
const (
	WaitUnknown      WaitCause = iota // that is known
	WaitMessage                       // a message that may be received
	WaitData                          // of a message that has been announced
	WaitReceive                       // of a message that was sent
	WaitBuffered                      // as many buffered messages to leave as are in Open
	WaitCancelAnswer                  // to the cancel of a message
	WaitSenderCancel                  // of a message that was not received
	WaitStart                         // of a persistent operation, or Free
	WaitFinished                      // nothing: it has ended
	WaitBarrier                       // the other's signal in a barrier
	WaitAccess                        // accesses to the other's memory to complete
	WaitLock                          // a lock of the other's memory
	WaitExposure                      // the other to expose its memory
	WaitAccessEnd                     // the other to end its accesses to this rank's memory
)

// waitTarget is something to wait for.
type waitTarget interface{ waitState(r *Rank) Wait }

// WaitState returns what the rank waits for.
func (r *Rank) WaitState() Wait {
	w := Wait{Peer: Any}
	if r.waitTarget != nil {
		w = r.waitTarget.waitState(r)
	}
	w.Call, w.Polls = r.call, r.polls
	if r.openRequests.openOps > 0 && r.openRequests.call == r.call {
		w.OpenOps, w.AnyOne = r.openRequests.openOps, r.openRequests.anyOne
	}
	_, w.Unexpected = r.engine.UnexpectedMessages(w.Context)
	return w
}

// explainWait says what an operation waits for.
func (r *Rank) explainWait(o *Op) Wait {
	switch t := o.template; {
	case o.IsInactive():
		return Wait{Cause: WaitStart, Peer: t.Peer, Context: t.Context, Tag: t.Tag}
	case o.finished:
		return Wait{Cause: WaitFinished, Peer: Any}
	}
	return r.engine.ExplainWait(o)
}

func (o *Op) waitState(r *Rank) Wait { return r.explainWait(o) }

// requestList is a call that waits for several operations.
type requestList struct {
	call    string
	openOps int
	anyOne  bool
}

// SetOpenRequests notes how many operations of a list are open, for Waits: one says that the call
// waits for one of them, not for all. It is called when a rank is stopped.
func (r *Rank) SetOpenRequests(open int, one bool) { r.openRequests = requestList{r.call, open, one} }

// probedMessage is a message that a probe waits for.
type probedMessage struct {
	src     int
	context uint32
	tag     int
}

func (x *probedMessage) waitState(*Rank) Wait {
	return Wait{Cause: WaitMessage, Peer: x.src, Context: x.context, Tag: x.tag}
}

func (a *attachedBuffer) waitState(*Rank) Wait {
	return Wait{Cause: WaitBuffered, Peer: Any, OpenOps: a.pending}
}
