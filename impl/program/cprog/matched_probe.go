//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
)

// Matched probes. The probe receives the message at once into memory of its own; a matched receive
// copies it to the program's buffer. A synchronous send therefore completes when its message is
// matched.

const (
	messageNull   = 0x128
	messageNoProc = 0x129
)

// matchedMessage is a message that a matched probe has received.
type matchedMessage struct {
	data   []byte // packed
	status mpi.Status
}

// storeMatch receives a message that a probe has found, and stores its handle.
func (r *rank) storeMatch(c *comm, s mpi.Status, at uintptr) {
	if s.Source == mpi.ProcNull {
		storeAt(at, uintptr(messageNoProc))
		return
	}
	m := &matchedMessage{data: device.SizeOnlyIf(r.program.SizeOnlyMessages, make([]byte, s.Bytes, s.Bytes+1)), status: s}
	c.Recv(mpi.PackedBuffer(m.data), s.Source, s.Tag)
	storeAt(at, r.messages.add(kindMessage, m))
}

func mprobe(r *rank, a args) {
	c := r.comm(a[2])
	s := c.Probe(sourceRank(int(a[0])), receiveTag(int(a[1])))
	r.storeMatch(c, s, a[3])
	storeStatus(a[4], s)
}

func improbe(r *rank, a args) {
	c := r.comm(a[2])
	s, ok := c.Iprobe(sourceRank(int(a[0])), receiveTag(int(a[1])))
	storeAt(a[3], intOfBool(ok))
	if ok {
		r.storeMatch(c, s, a[4])
		storeStatus(a[5], s)
	}
}

// receiveMatched copies a matched message to the program's buffer and removes its handle.
func (r *rank) receiveMatched(b mpi.Buffer, at uintptr) mpi.Status {
	h := *pointerAt[uintptr](at)
	s := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
	if h != messageNoProc {
		m := r.messages.get(kindMessage, h)
		if m == nil {
			r.raiseError(mpi.ErrRequest, "invalid message: it is MPI_MESSAGE_NULL, or was received")
		}
		data := (*m).data
		s = (*m).status
		r.messages.remove(h)
		storeAt(at, uintptr(messageNull))
		if len(data) > b.Len() {
			r.raiseError(mpi.ErrTruncate, "the message has %d bytes, the buffer has room for %d", len(data), b.Len())
		}
		if !device.IsSizeOnly(data) {
			b.Unpack(data, 0)
		}
	}
	storeAt(at, uintptr(messageNull))
	return s
}

func mrecv(r *rank, a args) {
	storeStatus(a[4], r.receiveMatched(r.localBuffer(a[0], int(a[1]), a[2]), a[3]))
}

func imrecv(r *rank, a args) {
	s := r.receiveMatched(r.localBuffer(a[0], int(a[1]), a[2]), a[3])
	r.startedCollectives++ // request lists are now processed one by one
	p := &pendingOperation{rank: r, isComplete: true, status: &s}
	p.storeHandle(a[4])
}
