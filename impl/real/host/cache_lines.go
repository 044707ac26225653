package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/loggp/loggp/model/quantile"
)

// CacheLineTimes says how long a cache line takes from one processor to another, one way, in
// nanoseconds. A line takes the same time throughout the life of a process, but another line up to
// twice as long, depending on its address, so many lines are measured.
type CacheLineTimes struct {
	Low, Median, High float64 // the quartiles of the lines' medians
	LineCount         int     // each in its own page
	PassCount         int     // over all lines
}

// String returns the median and the quartiles: 155 (113..213) ns.
func (l CacheLineTimes) String() string {
	return fmt.Sprintf("%.0f (%.0f..%.0f) ns", l.Median, l.Low, l.High)
}

// Lines in as many pages, the round trips of a line at a time, and the passes over all lines. That
// takes some milliseconds. After cacheLineLimit minLinePasses passes suffice.
const (
	measuredLines  = 128
	tripsPerLine   = 8
	maxLinePasses  = 8
	minLinePasses  = 3
	cacheLineLimit = 100 * time.Millisecond
)

// MeasureCacheLines passes cache lines between threads on two processors and returns the times. It
// is an error if threads cannot be pinned there, or do not run at the same time for long enough.
//
// The two threads write one word in turn. One way is half of a round trip: the load that finds the
// other's value, and the store that takes over the line.
func MeasureCacheLines(ctx context.Context, a, b int) (CacheLineTimes, error) {
	words := wordsOnPages(measuredLines)
	var took [maxLinePasses][measuredLines]float64 // one way
	passes := 0
	err := runExchange(ctx, a, b, cacheLineLimit, func(m *wordExchange) {
		for passes < maxLinePasses && sendLines(m, words, uint64(passes), &took[passes]) {
			passes++
		}
	}, func(m *wordExchange) {
		for pass := range uint64(maxLinePasses) {
			if !returnLines(m, words, pass) {
				return
			}
		}
	})
	if err != nil && (!errors.Is(err, errNotSimultaneous) || passes < minLinePasses) {
		return CacheLineTimes{}, fmt.Errorf("pass cache lines from processor %d to %d: %w", a, b, err)
	}
	return summarizeLineTimes(took[:passes]), nil
}

// sendLines sends each line back and forth, the first time without reading the clock, and reports
// whether all came back.
func sendLines(m *wordExchange, words []*atomic.Uint64, pass uint64, took *[measuredLines]float64) bool {
	for i, w := range words {
		value := pass * 2 * (tripsPerLine + 1)
		var begin int64
		for trip := range tripsPerLine + 1 {
			if trip == 1 {
				begin = Now()
			}
			w.Store(value + 1)
			value += 2
			if !m.awaitValue(w, value) {
				return false
			}
		}
		took[i] = float64(Now()-begin) / (2 * tripsPerLine)
	}
	return true
}

// returnLines returns each line as often as it comes.
func returnLines(m *wordExchange, words []*atomic.Uint64, pass uint64) bool {
	for _, w := range words {
		value := pass*2*(tripsPerLine+1) + 1
		for range tripsPerLine + 1 {
			if !m.awaitValue(w, value) {
				return false
			}
			w.Store(value + 1)
			value += 2
		}
	}
	return true
}

// wordsOnPages returns words on n cache lines, each in another page and at another offset in it.
// The pages have been touched.
func wordsOnPages(n int) []*atomic.Uint64 {
	const page = 4096
	memory := make([]byte, (n+1)*page)
	at := page - int(uintptr(unsafe.Pointer(&memory[0]))%page) // of the first whole page
	words := make([]*atomic.Uint64, n)
	for i := range words {
		line := i * 37 % (page / lineSize) // 37 and the number of lines in a page are coprime: all offsets occur
		words[i] = (*atomic.Uint64)(unsafe.Pointer(&memory[at%page+i*page+line*lineSize]))
		words[i].Store(0)
	}
	return words
}

// summarizeLineTimes returns the quartiles, over the lines, of their medians.
func summarizeLineTimes(took [][measuredLines]float64) CacheLineTimes {
	medians := make([]float64, measuredLines)
	for i := range medians {
		of := make([]float64, len(took))
		for pass := range took {
			of[pass] = took[pass][i]
		}
		medians[i] = quantile.Median(of)
	}
	slices.Sort(medians)
	return CacheLineTimes{Low: quantile.Of(medians, 0.25), Median: quantile.Of(medians, 0.5), High: quantile.Of(medians, 0.75), LineCount: measuredLines, PassCount: len(took)}
}
