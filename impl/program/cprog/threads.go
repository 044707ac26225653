//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/model/unit"
)

// Threads that a program starts. Each is a thread of this process and has a goroutine here, which
// carries out its calls. One of a rank runs at a time, until it waits: within a call of package
// mpi, for an address that other threads use (a mutex, say), or for a time. So what threads do
// depends on the program alone.

// threadLevels are the values of MPI_THREAD_SINGLE and so on.
const (
	threadSingle     = 0
	threadFunneled   = 1024
	threadSerialized = 2048
	threadMultiple   = 4096
)

// thread is a thread of a rank's program.
type thread struct {
	c      *C.struct_host_thread // nil: it runs main
	number int                   // from 0, which runs main
	order  uint64                // of threads that wait for an address: who came first
	state  threadState
	seen   uint64        // of a thread that waits for an event: what rank.progress was when it looked last
	until  unit.Time     // when a thread wakes that waits for no longer
	woken  bool          // a thread that has waited for an address did not wait for too long
	turn   chan struct{} // it may go on; closed: it is to end
	left   bool          // its goroutine ends, and the rank does not
	ended  chan struct{} // closed when its goroutine has ended
	saved  callState     // of the call that it is in, while others run

	// Where a thread waits that waits for an address.
	address, caller uintptr
	function        string
}

// threadState says what a thread waits for.
type threadState uint8

const (
	runnable       threadState = iota // its turn
	awaitsEvent                       // an event of the port, within a call of package mpi
	awaitsAddress                     // another thread to wake those that wait for an address, or its time
	awaitsTime                        // its time
	awaitsNoLonger                    // it has ended
)

// callState is what a rank keeps of the call that a thread is in.
type callState struct {
	mpi      mpi.CallState
	now      call
	reqs     []mpi.Request
	statuses []mpi.Status
	indices  []int
	combined uintptr
	scratch  scratch
}

// swapCall exchanges the state of the call that the rank is in with s.
func (r *rank) swapCall(s *callState) {
	r.world.SwapCallState(&s.mpi)
	r.now, s.now = s.now, r.now
	r.reqs, s.reqs = s.reqs, r.reqs
	r.statuses, s.statuses = s.statuses, r.statuses
	r.indices, s.indices = s.indices, r.indices
	r.combined, s.combined = s.combined, r.combined
	own := (*scratch)(&r.h.scratch)
	*own, s.scratch = s.scratch, *own
}

// never is the time of threads that wait for as long as it takes.
const never = unit.Time(math.MaxInt64)

// threads are the threads of a rank.
type threads struct {
	level         int // that MPI_Init_thread has provided
	initializedBy int // number of the thread that has called it
	all           []*thread
	current       *thread
	started       int    // by the program so far
	blockCount    uint64 // how often a thread has waited for an address
	progress      uint64 // changes whenever something has happened that a thread may wait for
	otherCalls    bool   // the call under way is that of a thread of a library: no other one runs
	end           any    // the value of the panic that ends the rank, of another thread than that of main
	exits         bool   // the rank's goroutine ends by runtime.Goexit
}

// YieldInWait implements mpi.ThreadScheduler.
func (r *rank) YieldInWait() bool {
	if r.otherCalls {
		return false
	}
	t := r.current
	t.state, t.seen = awaitsEvent, r.progress
	defer func() { t.state = runnable }()
	next := r.nextThread()
	if next == nil && r.firstDue() < never {
		if r.world.Progress() {
			r.progress++
			return true
		}
		next = r.nextThread()
		if next == nil {
			return true
		}
	}
	if next == nil {
		return false
	}
	r.switchTo(next)
	return true
}

// NoteProgress implements mpi.ThreadScheduler.
func (r *rank) NoteProgress() { r.progress++ }

// nextThread returns the first thread after the current one that can go on, or nil.
func (r *rank) nextThread() *thread {
	at := slices.Index(r.all, r.current)
	now, read := unit.Time(0), false
	for i := range r.all {
		t := r.all[(at+1+i)%len(r.all)]
		switch {
		case t == r.current:
		case t.state == runnable, t.state == awaitsEvent && t.seen != r.progress:
			return t
		case (t.state == awaitsTime || t.state == awaitsAddress) && t.until < never:
			if !read {
				now, read = r.world.Wtime(), true
			}
			if t.until <= now {
				return t
			}
		}
	}
	return nil
}

