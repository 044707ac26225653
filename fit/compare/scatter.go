package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// LaunchScatter is a quantity by launch, from the medians of each, in microseconds or MB/s.
type LaunchScatter struct {
	SubjectIndex     int
	Quantity, Mode   string
	Method           string // the timers
	Bytes            int
	Unit             string
	Launches         []int     // in order
	Values           []float64 // of these
	MedianOfLaunches float64   // the median of those
	Variation        float64   // standard deviation over mean of those; NaN of one launch
}

// timerTerm is a part of a quantity: a factor of the median of a timer.
type timerTerm struct {
	timer  string
	factor float64
}

// launchScatters returns the quantities of most interest by launch, at sizes that all subjects
// have.
func (p *fittedSubject) launchScatters(subject int, all []*fittedSubject) []LaunchScatter {
	var out []LaunchScatter
	name := "send"
	if p.Curve(name, sample.TimerRTT) == nil && p.Curve(name, sample.Timer11) == nil {
		name = sample.LowLevelMode
	}
	small, large := commonSizeNear(all, name, sample.TimerRTT, smallSize), p.sizeNear(all, name, sample.TimerRTT, longestCommonSize(all, name, sample.TimerRTT))
	add := func(quantity, mode string, bytes int, terms ...timerTerm) {
		s := LaunchScatter{SubjectIndex: subject, Quantity: quantity, Mode: mode, Bytes: bytes, Unit: params.UnitMicros, Method: termsMethod(terms)}
		if p.addTerms(&s, terms) {
			out = append(out, s)
		}
	}
	m := p.ModeOf(name)
	add(OneWay, name, small, timerTerm{sample.TimerRTT, 0.5})
	if c := m.SendOverheadCurve(); c != nil {
		add("o_s", name, small, p.curveTerms(c)...)
	}
	if c := m.ReceiveOverheadCurve(); c != nil {
		add("o_r", name, small, timerTerm{c.Timer, 1})
	}
	if c := m.GapCurve(); c != nil {
		add("g", name, small, p.curveTerms(c)...)
	}
	if name == "send" {
		if c := p.ModeOf("isend").SendOverheadCurve(); c != nil {
			terms := p.curveTerms(c)
			add("o_s", "isend", small, terms...)
		}
	}
	add(OneWay, name, large, timerTerm{sample.TimerRTT, 0.5})
	if n := len(out); n > 0 && out[n-1].Bytes == large && large > 0 && out[n-1].Quantity == OneWay {
		out[n-1].convertToBandwidth()
	}
	return out
}

// convertToBandwidth turns the times of a long message into its bandwidth.
func (s *LaunchScatter) convertToBandwidth() {
	s.Quantity, s.Unit = AchievedBandwidth, MegabytesPerSecond
	for i, v := range s.Values {
		s.Values[i] = float64(s.Bytes) / v
	}
	s.setStatistics()
}

// curveTerms returns the timers of a curve: one, or those of the time that a message adds to a
// train.
func (p *fittedSubject) curveTerms(c *curve.Curve) []timerTerm {
	for _, x := range p.Curves {
		n, _, ok := sample.ParseTrainTimer(x.Timer)
		if ok && c.Timer == params.PerMessageMethod(x.Timer, n) {
			return []timerTerm{{x.Timer, 1 / float64(n-1)}, {sample.TimerRTT, -1 / float64(n-1)}}
		}
	}
	return []timerTerm{{c.Timer, 1}}
}

func termsMethod(terms []timerTerm) string {
	var words []string
	for _, t := range terms {
		words = append(words, t.timer)
	}
	return strings.Join(words, "-")
}

// addTerms adds the terms of each launch as the fit does. It reports whether there are any.
func (p *fittedSubject) addTerms(s *LaunchScatter, terms []timerTerm) bool {
	stacks, factors := make([]clean.LaunchMedians, len(terms)), make([]float64, len(terms))
	for i, t := range terms {
		stacks[i], factors[i] = p.launchMedians(s.Mode, t.timer, s.Bytes), t.factor
	}
	all := clean.SumLaunchMedians(stacks, factors)
	s.Launches, s.Values = all.Launches, all.Values
	s.setStatistics()
	return len(s.Values) > 0
}

