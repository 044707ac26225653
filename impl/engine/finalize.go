package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// CountUnfinishedOps returns the number of operations that the program has not completed, and what
// the first of them waits for. It returns 0 if the program has handled the error of a failed call,
// which may have left operations unknown to the program.
func (r *Rank) CountUnfinishedOps() (int, WaitDescription) {
	n := r.OpenOps() - r.bufferedMessages() - r.freedOps
	if r.service != nil {
		n -= r.service.openOps
	}
	if n == 0 || r.hasFailedCall {
		return 0, WaitDescription{}
	}
	return n, r.explainWait(r.firstOpenOpInState(0))
}

// firstOpenOpInState returns the first unreleased operation that is, or is not, hidden from the
// program.
func (r *Rank) firstOpenOpInState(of opFlags) *Op {
	for _, o := range r.listUnreleasedOps() {
		if o.flags&(opDetached|opFreed|opService) == of {
			return o
		}
	}
	panic("engine: no operation is open")
}

// listUnreleasedOps returns the operations that have not been released.
func (r *Rank) listUnreleasedOps() (open []*Op) {
	unused := make([]bool, len(r.ops))
	for o := r.freeOps; o != nil; o = o.next {
		unused[o.id] = true
	}
	for i, o := range r.ops {
		if !unused[i] {
			open = append(open, o)
		}
	}
	return open
}

// ReportAndFreeOpenRequests reports the requests that the program has left open, as the check mode
// says, and frees them. An unmatched receive is replaced by one into memory of the rank, so that
// the sender can continue. Its message is dropped.
func (r *Rank) ReportAndFreeOpenRequests(describe func(WaitDescription) string) {
	n, first := r.CountUnfinishedOps()
	if n == 0 {
		return
	}
	open := slices.DeleteFunc(r.listUnreleasedOps(), func(o *Op) bool { return o.flags&(opDetached|opFreed|opService) != 0 })
	r.reportViolation(RequestsLeftOpen, ErrRequest, func() string {
		was, call := "requests were", ""
		if n == 1 {
			was = "request was"
		}
		if c := r.callThatBegan(open[0]); c != nil {
			call = fmt.Sprintf(", of %s%s,", c.name, r.siteOfCall(c).Parenthesized())
		}
		return fmt.Sprintf("%d %s neither completed nor freed; the first%s waits for %s", n, was, call, describe(first))
	})
	var receives []Op // in the order of posting, because several may match one message
	for _, o := range open {
		before, generation := *o, o.generation+1
		r.FreeOp(o)
		if !o.Receive || o.flags&opFreed == 0 {
			continue
		}
		r.engine.Cancel(o)
		for o.generation == generation { // the sender is asked, or the message is under way
			r.engine.Progress(true)
		}
		if o.flags&opCancelled != 0 {
			receives = append(receives, before)
		}
	}
	slices.SortFunc(receives, func(x, y Op) int { return cmp.Compare(x.postingNumber, y.postingNumber) })
	for _, old := range receives {
		o := r.Irecv(make([]byte, len(old.Buf)), 0, int(old.Peer), old.Context, int(old.Tag))
		if r.FreeOp(o); o.flags&opFreed != 0 {
			o.flags |= opAbandonedReceive
			r.abandonedReceives++
		}
	}
}

// callThatBegan returns the call that started an operation. It returns nil unless the program is
// checked.
func (r *Rank) callThatBegan(o *Op) *call {
	if r.overlapChecker == nil {
		return nil
	}
	return o.trackedCall
}

// FinishDetached makes progress until buffered messages and freed operations are complete, because
// the program may need their memory.
func (r *Rank) FinishDetached() { r.finishDetached(&r.abandonedReceives) }

// finishDetached is FinishDetached for all but a number of operations.
func (r *Rank) finishDetached(except *int) {
	r.waitTarget = finalizeWait{}
	for r.bufferedMessages() > 0 || r.freedOps > *except {
		r.engine.Progress(true)
	}
	r.waitTarget = nil
}

// Finalize makes progress until nothing of the rank is under way: the operations of FinishDetached,
// and unexpected messages that their senders may still cancel. It returns the number of unexpected
// messages that have arrived, and the first one. It does not wait for more, which would take time
// in correct programs.
func (r *Rank) Finalize() (int, *UnexpectedMessage) {
	r.finishDetached(new(int))
	r.waitTarget = finalizeWait{}
	for r.engine.CancellableMessage() != nil {
		r.engine.Progress(true)
	}
	r.waitTarget = nil
	return r.engine.UnexpectedMessages(AnyContext)
}

