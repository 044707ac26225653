package clean

import (
	"slices"
	"strconv"
)

// Rounded returns x with ten significant digits, more than any measurement has, so that files show
// no digits of floating-point arithmetic and reading one gives the numbers back.
func Rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 9, 64), 64)
	if err != nil {
		return x // an infinity
	}
	return y
}

// Median sorts x and returns its median.
func Median(x []float64) float64 {
	slices.Sort(x)
	return Quantile(x, 0.5)
}

// Quantile returns the quantile u of sorted numbers.
func Quantile(sorted []float64, u float64) float64 {
	pos := u * float64(len(sorted)-1)
	i := int(pos)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (pos-float64(i))*(sorted[i+1]-sorted[i])
}

// Interval returns the percentile interval of sorted replicates, which holds the value.
func Interval(sorted []float64, value, level float64) (low, high float64) {
	tail := (1 - level) / 2
	return min(value, Quantile(sorted, tail)), max(value, Quantile(sorted, 1-tail))
}
