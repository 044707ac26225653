package torus

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// Streams of different ranks share a memory equally. Here a simulation in small steps says when
// each has got all; streams of one rank follow each other.
func TestMemoryIsSharedEqually(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		type want struct{ at, hold, end float64 }
		n := 1 + r.IntN(8)
		all := make([]want, n)
		at := 0.0
		for i := range all {
			all[i] = want{at: at, hold: float64(1000 + r.IntN(100_000)), end: math.NaN()}
			at += float64(r.IntN(2) * r.IntN(60_000))
		}
		left := make([]float64, n)
		const step = 10.0
		for now, done := 0.0, 0; done < n; now += step {
			active := 0
			for i, w := range all {
				if w.at <= now && left[i] < w.hold {
					active++
				}
			}
			for i, w := range all {
				if w.at <= now && left[i] < w.hold {
					if left[i] += step / float64(active); left[i] >= w.hold {
						all[i].end = now + step
						done++
					}
				}
			}
		}
		var m memory
		of := make([]int, n)
		for i, w := range all {
			m.addStream(&of[i], int32(i), unit.Time(w.at), unit.Time(w.hold))
		}
		for i, w := range all {
			if got := float64(m.endOfTransfer(&of[i], int32(i), unit.Time(all[n-1].at))); w.end > all[n-1].at && math.Abs(got-w.end) > 20*step {
				t.Errorf("seed %d: stream %d of %d ends at %v, in small steps at %v", seed, i, n, got, w.end)
			}
		}
	}
}

// The streams of one rank are served in order, however short they are.
func TestMemoryKeepsOrder(t *testing.T) {
	var m memory
	long, short, after, other := 1, 2, 3, 4
	m.addStream(&other, 7, 0, 1000)
	m.addStream(&long, 5, 0, 100_000)
	if a, b := m.addStream(&short, 5, 10, 8), m.addStream(&after, 5, 10, 2); a >= b {
		t.Errorf("one of 8 is over at %d, one of 2 behind it at %d", a, b)
	}
	if a, b := m.endOfTransfer(&long, 5, 20), m.endOfTransfer(&short, 5, 20); a != 101_000 || b != a+8 {
		t.Errorf("the long transfer is over at %d, the short one behind it at %d", a, b)
	}
	if got := m.endOfTransfer(nil, 5, 20); got != m.endOfTransfer(&after, 5, 20) {
		t.Errorf("all of rank 5 is over at %d", got)
	}
	if got := m.endOfTransfer(&long, 5, 200_000); got != 200_000 || len(m.streams) > 0 {
		t.Errorf("the long transfer is over at %d, and %d are left", got, len(m.streams))
	}
}
