package loggp

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
)

// sweep has the parameters of simulations that differ in one of them.
type sweep struct {
	parameter string // L, o, g, G, O or S
	params    []schedule.Params
}

// sweptParameters are the parameters of LogGOPS that can be swept.
var sweptParameters = []string{"L", "o", "g", "G", "O", "S"}

// IsParameterSweep reports whether a sweep, such as L=0..10us/0.5us, is of a parameter of LogGOPS,
// and not of a number of a platform or of a step.
func IsParameterSweep(s string) bool {
	name, _, _ := strings.Cut(s, "=")
	return slices.Contains(sweptParameters, name)
}

// parseParameterValue reads a value of a parameter: bytes, picoseconds, or picoseconds a byte.
func parseParameterValue(name, text string) (float64, error) {
	switch name {
	case "S":
		n, err := unit.ParseSize(text)
		return float64(n), err
	case "G", "O":
		g, err := unit.ParsePerByte(strings.TrimSuffix(text, "/B") + "/B")
		return float64(g), err
	case "L", "o", "g":
		t, err := unit.ParseTime(text)
		return float64(t), err
	}
	return 0, fmt.Errorf("there is no parameter %q", name)
}

// parseSweep reads the values of a swept parameter, such as L=0..10us/0.5us or L=1us,5us, with one
// of L, o, g, G, O and S. The other parameters are those of p. No text is no sweep.
func parseSweep(s string, p schedule.Params) (sweep, error) {
	if s == "" {
		return sweep{}, nil
	}
	wrong := func(why string) error {
		return fmt.Errorf("%s; write L=0..10us/0.5us or L=1us,5us, with one of L, o, g, G, O and S", why)
	}
	name, rest, _ := strings.Cut(s, "=")
	ends, by, ok := strings.Cut(rest, "/")
	first, last, also := strings.Cut(ends, "..")
	var texts []string
	switch {
	case ok && also:
		texts = []string{first, last, by}
	case strings.Contains(rest, ",") && !ok && !also:
		texts = strings.Split(rest, ",")
	default:
		return sweep{}, wrong("it is neither a range with a step nor a list of values")
	}
	var values []float64
	for _, text := range texts {
		x, err := parseParameterValue(name, text)
		if err != nil {
			return sweep{}, wrong(err.Error())
		}
		values = append(values, x)
	}
	if also {
		from, to, step := values[0], values[1], values[2]
		if step <= 0 || from < 0 || to < from {
			return sweep{}, wrong("the range is empty, or its step is not above 0")
		}
		steps := math.Floor((to-from)/step*(1+1e-12) + 1e-9)
		if steps >= unit.MaxSizes {
			return sweep{}, wrong(fmt.Sprintf("these are more than %d values", unit.MaxSizes))
		}
		values = values[:0]
		for i := 0.0; i <= steps; i++ {
			values = append(values, from+i*step)
		}
	}
	var all []schedule.Params
	for _, x := range values {
		switch name {
		case "L":
			p.L = unit.Time(x)
		case "o":
			p.Overhead = unit.Time(x)
		case "g":
			p.Gap = unit.Time(x)
		case "G":
			p.GapPerByte = unit.PerByte(x)
		case "O":
			p.OverheadPerByte = unit.PerByte(x)
		case "S":
			p.EagerLimit = uint64(x)
		}
		all = append(all, p)
	}
	return sweep{parameter: name, params: all}, nil
}

// maxSweptValues is how many values of a number of a platform or of a step are simulated.
const maxSweptValues = 1000

// parseValueSweep reads a quantity and its values, such as taper=1,2,4.
func parseValueSweep(s string) (quantity string, values []string, err error) {
	quantity, rest, ok := strings.Cut(s, "=")
	if values = strings.Split(rest, ","); !ok || quantity == "" || slices.Contains(values, "") {
		return "", nil, fmt.Errorf("write a quantity and its values, as taper=1,2,4")
	}
	if len(values) > maxSweptValues {
		return "", nil, fmt.Errorf("these are more than %d values", maxSweptValues)
	}
	return quantity, values, nil
}

// parseCount reads a number of things.
func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number from 1 up", text)
	}
	return n, nil
}

// sweepCurve is a line of the chart of a sweep: a time for each value.
type sweepCurve struct {
	name  string
	times []unit.Time
}

// sweepChart draws times over the values of a quantity.
func sweepChart(title, quantity string, values []string, curves ...sweepCurve) *chart.Chart {
	most := 0.0
	for _, c := range curves {
		most = max(most, slices.Max(c.times).Micros())
	}
	unitName, scale := "us", 1.0
	switch {
	case most >= 1e6:
		unitName, scale = "s", 1e-6
	case most >= 1e3:
		unitName, scale = "ms", 1e-3
	}
	p := chart.SizePlot{XLabel: quantity, YLabel: "time, " + unitName, IsLinear: true, XNames: values}
	for i, c := range curves {
		var points []chart.Point
		for k, t := range c.times {
			points = append(points, chart.Point{X: float64(k + 1), Y: t.Micros() * scale})
		}
		p.Series = append(p.Series, chart.JoinedSeries(c.name, chart.Style{Color: chart.Palette[i], Glyph: chart.SolidGlyphs[i]}, points))
	}
	return p.Chart("sweep", title, "")
}
