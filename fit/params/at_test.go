package params

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// ranged are parameters of two ranges of sizes.
func ranged(mode string) []Parameter {
	var ps []Parameter
	add := func(kind Kind, method string, from, to int, value float64) {
		ps = append(ps, Parameter{Mode: mode, Name: kind.Name(), Unit: kind.Unit(), Method: method, From: from, To: to, Value: value})
	}
	for _, kind := range []Kind{SendOverhead, RecvOverhead, OneWayTime} {
		add(kind, "t", 16, 100, 2)
		add(kindTable[kind].slope, "t", 16, 100, 0.01)
		add(kind, "t", 400, 1000, 20)
		add(kindTable[kind].slope, "t", 400, 1000, 0.1)
		add(kind, "another", 0, 5000, 99)
	}
	add(Latency, MethodHalfRoundTrip, 16, 16, 50)
	add(Latency, MethodHalfRoundTripLessOverheads, 16, 16, 5)
	add(Gap, MethodGapAtMostSendOverhead, 16, 16, 2)
	add(GapPerByte, MethodHalfRoundTrip, 400, 1000, 0.2)
	return ps
}

func TestAt(t *testing.T) {
	ps := ranged("send")
	for _, c := range []struct {
		k    int
		want Estimate
	}{
		{0, Estimate{Value: 2, IsOutsideRanges: true}}, {16, Estimate{Value: 2}}, {100, Estimate{Value: 2.84}}, {120, Estimate{Value: 3.04, IsBetweenRanges: true}},
		{350, Estimate{Value: 15, IsBetweenRanges: true}}, {400, Estimate{Value: 20}}, {2000, Estimate{Value: 180, IsOutsideRanges: true}},
	} {
		if e, err := EstimateAt(ps, "send", OneWayTime, c.k); err != nil || math.Abs(e.Value-c.want.Value) > 1e-9 || e.IsBetweenRanges != c.want.IsBetweenRanges || e.IsOutsideRanges != c.want.IsOutsideRanges {
			t.Errorf("%d bytes: %+v, %v, want %+v", c.k, e, err, c.want)
		}
	}
	ps[10].Verdict = BadVerdict // of T up to 100 bytes
	for k, want := range map[int]bool{50: true, 500: false} {
		if e, err := EstimateAt(ps, "send", OneWayTime, k); err != nil || e.IsWeak != want {
			t.Errorf("%d bytes, of a bad line up to 100: %+v, %v", k, e, err)
		}
	}
	var far *SizeRangeError
	if _, err := EstimateAt(ps, "send", OneWayTime, 2001); !errors.As(err, &far) || far.MeasuredTo != 1000 || !strings.Contains(err.Error(), "measure longer messages") {
		t.Errorf("far outside: %v", err)
	}
	for i := range ps {
		ps[i].Mode, ps[i].From, ps[i].To = "bsend", ps[i].From*10, ps[i].To*10
	}
	if e, err := EstimateAt(ps, "bsend", SendOverhead, 80); err != nil || !e.IsOutsideRanges {
		t.Errorf("half of the smallest size: %+v, %v", e, err)
	}
	for _, k := range []int{0, 79} {
		_, err := EstimateAt(ps, "bsend", SendOverhead, k)
		if !errors.As(err, &far) || far.MeasuredFrom != 160 || !strings.Contains(err.Error(), "measure shorter messages") {
			t.Errorf("far below: %v", err)
		}
	}
	ps = ranged("send")
	var missing *MissingParameterError
	if _, err := EstimateAt(ps, "send", Gap, 0); !errors.As(err, &missing) || missing.UpperBound != 2 {
		t.Errorf("a bound: %v", err)
	}
	if _, err := EstimateAt(ps, "isend", OneWayTime, 0); !errors.As(err, &missing) || missing.Name != "T" {
		t.Errorf("another mode: %v", err)
	}
	if e, err := EstimateAt(ps, "send", Latency, 0); err != nil || e.Value != 5 {
		t.Errorf("L is %v, %v", e, err)
	}
	for i := range ps {
		ps[i].Value *= 1e14
	}
	if e, err := EstimateAt(ps, "send", OneWayTime, 400); err == nil {
		t.Errorf("a time of %v", e)
	}
}

