package versus

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/impl/program/npb"
	"github.com/loggp/loggp/model/collective"
)

// emulation is a whole program on an emulated machine: a pattern, in Go and in C, or a benchmark
// of NPB, in Go.
type emulation struct {
	pattern              string // of testdata/patterns.c, or the name of a benchmark of NPB
	ranks, rounds, bytes int
	class                string // of NPB
}

func (e emulation) name() string { return fmt.Sprintf("%s%s-%d", e.pattern, e.class, e.ranks) }

// countMessages returns the number of messages that programs send with the forced algorithms; 0:
// unknown.
func (e emulation) countMessages() int {
	switch e.pattern {
	case "pingpong":
		return e.ranks * e.rounds
	case "halo":
		return 4 * e.ranks * e.rounds
	case "allreduce":
		steps := 0
		for 1<<steps < e.ranks {
			steps++
		}
		return e.ranks * steps * e.rounds
	case "alltoall":
		return e.ranks * (e.ranks - 1) * e.rounds
	case "bcast":
		return (e.ranks - 1) * e.rounds
	}
	return 0
}

// emulations are programs of some hundred thousand messages, but for the all-to-all of 1,024 ranks.
var emulations = []emulation{
	{pattern: "pingpong", ranks: 2, rounds: 100_000, bytes: 8},
	{pattern: "pingpong", ranks: 1024, rounds: 100, bytes: 8},
	{pattern: "halo", ranks: 1024, rounds: 25, bytes: 1024},
	{pattern: "allreduce", ranks: 1024, rounds: 10, bytes: 1024},
	{pattern: "bcast", ranks: 1024, rounds: 100, bytes: 1024},
	{pattern: "alltoall", ranks: 256, rounds: 1, bytes: 1024},
	{pattern: "alltoall", ranks: 1024, rounds: 1, bytes: 1024},
	{pattern: "npb-cg", ranks: 8, class: "S"},
	{pattern: "npb-ft", ranks: 8, class: "S"},
	{pattern: "npb-lu", ranks: 8, class: "W"},
	{pattern: "npb-is", ranks: 64, class: "A"},
}

// emulatedPlatforms are a torus, a fabric and the machine that is LogGP itself.
var emulatedPlatforms = []string{"t3d", "hdr-fattree", "loggp"}

// emulatedAlgorithms are the same for all libraries and for SMPI, which so sends as many messages.
var emulatedAlgorithms = []struct {
	operation       collective.Operation
	algorithm, smpi string
}{
	{collective.Allreduce, "recursive-doubling", "smpi/allreduce:rdb"},
	{collective.Alltoall, "pairwise", "smpi/alltoall:pair"},
	{collective.Bcast, "binomial", "smpi/bcast:binomial_tree"},
}

// usage is what one run took.
type usage struct {
	processorTime  time.Duration
	kernel         hw.KernelStatistics
	allocatedBytes uint64 // by Go, but for stacks
}

// measureEmulation runs a program on a platform with its first library.
func measureEmulation(tb testing.TB, platform string, e emulation, program func(*mpi.Comm) error) (u usage) {
	tb.Helper()
	j, err := job.Open(platform, "", e.ranks, 0)
	if err != nil {
		tb.Fatal(err)
	}
	for _, a := range emulatedAlgorithms {
		j.ForcedRules = append(j.ForcedRules, collective.Rule{Operation: a.operation, MaxBytes: -1, Algorithm: a.algorithm})
	}
	j.KernelStatistics = &u.kernel
	j.CheckMode = mpi.CheckOff
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := processorTime(tb)
	w, err := j.World(tb.Context(), 1)
	if err == nil {
		err = mpi.Run(w, j.MPIOptions(""), program)
	}
	if err != nil {
		tb.Fatal(err)
	}
	u.processorTime = processorTime(tb) - begin
	runtime.ReadMemStats(&after)
	u.allocatedBytes = after.TotalAlloc - before.TotalAlloc
	return u
}

