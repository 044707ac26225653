package npb

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
)

// Both directions give the sums that define them, for all lengths up to those of class A.
func TestFourier(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for n := 1; n <= 256; n *= 2 {
		x := make([]complex128, n)
		for i := range x {
			x[i] = complex(r.Float64(), r.Float64())
		}
		f := newFourier(n)
		for sign, transform := range map[float64]func([]complex128){-1: f.forward, 1: f.back} {
			got := slices.Clone(x)
			transform(got)
			for j := range n {
				var want complex128
				for k, v := range x {
					want += v * cmplx.Rect(1, sign*2*math.Pi*float64(j*k%n)/float64(n))
				}
				if cmplx.Abs(got[j]-want) > 1e-12*float64(n) {
					t.Fatalf("%d points, sign %v: point %d is %v, want %v", n, sign, j, got[j], want)
				}
			}
		}
	}
}
