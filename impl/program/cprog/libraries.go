//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include <dlfcn.h>
#include <stdlib.h>
#include "host.h"

// RTLD_DEEPBIND of <dlfcn.h>, which defines it for GNU programs only.
enum { deep_bind = 8 };
*/
import "C"

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// Shared libraries. Each rank loads private copies of those that call MPI or that may keep a rank's
// state. A copy finds our library of the MPI functions first, of which each rank has a copy too: so
// its calls are those of the rank, and it shares what runtime.c replaces with the program. All
// ranks share the libraries of the system.

// libraries has the files of which ranks load copies, by number.
type libraries struct {
	mu      sync.Mutex
	all     []*library
	numbers map[string]int // by path; sharedByRanks: it has no number; isBeingAdded: not yet

	startThreads, startPrivateThreads bool // one of those that the program is linked to, or of the copies, may start threads

	found map[string]string // paths of libraries that the program and those that it has opened need, by name
}

const (
	sharedByRanks = -1
	isBeingAdded  = -2
)

// library is a file of which ranks load copies.
type library struct {
	path         string
	image        []byte
	dependencies []dependency // copies that it needs, which are loaded first
	sourceLines  sourceLines

	// A table of functions that ranks call at their end, and its length. The loader would call them
	// when it unloads a copy, and then not on the rank's stack.
	destructors, destructorsCount uint64
}

// dependency is a place in the image that gets the path of the rank's copy of a file.
type dependency struct {
	at     uint64
	number int
}

// libraryKind says what ranks do with a library, by the start of its name.
var libraryKind = []struct {
	name string
	kind
}{
	{"libc.", ofProcess}, {"libm.", ofProcess}, {"libmvec.", ofProcess}, {"libdl.", ofProcess}, {"librt.", ofProcess}, {"libpthread.", ofProcess},
	{"ld-linux", ofProcess}, {"linux-vdso", ofProcess}, {"libgcc_s.", ofProcess}, {"libquadmath.", ofProcess},
	{"libgomp.", startsThreads}, {"libomp.", startsThreads}, {"libiomp5.", startsThreads},
	{"libstdc++.", ofLanguage}, {"libc++.", ofLanguage}, {"libc++abi.", ofLanguage}, {"libgfortran.", ofLanguage},
	{"libpython", keepsState}, {abiLibraryPrefix, isRuntime},
}

type kind int

const (
	ofUser        kind = iota // private, unless it belongs to the system and calls no MPI
	ofProcess                 // shared, and no reason to expect threads
	startsThreads             // shared: its threads do not run in turn
	ofLanguage                // private for private libraries: it has the streams of a language
	keepsState                // private
	isRuntime                 // the library of the MPI functions
)

func kindOf(name string) kind {
	for _, k := range libraryKind {
		if strings.HasPrefix(filepath.Base(name), k.name) {
			return k.kind
		}
	}
	return ofUser
}

// prepare finds the libraries that a program is linked to, and prepares what ranks load. It returns
// all libraries, those that others need included.
func (l *libraries) prepare(ctx context.Context, p *Program, f *elf.File, needed []string) (all []string, err error) {
	l.all = []*library{C.loggp_runtime_number: nil, C.loggp_program_number: {path: p.Path, image: p.image}}
	l.numbers = map[string]int{}
	if !slices.ContainsFunc(needed, func(name string) bool { return slices.Contains([]kind{ofUser, keepsState, isRuntime}, kindOf(name)) }) {
		return needed, nil
	}
	if l.found, err = findLibraries(p.Path, "", ""); err != nil {
		return nil, err
	}
	all = slices.Collect(maps.Keys(l.found))
	private, err := l.addNeeded(ctx, needed, l.found, p.Path)
	if err != nil || len(private) == 0 {
		return all, err
	}
	program := l.all[C.loggp_program_number]
	program.image, program.dependencies, err = rewriteNeeded(f, p.image, nil, private)
	p.image = program.image
	return all, err
}

// findLibraries asks the loader for the paths of all libraries that a file needs, by their names.
// preload names a further one. The loader starts in a directory, or in the current one.
func findLibraries(file, preload, directory string) (map[string]string, error) {
	loader := map[string]string{"amd64": "/lib64/ld-linux-x86-64.so.2", "arm64": "/lib/ld-linux-aarch64.so.1"}[runtime.GOARCH]
	if !filepath.IsAbs(file) {
		file = "./" + file
	}
	cmd := exec.Command(loader, file)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1", "LD_PRELOAD="+preload)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("finding the shared libraries of %s: %w\n%s", file, err, bytes.TrimSpace(errs.Bytes()))
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, path, ok := strings.Cut(strings.TrimSpace(line), " => ")
		path, _, _ = strings.Cut(path, " (0x")
		if !ok {
			name, _, _ = strings.Cut(name, " (0x")
			path = name
		}
		if path == "not found" {
			path = ""
		} else if directory != "" && !filepath.IsAbs(path) {
			path = filepath.Join(directory, path)
		}
		found[name] = path
	}
	return found, nil
}

