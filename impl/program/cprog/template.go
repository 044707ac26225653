//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// template is a program that the loader loads once, and from which the ranks' copies are made in
// memory. The loader itself takes longer for each further copy, and each takes several mappings.
type template struct {
	file                       []byte // the file, changed so that the loader runs no constructors and destructors
	dynamicAddress             uint64 // relative to the load address, like all addresses
	dynamic                    []byte // the original dynamic section
	readOnlyBytes, memoryBytes uint64 // size in whole pages: up to the first variable, and in total

	relocations       []uint64 // addresses to relocate; with bit relative set: relative to the program
	initFunction      uint64   // a function to call first, and a table of such functions
	constructors      uint64
	constructorsCount uint64
}

const relativeRelocation = 1 << 63

// newTemplate returns the template of a program. It returns nil if only the loader can make copies,
// because it registers thread-local variables and exception tables.
func newTemplate(f *elf.File, image []byte) *template {
	libraries, err := f.ImportedLibraries()
	unwinds := slices.ContainsFunc(libraries, func(l string) bool { return strings.HasPrefix(l, "libgcc_s.") })
	if err != nil || unwinds {
		return nil
	}
	t := &template{}
	page := uint64(os.Getpagesize())
	var written uint64 // start of the writable part
	for _, p := range f.Progs {
		switch {
		case p.Type == elf.PT_TLS, p.Type == elf.PT_LOAD && p.Align > C.guard, p.Off+p.Filesz > uint64(len(image)):
			return nil
		case p.Type == elf.PT_DYNAMIC:
			t.dynamicAddress, t.dynamic = p.Vaddr, image[p.Off:p.Off+p.Filesz]
		case p.Type != elf.PT_LOAD:
		case p.Flags&elf.PF_W == 0 && written > 0: // variables come last
			return nil
		case p.Flags&elf.PF_W != 0 && written == 0:
			written = p.Vaddr
			fallthrough
		default:
			if written == 0 {
				t.readOnlyBytes = max(t.readOnlyBytes, p.Vaddr+p.Memsz)
			}
			t.memoryBytes = max(t.memoryBytes, p.Vaddr+p.Memsz)
		}
	}
	t.readOnlyBytes, t.memoryBytes = (t.readOnlyBytes+page-1)&-page, (t.memoryBytes+C.guard-1)&^(C.guard-1)
	if t.dynamicAddress < t.readOnlyBytes || t.dynamicAddress+uint64(len(t.dynamic)) > t.memoryBytes || written < t.readOnlyBytes || t.memoryBytes > 1<<40 {
		return nil
	}
	if t.readDynamic(f, image) != nil {
		return nil
	}
	return t
}

var errNoTemplate = errors.New("cprog: copies need the loader")

// readDynamic reads the dynamic section, and removes constructors and destructors from the file.
func (t *template) readDynamic(f *elf.File, image []byte) error {
	t.file = slices.Clone(image)
	values := map[elf.DynTag]uint64{}
	if err := dynamicEntries(f, t.file, func(tag elf.DynTag, value []byte) {
		values[tag] = binary.LittleEndian.Uint64(value)
	}); err != nil {
		return err
	}
	if _, changesCode := values[elf.DT_TEXTREL]; changesCode || elf.DynFlag(values[elf.DT_FLAGS])&elf.DF_TEXTREL != 0 {
		return errNoTemplate
	}
	t.initFunction, t.constructors, t.constructorsCount = values[elf.DT_INIT], values[elf.DT_INIT_ARRAY], values[elf.DT_INIT_ARRAYSZ]/8
	if t.initFunction >= t.memoryBytes || t.constructors >= t.memoryBytes || t.constructorsCount > (t.memoryBytes-t.constructors)/8 {
		return errNoTemplate
	}
	for _, table := range [][2]elf.DynTag{{elf.DT_RELA, elf.DT_RELASZ}, {elf.DT_JMPREL, elf.DT_PLTRELSZ}} {
		b, err := readTable(f, image, values[table[0]], values[table[1]])
		if err != nil {
			return err
		}
		for r := range slices.Chunk(b, 24) {
			if len(r) == 24 {
				t.addRelocation(binary.LittleEndian.Uint64(r), isRelative(binary.LittleEndian.Uint32(r[8:])))
			}
		}
	}
	packed, err := readTable(f, image, values[dtRELR], values[dtRELRSZ])
	if err != nil {
		return err
	}
	t.addPackedRelocations(packed)
	for _, r := range t.relocations {
		if at := r &^ relativeRelocation; at < t.readOnlyBytes || at > t.memoryBytes-8 {
			return errNoTemplate
		}
	}
	return t.removeConstructors(f)
}

