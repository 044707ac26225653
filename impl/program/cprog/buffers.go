//go:build cgo && linux && (amd64 || arm64)

package cprog

import "github.com/loggp/loggp/impl/library/mpi"

// Buffers for buffered sends: of the rank, of a communicator, and of a session, whose buffer is for
// the communicators created from its process sets. A send uses the innermost one.

// bufferOwner is what a buffer is attached to.
type bufferOwner struct {
	address    *uintptr // of the buffer; 0: none
	attach     func(b []byte)
	attachAuto func()
	detach     func() []byte
}

// bufferOwnerOf returns the owner in a call, and the number of arguments before those of the
// buffer.
type bufferOwnerOf func(r *rank, a args) (owner bufferOwner, arguments int)

func rankBuffers(r *rank, _ args) (bufferOwner, int) {
	return bufferOwner{&r.attachedBuffer, r.world.AttachBuffer, r.world.AttachGrowingBuffer, r.world.DetachBuffer}, 0
}

func commBuffers(r *rank, a args) (bufferOwner, int) {
	c := r.comm(a[0])
	return ownBuffers(c.Comm, &c.attachedBuffer), 1
}

func sessionBuffers(r *rank, a args) (bufferOwner, int) {
	s := r.session(a[0])
	return ownBuffers(s.comm, &s.attachedBuffer), 1
}

func ownBuffers(c *mpi.Comm, address *uintptr) bufferOwner {
	return bufferOwner{address, c.AttachOwnBuffer, c.AttachOwnGrowingBuffer, c.DetachOwnBuffer}
}

func (of bufferOwnerOf) attach(r *rank, a args) {
	owner, i := of(r, a)
	n := int(a[i+1])
	if n < 0 {
		r.raiseError(mpi.ErrArg, "the buffer has %d bytes: a size is not negative", n)
	}
	if a[i] == bufferAutomatic {
		owner.attachAuto()
	} else {
		owner.attach(sliceAt[byte](a[i], n))
	}
	*owner.address = a[i]
}

func (of bufferOwnerOf) detach(r *rank, a args) {
	owner, i := of(r, a)
	n := len(owner.detach())
	if *owner.address == bufferAutomatic {
		n = 0
	}
	storeAt(a[i], *owner.address)
	r.storeCount(a[i+1], n)
	*owner.address = 0
}

// flush waits until the messages in the buffer have left.
func (of bufferOwnerOf) flush(r *rank, a args) {
	switch owner, _ := of(r, a); *owner.address {
	case 0:
	case bufferAutomatic:
		owner.detach()
		owner.attachAuto()
	default:
		owner.attach(owner.detach())
	}
}

// iflush also waits. Its request is complete when it returns.
func (of bufferOwnerOf) iflush(r *rank, a args) {
	of.flush(r, a)
	_, i := of(r, a)
	r.startedCollectives++ // request lists are now processed one by one
	(&pendingOperation{rank: r, isComplete: true}).storeHandle(a[i])
}
