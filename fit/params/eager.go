package params

import (
	"github.com/loggp/loggp/fit/clean"

	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// eagerLimit adds S of LogGPS (Ino, Fujimoto, Hagihara 2001): the last size before the first change of half the round trip's line at which messages begin to cost a handshake.
//
// A library that asks the receiver first sends another message before each of the two that go round, so that what a round trip costs beside its bytes (the
// line, continued to no bytes) grows by a round trip of the smallest message or more:
//
//	rtt(k) − slope·k after the change − the same before it ≥ rtt(1)
//
// (of the smallest message with data: an empty one may go a shorter way). Anything else bends or moves the line by less, or falls: another way to copy, a cache that is full, pages. That the bytes then come faster, as in one copy in
// place of two, may hide the step: the line after a limit of 16 KiB can begin below the one before it.
//
// The interval reaches over all places where the change may as well be: where the two lines then cost no more than 3.84 more (the likelihood's interval
// for one parameter, at 95 %). It ends before the first size that is not sent at once.
func (m Mode) eagerLimit() {
	if m.Name != "send" {
		return
	}
	rtt := m.Timer(sample.RTT)
	if rtt == nil || len(rtt.Pieces) < 2 {
		return
	}
	trip := rtt.Cells[0].Value
	if first := rtt.Cells[0]; first.Bytes == 0 { // which is not the only one
		trip = rtt.Cells[1].Value
	}
	for i := 0; i+1 < len(rtt.Pieces); i++ {
		rise, mostly := rtt.Rise(i)
		if !(rise >= trip && mostly > trip/2) {
			continue
		}
		row := m.Row(EagerLimit, sample.RTT+": eager limit", -1, -1, rtt.Pieces[i].Samples+rtt.Pieces[i+1].Samples)
		before, after := rtt.Borders(i)
		row.Value = float64(rtt.Pieces[i].To)
		row.Low, row.High = float64(rtt.Cells[before].Bytes), float64(rtt.Cells[after].Bytes-1)
		row.Verdict = Good
		if after-before > 2 || !m.confirmed(rtt.Cells[before].Bytes, rtt.Cells[after].Bytes) {
			row.Verdict = Weak
		}
		m.add(row, slices.Repeat([]float64{row.Value}, m.O.Replicates), clean.LeastForInterval)
		return
	}
}

// confirmed says whether another timer that has the transfer in it changes between two sizes too, or there is none.
func (m Mode) confirmed(before, after int) bool {
	others := 0
	for _, timer := range []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Train, sample.PRTT(10)} {
		c := m.Timer(timer)
		if c == nil {
			continue
		}
		others++
		for i := 0; i+1 < len(c.Pieces); i++ {
			if c.Pieces[i].To < after && c.Pieces[i+1].From > before {
				return true
			}
		}
	}
	return others == 0
}
