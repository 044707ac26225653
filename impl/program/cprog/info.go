//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Infos: lists of keys and values.

// info is a list of keys and values.
type info struct{ keys, values []string }

// The library ignores all hints and returns none.

func commSetInfo(r *rank, a args) {
	if r.comm(a[0]); a[1] != infoNull {
		r.info(a[1])
	}
}

func commGetInfo(r *rank, a args) {
	r.comm(a[0])
	storeAt(a[1], r.infos.add(kindInfo, &info{}))
}

func (r *rank) info(h uintptr) *info {
	if x := r.infos.get(kindInfo, h); x != nil {
		return *x
	}
	if h == infoEnv {
		return &info{}
	}
	r.raiseError(errInfo, "invalid info: it is MPI_INFO_NULL, or was freed")
	return nil
}

func infoCreate(r *rank, a args) { storeAt(a[0], r.infos.add(kindInfo, &info{})) }

func infoFree(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	r.info(h)
	if h == infoEnv {
		r.raiseError(errInfo, "MPI_INFO_ENV cannot be freed")
	}
	r.infos.remove(h)
	storeAt(a[0], uintptr(infoNull))
}

func infoSet(r *rank, a args) {
	x, key, value := r.info(a[0]), text(a[1]), text(a[2])
	if key == "" || len(key) >= 256 {
		r.raiseError(errInfoKey, "the key has %d characters: it must have 1 to 255", len(key))
	}
	if i := slices.Index(x.keys, key); i >= 0 {
		x.values[i] = value
		return
	}
	x.keys, x.values = append(x.keys, key), append(x.values, value)
}

func infoGet(r *rank, a args) {
	x := r.info(a[0])
	if int(a[2]) < 0 {
		r.raiseError(mpi.ErrArg, "the value has room for %d characters: a length is not negative", int(a[2]))
	}
	i := slices.Index(x.keys, text(a[1]))
	storeAt(a[4], intOfBool(i >= 0))
	if i >= 0 {
		setText(a[3], x.values[i], int(a[2])+1, 0)
	}
}

func infoGetValueLength(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, text(a[1]))
	if storeAt(a[3], intOfBool(i >= 0)); i >= 0 {
		storeAt(a[2], int32(len(x.values[i])))
	}
}

func infoCountKeys(r *rank, a args) { storeAt(a[1], int32(len(r.info(a[0]).keys))) }

func infoGetKey(r *rank, a args) {
	x, n := r.info(a[0]), int(a[1])
	if n < 0 || n >= len(x.keys) {
		r.raiseError(mpi.ErrArg, "key %d: the info has %d keys, counted from 0", n, len(x.keys))
	}
	setText(a[2], x.keys[n], 256, 0)
}

func infoDelete(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, text(a[1]))
	if i < 0 {
		r.raiseError(errInfoNoKey, "the info has no key %q", text(a[1]))
	}
	x.keys, x.values = slices.Delete(x.keys, i, i+1), slices.Delete(x.values, i, i+1)
}

func infoDup(r *rank, a args) {
	x := r.info(a[0])
	storeAt(a[1], r.infos.add(kindInfo, &info{slices.Clone(x.keys), slices.Clone(x.values)}))
}