// UnexpectedMessage returns the first unexpected message with a context, or nil.
func (r *Rank) UnexpectedMessage(context uint32) *UnexpectedMessage {
	_, m := r.engine.UnexpectedMessages(context)
	return m
}

// CancellableMessage returns an unexpected message that its sender may still cancel, or nil.
func (r *Rank) CancellableMessage() *UnexpectedMessage { return r.engine.CancellableMessage() }

// WaitsForAbandonedReceives reports whether the rank has ended except for receives that the program
// left open. If all ranks have ended or wait so, the job has ended.
func (r *Rank) WaitsForAbandonedReceives() bool {
	if _, ok := r.waitTarget.(finalizeWait); !ok || r.bufferedMessages() > 0 || r.abandonedReceives == 0 || r.freedOps > r.abandonedReceives {
		return false
	}
	n, _ := r.engine.UnexpectedMessages(AnyContext)
	return n == 0
}

// finalizeWait is the wait of a rank in Finalize.
type finalizeWait struct{}

func (finalizeWait) waitState(r *Rank) WaitDescription {
	switch m := r.engine.CancellableMessage(); {
	case r.bufferedMessages() > 0:
		return WaitDescription{Cause: WaitBuffered, Peer: AnySourceOrTag, OpenOps: r.bufferedMessages()}
	case r.freedOps > 0:
		w := r.explainWait(r.firstOpenOpInState(opFreed))
		w.OpenOps = r.freedOps
		return w
	case m != nil:
		return WaitDescription{Cause: WaitSenderCancel, Peer: m.Source, Context: m.Context, Tag: m.Tag, Bytes: m.Bytes}
	}
	return WaitDescription{Peer: AnySourceOrTag}
}

// CheckIdle returns an error if an operation of the rank is under way, or if scratch memory was
// released twice. It is for tests of engines.
func (r *Rank) CheckIdle() error {
	seen := map[*byte]bool{}
	for _, b := range r.scratch {
		seen[&b[:1][0]] = true
	}
	switch {
	case r.OpenOps() != 0:
		return fmt.Errorf("%d operations are open", r.OpenOps())
	case r.bufferedMessages() != 0:
		return fmt.Errorf("%d messages are in attached buffers", r.bufferedMessages())
	case r.freedOps != 0:
		return fmt.Errorf("%d operations that were freed are under way", r.freedOps)
	case len(seen) < len(r.scratch):
		return fmt.Errorf("memory to copy messages through was given back twice")
	case len(r.scratch) > 2*len(r.ops): // for noncontiguous data, and for staging
		return fmt.Errorf("%d pieces of memory to copy messages through for %d operations", len(r.scratch), len(r.ops))
	}
	return nil
}

// MarkEnded ends the use of the rank: later calls are errors. Nothing may be under way.
func (r *Rank) MarkEnded() {
	r.engine = endedEngine{r.engine, r}
	r.port, r.isRealTime = endedPort{r.port, r}, false
}

func (r *Rank) failAfterEnd() {
	r.Fail(ErrOther, "the program of this rank has ended, and calls are made within it")
}

// endedEngine is the engine of a rank whose program has ended. Calls that would use the port fail.
type endedEngine struct {
	Engine
	r *Rank
}

func (e endedEngine) Send(model.Mode, []byte, Signature, int, uint32, int) { e.r.failAfterEnd() }
func (e endedEngine) Isend(*Op)                                            { e.r.failAfterEnd() }
func (e endedEngine) Irecv(*Op)                                            { e.r.failAfterEnd() }
func (e endedEngine) Recv(*Op)                                             { e.r.failAfterEnd() }
func (e endedEngine) Progress(bool) bool                                   { e.r.failAfterEnd(); return false }
func (e endedEngine) ChargeCompletionCheck(bool)                           { e.r.failAfterEnd() }
func (e endedEngine) Cancel(*Op)                                           { e.r.failAfterEnd() }
func (e endedEngine) LowLevelPort() LowLevelPort                           { e.r.failAfterEnd(); return nil }

func (e endedEngine) Probe(int, uint32, int, bool) (Status, bool) {
	e.r.failAfterEnd()
	return Status{}, false
}

// endedPort is the port of such a rank.
type endedPort struct {
	device.Port
	r *Rank
}

func (p endedPort) Now() unit.Time       { p.r.failAfterEnd(); return 0 }
func (p endedPort) Delay(unit.Time)      { p.r.failAfterEnd() }
func (p endedPort) Copy(_, _ []byte) int { p.r.failAfterEnd(); return 0 }
func (p endedPort) ChargeOperations(int) { p.r.failAfterEnd() }
