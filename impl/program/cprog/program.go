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
	image    []byte      // the file
	template *template   // that ranks have copies of; nil: the loader makes them
	other    *executable // what is loaded beside a program that another compiler has linked; nil: it is one of ours
	lines    lines       // of its source
	name     string

	mu           sync.Mutex
	status       *mpi.AbortError // of the first rank that ended with a status other than 0 after MPI_Finalize
	lost         error           // why output was not written
	arena        arena
	begun        time.Time
	computed     atomic.Int64  // processor time that was charged as computing, in nanoseconds
	interrupted  atomic.Int64  // time in which computing ranks had no processor
	lastProgress atomic.Int64  // when a rank did something else than to poll in vain, in nanoseconds since the begin
	ended        chan struct{} // closed when nothing is to be watched any more; nil: nothing is watched
	dead         bool          // a rank has died: the heap may be broken, and nothing of C's is freed

	first   *Program // with which the job has begun; nil: this one
	started startedPrograms

	hasOtherThreads bool // libraries such as OpenMP's start threads, which do not run in turn
	startsThreads   bool // they may use their copy of the program, and the stack, when the rank has ended
}

// prepare installs the handlers of signals.
var prepare = sync.OnceValue(func() error {
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
	if p.Stack == 0 {
		p.Stack = UsualStack
	}
	if err := prepare(); err != nil {
		return nil, err
	}
	if p.Compute.Rate > 0 {
		p.Compute.Factor = float64(C.loggp_cycles_a_second()) / p.Compute.Rate
	}
	p.begun = time.Now()
	if p.Limit > 0 || p.Context != nil {
		ctx := p.Context
		if ctx == nil {
			ctx = context.Background()
		}
		p.ended = make(chan struct{})
		go p.watch(ctx, p.ended)
	}
	return p.rank, nil
}

func (p *Program) exitStatus() error {
	if p.status == nil {
		return nil
	}
	return p.status
}

func (p *Program) close() {
	if p.ended != nil {
		close(p.ended)
		p.ended = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arena.release()
}

// prepareImage makes of a program's file what ranks load: the part without symbols and debug
// information, which follow it. It notes whether the program can start threads. It is an error if
// the file is neither a program of loggp cc nor an executable for the MPI standard ABI.
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
		switch other := slices.IndexFunc(libraries, func(l string) bool { return strings.HasPrefix(l, "libmpi") }); {
		case slices.ContainsFunc(libraries, isABILibrary) && f.Type == elf.ET_DYN:
			ctx := p.Context
			if ctx == nil {
				ctx = context.Background()
			}
			if p.other, err = prepareExecutable(ctx, p.Path, f, p.image); err != nil {
				return err
			}
		case slices.ContainsFunc(libraries, isABILibrary):
			return fmt.Errorf("%s cannot be run as it is: it is not position-independent; link it with -pie, or compile it with 'loggp cc'", p.Path)
		case other >= 0:
			return fmt.Errorf("%s is linked to %s, whose binary interface is its own: compile it with 'loggp cc', or link it to %s, the library of the MPI standard ABI", p.Path, libraries[other], toolchain.ABILibrary)
		default:
			return advice
		}
	}
	p.startsThreads = slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return s.Section == elf.SHN_UNDEF && (s.Name == "pthread_create" || s.Name == "thrd_create" || s.Name == "pthread_getattr_default_np") // the last one is in threads.c
	}) || slices.ContainsFunc(libraries, func(name string) bool {
		return !slices.ContainsFunc([]string{"libc.", "libm.", "libmvec.", "libgcc_s.", "libdl.", "libquadmath.", "libstdc++.", "ld-linux", abiLibraryPrefix}, func(usual string) bool { return strings.HasPrefix(name, usual) })
	})
	p.hasOtherThreads = slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "thrd_create" }) || slices.ContainsFunc(libraries, func(name string) bool {
		return slices.ContainsFunc([]string{"libgomp.", "libomp.", "libiomp5."}, func(known string) bool { return strings.HasPrefix(name, known) })
	})
	var end uint64
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD {
			end = max(end, s.Off+s.Filesz)
		}
	}
	p.image = p.image[:min(end, uint64(len(p.image)))]
	if p.other == nil && !p.startsThreads {
		p.template = newTemplate(f, p.image)
	}
	return nil
}

// rank is the program of a rank with which the job begins.
func (p *Program) rank(c *mpi.Comm) error { return p.runProgram(c, nil) }

