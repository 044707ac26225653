//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -ldl
#cgo nocallback loggp_resume
#cgo noescape loggp_resume
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// program is the state that the ranks of a run share.
type program struct {
	image             []byte      // contents of the file
	template          *template   // source of the ranks' copies; nil: the loader makes the copies
	foreignExecutable *executable // for a program that another compiler has linked; nil: the program is from loggp cc
	libraries         libraries   // of which each rank loads private copies, and the program itself
	sourceLines       sourceLines // of the program
	name              string

	mu                     sync.Mutex
	firstExitStatus        *mpi.AbortError // of the first rank that exited with a nonzero status after MPI_Finalize
	outputError            error           // the first failure to write output
	arena                  arena
	startTime              time.Time
	computeNanoseconds     atomic.Int64  // processor time charged as computing
	interruptedNanoseconds atomic.Int64  // time in which computing ranks had no processor
	lastProgress           atomic.Int64  // when a rank last did something other than an unsuccessful poll, since startTime
	watchEnded             chan struct{} // closed when watching ends; nil: nothing is watched
	hasCrashed             bool          // a rank has crashed: the heap may be corrupt, so no C memory is freed

	initial *Program // the program that started the job; nil: this one
	spawned spawnedPrograms

	interruptsThreads atomic.Bool // a thread has been interrupted: all now run in short turns

	hasOtherThreads bool // libraries such as OpenMP start threads, which do not run in turn
	startsThreads   bool // threads may use the rank's copy of the program and its stack after the rank has ended
}

// installSignalHandlers installs the signal handlers.
var installSignalHandlers = sync.OnceValue(func() error {
	names := unsafe.Slice((**C.char)(C.calloc(C.size_t(len(toolchain.Functions)), C.size_t(unsafe.Sizeof(uintptr(0))))), len(toolchain.Functions))
	for i, f := range toolchain.Functions {
		names[i] = C.CString(f.Name)
	}
	C.loggp_function = unsafe.SliceData(names)
	if e := C.loggp_prepare(); e != 0 {
		return fmt.Errorf("handling signals of C programs: %w", syscall.Errno(e))
	}
	return nil
})

func (p *Program) main() (func(*mpi.Comm) error, error) {
	p.name = filepath.Base(p.Path)
	var err error
	if p.image, err = os.ReadFile(p.Path); err != nil {
		return nil, err
	}
	if err := p.prepareImage(); err != nil {
		return nil, err
	}
	if p.StackBytes == 0 {
		p.StackBytes = DefaultStackBytes
	}
	if err := installSignalHandlers(); err != nil {
		return nil, err
	}
	if p.Compute.Rate > 0 {
		p.Compute.Factor = float64(C.loggp_cycles_a_second()) / p.Compute.Rate
	}
	p.startTime = time.Now()
	if p.StallLimit > 0 || p.Context != nil || p.startsThreads {
		p.watchEnded = make(chan struct{})
		go p.watchProgress(p.context(), p.watchEnded)
	}
	return p.runInitial, nil
}

func (p *Program) exitError() error {
	if p.firstExitStatus == nil {
		return nil
	}
	return p.firstExitStatus
}