// No model computes with a G that is not known as if bytes took no time.
func TestModelWithoutG(t *testing.T) {
	ps := ranged(sample.LowLevelMode)
	if x, err := ModelParameters(ps, sample.LowLevelMode); err != nil || x.GapPerByte == 0 || x.Gap == 0 {
		t.Errorf("%+v, %v", x, err)
	}
	var missing *MissingParameterError
	if _, err := ModelParameters(ps[:len(ps)-1], sample.LowLevelMode); !errors.As(err, &missing) || missing.Name != "G" {
		t.Errorf("without G: %v", err)
	}
}

// Without T one way is the sum of its parts, of which the mode itself must show L; a size below
// those that G is from lies between what was measured.
func TestWay(t *testing.T) {
	ps := slices.DeleteFunc(ranged("send"), func(p Parameter) bool { return p.Kind() == OneWayTime || p.Kind() == OneWayTimePerByte })
	if e, err := EstimateOneWayTime(ps, "send", 401); err != nil || math.Abs(e.Value-(2+5+400*0.2+2)) > 1e-6 || e.IsBetweenRanges || e.IsOutsideRanges {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := EstimateOneWayTime(ps, "send", 100); err != nil || !e.IsBetweenRanges {
		t.Errorf("below the sizes of G: %+v, %v", e, err)
	}
	for i := range ps {
		ps[i].Mode = "rsend"
		if ps[i].Kind() == Latency {
			ps[i].Mode, ps[i].Method = "ssend", MethodReceiveDifference
		}
	}
	for i := range ps {
		ps[i].Low, ps[i].High = ps[i].Value/2, ps[i].Value*1.5
	}
	if e, err := EstimateAt(ps, "rsend", SendOverhead, 50); err != nil || !e.IsWeak {
		t.Errorf("with a wide interval: %+v, %v", e, err)
	}
	var missing *MissingParameterError
	if e, err := EstimateOneWayTime(ps, "rsend", 401); !errors.As(err, &missing) || missing.Name != "T" || !strings.Contains(err.Error(), "ready sends have none") {
		t.Errorf("from the bound of L: %+v, %v", e, err)
	}
}

// The G of interfaces is no longer than what messages of the longest size, and those of the longest
// that is sent at once, show: they took no longer to pass. A g that is only a bound is none.
func TestGapPerByteOfInterfaces(t *testing.T) {
	ps := append(ranged("send"), Parameter{Mode: "send", Name: "S", Unit: UnitBytes, Value: 100, From: -1, To: -1})
	ps[slices.IndexFunc(ps, func(p Parameter) bool { return p.Kind() == Gap })].Verdict = UnidentifiableVerdict
	perByte := func(ps []Parameter) float64 {
		x, err := BlockingCallParametersBySize(ps, "send")
		if err != nil || x.Gap != 0 || x.EagerLimit != 100 {
			t.Errorf("%+v, %v", x, err)
		}
		return x.GapPerByte.Micros()
	}
	if got, want := perByte(ps), 80./999; math.Abs(got-want) > 1e-9 {
		t.Errorf("G is %v, and 1000 bytes in 80 us show %v", got, want)
	}
	later := slices.Clone(ps)
	for i := range later {
		if p := &later[i]; p.Kind() == OneWayTime && p.From == 16 {
			p.Value += 4
		}
	}
	if got, want := perByte(later), 4./99; math.Abs(got-want) > 1e-9 {
		t.Errorf("G is %v, and 100 bytes that arrived within 4 us show %v", got, want)
	}
	without := slices.DeleteFunc(slices.Clone(ps), func(p Parameter) bool { return p.Kind() == GapPerByte })
	if got, want := perByte(without), 80./999; math.Abs(got-want) > 1e-9 {
		t.Errorf("G is %v if it is not fitted, and the slope of T with its bound is %v", got, want)
	}
}
