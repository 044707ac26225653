//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// inProcess is the environment variable with a program and its arguments, which this process runs
// instead of tests, because the program may destroy the process's memory.
const inProcess = "LOGGP_TEST_PROGRAM"

// inProcessRanks is the environment variable with its number of ranks; the default is two.
const inProcessRanks = "LOGGP_TEST_RANKS"

func runInProcess(path string) {
	ranks := 2
	if n, err := strconv.Atoi(os.Getenv(inProcessRanks)); err == nil {
		ranks = n
	}
	j, err := job.Open(simple, "", ranks, 0)
	if err != nil {
		panic(err)
	}
	p := &Program{Path: path, Arguments: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr}
	main, err := p.Main()
	if err == nil {
		_, err = j.RecordProgram(context.Background(), 1, "", -1, func(c *mpi.Comm) error { return main(c) })
	}
	if err == nil {
		err = p.ExitError()
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(0)
}

// A program that accesses memory which is not its own ends with an error of its rank. The error
// says what it did, where, and after which call. It is the same in each run and does not show
// loggp's own code.
func TestStrayAddresses(t *testing.T) {
	path := build(t, "stray.c")
	source, err := os.ReadFile("testdata/stray.c")
	if err != nil {
		t.Fatal(err)
	}
	line := func(how string) int {
		at := bytes.Index(source, []byte("// "+how+"\n"))
		if at < 0 {
			at = bytes.Index(source, []byte(fmt.Sprintf("IS(%q)", how)))
		}
		if at < 0 {
			t.Fatalf("stray.c has no %q", how)
		}
		return bytes.Count(source[:at], []byte("\n")) + 1
	}
	const outside = "at an address outside of the program's variables and stack"
	fault := func(how, where string) string {
		text := fmt.Sprintf("%s (stray.c:%d); its last call was MPI_Comm_rank", where, line(how))
		if !strings.HasPrefix(where, " of") {
			text = "rank 1: signal: segmentation fault" + text
		}
		return text
	}
	for _, c := range []struct{ how, want string }{
		{"null", fault("null", ", at address 0x0")},
		{"low", fault("low", ", at address 0x18")},
		{"no address", fault("no address", ", at an address that no memory can have")},
		{"constant", fault("constant", " of the program's file")},
		{"code", fault("code", " of the program's file")},
		{"far", fault("far", ", "+outside)},
		{"unmapped", fault("unmapped store", ", "+outside)},
		{"jump", fault("jump", " of the program's file")},
		{"stack", fmt.Sprintf("(stray.c:%d); its last call was MPI_Comm_rank", line("smash"))},
		{"large", "rank 1: stack overflow: the stack has 8192 KiB"},
		{"trap", fmt.Sprintf(" (stray.c:%d); its last call was MPI_Comm_rank", line("trap"))},
		{"ignored", fault("ignored", ", at address 0x18")},
		{"ignored by action", fault("ignored by action", ", at address 0x18")},
		{"default", fault("default", ", at address 0x18")},
		{"blocked", fault("blocked", ", at address 0x18")},
		{"returned", fault("returned", ", at address 0x18")},
		{"handled", "rank 1: the program ended with exit status 51"},
		{"handled with address", "rank 1: the program ended with exit status 60"},
		{"jumped", "rank 1: the program ended with exit status 52; its last call was MPI_Comm_size"},
		{"raised", fault("raised", "")},
		{"thread", fault("thread", ", at address 0x18")},
		{"print", fault("print", ", at address 0x18")},
		{"length", fault("length", ", at address 0x18")},
		{"twice", fmt.Sprintf("rank 1: signal: aborted (stray.c:%d)", line("twice"))},
		{"none", fmt.Sprintf("rank 1: signal: aborted (stray.c:%d)", line("none"))},
		{"heap", "rank 1: signal: "},
		{"output", "rank 1: "},
		{"above", "rank 1: signal: "},
		{"freed", fmt.Sprintf("rank 1: signal: aborted (stray.c:%d); its last call was MPI_Free_mem", line("freed"))},
		{"send", fmt.Sprintf("rank 1: MPI_Send (stray.c:%d): MPI_ERR_BUFFER: the buffer is to have 1073741824 bytes, and the program has not as much memory at its address", line("send"))},
		{"block", fmt.Sprintf("rank 1: MPI_Send (stray.c:%d): MPI_ERR_BUFFER: the buffer is to have 16 bytes, and the program has not as much memory at its address", line("block"))},
		{"rendezvous", fmt.Sprintf("rank 1: MPI_Send (stray.c:%d): MPI_ERR_BUFFER: the memory of the buffer or the result %s cannot be accessed", line("rendezvous"), outside)},
		{"pages", "rank 1: MPI_Allreduce (stray.c:"},
		{"gather", fmt.Sprintf("rank 1: MPI_Gather (stray.c:%d): MPI_ERR_BUFFER: the buffer is to have 34359738352 bytes", line("gather"))},
		{"arrays", fmt.Sprintf("rank 1: MPI_Type_indexed (stray.c:%d): MPI_ERR_BUFFER: an argument stands for 8589934588 bytes", line("arrays"))},
		{"handle", fmt.Sprintf("rank 1: MPI_Comm_size (stray.c:%d): MPI_ERR_COMM: invalid communicator: it was freed", line("handle"))},
		{"result", fmt.Sprintf("rank 1: MPI_Comm_size (stray.c:%d): MPI_ERR_BUFFER: the memory of the buffer or the result at address ", line("result"))},
		{"operation", fmt.Sprintf("rank 1: signal: segmentation fault, at address 0x18 (stray.c:%d); its last call was MPI_", line("operation"))},
		{"handler", "rank 1: the program ended with exit status 70; its last call was MPI_Send"},
		{"constructor", "constructor"},
		{"destructor", fmt.Sprintf("rank 0: signal: segmentation fault, at address 0x18 (stray.c:%d); its last call was MPI_Finalize", line("destructor"))},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			before := ""
			for range 2 {
				cmd := exec.Command(os.Args[0], c.how)
				cmd.Env = append(os.Environ(), inProcess+"="+path, "STRAY_"+c.how+"=1")
				out, err := cmd.CombinedOutput()
				text := string(out)
				if err != nil || !strings.Contains(text, "error: ") || !strings.Contains(text, c.want) {
					t.Errorf("%v: %s\nwant %s", err, text, c.want)
				}
				if strings.Contains(text, ".go") || strings.Contains(text, "goroutine") {
					t.Errorf("there is something of Go in\n%s", text)
				}
				if before != "" && before != text {
					t.Errorf("two runs end with\n%s\nand\n%s", before, text)
				}
				before = text
			}
		})
	}
}

