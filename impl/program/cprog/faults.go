//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// Errors of programs that pass wrong addresses, receive signals, or end too early.

// minValidAddress is the lowest address that may be valid. Smaller ones are null pointers and
// constants of MPI.
const minValidAddress = 4096

// addressError is the panic value of functions that access the program's memory.
type addressError struct {
	address uintptr
	size    uintptr // bytes of the memory that does not exist; 0: the address is a null pointer
}

// argumentError is the panic value of functions that have no rank on which to raise an error.
type argumentError string

// resultParameters has, for each function, the parameters that are addresses of a single value and
// must not be null pointers.
var resultParameters = func() [][]int {
	all := make([][]int, len(toolchain.Functions))
	for i, f := range toolchain.Functions {
		if strings.HasPrefix(f.Name, "MPI_T_") { // their results are optional
			continue
		}
		for k, t := range f.Types {
			value := strings.HasSuffix(t, " *") && t != "void *" && t != "MPI_Status *" && !strings.Contains(t, "_function")
			if input := strings.HasPrefix(t, "const ") && t != "const MPI_Status *"; value && !input && f.Parameters[k] != "argc" && f.Parameters[k] != "pset_name" {
				all[i] = append(all[i], k)
			}
		}
	}
	return all
}()

// minCheckedBytes is the smallest size for which memory is checked before use. Smaller objects are
// copied quickly, and temporary memory for them does no harm.
const minCheckedBytes = 1 << 20

// isMapped reports whether the memory at an address is mapped, if size is at least minCheckedBytes.
// The Go runtime reserves addresses without access, which only the list of mappings distinguishes
// from memory.
func isMapped(a, size uintptr) bool {
	switch {
	case size < minCheckedBytes:
		return true
	case C.loggp_mapped(C.uintptr_t(a), C.uint64_t(size)) == 0, C.loggp_crosses_guard(C.uintptr_t(a), C.uint64_t(size)) != 0:
		return false
	case size < 64*minCheckedBytes:
		return true
	}
	mapped := true
	eachMapping(func(from, to uintptr, access string) bool {
		mapped = mapped && (to <= a || from >= a+size || access[0] == 'r')
		return mapped
	})
	return mapped
}

// addressRange is a range of addresses of this process.
type addressRange struct{ start, end uintptr }

// readableRanges returns the ranges of addresses that can be read, in order. Between two of them,
// some cannot.
func readableRanges() (ranges []addressRange) {
	eachMapping(func(from, to uintptr, access string) bool {
		switch last := len(ranges) - 1; {
		case access[0] != 'r':
		case last >= 0 && ranges[last].end == from:
			ranges[last].end = to
		default:
			ranges = append(ranges, addressRange{from, to})
		}
		return true
	})
	return ranges
}

// eachMapping calls f for each mapped range of addresses of this process until f returns false.
func eachMapping(f func(from, to uintptr, access string) bool) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		addresses, rest, _ := strings.Cut(lines.Text(), " ")
		first, last, _ := strings.Cut(addresses, "-")
		from, wrong := strconv.ParseUint(first, 16, 64)
		to, failed := strconv.ParseUint(last, 16, 64)
		if wrong != nil || failed != nil || rest == "" || !f(uintptr(from), uintptr(to), rest) {
			return
		}
	}
}

// addCallSite adds the MPI function and the line of its call to an error.
func (r *rank) addCallSite() {
	switch e := recover().(type) {
	case nil:
	case *mpi.Error:
		e.Call, e.CallSite = r.functionName(), r.siteAt(r.currentCall.callerAddress)
		if e.Rank == mpi.NoRank {
			e.Rank = r.world.JobRank()
		}
		panic(e)
	case addressError:
		if e.size > 0 {
			panic(r.callError(mpi.ErrBuffer, "an argument stands for %d bytes, which is more memory than there is at its address", e.size))
		}
		panic(r.callError(mpi.ErrArg, "an argument that must be an address is %s", textOrNull(e.address)))
	case argumentError:
		panic(r.callError(mpi.ErrArg, "%s", string(e)))
	case runtime.Error:
		if fault, ok := e.(interface{ Addr() uintptr }); ok {
			panic(r.callError(mpi.ErrBuffer, "the memory of the buffer or the result %s cannot be accessed", r.describeAddress(fault.Addr())))
		}
		panic(r.callError(mpi.ErrIntern, "an error of loggp, which wrong arguments may have caused: %v", e))
	case string:
		panic(r.callError(mpi.ErrIntern, "an error of loggp, which wrong arguments may have caused: %s", e))
	default:
		panic(e)
	}
}

func textOrNull(a uintptr) string {
	if a == 0 {
		return "a null pointer"
	}
	return fmt.Sprintf("%d", a)
}

// describeAddress describes an address. The text does not contain addresses that the system
// chooses, because they differ from run to run.
func (r *rank) describeAddress(a uintptr) string {
	bottom := uintptr(unsafe.Pointer(r.hostRank.stack))
	switch {
	case a < 1<<20:
	case a-r.loadAddress < uintptr(r.hostRank.image.size):
		return fmt.Sprintf("at address %#x of the program's file", a-r.loadAddress)
	case a-bottom < uintptr(r.hostRank.stack_size):
		return "in the rank's stack"
	case isNearMemory(a):
		return "at an address outside of the program's variables and stack"
	}
	return fmt.Sprintf("at address %#x", a)
}

