package mpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Request is a started operation (MPI_Request). The zero value is the null request
// (MPI_REQUEST_NULL), which is complete and has an empty status. Completing a request makes it
// null. A persistent request becomes inactive instead, as it is before Start, and calls that wait
// or test treat it as null.
//
// Copies of a request refer to the same operation. Once the request is null its copies are stale,
// and using one is an error.
type Request struct {
	comm       *Comm
	op         *engine.Op
	generation uint32
}

func (c *Comm) newRequest(op *engine.Op) Request { return Request{c, op, op.Generation()} }

// IsNull reports whether r is the null request.
func (r *Request) IsNull() bool { return r.op == nil }

// IsActive reports whether there is an operation to complete.
func (r *Request) IsActive() bool { return !r.isIdle() }

// IsComplete reports whether the operation is complete, without completing the request
// (MPI_Request_get_status).
func (r *Request) IsComplete() bool { return !r.enterActive("Complete") || r.comm.engine.Test(r.op) }

// Status returns the status of a complete operation, without completing the request
// (MPI_Request_get_status).
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

// Wait waits until the operation is complete and completes the request (MPI_Wait).
func (r *Request) Wait() Status { return r.wait("Wait") }

func (r *Request) wait(call string) Status {
	c := r.comm // saved: takeStatus may reset the request
	return c.raiseStatusError(r.finish(call))
}

// finish waits for the operation. It leaves an error of the message in the status.
func (r *Request) finish(call string) Status {
	if !r.enterActive(call) {
		return emptyStatus
	}
	r.comm.engine.Wait(r.op)
	return r.takeStatus()
}

// Test reports whether the operation is complete, and completes the request if so (MPI_Test).
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

// enterActive records the call, unless it is nested, and reports whether the request is active. It
// fails for a stale copy of a request.
func (r *Request) enterActive(call string) bool {
	if r.op == nil {
		return false
	}
	if call != nestedCall {
		r.comm.engine.EnterOn(call, r.comm.context)
	} else {
		r.comm.engine.SetContext(r.comm.context)
	}
	r.checkNotCompleted()
	return !r.op.IsInactive()
}

// isIdle reports whether the request is null or inactive.
func (r *Request) isIdle() bool { return r.op == nil || r.op.IsInactive() }

func (r *Request) checkNotCompleted() {
	if r.op.Generation() != r.generation {
		r.comm.engine.Fail(engine.ErrRequest, "the request was completed before, or freed")
	}
}

// takeStatus returns the status of a finished operation and makes the request null or inactive.
// Copies of a request that becomes null are stale, even in the same list.
func (r *Request) takeStatus() Status {
	r.checkNotCompleted()
	st := r.Status()
	e := r.comm.engine
	st.Err = e.ReceiveError(r.op)
	e.Release(r.op)
	if r.op.Generation() != r.generation {
		*r = Request{}
	}
	return st
}

// raiseStatusError fails with the error in a status, unless errors stay in statuses.
func (c *Comm) raiseStatusError(st Status) Status {
	if st.Err != nil && !c.engine.HasReceiveErrorsInStatus() {
		panic(st.Err)
	}
	return st
}

// firstListError records the first message error of a list of requests until all are complete.
type firstListError struct {
	comm *Comm
	err  *Error // nil: no error
}

func (x *firstListError) note(c *Comm, st Status) {
	if x.err == nil && st.Err != nil {
		x.comm, x.err = c, st.Err
	}
}

// raise fails with the recorded error, unless the caller passed statuses and errors stay in them.
func (x *firstListError) raise(st []Status) {
	if x.err != nil && (st == nil || !x.comm.engine.HasReceiveErrorsInStatus()) {
		panic(x.err)
	}
}

// WaitAll waits until all operations are complete (MPI_Waitall). It stores the statuses in st
// unless st is nil.
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

// noteOpenRequests records how many operations of a list are incomplete at a rank that is stopped.
// one says that the rank waits for one of them, not for all.
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

// WaitAny waits until one operation is complete, and returns its index (MPI_Waitany). It returns −1
// if no request is active.
func WaitAny(reqs []Request) (int, Status) {
	i := -1
	if !waitRequests(reqs, "WaitAny", func() bool { i = nextFinishedRequest(reqs, 0); return i >= 0 }) {
		return -1, emptyStatus
	}
	c := reqs[i].comm
	return i, c.raiseStatusError(reqs[i].takeStatus())
}

// WaitSome waits until at least one operation is complete (MPI_Waitsome). It stores the indices of
// all complete operations in index and, unless st is nil, their statuses in st. It returns their
// number, or −1 if no request is active.
func WaitSome(reqs []Request, index []int, st []Status) int {
	if !waitRequests(reqs, "WaitSome", func() bool { return nextFinishedRequest(reqs, 0) >= 0 }) {
		return -1
	}
	return endFinishedRequests(reqs, index, st)
}

