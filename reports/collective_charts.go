package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
)

// algorithmIndex returns the place of an algorithm among those of its operation, so that it looks
// alike in all charts of that.
func algorithmIndex(operation, algorithm string) int {
	o, ok := collective.OperationNamed(operation)
	if !ok {
		return 0
	}
	return max(slices.IndexFunc(collective.AlgorithmsOf(o), func(a *collective.Algorithm) bool { return a.Name == algorithm }), 0)
}

// groupByAlgorithm parts times by their algorithms.
func groupByAlgorithm(cs []compare.CollectiveComparison) [][]compare.CollectiveComparison {
	var all [][]compare.CollectiveComparison
	for _, c := range cs {
		i := slices.IndexFunc(all, func(of []compare.CollectiveComparison) bool { return of[0].Algorithm == c.Algorithm })
		if i < 0 {
			i, all = len(all), append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	for _, of := range all {
		slices.SortStableFunc(of, func(a, b compare.CollectiveComparison) int { return a.Bytes - b.Bytes })
	}
	return all
}

// countMessageLengths counts the lengths of some times.
func countMessageLengths(cs []compare.CollectiveComparison) int {
	sizes := map[int]bool{}
	for _, c := range cs {
		sizes[c.Bytes] = true
	}
	return len(sizes)
}

// algorithmCharts are of the algorithms for one operation among some ranks: their times from a
// common start, with the model's, and behind a barrier; of one algorithm, which has no model, in
// one chart. Those of one length are bars.
func algorithmCharts(name string, cs []compare.CollectiveComparison) []*chart.Chart {
	if countMessageLengths(cs) < 2 {
		return []*chart.Chart{singleLengthChart(name, cs)}
	}
	of := operationTitle(cs[0].Operation, cs[0].Ranks)
	start, barrier := algorithmChartOf(cs, false), algorithmChartOf(cs, true)
	if len(groupByAlgorithm(cs)) == 1 && !start.predicted && !barrier.predicted && len(start.Upper.Series) > 0 {
		return []*chart.Chart{start.combineWith(barrier).Chart(format.FileName(of, name), of+" on "+name, commonStartText+" "+barrierText)}
	}
	return []*chart.Chart{
		start.draw(format.FileName(of, name, "start"), of+" on "+name+", from a common start", commonStartText+" "+adjacentMarksText),
		barrier.draw(format.FileName(of, name, "barrier"), of+" on "+name+", behind a barrier", barrierText+" "+adjacentMarksText),
	}
}

// libraryChoice names the algorithm that the library takes if none is forced.
const libraryChoice = "the library's choice"

// singleLengthChart is the chart of the algorithms for one operation at one length, the fastest
// first, with what the best would save of what the library chooses. It is nil for one algorithm.
func singleLengthChart(name string, cs []compare.CollectiveComparison) *chart.Chart {
	type ranked struct {
		name    string
		us      float64
		isTaken bool
	}
	var all []ranked
	own := math.NaN()
	for _, c := range cs {
		us, _ := c.RankedTime()
		if math.IsNaN(us) {
			continue
		}
		x := ranked{c.Algorithm, us, c.IsLibraryChoice()}
		switch {
		case c.IsUnforced():
			x.name, own = libraryChoice, us
		case x.isTaken:
			x.name, own = c.Algorithm+", "+libraryChoice, us
		}
		all = append(all, x)
	}
	if len(all) < 2 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.us, b.us) })
	in := displayUnitOf(params.UnitMicros, all[0].us)
	g := chart.StripGroup{}
	for _, x := range all {
		color := chart.Blue
		if x.isTaken {
			color = chart.Orange
		}
		g.Rows = append(g.Rows, chart.StripRow{Name: x.name, Note: format.Number(x.us*in.factor) + format.NonBreakingSpace + in.unit, Bars: []chart.Bar{{End: x.us * in.factor, Color: color}}})
	}
	best, last := all[0], all[len(all)-1]
	text := fmt.Sprintf("The fastest first. %s takes %s times as long as %s.", last.name, format.WithDecimals(last.us/best.us, 1), best.name)
	if own > best.us {
		text += fmt.Sprintf(" Instead of the library's choice, %s would save %s%s%%.", best.name, format.WithDecimals(100*(1-best.us/own), 0), format.NonBreakingSpace)
	}
	of := operationTitle(cs[0].Operation, cs[0].Ranks)
	if cs[0].Bytes > 0 {
		of += ", " + format.Size(cs[0].Bytes)
	}
	return chart.StripPlot{XLabel: "time (" + in.unit + ")", Groups: []chart.StripGroup{g}}.Chart(format.FileName(cs[0].Operation, name, "algorithms"), of+" on "+name, text)
}

