package engine

import "github.com/loggp/loggp/model"

// WaitDescription is what a rank waits for, to explain why a job does not end.
type WaitDescription struct {
	Call  string // it is in; "": in none
	Cause WaitCause

	Peer     int    // in the job, whom it waits for; AnySourceOrTag: anybody
	Context  uint32 // of the message
	Tag      int    // of the message, or AnySourceOrTag
	Bytes    int    // of the message, if it is one to be taken
	Mode     model.Mode
	Protocol string

	OpenOps     int  // operations of the list that the call waits for, if any: this is the first of them
	OneSuffices bool // of a list, one is enough
	IsPolling   bool // the call only looks, and the program makes it again and again

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
type waitTarget interface{ waitState(r *Rank) WaitDescription }

// WaitState returns what the rank waits for.
func (r *Rank) WaitState() WaitDescription {
	w := WaitDescription{Peer: AnySourceOrTag}
	if r.waitTarget != nil {
		w = r.waitTarget.waitState(r)
	}
	w.Call, w.IsPolling = r.call, r.isPolling
	if r.awaitedRequests.openOps > 0 && r.awaitedRequests.call == r.call {
		w.OpenOps, w.OneSuffices = r.awaitedRequests.openOps, r.awaitedRequests.anyOne
	}
	_, w.Unexpected = r.engine.UnexpectedMessages(w.Context)
	return w
}

// explainWait says what an operation waits for.
func (r *Rank) explainWait(o *Op) WaitDescription {
	switch t := o.persistentTemplate; {
	case o.IsInactive():
		return WaitDescription{Cause: WaitStart, Peer: t.Peer, Context: t.Context, Tag: t.Tag}
	case o.finished:
		return WaitDescription{Cause: WaitFinished, Peer: AnySourceOrTag}
	}
	return r.engine.ExplainWait(o)
}

func (o *Op) waitState(r *Rank) WaitDescription { return r.explainWait(o) }

// awaitedRequestList is a call that waits for several operations.
type awaitedRequestList struct {
	call    string
	openOps int
	anyOne  bool
}

// SetOpenRequests notes how many operations of a list are open, for Waits: one says that the call
// waits for one of them, not for all. It is called when a rank is stopped.
func (r *Rank) SetOpenRequests(open int, one bool) {
	r.awaitedRequests = awaitedRequestList{r.call, open, one}
}

// probedMessage is a message that a probe waits for.
type probedMessage struct {
	src     int
	context uint32
	tag     int
}

func (x *probedMessage) waitState(*Rank) WaitDescription {
	return WaitDescription{Cause: WaitMessage, Peer: x.src, Context: x.context, Tag: x.tag}
}

func (a *attachedBuffer) waitState(*Rank) WaitDescription {
	return WaitDescription{Cause: WaitBuffered, Peer: AnySourceOrTag, OpenOps: a.messagesInBuffer}
}
