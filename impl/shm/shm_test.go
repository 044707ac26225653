package shm_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/shm"
	"github.com/loggp/loggp/model/unit"
)

func TestWorld(t *testing.T)    { devicetest.TestWorld(t, worlds(t, shm.Config{})) }
func TestDeadlock(t *testing.T) { devicetest.TestDeadlock(t, worlds(t, shm.Config{})) }

func TestWorldBlocking(t *testing.T) {
	devicetest.TestWorld(t, worlds(t, shm.Config{Wait: shm.Block, NoTransfer: true}))
}

func TestDeadlockBlocking(t *testing.T) {
	devicetest.TestDeadlock(t, worlds(t, shm.Config{Wait: shm.Block}))
}

// Ranks that spin make way for each other where there are more of them than processors, if not fast.
func TestWorldSpinning(t *testing.T) {
	if testing.Short() {
		t.Skip("slow by intention")
	}
	devicetest.TestWorld(t, worlds(t, shm.Config{Wait: shm.Spin}))
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		config shm.Config
		says   string
	}{
		{shm.Config{Ranks: 0}, "from 1 to 64 ranks, not 0"},
		{shm.Config{Ranks: 65}, "from 1 to 64 ranks, not 65"},
		{shm.Config{Ranks: 2, Wait: "often"}, `not by "often"`},
	} {
		if _, err := shm.New(c.config); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: the error is %v, want %q", c.config, err, c.says)
		}
	}
}

// The most ranks that a world may have find each other.
func TestMostRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("64 processes")
	}
	err := worlds(t, shm.Config{})(shm.MaxRanks).Run(func(p device.Port) error {
		for dst := range p.Size() {
			p.Send(dst, &device.Packet{Head: [device.Words]uint64{uint64(p.Rank())}})
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

// The transport is measured, so that its garbage would be, too.
func TestNoAllocation(t *testing.T) {
	for _, wait := range []shm.Wait{shm.Spin, shm.Block} {
		for _, n := range []int{0, 100, 100_000} {
			err := worlds(t, shm.Config{Wait: wait})(2).Run(func(p device.Port) error {
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

// A rank that ends while others sleep, waiting for it to take packets, wakes them: what they send is dropped.
func TestEndWakes(t *testing.T) {
	err := worlds(t, shm.Config{Wait: shm.Block})(2).Run(func(p device.Port) error {
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
