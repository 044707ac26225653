package mpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Request is an operation that has been started. The zero value is no request (MPI_REQUEST_NULL):
// it is complete and its status is empty. Completing a request makes it null, unless it is
// persistent: those are inactive then, as they are before Start, and calls that wait or test treat
// an inactive request as null.
//
// Copies of a request name the same operation. When the request has become null its copies are
// stale, and using one is an error.
type Request struct {
	comm       *Comm
	op         *engine.Op
	generation uint32
}

func (c *Comm) newRequest(op *engine.Op) Request { return Request{c, op, op.Generation()} }

// IsNull reports whether r is the null request.
func (r *Request) IsNull() bool { return r.op == nil }

// IsActive reports whether there is an operation to wait for.
func (r *Request) IsActive() bool { return !r.isIdle() }

// IsComplete reports whether the operation is complete, and leaves it (MPI_Request_get_status).
func (r *Request) IsComplete() bool { return !r.enterActive("Complete") || r.comm.engine.Test(r.op) }

// Status returns the status of an operation that is complete, and leaves it.
func (r *Request) Status() Status {
	switch got, ok := r.op.Received(); {
	case r.op.IsCancelled():
		st := emptyStatus
		st.Cancelled = true
		return st
	case ok:
		return r.comm.newStatus(got)
	}
	return emptyStatus
}

// Wait waits until the operation is complete.
func (r *Request) Wait() Status { return r.wait("Wait") }

func (r *Request) wait(call string) Status {
	c := r.comm // which the request may have no more after that
	return c.raiseStatusError(r.finish(call))
}

// finish waits, and leaves what is wrong with the message to the status.
func (r *Request) finish(call string) Status {
	if !r.enterActive(call) {
		return emptyStatus
	}
	r.comm.engine.Wait(r.op)
	return r.takeStatus()
}

// Test reports whether the operation is complete.
func (r *Request) Test() (Status, bool) {
	if !r.enterActive("Test") {
		return emptyStatus, true
	}
	c := r.comm
	if !c.engine.Test(r.op) {
		return emptyStatus, false
	}
	return c.raiseStatusError(r.takeStatus()), true
}

// enterActive enters a call, unless it is nested, and reports whether an operation is in progress.
// A copy of a request that was completed is an error.
func (r *Request) enterActive(call string) bool {
	if r.op == nil {
		return false
	}
	if call != nestedCall {
		r.comm.engine.EnterOn(call, r.comm.context)
	} else {
		r.comm.engine.SetContext(r.comm.context)
	}
	r.checkOwner()
	return !r.op.IsInactive()
}

// isIdle reports whether there is nothing to wait for.
func (r *Request) isIdle() bool { return r.op == nil || r.op.IsInactive() }

func (r *Request) checkOwner() {
	if r.op.Generation() != r.generation {
		r.comm.engine.Fail(engine.ErrRequest, "the request was completed before, or freed")
	}
}

// takeStatus takes the status of a finished operation and makes the request null or inactive.
// Copies of one that is null are stale, also those that stand in the same list.
func (r *Request) takeStatus() Status {
	r.checkOwner()
	st := r.Status()
	e := r.comm.engine
	st.Err = e.ReceiveError(r.op)
	e.Release(r.op)
	if r.op.Generation() != r.generation {
		*r = Request{}
	}
	return st
}

// raiseStatusError fails with what is wrong with a message, unless the caller wants that in the
// status.
func (c *Comm) raiseStatusError(st Status) Status {
	if st.Err != nil && !c.engine.HasReceiveErrorsInStatus() {
		panic(st.Err)
	}
	return st
}

// firstListError is the first error of the messages of a list, whose operations are all completed.
type firstListError struct {
	comm *Comm
	err  *Error // nil: there is none
}

func (x *firstListError) note(c *Comm, st Status) {
	if x.err == nil && st.Err != nil {
		x.comm, x.err = c, st.Err
	}
}

// raise fails with it, unless the caller has statuses and wants it there.
func (x *firstListError) raise(st []Status) {
	if x.err != nil && (st == nil || !x.comm.engine.HasReceiveErrorsInStatus()) {
		panic(x.err)
	}
}

// WaitAll waits until all operations are complete. The statuses go to st unless it is nil.
func WaitAll(reqs []Request, st []Status) {
	var failed firstListError
	all := false
	defer func() {
		if !all {
			noteOpenRequests(reqs, false)
		}
	}()
	call := "WaitAll"
	for i := range reqs {
		c := reqs[i].comm
		s := reqs[i].finish(call)
		if c != nil {
			call = nestedCall
			failed.note(c, s)
		}
		if st != nil {
			st[i] = s
		}
	}
	all = true
	failed.raise(st)
}

