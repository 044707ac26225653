package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ABILibrary is the name of the library of the MPI standard ABI (MPI-5.0, chapter 21), to which
// executables of other implementations are linked.
const ABILibrary = "libmpi_abi.so.0"

// LoadABILibrary returns the contents of the library that loggp uses as ABILibrary for executables
// that another compiler has linked. It has all functions of Functions. The first call compiles it.
func LoadABILibrary(ctx context.Context) ([]byte, error) {
	command, err := compilerCommand("CC", "cc", "C")
	if err != nil {
		return nil, err
	}
	c := &Compiler{command: command}
	build := func(ctx context.Context, dir string) error {
		x := newCompilerCommand(ctx, slices.Concat(command, []string{"-O2", "-fPIC", "-fno-builtin", "-w", fmt.Sprintf("-DLOGGP_VERSION=%d", Version()), "-DLOGGP_EXECUTABLE",
			"-shared", "-fvisibility=protected", "-Wl,-z,norelro", "-Wl,-soname," + ABILibrary, "-x", "c", "stubs.c", "runtime.c", "threads.c", "-o", ABILibrary}))
		x.Dir = dir
		if out, err := x.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(x.Args, " "), err, bytes.TrimSpace(out))
		}
		return nil
	}
	if err := c.install(ctx, command, nil, build); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(c.dir, ABILibrary))
}
