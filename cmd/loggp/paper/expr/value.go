package expr

import (
	"fmt"
	"math"
	"strconv"
)

// Value is a number with its 95 % interval. All three are NaN if the number is not known, and the
// ends alone if there are too few samples for an interval.
type Value struct{ Center, Low, High float64 }

// ExactValue returns a number without uncertainty.
func ExactValue(x float64) Value { return Value{Center: x, Low: x, High: x} }

// UnknownValue returns the value of a number that is not known.
func UnknownValue() Value { return ExactValue(math.NaN()) }

// IsKnown says whether there is a number.
func (v Value) IsKnown() bool { return !math.IsNaN(v.Center) }

// HasInterval says whether the ends of the interval are known.
func (v Value) HasInterval() bool { return !math.IsNaN(v.Low) && !math.IsNaN(v.High) }

// intervalSides returns how far the interval reaches below and above the value, or above and below
// for a quantity that falls when v rises.
func (v Value) intervalSides(falls bool) (under, above float64) {
	if falls {
		return v.High - v.Center, v.Center - v.Low
	}
	return v.Center - v.Low, v.High - v.Center
}

// combineValues returns x, to which v and w contribute with the sensitivities dv and dw. The values
// vary independently, so that the sides of their intervals add in quadrature.
func combineValues(x float64, v Value, dv float64, w Value, dw float64) Value {
	vUnder, vAbove := v.intervalSides(dv < 0)
	wUnder, wAbove := w.intervalSides(dw < 0)
	dv, dw = math.Abs(dv), math.Abs(dw)
	return Value{Center: x, Low: x - math.Hypot(dv*vUnder, dw*wUnder), High: x + math.Hypot(dv*vAbove, dw*wAbove)}
}

func (v Value) plus(w Value) Value  { return combineValues(v.Center+w.Center, v, 1, w, 1) }
func (v Value) minus(w Value) Value { return combineValues(v.Center-w.Center, v, 1, w, -1) }
func (v Value) times(w Value) Value {
	return combineValues(v.Center*w.Center, v, w.Center, w, v.Center)
}

// dividedBy returns v/w. A divisor that is not above zero gives no value: ratios are of times and
// rates.
func (v Value) dividedBy(w Value) Value {
	if !(w.Center > 0) {
		return UnknownValue()
	}
	inverse := Value{Center: 1 / w.Center, Low: 1 / w.High, High: 1 / w.Low}
	if w.Low <= 0 {
		inverse.High = math.Inf(1)
	}
	return v.times(inverse)
}

func (v Value) abs() Value {
	switch {
	case v.Center < 0:
		return Value{Center: -v.Center, Low: -v.High, High: -v.Low}.abs()
	case v.Low < 0:
		return Value{Center: v.Center, Low: 0, High: math.Max(v.High, -v.Low)}
	}
	return v
}

// pickExtreme returns the smallest or the largest of two values, end by end.
func pickExtreme(of func(a, b float64) float64, v, w Value) Value {
	return Value{Center: of(v.Center, w.Center), Low: of(v.Low, w.Low), High: of(v.High, w.High)}
}

// String prints the value with half the width of its interval: 29.98 ±0.02. An interval below a
// ten-thousandth is left out; one that is not centred is printed with both ends: 2.1 (0.4 to 2.3).
// Without an interval it says so.
func (v Value) String() string {
	half := (v.High - v.Low) / 2
	switch {
	case !v.IsKnown():
		return "?"
	case math.IsInf(v.Center, 0):
		return "never"
	case !v.HasInterval():
		return FormatDigits(v.Center) + " (no interval)"
	case half <= 1e-4*math.Abs(v.Center):
		return FormatDigits(v.Center)
	case math.IsInf(half, 0):
		return fmt.Sprintf("%s (%s or more)", FormatDigits(v.Center), FormatDigits(v.Low))
	case math.Abs(2*v.Center-v.Low-v.High) > half:
		return fmt.Sprintf("%s (%s to %s)", FormatDigits(v.Center), FormatDigits(v.Low), FormatDigits(v.High))
	}
	places := max(0, -int(math.Floor(math.Log10(half))))
	return fmt.Sprintf("%s ±%s", strconv.FormatFloat(v.Center, 'f', places, 64), strconv.FormatFloat(half, 'f', places, 64))
}

// FormatDigits prints a number with four digits, or with all digits before the point.
func FormatDigits(x float64) string {
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