// TestAll reports whether all operations are complete, and completes the requests if so
// (MPI_Testall).
func TestAll(reqs []Request, st []Status) bool {
	next := 0
	return testRequests(reqs, "TestAll", func() bool { return skipFinished(reqs, &next) }) && endAllRequests(reqs, st)
}

// TestAllAgain is TestAll for a list that is tested until it is complete. *next, initially 0, is
// the first request whose operation has not been seen to finish. A test looks at none before it, so
// that its time does not grow with the list.
func TestAllAgain(reqs []Request, st []Status, next *int) bool {
	if skipFinished(reqs, next) {
		return TestAll(reqs, st)
	}
	r := &reqs[*next]
	r.enterActive("TestAll")
	return r.comm.engine.PollFor(r.op, func() bool { return skipFinished(reqs, next) }) && endAllRequests(reqs, st)
}

// skipFinished advances *next past requests that are idle or finished. It reports whether it has
// reached the end of the list.
func skipFinished(reqs []Request, next *int) bool {
	for *next < len(reqs) && (reqs[*next].isIdle() || reqs[*next].op.IsFinished()) {
		*next++
	}
	return *next == len(reqs)
}

// endAllRequests completes the requests of a list, whose operations are all finished. It returns
// true.
func endAllRequests(reqs []Request, st []Status) bool {
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
	return true
}

// TestAny reports whether an operation is complete, completes its request and returns its index
// (MPI_Testany). It returns −1 and true if no request is active.
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

// TestSome is WaitSome without waiting: it may return 0 (MPI_Testsome).
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

// nextFinishedRequest returns the index of the first finished operation from index from on, or −1.
func nextFinishedRequest(reqs []Request, from int) int {
	for i := from; i < len(reqs); i++ {
		if reqs[i].op != nil && reqs[i].op.IsFinished() {
			return i
		}
	}
	return -1
}

// endFinishedRequests completes all requests whose operations are finished.
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

// waitRequests waits until found returns true. It returns false if no request is active.
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

// testRequests makes progress once and returns found(). It returns true if no request is active.
func testRequests(reqs []Request, call string, found func() bool) bool {
	r := enterAllRequests(reqs, call)
	return r == nil || r.comm.engine.PollFor(r.op, found)
}

// enterAllRequests records a call on a list of requests. It returns one that is active, or nil.
func enterAllRequests(reqs []Request, call string) *Request {
	for i := range reqs {
		if !reqs[i].IsNull() {
			reqs[i].enterActive(call)
			call = nestedCall
		}
	}
	return firstActiveRequest(reqs)
}

// SendInit returns a persistent request for standard sends (MPI_Send_init). It exists until Free.
// Start costs as much as Isend and allocates nothing.
func (c *Comm) SendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("SendInit", model.StandardMode, &b, dst, tag)
}

// SsendInit returns a persistent request for synchronous sends (MPI_Ssend_init).
func (c *Comm) SsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("SsendInit", model.SynchronousMode, &b, dst, tag)
}

// RsendInit returns a persistent request for ready sends (MPI_Rsend_init). The matching receive
// must be posted before each start.
func (c *Comm) RsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("RsendInit", model.ReadyMode, &b, dst, tag)
}

// BsendInit returns a persistent request for buffered sends (MPI_Bsend_init). Each send is complete
// when the message is in the attached buffer.
func (c *Comm) BsendInit(b Buffer, dst, tag int) Request {
	return c.sendInit("BsendInit", model.BufferedMode, &b, dst, tag)
}

// RecvInit returns a persistent request for receives (MPI_Recv_init). src may be AnySource and tag
// AnyTag.
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

// Start starts the operation of an inactive persistent request (MPI_Start).
func (r *Request) Start() { r.start("Start") }

// StartAll starts all requests of a list in order (MPI_Startall).
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

// Free releases the request and makes it null (MPI_Request_free). An active operation still
// completes, and Finalize waits for it, but the program cannot learn when its buffer is free.
func (r *Request) Free() {
	r.enter("Free")
	r.comm.engine.FreeOp(r.op)
	*r = Request{}
}

// Cancel tries to cancel an active operation and returns at once (MPI_Cancel). Wait or Test must
// still be called. Their Status says whether the operation was cancelled, so that no message was
// transferred, or has completed normally.
//
// A receive is cancelled if it has not matched a message. A send is cancelled by its receiver, if
// the message has not matched a receive. This takes one packet each way, and the receiver must be
// in a call, or in Finalize after the message has arrived. Sends that are complete because the
// message has left, such as buffered and short ones, are not cancelled.
func (r *Request) Cancel() {
	r.enter("Cancel")
	if r.op.IsInactive() {
		r.comm.engine.Fail(engine.ErrRequest, "the request is not active")
	}
	r.comm.engine.Cancel(r.op)
}

// enter records a call on a request, and fails if it is null.
func (r *Request) enter(call string) {
	if r.op == nil {
		failCall(call, engine.ErrRequest, "the request is null")
	}
	r.comm.engine.EnterOn(call, r.comm.context)
	r.checkNotCompleted()
}