// firstDue returns when the first thread wakes by itself.
func (r *rank) firstDue() unit.Time {
	due := never
	for _, t := range r.all {
		if t.state == awaitsTime || t.state == awaitsAddress {
			due = min(due, t.until)
		}
	}
	return due
}

// yield lets another thread run, if any can.
func (r *rank) yield() {
	if len(r.all) < 2 || r.otherCalls {
		return
	}
	if next := r.nextThread(); next != nil {
		r.switchTo(next)
	}
}

// waitTurn lets the current thread wait in a state until another one has made it runnable, or its
// time has come.
func (r *rank) waitTurn(s threadState, until unit.Time) {
	t := r.current
	t.state, t.until, t.woken = s, until, false
	for t.state != runnable {
		if next := r.nextThread(); next != nil {
			r.switchTo(next)
			if t.state == runnable {
				break
			}
		}
		if t.until < never && r.world.Wtime() >= t.until {
			break
		}
		switch i := slices.IndexFunc(r.all, func(x *thread) bool { return x.state == awaitsEvent }); {
		case r.nextThread() != nil:
		case i >= 0:
			r.switchTo(r.all[i]) // it waits for the port, on behalf of all
		case r.firstDue() < never:
			r.sleepUntil(r.firstDue())
		default:
			r.raiseThreadDeadlock()
		}
	}
	t.state, t.until = runnable, never
}

// sleepUntil lets time pass.
func (r *rank) sleepUntil(due unit.Time) {
	d := due - r.world.Wtime()
	switch {
	case d <= 0:
	case r.p.Real:
		time.Sleep(time.Duration(d / unit.Nanosecond))
	default:
		r.world.Compute(d)
	}
}

// switchTo lets another thread run, and returns when it is the current one's turn again.
func (r *rank) switchTo(next *thread) {
	t := r.current
	r.swapCall(&t.saved)
	r.resumeThread(next)
	r.awaitTurn(t)
}

// resumeThread makes a thread the current one.
func (r *rank) resumeThread(next *thread) {
	r.current = next
	r.swapCall(&next.saved)
	next.turn <- struct{}{}
}

// rankEnd ends the goroutine of the rank because a panic with a value has ended that of another
// thread.
type rankEnd struct{ value any }

// awaitTurn waits until a thread is the current one, in its goroutine. It does not return if the
// rank ends.
func (r *rank) awaitTurn(t *thread) {
	if _, ok := <-t.turn; !ok {
		runtime.Goexit()
	}
	r.world.AdoptGoroutine()
	switch {
	case t.number > 0:
	case r.exits:
		runtime.Goexit()
	case r.end != nil:
		panic(rankEnd{r.end})
	}
}

// newThread starts the goroutine of a thread that the program starts.
func newThread(r *rank, _ args) {
	if len(r.all) == 1 && r.started == 0 {
		r.world.SetThreadScheduler(r)
	}
	r.started++
	t := &thread{c: C.loggp_make_thread(r.h, C.int64_t(r.started)), number: r.started, until: never, turn: make(chan struct{}, 1), ended: make(chan struct{})}
	t.saved.now.comm = r.world
	r.all = append(r.all, t)
	r.now.result = int64(uintptr(unsafe.Pointer(t.c)))
	go r.runThread(t)
}

// dropThread ends the goroutine of a thread that could not be started.
func dropThread(r *rank, a args) {
	i := slices.IndexFunc(r.all, func(t *thread) bool { return uintptr(unsafe.Pointer(t.c)) == a[0] })
	r.stopThread(r.all[i])
	C.loggp_drop_thread(r.all[i].c)
	r.all = slices.Delete(r.all, i, i+1)
}

// stopThread ends the goroutine of a thread that does not run.
func (r *rank) stopThread(t *thread) {
	t.left = true
	close(t.turn)
	<-t.ended
}