// processorTime returns the time that this process has used processors.
func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// goProgram returns the program in Go.
func (e emulation) goProgram() func(*mpi.Comm) error {
	for _, b := range npb.Benchmarks {
		if b.Name == e.pattern {
			return func(c *mpi.Comm) error {
				_, err := b.Run(c, npb.Settings{Class: e.class})
				return err
			}
		}
	}
	return func(c *mpi.Comm) error {
		switch e.pattern {
		case "pingpong":
			exchangeMessages(c, e)
		case "halo":
			exchangeHalos(c, e)
		default:
			callCollective(c, e)
		}
		return nil
	}
}

// exchangeMessages, exchangeHalos and callCollective are the functions of testdata/patterns.c.
func exchangeMessages(c *mpi.Comm, e emulation) {
	peer, b := (c.Rank()+c.Size()/2)%c.Size(), make([]byte, e.bytes)
	for range e.rounds {
		if c.Rank() < peer {
			mpi.Send(c, b, peer, 0)
			mpi.Recv(c, b, peer, 0)
		} else {
			mpi.Recv(c, b, peer, 0)
			mpi.Send(c, b, peer, 0)
		}
	}
}

func exchangeHalos(c *mpi.Comm, e emulation) {
	rows := 1
	for rows*rows < c.Size() {
		rows *= 2
	}
	columns := c.Size() / rows
	row, column := c.Rank()/columns, c.Rank()%columns
	neighbours := [4]int{(row+1)%rows*columns + column, (row+rows-1)%rows*columns + column, row*columns + (column+1)%columns, row*columns + (column+columns-1)%columns}
	out, in := make([]byte, 4*e.bytes), make([]byte, 4*e.bytes)
	requests := make([]mpi.Request, 8)
	for range e.rounds {
		for k := range neighbours {
			requests[k] = mpi.Irecv(c, in[k*e.bytes:][:e.bytes], neighbours[k^1], k)
		}
		for k, to := range neighbours {
			requests[4+k] = mpi.Isend(c, out[k*e.bytes:][:e.bytes], to, k)
		}
		mpi.WaitAll(requests, nil)
	}
}

func callCollective(c *mpi.Comm, e emulation) {
	switch e.pattern {
	case "allreduce":
		out, in := make([]int64, e.bytes/8), make([]int64, e.bytes/8)
		for range e.rounds {
			mpi.Allreduce(c, out, in, mpi.Sum)
		}
	case "alltoall":
		out, in := make([]byte, c.Size()*e.bytes), make([]byte, c.Size()*e.bytes)
		for range e.rounds {
			mpi.Alltoall(c, out, in)
		}
	case "bcast":
		b := make([]byte, e.bytes)
		for range e.rounds {
			mpi.Bcast(c, b, 0)
		}
	default:
		panic("versus: no pattern " + e.pattern)
	}
}

// arguments are those of the program in C.
func (e emulation) arguments() []string {
	return []string{e.pattern, fmt.Sprint(e.rounds), fmt.Sprint(e.bytes)}
}

// compilePatterns compiles the program in C for loggp; it returns "" if there is no compiler.
var compilePatterns = sync.OnceValues(func() (string, error) {
	c, err := toolchain.New(context.Background())
	if err != nil {
		return "", nil
	}
	path := filepath.Join(buildDirectory, "patterns")
	return path, runCommand(c.Command(context.Background(), []string{"-O2", "testdata/patterns.c", "-o", path}))
})

// compileForSMPI compiles the program in C for SMPI; it returns "" if SMPI is not installed.
var compileForSMPI = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("smpicc"); err != nil {
		return "", nil
	}
	path := filepath.Join(buildDirectory, "patterns.smpi")
	return path, runCommand(exec.Command("smpicc", "-O2", "-w", "testdata/patterns.c", "-o", path))
})

func runCommand(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", c, err, out)
	}
	return nil
}

// measureC runs a pattern in C; ok is false if there is no compiler.
func measureC(tb testing.TB, platform string, e emulation) (u usage, ok bool) {
	tb.Helper()
	path, err := compilePatterns()
	if err != nil {
		tb.Fatal(err)
	}
	if path == "" || e.countMessages() == 0 {
		return u, false
	}
	x := &cprog.Program{Path: path, Arguments: e.arguments()}
	program, err := x.Main()
	if err != nil {
		tb.Fatal(err)
	}
	defer x.Close()
	return measureEmulation(tb, platform, e, program), true
}

