package fit

import (
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// EagerLimit ends the method of S of LogGPS (Ino, Fujimoto, Hagihara 2001): the longest message that is sent before its receiver has asked for it.
// Its unit is Bytes; the S of LoGH{sSP}, a gap, is in PerByte.
const EagerLimit = "eager limit"

// eagerLimit adds S: the last size before the first change of half the round trip's line at which messages begin to cost a handshake.
//
// A library that asks the receiver first sends another message before each of the two that go round, so that what a round trip costs beside its bytes (the
// line, continued to no bytes) grows by a round trip of the smallest message or more:
//
//	rtt(k) − slope·k after the change − the same before it ≥ rtt(1)
//
// (of the smallest message with data: an empty one may go a shorter way). // Anything else bends or moves the line by less, or falls: another way to copy, a cache that is full, pages. That the bytes then come faster, as in one copy in
// place of two, may hide the step: the line after a limit of 16 KiB can begin below the one before it.
//
// The interval reaches over all places where the change may as well be: where the two lines then cost no more than 3.84 more (the likelihood's interval
// for one parameter, at 95 %). It ends before the first size that is not sent at once.
func (m mode) eagerLimit() {
	if m.name != "send" {
		return
	}
	rtt := m.timer(sample.RTT)
	if rtt == nil || len(rtt.pieces) < 2 {
		return
	}
	trip := rtt.cells[0].value
	if first := rtt.cells[0]; first.bytes == 0 { // which is not the only one
		trip = rtt.cells[1].value
	}
	for i := 0; i+1 < len(rtt.pieces); i++ {
		rise, mostly := rtt.rise(i)
		if !(rise >= trip && mostly > trip/2) {
			continue
		}
		row := m.row("S", sample.RTT+": "+EagerLimit, -1, -1, rtt.pieces[i].Samples+rtt.pieces[i+1].Samples)
		before, after := rtt.borders(i)
		row.Unit, row.Value = Bytes, float64(rtt.pieces[i].To)
		row.Low, row.High = float64(rtt.cells[before].bytes), float64(rtt.cells[after].bytes-1)
		row.Verdict = Good
		if after-before > 2 || !m.confirmed(rtt.cells[before].bytes, rtt.cells[after].bytes) {
			row.Verdict = Weak
		}
		m.add(row, slices.Repeat([]float64{row.Value}, m.o.Replicates))
		return
	}
}

// rise returns how much more a message costs beside its bytes after piece i than on it, and what three quarters of the replicates exceed.
func (c *curve) rise(i int) (value, mostly float64) {
	base := func(piece int, l line) float64 { return l.value - l.slope*float64(c.pieces[piece].From) }
	reps := make([]float64, len(c.replicate[i]))
	for b := range reps {
		reps[b] = base(i+1, c.replicate[i+1][b]) - base(i, c.replicate[i][b])
	}
	slices.Sort(reps)
	p, q := c.pieces[i], c.pieces[i+1]
	return base(i+1, line{q.Value, q.Slope}) - base(i, line{p.Value, p.Slope}), quantile(reps, 0.25)
}

// borders returns the cells between which piece i may end: the last that belongs to it in any case, and the first that does not.
func (c *curve) borders(i int) (before, after int) {
	index := func(bytes int) int {
		return slices.IndexFunc(c.cells, func(x cell) bool { return x.bytes == bytes })
	}
	from, end, to := index(c.pieces[i].From), index(c.pieces[i+1].From), index(c.pieces[i+1].To)+1
	cost := func(end int) float64 { return c.fitted.cut(from, end).cost() + c.fitted.cut(end, to).cost() }
	limit := cost(end) + worse
	before, after = end-1, end
	for e := end - 1; e-from >= fewest && cost(e) <= limit; e-- {
		before = e - 1
	}
	for e := end + 1; to-e >= fewest && cost(e) <= limit; e++ {
		after = e
	}
	return before, after
}

// confirmed says whether another timer that has the transfer in it changes between two sizes too, or there is none.
func (m mode) confirmed(before, after int) bool {
	others := 0
	for _, timer := range []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Train, sample.PRTT(10)} {
		c := m.timer(timer)
		if c == nil {
			continue
		}
		others++
		for i := 0; i+1 < len(c.pieces); i++ {
			if c.pieces[i].To < after && c.pieces[i+1].From > before {
				return true
			}
		}
	}
	return others == 0
}
