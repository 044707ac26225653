// Package unit has the quantities of the toolkit: time in integer picoseconds, sizes in bytes,
// rates in bytes a second and gaps in time a byte, parsed and printed with their units.
//
// Times are integers so that sums do not depend on their order; only rates and statistics of times
// are floating point. MB, GB and the like are powers of ten, as bandwidths are quoted; KiB, MiB and
// GiB are powers of two.
package unit

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Time is a point in time or a duration in picoseconds. It covers 106 days.
type Time int64

// Durations.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// LongestTime is the longest time.
const LongestTime Time = math.MaxInt64

// Times returns n times t, or LongestTime if that is longer. Neither may be negative.
func (t Time) Times(n int) Time {
	hi, lo := bits.Mul64(uint64(t), uint64(n))
	if hi != 0 || lo > uint64(LongestTime) {
		return LongestTime
	}
	return Time(lo)
}

// Micros returns t in microseconds.
func (t Time) Micros() float64 { return float64(t) / float64(Microsecond) }

// Nanoseconds returns t in whole nanoseconds, rounded up.
func (t Time) Nanoseconds() int64 {
	n := int64(t / Nanosecond)
	if t%Nanosecond > 0 {
		n++
	}
	return n
}

// FromMicros returns the time nearest to us microseconds.
func FromMicros(us float64) Time { return Time(math.Round(us * float64(Microsecond))) }

// timeUnits are the units of time, with their powers of ten over a picosecond.
var timeUnits = []struct {
	name  string
	power int
}{{"ps", 0}, {"ns", 3}, {"us", 6}, {"µs", 6}, {"μs", 6}, {"ms", 9}, {"s", 12}}

const timeNames = "ps, ns, us, ms or s"

// ParseTime reads a time with its unit, such as 13.3ns or 5 us: ps, ns, us (or µs), ms, s. Zero
// needs no unit. It is exact: digits finer than a picosecond are an error and are not rounded.
func ParseTime(s string) (Time, error) {
	t, err := parseTime(s)
	if err != nil {
		return 0, fmt.Errorf("time %q: %w", s, err)
	}
	return t, nil
}

func parseTime(s string) (Time, error) {
	number, name, err := splitQuantity(s)
	if err != nil {
		return 0, err
	}
	power, err := timeUnit(number, name)
	if err != nil {
		return 0, err
	}
	return picoseconds(number, power)
}

// timeUnit returns the power of ten of a unit of time. number is the text before it.
func timeUnit(number, name string) (int, error) {
	for _, u := range timeUnits {
		if u.name == name {
			return u.power, nil
		}
	}
	if name != "" {
		return 0, fmt.Errorf("unknown unit %q: use %s", name, timeNames)
	}
	if isZero(number) {
		return 0, nil
	}
	return 0, fmt.Errorf("missing unit: write %sus, or another of %s", number, timeNames)
}

// isZero reports whether a decimal number is zero.
func isZero(number string) bool { return strings.Trim(number, "-0.") == "" }

// picoseconds returns number times 10^power picoseconds.
func picoseconds(number string, power int) (Time, error) {
	n, err := scaleExactly(number, int64(powerOfTen(power)))
	switch err {
	case errFiner:
		return 0, errors.New("finer than a picosecond: leave out the digits beyond 1ps")
	case errRange:
		return 0, errors.New("out of range: a time is less than 106 days")
	}
	return Time(n), err
}

// ParseMicros reads a time in microseconds without a unit, as in data sets. It is the inverse of
// Time.MicrosString and as exact as ParseTime.
func ParseMicros(s string) (Time, error) {
	number, name, err := splitQuantity(s)
	if err == nil && name != "" {
		err = fmt.Errorf("%q follows the number: it is in microseconds already", name)
	}
	var t Time
	if err == nil {
		t, err = picoseconds(number, 6)
	}
	if err != nil {
		return 0, fmt.Errorf("microseconds %q: %w", s, err)
	}
	return t, nil
}

// String prints t exactly, in the largest unit that is not longer than t: 13.3ns, 5us, 0s.
// ParseTime reads it back.
func (t Time) String() string {
	if t == 0 {
		return "0s"
	}
	u := timeUnits[0]
	for _, larger := range timeUnits {
		if larger.power > u.power && (t/powerOfTen(larger.power)) != 0 {
			u = larger
		}
	}
	return formatFixed(int64(t), u.power) + u.name
}

// powerOfTen returns 10^power picoseconds.
func powerOfTen(power int) Time {
	t := Picosecond
	for range power {
		t *= 10
	}
	return t
}

// MicrosString prints t in microseconds, exactly, with as few digits as that takes: 12.345678, 5,
// 0.
func (t Time) MicrosString() string { return formatFixed(int64(t), 6) }
