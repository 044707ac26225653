package launchtest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/model/unit"
)

// Wrong settings are an error when the world is opened.
func rejectsWrongConfig(t *testing.T, x *testedTransport) {
	for _, c := range []struct {
		config launch.Config
		says   string
	}{
		{launch.Config{Ranks: 0}, fmt.Sprintf("from 1 to %d ranks, not 0", launch.MaxRanks)},
		{launch.Config{Ranks: launch.MaxRanks + 1}, fmt.Sprintf("from 1 to %d ranks, not %d", launch.MaxRanks, launch.MaxRanks+1)},
		{launch.Config{Ranks: 2, Wait: "often"}, `not by "often"`},
	} {
		if _, err := x.open(c.config); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: the error is %v, want %q", c.config, err, c.says)
		}
	}
}

// A world with the most ranks that it may have connects all of them.
func connectsMaxRanks(t *testing.T, x *testedTransport) {
	if testing.Short() {
		t.Skipf("%d processes", launch.MaxRanks)
	}
	err := x.newWorld(t, launch.Config{Ranks: launch.MaxRanks}).Run(func(p device.Port) error {
		for dst := range p.Size() {
			p.Send(dst, &device.Packet{Head: device.Head{uint64(p.Rank())}})
		}
		for range p.Size() {
			if q := p.Recv(true); q.Head[0] != uint64(q.Src) {
				return fmt.Errorf("rank %d: a packet of rank %d says that it is of %d", p.Rank(), q.Src, q.Head[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A transport allocates nothing per packet: the garbage collector would be measured.
func allocatesNothingPerPacket(t *testing.T, x *testedTransport) {
	for _, wait := range []launch.Wait{launch.Spin, launch.Block} {
		for _, n := range []int{0, 100, 100_000} {
			err := x.newWorld(t, launch.Config{Ranks: 2, Wait: wait}).Run(func(p device.Port) error {
				const warm, rounds = 50, 500
				var before, after runtime.MemStats
				q := &device.Packet{Data: make([]byte, n)}
				for i := range warm + rounds {
					if i == warm {
						runtime.ReadMemStats(&before)
					}
					p.Send(1-p.Rank(), q)
					p.Send(p.Rank(), q)
					p.Recv(true)
					p.Recv(true)
				}
				runtime.ReadMemStats(&after)
				if made := after.Mallocs - before.Mallocs; made*10 > rounds {
					return fmt.Errorf("rank %d: %d allocations in %d rounds", p.Rank(), made, rounds)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s, %d bytes: %v", wait, n, err)
			}
		}
	}
}

// A rank that ends wakes others that wait for it to take packets, and the packets that they send
// are dropped.
func endWakesSenders(t *testing.T, x *testedTransport) {
	err := x.newWorld(t, launch.Config{Ranks: 2, Wait: launch.Block}).Run(func(p device.Port) error {
		if p.Rank() == 1 {
			p.Delay(20 * unit.Millisecond) // rank 0 sleeps by now, most likely
			return nil
		}
		p.Send(1, &device.Packet{Data: make([]byte, 10<<20)})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
