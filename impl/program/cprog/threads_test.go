//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
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
