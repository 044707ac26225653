package device

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRegions exposes and withdraws at random, and looks at every key that there ever was: it names
// its own memory, or nothing for good.
func TestRegions(t *testing.T) {
	const seed, most = 1, 8
	var r Regions
	rnd := rand.New(rand.NewPCG(seed, 0))
	live, ever := map[Key][]byte{}, map[Key]bool{}
	for step := range 1000 {
		if len(live) < most && rnd.IntN(2) == 0 {
			b := make([]byte, rnd.IntN(10))
			k := r.Expose(b)
			if ever[k] {
				t.Fatalf("seed %d, step %d: key %#x is given again", seed, step, k)
			}
			live[k], ever[k] = b, true
		} else {
			for k := range ever {
				_, is := live[k]
				if r.Withdraw(k) != is {
					t.Fatalf("seed %d, step %d: withdrawing %#x, exposed: %v", seed, step, k, is)
				}
				delete(live, k)
				if is {
					break
				}
			}
		}
		for k := range ever {
			b, is := live[k]
			got, ok := r.Access(k, 0, len(b))
			if ok != is || len(got) != len(b) || len(b) > 0 && &got[0] != &b[0] {
				t.Fatalf("seed %d, step %d: %#x reaches %d bytes, %v; exposed are %d, %v", seed, step, k, len(got), ok, len(b), is)
			}
		}
	}
	if len(r.regions) > most {
		t.Errorf("%d places for at most %d pieces of memory", len(r.regions), most)
	}
}

// TestReach stays within what is exposed.
func TestReach(t *testing.T) {
	var r Regions
	whole := make([]byte, 30)
	k := r.Expose(whole[10:20])
	for _, c := range []struct {
		off, n int
		ok     bool
	}{
		{0, 10, true}, {0, 0, true}, {10, 0, true}, {3, 4, true},
		{-1, 1, false}, {0, 11, false}, {10, 1, false}, {9, 2, false}, {math.MaxInt, 1, false}, {math.MinInt, 1, false}, {math.MaxInt, 10, false},
	} {
		b, ok := r.Access(k, c.off, c.n)
		if ok != c.ok || ok && (len(b) != c.n || c.n > 0 && &b[0] != &whole[10+c.off]) {
			t.Errorf("%d bytes at %d of 10: %d, %v", c.n, c.off, len(b), ok)
		}
	}
	if _, ok := r.Access(k+1, 0, 0); ok {
		t.Errorf("key %#x was never given and names something", k+1)
	}
}
