package mpi

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Send sends b to a rank, in standard mode: it may return before the message is received, or may
// not.
func (c *Comm) Send(b Buffer, dst, tag int) { c.send("Send", model.StandardMode, &b, dst, tag) }

// Ssend sends in synchronous mode: it returns when the matching receive has begun.
func (c *Comm) Ssend(b Buffer, dst, tag int) { c.send("Ssend", model.SynchronousMode, &b, dst, tag) }

// Rsend sends in ready mode: the matching receive must have been posted. That it was not is an
// error where it is found: if the receiver takes the message in before it posts the receive.
func (c *Comm) Rsend(b Buffer, dst, tag int) { c.send("Rsend", model.ReadyMode, &b, dst, tag) }

// Bsend sends in buffered mode: it copies b to the attached buffer if need be, and returns without
// the receiver's help.
func (c *Comm) Bsend(b Buffer, dst, tag int) { c.send("Bsend", model.BufferedMode, &b, dst, tag) }

// Isend starts a standard send. The data of b may not be changed until the request is complete.
func (c *Comm) Isend(b Buffer, dst, tag int) Request {
	return c.isend("Isend", model.StandardMode, &b, dst, tag)
}

// Issend starts a synchronous send.
func (c *Comm) Issend(b Buffer, dst, tag int) Request {
	return c.isend("Issend", model.SynchronousMode, &b, dst, tag)
}

// Irsend starts a ready send.
func (c *Comm) Irsend(b Buffer, dst, tag int) Request {
	return c.isend("Irsend", model.ReadyMode, &b, dst, tag)
}

// Ibsend starts a buffered send.
func (c *Comm) Ibsend(b Buffer, dst, tag int) Request {
	return c.isend("Ibsend", model.BufferedMode, &b, dst, tag)
}

func (c *Comm) send(call string, m model.Mode, b *Buffer, dst, tag int) {
	if !c.enterSend(call, dst, tag) {
		return
	}
	if flat, sign, ok := b.PlainBytes(); ok {
		c.e.Send(m, flat, engine.Signature(sign), c.jobRank(dst), c.context, tag)
		return
	}
	c.e.SendLayout(m, c.sendLayout(b), c.jobRank(dst), c.context, tag)
}

func (c *Comm) isend(call string, m model.Mode, b *Buffer, dst, tag int) Request {
	if !c.enterSend(call, dst, tag) {
		return c.newRequest(c.e.NewFinishedOp(false, engine.Status{}))
	}
	if flat, sign, ok := b.PlainBytes(); ok {
		return c.newRequest(c.e.Isend(m, flat, engine.Signature(sign), c.jobRank(dst), c.context, tag))
	}
	return c.newRequest(c.e.IsendLayout(m, c.sendLayout(b), c.jobRank(dst), c.context, tag))
}

// nestedCall in place of a call says that the program is in one already.
const nestedCall = ""

// enterSend enters a send, checks its arguments, and reports whether there is anything to send.
func (c *Comm) enterSend(call string, dst, tag int) bool {
	if call != nestedCall {
		c.e.EnterOn(call, c.context)
	}
	if dst == ProcNull {
		return false
	}
	c.checkRank(dst)
	c.checkTag(tag)
	return true
}

// AttachBuffer lends b to buffered sends. Each message takes BsendOverhead bytes of it in addition
// to its data.
func (c *Comm) AttachBuffer(b []byte) {
	c.e.Enter("AttachBuffer")
	c.e.AttachBuffer(b)
}

// AttachGrowingBuffer lets the library make a buffer for buffered sends, as large as they need.
func (c *Comm) AttachGrowingBuffer() {
	c.e.Enter("AttachGrowingBuffer")
	c.e.AttachGrowingBuffer()
}

// DetachBuffer returns the attached buffer when all messages in it have left.
func (c *Comm) DetachBuffer() []byte {
	c.e.Enter("DetachBuffer")
	return c.e.DetachBuffer()
}

// BsendOverhead is what a buffered message takes of the attached buffer in addition to its data.
const BsendOverhead = engine.BufferedOverhead

// Messages sends low-level messages: the single packets without matching that protocols consist of.
// They are for measuring, and may not be mixed with other communication that is under way.
type Messages struct{ c *Comm }

// Messages returns the low-level messages of the communicator's ranks.
func (c *Comm) Messages() Messages { return Messages{c} }

func (m Messages) direct() engine.LowLevelPort {
	d := m.c.e.LowLevelPort()
	if d == nil {
		m.c.e.Fail(ErrOther, "the library's engine has no low-level messages")
	}
	return d
}

// Send sends one low-level message.
func (m Messages) Send(b []byte, dst int) {
	m.c.e.Enter("Messages.Send")
	m.c.checkRank(dst)
	m.direct().SendPacket(m.c.jobRank(dst), b)
}

// Recv receives the next one from any rank and returns its length.
func (m Messages) Recv(b []byte) int {
	m.c.e.Enter("Messages.Recv")
	return m.direct().RecvPacket(b)
}

// Key names memory that a rank has exposed.
type Key = device.Key

// Remote reports whether the machine has remote memory access. Where it has not, the other methods
// go by packets, and need the other rank to be in a call.
func (m Messages) Remote() bool { return m.direct().HasRemoteMemory() }

// Expose lets other ranks access b until Withdraw.
func (m Messages) Expose(b []byte) Key { return m.direct().Expose(b) }

// Withdraw ends that.
func (m Messages) Withdraw(k Key) { m.direct().Withdraw(k) }

// Get reads memory that rank src has exposed into b, and returns when the bytes are there.
func (m Messages) Get(b []byte, src int, k Key) {
	m.c.e.Enter("Messages.Get")
	m.c.checkRank(src)
	m.direct().Get(m.c.jobRank(src), k, b)
}

// Put writes b into memory that rank dst has exposed, and returns when the bytes are known to be
// there.
func (m Messages) Put(b []byte, dst int, k Key) {
	m.c.e.Enter("Messages.Put")
	m.c.checkRank(dst)
	m.direct().Put(m.c.jobRank(dst), k, b)
}