// noteOpenRequests notes how many operations of a list are open at a rank that is stopped: one says
// that it waits for one of them, not for all.
func noteOpenRequests(reqs []Request, one bool) {
	open := 0
	for i := range reqs {
		if !reqs[i].isIdle() && !reqs[i].op.IsFinished() {
			open++
		}
	}
	if r := firstActiveRequest(reqs); r != nil {
		r.comm.engine.SetOpenRequests(open, one)
	}
}

// WaitAny waits until one operation is complete, and returns its index, or −1 if there is none.
func WaitAny(reqs []Request) (int, Status) {
	i := -1
	if !waitRequests(reqs, "WaitAny", func() bool { i = nextFinishedRequest(reqs, 0); return i >= 0 }) {
		return -1, emptyStatus
	}
	c := reqs[i].comm
	return i, c.raiseStatusError(reqs[i].takeStatus())
}

// WaitSome waits until at least one operation is complete, puts the indices of all that are into
// index and their statuses into st unless it is nil, and returns how many, or −1 if there was none
// to wait for.
func WaitSome(reqs []Request, index []int, st []Status) int {
	if !waitRequests(reqs, "WaitSome", func() bool { return nextFinishedRequest(reqs, 0) >= 0 }) {
		return -1
	}
	return endFinishedRequests(reqs, index, st)
}

// TestAll reports whether all operations are complete, and ends them if so.
func TestAll(reqs []Request, st []Status) bool {
	done := testRequests(reqs, "TestAll", func() bool {
		for i := range reqs {
			if !reqs[i].isIdle() && !reqs[i].op.IsFinished() {
				return false
			}
		}
		return true
	})
	if done {
		var failed firstListError
		for i := range reqs {
			s := emptyStatus
			if !reqs[i].isIdle() {
				c := reqs[i].comm
				s = reqs[i].takeStatus()
				failed.note(c, s)
			}
			if st != nil {
				st[i] = s
			}
		}
		failed.raise(st)
	}
	return done
}

// TestAny reports whether an operation is complete, and ends it and returns its index if so. Where
// there is none it returns −1 and true.
func TestAny(reqs []Request) (int, Status, bool) {
	i := -1
	if !testRequests(reqs, "TestAny", func() bool { i = nextFinishedRequest(reqs, 0); return i >= 0 }) {
		return -1, emptyStatus, false
	}
	if i < 0 {
		return -1, emptyStatus, true
	}
	c := reqs[i].comm
	return i, c.raiseStatusError(reqs[i].takeStatus()), true
}

// TestSome is WaitSome without waiting: it may return 0.
func TestSome(reqs []Request, index []int, st []Status) int {
	if firstActiveRequest(reqs) == nil {
		return -1
	}
	testRequests(reqs, "TestSome", func() bool { return nextFinishedRequest(reqs, 0) >= 0 })
	return endFinishedRequests(reqs, index, st)
}

// firstActiveRequest returns the first active request of a list, or nil.
func firstActiveRequest(reqs []Request) *Request {
	for i := range reqs {
		if !reqs[i].isIdle() {
			return &reqs[i]
		}
	}
	return nil
}

// nextFinishedRequest returns the index of a finished operation at or after from, or −1.
func nextFinishedRequest(reqs []Request, from int) int {
	for i := from; i < len(reqs); i++ {
		if reqs[i].op != nil && reqs[i].op.IsFinished() {
			return i
		}
	}
	return -1
}

// endFinishedRequests ends all operations that are finished.
func endFinishedRequests(reqs []Request, index []int, st []Status) int {
	var failed firstListError
	n := 0
	for i := nextFinishedRequest(reqs, 0); i >= 0; i = nextFinishedRequest(reqs, i+1) {
		c := reqs[i].comm
		s := reqs[i].takeStatus()
		failed.note(c, s)
		index[n] = i
		if st != nil {
			st[n] = s
		}
		n++
	}
	failed.raise(st)
	return n
}

// waitRequests waits until found, and reports whether there was any request.
func waitRequests(reqs []Request, call string, found func() bool) bool {
	r := enterAllRequests(reqs, call)
	if r == nil {
		return false
	}
	enough := false
	defer func() {
		if !enough {
			noteOpenRequests(reqs, true)
		}
	}()
	r.comm.engine.ProgressUntil(r.op, found)
	enough = true
	return true
}

// testRequests looks once whether found. Where there is no request, it is.
func testRequests(reqs []Request, call string, found func() bool) bool {
	r := enterAllRequests(reqs, call)
	return r == nil || r.comm.engine.PollFor(r.op, found)
}

