// Package format prints numbers, sizes and intervals for people: few digits, and a unit beside a
// number on the same line. Files have all digits; this is for tables, charts and sentences.
package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// NoNumber stands where there is no number.
const NoNumber = "-"

// NonBreakingSpace stands between a number and its unit: a space at which lines are not broken.
const NonBreakingSpace = "\u00a0"

// significantDigits is the most digits of a number.
const significantDigits = 4

// WithInterval returns a value with its interval: 30.0 ±0.1. Half the interval, to the farther end,
// is rounded up to one digit, or two where one would overstate it by half, or by a fifth an
// interval as wide as the value, and the value to the same place. A value other than 0 keeps a
// digit, up to a thousandth of a wider interval: 2 ±30, and not 0 ±30.
func WithInterval(value, low, high float64) string {
	half := math.Max(value-low, high-value)
	switch {
	case math.IsNaN(value):
		return NoNumber
	case math.IsNaN(half):
		return Number(value)
	case half <= 0:
		return Number(value) + " ±0"
	}
	places := -PowerOfTen(half)
	wide := half > math.Abs(value)/2
	if x := half * math.Pow10(places); x < 4.0/3 || wide && math.Ceil(x) > 1.2*x {
		places++
	}
	places = min(places, max(significantDigits-1-PowerOfTen(value), 0))
	step := math.Pow10(-places)
	wider := PowerOfTen(half) - PowerOfTen(value)
	half = math.Ceil(half/step*(1-1e-9)) * step
	of := places
	if value != 0 && 0 < wider && wider <= 3 {
		of = max(of, -PowerOfTen(value))
	}
	return WithDecimals(value, of) + " ±" + WithDecimals(half, places)
}

// Number returns a value with four digits, or more before the point.
func Number(x float64) string {
	if math.IsNaN(x) {
		return NoNumber
	}
	places := significantDigits - 1 - PowerOfTen(x)
	if rounded := math.Round(x*math.Pow10(places)) / math.Pow10(places); PowerOfTen(rounded) > PowerOfTen(x) {
		places--
	}
	return WithDecimals(x, max(places, 0))
}

// WithDecimals returns x with so many places behind the point. A negative number of places rounds
// before it.
func WithDecimals(x float64, places int) string {
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

// FileNumber returns a whole number with all its digits, and others with ten significant digits,
// more than any measurement has, so that files show no digits of floating-point arithmetic. NaN and
// infinity are empty.
func FileNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	const exactIntegers = 1 << 53
	if x == math.Trunc(x) && math.Abs(x) < exactIntegers {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x+0, 'g', 10, 64)
}

// PowerOfTen returns the power of ten of the first digit.
func PowerOfTen(x float64) int {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(x)) + 1e-12))
}

// MicrosWithUnit returns a time of so many microseconds with the unit in which it is read most
// easily: 113 ns, 22.3 us, 35 ms, 5 s.
func MicrosWithUnit(us float64) string {
	unit, factor := "us", 1.0
	switch x := math.Abs(us); {
	case x > 0 && x < 1:
		unit, factor = "ns", 1e3
	case x >= 1e7:
		unit, factor = "s", 1e-6
	case x >= 1e4:
		unit, factor = "ms", 1e-3
	}
	return strings.TrimSuffix(Number(us*factor), ".0") + NonBreakingSpace + unit
}

// Percent returns a difference in percent with its sign.
func Percent(x float64) string {
	switch {
	case math.IsNaN(x):
		return NoNumber
	case math.Abs(x) < 0.05:
		return "0.0"
	case math.Abs(x) < 1000:
		return fmt.Sprintf("%+.1f", x)
	}
	return fmt.Sprintf("%+.0f", x)
}

// Size returns a size in bytes: 16 B, 10 KB (10,000 bytes), 64 KiB.
func Size(n int) string {
	units := []struct {
		size int
		name string
	}{{1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "KB"}}
	for _, u := range units {
		if n >= u.size && n%u.size == 0 {
			return strconv.Itoa(n/u.size) + NonBreakingSpace + u.name
		}
	}
	return strconv.Itoa(n) + NonBreakingSpace + "B"
}

// SizeRange returns a range of sizes in bytes.
func SizeRange(from, to int) string {
	switch {
	case from < 0:
		return NoNumber
	case from == to:
		return Size(from)
	}
	return Size(from) + " to " + Size(to)
}

// CountRange returns a range of counts.
func CountRange(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// UpperBound returns a bound: the upper end of its interval, or the value if it has none.
func UpperBound(value, high float64) string {
	if math.IsNaN(high) {
		high = value
	}
	return "≤" + Number(high)
}

// PlaceName names a platform, a library and a place between ranks, as far as they are known: t3d,
// chimp, between nodes.
func PlaceName(platform, library, place string) string {
	words := []string{platform}
	switch place {
	case "inter":
		place = "between nodes"
	case "intra":
		place = "within a node"
	}
	for _, w := range []string{library, place} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// Plural returns a number of things: 1 byte, 2 bytes.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// PluralInWords is Plural with the word one, as in "one exchange".
func PluralInWords(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return Plural(n, what)
}

// SingleLine returns a text in one line, of ordinary spaces.
func SingleLine(s string) string {
	return strings.NewReplacer("\n", " ", NonBreakingSpace, " ").Replace(s)
}

// FileName joins words to a name of a file.
func FileName(words ...string) string {
	var out []string
	for _, w := range words {
		w = strings.Trim(strings.Map(func(r rune) rune {
			if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.') {
				return r
			}
			return '-'
		}, w), "-.")
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, "-")
}

// Wrap breaks text into lines of at most width characters, between words where it can.
func Wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := []rune{}
		for word := range strings.SplitSeq(paragraph, " ") {
			w := []rune(word)
			if len(w) == 0 {
				continue
			}
			for len(w) > width {
				if len(line) > 0 {
					lines, line = append(lines, string(line)), nil
				}
				lines, w = append(lines, string(w[:width])), w[width:]
			}
			switch {
			case len(line) == 0:
				line = w
			case len(line)+1+len(w) <= width:
				line = append(append(slices.Clip(line), ' '), w...)
			default:
				lines, line = append(lines, string(line)), w
			}
		}
		lines = append(lines, string(line))
	}
	return lines
}
