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
	c   *Comm
	op  *engine.Op
	use uint32
}

func (c *Comm) newRequest(op *engine.Op) Request { return Request{c, op, op.Generation()} }

// Null reports whether r is the null request.
func (r *Request) Null() bool { return r.op == nil }

// Active reports whether there is an operation to wait for.
func (r *Request) Active() bool { return !r.isIdle() }

// Complete reports whether the operation is complete, and leaves it (MPI_Request_get_status).
func (r *Request) Complete() bool { return !r.enterActive("Complete") || r.c.e.Test(r.op) }

// Status returns the status of an operation that is complete, and leaves it.
func (r *Request) Status() Status {
	switch got, ok := r.op.Received(); {
	case r.op.IsCancelled():
		st := emptyStatus
		st.Cancelled = true
		return st
	case ok:
		return r.c.newStatus(got)
	}
	return emptyStatus
}

// Wait waits until the operation is complete.
func (r *Request) Wait() Status { return r.wait("Wait") }

func (r *Request) wait(call string) Status {
	c := r.c // which the request may have no more after that
	return c.raise(r.finish(call))
}

// finish waits, and leaves what is wrong with the message to the status.
func (r *Request) finish(call string) Status {
	if !r.enterActive(call) {
		return emptyStatus
	}
	r.c.e.Wait(r.op)
	return r.takeStatus()
}

// Test reports whether the operation is complete.
func (r *Request) Test() (Status, bool) {
	if !r.enterActive("Test") {
		return emptyStatus, true
	}
	c := r.c
	if !c.e.Test(r.op) {
		return emptyStatus, false
	}
	return c.raise(r.takeStatus()), true
}

// enterActive enters a call, unless it is nested, and reports whether an operation is in progress.
// A copy of a request that was completed is an error.
func (r *Request) enterActive(call string) bool {
	if r.op == nil {
		return false
	}
	if call != nestedCall {
		r.c.e.EnterOn(call, r.c.context)
	} else {
		r.c.e.SetContext(r.c.context)
	}
	r.checkOwner()
	return !r.op.IsInactive()
}

// isIdle reports whether there is nothing to wait for.
func (r *Request) isIdle() bool { return r.op == nil || r.op.IsInactive() }

func (r *Request) checkOwner() {
	if r.op.Generation() != r.use {
		r.c.e.Fail(engine.ErrRequest, "the request was completed before, or freed")
	}
}

// takeStatus takes the status of a finished operation and makes the request null or inactive.
// Copies of one that is null are stale, also those that stand in the same list.
func (r *Request) takeStatus() Status {
	r.checkOwner()
	st := r.Status()
	e := r.c.e
	st.Err = e.ReceiveError(r.op)
	e.Release(r.op)
	if r.op.Generation() != r.use {
		*r = Request{}
	}
	return st
}

// raise fails with what is wrong with a message, unless the caller wants that in the status.
func (c *Comm) raise(st Status) Status {
	if st.Err != nil && !c.e.HasReceiveErrorsInStatus() {
		panic(st.Err)
	}
	return st
}

// listError is the first error of the messages of a list, whose operations are all completed.
type listError struct {
	c   *Comm
	err *Error // nil: there is none
}

func (x *listError) note(c *Comm, st Status) {
	if x.err == nil && st.Err != nil {
		x.c, x.err = c, st.Err
	}
}

// raise fails with it, unless the caller has statuses and wants it there.
func (x *listError) raise(st []Status) {
	if x.err != nil && (st == nil || !x.c.e.HasReceiveErrorsInStatus()) {
		panic(x.err)
	}
}

