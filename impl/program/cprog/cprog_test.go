//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/model/platform"
)

// built has the compiled programs by source.
var built struct {
	sync.Mutex
	at  map[string]string
	dir string
}

func TestMain(m *testing.M) {
	if path := os.Getenv(inProcess); path != "" {
		runInProcess(path)
	}
	status := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// build compiles a program of testdata.
func build(t testing.TB, source string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if path, ok := built.at[source]; ok {
		return path
	}
	if built.at == nil {
		dir, err := os.MkdirTemp("", "cprog")
		if err != nil {
			t.Fatal(err)
		}
		built.at, built.dir = map[string]string{}, dir
	}
	path := filepath.Join(built.dir, strings.ReplaceAll(strings.TrimSuffix(source, ".c"), "/", "-"))
	compile(t, filepath.Join("testdata", source), path, "-g")
	built.at[source] = path
	return path
}

func compile(t testing.TB, source, into string, options ...string) {
	t.Helper()
	c, err := toolchain.New(t.Context())
	if err != nil {
		t.Skip(err)
	}
	command := c.Command(t.Context(), append(options, "-w", source, "-o", into))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}

// run runs a program on a world and returns its output.
func run(t testing.TB, w device.World, o mpi.Options, p *Program) (string, error) {
	t.Helper()
	var out bytes.Buffer
	p.Stdout, p.Stderr = &out, &out
	main, err := p.Main()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	err = mpi.Run(w, o, main)
	return out.String(), err
}

// emulated returns a world of a platform with its first library.
func emulated(t testing.TB, name string, ranks int) (device.World, mpi.Options) {
	t.Helper()
	p, err := platform.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := hw.New(hw.Config{Machine: p.Machine, Library: p.Libraries[0], Ranks: ranks, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return w, mpi.Options{Engine: proto.New, Library: p.Libraries[0], Check: mpi.CheckStrict}
}

const simple = "loggp:L=5us,o_s=1us,o_r=1us,g=2us,G=10ns/B"

// The programs of the suite print what they print with Open MPI and MPICH. The files N.txt contain
// the output for N ranks.
func TestSuite(t *testing.T) {
	for _, s := range suites {
		path := build(t, s.dir+"/suite.c")
		for _, ranks := range []int{1, 2, 3, 4, 7} {
			w, o := emulated(t, simple, ranks)
			checkSuite(t, w, o, path, s.dir, ranks)
		}
	}
}

// suites are folders of testdata with programs that other implementations also run, and the names
// of those that have all functions used.
var suites = []struct{ dir, with string }{
	{"suite", "openmpi mpich"},
	{"openmpi", "openmpi"},
	{"mpich", "mpich"},
	{"windows", "openmpi"},
	{"files", "mpich"},
	{"errors", "openmpi mpich"},
	{"threads", "openmpi"},
}

// They print the same on other machines and with each engine.
func TestSuiteEverywhere(t *testing.T) {
	dirs := []string{"suite", "windows", "files", "threads"}
	for _, dir := range dirs {
		w, o := emulated(t, "t3d", 3)
		checkSuite(t, w, o, build(t, dir+"/suite.c"), dir, 3)
	}
	p, err := platform.Load("loggp")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Libraries {
		if !l.CarriedBy().CarriesMPI() {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			j, err := job.New(p, l.Name, 3, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range dirs {
				w, err := j.World(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				checkSuite(t, w, j.MPIOptions(""), build(t, dir+"/suite.c"), dir, 3)
			}
		})
	}
}

func checkSuite(t *testing.T, w device.World, o mpi.Options, path, dir string, ranks int) {
	t.Helper()
	want, err := os.ReadFile(fmt.Sprintf("testdata/%s/%d.txt", dir, ranks))
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(t, w, o, &Program{Path: path})
	if err != nil {
		t.Errorf("%d ranks: %v", ranks, err)
	}
	if err := firstDifference(got, string(want)); err != nil {
		t.Errorf("%d ranks: %v", ranks, err)
	}
}

// firstDifference returns an error that shows the first line in which an output differs from the
// expected one.
func firstDifference(got, want string) error {
	lines := strings.Split(got, "\n")
	for i, line := range strings.Split(want, "\n") {
		switch {
		case i >= len(lines):
			return fmt.Errorf("line %d is missing:\n%s", i+1, line)
		case lines[i] != line:
			return fmt.Errorf("line %d is not as with other implementations:\n%s\nbut:\n%s", i+1, line, lines[i])
		}
	}
	return nil
}

// The suite calls every function of the table.
func TestSuiteHasAllFunctions(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.[ch]")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	// wrong.c calls MPI_Abort.
	for _, f := range toolchain.Functions {
		if f.IsMPI() && f.IntForm == "" && f.Name != "MPI_Abort" && f.Name != "MPI_Init_thread" && !regexp.MustCompile(`\b`+f.Name+`\b`).Match(all) {
			t.Errorf("no program of the suite calls %s", f.Name)
		}
	}
}

// A fault of one rank is an error of that rank, with the line of the call.
func TestWrongPrograms(t *testing.T) {
	path := build(t, "wrong.c")
	source, err := os.ReadFile("testdata/wrong.c")
	if err != nil {
		t.Fatal(err)
	}
	line := func(text string) int {
		at := bytes.Index(source, []byte(text))
		if at < 0 {
			t.Fatalf("wrong.c has no %q", text)
		}
		return bytes.Count(source[:at], []byte("\n")) + 1
	}
	for _, c := range []struct{ how, want string }{
		{"write", fmt.Sprintf("rank 1: signal: segmentation fault, at address 0x10 (wrong.c:%d); its last call was MPI_Comm_rank", line("IS(\"write\")"))},
		{"call", fmt.Sprintf("rank 1: signal: segmentation fault, at address 0x20 (wrong.c:%d); its last call was MPI_Comm_rank", line("IS(\"call\")"))},
		{"stack", "rank 1: stack overflow: the stack has 256 KiB; --stack makes it larger (wrong.c:"},
		{"abort", fmt.Sprintf("rank 1: the program called abort, or an assertion failed (wrong.c:%d)", line("IS(\"abort\")"))},
		{"assert", fmt.Sprintf("rank 1: the program called abort, or an assertion failed (wrong.c:%d)", line("IS(\"assert\")"))},
		{"exit", "rank 1: the program ended with exit status 3; its last call was MPI_Comm_rank"},
		{"leave", "rank 1: the program ended without MPI_Finalize"},
		{"endless", "rank 1: it computed for 100ms without a call of MPI, longer than --limit allows (wrong.c:"},
		{"deadlock", fmt.Sprintf("rank 1: in MPI_Recv (wrong.c:%d), waits for a message from rank 0 with tag 0", line("IS(\"deadlock\")"))},
		{"buffer", fmt.Sprintf("rank 1: MPI_Send (wrong.c:%d): MPI_ERR_BUFFER: the memory of the buffer or the result at address", line("IS(\"buffer\")"))},
		{"MPI_Abort", "rank 1: Abort: the program ends the job with code 7"},
		{"rank", fmt.Sprintf("rank 1: MPI_Send (wrong.c:%d): MPI_ERR_RANK: rank 5 is not in a communicator of 2", line("IS(\"rank\")"))},
		{"freed", "rank 1: MPI_Send (wrong.c:"},
		{"stale", "MPI_ERR_REQUEST: invalid request: it was completed or freed before"},
		{"truncate", "rank 1: MPI_Recv (wrong.c:"},
		{"overlap", fmt.Sprintf("bytes 0 to 3 of MPI_Irecv (wrong.c:%d), which is not complete", line("IS(\"overlap\")")+1)},
		{"collective", fmt.Sprintf("rank 0: MPI_Bcast (wrong.c:%d)", line("strcmp(argv[1], \"collective\")"))},
		{"short broadcast", fmt.Sprintf("rank 1: MPI_Wait (wrong.c:%d): MPI_ERR_TRUNCATE: rank 0 sent 4 bytes where 16 were expected: the ranks do not give as much as they take", line("IS(\"short broadcast\")")+3)},
		{"error field", "rank 1: Abort: the program ends the job with code 9"},
		{"sleep", fmt.Sprintf("rank 1: sleep (wrong.c:%d): MPI_ERR_OTHER: 9223372.036854775807s or more after", line("IS(\"sleep\")"))},
		{"often", fmt.Sprintf("rank 1: sleep (wrong.c:%d): MPI_ERR_OTHER: 1000000s after 9000000", line("IS(\"often\")"))},
		{"nanosleep", fmt.Sprintf("rank 1: sleep (wrong.c:%d): MPI_ERR_OTHER: 9223372.036854775807s or more after", line("IS(\"nanosleep\")")+3)},
		{"again", "rank 1: MPI_Init (wrong.c:"},
		{"early", "MPI_Comm_rank (wrong.c:"},
	} {
		t.Run(c.how, func(t *testing.T) {
			w, o := emulated(t, simple, 2)
			p := &Program{Path: path, Arguments: []string{c.how}, StackBytes: 256 << 10}
			if c.how == "endless" {
				p.StallLimit = 100 * time.Millisecond
			}
			_, err := run(t, w, o, p)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// A program that computes forever ends when the context is done.
func TestInterrupt(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { stop(errors.New("enough")) })
	w, o := emulated(t, simple, 2)
	_, err := run(t, w, o, &Program{Path: build(t, "wrong.c"), Arguments: []string{"endless"}, Context: ctx})
	if err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("error %v", err)
	}
}

// Lines of output are not interleaved, and are tagged with their rank.
func TestOutput(t *testing.T) {
	w, o := emulated(t, simple, 3)
	out, err := run(t, w, o, &Program{Path: build(t, "print.c"), Arguments: []string{"a b", "c"}, TagOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	slices.Sort(lines)
	want := "[0] argument a b\n[0] argument c\n[0] begin and end\n[0] on standard error\n[1] begin and end\n[1] on standard error\n[2] begin and end\n[2] on standard error"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("output\n%s\nwant\n%s", got, want)
	}
}

// Without measured computing time a run is reproducible. With it, computing takes virtual time.
func TestCompute(t *testing.T) {
	times := map[float64]string{}
	for _, factor := range []float64{0, 0, 1000} {
		w, o := emulated(t, simple, 2)
		out, err := run(t, w, o, &Program{Path: build(t, "compute.c"), Compute: Compute{Factor: factor}})
		if err != nil {
			t.Fatal(err)
		}
		if before, again := times[factor]; again && before != out {
			t.Errorf("two runs print %q and %q", before, out)
		}
		times[factor] = out
	}
	if len(times[0]) == 0 || times[0] == times[1000] {
		t.Errorf("computing takes no time: %q", times[1000])
	}

	// 100,000 dependent additions take at least one cycle each.
	w, o := emulated(t, simple, 2)
	out, err := run(t, w, o, &Program{Path: build(t, "compute.c"), Compute: Compute{Rate: 1e6}})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := strconv.ParseFloat(strings.TrimSpace(out), 64); err != nil || s < 0.1 {
		t.Errorf("at 1 MHz it takes %q seconds", out)
	}
}

// A missing function is an error at link time, unless all its callers are unused: a library of
// helpers can serve programs that use only some of them.
func TestMissingFunction(t *testing.T) {
	c, err := toolchain.New(t.Context())
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "x.c")
	if err := os.WriteFile(source, []byte("int MPI_Not_there(void);\nint other(void) { return MPI_Not_there(); }\nint main(void) { return OTHER; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Command(t.Context(), []string{"-DOTHER=0", source, "-o", filepath.Join(dir, "x")}).CombinedOutput(); err != nil {
		t.Errorf("linking what nobody calls: %v\n%s", err, out)
	}
	out, err := c.Command(t.Context(), []string{"-DOTHER=other()", source, "-o", filepath.Join(dir, "x")}).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("undefined reference to `MPI_Not_there'")) {
		t.Errorf("linking: %v\n%s", err, out)
	}
}

// main and its caller may be in a library.
func TestMainInLibrary(t *testing.T) {
	dir := t.TempDir()
	object, library, path := filepath.Join(dir, "empty.o"), filepath.Join(dir, "empty.a"), filepath.Join(dir, "empty")
	compile(t, "testdata/empty.c", object, "-c")
	if out, err := exec.Command("ar", "rcs", library, object).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compile(t, library, path)
	w, o := emulated(t, simple, 2)
	if _, err := run(t, w, o, &Program{Path: path}); err != nil {
		t.Error(err)
	}
}

// Compiler options that must not affect what is linked into programs.
func TestOptions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "empty")
	for _, options := range [][]string{{"-x", "c"}, {"-static"}, {"-std=c89", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"}} {
		compile(t, "testdata/empty.c", path, options...)
		w, o := emulated(t, simple, 2)
		if _, err := run(t, w, o, &Program{Path: path}); err != nil {
			t.Errorf("%v: %v", options, err)
		}
	}
	compile(t, "testdata/empty.c", filepath.Join(dir, "part.o"), "-r")
}

// The compiler may be a C++ compiler.
func TestCPlusPlus(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	t.Setenv("CC", "g++")
	dir := t.TempDir()
	source, path := filepath.Join(dir, "x.cpp"), filepath.Join(dir, "x")
	text := `#include <mpi.h>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>
static std::vector<int> own(3, 7);
template <class T> struct Shared { static int uses; };
template <class T> int Shared<T>::uses = 0;
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	Shared<int>::uses++; // the linker would give all copies of a program one such variable
	try {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1) throw std::runtime_error("");
	} catch (std::exception &e) {
		own[1] = rank;
	}
	printf("%d of %d\n", own[1] * Shared<int>::uses, rank);
	auto begin = std::chrono::steady_clock::now();
	std::this_thread::sleep_for(std::chrono::hours(1));
	std::cout << "after " << std::chrono::duration_cast<std::chrono::hours>(std::chrono::steady_clock::now() - begin).count() << " hour\n";
	MPI_Finalize();
}
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	compile(t, source, path)
	w, o := emulated(t, simple, 2)
	out, err := run(t, w, o, &Program{Path: path, TagOutput: true})
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	if want := []string{"[0] 7 of 0", "[0] after 1 hour", "[1] 1 of 1", "[1] after 1 hour"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v: %q", err, out)
	}
}

// A job that needs too many memory mappings fails before the process has none left, and says how to
// allow more.
func TestMappings(t *testing.T) {
	defer func(n int) { spareMappings = n }(spareMappings)
	spareMappings = 1 << 30
	w, o := emulated(t, simple, 2)
	_, err := run(t, w, o, &Program{Path: build(t, "empty.c")})
	if err == nil || !strings.Contains(err.Error(), "allow it more by 'sysctl vm.max_map_count=") {
		t.Errorf("error %v", err)
	}
}

// A file that is not a program is an error that says so.
func TestNoProgram(t *testing.T) {
	for path, want := range map[string]string{"cprog.go": "compile it with 'loggp cc'", "/nowhere/x": "no such file"} {
		if _, err := (&Program{Path: path}).Main(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
