//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// buildWithABI compiles a program as for another implementation of the MPI standard ABI: with a
// header, and a library whose functions do nothing. loggp lacks some of these functions.
func buildWithABI(t *testing.T, source, into string, options ...string) {
	t.Helper()
	dir := t.TempDir()
	var stubs strings.Builder
	stubs.WriteString("int MPI_Unheard_of(void) { return 1; }\n")
	for _, f := range toolchain.Functions {
		if f.IsMPI() {
			fmt.Fprintf(&stubs, "long %s() { return -1; }\nlong P%[1]s() { return -1; }\n", f.Name)
		}
	}
	for name, text := range map[string]string{"mpi.h": toolchain.Header(), "stubs.c": stubs.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	library := filepath.Join(dir, "libmpi_abi.so")
	compiler := "cc"
	if strings.HasSuffix(source, ".cpp") {
		compiler = "c++"
	}
	for _, command := range [][]string{
		{"cc", "-w", "-fno-builtin", "-shared", "-fPIC", "-Wl,-soname," + toolchain.ABILibrary, "-o", library, filepath.Join(dir, "stubs.c")},
		slices.Concat([]string{compiler, "-w", "-pie", "-fPIE", "-I" + dir, source, "-o", into}, options, []string{"-L" + dir, "-lmpi_abi", "-lm"}),
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v\n%s", command, err, out)
		}
	}
}

// An executable linked by another compiler prints what the same source prints when compiled by
// loggp cc: for the whole C suite, and for programs that use resources of which a process has only
// one.
func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		source    string
		ranks     int
		arguments []string
		prints    string
	}{
		{"testdata/suite/suite.c", 4, nil, "\n"},
		{"testdata/executable/process.c", 2, []string{"-n", "4", "rest"}, "1: option 4, then rest, global 8, slept 1000000 ns\n1: error\n"},
	} {
		path := filepath.Join(dir, filepath.Base(c.source))
		buildWithABI(t, c.source, path)
		compile(t, c.source, path+".loggp", "-lm")
		outputs := [2]string{}
		for i, file := range []string{path, path + ".loggp"} {
			w, o := emulated(t, simple, c.ranks)
			var err error
			if outputs[i], err = run(t, w, o, &Program{Path: file, Arguments: c.arguments}); err != nil {
				t.Fatal(err)
			}
		}
		if outputs[0] != outputs[1] || !strings.Contains(outputs[0], c.prints) {
			t.Errorf("%s prints\n%s\nwant\n%s", c.source, outputs[0], outputs[1])
		}
	}
}

// An executable that cannot be run is an error that says why and what to do.
func TestWrongExecutables(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text    string
		options []string
		want    string
	}{
		"threads.c": {"#include <mpi.h>\n__thread int x;\nint main(int c, char **v) { return x + MPI_Init(&c, &v); }\n", nil, "it has variables of threads"},
		"fixed.c":   {"#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v); }\n", []string{"-no-pie", "-fno-pie"}, "link it with -pie, or compile it with 'loggp cc'"},
		"streams.cpp": {"#include <iostream>\n#include <mpi.h>\nint main(int c, char **v) { std::cout << MPI_Init(&c, &v); }\n", nil,
			"all ranks would share the library of C++; compile it with 'loggp cc', 'loggp c++' or 'loggp fc'"},
		"missing.c": {"#include <mpi.h>\nint MPI_Unheard_of(void);\nint main(int c, char **v) { return MPI_Unheard_of(); }\n", nil, "it calls MPI_Unheard_of, which loggp does not provide"},
		"none.c":    {"int main(void) { return 0; }\n", nil, "compile it with 'loggp cc'"},
	} {
		source := filepath.Join(dir, name)
		if err := os.WriteFile(source, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		path := source + ".program"
		buildWithABI(t, source, path, c.options...)
		p := &Program{Path: path}
		main, err := p.Main()
		if err == nil {
			w, o := emulated(t, simple, 1)
			_, err = run(t, w, o, p)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q (%v)", name, err, c.want, main != nil)
		}
	}
}
