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
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// program is the state that the ranks of a run share.
type program struct {
	image []byte // the file
	lines lines  // of its source
	name  string

	mu     sync.Mutex
	ranks  []*rank
	loaded int           // how many were
	count  int           // how many are to be loaded when mappings are counted next
	ended  chan struct{} // closed when nothing is to be watched any more; nil: nothing is watched
	dead   bool          // a rank has died: the heap may be broken, and nothing of C's is freed
}

// prepare installs the handlers of signals.
var prepare = sync.OnceValue(func() error {
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
	if p.image, err = loadable(p.Path, p.image); err != nil {
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

func (p *Program) close() {
	if p.ended != nil {
		close(p.ended)
		p.ended = nil
	}
}

// loadable returns the part of a program's file that ranks load, without symbols and debug
// information, which follow it. It is an error if the file is not a program of loggp cc.
func loadable(path string, image []byte) ([]byte, error) {
	advice := fmt.Errorf("%s is not a program for loggp run: compile it with 'loggp cc'", path)
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil || f.Type != elf.ET_DYN {
		return nil, advice
	}
	symbols, err := f.DynamicSymbols()
	if err != nil || !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "loggp_start" && s.Section != elf.SHN_UNDEF }) {
		return nil, advice
	}
	var end uint64
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD {
			end = max(end, s.Off+s.Filesz)
		}
	}
	return image[:min(end, uint64(len(image)))], nil
}

// rank is the program of a rank.
func (p *Program) rank(c *mpi.Comm) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a wrong buffer is an error of this rank
	r, err := p.newRank(c)
	if err != nil {
		return fmt.Errorf("rank %d of %s: %w", c.Rank(), p.name, err)
	}
	ended := false
	defer func() {
		r.flush(true)
		if p.mu.Lock(); ended && !p.dead {
			C.loggp_delete(r.h)
			r.h = nil
		} else {
			p.dead = true
		}
		p.mu.Unlock()
	}()
	err = r.run()
	ended = err == nil
	return err
}

// newRank loads a copy of the program.
func (p *Program) newRank(c *mpi.Comm) (*rank, error) {
	if err := p.mapped(c); err != nil {
		return nil, err
	}
	args := append([]string{p.Path}, p.Arguments...)
	argv := unsafe.Slice((**C.char)(C.calloc(C.size_t(len(args)+1), C.size_t(unsafe.Sizeof(uintptr(0))))), len(args)+1)
	for i, a := range args {
		argv[i] = C.CString(a)
	}
	reads := C.int(0)
	if c.Rank() == 0 {
		reads = 1
	}
	measure := C.int(0)
	if p.Compute.Factor > 0 {
		measure = 1
	}
	h, err := C.loggp_new(C.int64_t(toolchain.Version), C.int64_t(c.Rank()), C.uint64_t(p.Stack), C.int(len(args)), &argv[0], reads, measure)
	if h == nil {
		return nil, fmt.Errorf("no memory for a stack of %d bytes: %w", p.Stack, err)
	}
	if err := p.load(h); err != nil {
		return nil, err
	}
	r := &rank{p: p, h: h, base: uintptr(h.base), world: c}
	r.setup()
	p.mu.Lock()
	if p.ranks == nil {
		p.ranks = make([]*rank, c.Size())
	}
	p.ranks[c.Rank()] = r
	p.mu.Unlock()
	return r, nil
}

// load loads a private copy of the program.
func (p *Program) load(h *C.struct_host_rank) error {
	if text := C.loggp_load(h, (*C.char)(unsafe.Pointer(unsafe.SliceData(p.image))), C.uint64_t(len(p.image))); text != nil {
		defer C.free(unsafe.Pointer(text))
		return fmt.Errorf("loading %s: %s", p.Path, C.GoString(text))
	}
	return nil
}

// spareMappings is how many memory mappings are left to the process: without any, Go's own memory
// cannot grow.
var spareMappings = 2000

// mapped returns an error if the ranks that are loaded leave no mappings for one more. It counts
// them less often while there are many.
func (p *Program) mapped(c *mpi.Comm) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loaded++; p.loaded < p.count {
		return nil
	}
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	limit, failed := strconv.Atoi(strings.TrimSpace(string(text)))
	used, wrong := mappings()
	if errors.Join(err, failed, wrong) != nil {
		return nil // it will be seen whether they are enough
	}
	if left := limit - spareMappings - used; left > 0 {
		p.count = p.loaded + 1 + left/32 // a rank takes about seven
		return nil
	}
	each := used/p.loaded + 1
	return fmt.Errorf("%d ranks use %d memory mappings, and a process may have %d: allow it enough for %d ranks by 'sysctl vm.max_map_count=%d'",
		p.loaded-1, used, limit, c.Size(), each*c.Size()+2*spareMappings)
}

// mappings returns how many memory mappings this process has.
func mappings() (n int, err error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := make([]byte, 32<<10)
	for {
		k, err := f.Read(b)
		n += bytes.Count(b[:k], []byte("\n"))
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return 0, err
		}
	}
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
	w.Write(text) // errors are ignored, as programs do
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
	var last *rank
	var times C.int64_t
	since := time.Now()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		r, n := p.runs()
		if r != last || n != times {
			last, times, since = r, n, time.Now()
		}
		if r != nil && (ctx.Err() != nil || p.Limit > 0 && time.Since(since) > p.Limit) {
			C.loggp_interrupt(r.h)
		}
		p.mu.Unlock()
	}
}

// runs returns the rank that runs C code, and how often it was resumed.
func (p *Program) runs() (*rank, C.int64_t) {
	for _, r := range p.ranks {
		if r != nil && r.h != nil {
			if n := C.loggp_running(r.h); n > 0 {
				return r, n
			}
		}
	}
	return nil, 0
}
