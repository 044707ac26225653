package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// fitSamples evaluates the samples of all subjects and keeps what the fit warns of.
func (x *reproduction) fitSamples() error {
	for _, s := range x.paper.Subjects {
		if series := x.results.Series[s.ID]; len(series) > 0 {
			warnings, err := x.fitParameters(x.measured, x.sites[s.ID], series)
			if err != nil {
				return err
			}
			for _, w := range warnings {
				key := expr.QuantityKey(w.Parameter, s.ID, w.Mode)
				w.Text = fmt.Sprintf("%s of %s on %s: %s", w.Parameter, w.Mode, s.Name, w.Text)
				x.warningsByCell[key] = append(x.warningsByCell[key], w)
			}
			if _, err := x.fitParameters(x.predicted, x.sites[s.ID], x.predictedSeries[s.ID]); err != nil {
				return err
			}
		}
		if series := x.results.PairSeries[s.ID]; len(series) > 0 {
			if err := x.fitPairs(x.sites[s.ID], series); err != nil {
				return err
			}
		}
	}
	return nil
}

// fittedQuantities are those that come from a fit of the samples of a benchmark, with the number of
// their arguments. Timers, o_s, o_r and transfer, which is the time that a blocking receive takes
// longer than a non-blocking one, have a subject, a mode and a size; timers of a forced protocol
// have any number of arguments. Parameters have a subject and a mode. The spread is half the width
// of the range of timer11 that holds 95 % of the repetitions. H is the number of hypernodes, and P
// that of the processors in each.
var fittedQuantities = map[string]map[string]int{"timers": {
	sample.Timer11: 3, sample.Timer12: 3, sample.Timer21: 3, sample.Timer22: 3, sample.TimerTrain: 3, sample.TimerSender: -1, sample.TimerOneWay: -1,
	"o_s": 3, "o_r": 3, "transfer": 3, "spread": 3, "L": 2, "G": 2,
}, "pairs": {"H": 1, "P": 1}}

// upperBoundCode is the code of a value that is only an upper bound.
const upperBoundCode = "upper-bound"

// fitParameters adds what the samples of a subject show. The fit reads L at the smallest size that
// was measured, and the paper at a size of its own: for L sizes below small are left out.
func (x *reproduction) fitParameters(c quantityValues, s *papers.Site, series []sample.Series) ([]clean.Warning, error) {
	o := clean.Options{}
	if x.selection != nil && x.Noise == 0 {
		o.ReplicateCount = 2 // all are alike
	}
	found, err := fit.Fit(&sample.Set{Facts: s.Facts(), Series: series}, o)
	if err != nil {
		return nil, err
	}
	receives := slices.DeleteFunc(slices.Clone(series), func(y sample.Series) bool {
		return y.Bytes < x.paper.Small || y.Timer != sample.Timer12 && y.Timer != sample.Timer21
	})
	latency, err := fit.Fit(&sample.Set{Facts: s.Facts(), Series: receives}, o)
	if err != nil {
		return nil, err
	}
	read := func(name, mode string) bool { return name == "L" && mode != microbench.LowLevelMode }
	numbers := append(slices.DeleteFunc(found.Parameters, func(p params.Parameter) bool { return read(p.Name, p.Mode) }),
		slices.DeleteFunc(latency.Parameters, func(p params.Parameter) bool { return !read(p.Name, p.Mode) })...)
	warnings := append(slices.DeleteFunc(found.Warnings, func(w clean.Warning) bool { return read(w.Parameter, w.Mode) }),
		slices.DeleteFunc(latency.Warnings, func(w clean.Warning) bool { return !read(w.Parameter, w.Mode) })...)
	for _, y := range found.Curves {
		name := y.Timer
		if name == params.MethodReceiveLessWaitDifference {
			name = "transfer"
		}
		for _, p := range y.Points {
			v, key := expr.Value{Center: p.Value, Low: p.Low, High: p.High}, papers.TimerKey(name, s.ID, y.Mode, y.Protocol, p.Bytes)
			c[key] = v
			if y.Protocol != papers.AutoProtocol {
				continue
			}
			for _, o := range []string{"o_s", "o_r"} { // by the timer that the fit takes for them
				if slices.ContainsFunc(numbers, func(q params.Parameter) bool { return q.Name == o && q.Mode == y.Mode && q.Method == y.Timer }) {
					c[papers.TimerKey(o, s.ID, y.Mode, papers.AutoProtocol, p.Bytes)] = v
					x.timersByCell[papers.TimerKey(o, s.ID, y.Mode, papers.AutoProtocol, p.Bytes)] = []string{key}
				}
			}
		}
	}
	for _, p := range numbers {
		key := expr.QuantityKey(p.Name, s.ID, p.Mode)
		if _, ok := c[key]; ok || math.IsNaN(p.Value) || p.Name == "o_s" || p.Name == "o_r" || p.Method == params.MethodHalfRoundTrip || p.Method == params.MethodHalfRoundTripLessGap {
			continue
		}
		v := expr.Value{Center: p.Value, Low: p.Low, High: p.High}
		if p.IsBound() {
			v.Low = 0
			warnings = append(warnings, clean.Warning{Mode: p.Mode, Parameter: p.Name, Code: upperBoundCode, Text: "only an upper bound is known"})
		}
		if p.Method == params.MethodReceiveDifference { // the paper takes its mean over both roots
			x.timersByCell[key] = []string{papers.TimerKey(sample.Timer21, s.ID, p.Mode, papers.AutoProtocol, p.From), papers.TimerKey(sample.Timer12, s.ID, p.Mode, papers.AutoProtocol, p.From)}
			v.Center = c[x.timersByCell[key][0]].Center - c[x.timersByCell[key][1]].Center
		}
		c[key] = v
	}
	for _, y := range series {
		if y.Timer == sample.Timer11 && y.Protocol == papers.AutoProtocol {
			c[papers.TimerKey("spread", s.ID, y.Mode, papers.AutoProtocol, y.Bytes)] = expr.ExactValue(halfRangeOf95(y.Times))
		}
	}
	return warnings, nil
}

// halfRangeOf95 is half the width of the range that holds 95 % of the times, in microseconds.
func halfRangeOf95(times []unit.Time) float64 {
	sorted := slices.Sorted(slices.Values(times))
	n := len(sorted) - 1
	return (sorted[n-n/40] - sorted[n/40]).Micros() / 2
}

// fitPairs fits the samples of all pairs of ranks of a subject, without knowledge of the machine.
func (x *reproduction) fitPairs(s *papers.Site, series []sample.Series) error {
	found, err := fit.Fit(&sample.Set{Facts: s.Facts(), Series: series}, clean.Options{})
	if err != nil {
		return err
	}
	for _, p := range found.Parameters {
		if p.Name != "H" && p.Name != "P" {
			continue
		}
		for _, other := range x.paper.Subjects { // H is of processors in different hypernodes, P of those in one
			if other.Platform == s.Platform && other.Library == s.Library && other.Place == p.Place {
				x.measured[expr.QuantityKey(p.Name, other.ID)] = expr.Value{Center: p.Value, Low: p.Low, High: p.High}
			}
		}
	}
	return nil
}
