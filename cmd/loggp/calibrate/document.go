package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// Document returns the sensitivities as a report: the numbers that decide each quantity, with a
// tornado chart, and all numbers by what they move most.
func (s *Sensitivity) Document() *doc.Document {
	name := s.Platform.Machine.Name
	decided := 0
	by := &doc.Table{Name: "quantities", WrapsKeys: true, Title: fmt.Sprintf("Numbers that move a quantity by more than %s", formatPercent(DecisiveChange)), Columns: []doc.Column{
		{Heading: "number", IsKey: true}, {Heading: "basis"}, {Heading: "value", Kind: doc.NumberColumn}, {Heading: "halved\n%", Kind: doc.NumberColumn}, {Heading: "doubled\n%", Kind: doc.NumberColumn}}}
	var charts []*chart.Chart
	for i, q := range s.Quantities {
		deciding := s.DecidingNumbers(i, DecisiveChange)
		if len(deciding) == 0 {
			continue
		}
		decided++
		by.BeginGroup(fmt.Sprintf("%s: %s", q.Name, s.formatQuantity(i)))
		for _, n := range deciding {
			by.AddRow(doc.TextCell(n.Path), doc.TextCell(string(n.Basis)), doc.TextCell(n.Value), s.changeCell(n.Halved, i), s.changeCell(n.Doubled, i))
		}
		charts = append(charts, s.tornadoChart(i))
	}
	by.AddNote("halved, doubled: by how much the quantity moves when the number is half or twice its value, and all others as they are.")
	all := &doc.Table{Name: "numbers", Title: "Numbers by what they move", WrapsKeys: true, TerminalRows: 12, Columns: []doc.Column{
		{Heading: "number", IsKey: true}, {Heading: "basis"}, {Heading: "value", Kind: doc.NumberColumn}, {Heading: "moves most", Kind: doc.ProseColumn}, {Heading: "halved\n%", Kind: doc.NumberColumn}, {Heading: "doubled\n%", Kind: doc.NumberColumn}}}
	for _, n := range s.rankedNumbers() {
		most := s.mostMovedQuantity(n)
		moves := doc.TextCell(s.Quantities[most].Name)
		if s.LargestChange(n, most) == 0 {
			moves = doc.TextCell("nothing").WithTone(doc.FaintTone)
		}
		all.AddRow(doc.TextCell(n.Path), doc.TextCell(string(n.Basis)), doc.TextCell(n.Value), moves, s.changeCell(n.Halved, most), s.changeCell(n.Doubled, most))
	}
	d := &doc.Document{Title: "Sensitivity of platform " + name, Answer: s.summary(), Footer: "Made by loggp."}
	d.AddSection(doc.Section{ID: "quantities", Title: "Quantities", Tables: []*doc.Table{by}, Figures: doc.Figures(doc.HalfWidth, charts...), Text: []string{
		fmt.Sprintf("Numbers that were halved and doubled, one at a time: %d. Quantities that were measured each time, without noise: %d. Of these, moved by more than %s: %d.",
			len(s.Numbers), len(s.Quantities), formatPercent(DecisiveChange), decided)}})
	d.AddTables("numbers", "Numbers", all)
	d.AddSection(doc.Section{ID: "left-out", Title: "What could not be varied", Items: s.unvariedNumbers()})
	d.Files = []doc.File{{Name: "sensitivity.csv", Write: s.CSV}}
	return d
}

// summary says which number moves something most.
func (s *Sensitivity) summary() string {
	ranked := s.rankedNumbers()
	if len(ranked) == 0 {
		return ""
	}
	n := ranked[0]
	most := s.mostMovedQuantity(n)
	if s.LargestChange(n, most) == 0 {
		return "No number moves any quantity."
	}
	return fmt.Sprintf("%s (%s, %s) moves most: half of it changes %s by %s%s%%, twice by %s%s%%.", n.Path, n.Value, n.Basis, s.Quantities[most].Name,
		s.changeCell(n.Halved, most).Text, format.NonBreakingSpace, s.changeCell(n.Doubled, most).Text, format.NonBreakingSpace)
}

// formatPercent prints a part in percent.
func formatPercent(x float64) string { return fmt.Sprintf("%g%s%%", 100*x, format.NonBreakingSpace) }

// formatQuantity prints what a quantity is, and what it should be.
func (s *Sensitivity) formatQuantity(i int) string {
	q := s.Quantities[i]
	text := format.Number(s.BaseValues[i]) + " " + q.Unit
	if math.IsNaN(s.BaseValues[i]) {
		text = "not measured"
	}
	if !math.IsNaN(q.MinTarget) {
		text += ", published " + q.formatTarget()
	}
	return text
}

// formatTarget prints what a quantity should be.
func (q Quantity) formatTarget() string {
	if q.MinTarget == q.MaxTarget {
		return format.Number(q.MinTarget)
	}
	return format.Number(q.MinTarget) + " to " + format.Number(q.MaxTarget)
}

