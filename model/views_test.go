package model_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// The numbers of these tests are computed by hand from L = 5, o_s = 2, o_r = 3, g = 4 and G = 0.01
// us.

func TestLogGP(t *testing.T) {
	if got := example.Parameters().LogGP(); got != example {
		t.Errorf("LogGP there and back: %+v", got)
	}
	for k, want := range map[int]unit.Time{0: 10 * us, 1: 10 * us, 1001: 20 * us} {
		if got := example.Parameters().OneWayTime(k); got != want {
			t.Errorf("%d bytes take %v, want %v", k, got, want)
		}
	}
	// With k = 1, (9) is (2): claim AM-21.
	if x := example.Parameters(); x.OneWayTime(1) != model.DeliveryTime(model.ProtocolT, x, 1) {
		t.Error("(9) with k = 1 is not (2)")
	}
}

func TestLogP(t *testing.T) {
	x := example.Parameters()
	x.Processors = 8
	got := x.LogP()
	if want := (model.LogP{L: 5 * us, Overhead: 2500 * unit.Nanosecond, Gap: 4 * us, Processors: 8}); got != want {
		t.Errorf("LogP %+v, want %+v", got, want)
	}
	if got.OneWayTime() != 10*us {
		t.Errorf("a message takes %v, want 10us", got.OneWayTime())
	}
	if again := got.Parameters().LogP(); again != got {
		t.Errorf("LogP there and back: %+v", again)
	}
}

func TestLogGPS(t *testing.T) {
	x := example.Parameters().LogGPS(512)
	for k, want := range map[int]unit.Time{
		1:    10 * us,
		512:  15110 * unit.Nanosecond, // 10 + 511·0.01
		513:  35120 * unit.Nanosecond, // 15.12 and a request and an answer of 10 each
		1001: 40 * us,
	} {
		if got := x.OneWayTime(k); got != want {
			t.Errorf("%d bytes take %v, want %v", k, got, want)
		}
	}
}

func TestEagerLimit(t *testing.T) {
	rules := func(l ...model.ProtocolRule) *model.Library {
		return &model.Library{Proto: model.ProtoSettings{Rules: l, FirstBytes: 1000}}
	}
	for i, c := range []struct {
		l    *model.Library
		want int
	}{
		{rules(model.ProtocolRule{MaxBytes: 512, Protocol: "T"}, model.ProtocolRule{MaxBytes: 16384, Protocol: "TA"}, model.ProtocolRule{MaxBytes: -1, Protocol: "RTA"}), 16384},
		{rules(model.ProtocolRule{MaxBytes: 512, Protocol: "T"}, model.ProtocolRule{MaxBytes: 600, Protocol: "RTA"}, model.ProtocolRule{MaxBytes: -1, Protocol: "TA"}), 512},
		{rules(model.ProtocolRule{MaxBytes: 512, Protocol: "T"}, model.ProtocolRule{MaxBytes: 100, Protocol: "RTA"}, model.ProtocolRule{MaxBytes: -1, Protocol: "TA"}), model.NoLimit},
		{rules(model.ProtocolRule{MaxBytes: -1, Protocol: "T"}), model.NoLimit},
		{rules(model.ProtocolRule{MaxBytes: -1, Protocol: "RAT"}), -1},
		{rules(model.ProtocolRule{Mode: model.ReadyMode, MaxBytes: -1, Protocol: "T"}, model.ProtocolRule{MaxBytes: 0, Protocol: "T"}, model.ProtocolRule{MaxBytes: -1, Protocol: "RTA"}), 0},
		{rules(model.ProtocolRule{MaxBytes: -1, Protocol: "PTAT"}), 1000},
		{rules(model.ProtocolRule{MaxBytes: 700, Protocol: "PTAT"}, model.ProtocolRule{MaxBytes: 2000, Protocol: "T"}, model.ProtocolRule{MaxBytes: -1, Protocol: "PTAT"}), 2000},
		{rules(model.ProtocolRule{MaxBytes: 1200, Protocol: "PTAT"}, model.ProtocolRule{MaxBytes: -1, Protocol: "T"}), 1000},
	} {
		if got := c.l.EagerLimit(model.StandardMode, model.InterNode); got != c.want {
			t.Errorf("library %d leaves eager protocols at %d, want %d", i, got, c.want)
		}
	}
	near := rules(model.ProtocolRule{MaxBytes: 64, Protocol: "T"}, model.ProtocolRule{Peers: model.IntraPeers, MaxBytes: -1, Protocol: "TA"}, model.ProtocolRule{MaxBytes: -1, Protocol: "RTA"})
	if inter, intra := near.EagerLimit(model.StandardMode, model.InterNode), near.EagerLimit(model.StandardMode, model.IntraNode); inter != 64 || intra != model.NoLimit {
		t.Errorf("by tier: %d and %d, want 64 and no limit", inter, intra)
	}
}