// removeConstructors changes the file so that the loader calls none of its functions.
func (t *template) removeConstructors(f *elf.File) error {
	for _, p := range f.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		for entry := range slices.Chunk(t.file[p.Off:p.Off+p.Filesz], 16) {
			if len(entry) < 16 {
				continue
			}
			switch elf.DynTag(binary.LittleEndian.Uint64(entry)) {
			case elf.DT_INIT, elf.DT_FINI:
				binary.LittleEndian.PutUint64(entry, uint64(elf.DT_DEBUG)) // ignored in a library
			case elf.DT_INIT_ARRAYSZ, elf.DT_FINI_ARRAYSZ:
				binary.LittleEndian.PutUint64(entry[8:], 0)
			}
		}
	}
	return nil
}

// Tags of the packed relocation table (RELR), for which package elf has no names.
const (
	dtRELRSZ elf.DynTag = 35
	dtRELR   elf.DynTag = 36
)

// readTable returns a table of the file.
func readTable(f *elf.File, image []byte, address, size uint64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	at, err := fileOffset(f, address)
	if err != nil {
		return nil, err
	}
	if at > uint64(len(image)) || size > uint64(len(image))-at {
		return nil, errNoTemplate
	}
	return image[at : at+size], nil
}

func isRelative(kind uint32) bool {
	if runtime.GOARCH == "arm64" {
		return kind == uint32(elf.R_AARCH64_RELATIVE) || kind == uint32(elf.R_AARCH64_IRELATIVE)
	}
	return kind == uint32(elf.R_X86_64_RELATIVE) || kind == uint32(elf.R_X86_64_IRELATIVE)
}

func (t *template) addRelocation(at uint64, isRelative bool) {
	if isRelative {
		at |= relativeRelocation
	}
	t.relocations = append(t.relocations, at)
}

// addPackedRelocations adds the relocations of a RELR table: addresses, each followed by bit maps
// of the words after it.
func (t *template) addPackedRelocations(table []byte) {
	var next uint64
	for b := range slices.Chunk(table, 8) {
		if len(b) < 8 {
			return
		}
		word := binary.LittleEndian.Uint64(b)
		if word&1 == 0 {
			t.addRelocation(word, true)
			next = word + 8
			continue
		}
		for i, bits := uint64(0), word>>1; bits != 0; i, bits = i+1, bits>>1 {
			if bits&1 != 0 {
				t.addRelocation(next+8*i, true)
			}
		}
		next += 63 * 8
	}
}

// cTemplate returns the template for C. It pins all memory to which the template points.
func (t *template) cTemplate(pin *runtime.Pinner) *C.struct_loggp_template {
	pinned := func(b []byte) *C.char {
		pin.Pin(unsafe.SliceData(b))
		return (*C.char)(unsafe.Pointer(unsafe.SliceData(b)))
	}
	c := &C.struct_loggp_template{
		file: pinned(t.file), file_size: C.uint64_t(len(t.file)),
		image_size: C.uint64_t(t.memoryBytes), fixed_size: C.uint64_t(t.readOnlyBytes),
		dynamic: pinned(t.dynamic), dynamic_at: C.uint64_t(t.dynamicAddress), dynamic_size: C.uint64_t(len(t.dynamic)),
		init: C.uint64_t(t.initFunction), constructors: C.uint64_t(t.constructors), constructors_size: C.uint64_t(t.constructorsCount),
		relocations_size: C.uint64_t(len(t.relocations)),
	}
	if len(t.relocations) > 0 {
		pin.Pin(unsafe.SliceData(t.relocations))
		c.relocations = (*C.uint64_t)(unsafe.SliceData(t.relocations))
	}
	return c
}
