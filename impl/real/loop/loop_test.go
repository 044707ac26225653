package loop_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model/unit"
)

func TestWorld(t *testing.T)    { devicetest.TestWorld(t, loop.New) }
func TestDeadlock(t *testing.T) { devicetest.TestDeadlock(t, loop.New) }

// The laws hold whatever faults there are, since they are allowed.
func TestFaultsKeepLaws(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		open := func(ranks int) device.World {
			return loop.NewFaulty(ranks, loop.Faults{Seed: seed, Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, Refuse: 0.1, Delay: 0.3})
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			devicetest.TestWorld(t, open)
			devicetest.TestDeadlock(t, open)
		})
	}
}

// Nothing depends on ranks running at the same time.
func TestWorldOnOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	devicetest.TestWorld(t, loop.New)
	devicetest.TestDeadlock(t, loop.New)
}

// A rank that polls gives way. If it did not, its peer would have to wait for the end of its slice,
// 10 ms in Go.
func TestPollingYields(t *testing.T) {
	const rounds, slice = 100, 10 * time.Millisecond
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start := time.Now()
	err := loop.New(2).Run(func(p device.Port) error {
		for range rounds {
			p.Send(1-p.Rank(), &device.Packet{})
			for p.Recv(false) == nil {
			}
		}
		return nil
	})
	if took := time.Since(start); err != nil || took > rounds*slice/2 {
		t.Errorf("%d rounds took %v: %v", rounds, took, err)
	}
}

// A program that recovers from panics cannot hold up the end of the job.
func TestStopCannotBeRecovered(t *testing.T) {
	cause := errors.New("cause")
	err := loop.New(3).Run(func(p device.Port) error {
		if p.Rank() == 0 {
			p.Delay(5 * unit.Millisecond) // the others are at it
			return cause
		}
		receive := func() {
			defer func() { _ = recover() }()
			if q := p.Recv(p.Rank() == 1); q == nil && p.Rank() == 1 {
				t.Error("a receive returned without a packet")
			}
		}
		for {
			receive()
		}
	})
	if err != cause {
		t.Errorf("Run returned %v, want %v", err, cause)
	}
}

// A program may be a test that ends its goroutine, as testing.T.FailNow does. The job ends, and not
// as if all were well.
func TestGoexitFailsJob(t *testing.T) {
	err := loop.New(2).Run(func(p device.Port) error {
		if p.Rank() == 1 {
			runtime.Goexit()
		}
		p.Recv(true)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("Run returned %v, want an error about rank 1", err)
	}
}

func TestMistakesPanic(t *testing.T) {
	for _, c := range []struct {
		want string
		do   func(p device.Port)
	}{
		{"no rank 2 among 2", func(p device.Port) { p.Send(2, &device.Packet{}) }},
		{"no rank -1 among 2", func(p device.Port) { p.Counters().FetchAndAddRegister(-1, 0, 0) }},
		{"withdraw of memory 0x63 that rank 0 does not expose", func(p device.Port) { p.Memory().Withdraw(99) }},
	} {
		err := loop.New(2).Run(func(p device.Port) error {
			if p.Rank() == 0 {
				c.do(p)
			}
			return nil
		})
		var f *device.Failure
		if !errors.As(err, &f) || f.Rank != 0 || fmt.Sprint(f.Value) != "loop: "+c.want {
			t.Errorf("Run returned %v, want a panic that says %q", err, "loop: "+c.want)
		}
	}
}

// pingPong sends packets of n bytes to and fro, for as long as again says.
func pingPong(p device.Port, n int, again func() bool) {
	ball := &device.Packet{Head: device.Head{1}, Data: make([]byte, n)}
	if p.Rank() == 1 {
		for {
			if q := p.Recv(true); q.Head[0] == 0 {
				return
			}
			p.Send(0, ball)
		}
	}
	for again() {
		p.Send(1, ball)
		p.Recv(true)
	}
	p.Send(1, &device.Packet{})
}

// The transport is measured, so that its garbage would be, too.
func TestPingPongAllocatesNothing(t *testing.T) {
	if doPoolsForget() {
		t.Skip("sync.Pool drops things at random under the race detector")
	}
	for _, n := range []int{0, 100, 100000} {
		err := loop.New(2).Run(func(p device.Port) error {
			const warm, rounds = 100, 2000
			var before, after runtime.MemStats
			i := 0
			pingPong(p, n, func() bool {
				switch i++; i {
				case warm:
					runtime.ReadMemStats(&before)
				case warm + rounds:
					runtime.ReadMemStats(&after)
				}
				return i < warm+rounds
			})
			if p.Rank() == 0 && (after.Mallocs-before.Mallocs)*10 > rounds {
				return fmt.Errorf("%d allocations in %d rounds", after.Mallocs-before.Mallocs, rounds)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func doPoolsForget() bool {
	var p sync.Pool
	thing := new(int)
	for range 100 {
		p.Put(thing)
		if p.Get() == nil {
			return true
		}
	}
	return false
}

// Half a round trip takes half of what is shown.
func BenchmarkPingPong(b *testing.B) {
	for _, n := range []int{0, 1 << 10, 1 << 16, 1 << 20} {
		b.Run(fmt.Sprint("bytes", n), func(b *testing.B) {
			b.SetBytes(2 * int64(n))
			b.ReportAllocs()
			err := loop.New(2).Run(func(p device.Port) error {
				pingPong(p, n, b.Loop)
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// All send to the next of many, more than there are processors.
func BenchmarkRing(b *testing.B) {
	const ranks = 64
	err := loop.New(ranks).Run(func(p device.Port) error {
		for range b.N {
			p.Send((p.Rank()+1)%ranks, &device.Packet{})
			p.Recv(true)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
