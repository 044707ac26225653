package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Gaps between readings are counted from 5 µs on.
func TestGapsAreSummed(t *testing.T) {
	var g Interruptions
	now := int64(1000)
	for _, us := range []int64{7, 5, 100, 1, 20} { // caches may cause gaps to 5 µs
		g.addReading(now, now+us*1000)
		now += us * 1000
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
