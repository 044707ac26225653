//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"debug/dwarf"
	"debug/elf"
	"sync"

	"github.com/loggp/loggp/impl/library/mpi"
)

// sourceLines finds lines of the program's source. It reads debug information when the first error
// needs it.
type sourceLines struct {
	once sync.Once
	data *dwarf.Data // nil: no debug information
}

// siteAt returns the source line at an address in this rank's copies. If the address is a return
// address, it uses the instruction before it.
func (r *rank) siteAt(pc uintptr) mpi.CallSite {
	var copies *C.struct_host_copy
	if r.hostRank != nil { // the rank has not ended
		copies = r.hostRank.copies
	}
	for c := copies; c != nil; c = c.next {
		if at := pc - uintptr(c.image.base); at < uintptr(c.image.size) && c.number > C.loggp_program_number {
			x := r.program.libraries.library(int(c.number))
			return x.sourceLines.siteOf(x.path, uint64(at)-1)
		}
	}
	if pc < r.loadAddress {
		return mpi.CallSite{}
	}
	return r.program.sourceLines.siteOf(r.program.Path, uint64(pc-r.loadAddress)-1)
}

func (l *sourceLines) siteOf(path string, pc uint64) mpi.CallSite {
	l.once.Do(func() {
		f, err := elf.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		l.data, _ = f.DWARF()
	})
	if l.data == nil {
		return mpi.CallSite{}
	}
	unit, err := l.data.Reader().SeekPC(pc)
	if err != nil {
		return mpi.CallSite{}
	}
	table, err := l.data.LineReader(unit)
	if err != nil || table == nil {
		return mpi.CallSite{}
	}
	var at dwarf.LineEntry
	if err := table.SeekPC(pc, &at); err != nil {
		return mpi.CallSite{}
	}
	return mpi.CallSite{File: at.File.Name, Line: at.Line}
}
