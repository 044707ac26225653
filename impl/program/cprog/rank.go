//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/model/unit"
)

// rank is one rank of a program.
type rank struct {
	p     *Program
	h     *C.struct_host_rank
	base  uintptr // where its copy of the program was loaded
	world *mpi.Comm

	now     call   // the function that the program is in
	attempt func() // carries it out

	initialized, finalized bool
	lines                  [3]bytes.Buffer // incomplete lines of output, by file descriptor

	handles
}

// call is a call of a function.
type call struct {
	number          int
	args            args
	caller          uintptr   // where the program calls it
	comm            *mpi.Comm // its error handler gets the errors of the call
	result          int64
	real            float64
	errorInStatuses bool  // the error that it makes is told by statuses
	userCode        int32 // the error code that the program gives to an error handler; 0: none
}

// args are the arguments of a function, one word each.
type args *[16]uintptr

// pointerAt returns an address of the program's as a pointer. It is no null pointer, and no
// constant of MPI's.
func pointerAt[T any](a uintptr) *T { return *(**T)(unsafe.Pointer(&a)) }

// storeAt stores through an address of the program's.
func storeAt[T any](a uintptr, v T) { *pointerAt[T](a) = v }

// sliceAt returns n elements at an address of the program's.
func sliceAt[T any](a uintptr, n int) []T {
	if n <= 0 || a == 0 {
		return nil
	}
	return unsafe.Slice(pointerAt[T](a), n)
}

// intsAt returns n values of C's int at an address.
func intsAt(a uintptr, n int) []int {
	out := make([]int, max(n, 0))
	for i, v := range sliceAt[int32](a, n) {
		out[i] = int(v)
	}
	return out
}

// words returns n values of MPI_Aint at an address.
func words(a uintptr, n int) []int { return append([]int(nil), sliceAt[int](a, n)...) }

// text returns the string at an address.
func text(a uintptr) string {
	if a == 0 {
		return ""
	}
	return C.GoString(pointerAt[C.char](a))
}

