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
// communication (MPI-3.1, chapter 11). It belongs to one rank of the job, as a Comm does.
//
// Accesses are messages to the rank whose memory it is, which that rank carries out within calls of
// its own: of any kind, as all make progress. Where the standard lets a rank's memory and the
// public copy of it differ, they are the same (the unified model).
type Window struct {
	comm             *Comm // of the window's messages and nothing else
	flavor           WindowFlavor
	memory           []byte // of this rank
	displacementUnit int
	rankSpans        []windowSpan  // by rank, or one for all: see spanOf; of a dynamic window nil
	sharedMemory     *sharedMemory // nil: it is not
	freed            bool

	hasDirectAccess bool        // puts and gets are carried out without the target
	memoryKey       device.Key  // under which the memory is exposed to it
	directRuns      []directRun // of an access, to use again

	lockCounters device.Counters // has the locks; nil: they are messages
	lockRegister int             // of each rank

	conflicts        *windowConflicts // nil: the program is not checked for conflicts
	endedStartEpochs int              // epochs of Start that have ended
	localAccesses    []localAccess    // memory of this rank that its accesses use

	attachedRegions []windowRegion // of a dynamic window, by address

	origin windowOrigin // accesses to memory of others
	target windowTarget // accesses of others to memory of this rank

	// SubstituteOp returns what combines elements of a type in place of an operation of MPI's, for
	// types that Go has not; nil: the operation does.
	SubstituteOp func(op *Op, t *Datatype) *Op
}

// WindowFlavor says where the memory of a window comes from.
type WindowFlavor uint8

// The flavors.
const (
	CreatedWindow   WindowFlavor = iota + 1 // memory of the program
	AllocatedWindow                         // memory that was allocated for the window
	DynamicWindow                           // memory that is attached and detached
	SharedWindow                            // memory that all ranks can load from and store to
)

// windowSpan is the memory of a rank in a window.
type windowSpan struct {
	size, displacementUnit int
	memoryKey              device.Key // for the machine, if it carries out accesses
}

// CreateWindow makes memory of each rank a window (MPI_Win_create). All ranks of c call it.
// Displacements are multiples of unit, which each rank chooses for its memory.
func (c *Comm) CreateWindow(memory []byte, unit int) *Window {
	c.enterWindow("CreateWindow", len(memory), unit)
	return c.newWindow(CreatedWindow, memory, unit, nil)
}

// AllocateWindow makes a window of size bytes of new memory (MPI_Win_allocate), which allocate
// returns; nil: Go's memory. Ranks of one node of a real machine share it. It is gone after Free.
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

// CreateDynamicWindow makes a window without memory (MPI_Win_create_dynamic). Ranks attach memory,
// and displacements are what Attach returns.
func (c *Comm) CreateDynamicWindow() *Window {
	c.enterWindow("CreateDynamicWindow", 0, 1)
	return c.newWindow(DynamicWindow, nil, 1, nil)
}

// cacheLineBytes is a multiple of which parts of shared memory begin, so that each is aligned and
// none shares a line with another.
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

// newWindow makes a window, within a call.
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

// withContext returns a communicator of the same ranks with another context, which shares their
// tables with c.
func (c *Comm) withContext(context uint32) *Comm {
	n := &Comm{engine: c.engine, rank: c.rank, size: c.size, context: context, members: c.members, rankOfJobRank: c.rankOfJobRank, lastContext: c.lastContext, state: c.state}
	c.state.noteComm(n)
	return n
}

// gatherSpans returns the spans of all ranks, and the registers that are in use at any of them. It
// is only the first span if all are equal, as a job may have many ranks.
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

// spanOf returns the memory of a rank.
func (w *Window) spanOf(rank int) windowSpan {
	if len(w.rankSpans) == 1 {
		rank = 0
	}
	return w.rankSpans[rank]
}

// allgatherInts returns the numbers of all ranks, by rank.
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

// serveWindows carries out what other ranks ask for.
func (s *rankState) serveWindows() {
	for _, w := range s.windows {
		w.serveRequests()
	}
}

// Free ends the use of the window (MPI_Win_free). All ranks call it when they have completed their
// accesses, and it returns when all have called it. Memory of the program is its own again.
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

// freeWithinCall ends the use of the window within a call.
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

// closeWindows reports windows that the program has not freed, and frees them with the other ranks.
// After an error that the program has handled it may not have been able to.
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

// enterCall enters a call on the window.
func (w *Window) enterCall(call string) {
	w.comm.engine.EnterOn(call, w.comm.context)
	if w.freed {
		w.comm.engine.Fail(ErrWin, "the window was freed")
	}
}

func (w *Window) failSync(format string, args ...any) {
	w.comm.engine.Fail(ErrRMASync, format, args...)
}

// Memory returns the memory of this rank, and Unit its displacement unit (MPI_WIN_BASE,
// MPI_WIN_SIZE, MPI_WIN_DISP_UNIT). A dynamic window has none, and unit 1.
func (w *Window) Memory() []byte        { return w.memory }
func (w *Window) DisplacementUnit() int { return w.displacementUnit }

// Flavor returns where the memory comes from (MPI_WIN_CREATE_FLAVOR).
func (w *Window) Flavor() WindowFlavor { return w.flavor }

// Group returns the ranks of the window (MPI_Win_get_group).
func (w *Window) Group() Group {
	w.enterCall("Window.Group")
	return w.comm.group()
}

// Comm returns the communicator of errors: its error handler is that of the window
// (MPI_Win_set_errhandler), and Raise makes an error of the window. It is not for messages.
func (w *Window) Comm() *Comm { return w.comm }

// Sync lets the rank see what others have stored to its memory, and others what it has stored
// (MPI_Win_sync). It makes progress: a loop that waits for a value calls it.
func (w *Window) Sync() {
	w.enterCall("Window.Sync")
	memoryBarrier.Add(1)
	found := w.comm.engine.PollService(engine.WaitDescription{Peer: AnySource, Cause: engine.WaitAccess}, func() bool { return false })
	if !found && w.hasDirectAccess {
		w.comm.engine.Port().Delay(sharedPollTime) // others store without a message that could end a poll
	}
}

// memoryBarrier orders loads and stores of memory that processes share: an atomic operation does.
var memoryBarrier atomic.Uint32

// processID tells ranks in one process from those in several.
var processID = os.Getpid()