// changeCell is the cell of what a variant does to a quantity.
func (s *Sensitivity) changeCell(v Variant, quantity int) doc.Cell {
	switch x := s.Change(v, quantity); {
	case v.Quantities == nil:
		return doc.EmptyCell
	case math.IsNaN(x):
		return doc.TextCell("gone")
	default:
		return doc.PercentCell(100 * x)
	}
}

// mostMovedQuantity returns the quantity that a number moves most.
func (s *Sensitivity) mostMovedQuantity(n VariedNumber) int {
	most := 0
	for i := range s.Quantities {
		if s.LargestChange(n, i) > s.LargestChange(n, most) {
			most = i
		}
	}
	return most
}

// rankedNumbers returns the numbers, those that move something most first.
func (s *Sensitivity) rankedNumbers() []VariedNumber {
	all := slices.Clone(s.Numbers)
	slices.SortStableFunc(all, func(a, b VariedNumber) int {
		return cmp.Compare(s.LargestChange(b, s.mostMovedQuantity(b)), s.LargestChange(a, s.mostMovedQuantity(a)))
	})
	return all
}

// maxTornadoBars are how many numbers a tornado chart shows, and farthest the largest change that
// has room.
const (
	maxTornadoBars = 12
	maxShownChange = 1.0
)

// tornadoChart draws what moves a quantity.
func (s *Sensitivity) tornadoChart(quantity int) *chart.Chart {
	q := s.Quantities[quantity]
	group := chart.StripGroup{}
	for k, n := range s.DecidingNumbers(quantity, DecisiveChange) {
		if k == maxTornadoBars {
			break
		}
		row := chart.StripRow{Name: lastPathKey(n.Path), Note: string(n.Basis)}
		for _, v := range []struct {
			Variant
			chart.Color
		}{{n.Doubled, chart.Blue}, {n.Halved, chart.Orange}} {
			x := s.Change(v.Variant, quantity)
			if !math.IsNaN(x) {
				row.Bars = append(row.Bars, chart.Bar{End: 100 * math.Min(math.Max(x, -maxShownChange), maxShownChange), Color: v.Color})
			}
		}
		slices.SortStableFunc(row.Bars, func(a, b chart.Bar) int { return cmp.Compare(math.Abs(b.End), math.Abs(a.End)) }) // the shorter one in front
		group.Rows = append(group.Rows, row)
	}
	c := chart.StripPlot{XLabel: "change of the quantity in %", IsSigned: true, Groups: []chart.StripGroup{group}}
	return c.Chart("tornado-"+format.FileName(q.Name), q.Name,
		fmt.Sprintf("The quantity is %s. Orange: with the number halved; blue: doubled. Bars end at %g %%.", s.formatQuantity(quantity), 100*maxShownChange))
}

// lastPathKey returns the end of the path of a number.
func lastPathKey(path string) string {
	parts := strings.Split(path, ".")
	return strings.Join(parts[max(len(parts)-2, 0):], ".")
}

// unvariedNumbers says which numbers could not be halved or doubled.
func (s *Sensitivity) unvariedNumbers() []string {
	var all []string
	for _, n := range s.Numbers {
		for _, v := range []Variant{n.Halved, n.Doubled} {
			if v.Failure != "" {
				all = append(all, fmt.Sprintf("%s = %s: %s", n.Path, v.Number, v.Failure))
			}
		}
	}
	if len(s.Unvaried) > 0 {
		all = append(all, "zero, which has no half: "+strings.Join(s.Unvaried, ", "))
	}
	return all
}

// CSV writes a row for each number and quantity.
func (s *Sensitivity) CSV(w io.Writer) error {
	t := &doc.Table{Name: "sensitivity", Columns: doc.TextColumns("number", "basis", "value", "quantity", "unit", "measured", "half", "halved", "halved_percent", "double", "doubled", "doubled_percent")}
	for _, n := range s.Numbers {
		for i, q := range s.Quantities {
			row := append(doc.TextCells(n.Path, string(n.Basis), n.Value, q.Name, q.Unit), doc.NumberCell(s.BaseValues[i]))
			for _, v := range []Variant{n.Halved, n.Doubled} {
				value := math.NaN()
				if v.Quantities != nil {
					value = v.Quantities[i]
				}
				row = append(row, doc.TextCell(v.Number), doc.NumberCell(value), doc.NumberCell(100*s.Change(v, i)))
			}
			t.AddRow(row...)
		}
	}
	return render.WriteTableCSV(w, t)
}

// strongCorrelation is the correlation from which two numbers are said to be known together only.
const strongCorrelation = 0.9