func (p *Program) close() {
	if p.watchEnded != nil {
		close(p.watchEnded)
		p.watchEnded = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arena.release()
}

// prepareImage prepares the part of a program's file that ranks load, without the symbols and debug
// information at its end. It records whether the program can start threads. It fails if the file is
// neither a program of loggp cc nor an executable for the MPI standard ABI.
func (p *Program) prepareImage() error {
	advice := fmt.Errorf("%s is not a program for loggp run: compile it with 'loggp cc'", p.Path)
	f, err := elf.NewFile(bytes.NewReader(p.image))
	if err != nil {
		return advice
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return advice
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return advice
	}
	if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "loggp_start" && s.Section != elf.SHN_UNDEF }) {
		isExecutable := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
		switch other := slices.IndexFunc(libraries, func(l string) bool { return strings.HasPrefix(l, "libmpi") }); {
		case slices.ContainsFunc(libraries, isABILibrary) && f.Type == elf.ET_DYN && isExecutable:
			if p.foreignExecutable, err = prepareExecutable(p.Path, f, p.image); err != nil {
				return err
			}
		case slices.ContainsFunc(libraries, isABILibrary) && f.Type == elf.ET_DYN:
			return fmt.Errorf("%s is a shared library: run a program that is linked to it, or link it without -shared", p.Path)
		case slices.ContainsFunc(libraries, isABILibrary):
			return fmt.Errorf("%s cannot be run as it is: it is not position-independent; link it with -pie, or compile it with 'loggp cc'", p.Path)
		case other >= 0:
			return fmt.Errorf("%s is linked to %s, whose binary interface is its own: compile it with 'loggp cc', or link it to %s, the library of the MPI standard ABI", p.Path, libraries[other], toolchain.ABILibrary)
		default:
			return advice
		}
	}
	var end uint64
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD {
			end = max(end, s.Off+s.Filesz)
		}
	}
	p.image = p.image[:min(end, uint64(len(p.image)))]
	if libraries, err = p.libraries.prepare(p.context(), p, f, libraries); err != nil {
		return err
	}
	isMissing := func(function string) bool { // from the program
		return slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == function && s.Section == elf.SHN_UNDEF })
	}
	isAmong := func(kinds ...kind) bool {
		return slices.ContainsFunc(libraries, func(name string) bool { return slices.Contains(kinds, kindOf(name)) })
	}
	p.hasOtherThreads = isMissing("thrd_create") || isAmong(startsThreads)
	p.startsThreads = isMissing("pthread_create") || isMissing("thrd_create") || isMissing("pthread_getattr_default_np") || // called by threads.c
		isMissing("dlvsym") || // called by runtime.c
		isAmong(startsThreads) || p.libraries.startThreads
	if p.foreignExecutable == nil && !p.startsThreads && len(p.libraries.all[C.loggp_program_number].dependencies) == 0 {
		p.template = newTemplate(f, p.image)
	}
	return nil
}

// context returns the context of the run.
func (p *Program) context() context.Context {
	if p.Context != nil {
		return p.Context
	}
	return context.Background()
}

// runInitial runs the program that starts the job in a rank.
func (p *Program) runInitial(c *mpi.Comm) error { return p.runProgram(c, nil) }

// runProgram runs the program in a rank. o is nil unless another program has started it.
func (p *Program) runProgram(c *mpi.Comm, o *spawnOrigin) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // turns an access to invalid memory into an error of this rank
	var statuses *mpi.Comm                                   // used to report exit statuses of other processes to rank 0
	if p.RanksAreProcesses && o == nil {
		statuses = c.Dup()
	}
	r, err := p.newRank(c, o)
	if err != nil {
		return fmt.Errorf("rank %d of %s: %w", c.JobRank(), p.name, err)
	}
	if err := p.runRank(r); err != nil {
		if e, ok := err.(*mpi.AbortError); ok {
			panic(e) // like MPI_Abort, so that the process of rank 0 gets the code
		}
		return err
	}
	switch first := p.initialProgram(); {
	case statuses != nil:
		p.gatherStatuses(r, statuses)
	case r.status == 0:
	case p.RanksAreProcesses: // rank 0 may have ended, and knows only the statuses of its own group
		panic(statusError(c.JobRank(), r.status, -1))
	case first.firstExitStatus == nil || c.JobRank() < first.firstExitStatus.Rank:
		first.firstExitStatus = statusError(c.JobRank(), r.status, -1)
	}
	return nil
}

// runRank runs a rank to its end, writes its output and frees its memory.
func (p *Program) runRank(r *rank) (err error) {
	ended := false
	defer func() {
		v := recover()
		r.stopThreads()
		if e, ok := v.(rankEnd); ok {
			v = e.value
		}
		switch v := v.(type) {
		case nil:
		case callbackExit:
			ended, err = v.err == nil, v.err
		case runtime.Error, addressError, string:
			err = r.overwrittenError(v)
		default:
			defer panic(v)
		}
		r.flushOutput(true)
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case !ended || p.hasCrashed:
			p.hasCrashed = true
		case !p.startsThreads:
			if C.loggp_delete(r.hostRank) == 0 {
				p.hasCrashed, err = true, r.crashError()
			}
			r.hostRank = nil
			p.arena.releasedRanks++
		}
		if err == nil && p.outputError != nil && ended {
			err = &mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: fmt.Sprintf("output is lost: %v", p.outputError)}
		}
	}()
	err = r.runCurrentThread()
	ended = err == nil
	return err
}

// gatherStatuses sends the exit status of each rank to the process of rank 0.
func (p *Program) gatherStatuses(r *rank, c *mpi.Comm) {
	all := make([]int32, c.Size())
	mpi.Gather(c, []int32{int32(r.status)}, all, 0)
	for i, status := range all {
		if c.Rank() == 0 && status != 0 && p.firstExitStatus == nil {
			p.firstExitStatus = statusError(i, int(status), -1)
		}
	}
}

