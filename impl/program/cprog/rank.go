//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/model/unit"
)

// rank is one rank of a program.
type rank struct {
	program     *Program
	hostRank    *C.struct_host_rank
	loadAddress uintptr // where its copy of the program was loaded
	world       *mpi.Comm

	wasSpawned bool    // started by another program
	parent     uintptr // intercommunicator to the group that started the program; 0: none
	appNumber  int     // index of the command whose program this rank runs (MPI_APPNUM)

	currentCall call   // the current MPI call
	handlerCall func() // carries it out

	initialized, finalized bool
	openSessions           int
	hadSession             bool
	callCount              uint64          // number of MPI calls
	lastCall               int             // number of the last MPI function; negative: none
	status                 int             // exit status after MPI_Finalize
	partialOutput          [3]bytes.Buffer // incomplete lines of output, by file descriptor
	loadError              *C.char         // why dlopen has failed

	handles
	threads
}

// call is an MPI call of the program.
type call struct {
	number          int
	args            args
	callerAddress   uintptr   // return address in the program
	comm            *mpi.Comm // its error handler gets the errors of the call
	result          int64
	realResult      float64
	errorInStatuses bool                  // the statuses contain the errors
	sections        uint64                // a bit for each argument that is the descriptor of an array section
	hasLargeCounts  bool                  // it has arguments of type MPI_Count instead of int
	persistent      *persistentCollective // the operation that it starts or initializes; nil: none
	userErrorCode   int32                 // the code that the program passes to an error handler; 0: none
	callbackCode    int32                 // the code that a function of the program has returned; 0: none
	handlerCode     int32                 // the code after the error handler has returned
	handled         bool                  // the error handler has been called
}

// args has the arguments of a function, one word each.
type args *[16]uintptr

// pointerAt converts an address of the program to a pointer. It panics with an addressError if the
// address is below minValidAddress: the Go runtime rejects such pointers when it moves a stack.
func pointerAt[T any](a uintptr) *T {
	if a < minValidAddress {
		panic(addressError{address: a})
	}
	return *(**T)(unsafe.Pointer(&a))
}

// storeAt stores v at an address of the program.
func storeAt[T any](a uintptr, v T) { *pointerAt[T](a) = v }

// sliceAt returns n elements at an address of the program. It panics with an addressError if the
// memory there is smaller: the caller allocates memory per element, which could exceed that of this
// computer.
func sliceAt[T any](a uintptr, n int) []T {
	if n <= 0 {
		return nil
	}
	x := pointerAt[T](a)
	if uintptr(n) > maxMemoryBytes || !isMapped(a, uintptr(n)*unsafe.Sizeof(*x)) {
		panic(addressError{a, min(uintptr(n), maxMemoryBytes) * unsafe.Sizeof(*x)})
	}
	return unsafe.Slice(x, n)
}

// intsAt returns n values of C's int at an address.
func intsAt(a uintptr, n int) []int {
	all := sliceAt[int32](a, n)
	out := make([]int, len(all))
	for i, v := range all {
		out[i] = int(v)
	}
	return out
}

// aintsAt returns n values of MPI_Aint at an address.
func aintsAt(a uintptr, n int) []int { return append([]int(nil), sliceAt[int](a, n)...) }

// stringAt returns the string at an address.
func (r *rank) stringAt(a uintptr) string {
	if a == 0 {
		r.raiseError(mpi.ErrArg, "a string is NULL")
	}
	return cString(a)
}

func cString(a uintptr) string {
	if a == 0 {
		return ""
	}
	return C.GoString(pointerAt[C.char](a))
}

