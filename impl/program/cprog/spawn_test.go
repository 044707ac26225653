//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/platform"
)

// spareRanks is the largest number of spare ranks that a program of testdata/spawn needs.
const spareRanks = 7

// runWithSpare runs a program with additional spare ranks.
func runWithSpare(t testing.TB, platform string, ranks, spare int, path string, arguments ...string) (string, error) {
	t.Helper()
	w, o := emulated(t, platform, ranks+spare)
	p := &Program{Path: path, Arguments: arguments}
	o.SpareRanks, o.SpawnedProgram = spare, p.RunSpawned
	return run(t, w, o, p)
}

// Programs spawn others, and groups of ranks connect, with the same output as with Open MPI.
func TestStartedPrograms(t *testing.T) {
	path := build(t, "spawn/suite.c")
	for _, on := range []struct {
		platform string
		ranks    int
	}{{simple, 1}, {simple, 2}, {simple, 3}, {simple, 4}, {simple, 7}, {"t3d", 3}, {"smp-torus", 4}} {
		want, err := os.ReadFile(fmt.Sprintf("testdata/spawn/%d.txt", on.ranks))
		if err != nil {
			t.Fatal(err)
		}
		out, err := runWithSpare(t, on.platform, on.ranks, spareRanks, path)
		if err != nil {
			t.Errorf("%s, %d ranks: %v", on.platform, on.ranks, err)
		}
		if err := firstDifference(out, string(want)); err != nil {
			t.Errorf("%s, %d ranks: %v", on.platform, on.ranks, err)
		}
	}
}

// They do so with each engine.
func TestStartedProgramsWithEachEngine(t *testing.T) {
	p, err := platform.Load("loggp")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/spawn/2.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Libraries {
		if !l.CarriedBy().CarriesMPI() {
			continue
		}
		j, err := job.New(p, l.Name, 2+spareRanks, 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := j.World(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		x := &Program{Path: build(t, "spawn/suite.c")}
		o := j.MPIOptions("")
		o.SpareRanks, o.SpawnedProgram = spareRanks, x.RunSpawned
		out, err := run(t, w, o, x)
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
		if err := firstDifference(out, string(want)); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
}

// One spare rank is enough for programs that run one after another.
func TestSpareRankRunsManyPrograms(t *testing.T) {
	if out, err := runWithSpare(t, simple, 2, 1, build(t, "spawn/suite.c"), "tasks", "each_root"); err != nil || !strings.Contains(out, "tasks 0: 30\n") {
		t.Errorf("%v, output\n%s", err, out)
	}
}

// An error of spawning has a class that the program may handle, or names ranks and lines.
func TestWrongStarts(t *testing.T) {
	path := build(t, "spawn/wrong.c")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		how     []string
		out     string // of rank 0, if the program continues
		failure string
	}{
		{how: []string{"too-many"}, out: "spawn 1 1 1 null\n"},
		{how: []string{"missing", "./no/such/program"}, out: "spawn 1 null\n"},
		{how: []string{"missing", text}, out: "spawn 1 null\n"},
		{how: []string{"missing", ""}, out: "spawn 1 null\n"},
		{how: []string{"nowhere"}, out: "spawn 1 null\n"},
		{how: []string{"none"}, out: "arg\n"},
		{how: []string{"ports"}, out: "port port port service service name\n"},
		{how: []string{"unaccepted"}, out: "port after 5 s value success port after 180 s port\n"},
		{how: []string{"both"}, out: "comm comm\n"},
		{how: []string{"fatal"}, failure: "MPI_Comm_spawn (wrong.c:LINE): MPI_ERR_SPAWN: 5 processes are to be started, and 2 spare ranks are free: reserve more with --spare"},
		{how: []string{"status"}, failure: "rank 2: the program ended with exit status 3"},
		{how: []string{"exit"}, failure: "rank 2: the program ended with exit status 4; its last call was MPI_Comm_rank"},
		{how: []string{"abort"}, failure: "rank 2: Abort: the program ends the job with code 5"},
		{how: []string{"unreceived"}, failure: "rank 2: Finalize: MPI_ERR_OTHER: 1 message was not received; the first is from rank 0 of the other group of 2 (rank 0 of the job) with tag 9, of 4 bytes"},
		{how: []string{"lonely"}, failure: "deadlock: 2 of 3 ranks wait, 1 has ended and nothing is under way\n  rank 0: in MPI_Recv"},
		{how: []string{"busy"}, failure: "waits for spare ranks whose program is about to end; reserve more with --spare"},
	} {
		w, o := emulated(t, simple, 2+2)
		o.Check = mpi.CheckWarn
		p := &Program{Path: path, Arguments: c.how}
		o.SpareRanks, o.SpawnedProgram = 2, p.RunSpawned
		out, err := run(t, w, o, p)
		if err == nil {
			err = p.ExitError()
		}
		failure := strings.ReplaceAll(c.failure, "LINE", fmt.Sprint(lineOf(t, "testdata/spawn/wrong.c", "/* fatal */")))
		switch {
		case out != c.out:
			t.Errorf("%q: output %q, want %q (%v)", c.how, out, c.out, err)
		case (err == nil) != (failure == ""), err != nil && !strings.Contains(err.Error(), failure):
			t.Errorf("%q: %v, want %q", c.how, err, failure)
		}
	}
}

// lineOf returns the number of the line that contains a text.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(source), text)
	if !found {
		t.Fatalf("%s has no %q", file, text)
	}
	return strings.Count(before, "\n") + 1
}
