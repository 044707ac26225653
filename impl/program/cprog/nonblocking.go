//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// Nonblocking collective operations. All messages of an operation are started at once: each rank
// sends its data directly to every rank that needs it, and combines data when the operation is
// completed. The operation therefore makes progress in any call, as messages do. With many ranks it
// sends more messages than the algorithms of blocking operations.

// pendingOperation is an active operation that is not a single message: collective, generalized or
// partitioned.
type pendingOperation struct {
	rank         *rank
	comm         *comm
	internalComm *mpi.Comm // carries the messages, separate from the program's
	ranks        int       // size of the communicator, or of the remote group
	myRank       int       // this rank among them; -1: it is in the other group
	tag          int
	reqs         []mpi.Request
	onCompletion func() // called when all messages have arrived; nil: no function
	isComplete   bool
	isMuted      bool                // its arguments are checked, and no messages are sent
	statuses     []mpi.Status        // of the messages; nil: not needed
	expected     []expectedMessage   // the messages that must fill their receives
	status       *mpi.Status         // of the operation; nil: none
	generalized  *generalizedRequest // nil: it is not a generalized request

	copies sectionCopies // of array sections in which its buffers lie

	persistent  *persistentCollective // nil: it is not a persistent collective operation
	partitioned *partitionedOperation // nil: it is not partitioned
	isInactive  bool                  // it is persistent and has not been started
}

// expectedMessage is a message of a collective operation, whose ranks give as much as they take.
type expectedMessage struct{ request, bytes int }

// maxOpenCollectives is the maximum number of active operations of a communicator, and also of
// persistent ones.
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

// collectiveStarter starts an operation with the arguments of a function. It ignores the last
// argument of a nonblocking function, the address of the request.
type collectiveStarter func(r *rank, a args) *pendingOperation

// handler returns the handler of a nonblocking or a persistent function, whose last argument is the
// request.
func (start collectiveStarter) handler(f toolchain.Function) handler {
	n := len(f.Parameters)
	if f.Comm == n-3 {
		return persistentInitHandler(start, n)
	}
	return func(r *rank, a args) { start.begin(r, a).storeHandle(a[n-1]) }
}

// begin starts an operation of a function. An operation that fails before it has sent a message is
// not counted, so that the rank may repeat the call.
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

// blockingOrInterHandler returns a handler that uses within for an intracommunicator and start for
// an intercommunicator. comm is the index of the communicator argument.
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
		if from != mpi.ProcNull {
			p.expected = append(p.expected, expectedMessage{len(p.reqs), b.Len()})
		}
		p.reqs = append(p.reqs, p.internalComm.Irecv(b, from, p.tag))
	}
}

// The root argument of an operation on an intercommunicator: this rank (MPI_ROOT), another rank of
// the local group (MPI_PROC_NULL), or a rank of the remote group.
const (
	rootSelf     = -4 // MPI_ROOT
	rootProcNull = procNull
)

// rootRoles checks the root. here is true if this rank is the root, and there if the root is
// another rank with which this one communicates. If both are false, this rank has nothing to do.
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
		mpi.WaitAll(p.reqs, p.messageStatuses())
		p.complete()
	}
}

// test reports whether the operation is complete.
func (p *pendingOperation) test() bool {
	switch {
	case p.isComplete || p.generalized != nil:
	case p.partitioned != nil && p.partitioned.test(p), p.partitioned == nil && mpi.TestAll(p.reqs, p.messageStatuses()):
		p.complete()
	}
	return p.isComplete
}

// messageStatuses returns the memory for the statuses of the messages, or nil.
func (p *pendingOperation) messageStatuses() []mpi.Status {
	if p.statuses == nil && len(p.expected) > 0 {
		p.statuses = make([]mpi.Status, len(p.reqs))
	}
	return p.statuses
}

func (p *pendingOperation) complete() {
	if p.isComplete = true; p.onCompletion != nil {
		p.onCompletion()
	}
	p.copies.store(p.rank)
	p.checkLengths()
}

// checkLengths fails if a message of a collective operation does not fill its receive.
func (p *pendingOperation) checkLengths() {
	for _, x := range p.expected {
		s := p.statuses[x.request]
		if s.Err == nil && s.Bytes == x.bytes {
			continue
		}
		p.rank.currentCall.comm = p.comm.Comm
		if s.Err != nil {
			p.rank.raiseError(s.Err.Class, "%s", s.Err.Text)
		}
		p.rank.raiseError(mpi.ErrTruncate, "rank %d sent %d bytes where %d were expected: the ranks do not give as much as they take", s.Source, s.Bytes, x.bytes)
	}
}

// completedStatus returns the status of a complete operation.
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
