//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"maps"
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

// Threads that a program starts. Each is a thread of this process with a goroutine here that
// carries out its calls. One thread of a rank runs at a time, until it waits in a call of package
// mpi, for an address that other threads use (such as a mutex), or for a time. The behaviour of
// threads therefore depends on the program alone.

// threadLevels are the values of MPI_THREAD_SINGLE and so on.
const (
	threadSingle     = 0
	threadFunneled   = 1024
	threadSerialized = 2048
	threadMultiple   = 4096
)

// thread is a thread of a rank's program.
type thread struct {
	cThread      *C.struct_host_thread // nil: the thread runs main
	number       int                   // from 0, the thread that runs main
	waitOrder    uint64                // order among the threads that wait for an address
	state        threadState
	seenProgress uint64        // value of rank.progress when this thread last checked for its event
	wakeTime     unit.Time     // when a wait with a timeout ends
	wasWoken     bool          // it was woken before its timeout
	turnSignal   chan struct{} // tells it to run; closed: it must end
	endsAlone    bool          // its goroutine ends but the rank does not
	ended        chan struct{} // closed when its goroutine has ended
	savedCall    callState     // the state of its call while others run

	inLoop   bool      // it waits for its next turn in a loop in which it only yields
	loopTime unit.Time // that it has waited in the loop

	// Where the thread waits for an address.
	address, caller uintptr
	function        string
}

// threadState says what a thread waits for.
type threadState uint8

const (
	runnable      threadState = iota // its turn
	awaitsEvent                      // an event of the port, within a call of package mpi
	awaitsAddress                    // another thread that wakes the waiters of an address, or a timeout
	awaitsTime                       // a time
	threadEnded                      // nothing: it has ended
)

// callState is the rank's state of a thread's call.
type callState struct {
	mpi           mpi.CallState
	currentCall   call
	requestBuffer []mpi.Request
	statusBuffer  []mpi.Status
	indexBuffer   []int
	combinedType  uintptr
	scratch       scratch
}

// swapCallState exchanges the state of the rank's current call with s.
func (r *rank) swapCallState(s *callState) {
	r.world.SwapCallState(&s.mpi)
	r.currentCall, s.currentCall = s.currentCall, r.currentCall
	r.requestBuffer, s.requestBuffer = s.requestBuffer, r.requestBuffer
	r.statusBuffer, s.statusBuffer = s.statusBuffer, r.statusBuffer
	r.indexBuffer, s.indexBuffer = s.indexBuffer, r.indexBuffer
	r.combinedType, s.combinedType = s.combinedType, r.combinedType
	own := (*scratch)(&r.hostRank.scratch)
	*own, s.scratch = s.scratch, *own
}

// noWakeTime stands for a wait without a timeout.
const noWakeTime = unit.Time(math.MaxInt64)

// threads has the threads of a rank.
type threads struct {
	providedLevel       int // level that MPI_Init_thread has provided
	initThreadNumber    int // number of the thread that called it
	all                 []*thread
	current             *thread
	startedCount        int    // number of threads started by the program
	blockCount          uint64 // number of waits for an address
	progress            uint64 // changes whenever something has happened for which a thread may wait
	servesLibraryThread bool   // the current call is from a library's thread: no other thread runs
	panicValue          any    // from another thread than main; it ends the rank
	endsByGoexit        bool   // the rank's goroutine ends by runtime.Goexit
}

// YieldInWait implements mpi.ThreadScheduler.
func (r *rank) YieldInWait(deadline unit.Time) bool {
	if r.servesLibraryThread {
		return false
	}
	t := r.current
	t.state, t.seenProgress, t.wakeTime = awaitsEvent, r.progress, deadline
	defer func() { t.state, t.wakeTime = runnable, noWakeTime }()
	if next := r.nextThread(); next != nil {
		r.switchThread(next)
		return true
	}
	due := r.firstWakeTime()
	if due < noWakeTime {
		r.world.AwaitEvent(due)
	}
	return due < noWakeTime
}

// NoteProgress implements mpi.ThreadScheduler.
func (r *rank) NoteProgress() { r.progress++ }

// nextThread returns the next runnable thread after the current one, or nil.
func (r *rank) nextThread() *thread { return r.runnableThread(true) }

