package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

// buildC compiles a program of package cprog's tests, or skips the test if that is impossible here.
func buildC(t *testing.T, source string, options ...string) string {
	t.Helper()
	if !commandtest.CanCompile(t) {
		t.Skip("C programs cannot be compiled here")
	}
	text, err := os.ReadFile(filepath.Join("../../impl/program/cprog/testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "program.c"), string(text))
	path := filepath.Join(dir, "program")
	mustRun(t, append([]string{"cc", "-g", "-w", filepath.Join(dir, "program.c"), "-o", path}, options...)...)
	return path
}

// The exit status of a program is that of run, and a rank that ends with one after MPI_Finalize
// lets the others write their output.
func TestExitStatus(t *testing.T) {
	path := buildC(t, "ends.c")
	for how, want := range map[string]struct {
		status int
		text   string
	}{
		"exit":   {42, "rank 1: the program ended with exit status 42; its last call was MPI_Comm_rank"},
		"return": {42, "rank 1: the program ended with exit status 42\n"},
		"Abort":  {7, "rank 1: Abort: the program ends the job with code 7"},
		"abort":  {128 + 6, "rank 1: the program called abort"},
		"write":  {128 + 11, "rank 1: signal: segmentation fault, at address 0x0"},
		"well":   {0, ""},
	} {
		for _, platform := range []string{"t3d", "shm", "tcp"} {
			var out, errs strings.Builder
			status := runCommandLine(t.Context(), []string{"run", "--platform", platform, "-n", "2", path, how}, &out, &errs)
			if status != want.status || !strings.Contains(errs.String(), want.text) {
				t.Errorf("%s on %s: status %d, want %d:\n%s", how, platform, status, want.status, errs.String())
			}
			if ends := how == "return" || how == "well"; ends != strings.Contains(out.String(), "rank 0 has ended") {
				t.Errorf("%s on %s: the output is %q", how, platform, out.String())
			}
		}
	}
}

// Threads of a program may run when its rank has ended.
func TestOpenMPOnThisMachine(t *testing.T) {
	path := buildC(t, "field/ompshm.c", "-fopenmp")
	for range 10 {
		if out := mustRun(t, "run", "--platform", "shm", "-n", "4", path); out != "499500\n" {
			t.Errorf("output %q", out)
		}
	}
}

// Output that cannot be written is an error, whatever writes it.
func TestLostOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	commands := [][]string{{"--help"}, {"run", "--help"}, {"version"}, {"platforms"}, {"platforms", "show", "t3d", "--yaml"}, {"run", "--platform", "t3d", "ring"}, {"completion", "bash"}}
	if commandtest.CanCompile(t) {
		path := buildC(t, "ends.c")
		for _, platform := range []string{"t3d", "shm"} {
			commands = append(commands, []string{"run", "--platform", platform, "-n", "2", path, "well"})
		}
	}
	for _, args := range commands {
		var errs strings.Builder
		if status := runCommandLine(t.Context(), args, full, &errs); status != exitFailure || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: status %d: %s", args, status, errs.String())
		}
		if strings.Contains(strings.Join(args, " "), "--help") {
			if status := runCommandLine(t.Context(), args, io.Discard, &errs); status != exitSuccess {
				t.Errorf("%v: status %d", args, status)
			}
		}
	}
}

// Where ranks are processes, strict checks say that they do not find conflicts of different ranks.
func TestStrictChecksSayWhatTheyDoNotFind(t *testing.T) {
	if !commandtest.CanCompile(t) {
		t.Skip("C programs cannot be compiled here")
	}
	path := filepath.Join(t.TempDir(), "window")
	source := "#include <mpi.h>\nint main(int n, char **a) { int x; MPI_Win w; MPI_Init(&n, &a); MPI_Win_create(&x, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_free(&w); MPI_Finalize(); }\n"
	if err := os.WriteFile(path+".c", []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "cc", "-g", path+".c", "-o", path)
	for _, c := range []struct{ platform, check string }{{"shm", "strict"}, {"shm", "warn"}, {"t3d", "strict"}} {
		var out, errs strings.Builder
		status := runCommandLine(t.Context(), []string{"run", "--platform", c.platform, "-n", "2", "--check", c.check, path}, &out, &errs)
		warned := strings.Contains(errs.String(), "rank 0: MPI_Win_create (window.c:2): ranks are processes, so conflicts")
		if status != exitSuccess || warned != (c.platform == "shm" && c.check == "strict") {
			t.Errorf("%v: status %d: %s", c, status, errs.String())
		}
	}
}

// Programs start others, and connect, where ranks are processes as on an emulated machine.
func TestStartedProgramsOnThisMachine(t *testing.T) {
	if !commandtest.CanCompile(t) {
		t.Skip("C programs cannot be compiled here")
	}
	const dir = "../../impl/program/cprog/testdata/spawn/"
	path := filepath.Join(t.TempDir(), "suite")
	mustRun(t, "cc", "-g", "-w", dir+"suite.c", "-o", path)
	want := read(t, dir+"2.txt")
	for _, platform := range []string{"shm", "tcp", "t3d"} {
		if out := mustRun(t, "run", "--platform", platform, "-n", "2", "--spare", "3", path); out != want {
			t.Errorf("%s: the output is\n%s\nwant\n%s", platform, out, want)
		}
		var out, errs strings.Builder
		status := runCommandLine(t.Context(), []string{"run", "--platform", platform, "-n", "2", "--spare", "1", path, "two_children"}, &out, &errs)
		if text := "MPI_ERR_SPAWN: 2 processes are to be started, and 1 spare rank is free: reserve more with --spare"; status != exitFailure || !strings.Contains(errs.String(), text) {
			t.Errorf("%s with too few spare ranks: status %d:\n%s", platform, status, errs.String())
		}
	}
}