func TestPLogP(t *testing.T) {
	p := example.Parameters().PLogP()
	if p.L != 6*us || p.Gap.Time(1) != 4*us || p.Gap.Time(1001) != 14*us || p.Gap.Time(0) != 4*us {
		t.Errorf("L = %v, g(0) = %v, g(1) = %v, g(1001) = %v, want 6us, 4us, 4us, 14us", p.L, p.Gap.Time(0), p.Gap.Time(1), p.Gap.Time(1001))
	}
	for _, k := range []int{1, 2, 1001, 1 << 20} {
		if got, want := p.OneWayTime(k), example.Parameters().OneWayTime(k); got != want {
			t.Errorf("%d bytes take %v in PLogP, %v in LogGP", k, got, want)
		}
	}
	// The way back: G = g(m)/m is (g + (m−1) G) / m, 0.01000399 us for a million.
	x := p.Parameters(1e6)
	back := x.LogGP()
	if back.L != example.L || back.SendOverhead != example.SendOverhead || back.RecvOverhead != example.RecvOverhead || back.Gap != example.Gap {
		t.Errorf("PLogP there and back: %+v", back)
	}
	if math.Abs(float64(back.GapPerByte)-10003.99) > 1e-6 {
		t.Errorf("G = %v ps, want 10003.99", float64(back.GapPerByte))
	}
	if o := x.LogP().Overhead; o != 2500*unit.Nanosecond {
		t.Errorf("o = %v, want 2.5us", o)
	}
}

// TestPLogPOverheads has overheads that are more than the gap, up to a size.
func TestPLogPOverheads(t *testing.T) {
	x := example
	x.Gap = 1 * us
	p := x.Parameters().PLogP()
	if p.L != 7*us {
		t.Errorf("L = %v, want 7us: 5 + 2 + 3 − 3", p.L)
	}
	for k, want := range map[int]unit.Time{0: 3 * us, 1: 3 * us, 200: 3 * us, 201: 3 * us, 202: 3010 * unit.Nanosecond, 301: 4 * us} {
		if got := p.Gap.Time(k); got != want {
			t.Errorf("g(%d) = %v, want %v", k, got, want)
		}
	}
}

// TestPLogPRandom compares g(m) with the maximum of what it is the maximum of.
func TestPLogPRandom(t *testing.T) {
	x := model.Parameters{Gap: 900, GapPerByte: 3.3,
		SendOverhead: model.Curve{{ValueAtFrom: 100, PerByte: 9.7}, {From: 100, ValueAtFrom: 400, PerByte: 1.1}, {From: 300, ValueAtFrom: 2500, PerByte: 0.2}},
		RecvOverhead: model.Curve{{ValueAtFrom: 700}, {From: 1, ValueAtFrom: 50, PerByte: 7.9}, {From: 250, ValueAtFrom: 10, PerByte: 3.4}}}
	p := x.PLogP()
	for k := range 3000 {
		want := max(x.Gap+x.GapPerByte.Time(max(k-1, 0)), x.SendOverhead.Time(k), x.RecvOverhead.Time(k))
		if got := p.Gap.Time(k); got < want-1 || got > want+1 { // lines that begin elsewhere round elsewhere
			t.Fatalf("g(%d) = %v, want %v", k, got, want)
		}
	}
}

// line returns the curve through two points that is constant before the first.
func line(j int, atJ unit.Time, k int, atK unit.Time) model.Curve {
	return model.Curve{{From: j, ValueAtFrom: atJ, PerByte: unit.PerByte(float64(atK-atJ) / float64(k-j))}}
}

func TestCurve(t *testing.T) {
	var none model.Curve
	if none.Time(5) != 0 {
		t.Error("the empty curve is not zero")
	}
	c := line(16, 30*us, 10000, 130*us) // T3D, table 3 of Al-Tawil and Moritz
	for k, want := range map[int]unit.Time{0: 30 * us, 16: 30 * us, 5008: 80 * us, 10000: 130 * us, 19984: 230 * us} {
		if got := c.Time(k); got != want {
			t.Errorf("o_s(%d) = %v, want %v", k, got, want)
		}
	}
	step := model.Curve{{From: 10, ValueAtFrom: 1}, {From: 20, ValueAtFrom: 100, PerByte: 2}}
	for k, want := range map[int]unit.Time{0: 1, 10: 1, 19: 1, 20: 100, 25: 110} {
		if got := step.Time(k); got != want {
			t.Errorf("step(%d) = %v, want %v", k, got, want)
		}
	}
}

// convex has the two levels of the Convex by table 4 of Al-Tawil and Moritz: overheads at 100 and
// 10000 bytes.
func convex() model.LoGH {
	overhead := func(low, high unit.Time) model.Curve {
		return line(100, low, 10000, high)
	}
	o, s := overhead(30*us, 200*us), overhead(2*us, 20*us)
	return model.LoGH{
		BetweenHypernodes:      model.Parameters{L: 10 * us, SendOverhead: o, RecvOverhead: o, GapPerByte: 0.05 * 1e6},
		Hypernodes:             2,
		InsideHypernode:        model.Parameters{SendOverhead: s, RecvOverhead: s, GapPerByte: 0.01 * 1e6},
		ProcessorsPerHypernode: 4,
	}
}

func ExampleLoGH() {
	fmt.Println("inside: ", convex().OneWayTime(true, 10000))
	fmt.Println("between:", convex().OneWayTime(false, 10000))
	// Output:
	// inside:  139.99us
	// between: 909.95us
}
