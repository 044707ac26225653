//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Sends, receives and probes.

func iprobe(r *rank, a args) {
	s, ok := r.comm(a[2]).Iprobe(sourceRank(int(a[0])), receiveTag(int(a[1])))
	storeAt(a[3], intOfBool(ok))
	if ok {
		storeStatus(a[4], s)
	}
}

func isendrecv(r *rank, a args) {
	c := r.comm(a[10])
	r.storeExchange(a[11], c, c.Irecv(r.buffer(a[5], int(a[6]), a[7]), sourceRank(int(a[8])), receiveTag(int(a[9]))),
		c.Isend(r.buffer(a[0], int(a[1]), a[2]), destinationRank(int(a[3])), sendTag(int(a[4]))))
}

func isendrecvReplace(r *rank, a args) {
	c, b := r.comm(a[7]), r.buffer(a[0], int(a[1]), a[2])
	out := packedCopy(b)
	r.storeExchange(a[8], c, c.Irecv(b, sourceRank(int(a[5])), receiveTag(int(a[6]))), c.Isend(out, destinationRank(int(a[3])), sendTag(int(a[4]))))
}

// storeExchange stores one request for a receive and a send. It has the status of the receive.
func (r *rank) storeExchange(at uintptr, c *comm, receive, send mpi.Request) {
	r.startedCollectives++ // request lists are now processed one by one
	p := &pendingOperation{rank: r, comm: c, reqs: []mpi.Request{receive, send}, statuses: make([]mpi.Status, 2)}
	p.onCompletion = func() { p.status = &p.statuses[0] }
	p.storeHandle(at)
}

func statusSetElements(r *rank, a args) {
	x := pointerAt[status](a[0])
	n := int(a[2]) * r.datatype(a[1]).Size()
	x.bytes = [2]int32{int32(n), int32(n >> 32)}
}
