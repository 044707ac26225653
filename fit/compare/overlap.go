package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// OverlapShare is the part of the one-way time that a nonblocking send leaves to the program, at
// one size.
//
// The one-way time of a message is half a round trip of blocking calls. The nonblocking call
// occupies the processor,
//
//	free = rtt/2 − o_s(isend)
//
// This is an upper bound: it does not include the work of the library in the call that waits. If
// trains with waits were measured, the total processor time of a message is known, because a wait
// longer than the one-way time hides everything that needs no processor:
//
//	free = rtt/2 − [PRTT(n,d,s) − PRTT(1,0,s)]/(n−1) + d
//
// Hoefler et al., Low-Overhead LogGP Parameter Assessment (2007), section 3, use the second term as
// o_s.
type OverlapShare struct {
	SubjectIndex        int
	Bytes               int
	OneWayTime          curve.Point  // rtt/2 of send, microseconds
	BlockingOverhead    *curve.Point // o_s of send; nil: not measured
	NonBlockingOverhead curve.Point  // o_s of isend; or the total processor time, if IsUpperBound is false
	FreeTime            curve.Point  // OneWayTime − NonBlockingOverhead; negative if the call takes longer than the one-way time of a blocking message
	FreeShare           curve.Point  // of OneWayTime, percent
	IsUpperBound        bool         // FreeTime is an upper bound: only the call was timed
}

// overlapShares returns the overlaps by subject and size, and the sizes from which half of the
// one-way time is free.
func overlapShares(all []*fittedSubject, o clean.Options) ([]OverlapShare, []Crossover) {
	var out []OverlapShare
	var pairings []crossoverSearch
	for i, p := range all {
		send, isend := p.ModeOf("send"), p.ModeOf("isend")
		way, call, bound := send.TimerCurve(sample.TimerRTT), isend.DeriveRoundTripTrainResults("isend").SendOverhead, false
		if call == nil {
			call, bound = isend.SendOverheadCurve(), true
		}
		if way == nil || call == nil {
			continue
		}
		pairings = append(pairings, crossoverSearch{Crossover{Quantity: OneWay, Mode: "send", SubjectIndex: i, OtherSubjectIndex: i}, way, call, 4}) // rtt/2 > 2·call
		for _, w := range way.Cells {
			c := call.CellOf(w.Bytes)
			if c == nil || !(w.Low > 0) {
				continue
			}
			x := OverlapShare{SubjectIndex: i, Bytes: w.Bytes, IsUpperBound: bound, NonBlockingOverhead: curve.PointOf(*c)}
			half := clean.LinearCombination([]clean.Cell{w}, []float64{0.5}, o.ConfidenceLevel)
			x.OneWayTime, x.FreeTime, x.FreeShare = curve.PointOf(half), remainingTime(half, *c, o), remainingShare(half, *c, o)
			if b := send.SendOverheadCurve().CellOf(w.Bytes); b != nil {
				q := curve.PointOf(*b)
				x.BlockingOverhead = &q
			}
			out = append(out, x)
		}
	}
	return out, findCrossovers(pairings, o)
}

// remainingTime returns way − call.
func remainingTime(way, call clean.Cell, o clean.Options) curve.Point {
	d := clean.LinearCombination([]clean.Cell{way, call}, []float64{1, -1}, o.ConfidenceLevel)
	return curve.PointOf(d)
}

// remainingShare returns 1 − call/way in percent. Its interval exceeds that of the replicates by
// the same factor as the interval of the difference.
func remainingShare(way, call clean.Cell, o clean.Options) curve.Point {
	left := func(w, c float64) float64 { return 100 * (1 - c/w) }
	reps := make([]float64, 0, len(way.Replicates))
	for b, w := range way.Replicates {
		if w > 0 {
			reps = append(reps, left(w, call.Replicates[b]))
		}
	}
	slices.Sort(reps)
	value := left(way.Value, call.Value)
	low, high := value, value
	if len(reps) > 0 {
		low, high = clean.PercentileInterval(reps, value, o.ConfidenceLevel)
	}
	if min(way.FewestSamples, call.FewestSamples) < clean.MinSamplesForInterval {
		low, high = math.NaN(), math.NaN()
	}
	slack := 100 * (way.ResolutionError + call.ResolutionError) / way.Value
	return curve.Point{Bytes: way.Bytes, Value: clean.RoundDigits(value), Low: clean.RoundDigits(low - slack), High: clean.RoundDigits(min(high+slack, 100)), SampleCount: way.SampleCount + call.SampleCount}
}
