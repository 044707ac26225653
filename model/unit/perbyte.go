package unit

import (
	"fmt"
	"math"
	"strings"
)

// PerByte is a gap: picoseconds a byte.
type PerByte float64

// Time returns how long n bytes take, to the nearest picosecond.
func (g PerByte) Time(n int) Time { return Time(math.RoundToEven(float64(n) * float64(g))) }

// Micros returns the gap in microseconds a byte.
func (g PerByte) Micros() float64 { return float64(g) / float64(Microsecond) }

// ParsePerByte reads a gap with its unit, such as 0.01us/B or 10ns/B: a unit of time and /B. Zero
// needs no unit.
func ParsePerByte(s string) (PerByte, error) {
	g, err := parsePerByte(s)
	if err != nil {
		return 0, fmt.Errorf("time per byte %q: %w", s, err)
	}
	return g, nil
}

func parsePerByte(s string) (PerByte, error) {
	number, name, err := splitQuantity(s)
	if err != nil {
		return 0, err
	}
	name, perByte := strings.CutSuffix(name, "/B")
	if name == "" && !isZero(number) {
		return 0, fmt.Errorf("missing unit: write %sns/B, or another time a byte", number)
	}
	power, err := timeUnit(number, name)
	if err != nil {
		return 0, err
	}
	if !perByte && name != "" {
		return 0, fmt.Errorf("a time, not a time per byte: write %s%s/B", number, name)
	}
	x, err := scaleByPowerOfTen(number, power)
	return PerByte(x), err
}

// String prints g with as few digits as ParsePerByte needs to read the same: 10ns/B.
func (g PerByte) String() string {
	e := printedPower(float64(g), 12)
	return formatShifted(float64(g), e) + [...]string{"ps", "ns", "us", "ms", "s"}[e/3] + "/B"
}
