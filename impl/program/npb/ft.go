package npb

import (
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/loggp/loggp/impl/library/mpi"
)

var ftBenchmark = Benchmark{
	Name: "npb-ft", Description: "three-dimensional Fourier transforms of a heat equation; ranks exchange all with all between axes", Classes: "SWA", Run: runFT,
}

// ftClass is a class of FT: logarithms of the points of the axes, and the sum after each iteration.
type ftClass struct {
	logPoints [3]int
	sums      [ftIterations]complex128
}

const (
	ftIterations       = 6
	ftSeed             = 314159265
	ftAlpha            = 1e-6
	ftTolerance        = 1e-12
	ftPointsInChecksum = 1024 // points in a sum
)

// The sums of NPB 3.4, ft.f90, verify.
var ftClasses = []ftClass{
	{[3]int{6, 6, 6}, [6]complex128{
		5.546087004964e+02 + 4.845363331978e+02i, 5.546385409189e+02 + 4.865304269511e+02i, 5.546148406171e+02 + 4.883910722336e+02i,
		5.545423607415e+02 + 4.901273169046e+02i, 5.544255039624e+02 + 4.917475857993e+02i, 5.542683411902e+02 + 4.932597244941e+02i}},
	{[3]int{7, 7, 5}, [6]complex128{
		5.673612178944e+02 + 5.293246849175e+02i, 5.631436885271e+02 + 5.282149986629e+02i, 5.594024089970e+02 + 5.270996558037e+02i,
		5.560698047020e+02 + 5.260027904925e+02i, 5.530898991250e+02 + 5.249400845633e+02i, 5.504159734538e+02 + 5.239212247086e+02i}},
	{[3]int{8, 8, 7}, [6]complex128{
		5.046735008193e+02 + 5.114047905510e+02i, 5.059412319734e+02 + 5.098809666433e+02i, 5.069376896287e+02 + 5.098144042213e+02i,
		5.077892868474e+02 + 5.101336130759e+02i, 5.085233095391e+02 + 5.104914655194e+02i, 5.091487099959e+02 + 5.107917842803e+02i}},
}

// ftRank is a rank's part of the problem. In space it has planes across the third axis; in
// frequency it has whole lines of the third axis.
type ftRank struct {
	comm           *mpi.Comm
	s              Settings
	n              [3]int
	planes         int // of the rank
	lines          int // of the rank
	fft            [3]*fourier.CmplxFFT
	line           []complex128 // of the first two axes
	exchangeBuffer []complex128 // what is exchanged
	decay          []float64    // of each frequency in an iteration
}

// runFT is the kernel of RNR-94-007, section 2.2.4, with planes of the third axis on each rank.
func runFT(c *mpi.Comm, s Settings) (Result, error) {
	k, err := classOf(s, "npb-ft", ftClasses...)
	if err != nil {
		return Result{}, err
	}
	if _, err := log2Ranks(c, "npb-ft", 1<<k.logPoints[2]); err != nil {
		return Result{}, err
	}
	y := newFTRank(c, s, k)
	space, frequency := make([]complex128, len(y.exchangeBuffer)), make([]complex128, len(y.exchangeBuffer))
	y.fillSpace(space)
	y.transformToFrequency(space, frequency) // touches all data once, as NPB does before it measures
	good := true
	time := timeSection(c, func() {
		y.fillSpace(space)
		y.fillDecays()
		y.transformToFrequency(space, frequency)
		for i := range ftIterations {
			for j, d := range y.decay {
				frequency[j] *= complex(d, 0)
			}
			s.chargeOperations(c, 2*len(frequency))
			y.transformToSpace(frequency, space)
			got, want := y.checksum(space), k.sums[i]
			good = good && isClose(real(got), real(want), ftTolerance) && isClose(imag(got), imag(want), ftTolerance)
		}
	})
	points := float64(y.n[0]) * float64(y.n[1]) * float64(y.n[2])
	return Result{
		Class: s.classLetter(), Size: fmt.Sprintf("%dx%dx%d", y.n[0], y.n[1], y.n[2]), Iterations: ftIterations, Time: time,
		Operations: points * (14.8157 + 7.19641*math.Log(points) + (5.23518+7.21113*math.Log(points))*ftIterations), OperationKind: "floating point",
		IsVerified: good,
	}, nil
}

func newFTRank(c *mpi.Comm, s Settings, k ftClass) *ftRank {
	y := &ftRank{comm: c, s: s}
	for a, log := range k.logPoints {
		y.n[a] = 1 << log
		y.fft[a] = fourier.NewCmplxFFT(y.n[a])
	}
	y.planes, y.lines = y.n[2]/c.Size(), y.n[0]*y.n[1]/c.Size()
	y.line = make([]complex128, y.n[1])
	y.exchangeBuffer = make([]complex128, y.lines*y.n[2])
	y.decay = make([]float64, len(y.exchangeBuffer))
	return y
}

