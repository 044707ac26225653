package engine

import "github.com/loggp/loggp/model"

// WaitDescription says what a rank waits for, to explain why a job does not end.
type WaitDescription struct {
	Call  string // the current call; "": none
	Cause WaitCause

	Peer     int    // rank in the job; AnySourceOrTag: any rank
	Context  uint32 // of the message
	Tag      int    // of the message, or AnySourceOrTag
	Bytes    int    // of the message, if it is being received
	Mode     model.Mode
	Protocol string

	OpenOps     int  // number of incomplete operations of the call's list, if it has one; this describes the first
	OneSuffices bool // the call waits for one of the list, not for all
	IsPolling   bool // the call is nonblocking, and the program repeats it

	Unexpected *UnexpectedMessage // the first unexpected message in the context, or nil
}

// UnexpectedMessage is a message that arrived before its receive was posted.
type UnexpectedMessage struct {
	Source, Tag, Bytes int // Source is a rank of the job
	Context            uint32
}

// WaitCause says for what a rank waits.
type WaitCause uint8

// The causes of waits.
const (
	WaitUnknown      WaitCause = iota // for something unknown
	WaitMessage                       // for a message to receive
	WaitData                          // for the data of an announced message
	WaitReceive                       // for the receive of a sent message
	WaitBuffered                      // for buffered messages to leave; OpenOps has their number
	WaitCancelAnswer                  // for the answer to the cancel of a message
	WaitSenderCancel                  // for the cancel of a message that was not received
	WaitStart                         // for the start of a persistent operation, or its release
	WaitFinished                      // for nothing: the program has ended
	WaitBarrier                       // for the other rank's barrier signal
	WaitAccess                        // for accesses to the other rank's memory to complete
	WaitLock                          // for a lock of the other rank's memory
	WaitExposure                      // for the other rank to expose its memory
	WaitAccessEnd                     // for the other rank to end its accesses to this rank's memory
)

// waitTarget is something for which a rank can wait.
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

// explainWait describes the wait for an operation.
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

// awaitedRequestList is a list of operations for which a call waits.
type awaitedRequestList struct {
	call    string
	openOps int
	anyOne  bool
}

// SetOpenRequests records the number of incomplete operations of a list, for WaitState. one says
// that the call waits for one of them, not for all. It is called when a rank is stopped.
func (r *Rank) SetOpenRequests(open int, one bool) {
	r.awaitedRequests = awaitedRequestList{r.call, open, one}
}

// probedMessage is a message for which a probe waits.
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
