package paper

import (
	"fmt"
	"math"
	"strconv"
)

// Value is a number that was measured, with its interval at 95 %. Of one that was not, all are NaN.
type Value struct {
	V, Low, High float64

	// Spread is half the width of the range that holds 95 % of the repetitions: what one of them says, while the interval says
	// what their median is worth. It is set where a timer shows the value.
	Spread float64
}

// exactly is a value without doubt.
func exactly(x float64) Value { return Value{V: x, Low: x, High: x} }

// none is no value.
func none() Value { return exactly(math.NaN()) }

// known says whether there is a value.
func (v Value) known() bool { return !math.IsNaN(v.V) }

// under and above are the two sides of the interval.
func (v Value) under() float64 { return v.V - v.Low }
func (v Value) above() float64 { return v.High - v.V }

// Intervals are combined as those of values that vary independently: their sides add in quadrature.

func (v Value) plus(w Value) Value {
	x := v.V + w.V
	return Value{V: x, Low: x - math.Hypot(v.under(), w.under()), High: x + math.Hypot(v.above(), w.above())}
}

func (v Value) minus(w Value) Value {
	x := v.V - w.V
	return Value{V: x, Low: x - math.Hypot(v.under(), w.above()), High: x + math.Hypot(v.above(), w.under())}
}

// over returns the ratio of two values above zero.
func (v Value) over(w Value) Value {
	x := v.V / w.V
	return Value{V: x, Low: x * (1 - math.Hypot(v.under()/v.V, w.above()/w.V)), High: x * (1 + math.Hypot(v.above()/v.V, w.under()/w.V))}
}

// times returns the value times a number above zero.
func (v Value) times(x float64) Value { return Value{V: v.V * x, Low: v.Low * x, High: v.High * x} }

// inverse returns x over the value, which is above zero. A side of the interval that is not is left as far as the value.
func (v Value) inverse(x float64) Value {
	if !(v.V > 0) {
		return none()
	}
	low := v.Low
	if low <= 0 {
		low = v.V
	}
	return Value{V: x / v.V, Low: x / v.High, High: x / low}
}

// String prints the value with half the width of its interval: 29.98 ±0.02. Where that is less than a ten-thousandth, or the value far
// from its middle, it prints what there is: 29.98, 2.1 (0.4 to 2.3).
func (v Value) String() string {
	half := (v.High - v.Low) / 2
	switch {
	case !v.known():
		return "?"
	case half <= 1e-4*math.Abs(v.V):
		return digits(v.V)
	case math.Abs(v.under()-v.above()) > half:
		return fmt.Sprintf("%s (%s to %s)", digits(v.V), digits(v.Low), digits(v.High))
	}
	places := max(0, -int(math.Floor(math.Log10(half))))
	return fmt.Sprintf("%s ±%s", strconv.FormatFloat(v.V, 'f', places, 64), strconv.FormatFloat(half, 'f', places, 64))
}

// us prints a time.
func (v Value) us() string { return v.String() + " us" }

// digits prints a number with four digits, or all before the point.
func digits(x float64) string {
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
