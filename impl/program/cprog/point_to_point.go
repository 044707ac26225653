//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Sends, receives and probes.

func iprobe(r *rank, a args) {
	s, ok := r.comm(a[2]).Iprobe(source(int(a[0])), receiveTag(int(a[1])))
	storeAt(a[3], intOfBool(ok))
	if ok {
		setStatus(a[4], s)
	}
}

func isendrecv(r *rank, a args) {
	c := r.comm(a[10])
	r.storeExchange(a[11], c, c.Irecv(r.buffer(a[5], int(a[6]), a[7]), source(int(a[8])), receiveTag(int(a[9]))),
		c.Isend(r.buffer(a[0], int(a[1]), a[2]), destination(int(a[3])), sendTag(int(a[4]))))
}

func isendrecvReplace(r *rank, a args) {
	c, b := r.comm(a[7]), r.buffer(a[0], int(a[1]), a[2])
	out := flatCopy(b)
	r.storeExchange(a[8], c, c.Irecv(b, source(int(a[5])), receiveTag(int(a[6]))), c.Isend(out, destination(int(a[3])), sendTag(int(a[4]))))
}

// storeExchange stores a request for a receive and a send, which has the status of the receive.
func (r *rank) storeExchange(at uintptr, c *comm, receive, send mpi.Request) {
	r.collectives++ // lists are looked at one by one
	p := &pending{r: r, c: c, reqs: []mpi.Request{receive, send}, statuses: make([]mpi.Status, 2)}
	p.finish = func() { p.status = &p.statuses[0] }
	p.storeHandle(at)
}

func setElements(r *rank, a args) {
	x := pointerAt[status](a[0])
	n := int(a[2]) * r.datatype(a[1]).Size()
	x.bytes = [2]int32{int32(n), int32(n >> 32)}
}

func bufferAttach(r *rank, a args) {
	n := int(a[1])
	if n < 0 {
		r.raiseError(mpi.ErrArg, "the buffer has %d bytes: a size is not negative", n)
	}
	if a[0] == bufferAutomatic {
		r.world.AttachGrowingBuffer()
	} else {
		r.world.AttachBuffer(sliceAt[byte](a[0], n))
	}
	r.attached = a[0]
}

func bufferDetach(r *rank, a args) {
	n := len(r.world.DetachBuffer())
	if r.attached == bufferAutomatic {
		n = 0
	}
	storeAt(a[0], r.attached)
	r.storeCount(a[1], n)
	r.attached = 0
}

// flushBuffer waits until the messages in the attached buffer have left it.
func (r *rank) flushBuffer() {
	switch r.attached {
	case 0:
	case bufferAutomatic:
		r.world.DetachBuffer()
		r.world.AttachGrowingBuffer()
	default:
		r.world.AttachBuffer(r.world.DetachBuffer())
	}
}

// bufferIflush waits, too: its request is complete.
func bufferIflush(r *rank, a args) {
	r.flushBuffer()
	r.collectives++ // lists are looked at one by one
	(&pending{r: r, done: true}).storeHandle(a[0])
}
