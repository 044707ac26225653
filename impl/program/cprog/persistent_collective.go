//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Persistent collective operations (MPI-4.0, section 6.13). Each start is a nonblocking operation
// with the arguments of the initialization. The initialization runs the operation without messages.
// It thereby reports wrong arguments, and saves the values of arrays and the objects of handles,
// which may change later.

// persistentCollective is an initialized collective operation.
type persistentCollective struct {
	starter  collectiveStarter
	args     [16]uintptr
	tag      int
	resolved resolvedArguments
}

// resolvedArguments are the values of arrays and the objects of handles in the initialization's
// arguments.
type resolvedArguments struct {
	recording      bool
	hasLargeCounts bool // the initialization has arguments of type MPI_Count
	arrays         map[uintptr][]int
	handles        map[uintptr][]uintptr
	types          map[uintptr]*mpi.Datatype
	ops            map[uintptr]*mpi.Op
}

// persistentInitHandler returns the handler of an initialization, whose last arguments are an info
// and the request.
func persistentInitHandler(start collectiveStarter, parameters int) handler {
	return func(r *rank, a args) {
		k := &persistentCollective{starter: start, resolved: resolvedArguments{recording: true, hasLargeCounts: r.currentCall.hasLargeCounts, arrays: map[uintptr][]int{},
			handles: map[uintptr][]uintptr{}, types: map[uintptr]*mpi.Datatype{}, ops: map[uintptr]*mpi.Op{}}}
		copy(k.args[:], a[:parameters])
		if info := a[parameters-2]; info != infoNull {
			r.info(info)
		}
		p := r.startPersistent(k)
		k.resolved.recording = false
		r.storePersistent(a[parameters-1], &pendingOperation{rank: r, comm: p.comm, persistent: k})
	}
}

// storePersistent stores an inactive request.
func (r *rank) storePersistent(at uintptr, p *pendingOperation) {
	p.isInactive = true
	r.startedCollectives++
	p.storeHandle(at)
}

// startPersistent starts an operation. If the arguments are being recorded, it only checks them.
func (r *rank) startPersistent(k *persistentCollective) *pendingOperation {
	r.currentCall.persistent, r.currentCall.hasLargeCounts = k, k.resolved.hasLargeCounts
	defer func() { r.currentCall.persistent = nil }()
	return k.starter(r, &k.args)
}

// begin starts the persistent operation of a request.
func (x *request) begin() {
	p := x.pending
	r := p.rank
	r.currentCall.comm = p.comm.Comm
	switch {
	case !p.isPersistent():
		r.raiseError(mpi.ErrRequest, "the request is not persistent: it was started when it was made")
	case !p.isInactive:
		r.raiseError(mpi.ErrRequest, "the request is active already: wait for it first")
	case p.partitioned != nil:
		p.copies.load(r)
		p.partitioned.start(p)
	default:
		p.copies.load(r)
		x.pending = r.startPersistent(p.persistent)
		x.pending.persistent, x.pending.copies = p.persistent, p.copies
	}
}

func (p *pendingOperation) isPersistent() bool { return p.persistent != nil || p.partitioned != nil }

// copyType returns a copy of a datatype that the program may free.
func (r *rank) copyType(t *mpi.Datatype) *mpi.Datatype {
	if err := t.CheckUsable(); err != nil {
		r.raiseError(mpi.ErrType, "%v", err)
	}
	return t.Copy().Commit()
}
