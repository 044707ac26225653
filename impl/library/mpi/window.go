package mpi

import (
	"os"
	"slices"
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
)

// Window is memory of the ranks of a communicator that all of them can access: one-sided
// communication (MPI-3.1, chapter 11). Like a Comm, a Window value belongs to one rank of the job.
//
// An access is a message from its origin to its target. The target carries it out within its own
// calls, any of which make progress. The window has the unified memory model: a rank's memory and
// its public copy are the same.
type Window struct {
	comm             *Comm // carries the window's messages only
	flavor           WindowFlavor
	memory           []byte // of this rank
	displacementUnit int
	rankSpans        []windowSpan  // by rank, or one for all ranks: see spanOf; nil for a dynamic window
	sharedMemory     *sharedMemory // nil: the window is not shared
	freed            bool

	hasDirectAccess bool        // puts and gets are carried out without the target
	memoryKey       device.Key  // the key under which memory is exposed for direct access
	directRuns      []directRun // of the current access; reused

	lockCounters device.Counters // hold the locks; nil: locks are messages
	lockRegister int             // the same number on each rank

	conflicts        *windowConflicts // nil: the program is not checked for conflicts
	endedStartEpochs int              // epochs of Start that have ended on this rank
	localAccesses    []localAccess    // this rank's memory that its own accesses use

	attachedRegions []windowRegion // of a dynamic window, by address

	origin windowOrigin // this rank's accesses to memory of others
	target windowTarget // accesses of others to this rank's memory

	// SubstituteOp returns an operation to use in place of a predefined one, for types that Go does
	// not have. If it is nil or returns nil, the predefined operation is used.
	SubstituteOp func(op *Op, t *Datatype) *Op
}

// WindowFlavor says where the memory of a window comes from.
type WindowFlavor uint8

// The window flavors.
const (
	CreatedWindow   WindowFlavor = iota + 1 // memory provided by the program
	AllocatedWindow                         // memory allocated with the window
	DynamicWindow                           // memory that the program attaches and detaches
	SharedWindow                            // memory that all ranks can access by loads and stores
)

// windowSpan describes the memory of a rank in a window.
type windowSpan struct {
	size, displacementUnit int
	memoryKey              device.Key // for accesses that the machine carries out
}

// CreateWindow creates a window on memory of each rank (MPI_Win_create). All ranks of c call it.
// unit is the displacement unit in bytes, which each rank chooses for its own memory.
func (c *Comm) CreateWindow(memory []byte, unit int) *Window {
	c.enterWindow("CreateWindow", len(memory), unit)
	return c.newWindow(CreatedWindow, memory, unit, nil)
}

// AllocateWindow creates a window with size bytes of new memory on this rank (MPI_Win_allocate).
// allocate returns the memory; nil: Go allocates it. Ranks on one node of a real machine use shared
// memory. Free releases it.
func (c *Comm) AllocateWindow(size, unit int, allocate func(size int) []byte) *Window {
	c.enterWindow("AllocateWindow", size, unit)
	if c.engine.IsRealTime() {
		if p := c.gatherPlacement(size); p.firstRemoteRank < 0 {
			if m, err := c.shareMemory(p, cacheLineBytes, allocate); err == nil {
				return c.newWindow(AllocatedWindow, m.parts[c.rank], unit, m)
			}
		}
	}
	return c.newWindow(AllocatedWindow, allocatorOrDefault(allocate)(size), unit, nil)
}

// CreateDynamicWindow creates a window without memory (MPI_Win_create_dynamic). Ranks attach
// memory, and use the results of Attach as displacements.
func (c *Comm) CreateDynamicWindow() *Window {
	c.enterWindow("CreateDynamicWindow", 0, 1)
	return c.newWindow(DynamicWindow, nil, 1, nil)
}

// cacheLineBytes is the alignment of each rank's part of shared memory, so that two parts do not
// share a cache line.
const cacheLineBytes = 64

func allocatorOrDefault(allocate func(int) []byte) func(int) []byte {
	if allocate == nil {
		return func(size int) []byte { return make([]byte, size) }
	}
	return allocate
}

func (c *Comm) enterWindow(call string, size, unit int) {
	c.enterCall(call)
	c.checkIntra()
	switch {
	case size < 0:
		c.engine.Fail(ErrSize, "a window of %d bytes: a size is not negative", size)
	case unit <= 0:
		c.engine.Fail(ErrDisp, "displacement unit %d: it must be positive", unit)
	}
}

// newWindow creates a window within a call.
func (c *Comm) newWindow(flavor WindowFlavor, memory []byte, unit int, shared *sharedMemory) *Window {
	w := &Window{comm: c.withContext(c.newContext()), flavor: flavor, memory: memory, displacementUnit: unit, sharedMemory: shared}
	w.origin.targets, w.target.origins = map[int]*targetState{}, map[int]*originState{}
	c.engine.SetService(c.state.serveWindows)
	if flavor != DynamicWindow {
		var used uint
		w.rankSpans, used = w.comm.gatherSpans(windowSpan{len(memory), unit, w.exposeMemory()})
		w.allocateLockRegister(used)
	}
	c.state.windows = append(c.state.windows, w)
	w.startConflictChecks()
	w.postRequestReceive()
	return w
}

// withContext returns a communicator of the same ranks with another context. It shares the rank
// tables of c.
func (c *Comm) withContext(context uint32) *Comm {
	n := &Comm{engine: c.engine, rank: c.rank, size: c.size, context: context, members: c.members, rankOfJobRank: c.rankOfJobRank, lastContext: c.lastContext, state: c.state}
	c.state.noteComm(n)
	return n
}

