//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"debug/dwarf"
	"debug/elf"
	"sync"

	"github.com/loggp/loggp/impl/library/mpi"
)

// lines finds the lines of a program's source. They are read when the first error needs them.
type lines struct {
	once sync.Once
	data *dwarf.Data // nil: the program has no debug information
}

// site returns the line of the program at an address of this rank's copy, less one if it is where a
// call returns to.
func (r *rank) site(pc uintptr) mpi.CallSite {
	if pc < r.base {
		return mpi.CallSite{}
	}
	return r.p.lines.of(r.p.Path, uint64(pc-r.base)-1)
}

func (l *lines) of(path string, pc uint64) mpi.CallSite {
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