// stopThreads ends the goroutines of all threads but the one that runs main.
func (r *rank) stopThreads() {
	for _, t := range r.all {
		if t.number > 0 && t.state != awaitsNoLonger && t != r.current {
			r.stopThread(t)
		}
	}
}

// runThread is the goroutine of a thread.
func (r *rank) runThread(t *thread) {
	defer close(t.ended)
	if _, ok := <-t.turn; !ok {
		return
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if t.left {
			return
		}
		t.state = awaitsNoLonger
		r.end, r.exits = v, v == nil
		r.all[0].turn <- struct{}{} // and this stays the current thread, to say where the rank is
	}()
	r.world.AdoptGoroutine()
	if err := r.run(); err != errThreadEnded {
		panic(endInCallback{err})
	}
	r.leave(t)
}

// leave ends the current thread, and resumes another one.
func (r *rank) leave(t *thread) {
	address := uintptr(unsafe.Pointer(t.c))
	r.wake(address, math.MaxInt)
	r.wake(uintptr(unsafe.Pointer(&r.h.r.threads)), math.MaxInt)
	next := r.nextThread()
	for next == nil {
		if i := slices.IndexFunc(r.all, func(x *thread) bool { return x != t && x.state == awaitsEvent }); i >= 0 {
			next = r.all[i]
		} else if r.firstDue() < never {
			r.sleepUntil(r.firstDue())
			next = r.nextThread()
		} else {
			r.raiseThreadDeadlock()
		}
	}
	t.state, t.left = awaitsNoLonger, true
	r.all = slices.DeleteFunc(r.all, func(x *thread) bool { return x == t })
	r.swapCall(&t.saved)
	r.resumeThread(next)
}

// wake lets up to n threads go on that wait for an address, those first that have waited longest.
func (r *rank) wake(address uintptr, n int) {
	for _, t := range r.waitingFor(address) {
		if n--; n < 0 {
			return
		}
		t.state, t.woken = runnable, true
	}
}

func (r *rank) waitingFor(address uintptr) []*thread {
	var all []*thread
	for _, t := range r.all {
		if t.state == awaitsAddress && t.address == address {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *thread) int { return cmp.Compare(a.order, b.order) })
	return all
}

// blockThread lets the thread wait for an address, and for a time at most.
func blockThread(r *rank, a args) {
	t := r.current
	t.address, t.function, t.caller = a[0], text(a[2]), a[3]
	r.now.caller = a[3]
	until := never
	if d := int64(a[1]); d < int64(never/unit.Nanosecond) {
		until = unit.Nanosecond.Times(int(d))
	}
	r.waitForAddress(until)
	r.now.result = 1
	if t.woken {
		r.now.result = 0
	}
}

// waitForAddress lets the current thread wait for its address after those that do already.
func (r *rank) waitForAddress(until unit.Time) {
	r.blockCount++
	r.current.order = r.blockCount
	r.waitTurn(awaitsAddress, until)
}

func unblockThreads(r *rank, a args) { r.wake(a[0], int(a[1])) }

// sleepThread lets time pass for the thread.
func sleepThread(r *rank, a args) {
	r.now.caller = a[1]
	d := unit.Nanosecond.Times(int(a[0]))
	switch {
	case len(r.all) > 1 && !r.otherCalls && d >= 0 && d < never/2:
		r.waitTurn(awaitsTime, r.world.Wtime()+d)
	case r.p.Real:
		time.Sleep(time.Duration(a[0]))
	default:
		r.world.Compute(d)
	}
}

// raiseThreadDeadlock ends a rank whose threads all wait for each other.
func (r *rank) raiseThreadDeadlock() {
	panic(endInCallback{&mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: "deadlock of its threads: " + r.describeThreads(nil)}})
}

// OtherThreads says where the other threads of the rank wait, for errors.
func (r *rank) OtherThreads() string { return r.describeThreads(r.current) }

