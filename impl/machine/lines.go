package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// LineTimes says how long a cache line takes from one processor to another, one way, in nanoseconds. The same line takes the same time as long as a
// process lives, another up to twice as long, by where in memory it is: so it is times of many lines.
type LineTimes struct {
	Low, Median, High float64 // the quartiles of the lines' medians
	Lines             int     // each in a page of its own
	Passes            int     // over all of them
}

// String returns the median and the quartiles: 155 (113..213) ns.
func (l LineTimes) String() string {
	return fmt.Sprintf("%.0f (%.0f..%.0f) ns", l.Median, l.Low, l.High)
}

// What is passed: lines in as many pages, each so many times back and forth at a time, in so many passes over all. This takes some milliseconds, and is
// given up when it takes so long; then fewer passes will do.
const (
	probeLines  = 128
	probeTrips  = 8
	probePasses = 8
	leastPasses = 3
	probeLimit  = 100 * time.Millisecond
)

// Lines passes cache lines between two processors, by a thread on each, and returns how long they took. It is an error if threads cannot be pinned there,
// or the two do not run at one time for long enough.
//
// A trip is what the two threads do that write one word by turns: the load that finds the other's word, and the store that takes the line over. Half of a
// round trip is one way.
func Lines(ctx context.Context, a, b int) (LineTimes, error) {
	words := spread(probeLines)
	var took [probePasses][probeLines]float64 // one way
	passes := 0
	err := meet(ctx, a, b, probeLimit, func(m *meeting) {
		for passes < probePasses && serve(m, words, uint64(passes), &took[passes]) {
			passes++
		}
	}, func(m *meeting) {
		for pass := range uint64(probePasses) {
			if !answer(m, words, pass) {
				return
			}
		}
	})
	if err != nil && (!errors.Is(err, errApart) || passes < leastPasses) {
		return LineTimes{}, fmt.Errorf("cache lines from processor %d to %d: %w", a, b, err)
	}
	return summary(took[:passes]), nil
}

// serve passes each line back and forth, a first time without looking at the clock, and reports whether all came back.
func serve(m *meeting, words []*atomic.Uint64, pass uint64, took *[probeLines]float64) bool {
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

// answer passes each line back as often as it comes.
func answer(m *meeting, words []*atomic.Uint64, pass uint64) bool {
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

// spread returns words on n lines, each in another page and at another place of it, which are all there.
func spread(n int) []*atomic.Uint64 {
	const page = 4096
	memory := make([]byte, (n+1)*page)
	at := page - int(uintptr(unsafe.Pointer(&memory[0]))%page) // of the first whole page
	words := make([]*atomic.Uint64, n)
	for i := range words {
		line := i * 37 % (page / lineSize) // 37 has no factor in common with the lines of a page: all have their turn
		words[i] = (*atomic.Uint64)(unsafe.Pointer(&memory[at%page+i*page+line*lineSize]))
		words[i].Store(0)
	}
	return words
}

// summary returns the quartiles, over the lines, of each one's median.
func summary(took [][probeLines]float64) LineTimes {
	medians := make([]float64, probeLines)
	for i := range medians {
		of := make([]float64, len(took))
		for pass := range took {
			of[pass] = took[pass][i]
		}
		medians[i] = quantile(of, 0.5)
	}
	return LineTimes{Low: quantile(medians, 0.25), Median: quantile(medians, 0.5), High: quantile(medians, 0.75), Lines: probeLines, Passes: len(took)}
}

// quantile returns a quantile of some numbers, which it sorts: between two of them, on the line that joins them. Hyndman and Fan 1996, definition 7.
func quantile(of []float64, p float64) float64 {
	slices.Sort(of)
	at := p * float64(len(of)-1)
	i := int(at)
	if i+1 == len(of) {
		return of[i]
	}
	return of[i] + (at-float64(i))*(of[i+1]-of[i])
}
