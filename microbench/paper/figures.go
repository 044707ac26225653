package paper

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/reports"
)

// figure is a chart of the paper: curves over the length of the message.
type figure struct {
	number    int
	parameter string // o_s, o_r, or 1/G
	lines     []line
	words     []string
}

// line is a curve of a figure.
type line struct {
	Subject
	mode string
}

// lines returns a line for each subject and mode.
func lines(modes []string, of ...Subject) []line {
	var all []line
	for _, s := range of {
		for _, m := range modes {
			all = append(all, line{s, m})
		}
	}
	return all
}

// figures are those that are measured.
var figures = []figure{
	{6, "o_s", lines([]string{"isend"}, convexInter, convexIntra), nil},
	{7, "1/G", lines([]string{"send"}, convexInter, convexIntra), []string{perSize}},
	{8, "o_s", lines([]string{"ssend", "issend"}, t3d, now), nil},
	{9, "o_s", lines([]string{"bsend", "ssend"}, t3d, now), []string{"The caption names no platform: the two of figures 8, 10 and 11 are taken."}},
	{10, "o_s", lines([]string{"send", "isend"}, t3d, now), nil},
	{11, "o_r", lines([]string{"send", "isend"}, t3d, now), []string{"The blocking receive is timer12, which finds its message there; the one that does not block is timer21."}},
	{12, "o_s", lines([]string{"isend"}, t3d, now, convexInter, convexIntra), nil},
	{13, "1/G", lines([]string{"send"}, t3d, now, convexInter, convexIntra), []string{perSize,
		"The published points are the peaks of tables 3 and 4, 1/G, set at the longest message. That of NOW is above what its wire can carry."}},
}

// perSize says how bandwidths are read.
const perSize = "Bandwidth at a size is (k−1) over what a blocking receive (timer21) takes longer than one that does not block: the rule for G, size by size. Where it takes no longer there is no point."

// artefact runs through the lines of a figure.
func (x *run) figure(f figure, src *source) reports.Artefact {
	row := src.figure(f.number)
	a := reports.Artefact{ID: fmt.Sprintf("figure-%d", f.number), Caption: row["caption"], XAxis: row["x_axis"], YAxis: row["y_axis"], Words: f.words}
	for _, l := range f.lines {
		x.line(&a, f.parameter, l, src)
	}
	return a
}

// line adds the rows and the curves of a line.
func (x *run) line(a *reports.Artefact, parameter string, l line, src *source) {
	name := l.name(parameter)
	measured, predicted := reports.StudyCurve{Name: name, Kind: reports.MeasuredCurve}, reports.StudyCurve{Name: name, Kind: reports.PredictedCurve}
	published := reports.StudyCurve{Name: name, Kind: reports.PublishedCurve}
	for _, k := range figureSizes {
		if parameter == "1/G" && k == 1 {
			continue // no byte after the first
		}
		f := finding(l.Subject, l.mode, l.symbol(parameter), k, unitOf(parameter))
		m, p := l.value(x.measured, parameter, k), l.value(x.predicted, parameter, k)
		show(&f, m, p)
		if r, ok := l.printed(src, parameter, k); ok {
			x.publish(&f, r)
			f.Again = true
			published.Points = append(published.Points, reports.StudyPoint{X: float64(k), Y: r.Low, Low: r.Low, High: r.Low})
		}
		a.Rows = append(a.Rows, f)
		measured.Points = appendPoint(measured.Points, k, m)
		predicted.Points = appendPoint(predicted.Points, k, p)
	}
	if r, ok := l.printed(src, parameter, -1); ok {
		f := x.peak(l, r)
		a.Rows = append(a.Rows, f)
		published.Points = append(published.Points, reports.StudyPoint{X: float64(figureSizes[len(figureSizes)-1]), Y: f.Low, Low: f.Low, High: f.High})
	}
	a.Curves = append(a.Curves, measured, predicted)
	if len(published.Points) > 0 {
		a.Curves = append(a.Curves, published)
	}
}

// peak is the row of a printed G as the bandwidth that it makes.
func (x *run) peak(l line, r reports.Row) reports.Finding {
	f := finding(l.Subject, l.mode, "peak "+l.symbol("1/G"), -1, "MB/s")
	x.publish(&f, r)
	f.Low, f.High, f.Again = 1/r.High, 1/r.Low, true
	show(&f, x.measured.gap(l.Subject).inverse(1), x.predicted.gap(l.Subject).inverse(1))
	return f
}

// name is what the legend calls the line.
func (l line) name(parameter string) string {
	name := l.Subject.String()
	switch {
	case parameter == "1/G":
		return name
	case parameter == "o_r" && l.mode == "send":
		return name + ", blocking"
	case parameter == "o_r":
		return name + ", non-blocking"
	}
	return name + " " + l.mode
}

// appendPoint appends a value that is there.
func appendPoint(points []reports.StudyPoint, k int, v Value) []reports.StudyPoint {
	if !v.known() {
		return points
	}
	return append(points, reports.StudyPoint{X: float64(k), Y: v.V, Low: v.Low, High: v.High})
}

// value returns what results have of the line at a size.
func (l line) value(r *Results, parameter string, k int) Value {
	if parameter == "1/G" {
		return r.bandwidth(l.Subject, k)
	}
	return value(r, l.Subject, l.mode, parameter, k)
}

// printed returns the row of tables 3 and 4 that is a point of the line, by size; of a bandwidth that of G, without size.
func (l line) printed(src *source, parameter string, k int) (reports.Row, bool) {
	for _, r := range src.parameters {
		mode, name := r.Answer()
		if subject(r) == l.Subject && mode == l.mode && (name == parameter || name == "G" && parameter == "1/G") && r.Bytes == k {
			return r, true
		}
	}
	return reports.Row{}, false
}

// symbol is the letter of the parameter: between hypernodes that of LogGP, inside another.
func (l line) symbol(parameter string) string {
	if l.Subject != convexIntra {
		return parameter
	}
	return strings.NewReplacer("o", "s", "G", "S").Replace(parameter)
}

func unitOf(parameter string) string {
	if parameter == "1/G" {
		return "MB/s"
	}
	return "us"
}
