package fit

import (
	"fmt"
	"math"
	"slices"
)

// extraction derives the parameters of one place by the paper's rules.
type extraction struct {
	subject
	curves []*curve
	o      Options

	parameters []Parameter
	draws      [][]float64 // replicates of each parameter
	warnings   []Warning
	derived    []Curve
	views      []PLogP
	trains     map[string]trains // by mode
}

// run goes through the modes in the order of results.
func (e *extraction) run() {
	var seen []string
	for _, c := range e.curves {
		if slices.Contains(seen, c.mode) {
			continue
		}
		seen = append(seen, c.mode)
		m := mode{e, c.mode}
		m.overheads()
		m.latency()
		m.gap()
		m.bandwidth()
		m.eagerLimit()
		m.plogp()
	}
}

// mode derives the parameters of one mode.
type mode struct {
	*extraction
	name string
}

// curve returns what a timer shows in a mode with the library's choice of protocol, or nil.
func (e *extraction) curve(mode, timer string) *curve {
	var found *curve
	for _, c := range e.curves {
		if c.mode == mode && c.timer == timer && chosen(mode, c.protocol) && (found == nil || c.protocol == "auto") {
			found = c
		}
	}
	return found
}

func (m mode) timer(timer string) *curve { return m.curve(m.name, timer) }

// add adds a row, with the replicates of its number.
func (e *extraction) add(row Parameter, reps []float64) {
	e.parameters, e.draws = append(e.parameters, row), append(e.draws, reps)
}

func us(x float64) string { return fmt.Sprintf("%.6g us", x) }

// judged completes a row of which the value can only be positive.
func (m mode) judged(row Parameter, value, low, high float64, doubtful bool) Parameter {
	if low <= 0 {
		code := Unidentified
		if row.Name == "L" && value < 0 {
			code = NegativeLatency
		}
		if row.Method != ByHalfTripGap { // of which nothing remains on many a sound machine
			m.warn(row.Name, code, "%s is %.6g %s, with an interval from %.6g to %.6g: not identifiable", row.Method, value, row.Unit, low, high)
		}
		return m.unknown(row)
	}
	row.Value, row.Low, row.High, row.Verdict = rounded(value), rounded(low), rounded(high), Good
	if doubtful || (high-low)/2 > weakWidth*value {
		row.Verdict = Weak
	}
	return row
}

// unknown completes a row of which there is no number.
func (m mode) unknown(row Parameter) Parameter {
	row.Value, row.Low, row.High = math.NaN(), math.NaN(), math.NaN()
	row.Method += unidentifiable
	row.Verdict = NotIdentifiable
	return row
}

func (m mode) row(name, method string, from, to, samples int) Parameter {
	return Parameter{Platform: m.platform, Library: m.library, Place: m.place, Mode: m.name,
		Name: name, Method: method, From: from, To: to, Samples: samples}
}

func (m mode) warn(parameter, code, format string, args ...any) {
	m.warnings = append(m.warnings, Warning{Platform: m.platform, Library: m.library, Place: m.place, Mode: m.name, Parameter: parameter, Code: code, Text: fmt.Sprintf(format, args...)})
}