// describeThreads says where threads wait, but one.
func (r *rank) describeThreads(but *thread) string {
	const most = 8
	var all []string
	for _, t := range r.all {
		if t == but || t.state == awaitsNoLonger || t.state == runnable {
			continue
		}
		function, caller := t.function, t.caller
		if t.state != awaitsAddress {
			function, caller = functionName(t.saved.now.number), t.saved.now.caller
		}
		all = append(all, fmt.Sprintf("%s in %s%s", t.name(), function, r.site(caller).Parenthesized()))
	}
	if n := len(all); n > most {
		all = append(all[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(all, ", ")
}

// name is what messages call a thread.
func (t *thread) name() string {
	if t.number == 0 {
		return "the main thread"
	}
	return fmt.Sprintf("thread %d", t.number)
}

// provideThreads returns the level of threads that a program gets for the one that it requests.
func (r *rank) provideThreads(required int) int {
	most := threadMultiple
	if r.p.hasOtherThreads {
		most = threadSerialized
	}
	return max(min(required, most), threadSingle)
}

// initThread is MPI_Init_thread.
func initThread(r *rank, a args) {
	r.init()
	r.level = threadSingle
	r.requestThreads(int(int32(a[2])))
	storeAt(a[3], int32(r.level))
}

// requestThreads provides a level of threads, unless a higher one has been provided.
func (r *rank) requestThreads(required int) {
	r.level = max(r.level, r.provideThreads(required))
	if r.level >= threadSerialized && r.p.startsThreads {
		if err := r.startThread(); err != nil {
			r.raiseError(mpi.ErrOther, "%v", err)
		}
		r.h.other_threads_may_call = 1
	}
}

// levelNames are the names of the levels.
var levelNames = map[int]string{threadSingle: "MPI_THREAD_SINGLE", threadFunneled: "MPI_THREAD_FUNNELED", threadSerialized: "MPI_THREAD_SERIALIZED", threadMultiple: "MPI_THREAD_MULTIPLE"}

// levelOf returns the level that an info requests for a session.
func levelOf(x *info) int {
	if i := slices.Index(x.keys, "thread_level"); i >= 0 {
		for level, name := range levelNames {
			if name == x.values[i] {
				return level
			}
		}
	}
	return threadFunneled
}

func isThreadMain(r *rank, a args) {
	storeAt(a[0], intOfBool(!r.otherCalls && r.current.number == r.initializedBy))
}

// serveOther carries out the call of a thread of a library, while the program runs.
func (r *rank) serveOther(t *C.struct_host_thread) {
	r.h.other = nil
	before := r.otherCalls
	r.otherCalls = true
	result, real := r.h.r.result, r.h.r.real
	r.serve()
	t.result, t.real = r.h.r.result, r.h.r.real
	r.h.r.result, r.h.r.real = result, real
	r.otherCalls = before
	C.loggp_end_other_call(t)
	C.loggp_await(r.h)
}

// checkThread fails if the current thread may not call functions of MPI.
func (r *rank) checkThread() error {
	number := int(r.h.r.call)
	if r.current.number == 0 || r.level >= threadSerialized || r.otherCalls {
		return nil
	}
	if f := toolchain.Functions[number]; !f.MPI() || callableByAll[f.Name] || strings.HasPrefix(f.Name, "MPI_T_") {
		return nil
	}
	return r.threadError(number, r.site(uintptr(r.h.r.caller)))
}

// threadError says that a thread has called MPI that must not.
func (r *rank) threadError(number int, at mpi.CallSite) error {
	return &mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: fmt.Sprintf("%s%s is called in a thread that the program has started: only the thread that runs main may call MPI, as MPI_Init_thread has not provided MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
		functionName(number), at.Parenthesized())}
}

// callableByAll are functions that any thread may call, whatever the level (MPI-4.1, 11.6).
var callableByAll = map[string]bool{"MPI_Init": true, "MPI_Init_thread": true, "MPI_Initialized": true, "MPI_Finalized": true, "MPI_Query_thread": true, "MPI_Is_thread_main": true,
	"MPI_Get_version": true, "MPI_Get_library_version": true, "MPI_Error_string": true, "MPI_Error_class": true}
