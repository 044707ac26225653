package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/collective"
)

// algorithmPlace returns the place of an algorithm among those of its operation, so that it looks alike in all charts of that.
func algorithmPlace(operation, algorithm string) int {
	o, ok := collective.OperationNamed(operation)
	if !ok {
		return 0
	}
	return max(slices.IndexFunc(collective.Of(o), func(a *collective.Algorithm) bool { return a.Name == algorithm }), 0)
}

// subjectLook is how the one of a number looks among several.
func subjectLook(i int) look {
	return look{ink: subjectInks[i%len(subjectInks)], glyph: solidGlyphs[i%len(solidGlyphs)]}
}

// byAlgorithm parts times by their algorithms.
func byAlgorithm(cs []compare.CollectiveComparison) [][]compare.CollectiveComparison {
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

// lengths counts the lengths of some times.
func lengths(cs []compare.CollectiveComparison) int {
	sizes := map[int]bool{}
	for _, c := range cs {
		sizes[c.Bytes] = true
	}
	return len(sizes)
}

// algorithmCharts are of the algorithms for one operation among some ranks: their times from a common start, with the model's, and behind a barrier; of one
// algorithm, which has no model, in one chart. Where there is one length only, there is nothing to draw.
func algorithmCharts(name string, cs []compare.CollectiveComparison) []*Chart {
	if lengths(cs) < 2 {
		return nil
	}
	of := ofRanks(cs[0].Operation, cs[0].Ranks)
	start, barrier := timesOf(cs, false), timesOf(cs, true)
	if len(byAlgorithm(cs)) == 1 && !start.model && !barrier.model && len(start.upper.series) > 0 {
		return []*Chart{start.with(barrier).orNone(fileName(of, name), of+" on "+name, startText+" "+barrierText)}
	}
	return []*Chart{
		start.chart(fileName(of, name, "start"), of+" on "+name+", from a common start", startText+" "+besideText),
		barrier.chart(fileName(of, name, "barrier"), of+" on "+name+", behind a barrier", barrierText+" "+besideText),
	}
}

// What the charts of times show.
const (
	startText   = "From a common start: from a time that ranks have agreed on until the last of them has ended, medians with their 95 % intervals."
	barrierText = "Behind a barrier: the ranks' own calls. Marks are the median of ranks, bars go from the quickest to the slowest. Ranks leave a barrier one after another, which is in these times."
	besideText  = "Marks of one length stand side by side."
)

// algorithmTimes is a chart of the times of algorithms, with what a model says of them.
type algorithmTimes struct {
	panels
	model bool
}

// timesOf returns the chart of the times of one way to begin. The model is of the one that counts.
func timesOf(cs []compare.CollectiveComparison, barrier bool) algorithmTimes {
	a := algorithmTimes{panels: panels{upper: xy{y: "time (us)", spans: true}, lower: xy{y: "model above measured (%)", signed: true}}}
	algorithms := byAlgorithm(cs)
	for i, of := range algorithms {
		at := algorithmPlace(of[0].Operation, of[0].Algorithm)
		l := subjectLook(at)
		times := series{name: of[0].Algorithm, look: l}
		said := series{look: look{ink: l.ink, dashed: true}}
		off := series{name: of[0].Algorithm, shape: at % len(solidGlyphs), look: l}
		var model []point
		for _, c := range of {
			k := float64(c.Bytes) * apart(i, len(algorithms))
			p := point{k, c.Last, c.Low, c.High}
			if barrier {
				p = point{k, c.Median, c.Min, c.Max}
			}
			if !math.IsNaN(p.y) {
				times.points = append(times.points, p)
			}
			if counts := math.IsNaN(c.Last) == barrier; counts && modelled(c) {
				a.model = true
				model = append(model, point{x: float64(c.Bytes), y: c.Predicted})
				off.points = append(off.points, point{x: k, y: c.Comparison().Error})
			}
		}
		if len(times.points) == 0 {
			continue
		}
		times.lines, said.lines = [][]point{times.points}, [][]point{model}
		a.upper.series = append(a.upper.series, said, times)
		a.lower.series = append(a.lower.series, off)
	}
	return a
}

// with returns a chart of the one algorithm of two charts, which are of two ways to begin.
func (a algorithmTimes) with(barrier algorithmTimes) xy {
	x := a.upper
	one, other := x.series[len(x.series)-1], barrier.upper.series
	one.name, x.series = "from a common start", nil
	if x.series = append(x.series, one); len(other) > 0 {
		o := other[len(other)-1]
		o.name, o.look = "behind a barrier", look{ink: orange, glyph: hollowGlyphs[1], dashed: true}
		x.series = append(x.series, o)
	}
	return x
}

// apart returns by what to multiply a length so that marks of several algorithms stand side by side.
func apart(i, of int) float64 {
	return math.Pow(1.06, float64(i)-float64(of-1)/2)
}

// chart returns the chart, or nil if nothing was measured so.
func (a algorithmTimes) chart(name, title, text string) *Chart {
	if len(a.upper.series) == 0 {
		return nil
	}
	if !a.model {
		return a.upper.orNone(name, title, text)
	}
	return a.panels.chart(name, title, text+" Dashed lines are what the model says; below, how far that is from what was measured.")
}

// fastestChart is of the fastest algorithm of each number of ranks, of several numbers; else nil.
func fastestChart(name string, cs []compare.CollectiveComparison) *Chart {
	ranks := ranksOf(cs)
	if len(ranks) < 2 || lengths(cs) < 2 {
		return nil
	}
	x := xy{y: "time of the fastest (us)"}
	for i, n := range ranks {
		s := series{name: fmt.Sprintf("%d ranks", n), look: subjectLook(i)}
		for _, f := range compare.FastestOf(only(cs, cs[0].Operation, n)) {
			took, _ := f.Took()
			s.points = append(s.points, point{float64(f.Bytes), took, f.Low, f.High})
		}
		slices.SortStableFunc(s.points, func(a, b point) int { return int(a.x - b.x) })
		s.lines = [][]point{s.points}
		x.series = append(x.series, s)
	}
	return x.orNone(fileName(cs[0].Operation, name, "ranks"), fmt.Sprintf("%s on %s by ranks", cs[0].Operation, name),
		"What the fastest algorithm of each length takes, by the number of ranks.")
}

// contestCharts are one for each operation and number of ranks of which there are several lengths: a line for each entrant.
func (r *CollectiveReport) contestCharts(all []subject) []*Chart {
	var out []*Chart
	for i, c := range r.Contests {
		same := func(d compare.Contest) bool { return d.Operation == c.Operation && d.Ranks == c.Ranks }
		if slices.ContainsFunc(r.Contests[:i], same) {
			continue
		}
		x := xy{y: "time of the fastest (us)"}
		most := 0
		for j := range all {
			s := series{name: all[j].name, look: all[j].look()}
			for _, d := range r.Contests {
				if took := d.Micros(j); same(d) && !math.IsNaN(took) {
					s.points = append(s.points, point{x: float64(d.Bytes), y: took})
				}
			}
			slices.SortStableFunc(s.points, func(a, b point) int { return int(a.x - b.x) })
			s.lines = [][]point{s.points}
			x.series, most = append(x.series, s), max(most, len(s.points))
		}
		if of := ofRanks(c.Operation, c.Ranks); most > 1 {
			out = append(out, x.orNone(fileName("side-by-side", strings.ReplaceAll(of, " ", "-")), of+", side by side", "Of each the algorithm that is the fastest at that length."))
		}
	}
	return out
}
