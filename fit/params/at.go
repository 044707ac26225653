package params

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Estimate is the value of parameters for messages of one size.
type Estimate struct {
	Value           float64 // in microseconds, or microseconds per byte
	IsBetweenRanges bool    // the size lies between two ranges, where behaviour was not measured; the nearer range is used
	IsOutsideRanges bool    // the size lies outside of all ranges, by less than a factor of two
	IsWeak          bool    // poor linear fit, or the half width of the interval is more than a fifth of the value
}

// MissingParameterError says that a parameter is not known, and what to do about it.
type MissingParameterError struct {
	Name, Mode string
	UpperBound float64 // largest possible value, in its unit; 0: unknown
	Remedy     string  // what to measure, or ""
}

func (e *MissingParameterError) Error() string {
	text := fmt.Sprintf("no %s of mode %s among the parameters", e.Name, e.Mode)
	if e.UpperBound > 0 {
		text = fmt.Sprintf("%s of mode %s is only known to be at most %.6g", e.Name, e.Mode, e.UpperBound)
	}
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

// SizeRangeError says that a size is too far outside of the measured range.
type SizeRangeError struct {
	Name, Mode                               string
	RequestedBytes, MeasuredFrom, MeasuredTo int // bytes
}

func (e *SizeRangeError) Error() string {
	other := "longer"
	if e.RequestedBytes < e.MeasuredFrom {
		other = "shorter"
	}
	return fmt.Sprintf("%s of mode %s was measured from %d to %d bytes, which is too far from %d bytes: measure %s messages",
		e.Name, e.Mode, e.MeasuredFrom, e.MeasuredTo, e.RequestedBytes, other)
}

// maxRatioOutsideRange is the factor by which a size may be outside of the measured range. All
// sizes up to maxSmallMessageBytes count as equal.
const maxRatioOutsideRange = 2

// isFarOutsideRange reports whether a size is too far from a range of sizes.
func isFarOutsideRange(k, from, to int) bool {
	return k > maxRatioOutsideRange*max(to, maxSmallMessageBytes) || from > maxRatioOutsideRange*max(k, maxSmallMessageBytes)
}

// EstimateAt returns a parameter of a mode for messages of k bytes. A parameter that depends on
// size comes from the range that contains k; between two ranges the nearer one is used. Sizes below
// all ranges have the value of the smallest measured one. The error is a *MissingParameterError if
// nothing, or only a bound, is known, and a *SizeRangeError if k is more than twice the largest or
// less than half of the smallest measured size. All sizes up to 16 bytes count as equal.
func EstimateAt(ps []Parameter, mode string, kind Kind, k int) (Estimate, error) {
	p, ok := FindParameter(ps, mode, kind, k)
	if !ok || math.IsNaN(p.Value) {
		return Estimate{}, &MissingParameterError{Name: kind.Name(), Mode: mode, Remedy: remedyForMissing(ps, mode)}
	}
	if p.IsBound() {
		return Estimate{}, &MissingParameterError{Name: kind.Name(), Mode: mode, UpperBound: p.Value}
	}
	e := Estimate{Value: p.Value, IsWeak: p.Verdict == BadVerdict || (p.High-p.Low)/2 > WeakRelativeHalfWidth*p.Value}
	if kindTable[kind].slope == NoKind {
		return e, nil
	}
	from, to := p.From, p.To
	for _, q := range ps {
		if q.Mode == mode && q.Kind() == kind && q.Method == p.Method {
			from, to = min(from, q.From), max(to, q.To)
		}
	}
	if isFarOutsideRange(k, from, to) {
		return Estimate{}, &SizeRangeError{Name: kind.Name(), Mode: mode, RequestedBytes: k, MeasuredFrom: from, MeasuredTo: to}
	}
	e.IsOutsideRanges = k < from || k > to
	e.IsBetweenRanges = !e.IsOutsideRanges && (k < p.From || k > p.To)
	i := slices.IndexFunc(ps, func(q Parameter) bool {
		return q.Mode == mode && q.Kind() == kindTable[kind].slope && q.From == p.From && q.To == p.To && q.Method == p.Method && !math.IsNaN(q.Value)
	})
	if i >= 0 {
		e.Value += ps[i].Value * float64(max(k, from)-p.From)
	}
	if limit := float64(math.MaxInt64) / float64(unit.Microsecond); !(math.Abs(e.Value) < limit) {
		return Estimate{}, fmt.Errorf("%s of mode %s and %d bytes is %g us, which is out of range: correct the file of parameters", kind.Name(), mode, k, e.Value)
	}
	return e, nil
}

// IsExtrapolatedSize reports whether a size is outside of the range from which parameters of a mode
// were fitted. It returns a *SizeRangeError if it is too far outside, as EstimateAt does.
func IsExtrapolatedSize(ps []Parameter, mode string, k int) (outside bool, err error) {
	from, to := math.MaxInt, -1
	for _, p := range ps {
		if p.Mode == mode && p.From >= 0 {
			from, to = min(from, p.From), max(to, p.To)
		}
	}
	switch {
	case to < 0:
		return false, nil
	case isFarOutsideRange(k, from, to):
		return false, &SizeRangeError{Name: "everything", Mode: mode, RequestedBytes: k, MeasuredFrom: from, MeasuredTo: to}
	}
	return k < from || k > to, nil
}

// EstimateOneWayTime predicts the one-way time of a call of a mode with k bytes: T, by ranges of
// sizes; or, without T, equation (9) of LoGH{sSP}, or (8) within a node, with
// BlockingCallParameters, if L of the mode itself is known. A bound of L is not used: o_r of a
// ready send includes posting the receive, and o_s includes work after the transfer, so the sum
// would be far off in either direction.
func EstimateOneWayTime(ps []Parameter, mode string, k int) (Estimate, error) {
	e, err := EstimateAt(ps, mode, OneWayTime, k)
	if missing := (*MissingParameterError)(nil); !errors.As(err, &missing) {
		return e, err
	}
	x, err := BlockingCallParameters(ps, mode)
	if err != nil {
		return e, err
	}
	if _, err := EstimateAt(ps, mode, Latency, 0); err != nil {
		remedy := "measure its round trip (rtt)"
		if m := sample.ModeIndex(mode); m < len(sample.Modes) && sample.Modes[m].Ready {
			remedy = "half a round trip shows it, and ready sends have none, since each needs a receive that is posted before"
		}
		return e, &MissingParameterError{Name: "T", Mode: mode, Remedy: remedy}
	}
	e.Value = model.LoGH{BetweenHypernodes: x, InsideHypernode: x}.OneWayTime(AreIntraNode(ps), k).Micros()
	e.IsOutsideRanges, err = IsExtrapolatedSize(ps, mode, k)
	e.IsBetweenRanges = !e.IsOutsideRanges && isBelowGapPerByteRange(ps, mode, k)
	return e, err
}

// isBelowGapPerByteRange reports whether messages of k bytes are shorter than those from which G
// was fitted.
func isBelowGapPerByteRange(ps []Parameter, mode string, k int) bool {
	g, ok := FindParameter(ps, mode, GapPerByte, 0)
	return ok && k > maxSmallMessageBytes && k < g.From
}

// CheckProtocolEquationRange says how a size lies to those that the parameters of equations (1) to
// (7) are from: o_s, o_r and G of low-level messages. It returns a *SizeRangeError as EstimateAt
// does.
func CheckProtocolEquationRange(ps []Parameter, k int) (Estimate, error) {
	outside, err := IsExtrapolatedSize(ps, sample.LowLevelMode, k)
	all := Estimate{IsOutsideRanges: outside}
	for _, kind := range []Kind{SendOverhead, RecvOverhead} {
		e, unknown := EstimateAt(ps, sample.LowLevelMode, kind, k)
		all.IsOutsideRanges, all.IsBetweenRanges, all.IsWeak = all.IsOutsideRanges || e.IsOutsideRanges, all.IsBetweenRanges || e.IsBetweenRanges, all.IsWeak || e.IsWeak
		err = cmp.Or(err, unknown)
	}
	all.IsBetweenRanges = !all.IsOutsideRanges && (all.IsBetweenRanges || isBelowGapPerByteRange(ps, sample.LowLevelMode, k))
	return all, err
}

// remedyForMissing says what to do about a missing parameter.
func remedyForMissing(ps []Parameter, mode string) string {
	switch {
	case mode != sample.LowLevelMode:
		return ""
	case slices.ContainsFunc(ps, func(p Parameter) bool { return p.Mode == mode }):
		return "low-level messages were measured, and loggp fit says why they show none"
	}
	return "measure low-level messages too (loggp measure --level message) and fit both files together"
}
