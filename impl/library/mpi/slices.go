package mpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Calls on slices of Go types. The methods of Comm accept any datatype. A slice is always a valid
// buffer, so these functions skip those checks.

func send[T Element](c *Comm, call string, m model.Mode, x []T, dst, tag int) {
	if c.enterSend(call, dst, tag) {
		c.engine.Send(m, BytesOf(x), signatureOf[T](), c.jobRank(dst), c.context, tag)
	}
}

func isend[T Element](c *Comm, call string, m model.Mode, x []T, dst, tag int) Request {
	if !c.enterSend(call, dst, tag) {
		return c.newRequest(c.engine.NewFinishedOp(false, engine.Status{}))
	}
	return c.newRequest(c.engine.Isend(m, BytesOf(x), signatureOf[T](), c.jobRank(dst), c.context, tag))
}

// signatureOf returns the type signature of elements of T.
func signatureOf[T Element]() engine.Signature { return engine.Signature(TypeOf[T]().KindSign()) }

// Send sends in standard mode: see Comm.Send.
func Send[T Element](c *Comm, x []T, dst, tag int) {
	send(c, "Send", model.StandardMode, x, dst, tag)
}

// Ssend sends in synchronous mode: see Comm.Ssend.
func Ssend[T Element](c *Comm, x []T, dst, tag int) {
	send(c, "Ssend", model.SynchronousMode, x, dst, tag)
}

// Rsend sends in ready mode: see Comm.Rsend.
func Rsend[T Element](c *Comm, x []T, dst, tag int) {
	send(c, "Rsend", model.ReadyMode, x, dst, tag)
}

// Bsend sends in buffered mode: see Comm.Bsend.
func Bsend[T Element](c *Comm, x []T, dst, tag int) {
	send(c, "Bsend", model.BufferedMode, x, dst, tag)
}

// Isend starts a standard send: see Comm.Isend.
func Isend[T Element](c *Comm, x []T, dst, tag int) Request {
	return isend(c, "Isend", model.StandardMode, x, dst, tag)
}

// Issend starts a synchronous send: see Comm.Issend.
func Issend[T Element](c *Comm, x []T, dst, tag int) Request {
	return isend(c, "Issend", model.SynchronousMode, x, dst, tag)
}

// Irsend starts a ready send: see Comm.Irsend.
func Irsend[T Element](c *Comm, x []T, dst, tag int) Request {
	return isend(c, "Irsend", model.ReadyMode, x, dst, tag)
}

// Ibsend starts a buffered send: see Comm.Ibsend.
func Ibsend[T Element](c *Comm, x []T, dst, tag int) Request {
	return isend(c, "Ibsend", model.BufferedMode, x, dst, tag)
}

// Recv receives: see Comm.Recv.
func Recv[T Element](c *Comm, x []T, src, tag int) Status {
	if !c.enterReceive("Recv", src, tag) {
		return procNullStatus
	}
	return c.newStatus(c.engine.Recv(BytesOf(x), signatureOf[T](), c.jobRank(src), c.context, tag))
}

// Irecv starts a receive: see Comm.Irecv.
func Irecv[T Element](c *Comm, x []T, src, tag int) Request {
	if !c.enterReceive("Irecv", src, tag) {
		return c.newRequest(c.engine.NewFinishedOp(true, engine.Status{Source: ProcNull, Tag: AnyTag}))
	}
	return c.newRequest(c.engine.Irecv(BytesOf(x), signatureOf[T](), c.jobRank(src), c.context, tag))
}

// SendInit returns a persistent request that sends in standard mode: see Comm.SendInit.
func SendInit[T Element](c *Comm, x []T, dst, tag int) Request {
	return c.SendInit(BufferOf(x), dst, tag)
}

// SsendInit returns a persistent request that sends in synchronous mode: see Comm.SsendInit.
func SsendInit[T Element](c *Comm, x []T, dst, tag int) Request {
	return c.SsendInit(BufferOf(x), dst, tag)
}

// RsendInit returns a persistent request that sends in ready mode: see Comm.RsendInit.
func RsendInit[T Element](c *Comm, x []T, dst, tag int) Request {
	return c.RsendInit(BufferOf(x), dst, tag)
}

// BsendInit returns a persistent request that sends in buffered mode: see Comm.BsendInit.
func BsendInit[T Element](c *Comm, x []T, dst, tag int) Request {
	return c.BsendInit(BufferOf(x), dst, tag)
}

// RecvInit returns a persistent request that receives: see Comm.RecvInit.
func RecvInit[T Element](c *Comm, x []T, src, tag int) Request {
	return c.RecvInit(BufferOf(x), src, tag)
}

// Sendrecv sends and receives at the same time: see Comm.Sendrecv.
func Sendrecv[S, R Element](c *Comm, send []S, dst, sendTag int, recv []R, src, recvTag int) Status {
	return c.Sendrecv(BufferOf(send), dst, sendTag, BufferOf(recv), src, recvTag)
}

// Bcast sends the root's elements to all ranks: see Comm.Bcast.
func Bcast[T Element](c *Comm, x []T, root int) { c.Bcast(BufferOf(x), root) }

// Reduce combines the elements of all ranks at the root: see Comm.Reduce.
func Reduce[T Element](c *Comm, send, recv []T, op *Op, root int) {
	c.Reduce(BufferOf(send), BufferOf(recv), op, root)
}

// Allreduce combines the elements of all ranks, for all ranks: see Comm.Allreduce.
func Allreduce[T Element](c *Comm, send, recv []T, op *Op) {
	in := BufferOf(send)
	out := BufferOf(recv)
	c.reduceAll("Allreduce", collective.Allreduce, &in, &out, op)
}

// Scan combines the elements of ranks 0 up to and including this one: see Comm.Scan.
func Scan[T Element](c *Comm, send, recv []T, op *Op) { c.Scan(BufferOf(send), BufferOf(recv), op) }

// Scatter gives each rank len(recv) of the root's elements: see Comm.Scatter.
func Scatter[T Element](c *Comm, send, recv []T, root int) {
	c.Scatter(bufferPerRank(send, len(recv)), BufferOf(recv), root)
}

// Gather collects the elements of all ranks at the root: see Comm.Gather.
func Gather[T Element](c *Comm, send, recv []T, root int) {
	c.Gather(BufferOf(send), bufferPerRank(recv, len(send)), root)
}

// Allgather collects the elements of all ranks at every rank: see Comm.Allgather.
func Allgather[T Element](c *Comm, send, recv []T) {
	c.Allgather(BufferOf(send), bufferPerRank(recv, len(send)))
}

// Alltoall sends an equal part of the elements to each rank: see Comm.Alltoall.
func Alltoall[T Element](c *Comm, send, recv []T) {
	n := len(send) / max(c.Size(), 1)
	c.Alltoall(bufferPerRank(send, n), bufferPerRank(recv, n))
}

// bufferPerRank returns a buffer with count elements for each rank.
func bufferPerRank[T Element](x []T, count int) Buffer {
	b := BufferOf(x)
	b.Count = count
	return b
}
