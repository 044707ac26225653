package host

import (
	"testing"
	"time"
	"unsafe"
)

func TestMeasureCacheLines(t *testing.T) {
	a, b := twoProcessors(t)
	l, err := MeasureCacheLines(t.Context(), a, b)
	skipIfBusy(t, err)
	if l.LineCount < 64 || l.PassCount < minLinePasses || l.Low <= 0 || l.Median < l.Low || l.High < l.Median {
		t.Errorf("got %+v", l)
	}
}

// Every line goes to and fro as often as it should, wherever the two threads run. A time is one
// way.
func TestEveryLineReturns(t *testing.T) {
	words := wordsOnPages(measuredLines)
	m := &wordExchange{ctx: t.Context(), deadline: Now() + time.Minute.Nanoseconds()}
	answered := make(chan bool)
	go func() {
		answered <- returnLines(m, words, 0) && returnLines(m, words, 1)
	}()
	var took [measuredLines]float64
	if !sendLines(m, words, 0, &took) {
		t.Fatal("lines did not come back")
	}
	begin := Now()
	returned := sendLines(m, words, 1, &took)
	elapsed := float64(Now() - begin)
	if !returned || !<-answered {
		t.Fatal("lines did not come back")
	}
	sum := 0.0
	for i := range words {
		sum += took[i] * 2 * tripsPerLine
	}
	if sum > elapsed {
		t.Errorf("round trips of %v ns in %v ns", sum, elapsed)
	}
	for i, w := range words {
		if want := uint64(2 * 2 * (tripsPerLine + 1)); w.Load() != want || took[i] <= 0 {
			t.Errorf("line %d was written %d times, want %d, and took %v ns", i, w.Load(), want, took[i])
		}
	}
}

// Each line is in a page of its own, and they are at all places of a page.
func TestWordsAreSpreadOverPages(t *testing.T) {
	pages, places := map[uintptr]bool{}, map[uintptr]bool{}
	for _, w := range wordsOnPages(measuredLines) {
		at := uintptr(unsafe.Pointer(w))
		if at%lineSize != 0 {
			t.Fatalf("a word at %#x does not begin a line", at)
		}
		pages[at/4096], places[at%4096] = true, true
	}
	if len(pages) != measuredLines || len(places) != 4096/lineSize {
		t.Errorf("%d lines are in %d pages, at %d places", measuredLines, len(pages), len(places))
	}
}

// The quartiles are over the medians of lines, so that a delayed pass does not show. Expected
// values are computed by hand.
func TestQuartilesAreOverLines(t *testing.T) {
	var took [3][measuredLines]float64
	for i := range measuredLines { // 0 to 127: the quartiles are at 31.75, 63.5 and 95.25
		took[0][i], took[1][(i*5)%measuredLines], took[2][i] = float64(i), float64((i*5)%measuredLines), 1e6
	}
	if got, want := summarizeLineTimes(took[:]), (CacheLineTimes{31.75, 63.5, 95.25, measuredLines, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := (CacheLineTimes{98.7, 154.6, 213.2, measuredLines, 8}).String(), "155 (99..213) ns"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
