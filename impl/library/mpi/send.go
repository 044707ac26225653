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
		c.engine.Send(m, flat, engine.Signature(sign), c.jobRank(dst), c.context, tag)
		return
	}
	c.engine.SendLayout(m, c.sendLayout(b), c.jobRank(dst), c.context, tag)
}

func (c *Comm) isend(call string, m model.Mode, b *Buffer, dst, tag int) Request {
	if !c.enterSend(call, dst, tag) {
		return c.newRequest(c.engine.NewFinishedOp(false, engine.Status{}))
	}
	if flat, sign, ok := b.PlainBytes(); ok {
		return c.newRequest(c.engine.Isend(m, flat, engine.Signature(sign), c.jobRank(dst), c.context, tag))
	}
	return c.newRequest(c.engine.IsendLayout(m, c.sendLayout(b), c.jobRank(dst), c.context, tag))
}

// nestedCall in place of a call says that the program is in one already.
const nestedCall = ""

// enterSend enters a send, checks its arguments, and reports whether there is anything to send.
func (c *Comm) enterSend(call string, dst, tag int) bool {
	if call != nestedCall {
		c.engine.EnterOn(call, c.context)
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
	c.engine.Enter("AttachBuffer")
	c.engine.AttachBuffer(engine.ScopeOfRank, b)
}

// AttachGrowingBuffer lets the library make a buffer for buffered sends, as large as they need.
func (c *Comm) AttachGrowingBuffer() {
	c.engine.Enter("AttachGrowingBuffer")
	c.engine.AttachGrowingBuffer(engine.ScopeOfRank)
}

// DetachBuffer returns the attached buffer when all messages in it have left.
func (c *Comm) DetachBuffer() []byte {
	c.engine.Enter("DetachBuffer")
	return c.engine.DetachBuffer(engine.ScopeOfRank)
}

// AttachOwnBuffer lends b to buffered sends on c, and on communicators that NestBuffers has put
// under c and that have no buffer of their own (MPI_Comm_attach_buffer).
func (c *Comm) AttachOwnBuffer(b []byte) {
	c.enterCall("AttachOwnBuffer")
	c.engine.AttachBuffer(c.context, b)
}

// AttachOwnGrowingBuffer lets the library make such a buffer, as large as sends need.
func (c *Comm) AttachOwnGrowingBuffer() {
	c.enterCall("AttachOwnGrowingBuffer")
	c.engine.AttachGrowingBuffer(c.context)
}

// DetachOwnBuffer returns that buffer when all messages in it have left.
func (c *Comm) DetachOwnBuffer() []byte {
	c.enterCall("DetachOwnBuffer")
	return c.engine.DetachBuffer(c.context)
}

// NestBuffers lets buffered sends on c, and on communicators that are made of it from now on, use
// the buffer of outer if they have none of their own.
func (c *Comm) NestBuffers(outer *Comm) {
	c.enterCall("NestBuffers")
	c.outerBuffers = outer.context
	c.engine.NestBufferScope(c.context, outer.context)
}

// BsendOverhead is the space that a buffered message takes in the attached buffer in addition to
// its data.
const BsendOverhead = engine.BufferedOverhead

// LowLevelMessages sends low-level messages: the single packets without matching that protocols
// consist of. They are for measuring, and may not be mixed with other communication that is under
// way.
type LowLevelMessages struct{ comm *Comm }

// LowLevelMessages returns the low-level messages of the communicator's ranks.
func (c *Comm) LowLevelMessages() LowLevelMessages { return LowLevelMessages{c} }

func (m LowLevelMessages) lowLevelPort() engine.LowLevelPort {
	d := m.comm.engine.LowLevelPort()
	if d == nil {
		m.comm.engine.Fail(ErrOther, "the library's engine has no low-level messages")
	}
	return d
}

// Send sends one low-level message.
func (m LowLevelMessages) Send(b []byte, dst int) {
	m.comm.engine.Enter("Messages.Send")
	m.comm.checkRank(dst)
	m.lowLevelPort().SendPacket(m.comm.jobRank(dst), b)
}

// Recv receives the next one from any rank and returns its length.
func (m LowLevelMessages) Recv(b []byte) int {
	m.comm.engine.Enter("Messages.Recv")
	return m.lowLevelPort().RecvPacket(b)
}

// MemoryKey names memory that a rank has exposed.
type MemoryKey = device.Key

// HasRemoteMemory reports whether the machine has remote memory access. Where it has not, the other
// methods go by packets, and need the other rank to be in a call.
func (m LowLevelMessages) HasRemoteMemory() bool { return m.lowLevelPort().HasRemoteMemory() }

// Expose lets other ranks access b until Withdraw.
func (m LowLevelMessages) Expose(b []byte) MemoryKey { return m.lowLevelPort().Expose(b) }

// Withdraw ends that.
func (m LowLevelMessages) Withdraw(k MemoryKey) { m.lowLevelPort().Withdraw(k) }

// Get reads memory that rank src has exposed into b, and returns when the bytes are there.
func (m LowLevelMessages) Get(b []byte, src int, k MemoryKey) {
	m.comm.engine.Enter("Messages.Get")
	m.comm.checkRank(src)
	m.lowLevelPort().Get(m.comm.jobRank(src), k, b)
}

// Put writes b into memory that rank dst has exposed, and returns when the bytes are known to be
// there.
func (m LowLevelMessages) Put(b []byte, dst int, k MemoryKey) {
	m.comm.engine.Enter("Messages.Put")
	m.comm.checkRank(dst)
	m.lowLevelPort().Put(m.comm.jobRank(dst), k, b)
}
