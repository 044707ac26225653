package microbench

import (
	"math"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// calibrate finds what a reading of the clock adds to the time between two: the mean of the quickest of many series of readings, made in the
// way in which stages make them.
func calibrate(c *mpi.Comm) unit.Time {
	const series = 50
	least := unit.Time(math.MaxInt64)
	for range series {
		least = min(least, readings(c))
	}
	return least
}

// readings returns what a reading of the clock takes in a series of them.
func readings(c *mpi.Comm) unit.Time {
	const reads = 200
	begin := c.Wtime()
	end := begin
	for range reads {
		end = c.Wtime()
	}
	return (end - begin) / reads
}

// dither is what is waited beyond a time that the clock showed. Who waits until a clock with steps shows a time goes on right behind a step, always at the same
// distance: what it times then is rounded by as much each time, up to a step, and by another part of it in another launch. So it goes on from all places between
// two steps, by turns.
type dither struct {
	turns float64 // of a loop that does nothing, in a step of the clock
	phase float64 // of the next wait, from 0 to 1
}

// ditherOf returns one for a clock.
func ditherOf(c *mpi.Comm, step unit.Time) dither {
	const series, turns = 20, 20000
	least := unit.Time(math.MaxInt64)
	for range series {
		begin := c.Wtime()
		turn(turns)
		least = min(least, c.Wtime()-begin)
	}
	if least <= 0 {
		return dither{} // time is not that of this machine
	}
	return dither{turns: turns * float64(step) / float64(least)}
}

// wait waits for a part of a step.
func (d *dither) wait() { turn(d.next()) }

// next returns how many turns that is. Parts follow each other by the golden section, so that few of them already are spread over all of the step.
func (d *dither) next() int {
	d.phase += math.Phi - 1
	if d.phase >= 1 {
		d.phase--
	}
	return int(d.phase * d.turns)
}

// turn passes the time.
//
//go:noinline
func turn(n int) {
	for range n {
	}
}
