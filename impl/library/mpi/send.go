package mpi

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Send sends b to a rank in standard mode (MPI_Send). It may return before the message is received.
func (c *Comm) Send(b Buffer, dst, tag int) { c.send("Send", model.StandardMode, &b, dst, tag) }

// Ssend sends in synchronous mode (MPI_Ssend): it returns after the matching receive has started.
func (c *Comm) Ssend(b Buffer, dst, tag int) { c.send("Ssend", model.SynchronousMode, &b, dst, tag) }

// Rsend sends in ready mode (MPI_Rsend): the matching receive must already be posted. The receiver
// reports an error if it handles the message before it posts the receive.
func (c *Comm) Rsend(b Buffer, dst, tag int) { c.send("Rsend", model.ReadyMode, &b, dst, tag) }

// Bsend sends in buffered mode (MPI_Bsend): it copies b to the attached buffer if necessary, and
// does not depend on the receiver.
func (c *Comm) Bsend(b Buffer, dst, tag int) { c.send("Bsend", model.BufferedMode, &b, dst, tag) }

// Isend starts a standard send (MPI_Isend). Do not modify the data of b until the request is
// complete.
func (c *Comm) Isend(b Buffer, dst, tag int) Request {
	return c.isend("Isend", model.StandardMode, &b, dst, tag)
}

// Issend starts a synchronous send (MPI_Issend).
func (c *Comm) Issend(b Buffer, dst, tag int) Request {
	return c.isend("Issend", model.SynchronousMode, &b, dst, tag)
}

// Irsend starts a ready send (MPI_Irsend).
func (c *Comm) Irsend(b Buffer, dst, tag int) Request {
	return c.isend("Irsend", model.ReadyMode, &b, dst, tag)
}

// Ibsend starts a buffered send (MPI_Ibsend).
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

// nestedCall, in place of a call's name, says that the program is already in a call.
const nestedCall = ""

// enterSend checks the arguments of a send. It returns false if the destination is ProcNull.
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

// AttachBuffer attaches b for buffered sends (MPI_Buffer_attach). Each message occupies its size
// plus BsendOverhead bytes.
func (c *Comm) AttachBuffer(b []byte) {
	c.engine.Enter("AttachBuffer")
	c.engine.AttachBuffer(engine.ScopeOfRank, b)
}

// AttachGrowingBuffer attaches a buffer that the library extends as buffered sends need it
// (MPI_Buffer_attach with MPI_BUFFER_AUTOMATIC).
func (c *Comm) AttachGrowingBuffer() {
	c.engine.Enter("AttachGrowingBuffer")
	c.engine.AttachGrowingBuffer(engine.ScopeOfRank)
}

// DetachBuffer waits until all messages in the attached buffer have left, and returns the buffer
// (MPI_Buffer_detach).
func (c *Comm) DetachBuffer() []byte {
	c.engine.Enter("DetachBuffer")
	return c.engine.DetachBuffer(engine.ScopeOfRank)
}

// AttachOwnBuffer attaches b for buffered sends on c, and on communicators that NestBuffers has
// nested in c and that have no buffer of their own (MPI_Comm_attach_buffer).
func (c *Comm) AttachOwnBuffer(b []byte) {
	c.enterCall("AttachOwnBuffer")
	c.engine.AttachBuffer(c.context, b)
}

// AttachOwnGrowingBuffer is AttachOwnBuffer with a buffer that the library extends as sends need
// it.
func (c *Comm) AttachOwnGrowingBuffer() {
	c.enterCall("AttachOwnGrowingBuffer")
	c.engine.AttachGrowingBuffer(c.context)
}

// DetachOwnBuffer waits until all messages in the buffer of c have left, and returns it
// (MPI_Comm_detach_buffer).
func (c *Comm) DetachOwnBuffer() []byte {
	c.enterCall("DetachOwnBuffer")
	return c.engine.DetachBuffer(c.context)
}

// NestBuffers makes buffered sends on c, and on communicators created from it afterwards, use the
// buffer of outer if they have none of their own.
func (c *Comm) NestBuffers(outer *Comm) {
	c.enterCall("NestBuffers")
	c.outerBuffers = outer.context
	c.engine.InheritAttachedBuffer(c.context, outer.context)
}

// BsendOverhead is the space in bytes that a buffered message occupies in addition to its data
// (MPI_BSEND_OVERHEAD).
const BsendOverhead = engine.BufferedOverhead

// LowLevelMessages sends single packets without matching, from which protocols are built, and
// accesses remote memory. It is for measurements. Do not use it while other communication is under
// way.
type LowLevelMessages struct{ comm *Comm }

// LowLevelMessages returns low-level access to the communicator's ranks.
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

// Recv receives the next low-level message, from any rank, and returns its length in bytes.
func (m LowLevelMessages) Recv(b []byte) int {
	m.comm.engine.Enter("Messages.Recv")
	return m.lowLevelPort().RecvPacket(b)
}

// MemoryKey identifies memory that a rank has exposed.
type MemoryKey = device.Key

// HasRemoteMemory reports whether the machine supports remote memory access. Otherwise Get and Put
// use packets, which the other rank serves within its calls.
func (m LowLevelMessages) HasRemoteMemory() bool { return m.lowLevelPort().HasRemoteMemory() }

// Expose allows other ranks to access b until Withdraw.
func (m LowLevelMessages) Expose(b []byte) MemoryKey { return m.lowLevelPort().Expose(b) }

// Withdraw ends the access to exposed memory.
func (m LowLevelMessages) Withdraw(k MemoryKey) { m.lowLevelPort().Withdraw(k) }

// Get reads len(b) bytes of memory that rank src has exposed. It returns when the data has arrived.
func (m LowLevelMessages) Get(b []byte, src int, k MemoryKey) {
	m.comm.engine.Enter("Messages.Get")
	m.comm.checkRank(src)
	m.lowLevelPort().Get(m.comm.jobRank(src), k, b)
}

// Put writes b to memory that rank dst has exposed. It returns when the data is known to have
// arrived.
func (m LowLevelMessages) Put(b []byte, dst int, k MemoryKey) {
	m.comm.engine.Enter("Messages.Put")
	m.comm.checkRank(dst)
	m.lowLevelPort().Put(m.comm.jobRank(dst), k, b)
}
