// Package npb has the NAS Parallel Benchmarks as programs on impl/library/mpi.
//
// EP, IS, CG, MG and FT are kernels: they compute real data and pass the verification of the
// benchmarks. LU, SP and BT are exchange skeletons: they send the messages of the applications and
// charge the time of computing, but have no data to verify. The messages and the collective calls
// of all eight agree with NPB 3.4 (Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, and
// Bailey et al., The NAS Parallel Benchmarks 2.0, NAS-95-020, describe them).
//
// Each benchmark returns a Result on every rank. Computing is charged by the number of operations
// that the rank executes, each at Settings.Operation.
package npb

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Benchmark is one of the benchmarks. Run is its code for each rank. It returns an error if the
// benchmark does not have the class or cannot run on the number of ranks; a wrong result is not an
// error.
type Benchmark struct {
	Name, Description string
	Classes           string // the letters of its classes, the smallest first
	IsSkeleton        bool   // it sends the messages and computes no data
	Run               func(c *mpi.Comm, s Settings) (Result, error)
}

// Settings are how much a benchmark has to do.
type Settings struct {
	Class         string    // S, W or A; empty: S
	OperationTime unit.Time // average time of an arithmetic operation or comparison, with its memory accesses
}

// Result is what a benchmark reports.
type Result struct {
	Class         string
	Size          string // of the problem
	Iterations    int
	Time          unit.Time // of the timed part: that of the slowest rank
	Operations    float64   // that NPB counts for Mop/s, which differ from those that are charged
	OperationKind string    // of operations
	IsVerified    bool      // the result agrees with the published one; false for a skeleton
	IsSkeleton    bool      // no data was computed
}

// Outcomes of the verification of a benchmark.
const (
	Successful   = "SUCCESSFUL"
	Unsuccessful = "UNSUCCESSFUL"
	NotPerformed = "NOT PERFORMED" // by a skeleton, which has no data
)

// Verification returns the outcome of the verification, as NPB prints it.
func (r Result) Verification() string {
	switch {
	case r.IsVerified:
		return Successful
	case r.IsSkeleton:
		return NotPerformed
	}
	return Unsuccessful
}

// Mops returns the benchmark's rate in millions of operations per second, in total. It is 0 if no
// time passed.
func (r Result) Mops() float64 {
	if r.Time <= 0 {
		return 0
	}
	return r.Operations / r.Time.Micros()
}

// Benchmarks are all benchmarks.
var Benchmarks = []Benchmark{epBenchmark, isBenchmark, cgBenchmark, mgBenchmark, ftBenchmark, luBenchmark, spBenchmark, btBenchmark}

// BenchmarkNamed returns the benchmark of a name such as npb-cg, or false.
func BenchmarkNamed(name string) (Benchmark, bool) {
	i := slices.IndexFunc(Benchmarks, func(b Benchmark) bool { return b.Name == name })
	if i < 0 {
		return Benchmark{}, false
	}
	return Benchmarks[i], true
}

// classLetter returns the class's letter.
func (s Settings) classLetter() string { return cmp.Or(s.Class, "S") }

// classOf returns the parameters of a class, which stand in the order of S, W, A.
func classOf[T any](s Settings, name string, classes ...T) (T, error) {
	letters := strings.Split("SWA"[:len(classes)], "")
	i := slices.Index(letters, s.classLetter())
	if i < 0 {
		var none T
		return none, fmt.Errorf("%s has no class %q%s", name, s.Class, table.NameChoices(s.Class, letters))
	}
	return classes[i], nil
}

// log2Ranks returns the logarithm of the number of ranks, or an error if it is not a power of two
// or exceeds most.
func log2Ranks(c *mpi.Comm, name string, most int) (int, error) {
	if n := c.Size(); n&(n-1) != 0 || n > most {
		return 0, fmt.Errorf("%s runs on a power of two of ranks, at most %d: not on %d", name, most, n)
	}
	return bits.TrailingZeros(uint(c.Size())), nil
}

// timeSection runs the timed part of a benchmark and returns the time of the slowest rank. The rank
// marks its begin and its end by Pcontrol.
func timeSection(c *mpi.Comm, run func()) unit.Time {
	c.Barrier()
	c.Pcontrol(1)
	begin := c.Wtime()
	run()
	mine := []int64{int64(c.Wtime() - begin)}
	c.Pcontrol(0)
	most := []int64{0}
	c.Allreduce(mpi.BufferOf(mine), mpi.BufferOf(most), mpi.Max)
	return unit.Time(most[0])
}

// chargeOperations occupies the processor for a number of operations.
func (s Settings) chargeOperations(c *mpi.Comm, operations int) {
	c.Compute(s.OperationTime.Times(operations))
}

// sendAndReceive sends to one rank and receives from one, which may be the same, or the rank
// itself.
func sendAndReceive(c *mpi.Comm, send []float64, dst int, recv []float64, src, tag int) {
	r := mpi.Irecv(c, recv, src, tag)
	mpi.Send(c, send, dst, tag)
	r.Wait()
}

// isClose says whether a result agrees with the published one.
func isClose(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Abs(want)
}

// randomNumbers is the generator of pseudorandom numbers of NPB, x' = 5^13·x mod 2^46. RNR-94-007,
// section 2.3.
type randomNumbers struct{ x uint64 }

const (
	randomMultiplier = 1220703125 // 5^13
	randomModulus    = 1 << 46
)

// nextNumber returns the next number between 0 and 1.
func (r *randomNumbers) nextNumber() float64 {
	r.x = r.x * randomMultiplier % randomModulus
	return float64(r.x) * (1.0 / randomModulus)
}

// skipNumbers leaves out n numbers.
func (r *randomNumbers) skipNumbers(n int) {
	for a := uint64(randomMultiplier); n > 0; n >>= 1 {
		if n&1 != 0 {
			r.x = r.x * a % randomModulus
		}
		a = a * a % randomModulus
	}
}
