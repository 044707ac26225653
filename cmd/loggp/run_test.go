package main

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Programs run on every platform, find their results right, and their times add up.
func TestRun(t *testing.T) {
	row := regexp.MustCompile(`(?m)^ +0 +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)`)
	for _, platform := range []string{"t3d", "convex", "now", "loggp"} {
		for _, program := range []string{"ring", "stencil", "matmul", "sort", "cg"} {
			args := []string{"run", "--platform", platform, "-n", "4", "--size", "12", "--rounds", "4", "--operation", "100ns", program}
			out := mustRun(t, args...)
			if out != mustRun(t, args...) {
				t.Errorf("%s on %s: another time, other numbers", program, platform)
			}
			x := row.FindStringSubmatch(out)
			if x == nil || !strings.Contains(out, "result correct") {
				t.Fatalf("%s on %s:\n%s", program, platform, out)
			}
			if x[1] == "0.000" || x[2] == "0.000" || x[4] == "0.000" {
				t.Errorf("%s on %s: rank 0 computes %s, works %s and ends at %s us", program, platform, x[1], x[2], x[4])
			}
		}
	}
}

// By hand: each of 3 rounds, a rank of ring adds 1000 numbers.
func TestRunComputes(t *testing.T) {
	if out := mustRun(t, "run", "--platform", "t3d", "-n", "2", "--operation", "100ns", "ring"); !strings.Contains(out, "   0     300.0 ") {
		t.Errorf("3000 operations of 100 ns are not 300 us in\n%s", out)
	}
}

// By hand: the one collective operation of ring is an allreduce of 4 bytes, by which ranks agree
// that the result is right. Of 4 ranks, 3 send them up a tree and get them down again, 24 bytes; in
// recursive doubling each sends them twice, which is what the usual table takes; in two levels the
// leader of each of two nodes sends them to the other and down, and gets them from below, 24 bytes,
// but first ranks say by the algorithm of Bruck where they are: each sends one number of 4 bytes,
// and then two, 48 bytes.
func TestRunForces(t *testing.T) {
	args := []string{"run", "--platform", "t3d", "-n", "4", "--profile", "ring"}
	sends := regexp.MustCompile(`(?m)^MPI_Allreduce .* (\d+)$`)
	usual := mustRun(t, args...)
	for algorithm, want := range map[string]string{"reduce-bcast": "24", "recursive-doubling": "32", "two-level": "72"} {
		out := mustRun(t, append(args, "--collective", "bcast=linear, allreduce = "+algorithm)...)
		if got := sends.FindStringSubmatch(out); got == nil || got[1] != want || !strings.Contains(out, "allreduce uses "+algorithm) {
			t.Errorf("%s: sends %q bytes, not %s, in\n%s", algorithm, got, want, out)
		}
		note := " bcast uses linear. allreduce uses " + algorithm + "."
		if same := strings.Replace(out, note, "", 1) == usual; same != (algorithm == "recursive-doubling") {
			t.Errorf("%s as what is usual: %v in\n%s\nnot\n%s", algorithm, same, out, usual)
		}
	}
}