// addNeeded adds libraries that a file needs, and returns the numbers of those that are private.
func (l *libraries) addNeeded(ctx context.Context, needed []string, found map[string]string, by string) (map[string]int, error) {
	private := map[string]int{}
	for _, name := range needed {
		number, err := l.add(ctx, name, found, by, false)
		if err != nil {
			return nil, err
		}
		if number != sharedByRanks {
			private[name] = number
		}
	}
	return private, nil
}

// add adds a library, unless it is known, and returns its number, or sharedByRanks. A plugin is
// always private.
func (l *libraries) add(ctx context.Context, name string, found map[string]string, by string, isPlugin bool) (int, error) {
	k, path := kindOf(name), found[name]
	switch {
	case k == isRuntime:
		return C.loggp_runtime_number, l.addRuntime(ctx)
	case k == ofProcess, k == startsThreads:
		return sharedByRanks, nil
	case path == "":
		return 0, fmt.Errorf("%s needs the shared library %s, which is not found: name its directory in the environment variable LD_LIBRARY_PATH, or link with -Wl,-rpath,DIRECTORY", by, name)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	number, ok := l.numbers[path]
	switch {
	case ok && number == isBeingAdded:
		return 0, fmt.Errorf("%s and %s need each other: link them to one library", by, path)
	case ok && (number != sharedByRanks || !isPlugin):
		return number, nil
	}
	l.numbers[path] = isBeingAdded
	number, err := l.addFile(ctx, path, found, by, k, isPlugin)
	if err != nil {
		delete(l.numbers, path)
		return 0, err
	}
	l.numbers[path] = number
	return number, nil
}

func (l *libraries) addFile(ctx context.Context, path string, found map[string]string, by string, k kind, isPlugin bool) (int, error) {
	image, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range symbols {
		switch isDefined := s.Section != elf.SHN_UNDEF; {
		case isDefined && isMPI(s):
			return 0, fmt.Errorf("the shared library %s, which %s needs, has a function %s of its own: build what needs another MPI with 'loggp cc', and link profiling tools statically", path, by, s.Name)
		case !isDefined && fortranCall.MatchString(s.Name):
			return 0, fmt.Errorf("the shared library %s, which %s needs, calls MPI in Fortran (%s): only programs and static libraries can, link it statically", path, by, s.Name)
		}
	}
	private, err := l.addNeeded(ctx, needed, found, path)
	if err != nil {
		return 0, err
	}
	isPrivate := isPlugin || k != ofUser || !isOfSystem(path) || slices.ContainsFunc(needed, func(name string) bool {
		_, ok := private[name]
		return ok && kindOf(name) != ofLanguage
	}) || slices.ContainsFunc(symbols, isMPI)
	mayStartThreads := slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return s.Section == elf.SHN_UNDEF && (s.Name == "pthread_create" || s.Name == "thrd_create")
	})
	l.startThreads = l.startThreads || mayStartThreads
	if !isPrivate {
		return sharedByRanks, nil
	}
	l.startPrivateThreads = l.startPrivateThreads || mayStartThreads
	if err := l.addRuntime(ctx); err != nil {
		return 0, err
	}
	for _, name := range needed { // which its copies would load with their own scope
		if _, ok := private[name]; !ok && found[name] != "" {
			shared := C.CString(found[name])
			C.dlopen(shared, C.RTLD_LAZY)
			C.free(unsafe.Pointer(shared))
		}
	}
	first := []int{C.loggp_runtime_number}
	if isPlugin {
		first = append(first, C.loggp_program_number)
	}
	x := &library{path: path}
	if !isPlugin { // the program may close it
		err = x.takeDestructors(f, image)
	}
	if err == nil {
		x.image, x.dependencies, err = rewriteNeeded(f, image, first, private)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	l.all = append(l.all, x)
	return len(l.all) - 1, nil
}

// fortranCall matches the names that gfortran gives to procedures of MPI, and to those of mpi_f08.
var fortranCall = regexp.MustCompile(`^p?mpi_\w+_$`)

// takeDestructors removes the table of destructors from an image.
func (x *library) takeDestructors(f *elf.File, image []byte) error {
	return dynamicEntries(f, image, func(tag elf.DynTag, value []byte) {
		switch tag {
		case elf.DT_FINI_ARRAY:
			x.destructors = binary.LittleEndian.Uint64(value)
		case elf.DT_FINI_ARRAYSZ:
			x.destructorsCount = binary.LittleEndian.Uint64(value) / 8
			binary.LittleEndian.PutUint64(value, 0)
		}
	})
}

// isMPI reports whether a symbol is a function of MPI.
func isMPI(s elf.Symbol) bool {
	return (strings.HasPrefix(s.Name, "MPI_") || strings.HasPrefix(s.Name, "PMPI_")) && (s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) == elf.STT_FUNC)
}

