package params

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/table"
)

// Limits of parameters in files. Times computed from larger ones would not fit a unit.Time.
const (
	maxMicrosInFile        = 1e9 // 17 minutes
	maxMicrosPerByteInFile = 1e3 // 1 ms a byte
	maxBytesOrCountInFile  = 1e10
)

var parameterSchema = table.Schema[Parameter]{
	Name: "parameters",
	Columns: []table.Column[Parameter]{
		table.Name("platform", func(p *Parameter) *string { return &p.Platform }, nil),
		table.Name("library", func(p *Parameter) *string { return &p.Library }, nil),
		table.Name("place", func(p *Parameter) *string { return &p.Place }, nil),
		table.Name("mode", func(p *Parameter) *string { return &p.Mode }, rejectMisspelledMode),
		table.Name("parameter", func(p *Parameter) *string { return &p.Name }, table.OneOf(KindNames()...)),
		table.WholeOrNone("bytes_from", func(p *Parameter) *int { return &p.From }, "a number of bytes"),
		table.WholeOrNone("bytes_to", func(p *Parameter) *int { return &p.To }, "a number of bytes"),
		table.Number("value", func(p *Parameter) *float64 { return &p.Value }, maxBytesOrCountInFile),
		table.Number("ci_low", func(p *Parameter) *float64 { return &p.Low }, maxBytesOrCountInFile),
		table.Number("ci_high", func(p *Parameter) *float64 { return &p.High }, maxBytesOrCountInFile),
		table.Name("unit", func(p *Parameter) *string { return &p.Unit }, nil),
		table.Name("method", func(p *Parameter) *string { return &p.Method }, nil),
		table.Whole("samples", func(p *Parameter) *int { return &p.SampleCount }, "a number of samples", math.MaxInt32),
		newVerdictColumn(),
	},
	Check: func(p *Parameter) (string, error) {
		limit := map[string]float64{UnitMicros: maxMicrosInFile, UnitMicrosPerByte: maxMicrosPerByteInFile}[p.Unit]
		switch {
		case p.Kind() == NoKind && slices.Contains(KindNames(), p.Name):
			return "unit", fmt.Errorf("%q is not a unit of %s", p.Unit, p.Name)
		case p.From > p.To || (p.From < 0) != (p.To < 0):
			return "bytes_to", fmt.Errorf("a range of sizes from %s to %s bytes is impossible", formatOptionalSize(p.From), formatOptionalSize(p.To))
		case p.Value < 0:
			return "value", fmt.Errorf("%s cannot be %v %s: it is below zero", p.Name, p.Value, p.Unit)
		case limit > 0 && math.Abs(p.Value) > limit:
			return "value", fmt.Errorf("%v %s is impossible: the limit is %g", p.Value, p.Unit, limit)
		case p.Low > p.High:
			return "ci_high", fmt.Errorf("the interval ends at %v, below its begin at %v", p.High, p.Low)
		case p.Value < p.Low || p.Value > p.High:
			return "value", fmt.Errorf("%v is outside its interval from %v to %v", p.Value, p.Low, p.High)
		}
		return "", nil
	},
}

// newVerdictColumn is the column of the verdict, which files of other programs may lack.
func newVerdictColumn() table.Column[Parameter] {
	c := table.Name("verdict", func(p *Parameter) *string { return (*string)(&p.Verdict) }, table.OneOf("", GoodVerdict, WeakVerdict, BadVerdict, UnidentifiableVerdict))
	c.Optional = true
	return c
}

// rejectMisspelledMode rejects a name that is probably a misspelled mode. Other names are modes of
// other programs.
func rejectMisspelledMode(s string) error {
	if meant := table.Suggestion(s, sample.ModeNames()); meant != "" && meant != s {
		return fmt.Errorf("%q is not a mode: did you mean %s?", s, meant)
	}
	return nil
}

func formatOptionalSize(n int) string {
	if n < 0 {
		return "nothing"
	}
	return fmt.Sprint(n)
}

