//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

var large = flag.Bool("large", false, "run a program on 65,536 ranks, which takes 3 GB")

// Each rank has its own memory, whether the code is shared or copied, and whether guards are
// mappings or not.
func TestManyRanks(t *testing.T) {
	const ranks = 2000
	path := build(t, "sum.c")
	for _, c := range []struct {
		name           string
		copied, mapped bool
	}{{"shared code", false, false}, {"copied code", true, false}, {"guards as mappings", false, true}, {"copied code, guards as mappings", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			limitMappings(t, ranks, c.copied, c.mapped)
			before, err := countMappings()
			if err != nil {
				t.Skip(err)
			}
			if shares := sumRanks(t, path, ranks); shares == c.copied {
				t.Errorf("code is shared: %v", shares)
			}
			if after, err := countMappings(); err != nil || after > before+ranks/10 {
				t.Errorf("%d mappings before, %d after (%v)", before, after, err)
			}
		})
	}
}

// limitMappings leaves no mappings for shared code if the code is to be copied.
func limitMappings(t *testing.T, ranks int, copied, guardMappings bool) {
	known := guardsSplitMappings
	if guardMappings {
		guardsSplitMappings = func() bool { return true }
	}
	spare := spareMappings
	t.Cleanup(func() { spareMappings, guardsSplitMappings = spare, known })
	if copied {
		limit, err := maxMappings()
		used, failed := countMappings()
		if err != nil || failed != nil {
			t.Skip(err, failed)
		}
		spareMappings = limit - used - ranks
		if guardsSplitMappings() {
			spareMappings -= 2 * ranks
		}
	}
}

// sumRanks runs the program that prints the sum of all rank numbers, and reports whether the ranks
// share its code.
func sumRanks(t *testing.T, path string, ranks int) bool {
	w, o := emulated(t, simple, ranks)
	p := &Program{Path: path}
	out, err := run(t, w, o, p)
	if want := fmt.Sprintln(ranks * (ranks - 1) / 2); err != nil || out != want {
		t.Errorf("it printed %q, want %q (%v)", out, want, err)
	}
	return p.arena.sharesCode
}

// Stacks end in guard pages even if code is copied.
func TestOverflowOfManyRanks(t *testing.T) {
	for _, mapped := range []bool{false, true} {
		limitMappings(t, 300, true, mapped)
		w, o := emulated(t, simple, 300)
		_, err := run(t, w, o, &Program{Path: build(t, "wrong.c"), Arguments: []string{"stack"}})
		if err == nil || !strings.Contains(err.Error(), "stack overflow") {
			t.Errorf("guards as mappings %v: error %v", mapped, err)
		}
	}
}

// A job that needs more memory than is available ends before it starts.
func TestMemoryOfRanks(t *testing.T) {
	w, o := emulated(t, simple, 1000)
	_, err := run(t, w, o, &Program{Path: build(t, "empty.c"), AvailableMemory: func() int64 { return 4 << 20 }})
	if err == nil || !regexp.MustCompile(`1000 ranks of the program take at least \d+MiB of memory, and 4MiB are available`).MatchString(err.Error()) {
		t.Errorf("error %v", err)
	}
}

// A job whose stacks need more address space than a process has ends before it starts.
func TestStacksOfRanks(t *testing.T) {
	p := &Program{Path: build(t, "empty.c"), StackBytes: 1 << 46}
	if _, err := p.Main(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.ReserveRanks(100); err == nil || !strings.Contains(err.Error(), "100 ranks, each with a stack of 64TiB, take more address space") {
		t.Errorf("error %v", err)
	}
}

// A message that does not fit into memory is an error of the call, and nothing is allocated for it,
// even if its buffer exists.
func TestMemoryOfMessages(t *testing.T) {
	path := build(t, "large.c")
	for _, c := range []struct {
		how       string
		available int64
		want      string
	}{
		{"message", 4 << 30, ""},
		{"message", 500 << 20, `rank 1: MPI_Recv \(large.c:\d+\): MPI_ERR_NO_MEM: a message of 300MiB takes up to 600MiB of memory, and 500MiB are available`},
		{"message", 200 << 20, `MPI_(Send|Recv) \(large.c:\d+\): MPI_ERR_NO_MEM: a message of 300MiB takes up to \d+MiB of memory, and 200MiB are available`},
		{"overlapping", 4 << 30, `rank 0: MPI_Send \(large.c:\d+\): MPI_ERR_NO_MEM: a message of 17179869176B takes up to 16383MiB of memory, and 4GiB are available`},
		{"type", 1 << 30, `MPI_Sendrecv \(large.c:\d+\): MPI_ERR_NO_MEM: a message of 3GiB takes up to \d+GiB of memory, and 1GiB are available`},
	} {
		w, o := emulated(t, simple, 2)
		out, err := run(t, w, o, &Program{Path: path, Arguments: []string{c.how}, AvailableMemory: func() int64 { return c.available }})
		if c.want == "" && (err != nil || out != "ok\n") {
			t.Errorf("%s with %d bytes: %q, %v", c.how, c.available, out, err)
		} else if c.want != "" && (err == nil || !regexp.MustCompile(c.want).MatchString(err.Error())) {
			t.Errorf("%s with %d bytes: error %v, want %s", c.how, c.available, err, c.want)
		}
	}
}

// A large job runs with Linux's default limits.
func TestLargeJob(t *testing.T) {
	if !*large {
		t.Skip("it takes half a minute and 3 GB: -large")
	}
	begin := time.Now()
	sumRanks(t, build(t, "sum.c"), 1<<16)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			t.Logf("%d ranks: %.1f s, peak memory %s", 1<<16, time.Since(begin).Seconds(), strings.TrimSpace(peak))
		}
	}
}