// enterAllRequests enters a call for all requests of a list, and returns one that is active, or
// nil.
func enterAllRequests(reqs []Request, call string) *Request {
	for i := range reqs {
		if !reqs[i].IsNull() {
			reqs[i].enterActive(call)
			call = nestedCall
		}
	}
	return firstActiveRequest(reqs)
}

// SendInit returns a persistent request that sends in standard mode whenever it is started. It
// lives until Free. Start costs what Isend does, and allocates nothing.
func (c *Comm) SendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("SendInit", model.StandardMode, &b, dst, tag)
}

// SsendInit returns a persistent request that sends in synchronous mode.
func (c *Comm) SsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("SsendInit", model.SynchronousMode, &b, dst, tag)
}

// RsendInit returns a persistent request that sends in ready mode: the matching receive must have
// been posted when it is started.
func (c *Comm) RsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("RsendInit", model.ReadyMode, &b, dst, tag)
}

// BsendInit returns a persistent request that sends in buffered mode: each start is complete when
// its copy is in the attached buffer.
func (c *Comm) BsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("BsendInit", model.BufferedMode, &b, dst, tag)
}

// RecvInit returns a persistent request that receives whenever it is started. Source and tag may be
// AnySource and AnyTag.
func (c *Comm) RecvInit(b Buffer, src, tag int) Request {
	p := engine.PersistentTemplate{Receive: true, Peer: ProcNull, Tag: AnyTag, Null: true}
	if c.enterReceive("RecvInit", src, tag) {
		p = engine.PersistentTemplate{Receive: true, Peer: c.jobRank(src), Context: c.context, Tag: tag}
		if flat, sign, ok := b.PlainBytes(); ok {
			p.Buf, p.Signature = flat, engine.Signature(sign)
		} else {
			p.Layout = c.recvLayout(&b)
		}
	}
	return c.newRequest(c.engine.NewPersistent(p))
}

func (c *Comm) sendInit(call string, m model.Mode, b *Buffer, dst, tag int) Request {
	p := engine.PersistentTemplate{Mode: m, Peer: ProcNull, Tag: tag, Null: true}
	if c.enterSend(call, dst, tag) {
		p = engine.PersistentTemplate{Mode: m, Peer: c.jobRank(dst), Context: c.context, Tag: tag}
		if flat, sign, ok := b.PlainBytes(); ok {
			p.Buf, p.Signature = flat, engine.Signature(sign)
		} else {
			p.Layout = c.sendLayout(b)
		}
	}
	return c.newRequest(c.engine.NewPersistent(p))
}

// Start begins the operation of a persistent request that is inactive.
func (r *Request) Start() { r.start("Start") }

// StartAll starts all of a list, in its order.
func StartAll(reqs []Request) {
	for i := range reqs {
		reqs[i].start("StartAll")
	}
}

func (r *Request) start(call string) {
	r.enter(call)
	switch {
	case !r.op.IsPersistent():
		r.comm.engine.Fail(engine.ErrRequest, "the request is not persistent: it was started when it was made")
	case !r.op.IsInactive():
		r.comm.engine.Fail(engine.ErrRequest, "the request is active already: wait for it first")
	}
	r.comm.engine.StartPersistent(r.op)
}

// Free releases the request, which is then null. An operation in progress completes by itself, and
// Finalize waits for it; the program cannot know when its buffer may be used again. A persistent
// request that is inactive is gone at once.
func (r *Request) Free() {
	r.enter("Free")
	r.comm.engine.FreeOp(r.op)
	*r = Request{}
}

// Cancel asks for an active operation to end without a message, and returns at once. Wait or Test
// is still to be called, and its Status says whether it was cancelled: either it was, and no
// message came or went, or it completed as ever.
//
// A receive is cancelled if it has no message. A send is cancelled by its receiver, if the message
// has no receive there: this takes a packet each way, and the receiver has to be in a call, or in
// Finalize with the message taken in. Sends that are complete because the message
// has left, such as buffered and short ones, go on.
func (r *Request) Cancel() {
	r.enter("Cancel")
	if r.op.IsInactive() {
		r.comm.engine.Fail(engine.ErrRequest, "the request is not active")
	}
	r.comm.engine.Cancel(r.op)
}

// enter enters a call on a request, and fails if it is null.
func (r *Request) enter(call string) {
	if r.op == nil {
		failCall(call, engine.ErrRequest, "the request is null")
	}
	r.comm.engine.EnterOn(call, r.comm.context)
	r.checkOwner()
}