// What is forced on a program that makes no such call changes nothing, and that is said.
func TestRunForcesNothing(t *testing.T) {
	var out, errs buffer
	args := []string{"run", "--platform", "t3d", "-n", "4", "--collective", "reduce-scatter=pairwise,allreduce=ring", "ring"}
	if status := runCommandLine(t.Context(), args, &out, &errs); status != 0 || strings.Count(errs.String(), "has no effect") != 1 ||
		!strings.Contains(errs.String(), "algorithm reduce-scatter=pairwise has no effect: ring makes no such call") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// By hand: in ring, each of 4 ranks sends a message of 12 numbers in each of 3 rounds and receives
// one, and where messages cost nothing but their overheads, Send takes o_s.
func TestRunProfile(t *testing.T) {
	out := mustRun(t, "run", "--platform", "loggp:L=5us,o_s=2us,o_r=3us,g=1us,G=0us/B", "-n", "4", "--size", "12", "--rounds", "3", "--operation", "100ns", "--profile", "ring")
	for _, want := range []string{`(?m)^MPI_Send +12 +[\d.]+ +24\.00 +0\.000 +0\.000 +2\.000 +2\.000 +2\.000 +1152$`, `(?m)^MPI_Recv +12 `} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// Benchmarks print NPB's lines, the same each time, and the statistics of the run. By the
// specification, class S of CG has 1400 rows and 15 iterations.
func TestRunBenchmark(t *testing.T) {
	args := []string{"run", "--platform", "t3d", "-n", "4", "npb-cg"}
	out := mustRun(t, args...)
	for _, want := range []string{`Class +S`, `Size +1400`, `Iterations +15`, `Time in seconds +[01]\.\d+`, `Total processes +4`, `Verification +SUCCESSFUL`, `computes`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if mustRun(t, args...) != out {
		t.Error("another time, other numbers")
	}
	for _, bad := range [][]string{{"--size", "3", "npb-cg"}, {"--class", "S", "ring"}, {"--class", "X", "npb-cg"}, {"--class", "SW", "npb-cg"}, {"-n", "3", "npb-cg"}} {
		var out, errs buffer
		if runCommandLine(t.Context(), append([]string{"run", "--platform", "t3d"}, bad...), &out, &errs) == 0 {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// By hand: a LogGP machine of 0.01 us a byte takes 100 MB/s from each rank, and as much to each.
func TestRunTraffic(t *testing.T) {
	machine := []string{"run", "--platform", "loggp:L=5us,o_s=0us,o_r=0us,g=0us,G=0.01us/B", "-n", "5", "--size", "100KB", "--rounds", "40", "--format", "csv"}
	for program, want := range map[string]float64{"shift": 100, "permutation": 100, "incast": 25} {
		rows := 0
		for line := range strings.Lines(mustRun(t, append(machine, program)...)) {
			cells := strings.Split(strings.TrimSpace(line), ",")
			if len(cells) != 6 || cells[0] != "" {
				continue
			}
			if rate, err := strconv.ParseFloat(cells[5], 64); err != nil || rate < 0.97*want || rate > 1.01*want { // rank 0 looks at its clock a little after the others have begun
				t.Errorf("%s: %s", program, line)
			}
			rows++
		}
		if rows < 4 {
			t.Errorf("%s: %d flows", program, rows)
		}
	}
	for want, args := range map[string][]string{
		"--stride: incast does not take it; it takes size, rounds, root, data": {"incast", "--stride", "2"},
		"--root: cg does not take it":                                          {"cg", "--root", "2"},
		"--operation: shift does not take it":                                  {"shift", "--operation", "1us"},
		"--size: size \"x\": does not begin with a number":                     {"shift", "--size", "x"},
		"--stride 4: with 4 ranks each would send to it":                       {"shift", "--stride", "4"},
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), append([]string{"run", "--platform", "t3d", "-n", "4"}, args...), &out, &errs); status != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: status %d: %s", args, status, errs.String())
		}
	}
}

// A schedule that runs on an emulated LogGP machine takes as long as by the simulation, to the
// nanosecond: two programs that have no line in common.
func TestRunSchedule(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.goal")
	takes, finishes := regexp.MustCompile(`takes ([0-9.]+) us`), regexp.MustCompile(`"finishing_time_ns": (\d+)`)
	for _, pattern := range []string{"bcast", "alltoall", "allreduce", "halo", "ring", "dissemination", "incast", "reduce"} {
		for _, ranks := range []string{"2", "8", "13"} {
			mustRun(t, "schedule", pattern, "-n", ranks, "--size", "3000B", "-o", file)
			machine := takes.FindStringSubmatch(mustRun(t, "run", "--platform", "loggp:L=2.5us,o_s=1.5us,o_r=1.5us,g=1us,G=0.006us/B", file))
			simulated := finishes.FindStringSubmatch(mustRun(t, "simulate", file, "--loggops", "L=2500ns,o=1500ns,g=1000ns,G=6ns,O=0ns,S=65535", "--format", "json"))
			if machine == nil || simulated == nil {
				t.Fatalf("%s: no times", pattern)
			}
			us, err := strconv.ParseFloat(machine[1], 64)
			ns, err2 := strconv.ParseFloat(simulated[1], 64)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if pattern == "reduce" { // messages that come out of order, to a rank that waits
				n, err := strconv.Atoi(ranks)
				if err != nil {
					t.Fatal(err)
				}
				ns -= float64(n-2) * 1500
			}
			if d := us*1000 - ns; d < -1 || d > 1 {
				t.Errorf("%s of %s ranks takes %s us on the machine, %s ns in the simulation", pattern, ranks, machine[1], simulated[1])
			}
		}
	}
	for want, args := range map[string][]string{
		"x.goal does not take it":     {"--size", "3"},
		"--check: ":                   {"--check", "off"},
		"--ranks 3: ":                 {"-n", "3"},
		"deadlock: 2 of 2 ranks wait": nil,
		"--platform: say on what to run: hdr-fattree, slingshot": {"--platform", ""},
	} {
		write(t, file, "num_ranks 2\nrank 0 {\nrecv 8b from 1\n}\nrank 1 {\nrecv 8b from 0\n}\n")
		var out, errs buffer
		if status := runCommandLine(t.Context(), append([]string{"run", "--platform", "t3d", file}, args...), &out, &errs); status == exitSuccess || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: status %d: %s", args, status, errs.String())
		}
	}
}

// What is recorded of a program in processes is its schedule, which runs in processes and is
// simulated.
func TestRunRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	if out := mustRun(t, "run", "--platform", "shm", "-n", "3", "--size", "12", "--rounds", "2", "--record", "x.goal", "cg"); !strings.Contains(out, "on shm, loggp: result correct") {
		t.Errorf("the program prints %s", out)
	}
	for _, args := range [][]string{{"run", "--platform", "tcp", "x.goal"}, {"run", "--platform", "t3d", "--record", "again.goal", "x.goal"}, {"simulate", "x.goal"}} {
		mustRun(t, args...)
	}
	if out := mustRun(t, "run", "--platform", "shm", "--library", "aclmpl", "spheres", "-n", "3"); !strings.Contains(out, "spheres a second") {
		t.Errorf("a program of any library prints %s", out)
	}
	one, err := os.ReadFile("x.goal")
	two, wrong := os.ReadFile("again.goal")
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	messages := regexp.MustCompile(`(send|recv) .*`)
	a, b := messages.FindAllString(string(one), -1), messages.FindAllString(string(two), -1)
	slices.Sort(a)
	if slices.Sort(b); len(a) < 50 || !slices.Equal(a, b) {
		t.Errorf("%d messages are recorded of the program, and %d, or others, of its schedule", len(a), len(b))
	}
	for want, args := range map[string][]string{
		"--record: it is for libraries of MPI": {"run", "--platform", "t3d", "-n", "4", "--library", "aclmpl", "--record", "y.goal", "spheres"},
		"--profile: it is for emulated":        {"run", "--platform", "shm", "--profile", "cg"},
		"--compute: it is for emulated":        {"run", "--platform", "shm", "--compute", "measured", "./hello"},
		"--compute fast: it is none":           {"run", "--platform", "t3d", "--compute", "fast", "./hello"},
		"--record: on shm it is for":           {"run", "--platform", "shm", "--record", "y.goal", "spheres"},
		"there is no directory none":           {"run", "--platform", "t3d", "--record", "none/y.goal", "cg"},
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), args, &out, &errs); status == exitSuccess || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: status %d: %s", args, status, errs.String())
		}
	}
}