// launchMedians returns the medians of a cell by launch.
func (p *fittedSubject) launchMedians(mode, timer string, bytes int) clean.LaunchMedians {
	of := p.launchSeries(mode, timer, bytes)
	f, err := p.samples.Runs()
	if err != nil || len(of) == 0 { // the fit would have failed
		return clean.LaunchMedians{}
	}
	slices.SortStableFunc(of, func(a, b *sample.Series) int { return cmp.Compare(a.Launch, b.Launch) })
	return clean.NewCell(of, clean.RootCombination(of, f), f, clean.Options{ReplicateCount: 1}.WithDefaults()).Launches
}

// setStatistics computes the median and the variation of the values.
func (s *LaunchScatter) setStatistics() {
	s.MedianOfLaunches, s.Variation = math.NaN(), math.NaN()
	values := slices.Clone(s.Values)
	n := len(values)
	if n == 0 {
		return
	}
	if mean, deviation := stat.MeanStdDev(values, nil); n > 1 && mean > 0 {
		s.Variation = deviation / mean
	}
	s.MedianOfLaunches = quantile.Median(values)
}

// ValueRange returns the least and the largest of the values.
func (s *LaunchScatter) ValueRange() (least, most float64) {
	return slices.Min(s.Values), slices.Max(s.Values)
}

// launchSeries returns the launches of a cell of the subject.
func (p *fittedSubject) launchSeries(mode, timer string, bytes int) []*sample.Series {
	var of []*sample.Series
	for i := range p.samples.Series {
		x := &p.samples.Series[i]
		if clean.SubjectOf(x) == p.Extraction.Subject && x.Mode == mode && x.Timer == timer && x.Bytes == bytes && clean.IsLibraryChoice(x.Mode, x.Protocol) && len(x.Times) > 0 {
			of = append(of, x)
		}
	}
	return of
}

// Deviations returns by how many percent the values are above their median.
func (s *LaunchScatter) Deviations() []float64 {
	var out []float64
	for _, v := range s.Values {
		out = append(out, 100*(v/s.MedianOfLaunches-1))
	}
	return out
}

// The sizes of scatters and tails, or the nearest that all subjects have.
const (
	smallSize  = 8
	middleSize = 1024
	largeSize  = 65536
)

// commonSizeNear returns the size nearest to a wish, by their ratio, at which a timer of a mode was
// measured by all subjects that have it; or -1.
func commonSizeNear(all []*fittedSubject, modeName, timer string, wish int) int {
	var common []int
	first := true
	for _, p := range all {
		c := p.Curve(modeName, timer)
		if c == nil {
			continue
		}
		var sizes []int
		for _, x := range slices.Concat(c.Cells, c.ExcludedCells) {
			if first || slices.Contains(common, x.Bytes) {
				sizes = append(sizes, x.Bytes)
			}
		}
		common, first = sizes, false
	}
	best, least := -1, math.Inf(1)
	for _, k := range common {
		if d := math.Abs(math.Log(float64(max(k, 1))) - math.Log(float64(wish))); d < least {
			best, least = k, d
		}
	}
	return best
}

// sizeNear returns the size nearest to a wish at which a subject is looked at: that of all
// subjects, if they have one that is not twice as long or half as long, or else its own.
func (p *fittedSubject) sizeNear(all []*fittedSubject, modeName, timer string, wish int) int {
	k := commonSizeNear(all, modeName, timer, wish)
	if k >= 0 && max(k, wish) < 2*max(min(k, wish), 1) {
		return k
	}
	if own := commonSizeNear([]*fittedSubject{p}, modeName, timer, wish); own >= 0 {
		return own
	}
	return k
}

// longestCommonSize returns the longest message that all subjects with a timer of a mode were
// measured at or beyond, or -1.
func longestCommonSize(all []*fittedSubject, modeName, timer string) int {
	k := -1
	for _, p := range all {
		if c := p.Curve(modeName, timer); c != nil {
			if own := c.Cells[len(c.Cells)-1].Bytes; k < 0 || own < k {
				k = own
			}
		}
	}
	return k
}
