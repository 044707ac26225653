// Package params derives parameters from curves by the rules of Al-Tawil and Moritz and others,
// reads and writes them, and computes with them. docs/fit.md has the rules.
package params

import (
	"math"
	"strings"
)

// Parameter is one number of a model, with its interval.
type Parameter struct {
	Platform, Library, Place, Mode string

	Name      string  // L o_s o_r g G s_s s_r S H P
	From, To  int     // range of sizes in bytes; of one size From = To; -1 where size has no meaning
	Value     float64 // NaN where the samples do not determine it
	Low, High float64 // interval at Options.Level; NaN likewise
	Unit      string  // us, us/B, B, count
	Method    string  // how it was derived: docs/fit.md
	Samples   int     // that went into it

	Verdict   Verdict // this and what follows is not in files
	Off, Most float64 // how far the medians lie from the line that was fitted, as parts of them: the median of all, and the largest; 0 of one size
}

// Bound says whether all that is known of the parameter is that it does not exceed the value.
func (p Parameter) Bound() bool { return strings.HasSuffix(p.Method, upperBound) }

// Verdict says how far to trust a parameter.
type Verdict string

// The verdicts.
const (
	Good            Verdict = "good"
	Weak            Verdict = "weak"             // a wide interval, few sizes or repetitions, or a warning on the way
	Bad             Verdict = "bad"              // the line is no picture of the times: half of them are more than 10 % off
	NotIdentifiable Verdict = "not identifiable" // no number, or only a bound
)

// Units of parameters.
const (
	Micros  = "us"
	PerByte = "us/B"
	Bytes   = "B"     // of the S of LogGPS
	Count   = "count" // of H and P
)

// Methods. Those that differ by mode are put together from the names of the timers.
const (
	ByReceive      = "timer21-timer12"                         // L: an upper bound
	ByRoundTrip    = "rtt/2-o_s-o_r"                           // L
	ByHalfTrip     = "rtt/2"                                   // L with both overheads in it; also G of one-way time
	ByHalfTripGap  = "rtt/2-g"                                 // L of PLogP
	ByPairs        = "pairs"                                   // H and P
	ByBlocking     = "timer21(blocking)-timer21(non-blocking)" // G
	ByTrain        = "train"                                   // g
	ByOverhead     = "o_s"                                     // g, where overheads hide it
	ByBound        = "train" + upperBound                      // g, where a receiver that is slower than the sender hides it
	upperBound     = ": upper bound"                           // follows the timer of a bound
	Unidentifiable = ": not identifiable"                      // follows the method of a row without a number
	badFit         = 0.1                                       // median deviation from a line that is bad, as a part of the times
	WeakWidth      = 0.2                                       // half width of a weak interval over the value
	smallMessage   = 16                                        // bytes of the longest message for which L is measured without a warning
)

// Conventions are other readings of a parameter, which Value never takes.
var Conventions = map[string]bool{ByHalfTrip: true, ByHalfTripGap: true}

// Select returns the parameters of one platform, library and place, in order. An empty string selects all.
func Select(ps []Parameter, platform, library, place string) []Parameter {
	var out []Parameter
	for _, p := range ps {
		if (platform == "" || p.Platform == platform) && (library == "" || p.Library == library) && (place == "" || p.Place == place) {
			out = append(out, p)
		}
	}
	return out
}

// Value returns a parameter of a mode for messages of k bytes: o_s, o_r and g, L in microseconds, G in microseconds a byte.
// Of several readings it takes the first, in the order of Fit: for L neither rtt/2 nor rtt/2-g. A bound is no value. Overheads
// are those of the range that begins at or below k, continued along its slope; sizes below all ranges belong to the first.
func Value(ps []Parameter, mode, name string, k int) (float64, bool) {
	best := -1
	for i, p := range ps {
		if p.Mode != mode || p.Name != name || math.IsNaN(p.Value) || p.Bound() || name == "L" && Conventions[p.Method] {
			continue
		}
		switch perByte := p.Unit == PerByte; {
		case perByte != Rate(name):
		case best < 0:
			best = i
		case ranged(name) && p.Method == ps[best].Method && p.From <= k && p.From > ps[best].From:
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	v := ps[best].Value
	if ranged(name) {
		v += slope(ps, ps[best]) * float64(k-ps[best].From)
	}
	return v, true
}

// Rate says whether a parameter is a time a byte.
func Rate(name string) bool { return name == "G" || name == "S" }

// ranged says whether a parameter depends on size by ranges.
func ranged(name string) bool {
	return name == "o_s" || name == "o_r" || name == "s_s" || name == "s_r"
}

// slope returns the slope that belongs to the value p, or zero.
func slope(ps []Parameter, p Parameter) float64 {
	for _, q := range ps {
		same := q.Platform == p.Platform && q.Library == p.Library && q.Place == p.Place && q.Mode == p.Mode && q.Name == p.Name &&
			q.From == p.From && q.To == p.To && q.Method == p.Method
		if same && q.Unit == PerByte && !math.IsNaN(q.Value) {
			return q.Value
		}
	}
	return 0
}

// Base returns a method without the remark that it gave no number.
func Base(method string) string { return strings.TrimSuffix(method, Unidentifiable) }
