package params

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
)

// Extraction derives the parameters of one place by the paper's rules.
type Extraction struct {
	clean.Subject
	Curves  []*curve.Curve
	Options clean.Options

	Parameters          []Parameter
	ParameterReplicates [][]float64 // replicates of each parameter
	Warnings            []clean.Warning
	DerivedCurves       []curve.Curve
	EagerLimitEvidence  []EagerLimitEvidence
	PLogPParameters     []PLogP
	trainResultsByMode  map[string]roundTripTrainResults // by mode
}

// ExtractParameters goes through the modes in the order of results.
func (e *Extraction) ExtractParameters() {
	var seen []string
	for _, c := range e.Curves {
		if slices.Contains(seen, c.Mode) {
			continue
		}
		seen = append(seen, c.Mode)
		m := Mode{e, c.Mode}
		m.addOverheads()
		m.addLatency()
		m.addGap()
		m.addGapPerByte()
		m.addEagerLimit()
		m.addPLogP()
	}
}

// Mode derives the parameters of one mode.
type Mode struct {
	*Extraction
	Name string
}

// Curve returns what a timer shows in a mode with the library's choice of protocol, or nil.
func (e *Extraction) Curve(mode, timer string) *curve.Curve {
	var found *curve.Curve
	for _, c := range e.Curves {
		if c.Mode == mode && c.Timer == timer && clean.IsLibraryChoice(mode, c.Protocol) && (found == nil || c.Protocol == "auto") {
			found = c
		}
	}
	return found
}

func (m Mode) TimerCurve(timer string) *curve.Curve { return m.Curve(m.Name, timer) }

// addRow adds a row, with the replicates of its number, and the samples of the cell that has
// the fewest: few show no interval.
func (e *Extraction) addRow(row Parameter, reps []float64, least int) {
	row.FewestSamples = least
	if least < clean.MinSamplesForInterval {
		row.Low, row.High = math.NaN(), math.NaN()
		if row.Verdict == GoodVerdict {
			row.Verdict = WeakVerdict
		}
	}
	e.Parameters, e.ParameterReplicates = append(e.Parameters, row), append(e.ParameterReplicates, reps)
}

func formatMicros(x float64) string { return fmt.Sprintf("%.6g us", x) }

// fillPositiveRow fills a row whose value can only be positive. If its interval reaches
// zero, it warns and returns a row without a number.
func (m Mode) fillPositiveRow(row Parameter, value, low, high float64, doubtful bool) Parameter {
	if low <= 0 {
		code := clean.CodeUnidentified
		if row.Name == "L" && value < 0 {
			code = clean.CodeNegativeLatency
		}
		if row.Method != MethodHalfRoundTripLessGap { // which overheads hide on many sound machines
			m.addWarning(row.Name, code, "%s is %.6g %s, with an interval from %.6g to %.6g: not identifiable", row.Method, value, row.Unit, low, high)
		}
		return m.fillUnidentifiableRow(row)
	}
	row.Value, row.Low, row.High, row.Verdict = clean.RoundDigits(value), clean.RoundDigits(low), clean.RoundDigits(high), GoodVerdict
	if doubtful || (high-low)/2 > WeakRelativeHalfWidth*value {
		row.Verdict = WeakVerdict
	}
	return row
}

// fillUnidentifiableRow fills a row without a number.
func (m Mode) fillUnidentifiableRow(row Parameter) Parameter {
	row.Value, row.Low, row.High = math.NaN(), math.NaN(), math.NaN()
	row.Method += UnidentifiableMethodSuffix
	row.Verdict = UnidentifiableVerdict
	return row
}

func (m Mode) NewRow(kind Kind, method string, from, to, samples int) Parameter {
	return Parameter{Platform: m.Platform, Library: m.Library, Place: m.Place, Mode: m.Name,
		Name: kind.Name(), Unit: kind.Unit(), Method: method, From: from, To: to, SampleCount: samples}
}

func (m Mode) addWarning(parameter, code, format string, args ...any) {
	m.Warnings = append(m.Warnings, clean.Warning{Platform: m.Platform, Library: m.Library, Place: m.Place, Mode: m.Name, Parameter: parameter, Code: code, Text: fmt.Sprintf(format, args...)})
}

// ModeOf returns what a mode shows.
func (e *Extraction) ModeOf(name string) Mode { return Mode{e, name} }