// gatherSpans returns the spans of all ranks, and the lock registers that any rank uses. If all
// spans are equal it returns only one, because a job may have many ranks.
func (c *Comm) gatherSpans(mine windowSpan) (_ []windowSpan, usedRegisters uint) {
	all := c.allgatherInts(mine.size, mine.displacementUnit, int(mine.memoryKey), int(c.state.lockRegisters))
	spans := make([]windowSpan, c.size)
	equal := true
	for i := range spans {
		x := all[4*i:]
		spans[i] = windowSpan{x[0], x[1], device.Key(x[2])}
		usedRegisters |= uint(x[3])
		equal = equal && spans[i] == spans[0]
	}
	if equal {
		spans = []windowSpan{spans[0]}
	}
	return spans, usedRegisters
}

// spanOf returns the span of a rank.
func (w *Window) spanOf(rank int) windowSpan {
	if len(w.rankSpans) == 1 {
		rank = 0
	}
	return w.rankSpans[rank]
}

// allgatherInts gathers the same number of integers from each rank, by rank.
func (c *Comm) allgatherInts(mine ...int) []int {
	all := make([]int64, len(mine)*c.size)
	own := make([]int64, len(mine))
	for i, v := range mine {
		own[i] = int64(v)
	}
	into := BufferOf(all)
	into.Count = len(mine)
	c.allgather(BufferOf(own), into)
	out := make([]int, len(all))
	for i, v := range all {
		out[i] = int(v)
	}
	return out
}

// serveWindows handles requests of other ranks on all windows of this rank.
func (s *rankState) serveWindows() {
	for _, w := range s.windows {
		w.serveRequests()
	}
}

// Free frees the window (MPI_Win_free). All ranks call it after they have completed their accesses.
// When it returns, the program may use its memory for other purposes.
func (w *Window) Free() {
	w.enterCall("Window.Free")
	switch {
	case w.origin.epoch == startEpoch || w.origin.epoch == lockEpoch || w.origin.epoch == lockAllEpoch:
		w.failSync("%v is open", w.origin.epoch)
	case w.origin.epoch == fenceEpoch && w.origin.hasAccesses:
		w.failSync("accesses since the last fence are not complete: call Fence before")
	case w.target.postGroup != nil:
		w.failSync("the memory is exposed by Post, and Wait was not called")
	}
	w.freeWithinCall()
}

// freeWithinCall frees the window within a call.
func (w *Window) freeWithinCall() {
	if w.hasDirectAccess {
		w.completeLocal(AnySource)
		w.completeReleases()
	}
	w.comm.barrier()
	w.stopConflictChecks()
	w.withdrawMemory()
	w.freeLockRegister()
	incoming := w.target.requestReceive
	w.target.requestReceive = nil
	w.comm.engine.StopServiceReceive(incoming)
	w.completeLocal(AnySource)
	w.comm.state.windows = slices.DeleteFunc(w.comm.state.windows, func(x *Window) bool { return x == w })
	if w.sharedMemory != nil && w.sharedMemory.unmap != nil {
		w.sharedMemory.unmap()
	}
	w.comm.setHandler(ErrorsAreFatal)
	delete(w.comm.state.callHistory, w.comm.context)
	w.freed = true
}

// closeWindows reports the windows that the program has not freed, and frees them together with the
// other ranks. After an error that the program has handled, it does not report them.
func (c *Comm) closeWindows() {
	if n := len(c.state.windows); n > 0 && !c.engine.HasFailed() {
		c.engine.ReportViolation(engine.WindowsLeftOpen, ErrWin, "%d %s not freed", n, check.Plural(n, "window was", "windows were"))
	}
	for len(c.state.windows) > 0 {
		w := c.state.windows[0]
		w.completeLocal(AnySource)
		w.freeWithinCall()
	}
}

// enterCall records a call on the window.
func (w *Window) enterCall(call string) {
	w.comm.engine.EnterOn(call, w.comm.context)
	if w.freed {
		w.comm.engine.Fail(ErrWin, "the window was freed")
	}
}

func (w *Window) failSync(format string, args ...any) {
	w.comm.engine.Fail(ErrRMASync, format, args...)
}

// Memory returns the window memory of this rank, and Unit its displacement unit in bytes
// (MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT). For a dynamic window they are nil and 1.
func (w *Window) Memory() []byte        { return w.memory }
func (w *Window) DisplacementUnit() int { return w.displacementUnit }

// Flavor returns where the window's memory comes from (MPI_WIN_CREATE_FLAVOR).
func (w *Window) Flavor() WindowFlavor { return w.flavor }

// Group returns the ranks of the window (MPI_Win_get_group).
func (w *Window) Group() Group {
	w.enterCall("Window.Group")
	return w.comm.group()
}

// Comm returns the communicator whose error handler is that of the window (MPI_Win_set_errhandler);
// its Raise reports an error of the window. Do not use it for messages.
func (w *Window) Comm() *Comm { return w.comm }

// Sync orders this rank's stores to window memory, and those of others, before later loads
// (MPI_Win_sync). It makes progress, so a loop that waits for a value to change can call it.
func (w *Window) Sync() {
	w.enterCall("Window.Sync")
	memoryBarrier.Add(1)
	found := w.comm.engine.PollService(engine.WaitDescription{Peer: AnySource, Cause: engine.WaitAccess}, func() bool { return false })
	if !found && w.hasDirectAccess {
		w.comm.engine.Port().Delay(sharedPollTime) // other ranks store without a message that could end a poll
	}
}

// memoryBarrier orders loads and stores of memory that processes share, by an atomic operation on
// it.
var memoryBarrier atomic.Uint32

// processID distinguishes ranks in one process from ranks in several.
var processID = os.Getpid()
