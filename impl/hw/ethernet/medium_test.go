package ethernet

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// tenMegabit is an Ethernet of 10 Mbit/s.
func tenMegabit() *model.Ethernet {
	return &model.Ethernet{Rate: 1.25e6, Preamble: 8, Header: 14, FCS: 4, InterframeGapBytes: 12, MinPayload: 46, MTU: 1500, BackoffSlot: 51_200_000, JamBytes: 4,
		MaxBackoffDoublings: 10, MaxCollisionsOfFrame: 16, Propagation: us}
}

// flood is a transport whose stations always have something to send: frames go round the stations,
// and each station sends a frame that it gets to the next.
type flood struct{ *medium }

func (f *flood) newFrame() *frame      { return new(frame) }
func (f *flood) frameArrived(x *frame) { f.send(x) }
func (f *flood) frameDropped(x *frame) { f.send(x) }

// saturate lets stations send frames with a payload for a while, and returns what was on the
// medium.
func saturate(t testing.TB, e *model.Ethernet, stations, payload int, seed uint64, d unit.Time) Statistics {
	t.Helper()
	var k sim.Kernel
	defer k.Close()
	x := &flood{medium: newMedium(e, &k, stations, seed, core.NullProbe)}
	x.transport = x
	for i := range 2 * stations {
		x.send(&frame{medium: x.medium, src: i % stations, dst: (i + 1) % stations, payload: payload})
	}
	k.Go(func(p *sim.Proc) { p.Sleep(d) })
	if err := k.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return *x.statistics
}

// use returns the part of a time in which the medium carried frames from the first byte of their
// addresses to the last of their check sum.
func use(e *model.Ethernet, s Statistics, payload int, d unit.Time) float64 {
	return float64(e.Rate.Time(s.FramesSent*(e.Header+max(payload, e.MinPayload)+e.FCS))) / float64(d)
}

// sizes of frames that studies of CSMA/CD measure, as payloads.
var payloads = []int{46, 238, 494, 1006, 1500}

// TestSaturation checks what measurements of saturated Ethernets show (D. Boggs, J. Mogul, C. Kent:
// Measured Capacity of an Ethernet, 1988): with one station only overhead is lost; with more there
// are collisions, the more the more stations; they cost little of the time that long frames take,
// and much of that of short ones; and the medium never collapses.
//
// A station that has won goes on with a fresh back-off, against others whose back-off has grown,
// and keeps the medium for a while: that is the capture effect of stations which send without a
// pause, and why there are so few collisions.
func TestSaturation(t *testing.T) {
	const d = 20 * unit.Second
	e := tenMegabit()
	for i, payload := range payloads {
		full := float64(e.Header+payload+e.FCS) / float64(e.Preamble+e.Header+payload+e.FCS+e.InterframeGapBytes)
		lastUse, lastCollisions := 2.0, -1.0
		for _, n := range []int{1, 2, 4, 8, 16} {
			s := saturate(t, e, n, payload, 1, d)
			used, collisions := use(e, s, payload, d), float64(s.Collisions)/float64(s.FramesSent)
			t.Logf("%4d bytes, %2d stations: use %.3f of %.3f, %.3f collisions a frame, %d dropped", payload+18, n, used, full, collisions, s.FramesAbandoned)
			if n == 1 && (used < full-0.001 || s.Collisions > 0) {
				t.Errorf("one station uses %.4f, want %.4f, and has %d collisions", used, full, s.Collisions)
			}
			if used > full || used > lastUse+0.01 {
				t.Errorf("%d bytes, %d stations: use of %.3f, with fewer stations %.3f, at most %.3f", payload+18, n, used, lastUse, full)
			}
			if collisions < lastCollisions-0.02 {
				t.Errorf("%d bytes, %d stations: %.3f collisions a frame, with fewer stations %.3f", payload+18, n, collisions, lastCollisions)
			}
			if least := []float64{0.7, 0.86, 0.9, 0.93, 0.95}[i]; used < least {
				t.Errorf("%d bytes, %d stations: use of %.3f, want %v at least", payload+18, n, used, least)
			}
			if s.BusyTime > d {
				t.Errorf("the medium was busy for %v of %v", s.BusyTime, d)
			}
			lastUse, lastCollisions = used, collisions
		}
	}
}

// Stations that always send get equal shares in the long run.
func TestFairness(t *testing.T) {
	e := tenMegabit()
	var k sim.Kernel
	defer k.Close()
	const stations = 5
	x := &counting{flood: flood{medium: newMedium(e, &k, stations, 3, core.NullProbe)}}
	x.transport = x
	for i := range 2 * stations {
		x.send(&frame{medium: x.medium, src: i % stations, payload: 1500})
	}
	k.Go(func(p *sim.Proc) { p.Sleep(200 * unit.Second) })
	if err := k.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if least, most := slices.Min(x.frames[:]), slices.Max(x.frames[:]); least*5 < most*4 {
		t.Errorf("stations sent %v frames", x.frames)
	}
}

// counting counts the frames of each station.
type counting struct {
	flood
	frames [5]int
}

func (c *counting) frameArrived(f *frame) {
	c.frames[f.src]++
	c.send(f)
}

// answering is a transport of two stations: the first always has data frames to send, and the
// second answers each n-th by a short frame.
type answering struct {
	*medium
	n, came int
}

func (x *answering) newFrame() *frame { return new(frame) }

func (x *answering) frameArrived(f *frame) {
	if f.src != 0 {
		return
	}
	x.send(&frame{src: 0, dst: 1, payload: f.payload})
	if x.came++; x.came%x.n == 0 {
		x.send(&frame{src: 1, dst: 0, payload: 46})
	}
}

