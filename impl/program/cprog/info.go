//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Info objects.

// info has the keys and values of an info object.
type info struct{ keys, values []string }

// The library ignores all hints and returns none.

func commSetInfo(r *rank, a args) {
	r.comm(a[0])
	r.checkInfo(a[1])
}

func commGetInfo(r *rank, a args) {
	r.comm(a[0])
	storeAt(a[1], r.infos.add(kindInfo, &info{}))
}

// checkInfo fails unless h is an info or MPI_INFO_NULL.
func (r *rank) checkInfo(h uintptr) {
	if h != infoNull {
		r.info(h)
	}
}

func (r *rank) info(h uintptr) *info {
	if x := r.infos.get(kindInfo, h); x != nil {
		return *x
	}
	if h == infoEnv {
		return r.environmentInfo()
	}
	r.raiseError(errInfo, "invalid info: it is MPI_INFO_NULL, or was freed")
	return nil
}

// hint returns the value of a key of an info, which may be MPI_INFO_NULL.
func (r *rank) hint(h uintptr, key string) (value string, ok bool) {
	if h == infoNull {
		return "", false
	}
	x := r.info(h)
	if i := slices.Index(x.keys, key); i >= 0 {
		return x.values[i], true
	}
	return "", false
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
	x, key, value := r.info(a[0]), r.stringAt(a[1]), r.stringAt(a[2])
	if key == "" || len(key) >= 256 {
		r.raiseError(errInfoKey, "the key has %d characters: it must have 1 to 255", len(key))
	}
	if len(value) >= 1024 {
		r.raiseError(errInfoValue, "the value of key %q has %d characters: it can have 1023", key, len(value))
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
	i := slices.Index(x.keys, r.stringAt(a[1]))
	storeAt(a[4], intOfBool(i >= 0))
	if i >= 0 {
		storeText(a[3], x.values[i], int(a[2])+1, 0)
	}
}

func infoGetValueLength(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, r.stringAt(a[1]))
	if storeAt(a[3], intOfBool(i >= 0)); i >= 0 {
		storeAt(a[2], int32(len(x.values[i])))
	}
}

// infoGetString stores a value, truncated to the length of the program's buffer, and the length
// that the value needs, including the terminating NUL.
func infoGetString(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, r.stringAt(a[1]))
	storeAt(a[4], intOfBool(i >= 0))
	if i < 0 {
		return
	}
	if room := int(*pointerAt[int32](a[2])); room > 0 {
		storeText(a[3], x.values[i], room, 0)
	} else if room < 0 {
		r.raiseError(mpi.ErrArg, "the value has room for %d characters: a length is not negative", room)
	}
	storeAt(a[2], int32(len(x.values[i])+1))
}

// environmentInfo returns the contents of MPI_INFO_ENV: how the program was started.
func (r *rank) environmentInfo() *info {
	size := strconv.Itoa(r.world.Size())
	directory := r.directory()
	if directory == "" {
		directory, _ = os.Getwd()
	}
	return &info{[]string{"command", "argv", "maxprocs", "soft", "host", "arch", "wdir", "thread_level"},
		[]string{r.program.Path, strings.Join(r.program.Arguments, " "), size, size, r.world.ProcessorName(), runtime.GOARCH, directory, "MPI_THREAD_FUNNELED"}}
}

func infoCreateEnv(r *rank, a args) { storeAt(a[2], r.infos.add(kindInfo, r.environmentInfo())) }

func infoGetNkeys(r *rank, a args) { storeAt(a[1], int32(len(r.info(a[0]).keys))) }

func infoGetNthkey(r *rank, a args) {
	x, n := r.info(a[0]), int(a[1])
	if n < 0 || n >= len(x.keys) {
		r.raiseError(mpi.ErrArg, "key %d: the info has %d keys, counted from 0", n, len(x.keys))
	}
	storeText(a[2], x.keys[n], 256, 0)
}

func infoDelete(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, r.stringAt(a[1]))
	if i < 0 {
		r.raiseError(errInfoNoKey, "the info has no key %q", r.stringAt(a[1]))
	}
	x.keys, x.values = slices.Delete(x.keys, i, i+1), slices.Delete(x.values, i, i+1)
}

func infoDup(r *rank, a args) {
	x := r.info(a[0])
	storeAt(a[1], r.infos.add(kindInfo, &info{slices.Clone(x.keys), slices.Clone(x.values)}))
}