// On a LogGOPS machine the parameters are found and all operations take what the simulation says,
// but the linear reduction, whose messages come out of order; other machines and files stand beside
// it.
func TestCompareSchedules(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "schedule", "ring", "-n", "4", "--size", "1000B", "-o", "ring.goal")
	args := []string{"compare", "--platform", "loggp:L=7us,o_s=2us,o_r=2us,g=3us,G=0.01us/B", "-n", "4", "--collective", "bcast,alltoall,reduce,barrier", "--schedule", "ring.goal", "--format", "csv"}
	out := mustRun(t, args...)
	const machine = "\"loggp:L=7us,o_s=2us,o_r=2us,g=3us,G=0.01us/B\","
	if sum := mustRun(t, append(args, "--table", "summary")...); !strings.Contains(sum, "\"L=7us,o=2us,g=3us,G=10ns,O=0ps\"") {
		t.Errorf("the parameters are not those of the machine:\n%s", sum)
	}
	exact, others := 0, 0
	for _, line := range strings.Split(out, "\n") {
		percent, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ',')+1:], 64)
		switch {
		case err == nil && math.Abs(percent) < 0.05 && strings.HasPrefix(line, machine):
			exact++
		case strings.HasPrefix(line, machine+"reduce,linear"):
			others++
		case strings.HasPrefix(line, machine):
			t.Errorf("not exact: %s", line)
		}
	}
	if exact < 15 || others != 2 {
		t.Errorf("%d operations are exact:\n%s", exact, out)
	}
	if out := mustRun(t, "compare", "--platform", "t3d,shm,tcp", "-n", "2", "--collective", "barrier", "--loggops", "L=1us,o=1us"); strings.Count(out, "dissemination") != 3 {
		t.Errorf("not on all machines: %s", out)
	}
	for want, args := range map[string][]string{
		"say which schedules to run":        {"--platform", "t3d"},
		"--collective: it needs --platform": {"--collective", "all"},
		"--params and --loggops":            {"--platform", "t3d", "--collective", "all", "--params", "x", "--loggops", "L=1us"},
		"--samples: it does not go with":    {"--platform", "t3d", "--samples", "x"},
	} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), append([]string{"compare"}, args...), &out, &errs); status != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: status %d: %s", args, status, errs.String())
		}
	}
}