// measureSMPI runs a pattern in C with SMPI on a cluster whose links are shared, in a process of
// its own; ok is false if SMPI is not installed.
func measureSMPI(tb testing.TB, e emulation) (t time.Duration, ok bool) {
	tb.Helper()
	path, err := compileForSMPI()
	if err != nil {
		tb.Fatal(err)
	}
	if path == "" || e.countMessages() == 0 {
		return 0, false
	}
	machine := filepath.Join(buildDirectory, "machine.xml")
	text := fmt.Sprintf(`<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="ranks" prefix="rank" suffix="" radical="0-%d" speed="1Gf" bw="100MBps" lat="5us"/>
  </zone>
</platform>
`, e.ranks-1)
	if err := os.WriteFile(machine, []byte(text), 0o666); err != nil {
		tb.Fatal(err)
	}
	args := []string{"-np", fmt.Sprint(e.ranks), "-platform", machine, "--cfg=smpi/simulate-computation:no", "--log=root.thres:error"}
	for _, a := range emulatedAlgorithms {
		args = append(args, "--cfg="+a.smpi)
	}
	c := exec.CommandContext(tb.Context(), "smpirun", append(append(args, path), e.arguments()...)...)
	if err := runCommand(c); err != nil {
		tb.Fatal(err)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), true
}

// BenchmarkPrograms runs whole programs on emulated machines: in Go, in C, and, if it is installed,
// in C with SimGrid's SMPI, in turn. Times are processor time, which other work disturbs less than
// elapsed time. It reports medians of -rounds runs for a message, events and switches of the Go
// program for a message, and the memory that it allocates for a rank.
func BenchmarkPrograms(b *testing.B) {
	for _, platform := range emulatedPlatforms {
		for _, e := range emulations {
			b.Run(platform+"/"+e.name(), func(b *testing.B) {
				for b.Loop() {
				}
				reportEmulation(b, platform, e)
			})
		}
	}
}

// reportEmulation measures a program on a platform and reports the metrics.
func reportEmulation(b *testing.B, platform string, e emulation) {
	b.ReportMetric(0, "ns/op") // the loop is empty
	messages, unit := float64(e.countMessages()), "message"
	var inGo usage
	times := map[string][]float64{} // ns a message, by language
	for range *rounds {
		inGo = measureEmulation(b, platform, e, e.goProgram())
		if e.countMessages() == 0 {
			messages, unit = float64(inGo.kernel.Events), "event"
		}
		times["go"] = append(times["go"], float64(inGo.processorTime)/messages)
		inC, hasC := measureC(b, platform, e)
		if hasC {
			times["c"] = append(times["c"], float64(inC.processorTime)/messages)
		}
		if t, ok := measureSMPI(b, e); ok {
			times["smpi"] = append(times["smpi"], float64(t)/messages)
			if hasC {
				times["c/smpi"] = append(times["c/smpi"], float64(inC.processorTime)/float64(t))
			}
		}
	}
	for name, x := range times {
		if !strings.Contains(name, "/") {
			name += "-ns/" + unit
		}
		b.ReportMetric(median(x), name)
	}
	if unit == "message" {
		b.ReportMetric(float64(inGo.kernel.Events)/messages, "events/message")
	}
	b.ReportMetric(float64(inGo.kernel.Switches)/messages, "switches/"+unit)
	b.ReportMetric(float64(inGo.allocatedBytes)/float64(e.ranks), "B/rank")
}

// Each program runs on each platform. A pattern in C makes the kernel do what it does for the same
// pattern in Go.
func TestProgramsRun(t *testing.T) {
	for _, platform := range emulatedPlatforms {
		for _, e := range emulations {
			if e.class > "S" {
				continue
			}
			e.ranks, e.rounds = min(e.ranks, 8), 2
			inGo := measureEmulation(t, platform, e, e.goProgram())
			if inGo.kernel.Events == 0 || inGo.kernel.Switches == 0 {
				t.Errorf("%s on %s: %+v", e.name(), platform, inGo)
			}
			if inC, ok := measureC(t, platform, e); ok && inC.kernel != inGo.kernel {
				t.Errorf("%s on %s: %+v in C, %+v in Go", e.name(), platform, inC.kernel, inGo.kernel)
			}
		}
	}
}
