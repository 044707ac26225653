//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Loops that poll for a message that never comes are a deadlock. The stall limit ends loops that
// could end by the time, and all loops on worlds without deadlock detection.
func TestEndlessPolls(t *testing.T) {
	path := build(t, "polls.c")
	polls := []string{"MPI_Iprobe", "MPI_Improbe", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Request_get_status"}
	for _, how := range polls {
		w, o := emulated(t, simple, 2)
		_, err := run(t, w, o, &Program{Path: path, Arguments: []string{how}})
		want := fmt.Sprintf("rank 1: in %s (polls.c:", how)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "polls for a message from rank 0 with tag 4") {
			t.Errorf("%s: %v", how, err)
		}
	}
	for _, how := range append(polls, "MPI_Wtime", "clock_gettime", "both", "usleep") {
		w, o := emulated(t, simple, 2)
		_, err := run(t, w, o, &Program{Path: path, Arguments: []string{how}, StallLimit: 20 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), "it polled in vain for 20ms, longer than --limit allows") {
			t.Errorf("%s, with a limit: %v", how, err)
		}
	}
}

// A loop that waits until some work has taken long enough ends even if computing takes no virtual
// time.
func TestClockAdvancesBesideFreeComputing(t *testing.T) {
	for _, platform := range []string{simple, "t3d", "now", "convex"} {
		w, o := emulated(t, platform, 2)
		if _, err := run(t, w, o, &Program{Path: build(t, "polls.c"), Arguments: []string{"turns"}}); err != nil {
			t.Errorf("%s: %v", platform, err)
		}
	}
}
