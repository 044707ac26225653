package reports

import (
	"math"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
)

// scale is a unit that is easier to read than that of a fit.
type scale struct {
	unit   string
	factor float64
}

// scaleOf returns the unit for some values of a fit: one in which the least of them has a digit before the point.
func scaleOf(unit string, values ...float64) scale {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			least = math.Min(least, v)
		}
	}
	small := least < 1
	switch {
	case unit == params.Micros && small:
		return scale{"ns", 1e3}
	case unit == params.Micros:
		return scale{"us", 1}
	case unit == params.PerByte:
		return scale{"ns/B", 1e3}
	case unit == compare.MegabytesPerSecond && least >= 1000 && !math.IsInf(least, 1):
		return scale{"GB/s", 1e-3}
	}
	return scale{unit, 1}
}

// amount returns a value with its unit.
func amount(v float64, unit string) string {
	s := scaleOf(unit, v)
	return number(v*s.factor) + glue + s.unit
}

// of returns a parameter in another unit.
func (s scale) of(p params.Parameter) params.Parameter {
	p.Value, p.Low, p.High = p.Value*s.factor, p.Low*s.factor, p.High*s.factor
	return p
}
