package aclmpl

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/model/unit"
)

// The rule by which the pool is drained matters: a library that frees the pool as soon as the last
// slot has been written loses messages whose slots are still being written. Here the memory of each
// PE tells it that, and nothing else is changed.
func TestDrainWaitsForAllSlots(t *testing.T) {
	const runs = 200
	wrong := 0
	for i := range runs {
		r := rand.New(rand.NewPCG(*first, uint64(i)))
		o := Options{Slots: 2 + r.IntN(6), SlotSize: 2048}
		p := func(e *PE) error { e.Compute(unit.Time(r.IntN(100)) * us); return drainEarly(e) }
		if err := Run(emulated(t, t.Context(), 6), o, p); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // a sender may try for ever
		err := Run(hasty{emulated(t, ctx, 6), o}, o, p)
		cancel()
		if err != nil {
			wrong++
		}
	}
	t.Logf("%d of %d runs are wrong if the pool is freed when its last slot has been written", wrong, runs)
	if wrong < runs/2 {
		t.Errorf("%d of %d runs are wrong if the pool is freed when its last slot has been written: the law is too weak to see it", wrong, runs)
	}
}

// emulated is the T3D, whose runs end with the context.
func emulated(t *testing.T, ctx context.Context, ranks int) device.World {
	w, err := hw.New(hw.Config{Machine: enginetest.Load("t3d").Machine, Library: library(), Ranks: ranks, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// hasty is a world in which slots that are free seem to be received while the last one is not free.
type hasty struct {
	device.World
	o Options
}

func (w hasty) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(hastyPort{p, w.o}) })
}

type hastyPort struct {
	device.Port
	o Options
}

func (p hastyPort) Watch() device.Watch { return hastyWatch{p.Port.Watch(), p} }

type hastyWatch struct {
	device.Watch
	p hastyPort
}

// barrierWords is what package shmem has in front of symmetric memory.
const barrierWords = 256

func (w hastyWatch) Load(k device.Key, off int) uint64 {
	e := PE{n: w.p.Size(), opt: w.p.o}
	word := w.Watch.Load(k, off)
	for i := range w.p.o.Slots - 1 {
		if off == barrierWords+e.slot(i)+16 && word == free && w.Watch.Load(k, barrierWords+e.slot(w.p.o.Slots-1)+16) != free {
			return received
		}
	}
	return word
}

// What a message costs does not grow with the number of messages before it.
func TestAllocations(t *testing.T) {
	if enginetest.Racing {
		t.Skip("the race detector allocates")
	}
	for name, round := range map[string]func(e *PE, b []byte){
		"synchronous": func(e *PE, b []byte) {
			if e.Rank() == 0 {
				e.Send(1, b)
				e.Receive(1, b)
			} else {
				e.Receive(0, b)
				e.Send(0, b)
			}
		},
		"asynchronous": func(e *PE, b []byte) {
			e.SendAsync(1-e.Rank(), 0, b)
			e.ReceiveAsync(1-e.Rank(), 0, b)
		},
		"broadcast": func(e *PE, b []byte) { e.Broadcast(b) },
	} {
		for _, w := range worlds {
			if w.Name != "t3d" && w.Name != "t3d by messages" {
				continue
			}
			count := func(rounds int) float64 {
				return testing.AllocsPerRun(1, func() {
					if err := Run(w.Open(t, library(), 2), Options{}, func(e *PE) error {
						b := make([]byte, 100)
						for range rounds {
							round(e, b)
						}
						return nil
					}); err != nil {
						t.Fatal(err)
					}
				})
			}
			if few, many := count(100), count(1100); many-few > 20 {
				t.Errorf("%s, %s: 1000 rounds more allocate %v times", w.Name, name, many-few)
			}
		}
	}
}

// Emulated jobs are the same in every run.
func TestReproducible(t *testing.T) {
	times := func() (ends [7]unit.Time) {
		err := Run(emulated(t, t.Context(), 7), Options{Slots: 3, SlotSize: 64}, func(e *PE) error {
			err := errors.Join(random(5)(e), drainEarly(e))
			ends[e.Rank()] = e.Now()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return ends
	}
	if a, b := times(), times(); a != b || a[0] == 0 {
		t.Errorf("PEs end at %v, and in the second run at %v", a, b)
	}
}
