package params

import (
	"fmt"
	"math"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// roundTripTrainResults are the curves that round-trip trains give, by the formulas of Hoefler et
// al., Low-Overhead LogGP Parameter Assessment (2007), §3:
//
//	g + (s−1)·G = [PRTT(n,0,s) − PRTT(1,0,s)] / (n−1)
//	o_s(s)      = [PRTT(n,d,s) − PRTT(1,0,s)] / (n−1) − d
//
// The second timer has its waits taken out already. A curve is nil where there are no trains.
type roundTripTrainResults struct{ messageInterval, SendOverhead *curve.Curve }

// DeriveRoundTripTrainResults returns the curves of a mode. They are made once.
func (e *Extraction) DeriveRoundTripTrainResults(mode string) roundTripTrainResults {
	t, ok := e.trainResultsByMode[mode]
	if ok {
		return t
	}
	for _, c := range e.Curves {
		n, waiting, ok := sample.ParseTrainTimer(c.Timer)
		rtt := e.Curve(mode, sample.TimerRTT)
		if !ok || c.Mode != mode || rtt == nil || !clean.IsLibraryChoice(mode, c.Protocol) {
			continue
		}
		into := &t.messageInterval
		if waiting {
			into = &t.SendOverhead
		}
		if *into == nil || (*into).Cells == nil {
			*into = e.perMessageCurve(c, rtt, n)
		}
	}
	if e.trainResultsByMode == nil {
		e.trainResultsByMode = make(map[string]roundTripTrainResults)
	}
	e.trainResultsByMode[mode] = t
	return t
}

// perMessageCurve returns what each message of a train after the first takes, or nil if no size is
// left. Cells in which n messages took less time than one, beyond their intervals, are left out:
// something else than messages took the time of one of the two.
func (e *Extraction) perMessageCurve(train, rtt *curve.Curve, n int) *curve.Curve {
	more := float64(n - 1)
	out := train.EmptyCopy(PerMessageMethod(train.Timer, n), math.Hypot(train.ZeroThreshold, rtt.ZeroThreshold)/more)
	out.IsTime = true
	var absurd []int
	for _, a := range train.Cells {
		b := rtt.CellOf(a.Bytes)
		if b == nil {
			continue
		}
		c := clean.LinearCombination([]clean.Cell{a, *b}, []float64{1 / more, -1 / more}, e.Options.ConfidenceLevel)
		if c.High < 0 {
			absurd = append(absurd, a.Bytes)
			continue
		}
		out.Cells = append(out.Cells, c)
		out.Magnitudes = append(out.Magnitudes, math.Hypot(a.Value, b.Value)/more)
	}
	if len(absurd) > 0 {
		code := clean.CodeDisturbed
		if train.Clock == "virtual" { // nothing disturbs it
			code = clean.CodeUnidentified
		}
		e.Warnings = append(e.Warnings, train.Warning(train.Timer, code,
			fmt.Sprintf("%d messages took less time than one, at %s: left out", n, curve.FormatSizes(absurd, len(out.Cells)+len(absurd)))))
	}
	if len(out.Cells) == 0 {
		return nil
	}
	out.CutIntoPieces(e.Options)
	e.DerivedCurves = append(e.DerivedCurves, *out)
	return out
}

// GapCurve returns the timer that shows g: the sends of a burst, or what a message adds to a
// round-trip train; or nil.
func (m Mode) GapCurve() *curve.Curve {
	if train := m.TimerCurve(sample.TimerTrain); train != nil {
		return train
	}
	return m.DeriveRoundTripTrainResults(m.Name).messageInterval
}

// PerMessageMethod is the method of what each message of a train of n adds: (prtt10-rtt)/9.
func PerMessageMethod(train string, n int) string {
	return fmt.Sprintf("(%s-%s)/%d", train, sample.TimerRTT, n-1)
}

// IsPerMessageTimer says whether the timer of a curve is what each message of a round-trip train
// adds.
func IsPerMessageTimer(timer string) bool {
	name, _, ok := strings.Cut(strings.TrimPrefix(timer, "("), "-"+sample.TimerRTT+")/")
	_, waiting, train := sample.ParseTrainTimer(name)
	return ok && train && !waiting
}