// runnableThread returns the next runnable thread after the current one, optionally among those in
// loops in which they only yield, or nil.
func (r *rank) runnableThread(inLoops bool) *thread {
	at := slices.Index(r.all, r.current)
	now, read := unit.Time(0), false
	for i := range r.all {
		t := r.all[(at+1+i)%len(r.all)]
		switch {
		case t == r.current, t.inLoop && !inLoops:
		case t.state == runnable, t.state == awaitsEvent && t.seenProgress != r.progress:
			return t
		case t.state != threadEnded && t.wakeTime < noWakeTime:
			if !read {
				now, read = r.world.Wtime(), true
			}
			if t.wakeTime <= now {
				return t
			}
		}
	}
	return nil
}

// firstWakeTime returns the earliest timeout of all threads.
func (r *rank) firstWakeTime() unit.Time {
	due := noWakeTime
	for _, t := range r.all {
		if t.state != runnable && t.state != threadEnded {
			due = min(due, t.wakeTime)
		}
	}
	return due
}

// yieldThread runs another thread if one is runnable.
func (r *rank) yieldThread() {
	if len(r.all) < 2 || r.servesLibraryThread {
		return
	}
	if next := r.nextThread(); next != nil {
		r.switchThread(next)
	}
}

// yieldFunction is the number of the function by which loops in the program yield.
var yieldFunction = slices.IndexFunc(toolchain.Functions, func(f toolchain.Function) bool { return f.Name == "loggp_yield" })

// yieldInLoop lets other threads run while the current one is in a loop that waits for something
// that they do. If no thread outside of such loops is runnable, it waits for a time, in which an
// event may occur.
func (r *rank) yieldInLoop(pause unit.Time) {
	if len(r.all) < 2 || r.servesLibraryThread {
		return
	}
	if r.nextThread() == nil && r.firstWakeTime() == noWakeTime && !slices.ContainsFunc(r.all, func(x *thread) bool { return x.state == awaitsEvent }) {
		return
	}
	t := r.current
	t.inLoop = true
	defer func() { t.inLoop = false }()
	begin := r.world.Wtime()
	if r.runnableThread(false) != nil {
		pause = 0
	}
	r.blockThread(awaitsTime, begin+pause)
	t.loopTime += r.world.Wtime() - begin
}

// loopPause returns how long a thread waits in each round of a loop in which it only yields. Where
// computing takes no time, it is a part of what the thread has waited: the loop may end later by
// that part.
func (r *rank) loopPause(part unit.Time) unit.Time {
	if r.program.RanksAreProcesses || r.program.Compute.Factor > 0 {
		return minLoopPause
	}
	return max(minLoopPause, r.current.loopTime/part)
}

const minLoopPause = unit.Microsecond

// threadTurn is the length of the turns of threads that do not give up control.
const threadTurn = 20 * time.Millisecond

// firstThreadTurn is that of the first turn on emulated machines: what follows depends on this
// computer. A test shortens it.
var firstThreadTurn = time.Second

// maxThreadTurn returns after what time a thread is interrupted if its rank has others.
func (p *Program) maxThreadTurn() time.Duration {
	if p.RanksAreProcesses || p.interruptsThreads.Load() {
		return threadTurn
	}
	return firstThreadTurn
}

// endTurn ends the turn of the current thread, which was interrupted. It returns an error if the
// limit without a call is exceeded.
func (r *rank) endTurn() error {
	at := r.siteAt(uintptr(r.hostRank.r.caller))
	if !r.program.interruptsThreads.Swap(true) && !r.program.RanksAreProcesses {
		r.world.Warn(mpi.ThreadInterrupted, r.current.name(), at, fmt.Sprintf("it computes for %v without a call while there are other threads: they now take turns, so results may differ from run to run", firstThreadTurn))
	}
	if limit := r.program.StallLimit; limit > 0 && time.Since(r.program.startTime)-time.Duration(r.program.lastProgress.Load()) > limit {
		return r.computeLimitError(at.Parenthesized())
	}
	pause := r.loopPause(4)
	if r.program.RanksAreProcesses || r.program.Compute.Factor > 0 {
		pause = unit.Nanosecond.Times(int(threadTurn)) // others run as long
	}
	r.yieldInLoop(pause)
	return nil
}

