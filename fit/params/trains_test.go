package params_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// trainMachine is what round-trip trains show of a machine with g over both overheads, in
// microseconds, by the formulas of Hoefler et al. 2007.
type trainMachine struct{ l, os, or, g, big float64 }

var trainTruth = trainMachine{l: 3, os: 1, or: 1.5, g: 2, big: 0.01}

// times returns the times of each timer for k bytes.
func (m trainMachine) times(k float64) map[string]float64 {
	rtt := 2 * (m.l + m.os + m.or + (k-1)*m.big)
	return map[string]float64{
		sample.TimerRTT: rtt, sample.TrainTimer(10): rtt + 9*(m.g+(k-1)*m.big), sample.SpacedTrainTimer(10): rtt + 9*m.os, sample.Timer12: m.or,
	}
}

func (m trainMachine) samples(timers ...string) *sample.Set {
	set := &sample.Set{}
	for _, k := range []int{1, 10, 100, 1000, 2000, 4000, 8000} {
		for _, timer := range timers {
			key := sample.Key{Platform: "x", Clock: "real", Place: "inter", Mode: "send", Protocol: "auto", Timer: timer, Bytes: k}
			t := unit.FromMicros(m.times(float64(k))[timer])
			set.Series = append(set.Series, sample.Series{Key: key, Times: slices.Repeat([]unit.Time{t}, 30)})
		}
	}
	return set
}

func TestTrains(t *testing.T) {
	r := fitcheck.Fit(t, trainTruth.samples(sample.TimerRTT, sample.TrainTimer(10), sample.SpacedTrainTimer(10), sample.Timer12), clean.Options{})
	for _, c := range []struct {
		name, method, unit string
		want               float64
	}{
		{"o_s", "(prtt10-d-rtt)/9", params.UnitMicros, trainTruth.os},
		{"o_r", sample.Timer12, params.UnitMicros, trainTruth.or},
		{"L", params.MethodHalfRoundTripLessOverheads, params.UnitMicros, trainTruth.l},
		{"g", "(prtt10-rtt)/9", params.UnitMicros, trainTruth.g},
		{"G", "(prtt10-rtt)/9", params.UnitMicrosPerByte, trainTruth.big},
		{"G", params.MethodHalfRoundTrip, params.UnitMicrosPerByte, trainTruth.big},
	} {
		if p := fitcheck.Row(t, r, "send", c.name, c.method, c.unit); math.Abs(p.Value-c.want) > 1e-6*c.want || p.Verdict != params.GoodVerdict {
			t.Errorf("%s by %s is %v, %s, want %v", c.name, c.method, p.Value, p.Verdict, c.want)
		}
	}
	if v, ok := params.ValueAt(r.Parameters, "send", "G", 0); !ok || math.Abs(v-trainTruth.big) > 1e-8 {
		t.Errorf("G of many is %v", v)
	}
}

// disturbed returns the samples of trainTruth at some of its sizes, or all, with round trips of 100
// bytes that are 50 us too long: longer than ten messages take.
func disturbed(sizes ...int) *sample.Set {
	set := trainTruth.samples(sample.TimerRTT, sample.TrainTimer(10), sample.SpacedTrainTimer(10), sample.Timer12)
	for i, s := range set.Series {
		if s.Timer == sample.TimerRTT && s.Bytes == 100 {
			for j := range s.Times {
				set.Series[i].Times[j] = s.Times[j] + 50*unit.Microsecond
			}
		}
	}
	if sizes != nil {
		set.Series = slices.DeleteFunc(set.Series, func(s sample.Series) bool { return !slices.Contains(sizes, s.Bytes) })
	}
	return set
}

// A round trip that is far longer than those of its neighbours is no part of the curve; where there
// are too few neighbours to see that, a train that takes less time than one message is no
// measurement. What noise may do is kept.
func TestTrainsDisturbed(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		warned []string
	}{{nil, []string{sample.TimerRTT}}, {[]int{1, 10, 100}, []string{sample.TrainTimer(10), sample.SpacedTrainTimer(10)}}} {
		r := fitcheck.Fit(t, disturbed(c.sizes...), clean.Options{})
		if p := fitcheck.Row(t, r, "send", "o_s", "(prtt10-d-rtt)/9", params.UnitMicros); math.Abs(p.Value-trainTruth.os) > 1e-6 {
			t.Errorf("o_s is %v", p.Value)
		}
		for _, timer := range c.warned {
			if !fitcheck.HasWarningOf(r, "send", timer, clean.CodeDisturbed) {
				t.Errorf("no warning that %s was disturbed: %v", timer, r.Warnings)
			}
		}
		for _, c := range r.Curves {
			if strings.HasPrefix(c.Timer, "(prtt") && slices.ContainsFunc(c.Points, func(p curve.Point) bool { return p.Bytes == 100 }) {
				t.Errorf("%s has the size at which one message took longer than ten", c.Timer)
			}
		}
	}
}

// Of round trips alone L is not to be had, and nothing is made up in its place.
func TestRoundTripsAlone(t *testing.T) {
	r := fitcheck.Fit(t, trainTruth.samples(sample.TimerRTT), clean.Options{})
	p := fitcheck.Row(t, r, "send", "L", params.MethodHalfRoundTripLessOverheads+params.UnidentifiableMethodSuffix, params.UnitMicros)
	if !math.IsNaN(p.Value) || p.Verdict != params.UnidentifiableVerdict || !fitcheck.HasWarningOf(r, "send", "L", clean.CodeUnidentified) {
		t.Errorf("%+v %v", p, r.Warnings)
	}
	if v, ok := params.ValueAt(r.Parameters, "send", "L", 0); ok {
		t.Errorf("L has the value %v", v)
	}
	half := trainTruth.l + trainTruth.os + trainTruth.or
	if p := fitcheck.Row(t, r, "send", "L", params.MethodHalfRoundTrip, params.UnitMicros); math.Abs(p.Value-half) > 1e-6 {
		t.Errorf("rtt/2 is %v, want %v", p.Value, half)
	}
	if p := fitcheck.Row(t, r, "send", "G", params.MethodHalfRoundTrip, params.UnitMicrosPerByte); math.Abs(p.Value-trainTruth.big) > 1e-8 {
		t.Errorf("G is %v", p.Value)
	}
}

// Windows of sends bound g and have G.
func TestStream(t *testing.T) {
	set := trainTruth.samples(sample.TrainTimer(10))
	for i := range set.Series {
		set.Series[i].Timer = sample.TimerStream
	}
	r := fitcheck.Fit(t, set, clean.Options{})
	if p := fitcheck.Row(t, r, "send", "g", sample.TimerStream+": upper bound", params.UnitMicros); !p.IsBound() || p.Verdict != params.UnidentifiableVerdict || p.Value != trainTruth.times(1)[sample.TrainTimer(10)] {
		t.Errorf("%+v", p)
	}
	if v, ok := params.ValueAt(r.Parameters, "send", "g", 0); ok {
		t.Errorf("a bound is the value %v", v)
	}
	if p := fitcheck.Row(t, r, "send", "G", sample.TimerStream, params.UnitMicrosPerByte); math.Abs(p.Value-11*trainTruth.big) > 1e-8 {
		t.Errorf("G is %v", p.Value)
	}
}
