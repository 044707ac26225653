//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"debug/dwarf"
	"debug/elf"
	"sync"

	"github.com/loggp/loggp/impl/library/mpi"
)

// sourceLines finds the lines of a program's source. They are read when the first error needs them.
type sourceLines struct {
	once sync.Once
	data *dwarf.Data // nil: the program has no debug information
}

// siteAt returns the line of the program at an address of this rank's copy, less one if it is where
// a call returns to.
func (r *rank) siteAt(pc uintptr) mpi.CallSite {
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