// blockThread makes the current thread wait in a state until another thread makes it runnable, or
// until a time.
func (r *rank) blockThread(s threadState, until unit.Time) {
	t := r.current
	t.state, t.wakeTime, t.wasWoken = s, until, false
	for t.state != runnable {
		if next := r.nextThread(); next != nil {
			r.switchThread(next)
			if t.state == runnable {
				break
			}
		}
		if t.wakeTime < noWakeTime && r.world.Wtime() >= t.wakeTime {
			break
		}
		switch i := slices.IndexFunc(r.all, func(x *thread) bool { return x.state == awaitsEvent }); {
		case r.nextThread() != nil:
		case i >= 0:
			r.switchThread(r.all[i]) // it waits for the port, on behalf of all threads
		case r.firstWakeTime() < noWakeTime:
			r.sleepUntil(r.firstWakeTime())
		default:
			r.raiseThreadDeadlock()
		}
	}
	t.state, t.wakeTime = runnable, noWakeTime
}

// sleepUntil lets time pass until due.
func (r *rank) sleepUntil(due unit.Time) {
	d := due - r.world.Wtime()
	switch {
	case d <= 0:
	case r.program.RanksAreProcesses:
		time.Sleep(time.Duration(d / unit.Nanosecond))
	default:
		r.world.Compute(d)
	}
}

// switchThread runs another thread, and returns when this one's turn has come again.
func (r *rank) switchThread(next *thread) {
	t := r.current
	r.swapCallState(&t.savedCall)
	r.resumeThread(next)
	r.awaitThreadTurn(t)
}

// resumeThread makes a thread the current one.
func (r *rank) resumeThread(next *thread) {
	r.current = next
	r.swapCallState(&next.savedCall)
	next.turnSignal <- struct{}{}
}

// rankEnd ends the rank's goroutine after a panic in another thread, with the value of that panic.
type rankEnd struct{ value any }

// awaitThreadTurn waits, in the goroutine of a thread, until the thread is the current one. It does
// not return if the rank ends.
func (r *rank) awaitThreadTurn(t *thread) {
	if _, ok := <-t.turnSignal; !ok {
		runtime.Goexit()
	}
	r.world.AdoptGoroutine()
	switch {
	case t.number > 0:
	case r.endsByGoexit:
		runtime.Goexit()
	case r.panicValue != nil:
		panic(rankEnd{r.panicValue})
	}
}

// newThread starts the goroutine of a new thread of the program.
func newThread(r *rank, _ args) {
	if len(r.all) == 1 && r.startedCount == 0 {
		r.world.SetThreadScheduler(r)
	}
	r.startedCount++
	t := &thread{cThread: C.loggp_make_thread(r.hostRank, C.int64_t(r.startedCount)), number: r.startedCount, wakeTime: noWakeTime, turnSignal: make(chan struct{}, 1), ended: make(chan struct{})}
	t.savedCall.currentCall.comm = r.world
	r.all = append(r.all, t)
	r.currentCall.result = int64(uintptr(unsafe.Pointer(t.cThread)))
	go r.runThread(t)
}

// cancelNewThread ends the goroutine of a thread that could not be started.
func cancelNewThread(r *rank, a args) {
	i := slices.IndexFunc(r.all, func(t *thread) bool { return uintptr(unsafe.Pointer(t.cThread)) == a[0] })
	r.stopThread(r.all[i])
	C.loggp_drop_thread(r.all[i].cThread)
	r.all = slices.Delete(r.all, i, i+1)
}

// stopThread ends the goroutine of a thread that is not running.
func (r *rank) stopThread(t *thread) {
	t.endsAlone = true
	close(t.turnSignal)
	<-t.ended
}

// stopThreads ends the goroutines of all threads except the one that runs main.
func (r *rank) stopThreads() {
	for _, t := range r.all {
		if t.number > 0 && t.state != threadEnded && t != r.current {
			r.stopThread(t)
		}
	}
}

// runThread is the goroutine of a thread.
func (r *rank) runThread(t *thread) {
	defer close(t.ended)
	if _, ok := <-t.turnSignal; !ok {
		return
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if t.endsAlone {
			return
		}
		t.state = threadEnded
		r.panicValue, r.endsByGoexit = v, v == nil
		r.all[0].turnSignal <- struct{}{} // this remains the current thread, so that errors say where the rank is
	}()
	r.world.AdoptGoroutine()
	if err := r.runCurrentThread(); err != errThreadEnded {
		panic(callbackExit{err})
	}
	r.exitThread(t)
}

