package compare

import (
	"fmt"
	"math"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// surveyed is three transports whose times are known: times in us are of k bytes, and launch l
// makes all of them longer by 10·l %.
//
//	fast: rtt/2 1 + k/1000, o_s of send as long, of isend 0.2, all work for an isend 0.5
//	slow: rtt/2 2 + k/1000, o_s of isend 3, longer than the way of small messages
//	bare: round trips alone
func surveyed(launches int) []sample.Machine {
	type call struct {
		mode, timer string
		us          func(k float64) float64
	}
	constant := func(us float64) func(float64) float64 { return func(float64) float64 { return us } }
	way := func(us float64) func(float64) float64 { return func(k float64) float64 { return us + k/1000 } }
	twice := func(f func(float64) float64) func(float64) float64 {
		return func(k float64) float64 { return 2 * f(k) }
	}
	var out []sample.Machine
	for _, m := range []struct {
		name  string
		calls []call
	}{
		{"fast", []call{{"send", "rtt", twice(way(1))}, {"send", "timer11", way(1)}, {"send", "timer12", constant(0.4)}, {"isend", "timer11", constant(0.2)}, {"isend", "timer21", constant(0.1)},
			{"isend", "rtt", twice(way(1))}, {"isend", "prtt10-d", func(k float64) float64 { return 2*way(1)(k) + 9*0.5 }}}},
		{"slow", []call{{"send", "rtt", twice(way(2))}, {"send", "timer11", way(2)}, {"isend", "timer11", constant(3)}}},
		{"bare", []call{{"send", "rtt", twice(way(4))}}},
	} {
		set := &sample.Set{}
		for _, c := range m.calls {
			for launch := range launches {
				for _, k := range []int{8, 64, 512, 1024, 4096, 65536} {
					s := sample.Series{Key: sample.Key{Platform: m.name, Library: "lib", Clock: "real", Place: "intra", Mode: c.mode, Protocol: "auto", Timer: c.timer, Bytes: k, Launch: launch}}
					for range 30 {
						s.Times = append(s.Times, unit.FromMicros(c.us(float64(k))*(1+float64(launch)/10)))
					}
					set.Series = append(set.Series, s)
				}
			}
		}
		out = append(out, sample.Machine{Files: []string{m.name + ".csv"}, Set: set})
	}
	return out
}

func surveyOf(t *testing.T, launches int) *Table {
	t.Helper()
	s, err := CompareSubjects(surveyed(launches), clean.Options{}, 0.2, true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// words prints a row without its replicates.
func (r *Row) words() string {
	if r == nil {
		return "no row"
	}
	text := fmt.Sprintf("%+v, reference %d:", r.Quantity, r.ReferenceIndex)
	for _, v := range r.Values {
		text += fmt.Sprintf(" %d: %v at %d, ratio %v %s;", v.SubjectIndex, v.Value, v.From, v.Ratio, v.Outcome)
	}
	return text
}

// about says whether two numbers are the same but for what arithmetic leaves.
func about(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b)) }

// The best is the least time and the highest rate, and ratios are to it.
func TestBest(t *testing.T) {
	s := surveyOf(t, 1)
	x := s.RowNear(OneWay, "send", 8)
	if x.Bytes != 8 || len(x.Values) != 3 || x.ReferenceIndex != 0 || !about(x.Values[0].Value, 1.008) || !about(x.Values[1].Ratio, 2.008/1.008) || x.Values[1].Outcome != WorseOutcome || !math.IsNaN(x.Values[0].Ratio) {
		t.Error(x.words())
	}
	x = s.RowOf(AchievedBandwidth, "send", "")
	if x.Bytes != 65536 || x.ReferenceIndex != 0 || !about(x.Values[0].Value, 65536/66.536) || !about(x.Values[2].Ratio, 66.536/69.536) || x.Unit != MegabytesPerSecond {
		t.Error(x.words())
	}
	x = s.RowNear("o_s", "isend", 8)
	if len(x.Values) != 2 || x.ReferenceIndex != 0 || x.Values[1].SubjectIndex != 1 || !about(x.Values[1].Ratio, 15) {
		t.Error(x.words())
	}
	// What is not identifiable is no best: rtt/2 − o_s − o_r of fast is below zero.
	for i := range s.Rows {
		x := &s.Rows[i]
		if x.Mode == "send" && x.Method == params.MethodHalfRoundTripLessOverheads && (x.ReferenceIndex >= 0 || len(x.Values) == 0) {
			t.Error(x.words())
		}
		for _, r := range x.Values {
			if r.Value < 0 || math.IsInf(r.Value, 0) || r.Ratio < 0 {
				t.Error(x.words())
			}
		}
	}
}

// A time that may be none is no mark to measure others by.
func TestRank(t *testing.T) {
	of := func(value, low float64) Value {
		return Value{Parameter: params.Parameter{Value: value, Low: low, High: 2 * value, Verdict: params.WeakVerdict}, estimate: estimate{value, low, 2 * value, []float64{low, value}}}
	}
	s := Row{Quantity: Quantity{Unit: params.UnitMicros}, Values: []Value{of(1, 0), of(3, 2), of(2, 1)}}
	s.setRatios(true, 0, clean.Options{}.WithDefaults())
	if s.ReferenceIndex != -1 || !math.IsNaN(s.Values[2].Ratio) {
		t.Errorf("best is %d, which may be nothing", s.ReferenceIndex)
	}
	s.Unit = MegabytesPerSecond
	s.setRatios(true, 0, clean.Options{}.WithDefaults())
	if s.ReferenceIndex != 1 {
		t.Errorf("best rate is %d", s.ReferenceIndex)
	}
	s.Values[1].Verdict = params.UnidentifiableVerdict // a bound
	s.setRatios(true, 0, clean.Options{}.WithDefaults())
	if s.ReferenceIndex != 2 || !math.IsNaN(s.Values[1].Ratio) {
		t.Errorf("best rate beside a bound is %d", s.ReferenceIndex)
	}
}

// Where sizes are not alike each subject has its own of the longest.
func TestSizesApart(t *testing.T) {
	ms := surveyed(1)
	for i := range ms[1].Series {
		if x := &ms[1].Series[i]; x.Bytes == 65536 {
			x.Bytes = 100000
		} else if x.Bytes > 8 {
			x.Bytes++
		}
	}
	s, err := CompareSubjects(ms, clean.Options{}, 0.2, true)
	if err != nil {
		t.Fatal(err)
	}
	x := s.RowOf(AchievedBandwidth, "send", "")
	if x.Bytes != -1 || len(x.Values) != 3 || x.Values[0].From != 65536 || x.Values[1].From != 100000 || !about(x.Values[1].Value, 100000/67.536) {
		t.Error(x.words())
	}
	if x := s.RowNear(OneWay, "send", 8); x.Bytes != 8 || len(x.Values) != 3 {
		t.Error(x.words())
	}
}

// What is free is the way less the call, as a bound; with trains, less all that the processor does.
func TestOverlap(t *testing.T) {
	s := surveyOf(t, 1)
	seen := map[int]int{}
	for _, x := range s.OverlapShares {
		seen[x.SubjectIndex]++
		way, call := 1+float64(x.Bytes)/1000, 0.5
		if x.SubjectIndex == 1 {
			way, call = 2+float64(x.Bytes)/1000, 3
		}
		if x.IsUpperBound != (x.SubjectIndex == 1) || !about(x.OneWayTime.Value, way) || !about(x.NonBlockingOverhead.Value, call) || !about(x.FreeTime.Value, way-call) || !about(x.FreeShare.Value, 100*(1-call/way)) || x.BlockingOverhead == nil {
			t.Errorf("%+v, want %v less %v", x, way, call)
		}
		if x.FreeTime.Low > x.FreeTime.Value || x.FreeTime.High < x.FreeTime.Value || x.FreeShare.High > 100 {
			t.Errorf("intervals of %+v", x)
		}
	}
	if seen[0] != 6 || seen[1] != 6 || seen[2] != 0 {
		t.Errorf("overlaps: %v", seen)
	}
	// Of slow half is free where 2 + k/1000 is above 6: from 4000 bytes on.
	for _, x := range s.HalfFreeCrossovers {
		if x.SubjectIndex == 1 && (len(x.Crossings) != 1 || x.Crossings[0].Bytes < 3990 || x.Crossings[0].Bytes > 4010) {
			t.Errorf("%+v", x)
		}
		if x.SubjectIndex == 0 && len(x.Crossings) != 0 { // 0.5 of 1.008
			t.Errorf("%+v", x)
		}
	}
	if len(s.HalfFreeCrossovers) != 2 {
		t.Errorf("%d halves", len(s.HalfFreeCrossovers))
	}
}

// Launches l take 1 + l/10 times as long: of 1, 1.1 and 1.2 the deviation is 0.1 and the mean 1.1.
func TestScatters(t *testing.T) {
	s := surveyOf(t, 3)
	found := 0
	for i := range s.Scatters {
		x := &s.Scatters[i]
		if len(x.Values) != 3 || !about(x.Variation, 0.1/1.1) && x.Quantity != AchievedBandwidth {
			t.Errorf("%+v", x)
		}
		d := x.Deviations()
		if x.Quantity == OneWay {
			found++
			if least, most := x.ValueRange(); !about(most/least, 1.2) || !about(d[0], 100*(1/1.1-1)) || d[1] != 0 {
				t.Errorf("%+v deviates by %v", x, d)
			}
		}
		if x.SubjectIndex == 0 && x.Quantity == "o_s" && x.Mode == "isend" && !about(x.MedianOfLaunches, 0.22) {
			t.Errorf("%+v", x)
		}
	}
	if found != 3 {
		t.Errorf("%d of half round trips", found)
	}
	for _, x := range surveyOf(t, 1).Scatters {
		if !math.IsNaN(x.Variation) || len(x.Values) != 1 {
			t.Errorf("of one launch: %+v", x)
		}
	}
}

func TestTails(t *testing.T) {
	s := surveyOf(t, 1)
	if len(s.Tails) != 9 {
		t.Fatalf("%d tails", len(s.Tails))
	}
	ms := surveyed(1)
	times := ms[0].Series[0].Times
	for i := range times { // 1 to 30 us there and back
		times[i] = unit.FromMicros(float64(30 - i))
	}
	s, err := CompareSubjects(ms, clean.Options{}, 0.2, true)
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Tails[0]; x.Bytes != 8 || x.SampleCount != 30 || !about(x.Median, 7.75) || !about(x.Longest, 15) || x.P95 <= x.Median || x.P99 < x.P95 || x.Longest < x.P99 {
		t.Errorf("%+v", x)
	}
}

// Where the roots of a barrier disagree launches have the value that the fit has.
func TestScatterRoots(t *testing.T) {
	ms := surveyed(3)
	for i := range ms {
		ms[i].Facts = append(ms[i].Facts, sample.Fact{Key: sample.RootsFact, Value: "2"})
	}
	for i := range ms[0].Series {
		if x := &ms[0].Series[i]; x.Mode == "isend" && x.Timer == "timer11" {
			for j := range x.Times[:len(x.Times)/2] {
				x.Times[j] *= 3
			}
		}
	}
	s, err := CompareSubjects(ms, clean.Options{}, 0.2, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range s.Scatters {
		if of := s.RowNear(x.Quantity, x.Mode, 8); x.SubjectIndex == 0 && x.Quantity == "o_s" && x.Mode == "isend" && !about(x.MedianOfLaunches, of.Values[0].Value) {
			t.Errorf("launches say %v, the fit %v", x.MedianOfLaunches, of.Values[0].Value)
		}
	}
}