// What the charts of times show.
const (
	commonStartText   = "From a common start: from a time that ranks have agreed on until the last of them has ended, medians with their 95 % intervals."
	barrierText       = "Behind a barrier: the ranks' own calls. Marks are the median of ranks, bars go from the quickest to the slowest. Ranks leave a barrier one after another, which is in these times."
	adjacentMarksText = "Marks of one length stand side by side."
)

// algorithmChart is a chart of the times of algorithms, with what a model says of them.
type algorithmChart struct {
	chart.StackedPlot
	predicted bool
	isGrey    bool // some algorithms are grey
	hasTaken  bool // the library's choices are marked
}

// maxColouredAlgorithms is how many of them a chart shows in colours if there are no more.
const maxColouredAlgorithms = 6

// fastestAnywhere returns which of many algorithms are the fastest at some length. It is nil where
// they are few.
func fastestAnywhere(cs []compare.CollectiveComparison, algorithms [][]compare.CollectiveComparison) []string {
	if len(algorithms) <= maxColouredAlgorithms {
		return nil
	}
	var best []string
	for _, f := range compare.FastestAlgorithms(cs) {
		best = appendUnique(best, f.Algorithm)
	}
	return best
}

// drawOthersGrey draws the series in colours over the grey ones, and names them first.
func (a *algorithmChart) drawOthersGrey() {
	a.Upper.LegendRows = make([][]chart.Series, 2)
	for _, s := range a.Upper.Series {
		part := 0
		if s.Style.Color == chart.Gray {
			part = 1
		}
		if s.Name != "" {
			a.Upper.LegendRows[part] = append(a.Upper.LegendRows[part], s)
		}
	}
	for _, x := range []*chart.SizePlot{&a.Upper, &a.Lower} {
		slices.SortStableFunc(x.Series, func(s, t chart.Series) int {
			switch gray := chart.Gray; {
			case s.Style.Color == gray && t.Style.Color != gray:
				return -1
			case s.Style.Color != gray && t.Style.Color == gray:
				return 1
			}
			return 0
		})
	}
}

// chartText says what the chart shows.
func (a algorithmChart) chartText(text string) string {
	if a.isGrey {
		text += " Algorithms that are the fastest at some length are in colours, all others grey."
	}
	if a.hasTaken {
		text += " Rings are " + libraryChoice + "."
	}
	return text
}

// takenSeries returns rings around the points of the algorithms that the library takes.
func takenSeries(points []chart.Point) chart.Series {
	slices.SortStableFunc(points, func(p, q chart.Point) int { return cmp.Compare(p.X, q.X) })
	return chart.Series{Name: libraryChoice, Style: chart.Style{Color: chart.Black, HasRing: true}, Points: points}
}

// algorithmChartOf returns the chart of the times of one way to begin. The model is of the one that
// counts.
func algorithmChartOf(cs []compare.CollectiveComparison, barrier bool) algorithmChart {
	a := algorithmChart{StackedPlot: chart.StackedPlot{Upper: chart.SizePlot{YLabel: "time (us)", ShowsAllIntervals: true}, Lower: chart.SizePlot{YLabel: "model above measured (%)", IsSigned: true}}}
	algorithms := groupByAlgorithm(cs)
	best := fastestAnywhere(cs, algorithms)
	var taken []chart.Point
	for i, of := range algorithms {
		at := algorithmIndex(of[0].Operation, of[0].Algorithm)
		l := subjectStyle(at)
		if best != nil {
			a.isGrey = true
			l.Color = chart.Gray
			if i := slices.Index(best, of[0].Algorithm); i >= 0 {
				l.Color = chart.Palette[i%len(chart.Palette)]
			}
		}
		times := chart.Series{Name: of[0].Algorithm, Style: l}
		said := chart.Series{HiddenWith: of[0].Algorithm, Style: chart.Style{Color: l.Color, IsDashed: true}}
		off := chart.Series{Name: of[0].Algorithm, ShapeIndex: at % len(chart.SolidGlyphs), Style: l}
		var model []chart.Point
		for _, c := range of {
			k := float64(c.Bytes) * sideBySideFactor(i, len(algorithms))
			p := chart.Point{X: k, Y: c.LastRankEnd, Low: c.Low, High: c.High, Bytes: float64(c.Bytes)}
			if barrier {
				p = chart.Point{X: k, Y: c.Median, Low: c.Min, High: c.Max, Bytes: p.Bytes}
				if math.IsNaN(c.Median) {
					p.Y = c.Mean
				}
			}
			if !math.IsNaN(p.Y) {
				times.Points = append(times.Points, p)
			}
			counts := math.IsNaN(c.LastRankEnd) == barrier
			if counts && len(algorithms) > 1 && c.IsLibraryChoice() && !math.IsNaN(p.Y) {
				taken = append(taken, chart.Point{X: p.X, Y: p.Y, Bytes: p.Bytes})
			}
			if counts && hasPredictions(c) {
				a.predicted = true
				if best == nil || slices.Contains(best, c.Algorithm) {
					model = append(model, chart.Point{X: float64(c.Bytes), Y: c.Predicted})
				}
				off.Points = append(off.Points, chart.Point{X: k, Y: c.Comparison().Error, Bytes: p.Bytes})
			}
		}
		if len(times.Points) == 0 {
			continue
		}
		times.Lines, said.Lines = [][]chart.Point{times.Points}, [][]chart.Point{model}
		a.Upper.Series = append(a.Upper.Series, said, times)
		a.Lower.Series = append(a.Lower.Series, off)
	}
	if a.isGrey {
		a.drawOthersGrey()
	}
	if a.hasTaken = len(taken) > 0; a.hasTaken {
		rings := takenSeries(taken)
		a.Upper.Series = append(a.Upper.Series, rings)
		if a.isGrey {
			a.Upper.LegendRows = append([][]chart.Series{{rings}}, a.Upper.LegendRows...)
		}
	}
	return a
}