// exitThread ends the current thread and resumes another.
func (r *rank) exitThread(t *thread) {
	address := uintptr(unsafe.Pointer(t.cThread))
	r.wakeThreads(address, math.MaxInt)
	r.wakeThreads(uintptr(unsafe.Pointer(&r.hostRank.r.threads)), math.MaxInt)
	next := r.nextThread()
	for next == nil {
		if i := slices.IndexFunc(r.all, func(x *thread) bool { return x != t && x.state == awaitsEvent }); i >= 0 {
			next = r.all[i]
		} else if r.firstWakeTime() < noWakeTime {
			r.sleepUntil(r.firstWakeTime())
			next = r.nextThread()
		} else {
			r.raiseThreadDeadlock()
		}
	}
	t.state, t.endsAlone = threadEnded, true
	r.all = slices.DeleteFunc(r.all, func(x *thread) bool { return x == t })
	r.swapCallState(&t.savedCall)
	r.resumeThread(next)
}

// wakeThreads wakes up to n threads that wait for an address, in the order in which they started to
// wait.
func (r *rank) wakeThreads(address uintptr, n int) {
	for _, t := range r.threadsWaitingAt(address) {
		if n--; n < 0 {
			return
		}
		t.state, t.wasWoken = runnable, true
	}
}

func (r *rank) threadsWaitingAt(address uintptr) []*thread {
	var all []*thread
	for _, t := range r.all {
		if t.state == awaitsAddress && t.address == address {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *thread) int { return cmp.Compare(a.waitOrder, b.waitOrder) })
	return all
}

// blockThread makes the thread wait for an address, optionally with a timeout.
func blockThread(r *rank, a args) {
	t := r.current
	t.address, t.function, t.caller = a[0], cString(a[2]), a[3]
	r.currentCall.callerAddress = a[3]
	until := noWakeTime
	if d := int64(a[1]); d < int64(noWakeTime/unit.Nanosecond) {
		until = unit.Nanosecond.Times(int(d))
	}
	r.waitForAddress(until)
	r.currentCall.result = 1
	if t.wasWoken {
		r.currentCall.result = 0
	}
}

// waitForAddress makes the current thread wait for its address, after the threads that already
// wait.
func (r *rank) waitForAddress(until unit.Time) {
	r.blockCount++
	r.current.waitOrder = r.blockCount
	r.blockThread(awaitsAddress, until)
}

func unblockThreads(r *rank, a args) { r.wakeThreads(a[0], int(a[1])) }

// sleepThread makes the thread sleep.
func sleepThread(r *rank, a args) {
	r.currentCall.callerAddress = a[1]
	d := unit.Nanosecond.Times(int(a[0]))
	switch {
	case len(r.all) > 1 && !r.servesLibraryThread && d >= 0 && d < noWakeTime/2:
		r.blockThread(awaitsTime, r.world.Wtime()+d)
	case r.program.RanksAreProcesses:
		time.Sleep(time.Duration(a[0]))
	default:
		r.world.Compute(d)
	}
}

// raiseThreadDeadlock fails because all threads of a rank wait for each other.
func (r *rank) raiseThreadDeadlock() {
	panic(callbackExit{&mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: "deadlock of its threads: " + r.describeThreads(nil)}})
}

// OtherThreads says where the other threads of the rank wait, for error messages.
func (r *rank) OtherThreads() string { return r.describeThreads(r.current) }

