package microbench

import (
	"slices"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// way is how the rounds of a collective operation begin, and what is seen of them.
type way struct {
	timers []string
	serves func(e *ensemble) bool

	// round goes through one and returns the time of this rank, or tooLate. Who has ended is quiet until all have, for so long as a round takes from barrier to
	// barrier: who is still at it would take in messages of what comes next.
	round func(e *ensemble, window unit.Time) unit.Time

	// sum returns the sample of each timer from the times of all ranks, in ascending order.
	sum func(ranks []unit.Time) []unit.Time
}

// ways are those that there are.
var ways = []*way{
	{[]string{sample.CollMin, sample.CollMedian, sample.CollMax}, func(*ensemble) bool { return true }, behindBarrier, spread},
	{[]string{sample.CollLast}, func(e *ensemble) bool { return e.Common }, atOnce, last},
}

// tooLate is the time of a rank that did not begin with the others.
const tooLate = -1

// behindBarrier lets each rank begin when it leaves a barrier.
func behindBarrier(e *ensemble, window unit.Time) unit.Time {
	e.c.Barrier()
	begin := e.c.Wtime()
	e.call()
	end := e.c.Wtime()
	e.compute(e.c, window/ahead)
	return max(0, end-begin-e.reading)
}

func spread(ranks []unit.Time) []unit.Time {
	n := len(ranks)
	low, high := ranks[(n-1)/2], ranks[n/2]
	return []unit.Time{ranks[0], low + (high-low)/2, ranks[n-1]}
}

// prompt is how long after the agreed time a rank may begin, or a step of the clock if that is longer: to read it a few times.
const prompt = 200 * unit.Nanosecond

// atOnce lets all ranks begin at the same time by their common clock, and returns how long after it this one has ended.
func atOnce(e *ensemble, window unit.Time) unit.Time {
	start := e.agree(window)
	late := e.await(start) > max(prompt, e.Step)
	e.call()
	end := e.c.Wtime()
	if over := start + window/ahead; end < over {
		e.compute(e.c, over-end)
	}
	if late {
		return tooLate
	}
	return max(0, end-start-e.reading)
}

// await waits until a time, and returns how long after it that is.
func (e *ensemble) await(start unit.Time) unit.Time {
	now := e.c.Wtime()
	switch {
	case now > start:
	case e.Shared:
		e.compute(e.c, max(0, start-now-watching))
		for now = e.c.Wtime(); now < start; now = e.c.Wtime() {
		}
	default:
		e.inOrder(start - now)
		now = e.c.Wtime()
	}
	return now - start
}

// watching is how long before a start a rank begins to look at a real clock all the time.
const watching = unit.Microsecond

// inOrder waits. Ranks come to the end of it in the order of their numbers, however they came to its beginning, by picoseconds that no clock shows: where
// messages get somewhere at the same time, that order decides which is the first, as in the model.
func (e *ensemble) inOrder(wait unit.Time) {
	order := min(wait, unit.Time(e.c.Size()-e.c.Rank()))
	e.c.Compute(wait - order)
	e.c.Compute(order)
}

// agree returns a time that is so far ahead of rank 0.
func (e *ensemble) agree(window unit.Time) unit.Time {
	start := e.words[:1]
	start[0] = int64(e.c.Wtime() + window)
	e.c.Bcast(mpi.Of(start), root)
	return unit.Time(start[0])
}

func last(ranks []unit.Time) []unit.Time {
	if ranks[0] == tooLate {
		return nil
	}
	return ranks[len(ranks)-1:]
}

// rounds returns the samples of the timers in each round that counts, from the times of all ranks, as they were gathered.
func (w *way) rounds(all []int64, ranks int) [][]unit.Time {
	n := len(all) / ranks
	var samples [][]unit.Time
	times := make([]unit.Time, ranks)
	for i := range n {
		for r := range ranks {
			times[r] = unit.Time(all[r*n+i])
		}
		slices.Sort(times)
		if s := w.sum(times); s != nil {
			samples = append(samples, slices.Clone(s))
		}
	}
	return samples
}
