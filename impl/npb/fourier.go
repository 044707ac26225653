package npb

import (
	"math"
	"math/cmplx"
)

// fourier transforms lines of a power of two of points, by radix 4 with sorting in each pass (Stockham).
// Neither direction is scaled.
type fourier struct {
	roots []complex128 // exp(−2πi·k/n)
	other []complex128 // the line of every second pass
}

func newFourier(n int) *fourier {
	f := &fourier{roots: make([]complex128, n), other: make([]complex128, n)}
	for k := range f.roots {
		f.roots[k] = cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n))
	}
	return f
}

// forward replaces x[j] by Σ x[k]·exp(−2πi·j·k/n).
func (f *fourier) forward(x []complex128) {
	from, to := x, f.other
	step := 1
	for n := len(x); n > 1; n /= 4 {
		if n == 2 {
			for q := range step {
				a, b := from[q], from[q+step]
				to[q], to[q+step] = a+b, a-b
			}
		} else {
			f.pass(from, to, n/4, step)
		}
		from, to = to, from
		step *= 4
	}
	if &from[0] != &x[0] {
		copy(x, from)
	}
}

// pass is one pass: step transforms side by side, each of 4·n points, become four times as many of n points.
func (f *fourier) pass(from, to []complex128, n, step int) {
	m := n * step
	for p := range n {
		w1, w2, w3 := f.roots[p*step], f.roots[2*p*step], f.roots[3*p*step]
		a, b, c, d := from[p*step:][:step], from[p*step+m:][:step], from[p*step+2*m:][:step], from[p*step+3*m:][:step]
		y0, y1, y2, y3 := to[4*p*step:][:step], to[(4*p+1)*step:][:step], to[(4*p+2)*step:][:step], to[(4*p+3)*step:][:step]
		for q := range step {
			sum, difference := a[q]+c[q], a[q]-c[q]
			other, turned := b[q]+d[q], b[q]-d[q]
			turned = complex(-imag(turned), real(turned))
			y0[q], y1[q] = sum+other, w1*(difference-turned)
			y2[q], y3[q] = w2*(sum-other), w3*(difference+turned)
		}
	}
}

// back replaces x[j] by Σ x[k]·exp(2πi·j·k/n).
func (f *fourier) back(x []complex128) {
	f.forward(x)
	for i, j := 1, len(x)-1; i < j; i, j = i+1, j-1 {
		x[i], x[j] = x[j], x[i]
	}
}
