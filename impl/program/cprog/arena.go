//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// arena is the memory of the ranks in this process.
type arena struct {
	cArena        *C.struct_host_arena
	ranks         int
	arguments     []byte // of each rank, each with its end
	placedRanks   int    // ranks that have their memory
	releasedRanks int    // ranks that no longer need it
	sharesCode    bool   // each rank maps the code of the program, where others have copies of it
	mappingsKnown bool   // the process may have enough mappings
}

// placeRank returns which of the ranks in this process a rank is, and how many mappings the process
// has if the ranks' mappings are not yet known. The first one reserves the memory of all.
func (a *arena) placeRank(p *Program, c *mpi.Comm) (index, mappings int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ranks := 1
	if !p.RanksAreProcesses {
		index, ranks = c.Rank(), c.Size()
	}
	if err := a.reserve(p, ranks); err != nil {
		return 0, 0, err
	}
	a.placedRanks++
	if !a.mappingsKnown {
		mappings, _ = countMappings()
	}
	return index, mappings, nil
}

func (p *Program) reserveRanks(ranks int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arena.reserve(p, ranks)
}

// reserve reserves the memory of a number of ranks, once. It is an error if the system has less
// than they need.
func (a *arena) reserve(p *Program, ranks int) error {
	if a.cArena != nil {
		return nil
	}
	a.ranks = ranks
	words := append([]string{p.Path}, p.Arguments...)
	a.arguments = []byte(strings.Join(words, "\x00") + "\x00")
	stack := p.StackBytes + (len(words)+1)*int(unsafe.Sizeof(uintptr(0))) + len(a.arguments)
	var pin runtime.Pinner
	defer pin.Unpin()
	var t *C.struct_loggp_template
	sharesText, guardMappings, copied := C.int(0), C.int(0), len(p.image)
	if guardsSplitMappings() {
		guardMappings = 1
	}
	if p.template != nil {
		each := 2 * int(guardMappings) // mappings of a rank
		if checkMappings(ranks, each+2) == nil {
			sharesText, each, copied = 1, each+2, max(0, copied-int(p.template.readOnlyBytes))
		}
		if err := checkMappings(ranks, each); err != nil {
			return err
		}
		a.mappingsKnown = true
		t = p.template.cTemplate(&pin)
	}
	if err := p.checkMemory(ranks, copied+minBytesPerRank); err != nil {
		return err
	}
	a.sharesCode = sharesText != 0
	var failure *C.char
	a.cArena = C.loggp_reserve(C.uint64_t(ranks), C.uint64_t(unsafe.Sizeof(C.struct_host_rank{})), C.uint64_t(stack), t, sharesText, guardMappings, &failure)
	switch {
	case a.cArena != nil:
		return nil
	case C.GoString(failure) == C.GoString(C.strerror(C.ENOMEM)):
		return fmt.Errorf("%d ranks, each with a stack of %s, take more address space than the system gives (ulimit -v, vm.overcommit_memory): use a smaller --stack, or fewer ranks",
			ranks, unit.Bytes(p.StackBytes))
	}
	return p.loadError(C.GoString(failure))
}

// guardsSplitMappings reports whether a guard divides the mapping that it is in, as it does before
// Linux 6.13.
var guardsSplitMappings = sync.OnceValue(func() bool { return C.loggp_guards_are_mappings() != 0 })

// release frees the memory of all ranks, if none needs it.
func (a *arena) release() {
	if a.cArena != nil && a.releasedRanks == a.placedRanks {
		C.loggp_unreserve(a.cArena)
		a.cArena = nil
	}
}

// minBytesPerRank is the least memory that a rank takes beside its copy of the program: three pages
// of its stack and one of page tables, the streams of the C library, and what this package and the
// library of MPI know of it.
const minBytesPerRank = 40 << 10

// checkMemory returns an error if ranks take more memory than is available, each so many bytes.
func (p *Program) checkMemory(ranks, each int) error {
	need, available := int64(ranks)*int64(each), p.availableMemory()
	if available < 0 || need <= available {
		return nil
	}
	return fmt.Errorf("%d ranks of the program take at least %s of memory, and %s are available: use fewer ranks, or a machine with more memory",
		ranks, unit.Bytes(int(need>>20<<20)), unit.Bytes(int(available>>20<<20)))
}

// spareMappings is how many memory mappings are left to the process: without any, Go's own memory
// cannot grow.
var spareMappings = 2000

// checkMappings returns an error if the process may not have as many mappings as ranks take, each
// so many of them.
func checkMappings(ranks, each int) error {
	limit, err := maxMappings()
	used, failed := countMappings()
	if errors.Join(err, failed) != nil {
		return nil // it will be seen whether they are enough
	}
	if need := used + ranks*each + spareMappings; need > limit {
		return fmt.Errorf("%d ranks take %d memory mappings, and a process may have %d: use fewer ranks, or allow it more by 'sysctl vm.max_map_count=%d'",
			ranks, need, limit, need)
	}
	return nil
}

// maxMappings returns how many memory mappings a process may have.
func maxMappings() (int, error) {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// checkMappingsPerRank is called when the first rank has got all of its mappings; before is the
// number of mappings before that. It returns an error if the process may not have as many for each
// of the other ranks.
func (a *arena) checkMappingsPerRank(before int) error {
	if a.mappingsKnown || before == 0 {
		return nil
	}
	a.mappingsKnown = true
	after, err := countMappings()
	if err != nil {
		return nil
	}
	return checkMappings(a.ranks-1, max(after-before, 0))
}

// countMappings returns how many memory mappings this process has.
func countMappings() (n int, err error) {
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

// loadError is the error of a program that cannot be loaded, for a reason that C gives.
func (p *Program) loadError(reason string) error {
	if _, missing, ok := strings.Cut(reason, "undefined symbol: "); ok {
		reason = "it calls " + missing + ", which loggp does not provide"
	}
	return fmt.Errorf("loading %s: %s", p.Path, reason)
}