func (x *answering) frameDropped(f *frame) { x.send(f) }

// The fewer acknowledgements contend with data, the more data the medium carries, without jumps:
// each costs its own time and that of its collisions with data frames. A rare one costs more, as
// the station that has won many times keeps the medium (the capture effect).
func TestRareAnswersCostLess(t *testing.T) {
	const d = 10 * unit.Second
	e := *tenMegabit()
	e.Rate, e.BackoffSlot = 12.5e6, 5_120_000
	const payload = 1408
	timeOf := func(payload int) unit.Time {
		return e.Rate.Time(e.Preamble + e.Header + payload + e.FCS + e.InterframeGapBytes)
	}
	newData := func() *frame { return &frame{src: 0, dst: 1, payload: payload} }
	lastRate, lastCost := 0.0, 0.0
	for _, n := range []int{1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64} {
		var k sim.Kernel
		x := &answering{medium: newMedium(&e, &k, 2, 7, core.NullProbe), n: n}
		x.transport = x
		for range 3 {
			x.send(newData())
		}
		k.Go(func(p *sim.Proc) { p.Sleep(d) })
		if err := k.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		k.Close()
		rate := float64(x.came*payload) / (float64(d) / float64(unit.Second))
		alone := float64(n*payload) / (float64(unit.Time(n)*timeOf(payload)+timeOf(46)) / float64(unit.Second))
		cost := (float64(n*payload)/rate - float64(n*payload)/alone) * 1e6
		t.Logf("an answer to %2d frames: %.3f MB/s, %.3f without collisions: %.1f us for each answer", n, rate/1e6, alone/1e6, cost)
		if rate <= lastRate || rate >= alone {
			t.Errorf("an answer to %d frames: %.0f B/s, %.0f with more answers and %.0f without collisions", n, rate, lastRate, alone)
		}
		if lastCost > 0 && (cost < 0.95*lastCost || cost > 1.4*lastCost) {
			t.Errorf("an answer to %d frames costs %.1f us, one to fewer %.1f", n, cost, lastCost)
		}
		lastRate, lastCost = rate, cost
	}
}

// Frames that stations start within the propagation time of each other collide; later frames wait.
func TestCollision(t *testing.T) {
	e := *tenMegabit()
	e.Propagation = 5 * us
	for _, c := range []struct {
		apart unit.Time
		crash bool
	}{{0, true}, {1, true}, {5*us - 1, true}, {5 * us, false}, {100 * us, false}} {
		var k sim.Kernel
		x := &flood{medium: newMedium(&e, &k, 3, 1, core.NullProbe)}
		got := &once{flood: x}
		x.transport = got
		k.Go(func(p *sim.Proc) {
			p.Sleep(unit.Millisecond)
			x.send(&frame{medium: x.medium, src: 0, payload: 1000})
		})
		k.Go(func(p *sim.Proc) {
			p.Sleep(unit.Millisecond + c.apart)
			x.send(&frame{medium: x.medium, src: 1, payload: 1000})
			p.Sleep(unit.Second)
		})
		if err := k.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		k.Close()
		if (x.statistics.Collisions > 0) != c.crash || got.n != 2 {
			t.Errorf("%v apart: %d collisions, %d frames arrive", c.apart, x.statistics.Collisions, got.n)
		}
		if first := unit.Millisecond + e.Rate.Time(8+14+1000+4) + e.Propagation; !c.crash && got.first != first {
			t.Errorf("%v apart: the first frame arrives at %v, want %v", c.apart, got.first, first)
		}
		second := unit.Millisecond + 2*e.Rate.Time(8+14+1000+4) + e.Rate.Time(12) + 2*e.Propagation
		if !c.crash && got.last != second {
			t.Errorf("%v apart: the second frame arrives at %v, want %v", c.apart, got.last, second)
		}
	}
}

// once is a transport that keeps what arrives.
type once struct {
	*flood
	n           int
	first, last unit.Time
}

func (o *once) frameArrived(*frame) {
	if o.n++; o.n == 1 {
		o.first = o.kernel.Now()
	}
	o.last = o.kernel.Now()
}

// A station that has collided too often gives its frame up, and goes on with the next.
func TestGivingUp(t *testing.T) {
	e := *tenMegabit()
	e.MaxCollisionsOfFrame = 2
	s := saturate(t, &e, 8, 1500, 1, 10*unit.Second)
	if s.FramesAbandoned == 0 || s.LostBytes != 1500*s.FramesAbandoned || s.FramesSent == 0 {
		t.Errorf("of frames that may collide once, %d are dropped with %d bytes, %d arrive", s.FramesAbandoned, s.LostBytes, s.FramesSent)
	}
}

// Another seed is another run, as its collisions end otherwise.
func TestSeed(t *testing.T) {
	e := tenMegabit()
	if x, y := saturate(t, e, 4, 100, 1, unit.Second), saturate(t, e, 4, 100, 2, unit.Second); x == y {
		t.Errorf("two seeds, one run: %+v", x)
	}
}

// BenchmarkSaturation has stations that always have frames to send, and no TCP.
func BenchmarkSaturation(b *testing.B) {
	e := tenMegabit()
	for _, payload := range payloads {
		for _, n := range []int{2, 3, 4, 6, 8} {
			b.Run(fmt.Sprintf("frame=%d/stations=%d", payload+e.Header+e.FCS, n), func(b *testing.B) {
				const d = 5 * unit.Second
				var s Statistics
				for i := range b.N {
					s = saturate(b, e, n, payload, uint64(i), d)
				}
				b.ReportMetric(use(e, s, payload, d), "use")
				b.ReportMetric(float64(s.Collisions)/float64(s.FramesSent), "collisions/frame")
			})
		}
	}
}
