package shm

import (
	"math"
	"slices"
	"sync"

	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/model/unit"
)

// Timer returns the resolution of the clock and what it costs to read it.
//
// The cost is the mean of the fastest of many series of readings. It hides steps that are shorter; but the times from one reading to the next differ by
// multiples of a step, so the resolution is the least difference that is seen between any two of them.
var Timer = sync.OnceValues(func() (resolution, cost unit.Time) {
	const rounds, reads = 50, 200
	var took []int64
	least := int64(math.MaxInt64)
	for range rounds {
		var at [reads + 1]int64
		for i := range at {
			at[i] = nanotime()
		}
		for i := range reads {
			took = append(took, at[i+1]-at[i])
		}
		least = min(least, at[reads]-at[0])
	}
	return unit.Time(step(took)) * unit.Nanosecond, unit.Time(least) * unit.Nanosecond / reads
})

// step returns the least difference between any two numbers, or between one and zero.
func step(of []int64) int64 {
	slices.Sort(of)
	least, last := int64(math.MaxInt64), int64(0)
	for _, x := range of {
		if x > last {
			least = min(least, x-last)
		}
		last = x
	}
	return least
}

// Processors returns how many processors ranks may run on, and Place that of a rank which is pinned.
func Processors() int    { return len(launch.Processors()) }
func Place(rank int) int { return launch.Place(rank) }