// setText stores a string at an address, of at most room bytes with its end, and its length.
func setText(at uintptr, s string, room int, length uintptr) {
	s = s[:min(len(s), room-1)]
	b := sliceAt[byte](at, len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	if length != 0 {
		storeAt(length, int32(len(s)))
	}
}

// Here and Site are for errors of other calls than the one that fails.
func (r *rank) Here() (call string, at uintptr) { return r.name(), r.now.caller }
func (r *rank) Site(at uintptr) mpi.Site        { return r.site(at) }

func (r *rank) setup() {
	r.world.SetCaller(r)
	r.attempt = r.handle
	r.handles.init(r.world)
}

// run runs the program to its end.
func (r *rank) run() error {
	for {
		switch r.resume() {
		case C.LOGGP_CALL:
			r.serve()
		case C.LOGGP_EXITED:
			return r.exitError(int(*pointerAt[int](uintptr(unsafe.Pointer(r.h.r.args)))))
		default:
			return r.crashError()
		}
	}
}

// resume runs the program until it gives up control, and returns why it has.
func (r *rank) resume() C.int64_t {
	C.loggp_resume(r.h)
	if r.h.out_length > 0 {
		r.flush(false)
	}
	if r.h.spent > 0 {
		d := unit.LongestTime
		if x := float64(r.h.spent) * r.p.Compute.Factor * float64(unit.Nanosecond); x < float64(d) {
			d = unit.Time(x)
		}
		r.h.spent = 0
		r.world.Compute(d)
	}
	return r.h.r.event
}

// serve carries out the function that the program has called.
func (r *rank) serve() {
	before := r.now
	h := &r.h.r
	r.now = call{comm: r.world, number: int(h.call), args: args(unsafe.Pointer(h.args)), caller: uintptr(h.caller)}
	if err := r.world.Catch(r.attempt); err != nil && r.now.userCode == 0 {
		r.now.result = int64(r.code(err))
	}
	h.result, h.real = C.int64_t(r.now.result), C.double(r.now.real)
	r.now = before
}

// handle is the part of serve that may fail.
func (r *rank) handle() {
	defer r.addCallSite()
	if !r.initialized || r.finalized {
		r.checkPhase()
	}
	if i := toolchain.Functions[r.now.number].Comm; i >= 0 {
		r.now.comm = r.comm(r.now.args[i]).Comm
	}
	handlers[r.now.number](r, r.now.args)
}

// addCallSite adds to an error the MPI function and the line of the call.
func (r *rank) addCallSite() {
	switch e := recover().(type) {
	case nil:
	case *mpi.Error:
		e.Call, e.At = r.name(), r.site(r.now.caller)
		if e.Rank == mpi.NoRank {
			e.Rank = r.world.Rank()
		}
		panic(e)
	case runtime.Error:
		if fault, ok := e.(interface{ Addr() uintptr }); ok {
			panic(r.callError(mpi.ErrBuffer, "the memory of the buffer at address %#x cannot be accessed", fault.Addr()))
		}
		panic(e)
	default:
		panic(e)
	}
}

// name returns the name of the function that the program is in.
func (r *rank) name() string {
	return strings.TrimPrefix(toolchain.Functions[r.now.number].Name, "loggp_")
}

// callError is an error of the function that the program is in.
func (r *rank) callError(c mpi.Class, format string, args ...any) (err *mpi.Error) {
	defer func() {
		err = recover().(*mpi.Error)
		err.Call, err.At = r.name(), r.site(r.now.caller)
	}()
	r.now.comm.Raise(c, format, args...)
	return nil
}

// raiseError ends the function that the program is in with an error.
func (r *rank) raiseError(c mpi.Class, format string, args ...any) {
	panic(r.callError(c, format, args...))
}

// checkPhase fails if the function may not be called before MPI_Init, or after MPI_Finalize.
func (r *rank) checkPhase() {
	switch f := toolchain.Functions[r.now.number]; f.Name {
	case "MPI_Init", "MPI_Init_thread", "MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version", "MPI_Abort":
	default:
		switch {
		case !f.MPI():
		case r.finalized:
			r.raiseError(mpi.ErrOther, "it is called after MPI_Finalize")
		default:
			r.raiseError(mpi.ErrOther, "it is called before MPI_Init")
		}
	}
}

// callback runs a function of the program on the program's stack and returns its result.
func (r *rank) callback(f uintptr, a ...uintptr) int {
	h := &r.h.r
	*(*uintptr)(unsafe.Pointer(&h.callback)) = f
	for i, x := range a {
		h.callback_args[i] = C.intptr_t(x)
	}
	for {
		switch r.resume() {
		case C.LOGGP_CALL:
			r.serve()
		case C.LOGGP_RETURNED:
			return int(int32(h.result))
		case C.LOGGP_EXITED:
			panic(r.exitError(int(*pointerAt[int](uintptr(unsafe.Pointer(h.args))))))
		default:
			panic(r.crashError())
		}
	}
}

// scratch is memory of C's for values of which a callback gets the addresses.
type scratch [8]C.intptr_t

// withScratch calls f with scratch memory. If a callback makes calls that need it too, its values
// are as they were afterwards.
func (r *rank) withScratch(f func(s *scratch)) {
	s := (*scratch)(&r.h.scratch)
	defer func(before scratch) { *s = before }(*s)
	f(s)
}

// flush writes the program's output line by line.
func (r *rank) flush(all bool) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(r.h.out)), int(r.h.out_length))
	for len(b) > 0 {
		head := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b[:16]))), 2)
		fd, n := int(head[0]), int(head[1])
		r.lines[fd].Write(b[16 : 16+n])
		b = b[16+n:]
	}
	r.h.out_length = 0
	for fd := 1; fd <= 2; fd++ {
		l := &r.lines[fd]
		for l.Len() > 0 {
			n := bytes.IndexByte(l.Bytes(), '\n') + 1
			if !r.p.Tag {
				n = bytes.LastIndexByte(l.Bytes(), '\n') + 1
			}
			if n == 0 {
				if !all {
					break
				}
				l.WriteByte('\n')
				continue
			}
			line := l.Next(n)
			if r.p.Tag {
				line = append(fmt.Appendf(nil, "[%d] ", r.world.Rank()), line...)
			}
			r.p.write(fd, line)
		}
	}
}

// ExitError is the error of a rank whose program has failed.
type ExitError struct {
	Rank int
	Text string
}

func (e *ExitError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// exitError ends a rank whose program has returned from main or called exit.
func (r *rank) exitError(status int) error {
	switch {
	case status != 0:
		return &ExitError{r.world.Rank(), fmt.Sprintf("the program ended with exit status %d%s", status, r.lastCallText())}
	case r.initialized && !r.finalized:
		return &ExitError{r.world.Rank(), "the program ended without MPI_Finalize" + r.lastCallText()}
	}
	return nil
}

// lastCallText says which function of MPI the program called last.
func (r *rank) lastCallText() string {
	if r.h.r.call < 0 {
		return ""
	}
	f := toolchain.Functions[r.h.r.call]
	if !f.MPI() {
		return ""
	}
	return "; its last call was " + f.Name
}

// crashError returns the error of a program that cannot go on.
func (r *rank) crashError() error {
	h := &r.h.r
	at := r.site(uintptr(h.caller)).Parenthesized()
	what := "the program called abort, or an assertion failed"
	if h.event == C.LOGGP_SIGNAL {
		switch s := syscall.Signal(h.signal); s {
		case 0:
			what = fmt.Sprintf("stack overflow: the stack has %d KiB; --stack makes it larger", r.p.Stack>>10)
		case syscall.SIGXCPU:
			if r.p.Context != nil && r.p.Context.Err() != nil {
				return context.Cause(r.p.Context)
			}
			what = fmt.Sprintf("it computed for %v without a call of MPI, longer than --limit allows", r.p.Limit)
		case syscall.SIGSEGV, syscall.SIGBUS:
			what = fmt.Sprintf("signal: %v, at address %#x", s, uintptr(h.address))
		default:
			what = fmt.Sprintf("signal: %v", s)
		}
	}
	return &ExitError{r.world.Rank(), what + at + r.lastCallText()}
}
