package host

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// twoProcessors returns two processors, or skips the test.
func twoProcessors(t *testing.T) (a, b int) {
	t.Helper()
	if all := Processors(); len(all) < 2 || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("two different processors")
	}
	return RankProcessor(0), RankProcessor(1)
}

// skipIfBusy skips the test if the two processors are busy with other programs.
func skipIfBusy(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, errNotSimultaneous) || errors.Is(err, errNotScheduled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An exchange fails if its two threads do not run at the same time. The limit has passed before the
// threads start, or is far away, and no thread is abandoned, so that the machine's load does not
// matter.
func TestExchangeFailsWithoutPartner(t *testing.T) {
	a, b := twoProcessors(t)
	cause := errors.New("enough")
	done, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	wait := func(m *wordExchange) {
		var never paddedWord
		for m.awaitValue(&never.Uint64, 1) {
		}
	}
	for name, c := range map[string]struct {
		ctx    context.Context
		a, b   int
		passed bool
		second func(*wordExchange)
		says   string
	}{
		"one processor":        {t.Context(), a, a, false, wait, "two different processors"},
		"one is not there":     {t.Context(), a, 1 << 20, false, wait, "1048576"},
		"none is known":        {t.Context(), a, -1, false, wait, "are unknown"},
		"one does not answer":  {t.Context(), a, b, true, func(*wordExchange) {}, "did not both run this program within 20ms"},
		"interrupted":          {done, a, b, false, wait, "enough"},
		"neither ever answers": {t.Context(), a, b, true, wait, "within 20ms"},
	} {
		m := &wordExchange{ctx: c.ctx, limit: 20 * time.Millisecond, deadline: math.MaxInt64}
		if c.passed {
			m.deadline = Now()
		}
		err := m.run(c.a, c.b, time.Hour, wait, c.second)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := MeasureCacheLines(done, a, b); !errors.Is(err, cause) {
		t.Errorf("Lines: %v", err)
	}
	if _, err := MeasureClockOffset(t.Context(), a, a); err == nil {
		t.Error("a processor's clock is ahead of itself")
	}
	before := runtime.GOMAXPROCS(1)
	_, err := MeasureCacheLines(t.Context(), a, b)
	runtime.GOMAXPROCS(before)
	if err == nil || !strings.Contains(err.Error(), "GOMAXPROCS") {
		t.Errorf("with one thread at a time: %v", err)
	}
}

// A thread that does not end within the limit is abandoned.
func TestUnscheduledThreadIsAbandoned(t *testing.T) {
	if len(Processors()) == 0 {
		t.Skip("the processors of this system are not known")
	}
	release, ended := make(chan struct{}), make(chan struct{})
	err := runOnProcessors([]int{RankProcessor(0)}, 10*time.Millisecond, func(int) {
		<-release
		close(ended)
	})
	if !errors.Is(err, errNotScheduled) {
		t.Errorf("got %v", err)
	}
	close(release)
	<-ended
}