// Document returns the calibration as a report: numbers, targets and correlations.
func (c *Calibration) Document() *doc.Document {
	numbers := &doc.Table{Name: "numbers", Title: "Numbers", Columns: []doc.Column{
		{Heading: "number", IsKey: true}, {Heading: "before", Kind: doc.NumberColumn}, {Heading: "found", Kind: doc.NumberColumn}, {Heading: "95 % interval", Kind: doc.NumberColumn}, {Heading: "remark", Kind: doc.ProseColumn}}}
	open := 0
	for _, f := range c.Numbers {
		interval := doc.EmptyCell
		if f.High != "" {
			interval = doc.TextCell(f.Low + " to " + f.High)
		}
		if f.IsWithoutEffect || f.IsIntervalWide || len(f.CombinedWith) > 0 {
			open++
		}
		numbers.AddRow(doc.TextCell(f.Path), doc.TextCell(f.Value), doc.TextCell(f.FittedValue), interval, doc.TextCell(f.remarkText()))
	}
	numbers.DropEmpty()
	targets := &doc.Table{Name: "targets", Title: "Targets", TerminalRows: 24, Columns: []doc.Column{
		{Heading: "target", IsKey: true}, {Heading: "unit"}, {Heading: "should be", Kind: doc.NumberColumn}, {Heading: "before", Kind: doc.NumberColumn}, {Heading: "now", Kind: doc.NumberColumn}, {Heading: "error\n%", Kind: doc.NumberColumn}}}
	unmoved := 0
	for _, t := range c.Targets {
		name := doc.TextCell(t.Name)
		if !t.DependsOnFreeNumber {
			name = name.WithTone(doc.FaintTone)
			unmoved++
		}
		targets.AddRow(name, doc.TextCell(t.Unit), doc.TextCell(t.formatTarget()), doc.NumberCell(t.ValueBefore), doc.NumberCell(t.ValueAfter), doc.PercentCell(t.percentError()))
	}
	if unmoved > 0 {
		targets.AddNote("Targets that depend on no free number: %d.", unmoved)
	}
	correlations := &doc.Table{Name: "correlations", Title: fmt.Sprintf("Correlations above %g", strongCorrelation), Columns: []doc.Column{
		{Heading: "number", IsKey: true}, {Heading: "number"}, {Heading: "correlation", Kind: doc.NumberColumn}}}
	var free []FittedNumber
	for _, f := range c.Numbers {
		if f.Free.Values == nil {
			free = append(free, f)
		}
	}
	for i := range c.Correlations {
		for k := range i {
			if free[i].IsWithoutEffect || free[k].IsWithoutEffect { // what is not seen is correlated with nothing
				continue
			}
			if x := c.Correlations[i][k]; math.Abs(x) > strongCorrelation {
				correlations.AddRow(doc.TextCell(free[k].Path), doc.TextCell(free[i].Path), doc.TextCell(fmt.Sprintf("%+.3f", x)))
			}
		}
	}
	correlations.AddNote("The targets know a combination of two such numbers better than either.")
	lead := fmt.Sprintf("%d free numbers, %d targets, %d platforms tried. The root mean square of the deviations is %s %%, and was %s %% before.", len(c.Numbers), len(c.Targets), c.PlatformsTried, unit.Rounded(100*c.RMSAfter, 3), unit.Rounded(100*c.RMSBefore, 3))
	if open > 0 {
		lead += fmt.Sprintf(" The targets determine %d of the numbers hardly or not at all.", open)
	}
	d := &doc.Document{Title: "Calibration of platform " + c.Draft.Machine.Name}
	d.AddSection(doc.Section{ID: "numbers", Title: "Numbers", Text: []string{lead}, Tables: []*doc.Table{numbers}})
	d.AddTables("targets", "Targets", targets)
	d.AddTables("correlations", "Correlations", correlations)
	d.AddSection(doc.Section{ID: "left-out", Title: "Targets that were left out", Items: c.OmittedTargets})
	d.Files = []doc.File{{Name: "calibration.csv", Write: c.CSV}}
	return d
}

// remarkText says what to know of a number that was found.
func (f FittedNumber) remarkText() string {
	var all []string
	if f.IsWithoutEffect {
		all = append(all, "no target depends on it: left as it was")
	}
	if len(f.CombinedWith) > 0 {
		all = append(all, "not determined alone, but together with "+strings.Join(f.CombinedWith, ", "))
	}
	if f.IsIntervalWide {
		all = append(all, "hardly determined")
	}
	if f.IsAtBound {
		all = append(all, "at its bound")
	}
	return strings.Join(all, "; ")
}

// percentError is how far a target is missed in percent, 0 inside a range.
func (t Target) percentError() float64 {
	near := math.Min(math.Max(t.ValueAfter, t.MinTarget), t.MaxTarget)
	return 100 * (t.ValueAfter/near - 1)
}

// CSV writes a row for each number and for each target.
func (c *Calibration) CSV(w io.Writer) error {
	t := &doc.Table{Name: "calibration", Columns: doc.TextColumns("kind", "name", "unit", "before", "after", "low", "high", "error_percent", "remark")}
	for _, f := range c.Numbers {
		t.AddRow(doc.TextCells("number", f.Path, "", f.Value, f.FittedValue, f.Low, f.High, "", f.remarkText())...)
	}
	for _, x := range c.Targets {
		remark := ""
		if !x.DependsOnFreeNumber {
			remark = "depends on no free number"
		}
		t.AddRow(append(doc.TextCells("target", x.Name, x.Unit), doc.NumberCell(x.ValueBefore), doc.NumberCell(x.ValueAfter), doc.NumberCell(x.MinTarget), doc.NumberCell(x.MaxTarget), doc.NumberCell(x.percentError()), doc.TextCell(remark))...)
	}
	return render.WriteTableCSV(w, t)
}
