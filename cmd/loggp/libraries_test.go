package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

// Each rank has its own copy of shared libraries that call MPI, linked or loaded later, with its
// own variables. It shares with the program what the C library keeps once a process.
func TestSharedLibraries(t *testing.T) {
	if !commandtest.CanCompile(t) {
		t.Skip("C programs cannot be compiled here")
	}
	const source = "../../impl/program/cprog/testdata/libraries/"
	dir := t.TempDir()
	library, plugin, program := filepath.Join(dir, "library.so"), filepath.Join(dir, "plugin.so"), filepath.Join(dir, "program")
	mustRun(t, "c++", "-g", "-std=c++17", "-shared", source+"library.cpp", "-o", library)
	mustRun(t, "cc", "-c", source+"plugin.c", "-o", plugin+".o")
	if out, err := exec.Command("cc", "-shared", plugin+".o", "-o", plugin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mustRun(t, "cc", source+"program.c", library, "-o", program)
	mustRun(t, "cc", "-DLINKED_ALONE", source+"program.c", library, "-o", program+"-linked")
	random := [][3]int{{383, 886, 777}, {383, 886, 777}} // of the C library, after srand(0) and srand(1)
	var want, wantLinked []string
	for rank, r := range random {
		own := 101 + rank
		all := own + 10*(rank+1)
		want = append(want,
			fmt.Sprintf("%d: sum 3, status 0, total %d, random %d", rank, own, r[0]),
			fmt.Sprintf("%d: main, total %d, random %d, descriptor 1", rank, own, r[1]),
			fmt.Sprintf("%d: ./none.so: cannot open shared object file: no such file or directory", rank),
			fmt.Sprintf("%d: plugin, run 1, total %d", rank, own),
			fmt.Sprintf("%d: sum 30, status 0, total %d, random %d", rank, all, r[2]),
			fmt.Sprintf("%d: same handles 1 1", rank),
			fmt.Sprintf("destructor of the library, total %d", all),
			fmt.Sprintf("%d: atexit of the library, 2 calls", rank))
		wantLinked = append(wantLinked, want[8*rank], want[8*rank+1],
			fmt.Sprintf("destructor of the library, total %d", own),
			fmt.Sprintf("%d: atexit of the library, 1 calls", rank))
	}
	for _, c := range []struct {
		platform string
		command  []string
		want     []string
	}{
		{"t3d", []string{program, plugin}, want},
		{"t3d", []string{program + "-linked"}, wantLinked},
		{"shm", []string{program, plugin}, slices.Clone(want[:len(want)/2])}, // the other rank is a process that writes to the output of this one
	} {
		lines := strings.Split(strings.TrimSpace(mustRun(t, append([]string{"run", "--platform", c.platform, "-n", "2"}, c.command...)...)), "\n")
		slices.Sort(lines)
		slices.Sort(c.want)
		if !slices.Equal(lines, c.want) {
			t.Errorf("%s %v:\n%s\nwant\n%s", c.platform, c.command, strings.Join(lines, "\n"), strings.Join(c.want, "\n"))
		}
	}
	var out, errs strings.Builder
	status := runCommandLine(t.Context(), []string{"run", "--platform", "t3d", "-n", "2", program + "-linked", "wrong"}, &out, &errs)
	if status == exitSuccess || !strings.Contains(errs.String(), "MPI_Send (library.cpp:27): MPI_ERR_RANK: rank 7 is not in a communicator of 2") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// What cannot be a program, or cannot be loaded, is an error that says what to do.
func TestWrongSharedLibraries(t *testing.T) {
	if !commandtest.CanCompile(t) {
		t.Skip("C programs cannot be compiled here")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("library.c"), "#include <mpi.h>\n#include <stdio.h>\nstatic int calls;\n"+
		"__attribute__((destructor)) static void end(void) { printf(\"%d calls\\n\", calls); }\n"+
		"int f(int *c, char ***v) { calls++; return MPI_Init(c, v) || MPI_Finalize(); }\n")
	write(t, at("program.c"), "int f(int *, char ***);\nint main(int c, char **v) { return f(&c, &v); }\n")
	mustRun(t, "cc", "-shared", at("library.c"), "-o", at("liblibrary.so"))
	mustRun(t, "cc", at("program.c"), "-L"+dir, "-llibrary", "-o", at("program"))
	write(t, at("tool.c"), "#include <mpi.h>\nint f(int *c, char ***v) { return MPI_Init(c, v); }\nint MPI_Init(int *c, char ***v) { return PMPI_Init(c, v); }\n")
	mustRun(t, "cc", "-shared", at("tool.c"), "-o", at("tool.so"))
	mustRun(t, "cc", at("program.c"), at("tool.so"), "-o", at("traced"))
	for _, c := range []struct{ path, want string }{
		{"liblibrary.so", "is a shared library: run a program that is linked to it, or link it without -shared"},
		{"traced", "tool.so, which " + at("traced") + " needs, has a function MPI_Init of its own: build what needs another MPI with 'loggp cc', and link profiling tools statically"},
		{"program", "needs the shared library liblibrary.so, which is not found: name its directory in the environment variable LD_LIBRARY_PATH, or link with -Wl,-rpath,DIRECTORY"},
	} {
		var out, errs strings.Builder
		if status := runCommandLine(t.Context(), []string{"run", "--platform", "t3d", "-n", "1", at(c.path)}, &out, &errs); status == exitSuccess || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d, want %q:\n%s", c.path, status, c.want, errs.String())
		}
	}
	t.Setenv("LD_LIBRARY_PATH", dir)
	if out := mustRun(t, "run", "--platform", "t3d", "-n", "2", at("program")); out != "1 calls\n1 calls\n" {
		t.Errorf("the program prints %q", out)
	}
}
