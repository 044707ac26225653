package microbench_test

import (
	"context"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model/unit"
)

// skewed is a world in which rank 1 has a clock of its own. Its virtual time begins when a launch
// does.
type skewed struct {
	mpi.World
	begin  unit.Time // when the launch begins, by the clock of rank 0
	offset unit.Time // of rank 1's clock at time 0
	ppm    int64     // by which it runs faster
}

func (s skewed) Run(program func(device.Port) error) error {
	return s.World.Run(func(p device.Port) error { return program(skewedPort{p, s}) })
}

type skewedPort struct {
	device.Port
	s skewed
}

func (p skewedPort) Now() unit.Time {
	now := p.s.begin + p.Port.Now()
	if p.Rank() == 0 {
		return now
	}
	return p.s.offset + now + now/1_000_000*unit.Time(p.s.ppm)
}

// The offset and the drift of two clocks are within the bounds, which are as near as messages are
// fast, whatever the clocks are.
func TestClocks(t *testing.T) {
	j, err := job.Open("t3d", "", 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []skewed{{}, {offset: 7 * unit.Second}, {offset: -3 * unit.Millisecond, ppm: 50}, {offset: unit.Microsecond, ppm: -20}} {
		x := microbench.NewScheduler(&microbench.Experiment{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{0}, Reps: 1}, Launches: 3, MeasureClockOffset: true})
		c, err := x.RunLaunches(t.Context(), func(ctx context.Context, n int) error {
			w, err := j.World(ctx, uint64(n))
			if err != nil {
				return err
			}
			s.begin = unit.Time(n) * 10 * unit.Second
			s.World = w
			return x.MeasureLaunchInWorld(s, j.MPIOptions(""))
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.ClockOffsets) != 3 {
			t.Fatalf("%d bounds of 3 launches", len(c.ClockOffsets))
		}
		const trip = 60 * unit.Microsecond // a bit more than two short messages take
		for n, b := range c.ClockOffsets {
			truth := s.offset + b.ExchangeMidTime/1_000_000*unit.Time(s.ppm)
			slack := 2 * unit.Microsecond // what 50 ppm gain in the time that it takes
			if b.Low > truth+slack || b.High < truth-slack || b.High-b.Low > trip {
				t.Errorf("%+v, launch %d: the offset is %v, and the bounds %v and %v", s, n, truth, b.Low, b.High)
			}
			if b.ExchangeMidTime/unit.Second != unit.Time(n)*10 {
				t.Errorf("launch %d was at %v", n, b.ExchangeMidTime)
			}
		}
		low, high, ok := microbench.ClockDriftBounds(c.ClockOffsets)
		if truth := float64(s.ppm); !ok || low > truth || high < truth || high-low > 10 {
			t.Errorf("%+v: the drift is from %g to %g ppm, %v", s, low, high, ok)
		}
	}
}

// Where nothing is known of the drift, there is none.
func TestDriftUnknown(t *testing.T) {
	one := microbench.ClockOffsetBounds{ExchangeMidTime: unit.Second, Low: -1, High: 1}
	later := microbench.ClockOffsetBounds{ExchangeMidTime: 2 * unit.Second, Low: 100 * unit.Microsecond, High: 101 * unit.Microsecond}
	back := microbench.ClockOffsetBounds{ExchangeMidTime: 3 * unit.Second, Low: -1, High: 1}
	for _, c := range [][]microbench.ClockOffsetBounds{nil, {one}, {one, later, back}} {
		if low, high, ok := microbench.ClockDriftBounds(c); ok {
			t.Errorf("of %v the drift is from %g to %g", c, low, high)
		}
	}
	if _, ok := (microbench.ClockOffsetBounds{Low: 2, High: 1}).Middle(); ok {
		t.Error("there is an offset between bounds that exclude each other")
	}
}
