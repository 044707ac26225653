package host_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/real/host"
)

// A thread that is pinned does not change which processors there are, and ranks go round them.
func TestPinningKeepsProcessors(t *testing.T) {
	all := slices.Clone(host.Processors())
	if len(all) == 0 {
		t.Skip("the processors of this system are not known")
	}
	pinned := make(chan error)
	go func() {
		runtime.LockOSThread()
		pinned <- host.Pin(host.RankProcessor(len(all) - 1))
	}()
	if err := <-pinned; err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(host.Processors(), all) {
		t.Errorf("there were the processors %v, and now %v", all, host.Processors())
	}
	for rank := range 2 * len(all) {
		if got := host.RankProcessor(rank); got != all[rank%len(all)] {
			t.Errorf("rank %d has processor %d of %v", rank, got, all)
		}
	}
}

// Pinning to no processor, or to one that does not exist, is an error.
func TestPinToMissingProcessorFails(t *testing.T) {
	for processor, says := range map[int]string{-1: "unknown", 1 << 20: "processor 1048576"} {
		if err := host.Pin(processor); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("pinning to processor %d: %v", processor, err)
		}
	}
}
