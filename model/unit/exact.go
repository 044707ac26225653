package unit

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxLength bounds the text of a quantity: no float64 needs more digits, and exact arithmetic on
// more is slow.
const maxLength = 400

// splitQuantity cuts a quantity into its decimal number (a sign, digits, a point and digits, no
// exponent) and its unit.
func splitQuantity(s string) (number, unit string, err error) {
	if len(s) > maxLength {
		return "", "", fmt.Errorf("longer than %d characters", maxLength)
	}
	s = strings.TrimSpace(s)
	i := 0
	if strings.HasPrefix(s, "-") {
		i++
	}
	whole := countDigits(s[i:])
	i += whole
	if whole > 0 && i < len(s) && s[i] == '.' {
		fraction := countDigits(s[i+1:])
		if fraction == 0 {
			return "", "", errors.New("no digit after the decimal point")
		}
		i += 1 + fraction
	}
	if whole == 0 {
		return "", "", errors.New("does not begin with a number such as 5 or 1.25")
	}
	return s[:i], strings.TrimSpace(s[i:]), nil
}

// countDigits returns how many digits s begins with.
func countDigits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

var (
	errFiner = errors.New("not a whole number")
	errRange = errors.New("out of range")
)

// scaleExactly returns number times scale. It never rounds.
func scaleExactly(number string, scale int64) (int64, error) {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		panic("unit: not a decimal number: " + number) // split accepts nothing else
	}
	r.Mul(r, new(big.Rat).SetInt64(scale))
	switch {
	case !r.IsInt():
		return 0, errFiner
	case !r.Num().IsInt64():
		return 0, errRange
	}
	return r.Num().Int64(), nil
}

// scaleByPowerOfTen returns number times 10 to the power e, rounded once.
func scaleByPowerOfTen(number string, e int) (float64, error) {
	x, err := strconv.ParseFloat(number+"e"+strconv.Itoa(e), 64)
	if err != nil {
		return 0, errRange
	}
	return x, nil
}

// formatFixed prints n/10^e with the fewest digits.
func formatFixed(n int64, e int) string {
	sign, magnitude := "", uint64(n)
	if n < 0 {
		sign, magnitude = "-", -uint64(n)
	}
	d := strconv.FormatUint(magnitude, 10)
	return sign + insertPoint(d, len(d)-e)
}

// formatShifted prints x/10^e with the fewest digits that scaled(_, e) reads back as x.
func formatShifted(x float64, e int) string {
	sign := ""
	switch {
	case x == 0:
		return "0"
	case x < 0:
		sign, x = "-", -x
	}
	mantissa, exponent, ok := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	if !ok {
		return sign + mantissa // an infinity, or not a number
	}
	n, err := strconv.Atoi(exponent)
	if err != nil {
		panic("unit: " + err.Error())
	}
	return sign + insertPoint(strings.Replace(mantissa, ".", "", 1), 1+n-e)
}

// insertPoint prints digits with the decimal point after the first n of them.
func insertPoint(digits string, n int) string {
	if n < 1 {
		digits, n = strings.Repeat("0", 1-n)+digits, 1
	}
	if n > len(digits) {
		digits += strings.Repeat("0", n-len(digits))
	}
	whole := strings.TrimLeft(digits[:n], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction := strings.TrimRight(digits[n:], "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// printedPower returns the power of ten, a multiple of three from 0 to most, in which x is printed.
func printedPower(x float64, most int) int {
	if x < 0 {
		x = -x
	}
	e := 0
	for limit := 1e3; e < most && x >= limit; limit *= 1e3 {
		e += 3
	}
	return e
}
