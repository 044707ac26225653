package params

import (
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
)

// Handshake is the evidence of an eager limit, which is the parameter. Times are in microseconds.
type Handshake struct {
	Parameter
	Jump      float64 // by so much more a message behind the limit costs beside its bytes
	RoundTrip float64 // of the smallest message with data, which a handshake costs at least
	Confirmed bool    // another timer that contains the transfer changes there, too, or there is no such timer
}

// eagerLimit adds S of LogGPS (Ino, Fujimoto, Hagihara 2001): the last size before the first change
// of half the round trip's line at which messages begin to cost a handshake.
//
// A library that asks the receiver first sends another message before each of the two that go
// round, so that what a round trip costs beside its bytes (the line, continued to no bytes) grows
// by a round trip of the smallest message or more:
//
//	rtt(k) − slope·k after the change − the same before it ≥ rtt(1)
//
// (of the smallest message with data: an empty one may go a shorter way). Anything else bends or
// moves the line by less, or falls: another way to copy, a cache that is full, pages. That the
// bytes then come faster, as in one copy in place of two, may hide the step: the line after a limit
// of 16 KiB can begin below the one before it.
//
// The interval reaches over all places where the change may as well be: where the two lines then
// cost no more than 3.84 more (the likelihood's interval for one parameter, at 95 %). It ends
// before the first size that is not sent at once.
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
	for _, x := range rtt.Changes() {
		if !(x.Rise >= trip && x.Mostly > trip/2) {
			continue
		}
		row := m.Row(EagerLimit, sample.RTT+": eager limit", -1, -1, x.Samples)
		before, after := rtt.Cells[x.Before].Bytes, rtt.Cells[x.After].Bytes
		row.Value, row.Low, row.High, row.Verdict = float64(x.Last), float64(before), float64(after-1), Good
		if x.After-x.Before > 2 || !m.confirmed(before, after) {
			row.Verdict = Weak
		}
		m.Handshakes = append(m.Handshakes, Handshake{
			Parameter: row, Jump: clean.Rounded(x.Rise), RoundTrip: clean.Rounded(trip), Confirmed: m.confirmed(before, after),
		})
		m.add(row, slices.Repeat([]float64{row.Value}, m.O.Replicates), clean.LeastForInterval)
		return
	}
}

// confirmed says whether another timer that has the transfer in it changes between two sizes too,
// or there is none.
func (m Mode) confirmed(before, after int) bool {
	others := 0
	for _, timer := range []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Train, sample.PRTT(10)} {
		c := m.Timer(timer)
		if c == nil {
			continue
		}
		others++
		for _, x := range c.Changes() {
			if x.Last < after && x.Next > before {
				return true
			}
		}
	}
	return others == 0
}
