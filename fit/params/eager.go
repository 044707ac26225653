package params

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
)

// EagerLimitEvidence is the evidence of an eager limit, which is the parameter. Times are in
// microseconds.
type EagerLimitEvidence struct {
	Parameter
	CostJump                   float64 // by so much more a message behind the limit costs beside its bytes
	RoundTripOfSmallestMessage float64 // of the smallest message with data, which a handshake costs at least
	IsConfirmed                bool    // another timer that contains the transfer changes there, too, or there is no such timer
}

// addEagerLimit adds S of LogGPS (Ino, Fujimoto, Hagihara 2001): the last size before the first
// change of half the round trip's line at which messages begin to cost a handshake.
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
func (m Mode) addEagerLimit() {
	if m.Name != "send" {
		return
	}
	rtt := m.TimerCurve(sample.TimerRTT)
	if rtt == nil || len(rtt.Pieces) < 2 {
		return
	}
	trip := rtt.Cells[0].Value
	if first := rtt.Cells[0]; first.Bytes == 0 { // which is not the only one
		trip = rtt.Cells[1].Value
	}
	for _, x := range rtt.Changes() {
		if !(x.Rise >= trip && x.RiseLowerQuartile > trip/2) {
			continue
		}
		row := m.NewRow(EagerLimit, sample.TimerRTT+": eager limit", -1, -1, x.SampleCount)
		before, after := rtt.Cells[x.Before].Bytes, rtt.Cells[x.After].Bytes
		row.Value, row.Low, row.High, row.Verdict = float64(x.Last), float64(before), float64(after-1), GoodVerdict
		if x.After-x.Before > 2 || !m.isProtocolChangeConfirmed(before, after) {
			row.Verdict = WeakVerdict
		}
		m.EagerLimitEvidence = append(m.EagerLimitEvidence, EagerLimitEvidence{
			Parameter: row, CostJump: clean.RoundDigits(x.Rise), RoundTripOfSmallestMessage: clean.RoundDigits(trip), IsConfirmed: m.isProtocolChangeConfirmed(before, after),
		})
		m.addRow(row, slices.Repeat([]float64{row.Value}, m.Options.ReplicateCount), clean.MinSamplesForInterval)
		return
	}
}

// isProtocolChangeConfirmed says whether another timer that has the transfer in it changes between
// two sizes too, or there is none.
func (m Mode) isProtocolChangeConfirmed(before, after int) bool {
	others := 0
	for _, timer := range []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.TimerTrain, sample.TrainTimer(10)} {
		c := m.TimerCurve(timer)
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

// FindEagerLimit returns S, the longest message that is sent without asking the receiver, and what
// shows it: round trips, or else the last size before o_s jumps by more than a round trip of small
// messages. A sender that asks waits for an answer, so its call is longer by a round trip at least;
// a smaller jump has another reason, such as another way to copy.
func FindEagerLimit(ps []Parameter, mode string) (limit float64, from string, err error) {
	if p, ok := FindParameter(ps, mode, EagerLimit, 0); ok && !math.IsNaN(p.Value) {
		return p.Value, fmt.Sprintf("%s: the change is behind it and not behind %.0f bytes", p.Method, p.High+1), nil
	}
	half := slices.IndexFunc(ps, func(p Parameter) bool {
		return p.Mode == mode && p.Kind() == Latency && p.Method == MethodHalfRoundTrip && !math.IsNaN(p.Value)
	})
	if half < 0 {
		return 0, "", fmt.Errorf("without a round trip of %s it is not known which change of o_s is a request to the receiver; give the eager limit of the library by --eager, or measure rtt", mode)
	}
	trip := 2 * ps[half].Value
	pieces := SizeRanges(ps, mode, SendOverhead)
	for i := 1; i < len(pieces); i++ {
		before, next := pieces[i-1], pieces[i]
		switch jump := next.ValueAtFrom - before.ValueAt(next.From); {
		case jump > trip:
			return float64(before.To), fmt.Sprintf("o_s jumps by %.4g us from %d to %d bytes, more than a round trip of %.4g us", jump, before.To, next.From, trip), nil
		case jump > 3*trip/4:
			return 0, "", fmt.Errorf("from %d to %d bytes o_s of %s jumps by %.4g us, and a round trip takes %.4g us: it is not clear whether messages are requested from there; give the eager limit by --eager, or measure more sizes",
				before.To, next.From, mode, jump, trip)
		}
	}
	longest := 0
	if len(pieces) > 0 {
		longest = pieces[len(pieces)-1].To
	}
	return 0, "", fmt.Errorf("up to %d bytes o_s of %s never jumps by a round trip (%.4g us), so that no eager limit is seen; give it by --eager, or measure longer messages", longest, mode, trip)
}
