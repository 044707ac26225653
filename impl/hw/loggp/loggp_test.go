package loggp_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// On the LogGP machine a short packet may not overtake a long one, also where no gap keeps them
// apart.
func TestOrderWithoutGap(t *testing.T) {
	for _, g := range []model.LogGP{{}, {L: us}, {L: us, GapPerByte: 1000}, {L: us, SendOverhead: us, GapPerByte: 1000}, {L: us, Gap: 100_000, GapPerByte: 1000}} {
		m := &model.Machine{Name: "loggp", Ranks: model.RankLimits{Min: 1, Max: 2}, TimerResolution: 1, Network: &g, Processor: model.Processor{Copy: model.Channel{Bandwidth: 1e9}}}
		sizes := []int{1001, 0, 1, 501, 500, 1, 1, 0, 3000, 2}
		hwtest.Run(t, m, 2, func(p device.Port) {
			for i, n := range sizes {
				if p.Rank() == 0 {
					p.Send(1, &device.Packet{Head: device.Head{uint64(i)}, Data: make([]byte, n)})
				} else if q := p.Recv(true); q.Head[0] != uint64(i) {
					t.Errorf("%+v: packet %d came in place of %d", g, q.Head[0], i)
				}
			}
		})
	}
}

// A LogGP machine takes a message every g + (k−1)·G, wherever they come from.
func TestGap(t *testing.T) {
	g := &model.LogGP{L: 5 * us, Gap: 3 * us, GapPerByte: 1000}
	m := &model.Machine{Name: "loggp", Ranks: model.RankLimits{Min: 1, Max: 8}, TimerResolution: 1, Network: g}
	hwtest.Run(t, m, 5, func(p device.Port) {
		if p.Rank() > 0 {
			p.Send(0, &device.Packet{Data: make([]byte, 1001)})
			return
		}
		for i := range 4 {
			p.Recv(true)
			if want := 6*us + unit.Time(i)*4*us; p.Now() != want { // L + (k−1)·G for the first
				t.Errorf("message %d is there at %v, want %v", i, p.Now(), want)
			}
		}
	})
}
