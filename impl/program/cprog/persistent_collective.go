//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Persistent collective operations (MPI-4.0, 6.13). Each start is a non-blocking operation with the
// arguments of the initialization. That carries the operation out without messages: so wrong
// arguments are its errors, and it keeps what arrays and handles stand for, which may change
// afterwards.

// persistent is the initialization of a collective operation.
type persistent struct {
	start    starter
	args     [16]uintptr
	tag      int
	resolved resolvedArguments
}

// resolvedArguments are what arrays and handles among the arguments of an initialization stand for.
type resolvedArguments struct {
	recording bool
	large     bool // the initialization has arguments of type MPI_Count
	arrays    map[uintptr][]int
	handles   map[uintptr][]uintptr
	types     map[uintptr]*mpi.Datatype
	ops       map[uintptr]*mpi.Op
}

// persistently returns the handler of the initialization of an operation, whose last arguments are
// an info and the request.
func persistently(start starter, parameters int) handler {
	return func(r *rank, a args) {
		k := &persistent{start: start, resolved: resolvedArguments{recording: true, large: r.now.large, arrays: map[uintptr][]int{},
			handles: map[uintptr][]uintptr{}, types: map[uintptr]*mpi.Datatype{}, ops: map[uintptr]*mpi.Op{}}}
		copy(k.args[:], a[:parameters])
		if info := a[parameters-2]; info != infoNull {
			r.info(info)
		}
		p := r.startPersistent(k)
		k.resolved.recording = false
		r.storePersistent(a[parameters-1], &pending{r: r, c: p.c, persistent: k})
	}
}

// storePersistent stores a request that is not started.
func (r *rank) storePersistent(at uintptr, p *pending) {
	p.idle = true
	r.collectives++
	p.storeHandle(at)
}

// startPersistent starts an operation, or checks its arguments if they are recorded.
func (r *rank) startPersistent(k *persistent) *pending {
	r.now.persistent, r.now.large = k, k.resolved.large
	defer func() { r.now.persistent = nil }()
	return k.start(r, &k.args)
}

// begin starts the persistent operation of a request.
func (x *request) begin() {
	p := x.p
	r := p.r
	r.now.comm = p.c.Comm
	switch {
	case !p.isPersistent():
		r.raiseError(mpi.ErrRequest, "the request is not persistent: it was started when it was made")
	case !p.idle:
		r.raiseError(mpi.ErrRequest, "the request is active already: wait for it first")
	case p.partitions != nil:
		p.partitions.begin(p)
	default:
		x.p = r.startPersistent(p.persistent)
		x.p.persistent = p.persistent
	}
}

func (p *pending) isPersistent() bool { return p.persistent != nil || p.partitions != nil }

// keptType returns a copy of a datatype that the program may free.
func (r *rank) keptType(t *mpi.Datatype) *mpi.Datatype {
	if err := t.CheckUsable(); err != nil {
		r.raiseError(mpi.ErrType, "%v", err)
	}
	return t.Copy().Commit()
}
