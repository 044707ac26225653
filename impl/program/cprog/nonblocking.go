//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// Non-blocking collective operations. All messages of an operation are started at once: each rank
// sends its data directly to every rank that needs it, and data is combined when the operation is
// completed. So an operation makes progress in any call, as messages do. With many ranks it has
// more messages than the algorithms of blocking operations.

// pendingOperation is an operation under way that is not a single message: a collective,
// generalized or partitioned one.
type pendingOperation struct {
	rank         *rank
	comm         *comm
	internalComm *mpi.Comm // carries the messages, apart from the program's
	ranks        int       // of the communicator, or of the other group
	myRank       int       // this rank among them; -1: it is of the other group
	tag          int
	reqs         []mpi.Request
	onCompletion func() // called when all messages have arrived; nil: nothing
	isComplete   bool
	isMuted      bool                // its messages are not sent
	statuses     []mpi.Status        // of the messages; nil: they are not needed
	status       *mpi.Status         // nil: it has none
	generalized  *generalizedRequest // nil: it is not a generalized request

	persistent  *persistentCollective // nil: it is not a persistent collective operation
	partitioned *partitionedOperation // nil: it is not partitioned
	isInactive  bool                  // it is persistent and not started
}

// maxOpenCollectives is the number of operations of a communicator that can be under way at once,
// and the number of those that are persistent.
const maxOpenCollectives = 1 << 20

// newCollective begins an operation on a communicator.
func (r *rank) newCollective(h uintptr) *pendingOperation {
	c := r.comm(h)
	p := &pendingOperation{rank: r, comm: c, internalComm: c.InternalComm(), ranks: c.Size(), myRank: c.Rank()}
	if k := r.currentCall.persistent; k == nil {
		r.startedCollectives++
		c.startedCollectives = (c.startedCollectives + 1) % maxOpenCollectives
		p.tag = c.startedCollectives
	} else {
		if k.resolved.recording {
			c.persistentCollectives = (c.persistentCollectives + 1) % maxOpenCollectives
			k.tag = maxOpenCollectives + c.persistentCollectives
		}
		p.tag, p.isMuted = k.tag, k.resolved.recording
	}
	if c.IsInter() {
		p.ranks, p.myRank = c.RemoteSize(), -1
	}
	return p
}

// collectiveStarter starts an operation with the arguments of a function. It does not use the last
// argument of a non-blocking function, the address of the request.
type collectiveStarter func(r *rank, a args) *pendingOperation

// handler returns the handler of a non-blocking or a persistent function, whose request is the last
// argument.
func (start collectiveStarter) handler(f toolchain.Function) handler {
	n := len(f.Parameters)
	if f.Comm == n-3 {
		return persistentInitHandler(start, n)
	}
	return func(r *rank, a args) { start.begin(r, a).storeHandle(a[n-1]) }
}

// begin starts an operation of a function. One that fails before it has sent a message is none, so
// that the rank may call the function again.
func (start collectiveStarter) begin(r *rank, a args) *pendingOperation {
	c := r.comm(a[toolchain.Functions[r.currentCall.number].Comm])
	before, ok := c.startedCollectives, false
	defer func() {
		if !ok {
			c.startedCollectives = before
		}
	}()
	p := start(r, a)
	ok = true
	return p
}

// blockingHandler returns the handler of a blocking function.
func blockingHandler(start collectiveStarter) handler {
	return func(r *rank, a args) { start.begin(r, a).wait() }
}

// blockingOrInterHandler chooses between a handler within a group and one between two groups. comm
// is the index of the communicator argument.
func blockingOrInterHandler(within handler, start collectiveStarter, comm int) handler {
	return func(r *rank, a args) {
		if r.comm(a[comm]).IsInter() {
			start.begin(r, a).wait()
			return
		}
		within(r, a)
	}
}

func (p *pendingOperation) startSend(b mpi.Buffer, to int) {
	if !p.isMuted {
		p.reqs = append(p.reqs, p.internalComm.Isend(b, to, p.tag))
	}
}
func (p *pendingOperation) startRecv(b mpi.Buffer, from int) {
	if !p.isMuted {
		p.reqs = append(p.reqs, p.internalComm.Irecv(b, from, p.tag))
	}
}

// The root of an operation between two groups is here, or one of the other group's, or a rank
// beside this one.
const (
	rootSelf     = -4 // MPI_ROOT
	rootProcNull = procNull
)

// rootRoles fails if the root is not one of the ranks. It is this one if here says so, and has
// nothing to do with this one if neither does there.
func (p *pendingOperation) rootRoles(n uintptr) (root int, here, there bool) {
	root = int(n)
	switch {
	case p.myRank < 0 && (root == rootSelf || root == rootProcNull):
		return root, root == rootSelf, false
	case root < 0 || root >= p.ranks:
		p.rank.raiseError(mpi.ErrRoot, "root %d is not in a group of %d", root, p.ranks)
	}
	return root, root == p.myRank, root != p.myRank
}

// storeHandle stores a request for the operation at an address.
func (p *pendingOperation) storeHandle(at uintptr) {
	storeAt(at, p.rank.requests.add(kindRequest, request{pending: p}))
}

// wait waits until the operation is complete.
func (p *pendingOperation) wait() {
	switch {
	case p.isComplete:
	case p.generalized != nil && len(p.rank.all) > 1:
		p.rank.awaitThread(p)
	case p.generalized != nil:
		p.rank.raiseError(mpi.ErrPending, "the rank waits for a generalized request that only the rank itself can complete")
	case p.partitioned != nil:
		p.partitioned.wait(p)
		p.complete()
	default:
		mpi.WaitAll(p.reqs, p.statuses)
		p.complete()
	}
}

// test reports whether it is.
func (p *pendingOperation) test() bool {
	switch {
	case p.isComplete || p.generalized != nil:
	case p.partitioned != nil && p.partitioned.test(p), p.partitioned == nil && mpi.TestAll(p.reqs, p.statuses):
		p.complete()
	}
	return p.isComplete
}

func (p *pendingOperation) complete() {
	if p.isComplete = true; p.onCompletion != nil {
		p.onCompletion()
	}
}

// completedStatus returns the status of an operation that is complete.
func (p *pendingOperation) completedStatus() mpi.Status {
	switch {
	case p.status != nil:
		return *p.status
	case p.generalized != nil:
		var s mpi.Status
		p.rank.withScratch(func(memory *scratch) {
			at := uintptr(unsafe.Pointer(memory))
			storeStatus(at, mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag})
			p.rank.callback(p.generalized.query, p.generalized.extraState, at)
			s = loadStatus(at)
		})
		return s
	}
	return mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
}

// emptyBuffer is the buffer of a message without data.
var emptyBuffer = mpi.Buffer{Type: mpi.Byte}