// WaitAll waits until all operations are complete. The statuses go to st unless it is nil.
func WaitAll(reqs []Request, st []Status) {
	var failed listError
	all := false
	defer func() {
		if !all {
			noteOpenRequests(reqs, false)
		}
	}()
	call := "WaitAll"
	for i := range reqs {
		c := reqs[i].c
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
	if r := firstActive(reqs); r != nil {
		r.c.e.SetOpenRequests(open, one)
	}
}

// WaitAny waits until one operation is complete, and returns its index, or −1 if there is none.
func WaitAny(reqs []Request) (int, Status) {
	i := -1
	if !waitUntil(reqs, "WaitAny", func() bool { i = nextFinished(reqs, 0); return i >= 0 }) {
		return -1, emptyStatus
	}
	c := reqs[i].c
	return i, c.raise(reqs[i].takeStatus())
}

// WaitSome waits until at least one operation is complete, puts the indices of all that are into
// index and their statuses into st unless it is nil, and returns how many, or −1 if there was none
// to wait for.
func WaitSome(reqs []Request, index []int, st []Status) int {
	if !waitUntil(reqs, "WaitSome", func() bool { return nextFinished(reqs, 0) >= 0 }) {
		return -1
	}
	return endFinished(reqs, index, st)
}

// TestAll reports whether all operations are complete, and ends them if so.
func TestAll(reqs []Request, st []Status) bool {
	done := pollOnce(reqs, "TestAll", func() bool {
		for i := range reqs {
			if !reqs[i].isIdle() && !reqs[i].op.IsFinished() {
				return false
			}
		}
		return true
	})
	if done {
		var failed listError
		for i := range reqs {
			s := emptyStatus
			if !reqs[i].isIdle() {
				c := reqs[i].c
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
	if !pollOnce(reqs, "TestAny", func() bool { i = nextFinished(reqs, 0); return i >= 0 }) {
		return -1, emptyStatus, false
	}
	if i < 0 {
		return -1, emptyStatus, true
	}
	c := reqs[i].c
	return i, c.raise(reqs[i].takeStatus()), true
}

// TestSome is WaitSome without waiting: it may return 0.
func TestSome(reqs []Request, index []int, st []Status) int {
	if firstActive(reqs) == nil {
		return -1
	}
	pollOnce(reqs, "TestSome", func() bool { return nextFinished(reqs, 0) >= 0 })
	return endFinished(reqs, index, st)
}

// firstActive returns a request that is active, or nil.
func firstActive(reqs []Request) *Request {
	for i := range reqs {
		if !reqs[i].isIdle() {
			return &reqs[i]
		}
	}
	return nil
}

// nextFinished returns the index of a finished operation at or after from, or −1.
func nextFinished(reqs []Request, from int) int {
	for i := from; i < len(reqs); i++ {
		if reqs[i].op != nil && reqs[i].op.IsFinished() {
			return i
		}
	}
	return -1
}

// endFinished ends all operations that are finished.
func endFinished(reqs []Request, index []int, st []Status) int {
	var failed listError
	n := 0
	for i := nextFinished(reqs, 0); i >= 0; i = nextFinished(reqs, i+1) {
		c := reqs[i].c
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

// waitUntil waits until found, and reports whether there was any request.
func waitUntil(reqs []Request, call string, found func() bool) bool {
	r := enterAll(reqs, call)
	if r == nil {
		return false
	}
	enough := false
	defer func() {
		if !enough {
			noteOpenRequests(reqs, true)
		}
	}()
	r.c.e.ProgressUntil(r.op, found)
	enough = true
	return true
}

// pollOnce looks once whether found. Where there is no request, it is.
func pollOnce(reqs []Request, call string, found func() bool) bool {
	r := enterAll(reqs, call)
	return r == nil || r.c.e.PollFor(r.op, found)
}

// enterAll enters a call for all requests of a list, and returns one that is active, or nil.
func enterAll(reqs []Request, call string) *Request {
	for i := range reqs {
		if !reqs[i].Null() {
			reqs[i].enterActive(call)
			call = nestedCall
		}
	}
	return firstActive(reqs)
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
	return c.newRequest(c.e.NewPersistent(p))
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
	return c.newRequest(c.e.NewPersistent(p))
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
		r.c.e.Fail(engine.ErrRequest, "the request is not persistent: it was started when it was made")
	case !r.op.IsInactive():
		r.c.e.Fail(engine.ErrRequest, "the request is active already: wait for it first")
	}
	r.c.e.StartPersistent(r.op)
}

// Free releases the request, which is then null. An operation in progress completes by itself, and
// Finalize waits for it; the program cannot know when its buffer may be used again. A persistent
// request that is inactive is gone at once.
func (r *Request) Free() {
	r.enter("Free")
	r.c.e.FreeOp(r.op)
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
		r.c.e.Fail(engine.ErrRequest, "the request is not active")
	}
	r.c.e.Cancel(r.op)
}

// enter enters a call on a request, and fails if it is null.
func (r *Request) enter(call string) {
	if r.op == nil {
		failCall(call, engine.ErrRequest, "the request is null")
	}
	r.c.e.EnterOn(call, r.c.context)
	r.checkOwner()
}
