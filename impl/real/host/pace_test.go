package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// The best moments are those that are no accident, and what takes a tenth longer was slowed.
func TestSummarizePace(t *testing.T) {
	for _, c := range []struct {
		took []int64
		want Pace
	}{
		{[]int64{2000}, Pace{3, 2000, 2000, 0}},
		{[]int64{3000, 2000}, Pace{3, 3000, 3000, 0}},
		{[]int64{2000, 1500, 2001, 2001, 2001, 2000, 1600, 2200, 2201, 3000}, Pace{3, 2001, 2001, 0.1}},
		{[]int64{2000, 2000, 2000, 2000, 2000, 2200, 2201, 3000, 3000, 3000}, Pace{3, 2000, 2200, 0.4}},
	} {
		if got := summarizePace(3, c.took); got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.took, got, c.want)
		}
	}
}

// The best time is not the shortest, which may be an accident.
func TestBestTimeSkipsAccidents(t *testing.T) {
	for n, want := range map[int]int{1: 0, 4: 3, 5: 4, 499: 4, 500: 5, 5000: 14} {
		if got := BestTimeIndex(n); got != want {
			t.Errorf("of %d times: index %d, want %d", n, got, want)
		}
	}
}

// The work takes time on a processor of this machine, at its best moments and else.
func TestMeasurePaces(t *testing.T) {
	if len(Processors()) == 0 {
		t.Skip("the processors of this system are not known")
	}
	all, err := MeasurePaces(t.Context(), []int{RankProcessor(0)}, 20*time.Millisecond)
	if errors.Is(err, errNotScheduled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if p := all[0]; p.Processor != RankProcessor(0) || p.BestTime < 500*time.Nanosecond || p.BestTime > 50*time.Microsecond || p.MedianTime < p.BestTime || p.SlowedShare < 0 || p.SlowedShare >= 1 {
		t.Errorf("got %+v", p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MeasurePaces(ctx, []int{RankProcessor(0)}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := MeasurePaces(t.Context(), []int{1 << 20}, time.Hour); err == nil || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("a processor that is not there: %v", err)
	}
}
