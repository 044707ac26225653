package params

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Estimate is what parameters say of messages of one size.
type Estimate struct {
	Value   float64 // microseconds, or microseconds a byte
	Between bool    // the size lies between two ranges, where behaviour was not measured; the nearer one counts
	Outside bool    // the size lies outside of all ranges, by less than a factor of two
}

// MissingError says that a parameter is not known, and what to do about it.
type MissingError struct {
	Name, Mode string
	Bound      float64 // that it does not exceed, in its unit; 0 where there is none
	Remedy     string  // "" or what to measure
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("no %s of mode %s among the parameters", e.Name, e.Mode)
	if e.Bound > 0 {
		text = fmt.Sprintf("%s of mode %s is only known to be at most %.6g", e.Name, e.Mode, e.Bound)
	}
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

// RangeError says that a size is too far from those that were measured.
type RangeError struct {
	Name, Mode     string
	Size, From, To int // bytes
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s of mode %s was measured from %d to %d bytes, and says nothing about messages of %d bytes: measure longer messages",
		e.Name, e.Mode, e.From, e.To, e.Size)
}

// beyond is the factor by which a size may exceed those that were measured.
const beyond = 2

// At returns a parameter of a mode for messages of k bytes. A kind that depends on size is taken
// from the range that holds k, along its slope; between two ranges the nearer one counts. Sizes
// below all ranges cost what the smallest does that was measured. It is a *MissingError if nothing
// is known, or only a bound, and a *RangeError for messages more than twice as long as any that
// were measured.
func At(ps []Parameter, mode string, kind Kind, k int) (Estimate, error) {
	p, ok := Find(ps, mode, kind, k)
	if !ok || math.IsNaN(p.Value) {
		return Estimate{}, &MissingError{Name: kind.Name(), Mode: mode, Remedy: hint(ps, mode)}
	}
	if p.Bound() {
		return Estimate{}, &MissingError{Name: kind.Name(), Mode: mode, Bound: p.Value}
	}
	e := Estimate{Value: p.Value}
	if kinds[kind].slope == NoKind {
		return e, nil
	}
	from, to := p.From, p.To
	for _, q := range ps {
		if q.Mode == mode && q.Kind() == kind && q.Method == p.Method {
			from, to = min(from, q.From), max(to, q.To)
		}
	}
	if k > beyond*max(to, 1) {
		return Estimate{}, &RangeError{Name: kind.Name(), Mode: mode, Size: k, From: from, To: to}
	}
	e.Outside = k < from || k > to
	e.Between = !e.Outside && (k < p.From || k > p.To)
	i := slices.IndexFunc(ps, func(q Parameter) bool {
		return q.Mode == mode && q.Kind() == kinds[kind].slope && q.From == p.From && q.To == p.To && q.Method == p.Method && !math.IsNaN(q.Value)
	})
	if i >= 0 {
		e.Value += ps[i].Value * float64(max(k, from)-p.From)
	}
	if limit := float64(math.MaxInt64) / float64(unit.Microsecond); !(math.Abs(e.Value) < limit) {
		return Estimate{}, fmt.Errorf("%s of mode %s and %d bytes is %g us, which is no time: mend the parameters", kind.Name(), mode, k, e.Value)
	}
	return e, nil
}

// Covers returns a *RangeError for messages more than twice as long as any that parameters of a
// mode are from.
func Covers(ps []Parameter, mode string, k int) error {
	from, to := math.MaxInt, -1
	for _, p := range ps {
		if p.Mode == mode && p.From >= 0 {
			from, to = min(from, p.From), max(to, p.To)
		}
	}
	if to >= 0 && k > beyond*max(to, 1) {
		return &RangeError{Name: "everything", Mode: mode, Size: k, From: from, To: to}
	}
	return nil
}

// Times predicts a whole call of a mode with k bytes: how long the send takes, and the time of one
// way. That is T, by ranges of sizes; or without it equation (9) of LoGH{sSP}, within a node (8),
// with what Call takes.
func Times(ps []Parameter, mode string, k int) (send, way Estimate, err error) {
	if send, err = At(ps, mode, SendOverhead, k); err != nil {
		return send, way, err
	}
	var missing *MissingError
	if way, err = At(ps, mode, OneWay, k); !errors.As(err, &missing) {
		return send, way, err
	}
	x, err := Call(ps, mode)
	if err != nil {
		return send, way, err
	}
	way.Value = model.LoGH{Between: x, Inside: x}.OneWay(Inside(ps), k).Micros()
	return send, way, Covers(ps, mode, k)
}

// hint says what to do about a parameter that is missing.
func hint(ps []Parameter, mode string) string {
	switch {
	case mode != Message:
		return ""
	case slices.ContainsFunc(ps, func(p Parameter) bool { return p.Mode == mode }):
		return "low-level messages were measured, and loggp fit says why they show none"
	}
	return "measure low-level messages too (loggp measure --level message) and fit both files together"
}
