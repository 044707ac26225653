package core_test

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// Noise does not move the mean of a step, varies it as much as it should, and is the same for the
// same seed.
func TestNoise(t *testing.T) {
	const relative, steps = 0.07, 20000
	sample := func(seed uint64, noise float64) (times [2][]float64) {
		m := hwtest.Torus()
		l := &model.Library{}
		l.Software[model.ProtoSendCost] = 100 * us
		w := hwtest.Open(t, hw.Config{Machine: m, Library: l, Ranks: 2, Seed: seed, Noise: noise})
		if err := w.Run(func(p device.Port) error {
			for range steps {
				at := p.Now()
				p.Spend(model.ProtoSendCost, 1)
				times[p.Rank()] = append(times[p.Rank()], float64(p.Now()-at))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return times
	}
	a, again, other, off := sample(1, relative), sample(1, relative), sample(2, relative), sample(1, 0)
	for r := range a {
		mean, square := 0.0, 0.0
		for i, x := range a[r] {
			mean += x / steps
			square += (x - 1e8) * (x - 1e8) / steps
			if x != again[r][i] {
				t.Fatalf("rank %d: step %d takes %v and, with the same seed, %v", r, i, x, again[r][i])
			}
			if off[r][i] != 1e8 {
				t.Fatalf("rank %d: step %d takes %v without noise", r, i, off[r][i])
			}
		}
		// The standard error of the mean is relative/√steps = 0.05 %, that of the deviation about
		// 0.5 % of it.
		if math.Abs(mean/1e8-1) > 4*relative/math.Sqrt(steps) {
			t.Errorf("rank %d: the mean is %v, want 1e8", r, mean)
		}
		if got := math.Sqrt(square) / 1e8; math.Abs(got/relative-1) > 0.02 {
			t.Errorf("rank %d: the relative deviation is %v, want %v", r, got, relative)
		}
	}
	equal := func(x, y []float64) int {
		n := 0
		for i := range x {
			if x[i] == y[i] {
				n++
			}
		}
		return n
	}
	if n, m := equal(a[0], a[1]), equal(a[0], other[0]); n > 10 || m > 10 {
		t.Errorf("of %d steps %d are equal in two ranks, %d under two seeds", steps, n, m)
	}
}

// busy is a program that does a bit of everything, in which ranks meet.
func busy(p device.Port) error {
	key := p.Memory().Expose(make([]byte, 5000))
	for i := range 20 {
		p.Spend(model.ProtoSendCost, 1)
		p.Send((p.Rank()+i)%p.Size(), &device.Packet{Data: make([]byte, 300*i)})
		if i%5 == 0 {
			p.Memory().Get((p.Rank()+i+1)%p.Size(), key, 0, make([]byte, 200*i), device.Head{1})
			p.Counters().FetchAndAddRegister(0, 0, 1)
			p.Recv(true)
		}
		p.Copy(make([]byte, 100), make([]byte, 100))
		p.Recv(true)
	}
	p.Delay(unit.Second - p.Now()) // memory stays exposed
	return nil
}

// The same seed is the same run, whatever else the process does, on how many processors.
func TestReproducible(t *testing.T) {
	transcript := func(name string, seed uint64, noise float64) string {
		w := hwtest.OpenPlatformWithSeed(t, hwtest.LoadPlatform(t, name), 6, noise, seed)
		var log trace.Log
		if err := trace.World(w, &log).Run(busy); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := log.Print(&b, nil); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range []string{"t3d", "convex", "loggp"} {
		for _, noise := range []float64{0, 0.1} {
			runtime.GOMAXPROCS(1)
			one := transcript(name, 7, noise)
			runtime.GOMAXPROCS(2)
			ends := make(chan string)
			for range 3 {
				go func() { ends <- transcript(name, 7, noise) }()
			}
			for range 3 {
				if two := <-ends; two != one {
					t.Fatalf("%s, noise %v: another transcript:\n%s\nthan\n%s", name, noise, two, one)
				}
			}
			if other := transcript(name, 8, noise); (other == one) != (noise == 0) {
				t.Errorf("%s, noise %v: is another seed the same transcript? %v", name, noise, other == one)
			}
		}
	}
}

// Counters count what ranks add, one after the other: each register serves one at a time, for as
// long as it takes.
func TestCounter(t *testing.T) {
	const ranks, times = 8, 20
	seen := map[int64]bool{}
	var last unit.Time
	hwtest.Run(t, hwtest.Torus(), ranks, func(p device.Port) {
		for range times {
			was := p.Counters().FetchAndAddRegister(0, 1, 1)
			if seen[was] {
				t.Errorf("%d was there twice", was)
			}
			seen[was] = true
		}
		last = max(last, p.Now())
		if p.Rank() == 5 {
			at := p.Now()
			p.Delay(unit.Second - at) // all have ended
			if was := p.Counters().FetchAndAddRegister(0, 1, -ranks*times); was != ranks*times {
				t.Errorf("%d are counted, want %d", was, ranks*times)
			}
			// There and back: 1 or 2 hops of 50 ns and delivery of 100 ns each way, and 1 µs at the
			// register.
			at = p.Now()
			p.Counters().FetchAndAddRegister(4, 0, 0)
			if took := p.Now() - at; took != us+2*100_000 {
				t.Errorf("to count in the same node takes %v, want %v", took, us+2*100_000)
			}
		}
	})
	if last < ranks*times*us {
		t.Errorf("%d additions took %v, each takes 1 µs", ranks*times, last)
	}
}

// Clocks tick as the machine's timer does, and no program can see between the ticks.
func TestTimer(t *testing.T) {
	for _, timer := range []unit.Time{1, 6667, us} {
		m := hwtest.Torus()
		m.TimerResolution = timer
		hwtest.Run(t, m, 2, func(p device.Port) {
			before := unit.Time(0)
			for i := range 1000 {
				p.Delay(unit.Time(i * 37))
				now := p.Now()
				if now%timer != 0 || now < before {
					t.Fatalf("timer of %v: %v after %v", timer, now, before)
				}
				before = now
			}
		})
	}
}

// A rank that is none is a mistake of the program, and is found where it is made.
func TestNoSuchRank(t *testing.T) {
	for name, do := range map[string]func(p device.Port){
		"send":  func(p device.Port) { p.Send(2, &device.Packet{}) },
		"put":   func(p device.Port) { p.Memory().Put(2, 0, 0, nil, device.Head{}) },
		"count": func(p device.Port) { p.Counters().FetchAndAddRegister(-1, 0, 1) },
	} {
		for _, machine := range []string{"t3d", "convex", "loggp"} {
			err := func() (err error) {
				defer func() {
					if v := recover(); v != nil {
						err = fmt.Errorf("Run panics: %v", v)
					}
				}()
				return hwtest.OpenCatalogue(t, machine, 2, 0).Run(func(p device.Port) error {
					if p.Rank() == 1 {
						do(p)
					}
					return nil
				})
			}()
			if f, ok := err.(*device.Failure); !ok || f.Rank != 1 {
				t.Errorf("%s, %s to no rank: %v, want a failure of rank 1", machine, name, err)
			}
		}
	}
}

// A port has remote memory and counters where the machine says that processors have, whatever its
// network could.
func TestPrivate(t *testing.T) {
	for _, name := range []string{"t3d", "convex", "loggp", "now"} {
		for _, private := range []bool{false, true} {
			p := hwtest.LoadPlatform(t, name)
			p.Machine.ProcessorsCannotShareMemory = private
			w := hwtest.OpenPlatform(t, p, 2, 0)
			want := !private && name != "now"
			if err := w.Run(func(p device.Port) error {
				if (p.Memory() != nil) != want || (p.Counters() != nil) != want {
					t.Errorf("%s, private %v: memory %v, counters %v", name, private, p.Memory() != nil, p.Counters() != nil)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A node has one engine for the remote accesses of both its processors.
func TestEngine(t *testing.T) {
	const n, times = 10000, 5
	for _, get := range []bool{false, true} {
		var last unit.Time
		m := hwtest.Torus()
		channel := model.Channel{Start: us, Bandwidth: 125e6}
		m.Network.(*model.Torus).TransferEngine = channel
		hwtest.Run(t, m, 10, func(p device.Port) {
			key := p.Memory().Expose(make([]byte, n))
			if p.Rank() > 1 {
				p.Delay(unit.Second) // memory stays exposed
				return
			}
			p.Delay(us) // memory is exposed
			for range times {
				access := p.Memory().Put
				if get {
					access = p.Memory().Get
				}
				access(2+6*p.Rank(), key, 0, make([]byte, n), device.Head{})
			}
			for range times {
				p.Recv(true)
			}
			last = max(last, p.Now())
		})
		if least := channel.Bandwidth.Time(2 * times * n); last < least || last > least+20*us {
			t.Errorf("get %v: the node's engine moved %d bytes in %v, want %v and little more", get, 2*times*n, last, least)
		}
	}
}

// An operation takes its time of the processor, and none where the machine does not say how long.
func TestOperate(t *testing.T) {
	for _, long := range []unit.Time{0, 70 * unit.Nanosecond} {
		m := hwtest.Torus()
		m.Processor.Operation = long
		hwtest.Run(t, m, 2, func(p device.Port) {
			if p.ChargeOperations(1000); p.Now() != 1000*long {
				t.Errorf("1000 operations of %v took %v", long, p.Now())
			}
		})
	}
}

// All ranks see that the barrier is open, a while after the last has come, though they look at it
// at no cost or wait.
func TestBarrier(t *testing.T) {
	m := hwtest.Torus()
	m.Network.(*model.Torus).BarrierReleaseTime = 3 * us
	hwtest.Run(t, m, 7, func(p device.Port) {
		b, w := p.Barrier(), p.Watch()
		for i := range 5 {
			begin := unit.Time(i+1) * unit.Millisecond
			p.Delay(begin + unit.Time((p.Rank()+i)%7)*10*us - p.Now())
			b.ArriveAtBarrier()
			for seen := w.EventCount(); !b.IsBarrierReleased(); seen = w.EventCount() {
				if p.Rank()%2 == 0 {
					w.WaitForEvent(seen, device.Forever)
				}
			}
			if now := p.Now() - begin; now != 63*us {
				t.Errorf("rank %d passes barrier %d at %v, want 63us", p.Rank(), i, now)
			}
		}
	})
}
