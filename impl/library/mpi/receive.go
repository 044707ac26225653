package mpi

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Status describes a received message (MPI_Status). After a send, or an operation on a null
// request, it is empty, with AnySource and AnyTag.
type Status struct {
	Source, Tag int
	Bytes       int
	Cancelled   bool // the operation was cancelled: no message was transferred (MPI_Test_cancelled)

	// Err is the error of the message, if Comm.StoreErrorsInStatus was called.
	Err *Error
}

// Count returns the number of received elements of type t, or Undefined if the bytes are not a
// whole number of elements (MPI_Get_count).
func (s Status) Count(t *Datatype) int {
	switch size := t.Size(); {
	case s.Bytes == 0:
		return 0
	case size == 0 || s.Bytes%size != 0:
		return Undefined
	default:
		return s.Bytes / size
	}
}

// Elements returns the number of basic elements received as part of elements of type t, or
// Undefined if the last one is incomplete (MPI_Get_elements).
func (s Status) Elements(t *Datatype) int {
	size := t.Size()
	switch {
	case s.Bytes == 0:
		return 0
	case size == 0:
		return Undefined
	}
	b := Buffer{Count: (s.Bytes + size - 1) / size, Type: t}
	n := b.Elements(s.Bytes)
	if b.Elements(s.Bytes-1) == n { // the received bytes end within an element
		return Undefined
	}
	return n
}

var emptyStatus = Status{Source: AnySource, Tag: AnyTag}

// procNullStatus is the status of a receive from ProcNull.
var procNullStatus = Status{Source: ProcNull, Tag: AnyTag}

// Recv receives a message into b (MPI_Recv). src may be AnySource and tag AnyTag. A message that is
// longer than b, or of another type, is an error.
func (c *Comm) Recv(b Buffer, src, tag int) Status {
	if !c.enterReceive("Recv", src, tag) {
		return procNullStatus
	}
	if flat, sign, ok := b.PlainBytes(); ok {
		return c.newStatus(c.engine.Recv(flat, engine.Signature(sign), c.jobRank(src), c.context, tag))
	}
	return c.newStatus(c.engine.RecvLayout(c.recvLayout(&b), c.jobRank(src), c.context, tag))
}

// Irecv starts to receive a message into b (MPI_Irecv).
func (c *Comm) Irecv(b Buffer, src, tag int) Request { return c.irecv("Irecv", &b, src, tag) }

func (c *Comm) irecv(call string, b *Buffer, src, tag int) Request {
	if !c.enterReceive(call, src, tag) {
		return c.newRequest(c.engine.NewFinishedOp(true, engine.Status{Source: ProcNull, Tag: AnyTag}))
	}
	if flat, sign, ok := b.PlainBytes(); ok {
		return c.newRequest(c.engine.Irecv(flat, engine.Signature(sign), c.jobRank(src), c.context, tag))
	}
	return c.newRequest(c.engine.IrecvLayout(c.recvLayout(b), c.jobRank(src), c.context, tag))
}

// Sendrecv sends one message and receives another at the same time (MPI_Sendrecv). If an argument
// is wrong, neither transfer starts.
func (c *Comm) Sendrecv(send Buffer, dst, sendTag int, recv Buffer, src, recvTag int) Status {
	if c.enterSend("Sendrecv", dst, sendTag) {
		c.checkBuffer(send)
	}
	r := c.irecv(nestedCall, &recv, src, recvTag)
	c.send(nestedCall, model.StandardMode, &send, dst, sendTag)
	return r.wait(nestedCall)
}

// SendrecvReplace sends the contents of b and receives into b (MPI_Sendrecv_replace).
func (c *Comm) SendrecvReplace(b Buffer, dst, sendTag, src, recvTag int) Status {
	sends := c.enterSend("SendrecvReplace", dst, sendTag)
	copied := c.flatData(c.checkBuffer(b), true)
	if _, flat := b.ContiguousBytes(); flat {
		copied = device.CloneBytes(copied)
	}
	r := c.irecv(nestedCall, &b, src, recvTag)
	if sends {
		c.engine.Send(model.StandardMode, copied, engine.Signature(b.KindSign(b.Len())), c.jobRank(dst), c.context, sendTag)
	}
	return r.wait(nestedCall)
}

// Probe waits until a message has arrived that Recv with these arguments would receive, without
// receiving it (MPI_Probe).
func (c *Comm) Probe(src, tag int) Status {
	if !c.enterReceive("Probe", src, tag) {
		return procNullStatus
	}
	st, _ := c.engine.Probe(c.jobRank(src), c.context, tag, true)
	return c.newStatus(st)
}

// Iprobe is Probe without waiting: it reports whether there is such a message (MPI_Iprobe).
func (c *Comm) Iprobe(src, tag int) (Status, bool) {
	if !c.enterReceive("Iprobe", src, tag) {
		return procNullStatus, true
	}
	st, ok := c.engine.Probe(c.jobRank(src), c.context, tag, false)
	if !ok {
		return emptyStatus, false
	}
	return c.newStatus(st), true
}

// enterReceive checks the arguments of a receive. It returns false if the source is ProcNull.
func (c *Comm) enterReceive(call string, src, tag int) bool {
	if call != nestedCall {
		c.engine.EnterOn(call, c.context)
	}
	if src == ProcNull {
		return false
	}
	if src != AnySource {
		c.checkRank(src)
	}
	if tag != AnyTag {
		c.checkTag(tag)
	}
	return true
}

func (c *Comm) newStatus(st engine.Status) Status {
	return Status{Source: c.rankOf(st.Source), Tag: st.Tag, Bytes: st.Bytes, Err: st.Err}
}
