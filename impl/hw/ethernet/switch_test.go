package ethernet

import (
	"testing"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// sink notes when frames arrive.
type sink struct {
	j    *core.Job
	came []unit.Time
}

func (s *sink) newFrame() *frame    { return new(frame) }
func (s *sink) frameArrived(*frame) { s.came = append(s.came, s.j.Kernel.Now()) }
func (s *sink) frameDropped(*frame) {}

// Frames of a station follow each other a gap apart, and so they arrive.
func TestFramesKeepTheirGap(t *testing.T) {
	m := tenMegabit()
	m.Switches = &model.Switches{IsFullDuplex: true, StationsPerSwitch: 2, Latency: 10 * us, LinkBufferBytes: 1 << 20, Uplink: 1.25e6}
	j := core.NewJob(core.Config{Machine: &model.Machine{Name: "ethernet", TimerResolution: 1, Network: m}, Ranks: 4})
	x := &sink{j: j}
	count := new(Statistics)
	s := newSwitchedEthernet(m, j, core.AttachedRanks{RankCount: 4, InterfaceCount: 4}, x, count)
	for range 50 {
		s.send(&frame{src: 0, dst: 3, payload: 1500})
	}
	j.Kernel.Go(func(p *sim.Proc) { p.Sleep(unit.Second) })
	if err := j.Kernel.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole := m.Rate.Time(1526)
	for i, came := range x.came {
		if want := unit.Time(i)*(whole+m.Rate.Time(12)) + 3*(whole+m.Propagation) + 2*m.Switches.Latency; came != want {
			t.Fatalf("frame %d is there at %v, want %v", i, came, want)
		}
	}
	if len(x.came) != 50 || count.FramesSent != 150 {
		t.Errorf("%d frames came, %d were on links", len(x.came), count.FramesSent)
	}
}

// The links of a switch share its memory: while frames for one fill it, those for another are lost.
func TestMemoryIsShared(t *testing.T) {
	for _, x := range []struct {
		memory, ports, lost int
	}{
		{0, 4, 0},                 // each link has room for 40 frames of its own
		{70 * 1526, 4, 2*40 - 70}, // both are on one switch
		{70 * 1526, 2, 0},         // each is on a switch of its own
	} {
		m := tenMegabit()
		m.Switches = &model.Switches{IsFullDuplex: true, StationsPerSwitch: x.ports, Latency: 10 * us, LinkBufferBytes: 40 * 1526, SharedBufferBytes: x.memory, Uplink: 1.25e9}
		j := core.NewJob(core.Config{Machine: &model.Machine{Name: "ethernet", TimerResolution: 1, Network: m}, Ranks: 4})
		to, count := &sink{j: j}, new(Statistics)
		s := newSwitchedEthernet(m, j, core.AttachedRanks{RankCount: 4, InterfaceCount: 4}, to, count)
		for range 40 {
			(*forwardEvent)(&frame{switchedEthernet: s, src: 0, dst: 1, payload: 1500}).HandleEvent(0)
			(*forwardEvent)(&frame{switchedEthernet: s, src: 3, dst: 2, payload: 1500}).HandleEvent(0)
		}
		j.Kernel.Go(func(p *sim.Proc) { p.Sleep(unit.Second) })
		if err := j.Kernel.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if lost := 80 - len(to.came); lost != x.lost {
			t.Errorf("memory of %d bytes, %d stations a switch: %d frames are lost, want %d", x.memory, x.ports, lost, x.lost)
		}
		for i, n := range s.waitingBytes {
			if n != 0 {
				t.Errorf("%d bytes are still in switch %d", n, i)
			}
		}
	}
}
