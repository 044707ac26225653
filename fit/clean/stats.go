package clean

import (
	"slices"
	"strconv"

	"github.com/loggp/loggp/model/quantile"
)

// RoundDigits returns x rounded to ten significant digits, more than any measurement has. Files
// then show no rounding errors of floating-point arithmetic, and reading them returns the same
// numbers.
func RoundDigits(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 9, 64), 64)
	if err != nil {
		return x // infinite
	}
	return y
}

// SortExtremes moves the smallest and the largest numbers to their places in sorted order, as far
// as quantiles below tail and above 1−tail need them. The rest stays unsorted: intervals of
// replicates are needed so often that full sorting would take most of a fit.
func SortExtremes(x []float64, tail float64) {
	k := int(tail*float64(len(x)-1)) + 2
	if 3*k > len(x) || slices.ContainsFunc(x, func(v float64) bool { return v != v }) {
		slices.Sort(x)
		return
	}
	selectRank(x, k)
	slices.Sort(x[:k])
	rest := x[k:]
	selectRank(rest, len(rest)-k)
	slices.Sort(rest[len(rest)-k:])
}

// selectRank reorders numbers so that none of the first k is greater than any of the others.
func selectRank(x []float64, k int) {
	for len(x) > 1 && k > 0 && k < len(x) {
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch { // x[:j+1] <= pivot <= x[i:], and what is between is the pivot
		case k <= j+1:
			x = x[:j+1]
		case k >= i:
			x, k = x[i:], k-i
		default:
			return
		}
	}
}

// UnsortedPercentileInterval returns the percentile interval of replicates, whose order it changes.
func UnsortedPercentileInterval(reps []float64, value, level float64) (low, high float64) {
	SortExtremes(reps, (1-level)/2)
	return PercentileInterval(reps, value, level)
}

// PercentileInterval returns the percentile interval of sorted replicates, which holds the value.
func PercentileInterval(sorted []float64, value, level float64) (low, high float64) {
	tail := (1 - level) / 2
	return min(value, quantile.Of(sorted, tail)), max(value, quantile.Of(sorted, 1-tail))
}
