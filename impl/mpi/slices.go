package mpi

// Calls on slices, whose elements are Go's. Those of Comm take any datatype.

// Send sends in standard mode: see Comm.Send.
func Send[T Element](c *Comm, x []T, dst, tag int) { c.Send(Of(x), dst, tag) }

// Ssend sends in synchronous mode: see Comm.Ssend.
func Ssend[T Element](c *Comm, x []T, dst, tag int) { c.Ssend(Of(x), dst, tag) }

// Rsend sends in ready mode: see Comm.Rsend.
func Rsend[T Element](c *Comm, x []T, dst, tag int) { c.Rsend(Of(x), dst, tag) }

// Bsend sends in buffered mode: see Comm.Bsend.
func Bsend[T Element](c *Comm, x []T, dst, tag int) { c.Bsend(Of(x), dst, tag) }

// Isend starts a standard send: see Comm.Isend.
func Isend[T Element](c *Comm, x []T, dst, tag int) Request { return c.Isend(Of(x), dst, tag) }

// Issend starts a synchronous send: see Comm.Issend.
func Issend[T Element](c *Comm, x []T, dst, tag int) Request { return c.Issend(Of(x), dst, tag) }

// Irsend starts a ready send: see Comm.Irsend.
func Irsend[T Element](c *Comm, x []T, dst, tag int) Request { return c.Irsend(Of(x), dst, tag) }

// Ibsend starts a buffered send: see Comm.Ibsend.
func Ibsend[T Element](c *Comm, x []T, dst, tag int) Request { return c.Ibsend(Of(x), dst, tag) }

// Recv receives: see Comm.Recv.
func Recv[T Element](c *Comm, x []T, src, tag int) Status { return c.Recv(Of(x), src, tag) }

// Irecv starts to receive: see Comm.Irecv.
func Irecv[T Element](c *Comm, x []T, src, tag int) Request { return c.Irecv(Of(x), src, tag) }

// Sendrecv sends and receives at the same time: see Comm.Sendrecv.
func Sendrecv[S, R Element](c *Comm, send []S, dst, sendTag int, recv []R, src, recvTag int) Status {
	return c.Sendrecv(Of(send), dst, sendTag, Of(recv), src, recvTag)
}

// Bcast brings the root's elements to all ranks: see Comm.Bcast.
func Bcast[T Element](c *Comm, x []T, root int) { c.Bcast(Of(x), root) }

// Reduce combines the elements of all ranks at the root: see Comm.Reduce.
func Reduce[T Element](c *Comm, send, recv []T, op *Op, root int) {
	c.Reduce(Of(send), Of(recv), op, root)
}

// Allreduce combines the elements of all ranks on all: see Comm.Allreduce.
func Allreduce[T Element](c *Comm, send, recv []T, op *Op) { c.Allreduce(Of(send), Of(recv), op) }

// Scan combines the elements of the ranks up to this one: see Comm.Scan.
func Scan[T Element](c *Comm, send, recv []T, op *Op) { c.Scan(Of(send), Of(recv), op) }

// Scatter gives each rank its part of the root's elements, as many as recv has: see Comm.Scatter.
func Scatter[T Element](c *Comm, send, recv []T, root int) {
	c.Scatter(each(send, len(recv)), Of(recv), root)
}

// Gather brings the elements of all ranks to the root: see Comm.Gather.
func Gather[T Element](c *Comm, send, recv []T, root int) {
	c.Gather(Of(send), each(recv, len(send)), root)
}

// Allgather brings the elements of all ranks to all: see Comm.Allgather.
func Allgather[T Element](c *Comm, send, recv []T) { c.Allgather(Of(send), each(recv, len(send))) }

// Alltoall sends to each rank an equal part of the elements: see Comm.Alltoall.
func Alltoall[T Element](c *Comm, send, recv []T) {
	n := len(send) / max(c.Size(), 1)
	c.Alltoall(each(send, n), each(recv, n))
}

// each returns a buffer of which each rank has so many elements.
func each[T Element](x []T, count int) Buffer {
	b := Of(x)
	b.Count = count
	return b
}