// One binary runs on an emulated machine and, one process a rank, on this one.
func TestRunCHere(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "sum.c", `#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
	int rank, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int x = argc > 1 ? rank : getpid();
	double begin = MPI_Wtime();
	usleep(1000);
	if (MPI_Wtime() - begin < 0.0009) return 1;
	MPI_Reduce(&x, &sum, 1, MPI_INT, MPI_BXOR, 0, MPI_COMM_WORLD);
	if (rank == 0) printf("%d\n", sum);
	MPI_Finalize();
}
`)
	var out, errs strings.Builder
	if status := runCommandLine(t.Context(), []string{"cc", "sum.c", "-o", "sum"}, &out, &errs); status != exitSuccess {
		t.Skip(errs.String())
	}
	for _, platform := range []string{"t3d", "shm", "tcp"} {
		if out := mustRun(t, "run", "--platform", platform, "-n", "4", "./sum", "ranks"); out != "0\n" {
			t.Errorf("%s: the sum is %q", platform, out)
		}
	}
	if out := mustRun(t, "run", "--platform", "t3d", "-n", "2", "./sum"); out != "0\n" {
		t.Errorf("ranks of an emulated machine are processes: %q", out)
	}
	if out := mustRun(t, "run", "--platform", "shm", "-n", "2", "./sum"); out == "0\n" {
		t.Error("ranks of this machine are one process")
	}
}

