package reports

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
)

// oneWayChart is the chart of one-way times over sizes, with what was fitted to them, what was
// predicted, and what the fit leaves.
func oneWayChart(all []reportSubject, cs []compare.Comparison) *chart.Chart {
	p, declared := oneWayPanels(all)
	if len(p.Upper.Series) == 0 {
		return nil
	}
	text := "Points are medians of half a round trip with their 95 % intervals, lines the linear pieces fitted to them, which bend on logarithmic axes. Bars in the middle show from which to which measured size each piece goes: in a gap between two something changes, such as the protocol."
	if declared {
		text += " A stroke across a bar is a limit that the library itself names."
	}
	title, failing := "One-way time: measured and fitted", failingText(all, cs)
	if lines := predictedOneWay(all, cs); len(lines) > 0 {
		p.Upper.Series = append(p.Upper.Series, lines...)
		title = "One-way time: measured, fitted and predicted"
		text += " Dashed lines, which a page of several subjects shows when their names are clicked, are predictions from o_s, o_r, L and G; L may be from the round trips of the shortest messages. They are drawn where they are within 25 % of the times."
	}
	if title += failing; failing != "" {
		text += " LogGP adds o_s + L + (k−1) G + o_r, which is too much where a send call works on behind its first packet, so that this part of o_s is spent while the message is under way."
	}
	return p.Chart("ways", title, text+" Below, how far each median is from its line.")
}

// maxSingleSubjects is of how many subjects a page shows each by itself, beside charts of all
// together.
const maxSingleSubjects = 4