// runProgram runs the program in a rank. The origin is nil where no other program has started it.
func (p *Program) runProgram(c *mpi.Comm, o *origin) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a wrong buffer is an error of this rank
	var statuses *mpi.Comm                                   // tells rank 0 of statuses in other processes
	if p.Real && o == nil {
		statuses = c.Dup()
	}
	r, err := p.newRank(c, o)
	if err != nil {
		return fmt.Errorf("rank %d of %s: %w", c.JobRank(), p.name, err)
	}
	if err := p.runRank(r); err != nil {
		if e, ok := err.(*mpi.AbortError); ok {
			panic(e) // as MPI_Abort does: so the code goes to the process of rank 0
		}
		return err
	}
	switch first := p.firstProgram(); {
	case statuses != nil:
		p.gatherStatuses(r, statuses)
	case r.status == 0:
	case p.Real: // rank 0 may have ended, and knows statuses of its own group only
		panic(statusError(c.JobRank(), r.status, -1))
	case first.status == nil || c.JobRank() < first.status.Rank:
		first.status = statusError(c.JobRank(), r.status, -1)
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
		case endInCallback:
			ended, err = v.err == nil, v.err
		case runtime.Error, addressError, string:
			err = r.overwrittenError(v)
		default:
			defer panic(v)
		}
		r.flush(true)
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case !ended || p.dead:
			p.dead = true
		case !p.startsThreads:
			if C.loggp_delete(r.h) == 0 {
				p.dead, err = true, r.crashError()
			}
			r.h = nil
			p.arena.released++
		}
		if err == nil && p.lost != nil && ended {
			err = &mpi.AbortError{Rank: r.world.JobRank(), Code: 1, Reason: fmt.Sprintf("output is lost: %v", p.lost)}
		}
	}()
	err = r.run()
	ended = err == nil
	return err
}

// gatherStatuses tells the process of rank 0 with which status each rank has ended.
func (p *Program) gatherStatuses(r *rank, c *mpi.Comm) {
	all := make([]int32, c.Size())
	mpi.Gather(c, []int32{int32(r.status)}, all, 0)
	for i, status := range all {
		if c.Rank() == 0 && status != 0 && p.status == nil {
			p.status = statusError(i, int(status), -1)
		}
	}
}

// newRank loads a copy of the program.
func (p *Program) newRank(c *mpi.Comm, o *origin) (*rank, error) {
	index, before, err := p.arena.place(p, c)
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
	h, err := C.loggp_new(p.arena.c, C.uint64_t(index), C.int64_t(toolchain.Version()), C.int64_t(c.Rank()), C.int(len(p.Arguments)+1), (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), C.uint64_t(len(text)), reads, measure)
	if h == nil {
		return nil, fmt.Errorf("no memory for a stack of %d bytes: %w", p.Stack, err)
	}
	c.StoreErrorsInStatus()
	r := &rank{p: p, h: h, world: c}
	if err := r.load(); err != nil {
		return nil, err
	}
	if p.startsThreads && !p.Real { // where ranks are processes, each has a thread already
		if err := r.startThread(); err != nil {
			return nil, err
		}
	}
	if err := p.arena.noteMappings(before); err != nil {
		return nil, err
	}
	r.base = uintptr(h.base)
	r.setup()
	r.setOrigin(o)
	return r, nil
}

// load loads a private copy of the program.
func (r *rank) load() error {
	var pin runtime.Pinner
	defer pin.Unpin()
	image := func(b []byte) C.struct_loggp_image {
		pin.Pin(unsafe.SliceData(b))
		return C.struct_loggp_image{bytes: (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), size: C.uint64_t(len(b)), name_size: C.uint64_t(len(toolchain.ABILibrary) + 1)}
	}
	program, library := image(r.p.image), C.struct_loggp_image{}
	var other *C.struct_loggp_executable
	if e := r.p.other; e != nil {
		library, other = image(e.library), e.c
		program.name_at, library.name_at = e.nameAt[0], e.nameAt[1]
	}
	text := C.loggp_load(r.h, &program, &library, other)
	switch {
	case text != nil:
		return r.p.loadError(C.GoString(text))
	case r.h.r.event == C.LOGGP_SIGNAL:
		return fmt.Errorf("loading %s: in a constructor, or as another rank has overwritten the memory of the C library: %w", r.p.Path, r.crashError())
	}
	return nil
}

// startThread starts a thread in which the rank runs, unless it has one.
func (r *rank) startThread() error {
	if e := C.loggp_start_thread(r.h); e != 0 {
		return fmt.Errorf("starting a thread: %w", syscall.Errno(e))
	}
	return nil
}

// write writes output of a rank.
func (p *Program) write(fd int, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.Stdout
	if fd == 2 {
		w = p.Stderr
	}
	if w == nil {
		w = io.Discard
	}
	if _, err := w.Write(text); err != nil && p.lost == nil { // programs ignore it
		p.lost = err
	}
}

// watch ends a rank that runs for longer than the limit without a call, and whatever runs when the
// context is done.
func (p *Program) watch(ctx context.Context, ended <-chan struct{}) {
	every := 100 * time.Millisecond
	if p.Limit > 0 {
		every = max(min(every, p.Limit/10), time.Millisecond)
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
		if p.arena.c != nil {
			h = C.loggp_running(p.arena.c, &n)
		}
		if h != last || n != times {
			last, times, since = h, n, time.Now()
		}
		if h != nil && (ctx.Err() != nil || p.Limit > 0 && time.Since(since) > p.Limit) {
			C.loggp_interrupt(h)
		}
		p.mu.Unlock()
	}
}

func (p *Program) interruptedShare() float64 {
	lost := float64(p.interrupted.Load())
	if lost == 0 {
		return 0
	}
	return lost / (lost + float64(p.computed.Load()))
}
