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

// pending is an operation under way.
type pending struct {
	r        *rank
	c        *comm
	aside    *mpi.Comm // carries the messages, apart from the program's
	ranks    int       // of the communicator, or of the other group
	me       int       // this rank among them; -1: it is of the other group
	tag      int
	reqs     []mpi.Request
	finish   func() // called when all messages have arrived; nil: nothing
	done     bool
	silent   bool         // its messages are not sent
	statuses []mpi.Status // of the messages; nil: they are not needed
	status   *mpi.Status  // nil: it has none
	g        *generalized // nil: it is not a generalized request

	persistent *persistent  // nil: it is not a persistent collective operation
	partitions *partitioned // nil: it is not partitioned
	idle       bool         // it is persistent and not started
}

// tags is the number of operations of a communicator that can be under way at once, and of those
// that are persistent.
const tags = 1 << 20

// newCollective begins an operation on a communicator.
func (r *rank) newCollective(h uintptr) *pending {
	c := r.comm(h)
	p := &pending{r: r, c: c, aside: c.InternalComm(), ranks: c.Size(), me: c.Rank()}
	if k := r.now.persistent; k == nil {
		r.collectives++
		c.started = (c.started + 1) % tags
		p.tag = c.started
	} else {
		if k.resolved.recording {
			c.initialized = (c.initialized + 1) % tags
			k.tag = tags + c.initialized
		}
		p.tag, p.silent = k.tag, k.resolved.recording
	}
	if c.IsInter() {
		p.ranks, p.me = c.RemoteSize(), -1
	}
	return p
}

// starter starts an operation with the arguments of a function. It does not use the last argument
// of a non-blocking function, the address of the request.
type starter func(r *rank, a args) *pending

// handler returns the handler of a non-blocking or a persistent function, whose request is the last
// argument.
func (start starter) handler(f toolchain.Function) handler {
	n := len(f.Parameters)
	if f.Comm == n-3 {
		return persistently(start, n)
	}
	return func(r *rank, a args) { start(r, a).storeHandle(a[n-1]) }
}

// blocking returns the handler of a blocking function.
func blocking(start starter) handler {
	return func(r *rank, a args) { start(r, a).wait() }
}

// blockingOrInter chooses between a handler within a group and one between two groups. comm is the
// index of the communicator argument.
func blockingOrInter(within handler, start starter, comm int) handler {
	return func(r *rank, a args) {
		if r.comm(a[comm]).IsInter() {
			start(r, a).wait()
			return
		}
		within(r, a)
	}
}

func (p *pending) send(b mpi.Buffer, to int) {
	if !p.silent {
		p.reqs = append(p.reqs, p.aside.Isend(b, to, p.tag))
	}
}
func (p *pending) recv(b mpi.Buffer, from int) {
	if !p.silent {
		p.reqs = append(p.reqs, p.aside.Irecv(b, from, p.tag))
	}
}

// The root of an operation between two groups is here, or one of the other group's, or a rank
// beside this one.
const (
	rootHere   = -4 // MPI_ROOT
	rootBeside = procNull
)

// root fails if the root is not one of the ranks. It is this one if here says so, and has nothing
// to do with this one if neither does there.
func (p *pending) root(n uintptr) (root int, here, there bool) {
	root = int(n)
	switch {
	case p.me < 0 && (root == rootHere || root == rootBeside):
		return root, root == rootHere, false
	case root < 0 || root >= p.ranks:
		p.r.raiseError(mpi.ErrRoot, "root %d is not in a group of %d", root, p.ranks)
	}
	return root, root == p.me, root != p.me
}

// storeHandle stores a request for the operation at an address.
func (p *pending) storeHandle(at uintptr) { storeAt(at, p.r.requests.add(kindRequest, request{p: p})) }

// wait waits until the operation is complete.
func (p *pending) wait() {
	switch {
	case p.done:
	case p.g != nil && len(p.r.all) > 1:
		p.r.awaitThread(p)
	case p.g != nil:
		p.r.raiseError(mpi.ErrPending, "the rank waits for a generalized request that only the rank itself can complete")
	case p.partitions != nil:
		p.partitions.wait(p)
		p.complete()
	default:
		mpi.WaitAll(p.reqs, p.statuses)
		p.complete()
	}
}

// test reports whether it is.
func (p *pending) test() bool {
	switch {
	case p.done || p.g != nil:
	case p.partitions != nil && p.partitions.test(p), p.partitions == nil && mpi.TestAll(p.reqs, p.statuses):
		p.complete()
	}
	return p.done
}

func (p *pending) complete() {
	if p.done = true; p.finish != nil {
		p.finish()
	}
}

// result returns the status of an operation that is complete.
func (p *pending) result() mpi.Status {
	switch {
	case p.status != nil:
		return *p.status
	case p.g != nil:
		var s mpi.Status
		p.r.withScratch(func(memory *scratch) {
			at := uintptr(unsafe.Pointer(memory))
			setStatus(at, mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag})
			p.r.callback(p.g.query, p.g.extra, at)
			s = getStatus(at)
		})
		return s
	}
	return mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
}

// zero is the buffer of a message without data.
var zero = mpi.Buffer{Type: mpi.Byte}
