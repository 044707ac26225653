package aclmpl

import (
	"errors"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/model/unit"
)

// barrierWords is what package shmem has in front of symmetric memory.
const barrierWords = 256

// What a message costs does not grow with the number of messages before it.
func TestAllocations(t *testing.T) {
	if enginetest.RaceDetectorOn {
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
		"all to one": func(e *PE, b []byte) { // whose memory and links contend
			for i := 1; i < e.Size(); i++ {
				if e.Rank() == i {
					e.SendAsync(0, 0, b)
				} else if e.Rank() == 0 {
					e.ReceiveAsync(AnyPE, 0, b)
				}
			}
			e.Barrier()
		},
	} {
		ranks := 2
		if name == "all to one" {
			ranks = 8
		}
		for _, w := range worlds {
			if w.Name != "t3d" && w.Name != "t3d by messages" {
				continue
			}
			count := func(rounds int) float64 {
				return testing.AllocsPerRun(1, func() {
					if err := Run(w.Open(t, library(), ranks), Options{}, func(e *PE) error {
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
		w, err := hw.New(hw.Config{Machine: enginetest.LoadPlatform("t3d").Machine, Library: library(), Ranks: 7})
		if err != nil {
			t.Fatal(err)
		}
		err = Run(w, Options{PoolSlots: 3, SlotBytes: 64}, func(e *PE) error {
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