// storeText stores a string at an address, truncated to room bytes including its NUL, and its
// length.
func storeText(at uintptr, s string, room int, length uintptr) {
	s = s[:min(len(s), room-1)]
	b := sliceAt[byte](at, len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	if length != 0 {
		storeAt(length, int32(len(s)))
	}
}

// CurrentCall and Site locate calls for errors of other ranks.
func (r *rank) CurrentCall() (call string, at uintptr) {
	call = r.functionName()
	if r.current.number > 0 {
		call += " of " + r.current.name()
	}
	return call, r.currentCall.callerAddress
}
func (r *rank) Site(at uintptr) mpi.CallSite { return r.siteAt(at) }

func (r *rank) setUpHostRank() {
	r.world.SetCallLocator(r)
	r.handlerCall = r.runHandler
	r.providedLevel, r.lastCall = threadFunneled, -1
	r.current = &thread{wakeTime: noWakeTime, turnSignal: make(chan struct{}, 1)}
	r.all = []*thread{r.current}
	r.handles.init(r.world)
}

// runCurrentThread runs the current thread of the program to its end.
func (r *rank) runCurrentThread() error {
	for {
		switch r.resumeProgram() {
		case C.LOGGP_CALL:
			number, a := int(r.hostRank.r.call), args(unsafe.Pointer(r.hostRank.r.args))
			if err := r.checkThread(); err != nil {
				return err
			}
			r.serveCall()
			if r.program.StallLimit > 0 {
				if err := r.checkPolling(number, a); err != nil {
					return err
				}
			}
			if len(r.all) > 1 && isUnsuccessfulPoll(number, a) {
				result, real := r.hostRank.r.result, r.hostRank.r.real
				r.yieldThread()
				r.hostRank.r.result, r.hostRank.r.real = result, real
			}
		case C.LOGGP_THREAD_ENDED:
			if r.hostRank.own_thread != 0 {
				C.loggp_free_call(r.hostRank)
			}
			return errThreadEnded
		case C.LOGGP_INTERRUPTED:
			if err := r.endTurn(); err != nil {
				return err
			}
		case C.LOGGP_EXITED:
			return r.exitError()
		default:
			return r.crashError()
		}
	}
}

// errThreadEnded says that the current thread has ended but the program has not.
var errThreadEnded = errors.New("a thread has ended")

// resumeProgram runs the current thread until it gives up control, and returns the reason.
func (r *rank) resumeProgram() C.int64_t {
	C.loggp_resume(r.hostRank, r.current.cThread)
	for r.hostRank.other != nil {
		r.serveLibraryThread(r.hostRank.other)
	}
	if r.hostRank.out_length > 0 {
		r.flushOutput(false)
	}
	if r.hostRank.spent > 0 {
		d := unit.LongestTime
		if x := float64(r.hostRank.spent) * r.program.Compute.Factor * float64(unit.Nanosecond); x < float64(d) {
			d = unit.Time(x)
		}
		r.program.computeNanoseconds.Add(int64(r.hostRank.spent))
		r.program.interruptedNanoseconds.Add(max(0, int64(r.hostRank.elapsed-r.hostRank.spent)))
		r.hostRank.spent, r.hostRank.elapsed = 0, 0
		r.world.Compute(d)
	}
	return r.hostRank.r.event
}

// serveCall carries out the function that the program has called. It passes an error of package mpi
// to the error handler of the communicator.
func (r *rank) serveCall() {
	before := r.currentCall
	h := &r.hostRank.r
	r.currentCall = call{comm: r.world, number: int(h.call), args: args(unsafe.Pointer(h.args)), callerAddress: uintptr(h.caller), sections: uint64(h.descriptors)}
	if r.hostRank.own_thread != 0 {
		C.loggp_free_call(r.hostRank)
	}
	f := &toolchain.Functions[r.currentCall.number]
	r.currentCall.hasLargeCounts = f.IntForm != ""
	if f.IsMPI() {
		r.lastCall = r.currentCall.number
		defer r.world.SwitchFunction(r.world.SwitchFunction(mpi.CalledFunction{Name: f.Name}))
	}
	if err := r.world.Catch(r.handlerCall); err != nil && r.currentCall.userErrorCode == 0 {
		r.currentCall.result = int64(r.errorCodeOf(err))
	}
	h.result, h.real = C.int64_t(r.currentCall.result), C.double(r.currentCall.realResult)
	if r.currentCall.number != yieldFunction {
		r.progress++ // another thread may wait for the result
		r.current.loopTime = 0
	}
	r.currentCall = before
}

// runHandler is the part of serveCall that may fail.
func (r *rank) runHandler() {
	defer r.addCallSite()
	if !r.initialized || r.finalized {
		r.checkPhase()
	}
	if i := toolchain.Functions[r.currentCall.number].Comm; i >= 0 {
		if c := r.commOrPending(r.currentCall.args[i]).Comm; c != nil {
			r.currentCall.comm = c
		}
	}
	for _, i := range resultParameters[r.currentCall.number] {
		if r.currentCall.args[i] < minValidAddress {
			r.useHandlerOfCall()
			r.avoidFatalHandler()
			r.raiseError(mpi.ErrArg, "argument %s is a null pointer", toolchain.Functions[r.currentCall.number].Parameters[i])
		}
	}
	r.callCount++
	if r.currentCall.sections != 0 {
		r.runWithSections()
		return
	}
	handlers[r.currentCall.number](r, r.currentCall.args)
}

// avoidFatalHandler passes the error of a call to the handler of MPI_COMM_WORLD if that of its
// object is fatal, for mistakes by which programs test whether an MPI detects them. Objects of
// MPICH have that handler until the program sets another one.
func (r *rank) avoidFatalHandler() {
	if r.currentCall.comm.ErrorHandler() == mpi.ErrorsAreFatal {
		r.currentCall.comm = r.world
	}
}

// functionName returns the name of the function that the program has called.
func (r *rank) functionName() string {
	if r.current.state == awaitsAddress {
		return r.current.function
	}
	return functionName(r.currentCall.number)
}

// functionName returns the name of a function as a program calls it.
func functionName(number int) string {
	return strings.TrimPrefix(toolchain.Functions[number].Name, "loggp_")
}

// callError returns an error of the current call.
func (r *rank) callError(c mpi.Class, format string, args ...any) (err *mpi.Error) {
	defer func() {
		v := recover()
		if err, _ = v.(*mpi.Error); err == nil {
			panic(v)
		}
		err.Call, err.CallSite = r.functionName(), r.siteAt(r.currentCall.callerAddress)
	}()
	r.currentCall.comm.Raise(c, format, args...)
	return nil
}

// raiseError ends the current call with an error.
func (r *rank) raiseError(c mpi.Class, format string, args ...any) {
	panic(r.callError(c, format, args...))
}

// callableAnytime are the functions that may be called before MPI_Init and after MPI_Finalize
// (MPI-4.1, section 11.4.1).
var callableAnytime = map[string]bool{
	"MPI_Init": true, "MPI_Init_thread": true, "MPI_Initialized": true, "MPI_Finalized": true, "MPI_Get_version": true, "MPI_Get_library_version": true, "MPI_Abort": true,
	"MPI_Info_create": true, "MPI_Info_create_env": true, "MPI_Info_set": true, "MPI_Info_delete": true, "MPI_Info_get": true, "MPI_Info_get_valuelen": true,
	"MPI_Info_get_string": true, "MPI_Info_get_nkeys": true, "MPI_Info_get_nthkey": true, "MPI_Info_dup": true, "MPI_Info_free": true,
	"MPI_Session_init": true, "MPI_Session_create_errhandler": true, "MPI_Comm_create_errhandler": true, "MPI_Errhandler_free": true,
	"MPI_Remove_error_class": true, "MPI_Remove_error_code": true, "MPI_Remove_error_string": true,
	"MPI_Add_error_class": true, "MPI_Add_error_code": true, "MPI_Add_error_string": true, "MPI_Error_class": true, "MPI_Error_string": true,
}

// checkPhase fails if the function is called before MPI_Init or after MPI_Finalize and is not in
// callableAnytime.
func (r *rank) checkPhase() {
	f := toolchain.Functions[r.currentCall.number]
	ofWorld := f.Comm >= 0 && (r.currentCall.args[f.Comm] == commWorld || r.currentCall.args[f.Comm] == commSelf)
	switch {
	case callableAnytime[f.Name] || strings.HasPrefix(f.Name, "MPI_T_") || !f.IsMPI() || r.openSessions > 0 && !ofWorld && f.Name != "MPI_Finalize":
	case r.finalized:
		r.raiseError(mpi.ErrOther, "it is called after MPI_Finalize")
	default:
		r.raiseError(mpi.ErrOther, "it is called before MPI_Init")
	}
}

// callback calls a function of the program on the program's stack and returns its int result.
func (r *rank) callback(f uintptr, a ...uintptr) int { return int(int32(r.callbackWord(f, a...))) }

// callbackWord is callback for a function whose result has the size of an address.
func (r *rank) callbackWord(f uintptr, a ...uintptr) uintptr {
	h := &r.hostRank.r
	*(*uintptr)(unsafe.Pointer(&h.callback)) = f
	for i, x := range a {
		h.callback_args[i] = C.intptr_t(x)
	}
	for {
		switch r.resumeProgram() {
		case C.LOGGP_CALL:
			r.serveCall()
		case C.LOGGP_RETURNED:
			return uintptr(h.result)
		case C.LOGGP_INTERRUPTED:
			if err := r.endTurn(); err != nil {
				panic(callbackExit{err})
			}
		case C.LOGGP_EXITED:
			panic(callbackExit{r.exitError()})
		default:
			panic(callbackExit{r.crashError()})
		}
	}
}

// scratch is C memory for values whose addresses a callback gets.
type scratch [8]C.intptr_t

// withScratch calls f with scratch memory. Values are restored after nested uses by calls within a
// callback.
func (r *rank) withScratch(f func(s *scratch)) {
	s := (*scratch)(&r.hostRank.scratch)
	defer func(before scratch) { *s = before }(*s)
	f(s)
}

// flushOutput writes the complete lines of the program's output, or everything if all is set.
func (r *rank) flushOutput(all bool) {
	if C.loggp_lock(r.hostRank) != 0 {
		b := unsafe.Slice((*byte)(unsafe.Pointer(r.hostRank.out)), int(r.hostRank.out_length))
		for len(b) > 0 {
			head := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b[:16]))), 2)
			fd, n := int(head[0]), int(head[1])
			if fd != 1 && fd != 2 || n < 0 || n > len(b)-16 {
				break // the program has overwritten the buffer
			}
			r.partialOutput[fd].Write(b[16 : 16+n])
			b = b[16+n:]
		}
		r.hostRank.out_length = 0
		C.loggp_unlock(r.hostRank)
	}
	for fd := 1; fd <= 2; fd++ {
		l := &r.partialOutput[fd]
		for l.Len() > 0 {
			n := bytes.IndexByte(l.Bytes(), '\n') + 1
			if !r.program.TagOutput {
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
			if r.program.TagOutput {
				line = append(fmt.Appendf(nil, "[%d] ", r.world.Rank()), line...)
			}
			r.program.writeOutput(fd, line)
		}
	}
}
