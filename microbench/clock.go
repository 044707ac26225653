package microbench

import (
	"math"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// measureClockReadTime returns the time that reading the clock adds to an interval: the mean of the
// fastest of many series of readings.
func measureClockReadTime(c *mpi.Comm) unit.Time {
	const series = 50
	least := unit.Time(math.MaxInt64)
	for range series {
		least = min(least, meanClockReadTime(c))
	}
	return least
}

// meanClockReadTime returns the mean time of a reading in one series.
func meanClockReadTime(c *mpi.Comm) unit.Time {
	const reads = 200
	begin := c.Wtime()
	end := begin
	for range reads {
		end = c.Wtime()
	}
	return (end - begin) / reads
}

// clockDither adds a wait of a fraction of a clock tick. A process that waits until a coarse clock
// shows a certain time always continues at the same distance after a tick. All its times are then
// rounded by the same amount, up to a tick, and by another amount in another launch. With the
// additional wait the distances are spread evenly over a tick.
type clockDither struct {
	loopsPerClockTick float64 // iterations of an empty loop per clock tick
	nextTickFraction  float64 // of a tick, for the next wait, 0 to 1
}

// newDither returns a dither for a clock with a given step.
func newDither(c *mpi.Comm, step unit.Time) clockDither {
	const series, turns = 20, 20000
	least := unit.Time(math.MaxInt64)
	for range series {
		begin := c.Wtime()
		runEmptyLoop(turns)
		least = min(least, c.Wtime()-begin)
	}
	if least <= 0 {
		return clockDither{} // the clock is not that of this computer
	}
	return clockDither{loopsPerClockTick: turns * float64(step) / float64(least)}
}

// waitTickFraction waits for the next fraction of a step.
func (d *clockDither) waitTickFraction() { runEmptyLoop(d.nextLoopCount()) }

// nextLoopCount returns the iterations of the next wait. The fractions follow the golden section,
// so that even a few are spread over the whole step.
func (d *clockDither) nextLoopCount() int {
	d.nextTickFraction += math.Phi - 1
	if d.nextTickFraction >= 1 {
		d.nextTickFraction--
	}
	return int(d.nextTickFraction * d.loopsPerClockTick)
}

// runEmptyLoop runs an empty loop.
//
//go:noinline
func runEmptyLoop(n int) {
	for range n {
	}
}

// ClockOffsetBounds has bounds of the offset of P2's clock from P1's at a time.
type ClockOffsetBounds struct {
	ExchangeMidTime unit.Time // by P1's clock
	Low, High       unit.Time // Low > High: the offset changed during the exchange
}

// Middle returns the middle of the bounds. It reports whether the bounds are consistent.
func (c ClockOffsetBounds) Middle() (unit.Time, bool) {
	return c.Low + (c.High-c.Low)/2, c.Low <= c.High
}

// Minimum duration of an exchange, and minimum number of round trips, which take longer on a slow
// network.
const (
	minClockOffsetExchangeDuration = 20 * unit.Millisecond
	minClockOffsetRoundTrips       = 20
)

// boundClockOffset computes bounds of the offset of the pair's clocks from round trips in which P2
// reads its clock. P2's reading is after P1's reading at the start of the trip and before P1's at
// the end:
//
//	max(t2 − t1′) ≤ offset ≤ min(t2 − t1)
//
// with t1 and t1′ by P1's clock and t2 by P2's. Worsch, Reussner and Augustin 2002 (SKaMPI),
// section 3.2. P1 returns the bounds, P2 zero.
//
// Note: if the garbage collector or the system delays a trip, this widens only its own bounds.
func (x *pairComms) boundClockOffset() ClockOffsetBounds {
	c, peer := x.commsByBarrierRoot[0], 1-x.commsByBarrierRoot[0].Rank()
	var more [1]byte
	var there [8]byte
	if !x.isP1 {
		for {
			mpi.Recv(c, more[:], peer, measuredMessageTag)
			encodeTime(there[:], c.Wtime())
			if more[0] == 0 {
				return ClockOffsetBounds{}
			}
			mpi.Send(c, there[:], peer, measuredMessageTag)
		}
	}
	begin := c.Wtime()
	bounds := ClockOffsetBounds{Low: math.MinInt64, High: math.MaxInt64}
	more[0] = 1
	for n := 0; n < minClockOffsetRoundTrips || c.Wtime()-begin < minClockOffsetExchangeDuration; n++ {
		before := c.Wtime()
		mpi.Send(c, more[:], peer, measuredMessageTag)
		mpi.Recv(c, there[:], peer, measuredMessageTag)
		t := decodeTime(there[:])
		bounds.Low, bounds.High = max(bounds.Low, t-c.Wtime()), min(bounds.High, t-before)
	}
	more[0] = 0
	mpi.Send(c, more[:], peer, measuredMessageTag)
	bounds.ExchangeMidTime = begin + (c.Wtime()-begin)/2
	return bounds
}

// ClockDriftBounds returns bounds, in parts per million, of the relative rate of P2's clock to
// P1's, assuming a constant rate: between two exchanges the offset grew at least by the later lower
// bound minus the earlier upper bound. ok is false without two exchanges with consistent bounds.
func ClockDriftBounds(clocks []ClockOffsetBounds) (low, high float64, ok bool) {
	low, high = math.Inf(-1), math.Inf(1)
	for j, b := range clocks {
		for _, a := range clocks[:j] {
			passed := float64(b.ExchangeMidTime - a.ExchangeMidTime)
			low = max(low, float64(b.Low-a.High)/passed*1e6)
			high = min(high, float64(b.High-a.Low)/passed*1e6)
			ok = true
		}
	}
	return low, high, ok && low <= high
}
