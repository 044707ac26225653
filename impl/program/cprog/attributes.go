//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Attributes of communicators, datatypes and windows.

// keyval is an attribute key.
type keyval struct {
	handle       int
	copy, delete uintptr // functions of the program; 0: none; copy = 1: MPI_COMM_DUP_FN
	extraState   uintptr
	freed        bool
	uses         int // number of attributes with this key
	kind         objectKind
}

// objectKind is a kind of objects that have attributes.
type objectKind string

const (
	communicators objectKind = "communicators"
	datatypes     objectKind = "datatypes"
	windows       objectKind = "windows"
)

type attribute struct {
	key   *keyval
	value uintptr
}

func keyvalCreateHandler(of objectKind) handler {
	return func(r *rank, a args) {
		r.nextKeyval++
		k := &keyval{handle: r.nextKeyval, copy: a[0], delete: a[1], extraState: a[3], kind: of}
		r.keyvals[k.handle] = k
		storeAt(a[2], int32(k.handle))
	}
}

// keyval returns the keyval of a handle, and fails if it is not for objects of this kind.
func (r *rank) keyval(of objectKind, h int) *keyval {
	k := r.keyvals[h]
	if k == nil || k.freed {
		r.raiseError(errKeyval, "invalid attribute key %d: it was freed, or the program did not create it", h)
	}
	r.checkKeyKind(k, of)
	return k
}

func (r *rank) checkKeyKind(k *keyval, of objectKind) {
	if k.kind != of {
		r.avoidFatalHandler()
		r.raiseError(errKeyval, "attribute key %d is for %s, and not for %s", k.handle, k.kind, of)
	}
}

func keyvalFreeHandler(of objectKind) handler {
	return func(r *rank, a args) {
		h := int(*pointerAt[int32](a[0]))
		k := r.keyvals[h]
		if k == nil || k.freed && k.uses == 0 { // a keyval in use may be freed again
			r.keyval(of, h)
		}
		r.checkKeyKind(k, of)
		k.freed = true
		storeAt(a[0], int32(0))
	}
}

// attributes are the attributes of one object.
type attributes []attribute

func (x attributes) index(h int) int {
	return slices.IndexFunc(x, func(a attribute) bool { return a.key.handle == h })
}

// attributesOf returns the attributes of an object.
func (r *rank) attributesOf(of objectKind, h uintptr) *attributes {
	switch of {
	case communicators:
		return &r.comm(h).attributes
	case datatypes:
		return &r.userTypeOf(h).attributes
	}
	return &r.window(h).attributes
}

// copyAttributes returns the attributes for a copy of an object.
func (r *rank) copyAttributes(of uintptr, all attributes) attributes {
	var out attributes
	for _, x := range slices.Clone(all) { // a callback may change the list
		k := x.key
		switch k.copy {
		case 0:
			continue
		case 1: // MPI_COMM_DUP_FN
			k.uses++
			out = append(out, x)
			continue
		}
		r.withScratch(func(s *scratch) {
			s[0], s[1] = 0, 0
			value, flag := uintptr(unsafe.Pointer(&s[0])), uintptr(unsafe.Pointer(&s[1]))
			if code := r.callback(k.copy, of, uintptr(k.handle), k.extraState, x.value, value, flag); code != 0 {
				r.raiseCallbackError(code, "copy", k)
			}
			if int32(s[1]) != 0 {
				k.uses++
				out = append(out, attribute{k, uintptr(s[0])})
			}
		})
	}
	return out
}

// raiseCallbackError ends the call with the error code that a function of an attribute key has
// returned.
func (r *rank) raiseCallbackError(code int, function string, k *keyval) {
	r.currentCall.callbackCode = int32(code)
	c := classOf(code)
	if c == mpi.ErrUnknown {
		c = mpi.ErrOther
	}
	r.raiseError(c, "the %s function of attribute key %d returned error %d", function, k.handle, code)
}

func attrPutHandler(of objectKind) handler {
	return func(r *rank, a args) {
		all, k := r.attributesOf(of, a[0]), r.keyval(of, int(a[1]))
		if i := all.index(k.handle); i >= 0 {
			r.deleteAttribute(a[0], all, (*all)[i])
		}
		if i := all.index(k.handle); i >= 0 { // the delete function has set the attribute again
			(*all)[i].value = a[2]
			return
		}
		k.uses++
		*all = append(*all, attribute{k, a[2]})
	}
}

func attrGetHandler(of objectKind) handler {
	return func(r *rank, a args) {
		all, h := r.attributesOf(of, a[0]), int(a[1])
		if v := r.libraryAttribute(h); v != 0 {
			storeAt(a[2], v)
			storeAt(a[3], int32(1))
			return
		}
		switch k := r.keyvals[h]; {
		case k != nil:
			r.checkKeyKind(k, of)
		case h != appnum:
			r.raiseError(errKeyval, "invalid attribute key %d", h)
		}
		i := all.index(h)
		storeAt(a[3], intOfBool(i >= 0))
		if i >= 0 {
			storeAt(a[2], (*all)[i].value)
		}
	}
}

const (
	appnum       = 506 // MPI_APPNUM, which is not set in the programs that start the job
	lastUsedCode = 507
)

// libraryAttribute returns the address of the value of a predefined attribute, or 0 for other keys.
func (r *rank) libraryAttribute(h int) uintptr {
	if h < 501 || h > 507 || h == appnum && !r.wasSpawned {
		return 0
	}
	values := (*[8]int32)(unsafe.Pointer(&r.hostRank.predefined))
	if values[lastUsedCode-501] == 0 {
		*values = [8]int32{mpi.MaxTag, anySource, procNull, 0, int32(r.world.UniverseSize()), int32(r.appNumber), lastCode, 0}
	}
	return uintptr(unsafe.Pointer(&values[h-501]))
}

func attrDeleteHandler(of objectKind) handler {
	return func(r *rank, a args) {
		all, h := r.attributesOf(of, a[0]), int(a[1])
		i := all.index(h)
		if i < 0 {
			r.keyval(of, h)
			r.raiseError(errKeyval, "the attribute with key %d is not set", h)
		}
		r.deleteAttribute(a[0], all, (*all)[i])
	}
}

// deleteAttribute calls the delete function of an attribute and removes the attribute, unless the
// function has already removed it.
func (r *rank) deleteAttribute(of uintptr, all *attributes, x attribute) {
	if x.key.delete != 0 {
		if code := r.callback(x.key.delete, of, uintptr(x.key.handle), x.value, x.key.extraState); code != 0 {
			r.raiseCallbackError(code, "delete", x.key)
		}
	}
	if i := slices.Index(*all, x); i >= 0 {
		*all = slices.Delete(*all, i, i+1)
		x.key.uses--
	}
}

// deleteAttributes deletes the attributes that an object has at the time of the call. It keeps
// attributes that their delete functions set.
func (r *rank) deleteAttributes(of uintptr, all *attributes) {
	for _, x := range slices.Backward(slices.Clone(*all)) {
		if slices.Contains(*all, x) {
			r.deleteAttribute(of, all, x)
		}
	}
}