// isNearMemory reports whether there is mapped memory within a gigabyte of an address.
func isNearMemory(a uintptr) bool {
	const near = 1 << 30
	found := false
	eachMapping(func(from, to uintptr, _ string) bool {
		found = a+near >= from && a <= to+near
		return !found
	})
	return found
}

// callbackExit is the panic value that ends a rank whose program has ended in a callback. err is
// nil if it ended without an error.
type callbackExit struct{ err error }

// exitError returns the error of a rank whose program has returned from main or called exit. A
// nonzero status after MPI_Finalize does not stop the other ranks.
func (r *rank) exitError() error {
	status := int(*pointerAt[int](uintptr(unsafe.Pointer(r.hostRank.r.args))))
	switch {
	case status != 0 && (r.finalized || r.hadSession && !r.initialized):
		r.status = status
	case status != 0:
		return statusError(r.world.JobRank(), status, r.lastCall)
	case r.initialized && !r.finalized:
		return &mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: "the program ended without MPI_Finalize" + r.describeLastCall()}
	case r.openSessions > 0:
		return &mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: "the program ended without MPI_Session_finalize" + r.describeLastCall()}
	}
	return nil
}

// statusError is the error of a rank whose program has exited with a nonzero status. call is the
// last function that it called.
func statusError(rank, status, call int) *mpi.AbortError {
	return &mpi.AbortError{Rank: rank, Code: status, Reason: fmt.Sprintf("the program ended with exit status %d%s", status, describeCall(call))}
}

// describeLastCall names the MPI function that the program called last.
func (r *rank) describeLastCall() string { return describeCall(r.lastCall) }

func describeCall(i int) string {
	if i < 0 {
		return ""
	}
	return "; its last call was " + toolchain.Functions[i].Name
}

// computeLimitError returns the error of a rank that has exceeded the limit without a call.
func (r *rank) computeLimitError(at string) error {
	return &mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: fmt.Sprintf("it computed for %v without a call of MPI, longer than --limit allows%s%s", r.program.StallLimit, at, r.describeLastCall())}
}

// crashError returns the error of a program that cannot continue after a signal.
func (r *rank) crashError() error {
	h := &r.hostRank.r
	at := r.crashSite().Parenthesized()
	code, what := int(syscall.SIGABRT), "the program called abort, or an assertion failed"
	switch h.event {
	case C.LOGGP_THREAD:
		return r.threadError(int(h.call), r.crashSite())
	case C.LOGGP_SIGNAL:
		code = int(h.signal)
		switch s := syscall.Signal(h.signal); s {
		case 0:
			code, what = int(syscall.SIGSEGV), fmt.Sprintf("stack overflow: the stack has %d KiB; --stack makes it larger", r.program.StackBytes>>10)
		case syscall.SIGXCPU:
			if r.program.Context != nil && r.program.Context.Err() != nil {
				return context.Cause(r.program.Context)
			}
			return r.computeLimitError(at)
		case syscall.SIGSEGV, syscall.SIGBUS:
			what = fmt.Sprintf("signal: %v%s", s, r.describeFault(uintptr(h.address)))
		default:
			what = fmt.Sprintf("signal: %v", s)
		}
	}
	return &mpi.AbortError{Rank: r.world.JobRank(), Code: 128 + code, Reason: what + at + r.describeLastCall()}
}

// crashSite returns the source line of a crash. If the crash is in a library, it returns the line
// that called the library: the last address on the stack that follows a call in the program.
func (r *rank) crashSite() mpi.CallSite {
	s := r.siteAt(uintptr(r.hostRank.r.caller))
	from, to := uintptr(r.hostRank.fault_sp)&^7, uintptr(unsafe.Pointer(r.hostRank.stack))+uintptr(r.hostRank.stack_size)
	if s.File != "" || from+8 > to || to-from > uintptr(r.hostRank.stack_size) {
		return s
	}
	for _, pc := range unsafe.Slice(pointerAt[uintptr](from), min((to-from)/8, 1<<16)) {
		if code := uintptr(r.hostRank.image.code); pc >= code+7 && pc-code < uintptr(r.hostRank.image.code_size) && followsCall(pc) {
			if s = r.siteAt(pc); s.File != "" {
				return s
			}
		}
	}
	return s
}

// followsCall reports whether the instruction before an address of the program is a call.
func followsCall(pc uintptr) bool {
	if runtime.GOARCH == "arm64" {
		i := *pointerAt[uint32](pc - 4)
		return i>>26 == 0x25 || i&0xfffffc1f == 0xd63f0000
	}
	b := sliceAt[byte](pc-7, 7)
	indirect := func(i int) bool { return b[i] == 0xff && b[i+1]>>3&7 == 2 }
	return b[2] == 0xe8 || indirect(5) || indirect(4) || indirect(3) || indirect(1) || indirect(0)
}

// describeFault describes the address of a signal.
func (r *rank) describeFault(a uintptr) string {
	switch C.intptr_t(a) {
	case C.LOGGP_NO_ADDRESS:
		return ""
	case C.LOGGP_NO_MEMORY:
		return ", at an address that no memory can have"
	}
	return ", " + r.describeAddress(a)
}

// overwrittenError is the error of a rank in which loggp itself fails, possibly because the program
// has overwritten memory of loggp.
func (r *rank) overwrittenError(v any) error {
	return &mpi.AbortError{Rank: r.world.JobRank(), Code: 128 + int(syscall.SIGSEGV), Reason: fmt.Sprintf("loggp fails (%v): the program may have overwritten its memory%s", v, r.describeLastCall())}
}
