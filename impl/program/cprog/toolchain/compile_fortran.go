package toolchain

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// NewFortran returns the Fortran compiler in the environment variable FC, or gfortran.
//
// Each copy of a program has its own copy of gfortran's library, and hence its own I/O units. The
// library is linked statically, with two changes: fortran.c replaces asynchronous.c, and error.o is
// modified.
func NewFortran(ctx context.Context) (*Compiler, error) {
	if runtime.GOARCH != "amd64" {
		return nil, errors.New("programs in Fortran run only on x86-64 (amd64)")
	}
	command, err := compilerCommand("FC", "gfortran", "Fortran")
	if err != nil {
		return nil, err
	}
	cc, err := compilerCommand("CC", "cc", "C")
	if err != nil {
		return nil, err
	}
	if isNestedCompiler {
		return &Compiler{command: command}, nil
	}
	c := &Compiler{command: command, fortran: true, options: []string{"-fallow-argument-mismatch"}}
	return c, c.install(ctx, cc, append(slices.Clone(linkedObjects), "fortran"), c.compileFortranModules)
}

// compileFortranModules compiles the modules mpi and mpi_f08, and extracts error.o from gfortran's
// library.
func (c *Compiler) compileFortranModules(ctx context.Context, dir string) error {
	run := func(command ...string) (string, error) {
		var out, fault bytes.Buffer
		x := newCompilerCommand(ctx, command)
		x.Dir, x.Stdout, x.Stderr = dir, &out, &fault
		if err := x.Run(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, bytes.TrimSpace(fault.Bytes()))
		}
		return strings.TrimSpace(out.String()), nil
	}
	for _, module := range []string{"mpi.f90", "mpi_f08.f90"} {
		if _, err := run(slices.Concat(c.command, []string{"-w", "-cpp", "-fallow-argument-mismatch", "-fsyntax-only", module})...); err != nil {
			return fmt.Errorf("it has to be gfortran 10 or later: %w", err)
		}
	}
	library, err := run(slices.Concat(c.command, []string{"-print-file-name=libgfortran.a"})...)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(library) {
		return fmt.Errorf("%s has no libgfortran.a, which is linked into programs: install the static library of gfortran, such as libgfortran-static", c.command[0])
	}
	if _, err := run("ar", "x", library, "error.o"); err != nil {
		return err
	}
	path := filepath.Join(dir, "error.o")
	object, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := removeThreadLocal(object, "thread_unit"); err != nil {
		return fmt.Errorf("%s: error.o: %w", library, err)
	}
	return os.WriteFile(path, object, 0o644)
}

// removeThreadLocal changes an object file in place: accesses to a thread-local variable become
// accesses to a normal variable with the same name. With a thread-local variable in each copy, a
// program would exhaust the C library's static TLS space.
func removeThreadLocal(object []byte, name string) error {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return err
	}
	symbols, err := f.Symbols()
	if err != nil {
		return err
	}
	number := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name }) + 1 // the list omits the null symbol
	if number == 0 {
		return nil
	}
	for _, s := range f.Sections {
		switch s.Type {
		case elf.SHT_SYMTAB:
			object[int(s.Offset)+number*elf.Sym64Size+4] = elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE)
		case elf.SHT_RELA:
			for at := s.Offset; at < s.Offset+s.FileSize; at += 24 {
				info := object[at+8 : at+16]
				if binary.LittleEndian.Uint32(info[4:]) != uint32(number) {
					continue
				}
				if t := elf.R_X86_64(binary.LittleEndian.Uint32(info)); t != elf.R_X86_64_GOTTPOFF {
					return fmt.Errorf("relocation %v of %s is not known", t, name)
				}
				binary.LittleEndian.PutUint32(info, uint32(elf.R_X86_64_PC32))
			}
		}
	}
	return nil
}
