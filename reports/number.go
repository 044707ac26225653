package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// significant is the most digits of a number; files have them all.
const significant = 4

// measured returns a value with its interval: 30.0 ±0.1. Half the interval, to the farther end, is rounded up to one digit,
// or two where one would overstate it by half, or by a fifth an interval as wide as the value, and the value to the same place. A value that is not nothing
// keeps a digit, up to a thousandth of a wider interval: what was held up half of the time is 2 ±30, and not 0 ±30.
func measured(value, low, high float64) string {
	half := math.Max(value-low, high-value)
	switch {
	case math.IsNaN(value):
		return none.Text
	case math.IsNaN(half):
		return number(value)
	case half <= 0:
		return number(value) + " ±0"
	}
	places := -magnitude(half)
	wide := half > math.Abs(value)/2
	if x := half * math.Pow10(places); x < 4.0/3 || wide && math.Ceil(x) > 1.2*x {
		places++
	}
	places = min(places, max(significant-1-magnitude(value), 0))
	step := math.Pow10(-places)
	wider := magnitude(half) - magnitude(value)
	half = math.Ceil(half/step*(1-1e-9)) * step
	of := places
	if value != 0 && 0 < wider && wider <= 3 {
		of = max(of, -magnitude(value))
	}
	return fixed(value, of) + " ±" + fixed(half, places)
}

// number returns a value with the most digits, or more before the point.
func number(x float64) string {
	if math.IsNaN(x) {
		return none.Text
	}
	places := significant - 1 - magnitude(x)
	if rounded := math.Round(x*math.Pow10(places)) / math.Pow10(places); magnitude(rounded) > magnitude(x) {
		places--
	}
	return fixed(x, max(places, 0))
}

// fixed returns x with so many places behind the point; less than none rounds before it.
func fixed(x float64, places int) string {
	if places < 0 {
		step := math.Pow10(-places)
		x, places = math.Round(x/step)*step, 0
	}
	s := strconv.FormatFloat(x, 'f', places, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// magnitude returns the power of ten of the first digit.
func magnitude(x float64) int {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(x)) + 1e-12))
}

// percent returns a difference in percent with its sign.
func percent(x float64) string {
	switch {
	case math.IsNaN(x):
		return none.Text
	case math.Abs(x) < 0.05:
		return "0.0"
	case math.Abs(x) < 1000:
		return fmt.Sprintf("%+.1f", x)
	}
	return fmt.Sprintf("%+.0f", x)
}

// glue stands between a number and its unit: a space at which lines are not broken.
const glue = "\u00a0"

// size returns a size for people: 16 B, 10 KB (10,000 bytes), 64 KiB.
func size(n int) string {
	units := []struct {
		size int
		name string
	}{{1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "KB"}}
	for _, u := range units {
		if n >= u.size && n%u.size == 0 {
			return strconv.Itoa(n/u.size) + glue + u.name
		}
	}
	return strconv.Itoa(n) + glue + "B"
}

// between returns a range of sizes.
func between(from, to int) string {
	switch {
	case from < 0:
		return none.Text
	case from == to:
		return size(from)
	}
	return size(from) + " to " + size(to)
}