// WriteParameters writes facts and parameters as CSV.
func WriteParameters(w io.Writer, ps []Parameter, facts ...table.Fact) error {
	return parameterSchema.Write(w, facts, ps, "verdict")
}

// ReadParameters reads parameters in the format of WriteParameters, and the facts above the header.
// name stands for the input in errors. Without a verdict column verdicts are empty, but that of a
// row without a number is UnidentifiableVerdict. It fails if a row is duplicated, a value is
// negative or impossible, two ranges of a parameter overlap, or a range has no slope.
func ReadParameters(in io.Reader, name string) ([]Parameter, []table.Fact, error) {
	r, err := parameterSchema.Reader(in, name)
	if err != nil {
		return nil, nil, err
	}
	var ps []Parameter
	rows := parameterFileRows{r, make(map[Parameter]table.Place), make(map[Parameter][]Parameter)}
	for {
		switch err := r.Next(); {
		case err == io.EOF:
			return ps, r.Facts, rows.checkRangesHaveSlopes(ps)
		case err != nil:
			return nil, nil, err
		}
		p := r.Row
		if err := rows.addRow(p); err != nil {
			return nil, nil, err
		}
		if math.IsNaN(p.Value) {
			p.Verdict = UnidentifiableVerdict
		}
		ps = append(ps, p)
	}
}

// parameterFileRows has the rows read so far.
type parameterFileRows struct {
	*table.Reader[Parameter]
	filePositionOfRow map[Parameter]table.Place // by identity
	rangesOfParameter map[Parameter][]Parameter // by identity without the range, in order: the ranges of what depends on size
}

// identityKey returns what identifies a row: everything but its numbers.
func (p Parameter) identityKey() Parameter {
	p.Value, p.Low, p.High, p.SampleCount, p.Verdict = 0, 0, 0, 0, ""
	return p
}

// addRow adds a row. It fails if the row exists already or its range overlaps another.
func (r *parameterFileRows) addRow(p Parameter) error {
	at := r.Place("parameter")
	key := p.identityKey()
	if first, ok := r.filePositionOfRow[key]; ok {
		return r.ErrorAt(at, "parameter", "%s of %s by %s is there twice, first in line %d", p.Name, p.Mode, p.Method, first.Line)
	}
	r.filePositionOfRow[key] = at
	if kindTable[p.Kind()].slope == NoKind || math.IsNaN(p.Value) {
		return nil
	}
	key.From, key.To = 0, 0
	others := r.rangesOfParameter[key]
	i, _ := slices.BinarySearchFunc(others, p.From, func(q Parameter, from int) int { return q.From - from })
	for _, q := range others[max(0, i-1):min(i+1, len(others))] {
		if q.From <= p.To && p.From <= q.To {
			return r.Errorf("bytes_from", "%s of %s by %s: the range from %d to %d bytes overlaps that from %d to %d in line %d",
				p.Name, p.Mode, p.Method, p.From, p.To, q.From, q.To, r.filePositionOfRow[q.identityKey()].Line)
		}
	}
	r.rangesOfParameter[key] = slices.Insert(others, i, p)
	return nil
}

// checkRangesHaveSlopes fails if a range of several sizes has no slope, because times would seem
// independent of size.
func (r *parameterFileRows) checkRangesHaveSlopes(ps []Parameter) error {
	for _, p := range ps {
		slope := kindTable[p.Kind()].slope
		if slope == NoKind || math.IsNaN(p.Value) || p.From == p.To {
			continue
		}
		key := p.identityKey()
		key.Unit = slope.Unit()
		if _, ok := r.filePositionOfRow[key]; !ok {
			return r.ErrorAt(r.filePositionOfRow[p.identityKey()], "parameter", "%s of %s from %d to %d bytes has no row with its slope, in %s", p.Name, p.Mode, p.From, p.To, slope.Unit())
		}
	}
	return nil
}
