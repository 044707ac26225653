package mpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// The collective operations. All ranks of a communicator call them, in the same order, and give as much data as others take. Buffers may not
// overlap.

// Bcast brings the root's data to all ranks.
func (c *Comm) Bcast(b Buffer, root int) {
	c.begin("Bcast", root, b)
	c.bcast(b, root)
}

// bcast is Bcast within a call, as are those of other names that begin with a small letter.
func (c *Comm) bcast(b Buffer, root int) {
	r := c.round(collective.Bcast, root, b.Type)
	data := c.flat(b, c.rank == root)
	r.carryOut(r.job(data), nil, data)
	if c.rank != root {
		c.settle(b, data)
	}
}

// Scatter gives each rank its part of the root's data: recv.Count elements, which lie at the root one after another in the order of
// ranks, send.Count for each. send counts at the root only.
func (c *Comm) Scatter(send, recv Buffer, root int) {
	c.begin("Scatter", root, recv)
	r := c.round(collective.Scatter, root, recv.Type)
	var in []byte
	if c.rank == root {
		all := c.checked(send.Part(0, c.size*send.Count))
		c.alike(&send, &recv)
		c.apart(&all, &recv)
		in = c.flat(all, true)
	}
	out := c.flat(recv, false)
	r.carryOut(r.job(out), in, out)
	c.settle(recv, out)
}

// Gather brings the data of all ranks to the root, where it lies in the order of ranks, recv.Count elements of each. recv counts at the root only.
func (c *Comm) Gather(send, recv Buffer, root int) {
	c.begin("Gather", root, send)
	r := c.round(collective.Gather, root, send.Type)
	in := c.flat(send, true)
	if c.rank != root {
		r.carryOut(r.job(in), in, nil)
		return
	}
	all := c.checked(recv.Part(0, c.size*recv.Count))
	c.alike(&send, &recv)
	c.apart(&send, &all)
	out := c.flat(all, false)
	r.carryOut(r.job(in), in, out)
	c.settle(all, out)
}

// Allgather is Gather to all ranks.
func (c *Comm) Allgather(send, recv Buffer) {
	c.begin("Allgather", 0, send)
	c.allgather(send, recv)
}

func (c *Comm) allgather(send, recv Buffer) {
	r := c.round(collective.Allgather, 0, send.Type)
	all := c.checked(recv.Part(0, c.size*recv.Count))
	c.alike(&send, &recv)
	c.apart(&send, &all)
	in, out := c.flat(send, true), c.flat(all, false)
	r.carryOut(r.job(in), in, out)
	c.settle(all, out)
}

// Alltoall sends send.Count elements to each rank, and receives recv.Count of each. They lie in the order of ranks.
func (c *Comm) Alltoall(send, recv Buffer) {
	c.begin("Alltoall", 0, send)
	r := c.round(collective.Alltoall, 0, send.Type)
	given, all := c.checked(send.Part(0, c.size*send.Count)), c.checked(recv.Part(0, c.size*recv.Count))
	c.alike(&send, &recv)
	c.apart(&given, &all)
	in, out := c.flat(given, true), c.flat(all, false)
	r.carryOut(collective.Job{Ranks: c.size, Bytes: send.Len()}, in, out)
	c.settle(all, out)
}

// Reduce combines the elements of all ranks, in the order of ranks, and leaves the result at the root. recv counts there only.
func (c *Comm) Reduce(send, recv Buffer, op *Op, root int) {
	c.begin("Reduce", root, send)
	c.reduce(send, recv, op, root)
}

func (c *Comm) reduce(send, recv Buffer, op *Op, root int) {
	r := c.combining(collective.Reduce, root, send, op)
	in := c.flat(send, true)
	if c.rank != root {
		r.carryOut(r.job(in), in, nil)
		return
	}
	out := c.flat(c.checked(recv), false)
	c.alike(&send, &recv)
	c.apart(&send, &recv)
	r.carryOut(r.job(in), in, out)
	c.settle(recv, out)
}

// Allreduce is Reduce to all ranks.
func (c *Comm) Allreduce(send, recv Buffer, op *Op) {
	c.reduceAll("Allreduce", collective.Allreduce, send, recv, op)
}

// Scan combines the elements of the ranks up to this one.
func (c *Comm) Scan(send, recv Buffer, op *Op) { c.reduceAll("Scan", collective.Scan, send, recv, op) }

func (c *Comm) reduceAll(call string, o collective.Operation, send, recv Buffer, op *Op) {
	c.begin(call, 0, send)
	r := c.combining(o, 0, send, op)
	in, out := c.flat(send, true), c.flat(c.checked(recv), false)
	c.alike(&send, &recv)
	c.apart(&send, &recv)
	r.carryOut(r.job(in), in, out)
	c.settle(recv, out)
}

// combining returns the round of an operation that combines elements.
func (c *Comm) combining(o collective.Operation, root int, of Buffer, op *Op) *round {
	if err := op.Check(of.Type); err != nil {
		c.e.Fail(engine.ErrOp, "%v", err)
	}
	r := c.round(o, root, of.Type)
	r.op, r.of, r.combine, r.commutes = op, of.Type, op.Flat(of.Type), op.Commutes()
	r.tag = tagOf(o, op.Sort(), root)
	c.e.Expect(r.tag)
	return r
}

// begin enters a call and checks what it is called with.
func (c *Comm) begin(call string, root int, b Buffer) {
	c.enter(call)
	c.intra()
	if root < 0 || root >= c.size {
		c.e.Fail(engine.ErrRoot, "root %d is not in a communicator of %d", root, c.size)
	}
	c.checked(b)
}

// job describes an operation whose block is data. What is not combined may be divided anywhere: ranks may give and take the same data as elements of
// several types, and have to divide it alike.
func (r *round) job(data []byte) collective.Job {
	j := collective.Job{Ranks: r.size, Root: r.root, Bytes: len(data)}
	if r.of != nil {
		j.Unit = r.of.Size()
	}
	return j
}