// isOfSystem reports whether a library belongs to the system.
func isOfSystem(path string) bool { return systemDirectory.MatchString(path) }

var systemDirectory = regexp.MustCompile(`^(/usr)?/lib(32|64|x32)?/`)

// addRuntime adds the library of the MPI functions.
func (l *libraries) addRuntime(ctx context.Context) error {
	if l.all[C.loggp_runtime_number] != nil {
		return nil
	}
	image, err := toolchain.LoadABILibrary(ctx)
	if err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	x := &library{}
	x.image, x.dependencies, err = rewriteNeeded(f, image, nil, nil) // without its name
	l.all[C.loggp_runtime_number] = x
	return err
}

// loadOrder returns a file and those that it needs, in the order of loading.
func (l *libraries) loadOrder(number int) (order []int) {
	var visit func(number int)
	visit = func(number int) {
		if slices.Contains(order, number) {
			return
		}
		for _, d := range l.all[number].dependencies {
			visit(d.number)
		}
		order = append(order, number)
	}
	visit(number)
	return order
}

// library returns the file with a number.
func (l *libraries) library(number int) *library {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[number]
}

// imageBytes returns the size of the copies that each rank loads.
func (l *libraries) imageBytes() (n int) {
	for _, number := range l.loadOrder(C.loggp_program_number) {
		n += len(l.all[number].image)
	}
	return n
}

// cImages returns a file and those that it needs for C, in the order of loading. It pins the memory
// that they refer to.
func (l *libraries) cImages(number int, pin *runtime.Pinner) []C.struct_loggp_image {
	order := l.loadOrder(number)
	all := make([]C.struct_loggp_image, len(order))
	for i, number := range order {
		x := l.all[number]
		pin.Pin(unsafe.SliceData(x.image))
		all[i] = C.struct_loggp_image{bytes: (*C.char)(unsafe.Pointer(unsafe.SliceData(x.image))), size: C.uint64_t(len(x.image)), number: C.int64_t(number),
			destructors: C.uint64_t(x.destructors), destructors_size: C.int64_t(x.destructorsCount)}
		if len(order) > 1 && number != C.loggp_runtime_number {
			all[i].flags = C.deep_bind
		}
		if len(x.dependencies) > 0 {
			places := make([]C.struct_loggp_dependency, len(x.dependencies))
			for k, d := range x.dependencies {
				places[k] = C.struct_loggp_dependency{at: C.uint64_t(d.at), number: C.int64_t(d.number)}
			}
			pin.Pin(unsafe.SliceData(places))
			all[i].dependencies, all[i].dependencies_size = unsafe.SliceData(places), C.int64_t(len(places))
		}
	}
	pin.Pin(unsafe.SliceData(all))
	return all
}

// open returns the number of a library that a rank opens by its file name, or sharedByRanks. A file
// that is named by a path is a plugin: it may be part of an interpreter that is private itself.
func (l *libraries) open(p *Program, name, directory string) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx := p.context()
	if !strings.Contains(name, "/") {
		found, err := findLibraries(p.Path, name, directory)
		if err != nil || found[name] == "" {
			return sharedByRanks, err
		}
		return l.add(ctx, name, found, p.Path, false)
	}
	path := name
	if !filepath.IsAbs(path) && directory != "" {
		path = filepath.Join(directory, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		var e *fs.PathError
		if errors.As(err, &e) {
			err = e.Err
		}
		return 0, fmt.Errorf("%s: cannot open shared object file: %w", name, err)
	}
	if number, ok := l.numbers[real]; ok && number != sharedByRanks {
		return number, nil
	}
	found, err := findLibraries(path, "", directory)
	if err != nil {
		return 0, err
	}
	for name, path := range l.found {
		if found[name] == "" {
			found[name] = path
		}
	}
	l.found = maps.Clone(found)
	found[path] = path
	return l.add(ctx, path, found, p.Path, true)
}

// openLibrary carries out dlopen.
func openLibrary(r *rank, a args) {
	l, number, err := &r.program.libraries, C.loggp_program_number, error(nil)
	if a[0] != 0 {
		number, err = l.open(r.program, cString(a[0]), r.directory())
	}
	rank, mode := uintptr(unsafe.Pointer(r.hostRank)), a[1]
	switch {
	case err != nil:
		C.free(unsafe.Pointer(r.loadError))
		r.loadError = C.CString(err.Error())
		r.hostRank.r.load_error = r.loadError
	case number == sharedByRanks:
		r.currentCall.result = int64(r.callbackWord(uintptr(C.loggp_open_shared), rank, a[0], mode))
	default:
		var pin runtime.Pinner
		defer pin.Unpin()
		l.mu.Lock()
		all := l.cImages(number, &pin)
		l.mu.Unlock()
		r.currentCall.result = int64(r.callbackWord(uintptr(C.loggp_open_libraries), rank, uintptr(unsafe.Pointer(unsafe.SliceData(all))), uintptr(len(all)), mode))
	}
}
