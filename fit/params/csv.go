package params

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/loggp/loggp/model/table"
)

// Limits of what a parameter may be. A reader refuses more, since times computed from it would not
// be times.
const (
	maxMicros  = 1e9 // 17 minutes
	maxPerByte = 1e3 // 1 ms a byte
	maxNumber  = 1e10
)

var schema = table.Schema[Parameter]{
	Name: "parameters",
	Columns: []table.Column[Parameter]{
		table.Name("platform", func(p *Parameter) *string { return &p.Platform }, nil),
		table.Name("library", func(p *Parameter) *string { return &p.Library }, nil),
		table.Name("place", func(p *Parameter) *string { return &p.Place }, nil),
		table.Name("mode", func(p *Parameter) *string { return &p.Mode }, nil),
		table.Name("parameter", func(p *Parameter) *string { return &p.Name }, table.OneOf(Names()...)),
		table.WholeOrNone("bytes_from", func(p *Parameter) *int { return &p.From }, "a number of bytes"),
		table.WholeOrNone("bytes_to", func(p *Parameter) *int { return &p.To }, "a number of bytes"),
		table.Number("value", func(p *Parameter) *float64 { return &p.Value }, maxNumber),
		table.Number("ci_low", func(p *Parameter) *float64 { return &p.Low }, maxNumber),
		table.Number("ci_high", func(p *Parameter) *float64 { return &p.High }, maxNumber),
		table.Name("unit", func(p *Parameter) *string { return &p.Unit }, nil),
		table.Name("method", func(p *Parameter) *string { return &p.Method }, nil),
		table.Whole("samples", func(p *Parameter) *int { return &p.Samples }, "a number of samples", math.MaxInt32),
	},
	Check: func(p *Parameter) (string, error) {
		limit := map[string]float64{Micros: maxMicros, PerByte: maxPerByte}[p.Unit]
		switch {
		case p.Kind() == NoKind && slices.Contains(Names(), p.Name):
			return "unit", fmt.Errorf("%q is not a unit of %s", p.Unit, p.Name)
		case p.From > p.To || (p.From < 0) != (p.To < 0):
			return "bytes_to", fmt.Errorf("the range from %s to %s bytes is none", orNothing(p.From), orNothing(p.To))
		case p.Value < 0:
			return "value", fmt.Errorf("%s cannot be %v %s: it is below zero", p.Name, p.Value, p.Unit)
		case limit > 0 && math.Abs(p.Value) > limit:
			return "value", fmt.Errorf("%v %s is impossible: the limit is %g", p.Value, p.Unit, limit)
		case p.Low > p.High:
			return "ci_high", fmt.Errorf("the interval from %v to %v is none", p.Low, p.High)
		}
		return "", nil
	},
}

func orNothing(n int) string {
	if n < 0 {
		return "nothing"
	}
	return fmt.Sprint(n)
}

// WriteParameters writes facts and parameters as CSV.
func WriteParameters(w io.Writer, ps []Parameter, facts ...table.Fact) error {
	return schema.Write(w, facts, ps)
}

// ReadParameters reads parameters as WriteParameters writes them. name stands for the input in
// errors. The verdict is not in the file: it is NotIdentifiable if there is no number, otherwise
// empty. It is an error if a row is there twice, or a value is negative or impossible.
func ReadParameters(in io.Reader, name string) ([]Parameter, error) {
	ps, _, err := Read(in, name)
	return ps, err
}

// Read is ReadParameters, and also returns the facts above the header.
func Read(in io.Reader, name string) ([]Parameter, []table.Fact, error) {
	r, err := schema.Reader(in, name)
	if err != nil {
		return nil, nil, err
	}
	var ps []Parameter
	lines := make(map[Parameter]int) // by what a parameter is, without its number
	for {
		switch err := r.Next(); {
		case err == io.EOF:
			return ps, r.Facts, nil
		case err != nil:
			return nil, nil, err
		}
		p := r.Row
		key := p
		key.Value, key.Low, key.High, key.Samples = 0, 0, 0, 0
		at := r.Place("parameter")
		if first, ok := lines[key]; ok {
			return nil, nil, r.ErrorAt(at, "parameter", "%s of %s by %s is there twice, first in line %d", p.Name, p.Mode, p.Method, first)
		}
		lines[key] = at.Line
		if math.IsNaN(p.Value) {
			p.Verdict = NotIdentifiable
		}
		ps = append(ps, p)
	}
}