// What configure and make do with a compiler: they run what it made, and put its name, or that of a
// script that calls it, into the environment that it gets.
func TestCompilerOfOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "part.c", `#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <mpi.h>
static int begun;
static void end(void) { puts("end"); }
__attribute__((constructor)) static void begin(void) { begun = 1; }
int main(int argc, char **argv) {
	atexit(end);
	printf("%d %d %s\n", begun, time(NULL) > 1000000000, argv[argc - 1]);
	if (argc > 2) MPI_Init(&argc, &argv);
	return 3;
}
`)
	loggp, err := filepath.Abs("loggp-command") // TestMain knows it by this name
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.Args[0], loggp); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "wrapper")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+loggp+" cc \"$@\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, cc := range []string{"", loggp + " cc", script} {
		t.Setenv("CC", cc)
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		if out, err := exec.CommandContext(ctx, loggp, "cc", "part.c", "-o", "part").CombinedOutput(); err != nil {
			if _, missing := exec.LookPath("cc"); missing != nil {
				t.Skip(missing)
			}
			t.Fatalf("CC=%s: %v\n%s", cc, err, out)
		}
		for _, c := range []struct {
			args   []string
			out    string
			status int
		}{
			{[]string{"x"}, "1 1 x\nend\n", 3},
			{[]string{"x", "y"}, "was not started by 'loggp run", 1},
		} {
			cmd := exec.CommandContext(ctx, "./part", c.args...)
			out, _ := cmd.CombinedOutput()
			if !strings.Contains(string(out), c.out) || cmd.ProcessState.ExitCode() != c.status {
				t.Errorf("CC=%s: ./part %v: %v, %s", cc, c.args, cmd.ProcessState, out)
			}
		}
	}
	compiles, links := mustRun(t, "cc", "-showme:compile"), mustRun(t, "cc", "-showme:link")
	if all := mustRun(t, "cc", "-show", "part.o"); !strings.Contains(all, strings.Fields(compiles)[0]) || !strings.HasSuffix(all, links) {
		t.Errorf("%s\n%s\n%s", all, compiles, links)
	}
}

// The course of a run is written as a page with what was printed, as trace events whose calls say
// with whom they exchange what, and as a picture.
func TestRunCourse(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"run", "--platform", "t3d", "-n", "2", "--size", "100", "--rounds", "1"}
	mustRun(t, append(args, "-o", "page", "ring")...)
	page, err := os.ReadFile("page/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The run takes ", "<h2>Time line</h2>", "<h2>By rank</h2>", "800 bytes to rank 1, tag 0", "4 bytes to rank 1; 4 bytes from rank 1<", "loggp run --platform t3d --ranks 2"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	mustRun(t, append(args, "-o", "ring.json", "--profile", "ring")...)
	events, err := os.ReadFile("ring.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"sends":{"bytes":800,"peer":1,"tag":0}`, `"receives":{"bytes":800,"peer":0,"tag":0}`} {
		if !strings.Contains(string(events), want) {
			t.Errorf("the events do not have %s", want)
		}
	}
	mustRun(t, append(args, "-o", "ring.svg", "ring")...)
	for want, args := range map[string][]string{
		"ends in .txt":            append(args, "-o", "ring.txt", "ring"),
		"for emulated machines":   {"run", "--platform", "shm", "-n", "2", "-o", "page", "ring"},
		"name one placement":      {"run", "--platform", "start-x", "--place", "2,1+1", "-o", "page", "ring"},
		"there is no directory x": append(args, "-o", "x/page", "ring"),
	} {
		var out, errs buffer
		if status := runCommandLine(context.Background(), args, &out, &errs); status == exitSuccess || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: %s, want %q", args, errs.String(), want)
		}
	}
}

// Each protocol brings the same data to the same call, whoever moves it.
func TestTracePeers(t *testing.T) {
	for _, x := range [][2]string{{"T", "send"}, {"TA", "ssend"}, {"RTA", "ssend"}, {"RAT", "ssend"}, {"PTAT", "ssend"}} {
		out := mustRun(t, "trace", "--platform", "t3d", "--protocol", x[0], "--mode", x[1], "--size", "300")
		for _, want := range []string{"300 bytes to rank 3, tag 0", "300 bytes from rank 0, tag 0"} {
			if strings.Count(out, want) != 1 {
				t.Errorf("%s: not once %q in\n%s", x[0], want, out)
			}
		}
	}
}