// fillSpace sets the rank's points to random numbers.
func (y *ftRank) fillSpace(space []complex128) {
	r := randomNumbers{ftSeed}
	r.skipNumbers(2 * len(space) * y.comm.Rank())
	for i := range space {
		re := r.nextNumber()
		space[i] = complex(re, r.nextNumber())
	}
	y.s.chargeOperations(y.comm, 6*len(space))
}

// fillDecays computes by what frequencies decay in an iteration, exp(−4π²α·k²).
func (y *ftRank) fillDecays() {
	square := func(i, n int) float64 {
		if i >= n/2 {
			i -= n
		}
		return float64(i * i)
	}
	first := y.comm.Rank() * y.lines
	for l := range y.lines {
		i, j := (first+l)%y.n[0], (first+l)/y.n[0]
		for k := range y.n[2] {
			y.decay[l*y.n[2]+k] = math.Exp(-4 * math.Pi * math.Pi * ftAlpha * (square(i, y.n[0]) + square(j, y.n[1]) + square(k, y.n[2])))
		}
	}
	y.s.chargeOperations(y.comm, 6*len(y.decay))
}

// chargeTransform charges the transforms of a number of lines of an axis: 5·n·log2(n) operations
// each.
func (y *ftRank) chargeTransform(axis, count int) {
	y.s.chargeOperations(y.comm, count*5*y.n[axis]*bits.Len(uint(y.n[axis]-1)))
}

// transformPlanes transforms the first two axes of the rank's planes.
func (y *ftRank) transformPlanes(x []complex128, direction func(axis int, line []complex128)) {
	n := y.n[0] * y.n[1]
	for p := range y.planes {
		plane := x[p*n : (p+1)*n]
		for j := range y.n[1] {
			direction(0, plane[j*y.n[0]:(j+1)*y.n[0]])
		}
		for i := range y.n[0] {
			for j := range y.line {
				y.line[j] = plane[i+j*y.n[0]]
			}
			direction(1, y.line)
			for j, v := range y.line {
				plane[i+j*y.n[0]] = v
			}
		}
	}
	y.chargeTransform(0, y.planes*y.n[1])
	y.chargeTransform(1, y.planes*y.n[0])
}

// transformToFrequency transforms from space to frequency.
func (y *ftRank) transformToFrequency(space, frequency []complex128) {
	y.transformPlanes(space, func(axis int, line []complex128) { y.fft[axis].Coefficients(line, line) })
	n, per := y.n[0]*y.n[1], y.lines*y.planes
	for p := range y.planes {
		for l, v := range space[p*n : (p+1)*n] {
			y.exchangeBuffer[l/y.lines*per+l%y.lines*y.planes+p] = v
		}
	}
	got := y.transpose(space)
	for from := range y.comm.Size() {
		for l := range y.lines {
			copy(frequency[l*y.n[2]+from*y.planes:], got[from*per+l*y.planes:from*per+(l+1)*y.planes])
		}
	}
	for l := range y.lines {
		line := frequency[l*y.n[2] : (l+1)*y.n[2]]
		y.fft[2].Coefficients(line, line)
	}
	y.chargeTransform(2, y.lines)
}

// transpose exchanges all of other with all ranks, and returns what was received: other, or spare.
func (y *ftRank) transpose(spare []complex128) []complex128 {
	if y.comm.Size() == 1 {
		return y.exchangeBuffer
	}
	mpi.Alltoall(y.comm, y.exchangeBuffer, spare)
	return spare
}

// transformToSpace transforms from frequency to space, and leaves frequency as it is.
func (y *ftRank) transformToSpace(frequency, space []complex128) {
	n, per := y.n[0]*y.n[1], y.lines*y.planes
	line := make([]complex128, y.n[2])
	for l := range y.lines {
		y.fft[2].Sequence(line, frequency[l*y.n[2]:(l+1)*y.n[2]])
		for to := range y.comm.Size() {
			copy(y.exchangeBuffer[to*per+l*y.planes:], line[to*y.planes:(to+1)*y.planes])
		}
	}
	y.chargeTransform(2, y.lines)
	got := y.transpose(space)
	if y.comm.Size() > 1 {
		copy(y.exchangeBuffer, got)
	}
	for p := range y.planes {
		for l := range n {
			space[p*n+l] = y.exchangeBuffer[l/y.lines*per+l%y.lines*y.planes+p]
		}
	}
	y.transformPlanes(space, func(axis int, line []complex128) { y.fft[axis].Sequence(line, line) })
}

// checksum returns the sum of some points on rank 0, and something else on the others.
func (y *ftRank) checksum(space []complex128) complex128 {
	first := y.comm.Rank() * y.planes
	var sum complex128
	for j := 1; j <= ftPointsInChecksum; j++ {
		if k := 5*j%y.n[2] - first; k >= 0 && k < y.planes {
			sum += space[j%y.n[0]+y.n[0]*(3*j%y.n[1]+y.n[1]*k)]
		}
	}
	sum /= complex(float64(y.n[0]*y.n[1]*y.n[2]), 0)
	y.s.chargeOperations(y.comm, 2*ftPointsInChecksum/y.comm.Size())
	got := []complex128{0}
	mpi.Reduce(y.comm, []complex128{sum}, got, mpi.Sum, 0)
	return got[0]
}