// predictedOneWay returns what was predicted of the one-way times, or nothing if subjects are many.
// A line joins neighbouring sizes at which the prediction fits.
func predictedOneWay(all []reportSubject, cs []compare.Comparison) (out []chart.Series) {
	if len(all) > maxSingleSubjects {
		return nil
	}
	for i := range all {
		t := &all[i]
		for _, by := range []string{StepsQuantitySuffix, LogGPQuantitySuffix} {
			s := chart.Series{Name: t.name + ", predicted" + by, IsOptional: len(all) > 1, Style: chart.Style{Color: t.pointStyle(true).Color, IsDashed: true}}
			if len(all) == 1 {
				s.Name, s.Style.Color = "predicted"+by, chart.Orange
			}
			var line []chart.Point
			endLine := func() {
				if len(line) > 1 {
					s.Points, s.Lines = append(s.Points, line...), append(s.Lines, line)
				}
				line = nil
			}
			for _, y := range cs {
				if y.Platform != t.platform || y.Library != t.library || y.Place != t.fittedPlace.place || y.Quantity != "one-way("+t.mainMode()+")"+by || y.Protocol != "" && y.Protocol != "auto" {
					continue
				}
				if !fitsPrediction(y) {
					endLine()
					continue
				}
				line = append(line, chart.Point{X: float64(y.Bytes), Y: y.Predicted})
			}
			if endLine(); len(s.Lines) > 0 {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// maxPredictionError is how far a predicted line may be from the times for it to be drawn.
const maxPredictionError = 25 // percent

// fitsPrediction reports whether the assumptions of a prediction hold for a time.
func fitsPrediction(x compare.Comparison) bool {
	return math.IsNaN(x.Error) || math.Abs(x.Error) <= maxPredictionError
}

// failingText says for which sizes the predictions of one subject do not hold, by how much, and
// which assumption fails; "" if they hold, or there are several subjects.
func failingText(all []reportSubject, cs []compare.Comparison) string {
	if len(all) != 1 {
		return ""
	}
	t := &all[0]
	from, to, most, least := math.MaxInt, -1, 0.0, 0.0
	for _, x := range cs {
		if x.Quantity != "one-way("+t.mainMode()+")"+LogGPQuantitySuffix || x.Place != t.place || x.Protocol != "" && x.Protocol != "auto" || fitsPrediction(x) {
			continue
		}
		from, to = min(from, x.Bytes), max(to, x.Bytes)
		most, least = max(most, x.Predicted/x.Measured), min(least, x.Error)
	}
	if to < 0 {
		return ""
	}
	sizes := format.SizeRange(from, to)
	if most > 1 {
		return fmt.Sprintf(" (LogGP is too high at %s, by up to a factor of %s: overhead overlaps the transfer)", sizes, format.WithDecimals(most, 1))
	}
	return fmt.Sprintf(" (LogGP is too low at %s, by up to %s %%: times are not linear in the size, as where the protocol changes)", sizes, format.WithDecimals(-least, 0))
}

// oneWayPanels returns the parts of that chart, and whether a library names a limit.
func oneWayPanels(all []reportSubject) (p chart.StackedPlot, declared bool) {
	p = chart.StackedPlot{Upper: chart.SizePlot{YLabel: "one-way time (us)"}, Lower: chart.SizePlot{YLabel: "measured above fitted (%)", IsSigned: true}}
	for i := range all {
		t := &all[i]
		c := t.timerCurve(t.mainMode(), sample.TimerRTT)
		if c == nil {
			continue
		}
		half := c.HalfRoundTrip()
		p.Upper.Series = append(p.Upper.Series, chart.Series{Name: t.name, Style: t.pointStyle(false), Points: chartPoints(half.Points), Lines: pieceLines(half)})
		off := chart.Series{Name: t.name, ShapeIndex: t.colorIndex % len(chart.SolidGlyphs), Style: t.pointStyle(false)}
		for _, r := range half.Residuals() { // without intervals: what launches differ by moves the line as well
			off.Points = append(off.Points, chart.Point{X: float64(r.Bytes), Y: r.Value})
		}
		p.Lower.Series = append(p.Lower.Series, off)
		if len(half.Pieces) > 0 && i < 2*maxSingleSubjects {
			l := chart.SizeRangeLane{Color: subjectStyle(t.colorIndex).Color, DeclaredLimits: t.protocolLimits()}
			for _, q := range half.Pieces {
				l.SizeRanges = append(l.SizeRanges, [2]float64{float64(q.From), float64(q.To)})
			}
			p.Lanes, declared = append(p.Lanes, l), declared || len(l.DeclaredLimits) > 0
		}
	}
	return p, declared
}

// bandwidthChart is the chart of bandwidths: of one way, and of bursts.
func bandwidthChart(all []reportSubject) *chart.Chart {
	x := chart.SizePlot{YLabel: "bandwidth (MB/s)"}
	for i := range all {
		t := &all[i]
		if c := t.timerCurve(t.mainMode(), sample.TimerRTT); c != nil {
			half := c.HalfRoundTrip()
			at := chartPoints(half.BandwidthPoints())
			x.Series = append(x.Series, chart.JoinedSeries(t.name, t.pointStyle(false), at))
		}
		if c := t.burstCurve(); c != nil {
			at := chartPoints(c.BandwidthPoints())
			x.Series = append(x.Series, chart.Series{Name: t.name + ", burst of " + c.Mode, Style: t.pointStyle(true), Points: at, Lines: [][]chart.Point{at}})
		}
	}
	return x.Chart("bandwidth", "Bandwidth",
		"Bytes over half a round trip, and, dashed, over the time that a message takes in a burst: more, where several are on their way at once. Lines join what was measured.")
}

// overheadChart is the chart of o_s or o_r over sizes: of calls that block, and of those that do
// not.
func overheadChart(all []reportSubject, name string) *chart.Chart {
	x := chart.SizePlot{YLabel: name + " (us)"}
	for i := range all {
		t := &all[i]
		for _, mode := range []string{t.mainMode(), "isend"} {
			first := t.firstRow(mode, name)
			if first == nil {
				continue
			}
			c := t.timerCurve(mode, first.Method)
			if c == nil {
				continue
			}
			l, call := t.pointStyle(false), mode
			if mode == "isend" {
				l = t.pointStyle(true)
			}
			if name == "o_r" && mode != "message" {
				call = map[bool]string{true: "irecv", false: "recv"}[mode == "isend"]
			}
			at := chartPoints(c.Points)
			x.Series = append(x.Series, chart.Series{Name: t.name + ", " + call, Style: l, Points: at, Lines: [][]chart.Point{at}})
		}
	}
	if name == "o_s" {
		return x.Chart("send-overhead", "Send overhead", "How long the processor is in the call that sends: one that blocks, and, dashed, one that does not.")
	}
	return x.Chart("receive-overhead", "Receive overhead", "How long the processor is in the call that receives: of one that blocks when the message is there already, and, dashed, of one that only starts the receive.")
}

// overlapShareCharts are charts, one a subject, of what a send that does not block leaves of the
// time of a way.
func overlapShareCharts(table *compare.Table, all []reportSubject) []*chart.Chart {
	var out []*chart.Chart
	for i := range all {
		t := &all[i]
		way, call := chart.Series{Name: "half round trip", Style: t.pointStyle(false)}, chart.Series{Name: "isend", Style: t.pointStyle(true)}
		bound := true
		for _, x := range table.OverlapShares {
			if x.SubjectIndex != i {
				continue
			}
			bound = x.IsUpperBound
			a, b := chartPoints([]curve.Point{x.OneWayTime})[0], chartPoints([]curve.Point{x.NonBlockingOverhead})[0]
			way.Points, call.Points = append(way.Points, a), append(call.Points, b)
			way.ShadedUpTo = append(way.ShadedUpTo, chart.Point{X: a.X, Y: math.Min(a.Y, b.Y)})
		}
		if len(way.Points) == 0 {
			continue
		}
		way.Lines, call.Lines = [][]chart.Point{way.Points}, [][]chart.Point{call.Points}
		text := "The shaded time is free for the program at most: what the library does in the call that waits is not known here."
		if !bound {
			call.Name = "processor busy for an isend"
			text = "The shaded time is free for the program: what the processor does for a message, whenever it does it, is taken out."
		}
		out = append(out, chart.SizePlot{YLabel: "time (us)", Series: []chart.Series{way, call}}.Chart(format.FileName("free", t.name), "Free while a message is on its way, "+t.name, text))
	}
	return out
}

// launchChart is the chart of what launches say.
func (s transportComparison) launchChart() *chart.Chart {
	x := chart.StripPlot{XLabel: "above the median of all launches (%)", IsSigned: true}
	several := false
	for i := range s.subjects {
		g := chart.StripGroup{Name: s.subjects[i].name, Color: subjectStyle(i).Color}
		for j := range s.Scatters {
			q := &s.Scatters[j]
			if q.SubjectIndex != i {
				continue
			}
			r := chart.StripRow{Name: quantityName(q.Quantity, q.Mode, q.Bytes), Note: formatAmount(q.MedianOfLaunches, q.Unit)}
			r.Marks = q.Deviations()
			several = several || len(q.Values) > 1
			g.Rows = append(g.Rows, r)
		}
		if len(g.Rows) > 0 {
			x.Groups = append(x.Groups, g)
		}
	}
	if !several {
		return nil
	}
	return x.Chart("launches", "What launches differ by", "Each mark is the median of one launch; at the right stands the median of them.")
}

// quantityName names a quantity.
func quantityName(quantity, mode string, bytes int) string {
	at := ", " + format.Size(bytes)
	switch quantity {
	case compare.OneWay:
		return "half round trip" + at
	case compare.AchievedBandwidth:
		return "bandwidth" + at
	case "o_r":
		if mode == "isend" {
			return "o_r of irecv" + at
		}
		if mode == "send" {
			return "o_r of recv" + at
		}
	case "g":
		return "burst interval" + at
	}
	return quantity + " of " + mode + at
}
