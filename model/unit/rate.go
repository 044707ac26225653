package unit

import (
	"errors"
	"fmt"
	"math"
)

// Rate is a bandwidth in bytes a second.
type Rate float64

// Time returns how long n bytes take at the rate, to the nearest picosecond, or LongestTime if that
// is longer.
func (r Rate) Time(n int) Time {
	t := math.RoundToEven(float64(n) * float64(Second) / float64(r))
	if t >= float64(LongestTime) {
		return LongestTime
	}
	return Time(t)
}

// rateUnits are the units of bandwidth: a power of ten and a power of two over a byte a second.
// Those that Rate.String prints come first, from small to large.
var rateUnits = []struct {
	name      string
	ten, twos int
}{
	{"B/s", 0, 0}, {"kB/s", 3, 0}, {"MB/s", 6, 0}, {"GB/s", 9, 0}, {"TB/s", 12, 0},
	{"KB/s", 3, 0},
	{"KiB/s", 0, 10}, {"MiB/s", 0, 20}, {"GiB/s", 0, 30}, {"TiB/s", 0, 40},
	{"bit/s", 0, -3}, {"kbit/s", 3, -3}, {"Kbit/s", 3, -3}, {"Mbit/s", 6, -3}, {"Gbit/s", 9, -3}, {"Tbit/s", 12, -3},
}

const rateNames = "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s, kbit/s, Mbit/s or Gbit/s"

// ParseRate reads a bandwidth with its unit, such as 300MB/s, 25 MiB/s or 10Mbit/s. It is positive
// and finite.
func ParseRate(s string) (Rate, error) {
	r, err := parseRate(s)
	if err != nil {
		return 0, fmt.Errorf("rate %q: %w", s, err)
	}
	return r, nil
}

func parseRate(s string) (Rate, error) {
	number, name, err := splitQuantity(s)
	if err != nil {
		return 0, err
	}
	if name == "" {
		return 0, fmt.Errorf("missing unit: write %sMB/s, or another of %s", number, rateNames)
	}
	for _, u := range rateUnits {
		if u.name != name {
			continue
		}
		x, err := scaleByPowerOfTen(number, u.ten)
		if err != nil {
			return 0, err
		}
		x = math.Ldexp(x, u.twos)
		switch {
		case math.IsInf(x, 0):
			return 0, errRange
		case x <= 0:
			return 0, errors.New("not positive: nothing would ever arrive")
		}
		return Rate(x), nil
	}
	return 0, fmt.Errorf("unknown unit %q: use %s", name, rateNames)
}

// String prints r with as few digits as ParseRate needs to read the same: 300MB/s.
func (r Rate) String() string {
	e := printedPower(float64(r), 12)
	return formatShifted(float64(r), e) + rateUnits[e/3].name
}
