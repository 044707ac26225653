// Package params derives the parameters of LogGP and related models from curves, by the rules of
// Al-Tawil and Moritz and others, reads and writes them, and computes with them. docs/fit.md has
// the rules.
//
// A curve is a timer's results over message sizes, as straight pieces; a cell is its value at one
// size. Extraction derives the parameters of one place, Mode those of one kind of send. A Parameter
// is a row with a Kind, the Method by which it was derived, and a range of sizes, along which a
// time increases by a slope. A bound is a row for which only an upper limit is known.
package params

import (
	"math"
	"strings"
)

// Parameter is one number of a model, with its interval.
type Parameter struct {
	Platform, Library, Place, Mode string

	Name        string  // determines the Kind, together with Unit
	From, To    int     // range of sizes in bytes; From = To for one size; -1 if the parameter has no size
	Value       float64 // NaN if the samples do not determine it
	Low, High   float64 // interval at clean.Options.ConfidenceLevel; NaN without a value, and with fewer than five samples per cell
	Unit        string
	Method      string // how it was derived: see docs/fit.md
	SampleCount int    // samples used

	Verdict Verdict // how reliable it is

	// Not in files:
	FewestSamples                           int     // of the cell with the fewest
	MedianFitDeviation, LargestFitDeviation float64 // relative distances of the medians from the fitted line: their median, and the largest; 0 for one size
}

// Kind returns the kind of the parameter.
func (p Parameter) Kind() Kind { return KindOf(p.Name, p.Unit) }

// IsBound reports whether the value is only an upper bound.
func (p Parameter) IsBound() bool { return strings.HasSuffix(p.Method, upperBoundMethodSuffix) }

// Verdict says how reliable a parameter is.
type Verdict string

// The verdicts.
const (
	GoodVerdict           Verdict = "good"
	WeakVerdict           Verdict = "weak"             // wide interval, few sizes or repetitions, or a warning about its data
	BadVerdict            Verdict = "bad"              // poor linear fit: half of the medians are more than 10 % from the line
	UnidentifiableVerdict Verdict = "not identifiable" // no number, or only a bound
)

// Methods. Those that differ by mode are composed of the names of timers.
const (
	MethodReceiveDifference          = "timer21-timer12" + upperBoundMethodSuffix // L
	MethodHalfRoundTripLessOverheads = "rtt/2-o_s-o_r"                            // L
	MethodHalfRoundTrip              = "rtt/2"                                    // T; L with both overheads in it; also G of one-way time
	MethodHalfRoundTripLessGap       = "rtt/2-g"                                  // L of PLogP
	MethodCountByPairTiers           = "pairs"                                    // H and P, counted from the tiers into which the times of all pairs of ranks fall
	MethodAccessLessFlush            = "-flush"                                   // o_s, behind put or get
	MethodReceiveLessWaitDifference  = "timer21(blocking)-timer21(non-blocking)"  // G
	MethodTrain                      = "train"                                    // g
	MethodGapAtMostSendOverhead      = "o_s" + upperBoundMethodSuffix             // g, where the send overhead hides it
	MethodGapAtMostTrain             = "train" + upperBoundMethodSuffix           // g, where a receiver that is slower than the sender hides it
	upperBoundMethodSuffix           = ": upper bound"                            // follows the method of a bound
	UnidentifiableMethodSuffix       = ": not identifiable"                       // follows the method of a row without a number
	badMedianFitDeviation            = 0.1                                        // median deviation from a line that is bad, as a part of the times
	WeakRelativeHalfWidth            = 0.2                                        // half width of a weak interval over the value
	maxSmallMessageBytes             = 16                                         // bytes of the longest message for which L is measured without a warning
)

// AlternativeLatencyMethods are alternative methods for L, whose rows FindParameter does not use.
var AlternativeLatencyMethods = map[string]bool{MethodHalfRoundTrip: true, MethodHalfRoundTripLessGap: true}

// MethodWithoutBoundSuffix returns a method without the suffix for a bound or a missing number.
func MethodWithoutBoundSuffix(method string) string {
	return strings.TrimSuffix(strings.TrimSuffix(method, UnidentifiableMethodSuffix), upperBoundMethodSuffix)
}

// ParametersOfPlace returns the parameters of one platform, library and place, in order. An empty
// string selects all.
func ParametersOfPlace(ps []Parameter, platform, library, place string) []Parameter {
	var out []Parameter
	for _, p := range ps {
		if (platform == "" || p.Platform == platform) && (library == "" || p.Library == library) && (place == "" || p.Place == place) {
			out = append(out, p)
		}
	}
	return out
}

// FindParameter returns the row of a kind in a mode that counts: the first in the order of Fit, of
// L neither rtt/2 nor rtt/2-g. A bound, and a row without a number, is returned only if there is no
// other. Of a kind that depends on size it is the row of the range that holds k bytes, or of the
// nearest one by the ratio of sizes.
func FindParameter(ps []Parameter, mode string, kind Kind, k int) (Parameter, bool) {
	best := -1
	number := func(p Parameter) bool { return !math.IsNaN(p.Value) && !p.IsBound() }
	for i, p := range ps {
		if p.Mode != mode || p.Kind() != kind || kind == Latency && AlternativeLatencyMethods[MethodWithoutBoundSuffix(p.Method)] {
			continue
		}
		switch {
		case best < 0, number(p) && !number(ps[best]):
			best = i
		case kindTable[kind].slope != NoKind && number(p) && p.Method == ps[best].Method && p.sizeDistance(k) < ps[best].sizeDistance(k):
			best = i
		}
	}
	if best < 0 {
		return Parameter{}, false
	}
	return ps[best], true
}

// sizeDistance returns how far k bytes are from the range, as a logarithm of a ratio of sizes.
func (p Parameter) sizeDistance(k int) float64 {
	log := func(n int) float64 { return math.Log(float64(max(n, 0) + 1)) }
	return max(log(p.From)-log(k), log(k)-log(p.To), 0)
}

// ValueAt returns a parameter of a mode for messages of k bytes: o_s, o_r, g, L and T in
// microseconds, G in microseconds a byte. It is EstimateAt without its errors.
func ValueAt(ps []Parameter, mode, name string, k int) (float64, bool) {
	e, err := EstimateAt(ps, mode, kindOfSymbol(name), k)
	return e.Value, err == nil
}
