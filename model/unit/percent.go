package unit

import (
	"fmt"
	"strconv"
)

// ParsePercent reads a percentage such as 5% as a fraction, 0.05. Zero needs no sign.
func ParsePercent(s string) (float64, error) {
	number, name, err := splitQuantity(s)
	switch {
	case err != nil:
	case name == "%" || name == "" && isZero(number):
		var x float64
		if x, err = scaleByPowerOfTen(number, -2); err == nil {
			return x, nil
		}
	case name == "":
		err = fmt.Errorf("missing unit: write %s%%", number)
		if x, _ := scaleByPowerOfTen(number, 0); x > 0 && x < 1 {
			err = fmt.Errorf("missing unit: write %s%% or, if a fraction was meant, %s", number, Percent(x))
		}
	default:
		err = fmt.Errorf("unknown unit %q: use %%", name)
	}
	return 0, fmt.Errorf("percentage %q: %w", s, err)
}

// Percent prints a fraction as a percentage with as few digits as ParsePercent needs to read the
// same: 5%.
func Percent(fraction float64) string { return formatShifted(fraction, -2) + "%" }

// Rounded prints a number with at most so many significant digits, as %g does, but never with an
// exponent: 240 for 244 with two digits.
func Rounded(x float64, digits int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64) // of what is a number
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
