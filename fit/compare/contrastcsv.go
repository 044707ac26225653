package compare

import (
	"io"
	"math"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model/table"
)

const contrastHeader = "quantity,mode,bytes_from,bytes_to,subject,against,value,ci_low,ci_high,unit,verdict,ratio,ratio_low,ratio_high,finding"

// findings are those of crossovers in files: does it hold? Those of readings are a Difference.
const (
	holds      = "yes"
	holdsNot   = "no"
	holdsAlike = "alike"
)

// WriteContrast writes readings and crossovers as CSV.
//
// The quantity of an overlap is overlap(o_s) or overlap(o_r), and what holds is that a call that blocks costs more than the one that does not, by more
// than the margin. The quantity of a rivalry is faster(o_s) and so on, and what holds is that the subject takes less time than the one that
// it is against. Their first row, without a value, says whether it holds at the smallest size; each that follows, from which size on
// it is otherwise. The range of bytes is the one that was looked at.
func WriteContrast(w io.Writer, c *Contrast) error {
	return table.WriteText(w, "comparisons", contrastHeader, c.rows())
}

func (c *Contrast) rows() [][]string {
	var rows [][]string
	for _, r := range c.Readings {
		against := ""
		if r.Difference != "" {
			against = c.Subjects[0].Name
		}
		rows = append(rows, []string{r.Name, r.Mode, table.SizeText(r.From), table.SizeText(r.To), c.Subjects[r.Subject].Name, against,
			table.NumberText(r.Value), table.NumberText(r.Low), table.NumberText(r.High), r.Unit, string(r.Verdict), table.NumberText(r.Ratio), table.NumberText(r.Least), table.NumberText(r.Most), string(r.Difference)})
	}
	for _, x := range c.Overlaps {
		rows = append(rows, c.crossover(x, "overlap", "", Longer)...)
	}
	for _, x := range c.Rivalries {
		rows = append(rows, c.crossover(x, "faster", c.Subjects[x.Against].Name, Shorter)...)
	}
	return rows
}

// crossover returns the rows of a crossover. What holds is that its time is on a side.
func (c *Contrast) crossover(x Crossover, what, against string, side Side) [][]string {
	verdict := params.Good
	if x.Weak {
		verdict = params.Weak
	}
	last := x.Zones[len(x.Zones)-1]
	row := func(value, low, high float64, answer Side) []string {
		finding := map[Side]string{Longer: holdsNot, Shorter: holdsNot, Even: holdsAlike, Undecided: string(Unclear)}[answer]
		if answer == side {
			finding = holds
		}
		return []string{what + "(" + x.Quantity + ")", x.Mode, table.SizeText(x.Zones[0].From), table.SizeText(last.To), c.Subjects[x.Subject].Name, against,
			table.NumberText(value), table.NumberText(low), table.NumberText(high), "B", string(verdict), "", "", "", finding}
	}
	nan := math.NaN()
	rows := [][]string{row(nan, nan, nan, x.Zones[0].Side)}
	if len(x.Zones) > 1 && x.Zones[0].Side == Undecided {
		rows = append(rows, row(float64(x.Zones[1].From), nan, nan, x.Zones[1].Side))
	}
	for _, p := range x.Crossings {
		rows = append(rows, row(float64(p.Bytes), float64(p.Low), float64(p.High), p.To))
	}
	if len(x.Zones) > 1 && last.Side == Undecided {
		rows = append(rows, row(float64(last.From), nan, nan, Undecided))
	}
	return rows
}
