package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A thread that is busy elsewhere finds a gap, as long as that.
func TestGaps(t *testing.T) {
	var g Interruptions
	for _, us := range []int{7, 100, 20} {
		g.add(time.Duration(us) * time.Microsecond)
	}
	g.Watched = time.Millisecond
	if g.Count != 3 || g.Lost != 127*time.Microsecond || g.Longest != 100*time.Microsecond || g.Share() != 0.127 {
		t.Errorf("got %+v", g)
	}
}

// Watching lasts as long as asked for, and counts the gaps in it.
func TestWatch(t *testing.T) {
	if len(Processors()) == 0 {
		t.Skip("the processors of this system are not known")
	}
	const d = 20 * time.Millisecond
	seen, err := WatchInterruptions(t.Context(), []int{RankProcessor(0)}, d)
	if errors.Is(err, errStuck) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := seen[0]
	if g.Processor != RankProcessor(0) || g.Watched <= 0 || g.Lost > g.Watched || g.Longest > g.Lost || (g.Count > 0) != (g.Lost > 0) {
		t.Errorf("got %+v", g)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := WatchInterruptions(ctx, []int{RankProcessor(0)}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := WatchInterruptions(t.Context(), []int{1 << 20}, time.Hour); err == nil || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("a processor that is not there: %v", err)
	}
}

// A thread that does not come to its end is not waited for.
func TestStuck(t *testing.T) {
	if len(Processors()) == 0 {
		t.Skip("the processors of this system are not known")
	}
	release, ended := make(chan struct{}), make(chan struct{})
	err := onThreads([]int{RankProcessor(0)}, 10*time.Millisecond, func(int) {
		<-release
		close(ended)
	})
	if !errors.Is(err, errStuck) {
		t.Errorf("got %v", err)
	}
	close(release)
	<-ended
}