// newRank loads a copy of the program.
func (p *Program) newRank(c *mpi.Comm, o *spawnOrigin) (*rank, error) {
	index, before, err := p.arena.placeRank(p, c)
	if err != nil {
		return nil, err
	}
	reads := C.int(0)
	if c.Rank() == 0 && o == nil {
		reads = 1
	}
	measure := C.int(0)
	if p.Compute.Factor > 0 {
		measure = 1
	}
	text := p.arena.arguments
	h, err := C.loggp_new(p.arena.cArena, C.uint64_t(index), C.int64_t(toolchain.Version()), C.int64_t(c.Rank()), C.int(len(p.Arguments)+1), (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), C.uint64_t(len(text)), reads, measure)
	if h == nil {
		return nil, fmt.Errorf("no memory for a stack of %d bytes: %w", p.StackBytes, err)
	}
	c.StoreErrorsInStatus()
	r := &rank{program: p, hostRank: h, world: c}
	if o != nil && o.directory != "" {
		if err := r.setDirectory(o.directory); err != nil {
			return nil, err
		}
	}
	if err := r.loadCopy(); err != nil {
		return nil, err
	}
	// Ranks that are processes already have a thread each. It would change if the program asks for
	// threads later: libraries that start threads keep what they know of each.
	if p.startsThreads && (!p.RanksAreProcesses || p.libraries.startPrivateThreads) {
		if err := r.startThread(); err != nil {
			return nil, err
		}
	}
	if err := p.arena.checkMappingsPerRank(before); err != nil {
		return nil, err
	}
	r.loadAddress = uintptr(h.image.base)
	r.setUpHostRank()
	r.setOrigin(o)
	return r, nil
}

// loadCopy loads a private copy of the program.
func (r *rank) loadCopy() error {
	var pin runtime.Pinner
	defer pin.Unpin()
	var images []C.struct_loggp_image
	if r.program.template == nil {
		images = r.program.libraries.cImages(C.loggp_program_number, &pin)
	}
	var other *C.struct_loggp_executable
	if e := r.program.foreignExecutable; e != nil {
		other = e.cExecutable
	}
	text := C.loggp_load(r.hostRank, unsafe.SliceData(images), C.int64_t(len(images)), other)
	switch {
	case text != nil:
		return r.program.loadError(C.GoString(text))
	case r.hostRank.r.event == C.LOGGP_SIGNAL:
		return fmt.Errorf("loading %s: in a constructor, or as another rank has overwritten the memory of the C library: %w", r.program.Path, r.crashError())
	}
	return nil
}

// startThread starts a thread for the rank, unless it has one.
func (r *rank) startThread() error {
	if e := C.loggp_start_thread(r.hostRank); e != 0 {
		return fmt.Errorf("starting a thread: %w", syscall.Errno(e))
	}
	return nil
}

// writeOutput writes output of a rank to a file descriptor's writer.
func (p *Program) writeOutput(fd int, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.Stdout
	if fd == 2 {
		w = p.Stderr
	}
	if w == nil {
		w = io.Discard
	}
	if _, err := w.Write(text); err != nil && p.outputError == nil { // programs ignore write errors
		p.outputError = err
	}
}

// watchProgress ends a rank that exceeds StallLimit without a call, and all ranks when the context
// is done. It interrupts a thread that keeps the other threads of its rank from running.
func (p *Program) watchProgress(ctx context.Context, ended <-chan struct{}) {
	every := 100 * time.Millisecond
	if p.StallLimit > 0 {
		every = max(min(every, p.StallLimit/10), time.Millisecond)
	}
	if p.startsThreads {
		every = min(every, threadTurn)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last *C.struct_host_rank
	var times C.int64_t
	since := time.Now()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		var h *C.struct_host_rank
		var n C.int64_t
		if p.arena.cArena != nil {
			h = C.loggp_running(p.arena.cArena, &n)
		}
		if h != last || n != times {
			last, times, since = h, n, time.Now()
		}
		switch {
		case h == nil:
		case ctx.Err() != nil || p.StallLimit > 0 && time.Since(since) > p.StallLimit:
			C.loggp_interrupt(h)
		case h.r.threads > 0 && time.Since(since) >= p.maxThreadTurn():
			C.loggp_interrupt_thread(h)
		}
		p.mu.Unlock()
	}
}

func (p *Program) interruptedShare() float64 {
	lost := float64(p.interruptedNanoseconds.Load())
	if lost == 0 {
		return 0
	}
	return lost / (lost + float64(p.computeNanoseconds.Load()))
}
