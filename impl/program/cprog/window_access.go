//go:build cgo && linux && (amd64 || arm64)

package cprog

import "github.com/loggp/loggp/impl/library/mpi"

// Window accesses and epochs. Handlers look up the window first, so that errors of other arguments
// are raised on the window.

// accessTarget has the arguments that locate an access at the target.
type accessTarget struct {
	rank, offset, count int
	datatype            *mpi.Datatype
}

// targetAt returns the target described by the arguments from i on.
func (r *rank) targetAt(a args, i int) accessTarget {
	t := accessTarget{destinationRank(int(a[i])), int(a[i+1]), int(a[i+2]), r.datatype(a[i+3])}
	r.checkCount(t.count, t.datatype)
	return t
}

// bufferAt returns the buffer described by the arguments from i on.
func (r *rank) bufferAt(a args, i int) mpi.Buffer { return r.localBuffer(a[i], int(a[i+1]), a[i+2]) }

// accumulateOp returns the operation of an accumulate.
func (r *rank) accumulateOp(h uintptr) *mpi.Op {
	switch h {
	case 0x3c: // MPI_REPLACE
		return mpi.Replace
	case 0x3d: // MPI_NO_OP
		return mpi.NoOp
	}
	if o := basicOps[h]; o != nil {
		return o
	}
	if o := r.ops.get(kindOp, h); o != nil {
		return *o
	}
	r.raiseError(mpi.ErrOp, "invalid operation: it is MPI_OP_NULL, or was freed")
	return nil
}

// accumulateOrigin returns the origin buffer of an accumulate. It may be missing for MPI_NO_OP.
func (r *rank) accumulateOrigin(a args, op *mpi.Op) mpi.Buffer {
	if op == mpi.NoOp {
		return mpi.Buffer{}
	}
	return r.bufferAt(a, 0)
}

func put(r *rank, a args) {
	w, t := r.window(a[7]), r.targetAt(a, 3)
	w.Put(r.bufferAt(a, 0), t.rank, t.offset, t.count, t.datatype)
}

func get(r *rank, a args) {
	w, t := r.window(a[7]), r.targetAt(a, 3)
	w.Get(r.bufferAt(a, 0), t.rank, t.offset, t.count, t.datatype)
}

func accumulate(r *rank, a args) {
	w, t, op := r.window(a[8]), r.targetAt(a, 3), r.accumulateOp(a[7])
	w.Accumulate(r.accumulateOrigin(a, op), t.rank, t.offset, t.count, t.datatype, op)
}

func getAccumulate(r *rank, a args) {
	w, t, op := r.window(a[11]), r.targetAt(a, 6), r.accumulateOp(a[10])
	w.GetAccumulate(r.accumulateOrigin(a, op), r.bufferAt(a, 3), t.rank, t.offset, t.count, t.datatype, op)
}

func fetchAndOp(r *rank, a args) {
	w, op := r.window(a[6]), r.accumulateOp(a[5])
	var origin mpi.Buffer
	if op != mpi.NoOp {
		origin = r.localBuffer(a[0], 1, a[2])
	}
	w.FetchAndOp(origin, r.localBuffer(a[1], 1, a[2]), destinationRank(int(a[3])), int(a[4]), op)
}

func compareAndSwap(r *rank, a args) {
	w := r.window(a[6])
	w.CompareAndSwap(r.localBuffer(a[0], 1, a[3]), r.localBuffer(a[1], 1, a[3]), r.localBuffer(a[2], 1, a[3]), destinationRank(int(a[4])), int(a[5]))
}

func rput(r *rank, a args) {
	w, t := r.window(a[7]), r.targetAt(a, 3)
	r.addRequest(a[8], w.Rput(r.bufferAt(a, 0), t.rank, t.offset, t.count, t.datatype))
}

func rget(r *rank, a args) {
	w, t := r.window(a[7]), r.targetAt(a, 3)
	r.addRequest(a[8], w.Rget(r.bufferAt(a, 0), t.rank, t.offset, t.count, t.datatype))
}

func raccumulate(r *rank, a args) {
	w, t, op := r.window(a[8]), r.targetAt(a, 3), r.accumulateOp(a[7])
	r.addRequest(a[9], w.Raccumulate(r.accumulateOrigin(a, op), t.rank, t.offset, t.count, t.datatype, op))
}

func rgetAccumulate(r *rank, a args) {
	w, t, op := r.window(a[11]), r.targetAt(a, 6), r.accumulateOp(a[10])
	r.addRequest(a[12], w.RgetAccumulate(r.accumulateOrigin(a, op), r.bufferAt(a, 3), t.rank, t.offset, t.count, t.datatype, op))
}

// assertionBits are the assertions of mpi.h.
var assertionBits = []struct {
	bit int
	is  mpi.Assert
}{{1024, mpi.NoCheck}, {2048, mpi.NoPrecede}, {4096, mpi.NoPut}, {8192, mpi.NoStore}, {16384, mpi.NoSucceed}}

// assertions converts the assertion argument.
func (r *rank) assertions(a uintptr) mpi.Assert {
	var out mpi.Assert
	rest := int(a)
	for _, x := range assertionBits {
		if rest&x.bit != 0 {
			out |= x.is
			rest &^= x.bit
		}
	}
	if rest != 0 {
		r.raiseError(mpi.ErrAssert, "%#x is no assertion", rest)
	}
	return out
}

func winLock(r *rank, a args) {
	w, kind := r.window(a[3]), mpi.LockShared
	switch int(a[0]) {
	case 301: // MPI_LOCK_EXCLUSIVE
		kind = mpi.LockExclusive
	case 302: // MPI_LOCK_SHARED
	default:
		r.raiseError(mpi.ErrLockType, "lock type %d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE", int(a[0]))
	}
	w.Lock(kind, destinationRank(int(a[1])), r.assertions(a[2]))
}
