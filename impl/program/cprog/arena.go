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

// arena is the memory of all ranks in this process.
type arena struct {
	cArena        *C.struct_host_arena
	ranks         int
	arguments     []byte // the command-line arguments of a rank, each with its terminating NUL
	placedRanks   int    // number of ranks that have been given memory
	releasedRanks int    // number of ranks that no longer need their memory
	sharesCode    bool   // each rank maps the code of the program; otherwise ranks have copies of it
	mappingsKnown bool   // the process is known to be allowed enough mappings
}

// placeRank returns the index of a rank among those in this process. It also returns the number of
// mappings of the process, if the number per rank is not yet known. The first call reserves the
// memory of all ranks.
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

// reserve reserves the memory of a number of ranks, once. It fails if the system has less memory
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
	sharesText, guardMappings, copied := C.int(0), C.int(0), p.libraries.imageBytes()
	if guardsSplitMappings() {
		guardMappings = 1
	}
	if p.template != nil {
		each := 2 * int(guardMappings) // mappings per rank
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

// guardsSplitMappings reports whether a guard page divides its mapping, as it does before Linux
// 6.13.
var guardsSplitMappings = sync.OnceValue(func() bool { return C.loggp_guards_are_mappings() != 0 })

// release frees the memory of all ranks if no rank needs it any more.
func (a *arena) release() {
	if a.cArena != nil && a.releasedRanks == a.placedRanks {
		C.loggp_unreserve(a.cArena)
		a.cArena = nil
	}
}

// minBytesPerRank is the smallest memory of a rank in addition to its copy of the program: three
// pages of stack and one of page tables, the streams of the C library, and the state that this
// package and package mpi keep.
const minBytesPerRank = 40 << 10

// checkMemory returns an error if ranks, with a number of bytes each, need more memory than is
// available.
func (p *Program) checkMemory(ranks, each int) error {
	need, available := int64(ranks)*int64(each), p.availableMemory()
	if available < 0 || need <= available {
		return nil
	}
	return fmt.Errorf("%d ranks of the program take at least %s of memory, and %s are available: use fewer ranks, or a machine with more memory",
		ranks, unit.Bytes(int(need>>20<<20)), unit.Bytes(int(available>>20<<20)))
}

// spareMappings is the number of memory mappings left to the rest of the process. Without any, Go's
// own memory cannot grow.
var spareMappings = 2000

// checkMappings returns an error if the process may not have enough mappings for ranks that use a
// number of them each.
func checkMappings(ranks, each int) error {
	limit, err := maxMappings()
	used, failed := countMappings()
	if errors.Join(err, failed) != nil {
		return nil // if the limit is unknown, allocation fails later
	}
	if need := used + ranks*each + spareMappings; need > limit {
		return fmt.Errorf("%d ranks take %d memory mappings, and a process may have %d: use fewer ranks, or allow it more by 'sysctl vm.max_map_count=%d'",
			ranks, need, limit, need)
	}
	return nil
}

// maxMappings returns the maximum number of memory mappings of a process.
func maxMappings() (int, error) {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// checkMappingsPerRank is called when the first rank has all its mappings. before is the number of
// mappings before that. It returns an error if the process may not have as many for each other
// rank.
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

// countMappings returns the number of memory mappings of this process.
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

// loadError returns the error of a program that cannot be loaded, with the reason that the C code
// gives.
func (p *Program) loadError(reason string) error {
	if _, missing, ok := strings.Cut(reason, "undefined symbol: "); ok {
		reason = "it calls " + missing + ", which loggp does not provide"
	}
	return fmt.Errorf("loading %s: %s", p.Path, reason)
}
