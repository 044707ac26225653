//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// Programs of testdata/field have failed for users. Their first lines say why.
var fieldPrograms = []struct {
	source   string
	ranks    int
	argument string
	options  []string // for the compiler
	want     string   // expected output
	wrong    string   // expected error with two ranks; "": none
}{
	{source: "intercoll_corruption.c", ranks: 8, want: "ok\n"},
	{source: "attrdelete.c", ranks: 2},
	{source: "nullranks.c", ranks: 2, wrong: "rank 0: MPI_Group_translate_ranks (nullranks.c:6): MPI_ERR_ARG: an argument that must be an address is a null pointer"},
	{source: "nullout.c", ranks: 2, wrong: "rank 0: MPI_Comm_size (nullout.c:5): MPI_ERR_ARG: argument size is a null pointer"},
	{source: "omp_region.c", ranks: 1, argument: "2", options: []string{"-O2", "-fopenmp"}, want: "ok 0 1400 level 0\n"},
	{source: "omp_region.c", ranks: 2, argument: "1", options: []string{"-O2", "-fopenmp"}, want: "ok 1 1400 level 0\n"},
	{source: "omp_region.c", ranks: 4, argument: "2", options: []string{"-O2", "-fopenmp"}, want: "ok 6 1400 level 0\n"},
	{source: "omp_region.c", ranks: 8, argument: "1", options: []string{"-O2", "-fopenmp"}, want: "ok 28 1400 level 0\n"},
	{source: "ompshm.c", ranks: 4, options: []string{"-fopenmp"}, want: "499500\n"},
	{source: "thr.c", ranks: 2, argument: "multiple", want: "provided 4096 (multiple 4096)\nthread of 0 rank 0 done\nthread of 1 rank 1 done\n"},
	{source: "thr.c", ranks: 2, argument: "funneled", want: "provided 1024 (multiple 4096)\n",
		wrong: "rank 0: MPI_Comm_rank (thr.c:6) is called in a thread that the program has started: only the thread that runs main may call MPI, as MPI_Init_thread has not provided MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE"},
	{source: "threadsalone.c", ranks: 3, want: "generalized 0: main 3 4 5 6\ngeneralized 1: main 3 4 5 6\ngeneralized 2: main 3 4 5 6\ncounter 0: 60 5 5 5 5\ncounter 1: 0 5 5 5 5\ncounter 2: 0 5 5 5 5\n"},
	{source: "stdthreads.cpp", ranks: 2, want: "0: 64 102 3\n1: 24 102 3\n"},
	{source: "ompserialized.c", ranks: 3, options: []string{"-fopenmp"}, want: "0: serialized 1, 220 20\n1: serialized 1, 60 20\n2: serialized 1, 140 20\n"},
	{source: "threadends.c", ranks: 2, argument: "none"},
	{source: "threadends.c", ranks: 2, argument: "main leaves", want: "thread\n"},
	{source: "threadends.c", ranks: 2, argument: "exit", wrong: "rank 1: the program ended with exit status 5; its last call was MPI_Barrier"},
	{source: "threadends.c", ranks: 2, argument: "signal", wrong: "rank 1: signal: segmentation fault, at address 0x18 (threadends.c:18); its last call was MPI_Barrier"},
	{source: "threadends.c", ranks: 2, argument: "abort", wrong: "rank 1: the program called abort, or an assertion failed (threadends.c:19); its last call was MPI_Barrier"},
	{source: "threadends.c", ranks: 2, argument: "error", wrong: "rank 1: MPI_Send (threadends.c:20): MPI_ERR_RANK: rank 7 is not in a communicator of 2"},
	{source: "threadends.c", ranks: 2, argument: "MPI_Abort", wrong: "rank 1: Abort: the program ends the job with code 9"},
	{source: "threadends.c", ranks: 2, argument: "locks",
		wrong: "rank 1: deadlock of its threads: the main thread in pthread_join (threadends.c:56), thread 1 in pthread_mutex_lock (threadends.c:25), thread 2 in pthread_mutex_lock (threadends.c:36)"},
	{source: "threadends.c", ranks: 2, argument: "receives",
		wrong: "deadlock: 2 of 2 ranks wait and nothing is under way\n  rank 0: in MPI_Barrier (threadends.c:58), waits for a message from rank 1\n" +
			"  rank 1: in MPI_Recv of thread 1 (threadends.c:27), waits for a message from rank 0 with tag 3; the main thread in pthread_join (threadends.c:56), thread 2 in sem_wait (threadends.c:38)\n" +
			"Each of these waits for the next: rank 0 → rank 1 → rank 0"},
	{source: "threads.c", ranks: 2, argument: "worker", options: []string{"-fopenmp"}, wrong: "rank 1: signal: segmentation fault, at address 0x18 (threads.c:13); its last call was MPI_Comm_rank"},
	{source: "threads.c", ranks: 2, argument: "master", options: []string{"-fopenmp"}, wrong: "rank 1: signal: segmentation fault, at address 0x18 (threads.c:14); its last call was MPI_Comm_rank"},
	{source: "threads.c", ranks: 2, argument: "stack", options: []string{"-fopenmp"}, wrong: "rank 1: stack overflow: the stack has 8192 KiB; --stack makes it larger (threads.c:7); its last call was MPI_Comm_rank"},
	{source: "threads.c", ranks: 2, argument: "exit", options: []string{"-fopenmp"}, wrong: "rank 1: the program ended with exit status 5; its last call was MPI_Comm_rank"},
	{source: "threads.c", ranks: 2, argument: "abort", options: []string{"-fopenmp"}, wrong: "rank 1: the program called abort, or an assertion failed (threads.c:17); its last call was MPI_Comm_rank"},
	{source: "threads.c", ranks: 2, argument: "critical", options: []string{"-fopenmp"}, want: "1\n"},
	{source: "fork.c", ranks: 2, want: "child ended with 4\nchild ended with 4\n"},
	{source: "dtexit.c", ranks: 2, want: "result of rank 0\n", wrong: "rank 0: the program ended with exit status 1"},
	{source: "truncerr.c", ranks: 2, want: "truncated: 1\n"},
	{source: "commidup_inter.c", ranks: 2, want: ""},
	{source: "idup_groups.c", ranks: 5, want: "0 of 2 and 3: 0\n1 of 3 and 2: 0\n"},
	{source: "truncated.c", ranks: 2, want: "bad 0\n"},
	{source: "automatic.c", ranks: 2, want: "0: wrong 0, the library's 1, size 0\n1: wrong 0, the library's 1, size 0\n"},
	{source: "truncated_collectives.c", ranks: 3, want: "bad 0\nbad 0\nbad 0\n"},
	{source: "dtor.c", ranks: 2, want: "atexit 0\ndestructor 0\natexit 1\ndestructor 1\n"},
	{source: "cxxstatic.cpp", ranks: 2, want: "destroyed 1\ndestroyed 1\n"},
	{source: "endings.cpp", ranks: 1, want: "atexit\nlocal\non_exit 0\nglobal\ndestructor\nbuffered\n"},
	{source: "children.c", ranks: 1, want: "exit 5, output of the child\nexec 6\nvfork 7\nabort 6\nsleep 8\nMPI 1\n"},
	{source: "largewrong.c", ranks: 3, want: "ok\n"},
	{source: "sessions.c", ranks: 3, want: "rank 0 of 3, sum 3\nrank 1 of 3, sum 3\nrank 2 of 3, sum 3\n"},
	{source: "sessions.c", ranks: 2, argument: "open", wrong: "rank 0: the program ended without MPI_Session_finalize; its last call was MPI_Session_init"},
	{source: "sessions.c", ranks: 2, argument: "world", wrong: "rank 0: MPI_Comm_rank (sessions.c:16): MPI_ERR_OTHER: it is called before MPI_Init"},
	{source: "tools.c", ranks: 2},
	{source: "later.c", ranks: 2},
	{source: "errhandlers.c", ranks: 1, want: "called 2 times, 1\n"},
	{source: "attributes.c", ranks: 1, want: "ok\n"},
	{source: "splits.c", ranks: 3, want: "1 1 0 0 1 1\n"},
	{source: "rma.c", ranks: 4},
	{source: "files.c", ranks: 2, want: "ok\n"},
	{source: "files.c", ranks: 2, argument: "fatal", wrong: "rank 0: MPI_File_open (files.c:60): MPI_ERR_NO_SUCH_FILE: open /none/such: no such file or directory"},
	{source: "overlapping.c", ranks: 4, want: "0 accepted; 0 10\n"},
	{source: "unreceived.c", ranks: 2, want: "error 1 of class 1, freed 1\n"},
	{source: "manycomms.c", ranks: 2, want: "rank 0 holds 16384; refused 1 1 1 1 1, then 0\nrank 1 holds 0; refused 1 1 1 1 1, then 0\n"},
	{source: "handlercode.c", ranks: 1, want: "1 1, 1 call\n1 1, 1 call\n1 1 12 1 1 mpi://WORLD\n1 1\n"},
	{source: "buffers.c", ranks: 2, want: "comm 0 1 0 1, second 1, back 1 1\nautomatic 1, back 1 0\nsession 0 1 0 0, back 1 1\nprocess 1 10\n"},
	{source: "views.c", ranks: 1, want: "before the file 111, descending 111, overlapping 111, touching 000\nbefore the file 111, descending 111, overlapping 000, touching 000\n"},
	{source: "hints.c", ranks: 2, want: "no_locks=true\naccumulate_ordering=rar,raw,war,waw\naccumulate_ops=same_op_no_op\nsame_size=false\nsame_disp_unit=false\nown=?\n"},
}

