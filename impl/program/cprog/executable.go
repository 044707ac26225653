//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// Executables that another compiler has linked to the library of the MPI standard ABI. Each rank
// loads a private copy of the executable and of our library with that name. The copy is changed so
// that the loader accepts it. The flag of an executable is removed. Its constructors are run later,
// at the start of the rank. Its copies of library variables are initialized after loading, because
// the loader would find the copy itself.

// executable is such a program.
type executable struct {
	cExecutable *C.struct_loggp_executable // in C memory, because ranks keep a pointer to it
}

// abiLibraryPrefix is the start of the names of libraries for the standard ABI.
const abiLibraryPrefix = "libmpi_abi.so"

// prepareExecutable changes the image of an executable, and returns what ranks need to start it.
func prepareExecutable(path string, f *elf.File, image []byte) (*executable, error) {
	cannot := func(why string) error {
		return fmt.Errorf("%s cannot be run as it is: %s; compile it with 'loggp cc', 'loggp c++' or 'loggp fc'", path, why)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return nil, cannot(err.Error())
	}
	for _, l := range libraries {
		switch {
		case strings.HasPrefix(l, "libstdc++."), strings.HasPrefix(l, "libc++."):
			return nil, cannot("all ranks would share the library of C++")
		case strings.HasPrefix(l, "libgfortran."):
			return nil, cannot("all ranks would share the library of Fortran")
		}
	}
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_TLS }) {
		return nil, cannot("it has variables of threads, of which there is one set for each process")
	}
	e := &executable{cExecutable: (*C.struct_loggp_executable)(C.calloc(1, C.size_t(unsafe.Sizeof(C.struct_loggp_executable{}))))}
	e.cExecutable.entry = C.uint64_t(f.Entry)
	if err := e.rewriteDynamicSection(f, image); err != nil {
		return nil, cannot(err.Error())
	}
	if err := e.removeCopyRelocations(f, image); err != nil {
		return nil, cannot(err.Error())
	}
	return e, nil
}

func isABILibrary(name string) bool { return strings.HasPrefix(name, abiLibraryPrefix) }

// fileOffset returns the position in the file of an address.
func fileOffset(f *elf.File, address uint64) (uint64, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return p.Off + address - p.Vaddr, nil
		}
	}
	return 0, fmt.Errorf("address %#x is not in the file", address)
}

// dynamicEntries calls found for each entry of the dynamic section, with the place of its value.
func dynamicEntries(f *elf.File, image []byte, found func(tag elf.DynTag, value []byte)) error {
	for _, p := range f.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		if p.Off+p.Filesz > uint64(len(image)) {
			return errors.New("its dynamic section is cut off")
		}
		for entry := range slices.Chunk(image[p.Off:p.Off+p.Filesz], 16) {
			if len(entry) == 16 {
				found(elf.DynTag(binary.LittleEndian.Uint64(entry)), entry[8:])
			}
		}
	}
	return nil
}

// rewriteDynamicSection removes the flag of an executable, and saves and removes the tables of
// constructors and destructors.
func (e *executable) rewriteDynamicSection(f *elf.File, image []byte) error {
	const isExecutable = 0x08000000 // DF_1_PIE
	return dynamicEntries(f, image, func(tag elf.DynTag, value []byte) {
		x := binary.LittleEndian.Uint64(value)
		switch tag {
		case elf.DT_FLAGS_1:
			binary.LittleEndian.PutUint64(value, x&^isExecutable)
		case elf.DT_INIT_ARRAY:
			e.cExecutable.constructors = C.uint64_t(x)
		case elf.DT_FINI_ARRAY:
			e.cExecutable.destructors = C.uint64_t(x)
		case elf.DT_INIT_ARRAYSZ:
			e.cExecutable.constructors_size = C.int64_t(x / 8)
			binary.LittleEndian.PutUint64(value, 0)
		case elf.DT_FINI_ARRAYSZ:
			e.cExecutable.destructors_size = C.int64_t(x / 8)
			binary.LittleEndian.PutUint64(value, 0)
		}
	})
}

// removeCopyRelocations saves and removes the relocations that copy variables of libraries.
func (e *executable) removeCopyRelocations(f *elf.File, image []byte) error {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return err
	}
	var table, size uint64
	if err := dynamicEntries(f, image, func(tag elf.DynTag, value []byte) {
		switch tag {
		case elf.DT_RELA:
			table = binary.LittleEndian.Uint64(value)
		case elf.DT_RELASZ:
			size = binary.LittleEndian.Uint64(value)
		}
	}); err != nil || size == 0 {
		return err
	}
	at, err := fileOffset(f, table)
	if err != nil || at+size > uint64(len(image)) {
		return errors.Join(err, errors.New("its relocations are cut off"))
	}
	copies := map[elf.Machine]uint32{elf.EM_X86_64: uint32(elf.R_X86_64_COPY), elf.EM_AARCH64: uint32(elf.R_AARCH64_COPY)}[f.Machine]
	var all []C.struct_loggp_copy
	for r := range slices.Chunk(image[at:at+size], 24) {
		if len(r) < 24 || binary.LittleEndian.Uint32(r[8:]) != copies {
			continue
		}
		number := binary.LittleEndian.Uint32(r[12:])
		if number == 0 || int(number) > len(symbols) {
			return errors.New("a relocation of it names no variable")
		}
		s := symbols[number-1]
		all = append(all, C.struct_loggp_copy{at: C.uint64_t(binary.LittleEndian.Uint64(r)), size: C.uint64_t(s.Size), name: C.CString(s.Name)})
		binary.LittleEndian.PutUint64(r[8:], 0) // R_*_NONE: no relocation
	}
	if len(all) == 0 {
		return nil
	}
	e.cExecutable.copies_size = C.int64_t(len(all))
	e.cExecutable.copies = (*C.struct_loggp_copy)(C.calloc(C.size_t(len(all)), C.size_t(unsafe.Sizeof(all[0]))))
	copy(unsafe.Slice(e.cExecutable.copies, len(all)), all)
	return nil
}
