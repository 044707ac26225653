package machine

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/loggp/loggp/model/unit"
)

// Timer returns the resolution of the clock and what it costs to read it. It asks the clock once in the life of a process, for a millisecond.
var Timer = sync.OnceValues(func() (resolution, cost unit.Time) {
	return unit.Time(step(differences())) * unit.Nanosecond, reading()
})

// differences returns times from one reading of the clock to the next with ever other work between them, so that they differ by all that the clock can
// tell apart.
func differences() []int64 {
	const rounds, most = 40, 64
	var took []int64
	for range rounds {
		for work := range most {
			before := Now()
			for range work {
				busy.Add(1)
			}
			took = append(took, Now()-before)
		}
	}
	return took
}

// busy is counted up where time is to pass.
var busy atomic.Int64

// step returns the clock's step, of which all times are multiples: the least gap between any two of them, or between one and zero. The clock's numbers are
// rounded to whole nanoseconds, so that two times which are neighbours may be one. Three are not.
func step(times []int64) int64 {
	times = append([]int64{0}, times...)
	slices.Sort(times)
	times = slices.Compact(times)
	least := int64(math.MaxInt64)
	for i := 1; i < len(times); i++ {
		gap := times[i] - times[i-1]
		if gap > 1 || i > 1 && times[i]-times[i-2] == 2 {
			least = min(least, gap)
		}
	}
	if least == math.MaxInt64 {
		return 1
	}
	return least
}

// reading returns what a reading of the clock costs: in each of some batches the fastest of many series, and the median of the batches, of which one
// may find the processor in another state.
func reading() unit.Time {
	const batches, rounds, reads = 9, 20, 50
	costs := make([]float64, batches)
	for i := range costs {
		least := int64(math.MaxInt64)
		for range rounds {
			begin := Now()
			end := begin
			for range reads {
				end = Now()
			}
			least = min(least, end-begin)
		}
		costs[i] = float64(least) / reads
	}
	return unit.Time(quantile(costs, 0.5) * float64(unit.Nanosecond))
}