// Child processes end with the job.
func TestOrphans(t *testing.T) {
	path := build(t, "field/orphan.c")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), inProcess+"="+path)
	out, err := cmd.Output()
	children := strings.Fields(string(out))
	if err != nil || len(children) != 2 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range children {
		for { // until the test's time is up
			text, err := os.ReadFile("/proc/" + c + "/cmdline")
			if err != nil || !strings.HasPrefix(string(text), os.Args[0]) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// Whatever addresses, numbers and handles a function gets, it fails only with an error that the
// program receives. Null pointers for results are errors. The test runs in its own process: the 2
// GiB windows that it never frees would keep other tests from forking.
func TestWrongArguments(t *testing.T) {
	handles := map[string]string{"MPI_Comm": "MPI_COMM_WORLD", "MPI_Group": "group", "MPI_Datatype": "MPI_INT", "MPI_Op": "MPI_SUM", "MPI_Request": "MPI_REQUEST_NULL", "MPI_Info": "info",
		"MPI_Errhandler": "MPI_ERRORS_RETURN", "MPI_Win": "window", "MPI_Session": "MPI_SESSION_NULL", "MPI_File": "file"}
	var calls strings.Builder
	for _, f := range toolchain.Functions {
		switch f.Name {
		case "MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol", "MPI_Alloc_mem", "MPI_Free_mem", "MPI_Probe", "MPI_Mprobe", "MPI_Comm_disconnect", "MPI_Aint_add", "MPI_Aint_diff",
			"MPI_Win_complete", "MPI_Win_wait", // they wait forever
			"MPI_Session_init": // it would have to be finalized
			continue
		}
		if !f.IsMPI() || len(f.Types) == 0 {
			continue
		}
		var arguments []string
		required := 0
		for _, t := range f.Types {
			handle, isHandle := handles[t]
			switch {
			case isHandle:
				arguments = append(arguments, fmt.Sprintf("handle ? (%s)handle : %s", t, handle))
			case t == "int" || t == "MPI_Aint" || t == "MPI_Count" || t == "MPI_Offset" || t == "MPI_T_cb_safety":
				arguments = append(arguments, "n")
			case strings.Contains(t, "_function"):
				arguments = append(arguments, "0")
			default:
				arguments = append(arguments, "a")
				optional := strings.HasPrefix(f.Name, "MPI_T_") // results are optional
				if !optional && (t == "int *" || t == "MPI_Request *" || t == "MPI_Comm *") {
					required = 1
				}
			}
		}
		fmt.Fprintf(&calls, "\tcheck(%q, %s(%s), a, n, handle, %d);\n", f.Name, f.Name, strings.Join(arguments, ", "), required)
	}
	source := `#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static void check(const char *function, int error, void *a, int n, intptr_t handle, int required) {
	int class;
	if (error == 0 && required && (uintptr_t)a < 4096) printf("%s(%p) succeeds\n", function, a);
	if (error && !(MPI_Error_class(error, &class) == 0 && class != MPI_ERR_INTERN)) printf("%s with %p, %d, %#lx: class %d\n", function, a, n, (long)handle, class);
}
static char memory[1 << 16];
static void call(void *a, int n, intptr_t handle) {
	MPI_Group group;
	MPI_Info info;
	MPI_Win window;
	MPI_File file;
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
	MPI_Info_create(&info);
	MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
` + strings.ReplaceAll(calls.String(), "double", "int") + `}
int main(int c, char **v) {
	MPI_Init(&c, &v);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 4; i++) {
		void *addresses[] = {0, (void *)24, (void *)0x18000, memory};
		int numbers[] = {1, -1, -7, INT_MAX, INT_MIN, 3};
		intptr_t handles[] = {0, 0x12345678, (1 << 27) | 77, 0x140, 0x7fff12345678};
		for (int k = 0; k < 6; k++)
			for (int j = 0; j < 5; j++) {
				memset(memory, 0, sizeof memory);
				call(addresses[i], numbers[k], handles[j]);
				memset(memory, 0xff, sizeof memory);
				call(addresses[i], numbers[k], handles[j]);
			}
	}
	printf("end\n");
	MPI_Finalize();
	return 0;
}
`
	dir := t.TempDir()
	path := filepath.Join(dir, "arguments")
	if err := os.WriteFile(path+".c", []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	compile(t, path+".c", path)
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), inProcess+"="+path, inProcessRanks+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || out.String() != "end\n" || errs.String() != "error: <nil>\n" {
		t.Errorf("%v, output %s, errors %s", err, out.String(), errs.String())
	}
}