// combineWith returns a chart of the one algorithm of two charts, which are of two ways to begin.
func (a algorithmChart) combineWith(barrier algorithmChart) chart.SizePlot {
	x := a.Upper
	one, other := x.Series[len(x.Series)-1], barrier.Upper.Series
	one.Name, x.Series = "from a common start", nil
	if x.Series = append(x.Series, one); len(other) > 0 {
		o := other[len(other)-1]
		o.Name, o.Style = "behind a barrier", chart.Style{Color: chart.Orange, Glyph: chart.HollowGlyphs[1], IsDashed: true}
		x.Series = append(x.Series, o)
	}
	return x
}

// sideBySideFactor returns by what to multiply a length so that marks of several algorithms stand
// side by side.
func sideBySideFactor(i, of int) float64 {
	return math.Pow(1.06, float64(i)-float64(of-1)/2)
}

// draw returns the chart, or nil if nothing was measured so. Without a model there is no lower
// part.
func (a algorithmChart) draw(name, title, text string) *chart.Chart {
	if len(a.Upper.Series) == 0 {
		return nil
	}
	if !a.predicted {
		return a.Upper.Chart(name, title, a.chartText(text))
	}
	return a.StackedPlot.Chart(name, title, a.chartText(text)+" Dashed lines are what the model says; below, how far that is from what was measured.")
}

// fastestChart is of the fastest algorithm of each number of ranks, of several numbers; else nil.
func fastestChart(name string, cs []compare.CollectiveComparison) *chart.Chart {
	ranks := measuredRankCounts(cs)
	if len(ranks) < 2 || countMessageLengths(cs) < 2 {
		return nil
	}
	x := chart.SizePlot{YLabel: "time of the fastest (us)"}
	for i, n := range ranks {
		var points []chart.Point
		for _, f := range compare.FastestAlgorithms(filterCollectives(cs, cs[0].Operation, n)) {
			took, _ := f.RankedTime()
			points = append(points, chart.Point{X: float64(f.Bytes), Y: took, Low: f.Low, High: f.High})
		}
		slices.SortStableFunc(points, func(a, b chart.Point) int { return int(a.X - b.X) })
		x.Series = append(x.Series, chart.JoinedSeries(fmt.Sprintf("%d ranks", n), subjectStyle(i), points))
	}
	return x.Chart(format.FileName(cs[0].Operation, name, "ranks"), fmt.Sprintf("%s on %s by ranks", cs[0].Operation, name),
		"What the fastest algorithm of each length takes, by the number of ranks.")
}

// subjectCharts are one for each operation and number of ranks of which there are several lengths:
// a line for each subject.
func (r *CollectiveReport) subjectCharts(all []reportSubject) []*chart.Chart {
	var out []*chart.Chart
	for i, c := range r.SideBySide.Rows {
		same := func(d compare.Row) bool { return d.Name == c.Name && d.Ranks == c.Ranks }
		if slices.ContainsFunc(r.SideBySide.Rows[:i], same) {
			continue
		}
		x := chart.SizePlot{YLabel: "time of the fastest (us)"}
		most := 0
		for j := range all {
			var points []chart.Point
			for _, d := range r.SideBySide.Rows {
				if v := d.ValueOf(j); same(d) && v != nil {
					points = append(points, chart.Point{X: float64(d.Bytes), Y: v.Value, Low: v.Low, High: v.High})
				}
			}
			slices.SortStableFunc(points, func(a, b chart.Point) int { return int(a.X - b.X) })
			x.Series, most = append(x.Series, chart.JoinedSeries(all[j].name, all[j].pointStyle(false), points)), max(most, len(points))
		}
		if of := operationTitle(c.Name, c.Ranks); most > 1 {
			out = append(out, x.Chart(format.FileName("side-by-side", strings.ReplaceAll(of, " ", "-")), of+", side by side", "Of each the algorithm that is the fastest at that length."))
		}
	}
	return out
}
