package host

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// two returns two processors, or skips the test.
func two(t *testing.T) (a, b int) {
	t.Helper()
	if all := Processors(); len(all) < 2 || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("two different processors")
	}
	return RankProcessor(0), RankProcessor(1)
}

// met skips the test where the two processors have other things to do.
func met(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, errNotTogether) || errors.Is(err, errStuck) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLines(t *testing.T) {
	a, b := two(t)
	l, err := CacheLines(t.Context(), a, b)
	met(t, err)
	if l.Lines < 64 || l.Passes < leastPasses || l.Low <= 0 || l.Median < l.Low || l.High < l.Median {
		t.Errorf("got %+v", l)
	}
}

// Every line goes to and fro as often as it should, wherever the two threads run.
func TestPass(t *testing.T) {
	words := wordsOnLines(3)
	m := &exchange{ctx: t.Context(), end: Now() + time.Minute.Nanoseconds()}
	answered := make(chan bool)
	go func() {
		answered <- answer(m, words, 0) && answer(m, words, 1)
	}()
	var took [probeLines]float64
	if !serve(m, words, 0, &took) || !serve(m, words, 1, &took) || !<-answered {
		t.Fatal("lines did not come back")
	}
	for i, w := range words {
		if want := uint64(2 * 2 * (probeTrips + 1)); w.Load() != want || took[i] <= 0 {
			t.Errorf("line %d was written %d times, want %d, and took %v ns", i, w.Load(), want, took[i])
		}
	}
}

// Each line is in a page of its own, and they are at all places of a page.
func TestSpread(t *testing.T) {
	pages, places := map[uintptr]bool{}, map[uintptr]bool{}
	for _, w := range wordsOnLines(probeLines) {
		at := uintptr(unsafe.Pointer(w))
		if at%lineSize != 0 {
			t.Fatalf("a word at %#x does not begin a line", at)
		}
		pages[at/4096], places[at%4096] = true, true
	}
	if len(pages) != probeLines || len(places) != 4096/lineSize {
		t.Errorf("%d lines are in %d pages, at %d places", probeLines, len(pages), len(places))
	}
}

// The quartiles are over the medians of lines, so that a delayed pass does not show. Expected
// values are computed by hand.
func TestSummary(t *testing.T) {
	var took [3][probeLines]float64
	for i := range probeLines { // 0 to 127: the quartiles are at 31.75, 63.5 and 95.25
		took[0][i], took[1][(i*5)%probeLines], took[2][i] = float64(i), float64((i*5)%probeLines), 1e6
	}
	if got, want := summarize(took[:]), (CacheLineTimes{31.75, 63.5, 95.25, probeLines, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := (CacheLineTimes{98.7, 154.6, 213.2, probeLines, 8}).String(), "155 (99..213) ns"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Two that do not meet say so, and soon.
func TestMeetInVain(t *testing.T) {
	a, b := two(t)
	cause := errors.New("enough")
	done, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	wait := func(m *exchange) {
		var never paddedWord
		for m.await(&never.Uint64, 1) {
		}
	}
	for name, c := range map[string]struct {
		ctx    context.Context
		a, b   int
		limit  time.Duration
		second func(*exchange)
		says   string
	}{
		"one processor":        {t.Context(), a, a, time.Hour, wait, "two different processors"},
		"one is not there":     {t.Context(), a, 1 << 20, time.Hour, wait, "1048576"},
		"none is known":        {t.Context(), a, -1, time.Hour, wait, "are unknown"},
		"one does not answer":  {t.Context(), a, b, 20 * time.Millisecond, func(*exchange) {}, "did not both run this program within 20ms"},
		"interrupted":          {done, a, b, time.Hour, wait, "enough"},
		"neither ever answers": {t.Context(), a, b, 20 * time.Millisecond, wait, "within 20ms"},
	} {
		err := exchangeBetween(c.ctx, c.a, c.b, c.limit, wait, c.second)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := CacheLines(done, a, b); !errors.Is(err, cause) {
		t.Errorf("Lines: %v", err)
	}
	if _, err := ClockOffset(t.Context(), a, a); err == nil {
		t.Error("a processor's clock is ahead of itself")
	}
	before := runtime.GOMAXPROCS(1)
	_, err := CacheLines(t.Context(), a, b)
	runtime.GOMAXPROCS(before)
	if err == nil || !strings.Contains(err.Error(), "GOMAXPROCS") {
		t.Errorf("with one thread at a time: %v", err)
	}
}

// One clock for all processors is what times between ranks of one machine stand on.
func TestClockOffset(t *testing.T) {
	a, b := two(t)
	o, err := ClockOffset(t.Context(), a, b)
	met(t, err)
	if !o.Common() || o.High-o.Low <= 0 {
		t.Errorf("the clock of processor %d is ahead of that of %d by %v ns", b, a, o)
	}
}

// Expected by hand: the other clock is 1000 ahead, readings there take place at 20 of 50, and at 30
// of 35.
func TestOffset(t *testing.T) {
	o := Offset{math.MinInt64, math.MaxInt64}
	o.narrow(100, 1120, 150)
	o.narrow(200, 1230, 235)
	if want := (Offset{995, 1020}); o != want || o.Common() {
		t.Errorf("got %v, want %v", o, want)
	}
	for _, c := range []struct {
		o    Offset
		want bool
	}{{Offset{-5, 5}, true}, {Offset{0, 0}, true}, {Offset{1, 5}, false}, {Offset{-5, -1}, false}, {Offset{5, -5}, false}} {
		if c.o.Common() != c.want {
			t.Errorf("%v: a common clock: %v", c.o, !c.want)
		}
	}
}
