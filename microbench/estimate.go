package microbench

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// estimate is a median and half of its 95 % interval, in picoseconds. The half is infinite where there are too few samples for one.
type estimate struct{ value, half float64 }

// within says whether the estimate is known to a precision, or to half a step of the clock.
func (e estimate) within(precision float64, step unit.Time) bool {
	return e.half <= math.Max(precision*math.Abs(e.value), float64(step)/2)
}

// median returns the estimate of n samples, which it sorts. The interval is that by ranks,
//
//	⌊(n − 1.96 √n)/2⌋ to ⌈1 + (n + 1.96 √n)/2⌉
//
// of Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems (2015).
func median(times []unit.Time) estimate {
	n := len(times)
	if n == 0 {
		return estimate{0, math.Inf(1)}
	}
	slices.Sort(times)
	e := estimate{float64(times[(n-1)/2]+times[n/2]) / 2, math.Inf(1)}
	r := 1.96 * math.Sqrt(float64(n))
	low, high := int(math.Floor((float64(n)-r)/2)), int(math.Ceil(1+(float64(n)+r)/2))
	if low >= 1 && high <= n {
		e.half = float64(times[high-1]-times[low-1]) / 2
	}
	return e
}

// meanOf returns the estimate of the mean of two numbers.
func meanOf(of [2]estimate) estimate {
	return estimate{(of[0].value + of[1].value) / 2, math.Hypot(of[0].half, of[1].half) / 2}
}

// student are the quantiles 0.975 of Student's distribution with 1, 2, ... degrees of freedom.
var student = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}

// across returns the estimate of what several launches say, one median each. What scatters inside them is in these.
func across(medians []float64) estimate {
	n := len(medians)
	if n < 2 {
		return estimate{0, math.Inf(1)}
	}
	mean, sum := 0.0, 0.0
	for _, x := range medians {
		mean += x / float64(n)
	}
	for _, x := range medians {
		sum += (x - mean) * (x - mean)
	}
	t := 1.96
	if n-2 < len(student) {
		t = student[n-2]
	}
	return estimate{mean, t * math.Sqrt(sum/float64(n-1)/float64(n))}
}

// judge says what all launches together know: how many medians there are, and how many of them are
// known, disturbed or not, with what differs between launches.
func (e *Experiment) judge(series []sample.Series) (known, medians int) {
	values := make(map[sample.Key][]float64)
	for i := range series {
		s := &series[i]
		if k := s.Key; k.Timer != sample.Timer22 {
			k.Launch = 0
			values[k] = append(values[k], median(slices.Clone(s.Times)).value)
		}
	}
	ok := make(map[sample.Key]bool)
	for k, m := range values {
		k.Disturbed = false
		ok[k] = ok[k] || across(m).within(e.Wanted(), e.Step)
	}
	for _, yes := range ok {
		if yes {
			known++
		}
	}
	return known, len(ok)
}
