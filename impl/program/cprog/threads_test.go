//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Threads receive what a random plan says on different machines. All results are the same in each
// run, whatever the Go runtime does.
func TestRandomThreads(t *testing.T) {
	path := build(t, "threads/random.c")
	outputs := map[string]string{}
	for round := range 2 {
		if round == 1 {
			defer debug.SetGCPercent(debug.SetGCPercent(1))
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		}
		for seed := range 8 {
			for _, machine := range []string{simple, "t3d", "cc-cluster"} {
				w, o := emulated(t, machine, 2+seed%3)
				out, err := run(t, w, o, &Program{Path: path, Arguments: []string{strconv.Itoa(seed)}})
				if err != nil || !strings.HasPrefix(out, "wrong 0 of ") || strings.HasPrefix(out, "wrong 0 of 0 ") {
					t.Fatalf("seed %d on %s: %v: %q", seed, machine, err, out)
				}
				key := machine + strconv.Itoa(seed)
				if before, ok := outputs[key]; ok && before != out {
					t.Errorf("seed %d on %s: %q, and before %q", seed, machine, out, before)
				}
				outputs[key] = out
			}
		}
	}
}

// Loops that look for what another thread of the rank receives end. The first that makes no call
// is interrupted, with a warning. A loop that looks in vain is found by the limit.
func TestLoopsThatWaitForThreads(t *testing.T) {
	defer func(d time.Duration) { firstThreadTurn = d }(firstThreadTurn)
	firstThreadTurn = 2 * threadTurn
	path := build(t, "threads/loops.c")
	for _, how := range []string{"locks", "yields", "variable", "forever"} {
		w, o := emulated(t, simple, 2)
		var warnings []mpi.Warning
		o.OnWarning = func(w mpi.Warning) { warnings = append(warnings, w) }
		p := &Program{Path: path, Arguments: []string{how}}
		if how == "forever" {
			p.StallLimit = 5 * threadTurn
		}
		out, err := run(t, w, o, p)
		switch {
		case how == "forever":
			if err == nil || !strings.Contains(err.Error(), "it computed for 100ms without a call of MPI, longer than --limit allows (loops.c:") {
				t.Errorf("%s: %q, %v", how, out, err)
			}
		case err != nil || !strings.Contains(out, "0 sees 11\n") || !strings.Contains(out, "1 sees 10\n"):
			t.Errorf("%s: %q, %v", how, out, err)
		case (how == "variable") != (len(warnings) > 0 && warnings[0].Kind == mpi.ThreadInterrupted && !warnings[0].IsViolation()):
			t.Errorf("%s: the warnings are %v", how, warnings)
		}
	}
}

// A thread that locks and unlocks while others wait for something else does so in the processor
// time of the C library: it does not switch to the emulator, which takes a hundred times as long.
func TestUncontendedLocksStayInTheProgram(t *testing.T) {
	w, o := emulated(t, simple, 1)
	begin := time.Now()
	out, err := run(t, w, o, &Program{Path: build(t, "threads/loops.c"), Arguments: []string{"alone"}})
	if d := time.Since(begin); err != nil || out != "0 sees 300000\n" || d > 2*time.Second {
		t.Errorf("%q, %v after %v", out, err, d)
	}
}
