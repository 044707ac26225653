package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// CacheLineTimes says how long a cache line takes from one processor to another, one way, in
// nanoseconds. A line takes the same time throughout the life of a process, but another line up to
// twice as long, depending on its address, so many lines are measured.
type CacheLineTimes struct {
	Low, Median, High float64 // the quartiles of the lines' medians
	Lines             int     // each in its own page
	Passes            int     // over all lines
}

// String returns the median and the quartiles: 155 (113..213) ns.
func (l CacheLineTimes) String() string {
	return fmt.Sprintf("%.0f (%.0f..%.0f) ns", l.Median, l.Low, l.High)
}

// Lines in as many pages, the round trips of a line at a time, and the passes over all lines. That
// takes some milliseconds. After probeLimit leastPasses passes suffice.
const (
	probeLines  = 128
	probeTrips  = 8
	probePasses = 8
	leastPasses = 3
	probeLimit  = 100 * time.Millisecond
)

// CacheLines passes cache lines between threads on two processors and returns the times. It is an
// error if threads cannot be pinned there, or do not run at the same time for long enough.
//
// The two threads write one word in turn. One way is half of a round trip: the load that finds the
// other's value, and the store that takes over the line.
func CacheLines(ctx context.Context, a, b int) (CacheLineTimes, error) {
	words := wordsOnLines(probeLines)
	var took [probePasses][probeLines]float64 // one way
	passes := 0
	err := exchangeBetween(ctx, a, b, probeLimit, func(m *exchange) {
		for passes < probePasses && serve(m, words, uint64(passes), &took[passes]) {
			passes++
		}
	}, func(m *exchange) {
		for pass := range uint64(probePasses) {
			if !answer(m, words, pass) {
				return
			}
		}
	})
	if err != nil && (!errors.Is(err, errNotTogether) || passes < leastPasses) {
		return CacheLineTimes{}, fmt.Errorf("pass cache lines from processor %d to %d: %w", a, b, err)
	}
	return summarize(took[:passes]), nil
}

// serve sends each line back and forth, the first time without reading the clock, and reports
// whether all came back.
func serve(m *exchange, words []*atomic.Uint64, pass uint64, took *[probeLines]float64) bool {
	for i, w := range words {
		value := pass * 2 * (probeTrips + 1)
		var begin int64
		for trip := range probeTrips + 1 {
			if trip == 1 {
				begin = Now()
			}
			w.Store(value + 1)
			value += 2
			if !m.await(w, value) {
				return false
			}
		}
		took[i] = float64(Now()-begin) / (2 * probeTrips)
	}
	return true
}

// answer returns each line as often as it comes.
func answer(m *exchange, words []*atomic.Uint64, pass uint64) bool {
	for _, w := range words {
		value := pass*2*(probeTrips+1) + 1
		for range probeTrips + 1 {
			if !m.await(w, value) {
				return false
			}
			w.Store(value + 1)
			value += 2
		}
	}
	return true
}

// wordsOnLines returns words on n cache lines, each in another page and at another offset in it.
// The pages have been touched.
func wordsOnLines(n int) []*atomic.Uint64 {
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

// summarize returns the quartiles, over the lines, of their medians.
func summarize(took [][probeLines]float64) CacheLineTimes {
	medians := make([]float64, probeLines)
	for i := range medians {
		of := make([]float64, len(took))
		for pass := range took {
			of[pass] = took[pass][i]
		}
		medians[i] = quantile(of, 0.5)
	}
	return CacheLineTimes{Low: quantile(medians, 0.25), Median: quantile(medians, 0.5), High: quantile(medians, 0.75), Lines: probeLines, Passes: len(took)}
}

// quantile returns a quantile of numbers, which it sorts, with linear interpolation. Hyndman and
// Fan 1996, definition 7.
func quantile(of []float64, p float64) float64 {
	slices.Sort(of)
	at := p * float64(len(of)-1)
	i := int(at)
	if i+1 == len(of) {
		return of[i]
	}
	return of[i] + (at-float64(i))*(of[i+1]-of[i])
}
