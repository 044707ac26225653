//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
)

const (
	pathRoom          = 128      // space for the path of a copy, its NUL included
	headerBytes       = 56       // a program header
	dynamicEntryBytes = 16       // an entry of the dynamic section
	segmentAlignment  = 64 << 10 // the largest page
)

// dynamicEntry is an entry of the dynamic section. If number is not noCopy, its value is the path
// of the rank's copy of a file.
type dynamicEntry struct {
	tag    elf.DynTag
	value  uint64
	number int
}

const noCopy = -1

// rewriteNeeded returns the part of a file that ranks load, changed so that it needs the ranks'
// copies of files: first those with some numbers, then those that it needs under a name in copies.
// A new segment at the end has the program headers, the dynamic section and room for the paths of
// the copies. The file loses its own name, by which the loader would find it for others, and its
// unique symbols become global ones: the loader would give all copies the same variable.
func rewriteNeeded(f *elf.File, image []byte, first []int, copies map[string]int) (out []byte, places []dependency, err error) {
	var fileEnd, addressEnd uint64
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			fileEnd, addressEnd = max(fileEnd, p.Off+p.Filesz), max(addressEnd, p.Vaddr+p.Memsz)
		}
	}
	names, err := f.DynValue(elf.DT_STRTAB)
	if err != nil || len(names) != 1 || fileEnd > uint64(len(image)) {
		return nil, nil, errors.New("its segments or its table of names are not in the file")
	}
	namesAt, err := fileOffset(f, names[0])
	if err != nil {
		return nil, nil, err
	}
	out = bytes.Clone(image[:fileEnd])
	nameOf := func(offset uint64) string {
		b := out[min(namesAt+offset, fileEnd):]
		return string(b[:max(bytes.IndexByte(b, 0), 0)])
	}
	entries, err := neededEntries(f, out, first, copies, nameOf)
	if err != nil {
		return nil, nil, err
	}
	at, address := (fileEnd+segmentAlignment-1)&^(segmentAlignment-1), (addressEnd+segmentAlignment-1)&^(segmentAlignment-1)
	headersSize, dynamicSize := uint64(len(f.Progs)+1)*headerBytes, uint64(len(entries)*dynamicEntryBytes)
	pathsAt := headersSize + dynamicSize
	pathOffsets := map[int]uint64{} // from the table of names
	for _, e := range entries {
		if e.number != noCopy {
			n := pathsAt + uint64(len(places))*pathRoom
			places = append(places, dependency{at + n, e.number})
			pathOffsets[e.number] = address + n - names[0]
		}
	}
	if err := changeSymbols(f, out, copies, nameOf, pathOffsets); err != nil {
		return nil, nil, err
	}
	segment := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: at, Vaddr: address, Paddr: address, Align: segmentAlignment}
	segment.Filesz = pathsAt + uint64(len(places))*pathRoom
	segment.Memsz = segment.Filesz
	out = append(out, make([]byte, at-fileEnd)...)
	for _, p := range f.Progs {
		h := elf.Prog64{Type: uint32(p.Type), Flags: uint32(p.Flags), Off: p.Off, Vaddr: p.Vaddr, Paddr: p.Paddr, Filesz: p.Filesz, Memsz: p.Memsz, Align: p.Align}
		switch p.Type {
		case elf.PT_PHDR:
			h.Off, h.Vaddr, h.Paddr, h.Filesz, h.Memsz = at, address, address, headersSize, headersSize
		case elf.PT_DYNAMIC:
			h.Off, h.Vaddr, h.Paddr, h.Filesz, h.Memsz = at+headersSize, address+headersSize, address+headersSize, dynamicSize, dynamicSize
		}
		out, _ = binary.Append(out, binary.LittleEndian, h)
	}
	out, _ = binary.Append(out, binary.LittleEndian, segment)
	for _, e := range entries {
		if e.number != noCopy {
			e.value = pathOffsets[e.number]
		}
		out = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(out, uint64(e.tag)), e.value)
	}
	out = append(out, make([]byte, len(places)*pathRoom)...)

	var header elf.Header64
	n, err := binary.Decode(out, binary.LittleEndian, &header)
	if err != nil {
		return nil, nil, err
	}
	header.Phoff, header.Phnum = at, uint16(len(f.Progs)+1)
	header.Shoff, header.Shnum, header.Shstrndx = 0, 0, 0 // they are cut off
	_, err = binary.Encode(out[:n], binary.LittleEndian, header)
	return out, places, err
}

// neededEntries returns the entries of the new dynamic section.
func neededEntries(f *elf.File, image []byte, first []int, copies map[string]int, nameOf func(uint64) string) (entries []dynamicEntry, err error) {
	addCopy := func(number int) {
		if !slices.ContainsFunc(entries, func(e dynamicEntry) bool { return e.number == number }) {
			entries = append(entries, dynamicEntry{elf.DT_NEEDED, 0, number})
		}
	}
	for _, number := range first {
		addCopy(number)
	}
	ended := false
	err = dynamicEntries(f, image, func(tag elf.DynTag, b []byte) {
		value := binary.LittleEndian.Uint64(b)
		number, ok := 0, false
		if tag == elf.DT_NEEDED {
			number, ok = copies[nameOf(value)]
		}
		switch {
		case ended, tag == elf.DT_SONAME:
		case ok:
			addCopy(number)
		default:
			entries = append(entries, dynamicEntry{tag, value, noCopy})
			ended = tag == elf.DT_NULL
		}
	})
	if err == nil && !ended {
		err = errors.New("its dynamic section has no end")
	}
	return entries, err
}

// changeSymbols makes unique symbols global, and lets the versions of symbols name the copies.
func changeSymbols(f *elf.File, image []byte, copies map[string]int, nameOf func(uint64) string, pathOffsets map[int]uint64) error {
	values := map[elf.DynTag]uint64{}
	if err := dynamicEntries(f, image, func(tag elf.DynTag, b []byte) { values[tag] = binary.LittleEndian.Uint64(b) }); err != nil {
		return err
	}
	symbols, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	if len(symbols) > 0 {
		const unique = 10 // STB_GNU_UNIQUE
		at, err := fileOffset(f, values[elf.DT_SYMTAB])
		if err != nil || at+uint64(len(symbols)+1)*elf.Sym64Size > uint64(len(image)) {
			return errors.Join(err, errors.New("its table of symbols is cut off"))
		}
		for i := range symbols {
			if info := &image[at+uint64(i+1)*elf.Sym64Size+4]; elf.ST_BIND(*info) == unique {
				*info = elf.ST_INFO(elf.STB_GLOBAL, elf.ST_TYPE(*info))
			}
		}
	}
	if values[elf.DT_VERNEEDNUM] == 0 {
		return nil
	}
	at, err := fileOffset(f, values[elf.DT_VERNEED])
	if err != nil {
		return err
	}
	for range values[elf.DT_VERNEEDNUM] {
		const entryBytes = 16
		if at+entryBytes > uint64(len(image)) {
			return errors.New("its table of versions is cut off")
		}
		file := image[at+4:]
		if number, ok := copies[nameOf(uint64(binary.LittleEndian.Uint32(file)))]; ok {
			binary.LittleEndian.PutUint32(file, uint32(pathOffsets[number]))
		}
		at += uint64(binary.LittleEndian.Uint32(image[at+12:]))
	}
	return nil
}