// They print what they print with other implementations, even under permanent garbage collection
// and moving of goroutine stacks.
func TestFieldPrograms(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	dir := t.TempDir()
	paths := map[string]string{}
	for _, c := range fieldPrograms {
		t.Run(c.source, func(t *testing.T) {
			if strings.HasSuffix(c.source, ".cpp") {
				if _, err := exec.LookPath("g++"); err != nil {
					t.Skip(err)
				}
				t.Setenv("CC", "g++")
			}
			path := paths[c.source]
			if path == "" {
				path = filepath.Join(dir, c.source+".program")
				compile(t, filepath.Join("testdata/field", c.source), path, append([]string{"-g"}, c.options...)...)
				paths[c.source] = path
			}
			if c.wrong != "" { // it may leave locks held in this process, so it runs in one of its own
				var out, errs strings.Builder
				cmd := exec.Command(os.Args[0], c.argument)
				cmd.Env = append(os.Environ(), inProcess+"="+path, "GOGC=1")
				cmd.Stdout, cmd.Stderr = &out, &errs
				if err := cmd.Run(); err != nil || out.String() != c.want || errs.String() != "error: "+c.wrong+"\n" {
					t.Errorf("%v, output %q, errors %q, want %q and %q", err, out.String(), errs.String(), c.want, c.wrong)
				}
				return
			}
			w, o := emulated(t, simple, c.ranks)
			if out, err := run(t, w, o, &Program{Path: path, Arguments: []string{c.argument}}); out != c.want || err != nil {
				t.Errorf("error %v, output %q, want %q", err, out, c.want)
			}
		})
	}
}
