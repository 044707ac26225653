package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A thread that is busy elsewhere finds a gap, as long as that.
func TestGapsAreSummed(t *testing.T) {
	var g Interruptions
	for _, us := range []int{7, 100, 20} {
		g.addGap(time.Duration(us) * time.Microsecond)
	}
	g.WatchedTime = time.Millisecond
	if g.GapCount != 3 || g.LostTime != 127*time.Microsecond || g.LongestGap != 100*time.Microsecond || g.LostShare() != 0.127 {
		t.Errorf("got %+v", g)
	}
}

// Watching lasts as long as asked for, and counts the gaps in it.
func TestWatchInterruptions(t *testing.T) {
	if len(Processors()) == 0 {
		t.Skip("the processors of this system are not known")
	}
	const d = 20 * time.Millisecond
	seen, err := WatchInterruptions(t.Context(), []int{RankProcessor(0)}, d)
	if errors.Is(err, errNotScheduled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := seen[0]
	if g.Processor != RankProcessor(0) || g.WatchedTime <= 0 || g.LostTime > g.WatchedTime || g.LongestGap > g.LostTime || (g.GapCount > 0) != (g.LostTime > 0) {
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