// describeThreads says where all threads but one wait.
func (r *rank) describeThreads(but *thread) string {
	const most = 8
	var all []string
	for _, t := range r.all {
		if t == but || t.state == threadEnded || t.state == runnable {
			continue
		}
		function, caller := t.function, t.caller
		if t.state != awaitsAddress {
			function, caller = functionName(t.savedCall.currentCall.number), t.savedCall.currentCall.callerAddress
		}
		all = append(all, fmt.Sprintf("%s in %s%s", t.name(), function, r.siteAt(caller).Parenthesized()))
	}
	if n := len(all); n > most {
		all = append(all[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(all, ", ")
}

// name returns the name of a thread in messages.
func (t *thread) name() string {
	if t.number == 0 {
		return "the main thread"
	}
	return fmt.Sprintf("thread %d", t.number)
}

// providedThreadLevel returns the thread level for a requested one.
func (r *rank) providedThreadLevel(required int) int {
	most := threadMultiple
	if r.program.hasOtherThreads {
		most = threadSerialized
	}
	return max(min(required, most), threadSingle)
}

// initThread carries out MPI_Init_thread.
func initThread(r *rank, a args) {
	r.initialize()
	r.providedLevel = threadSingle
	r.provideThreadLevel(int(int32(a[2])))
	storeAt(a[3], int32(r.providedLevel))
}

// provideThreadLevel sets the provided thread level, unless a higher one is already set.
func (r *rank) provideThreadLevel(required int) {
	r.providedLevel = max(r.providedLevel, r.providedThreadLevel(required))
	if r.providedLevel >= threadSerialized && r.program.startsThreads {
		if err := r.startThread(); err != nil {
			r.raiseError(mpi.ErrOther, "%v", err)
		}
		r.hostRank.other_threads_may_call = 1
	}
}

// levelNames are the names of the thread levels.
var levelNames = map[int]string{threadSingle: "MPI_THREAD_SINGLE", threadFunneled: "MPI_THREAD_FUNNELED", threadSerialized: "MPI_THREAD_SERIALIZED", threadMultiple: "MPI_THREAD_MULTIPLE"}

// threadLevelKeys are the info keys for the thread level: that of MPI-4, and that of its drafts.
var threadLevelKeys = []string{"thread_level", "mpi_thread_support_level"}

// requestedThreadLevel returns the thread level that the info of a session requests.
func (r *rank) requestedThreadLevel(x *info) int {
	i := slices.IndexFunc(x.keys, func(key string) bool { return slices.Contains(threadLevelKeys, key) })
	if i < 0 {
		return threadFunneled
	}
	for level, name := range levelNames {
		if name == x.values[i] {
			return level
		}
	}
	r.raiseError(errInfoValue, "%s %q: it is one of %q", x.keys[i], x.values[i], slices.Sorted(maps.Values(levelNames)))
	return threadSingle
}

func isThreadMain(r *rank, a args) {
	storeAt(a[0], intOfBool(!r.servesLibraryThread && r.current.number == r.initThreadNumber))
}

// serveLibraryThread carries out the call of a library's thread while the program runs.
func (r *rank) serveLibraryThread(t *C.struct_host_thread) {
	r.hostRank.other = nil
	before := r.servesLibraryThread
	r.servesLibraryThread = true
	result, real := r.hostRank.r.result, r.hostRank.r.real
	r.serveCall()
	t.result, t.real = r.hostRank.r.result, r.hostRank.r.real
	r.hostRank.r.result, r.hostRank.r.real = result, real
	r.servesLibraryThread = before
	C.loggp_end_other_call(t)
	C.loggp_await(r.hostRank)
}

// checkThread fails if the current thread must not call MPI functions.
func (r *rank) checkThread() error {
	number := int(r.hostRank.r.call)
	if r.current.number == 0 || r.providedLevel >= threadSerialized || r.servesLibraryThread {
		return nil
	}
	if f := toolchain.Functions[number]; !f.IsMPI() || callableByAll[f.Name] || strings.HasPrefix(f.Name, "MPI_T_") {
		return nil
	}
	return r.threadError(number, r.siteAt(uintptr(r.hostRank.r.caller)))
}

// threadError reports an MPI call by a thread that must not make it.
func (r *rank) threadError(number int, at mpi.CallSite) error {
	return &mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: fmt.Sprintf("%s%s is called in a thread that the program has started: only the thread that runs main may call MPI, as MPI_Init_thread has not provided MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
		functionName(number), at.Parenthesized())}
}

// callableByAll are functions that any thread may call at any thread level (MPI-4.1, section 11.6).
var callableByAll = map[string]bool{"MPI_Init": true, "MPI_Init_thread": true, "MPI_Initialized": true, "MPI_Finalized": true, "MPI_Query_thread": true, "MPI_Is_thread_main": true,
	"MPI_Get_version": true, "MPI_Get_library_version": true, "MPI_Error_string": true, "MPI_Error_class": true}
