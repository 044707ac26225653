package compare

import (
	"io"
	"math"
	"strconv"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model/table"
)

const tableHeader = "quantity,mode,bytes_from,bytes_to,subject,against,value,ci_low,ci_high,unit,verdict,ratio,ratio_low,ratio_high,outcome,method,ranks,algorithm"

// yesNoText says whether what a crossover asks holds.
var yesNoText = map[bool]string{true: "yes", false: "no"}

// WriteTable writes the rows that two subjects have at least, and crossovers, as CSV.
//
// The quantity of an overlap is overlap(o_s) or overlap(o_r), and what holds is that a call that
// blocks costs more than the one that does not, by more than the margin. The quantity of a pair is
// faster(o_s) and so on, and what holds is that the subject takes less time than the one that it is
// against. Their first row, without a value, says whether it holds at the smallest size; each that
// follows, from which size on it is otherwise. The range of bytes is the one that was measured.
func WriteTable(w io.Writer, t *Table) error {
	var rows [][]string
	for _, r := range t.Rows {
		if len(r.Values) < 2 {
			continue
		}
		ranks := ""
		if r.Ranks > 0 {
			ranks = strconv.Itoa(r.Ranks)
		}
		for _, v := range r.Values {
			against := ""
			if v.Outcome != "" {
				against = t.Subjects[r.Values[r.ReferenceIndex].SubjectIndex].Name
			}
			rows = append(rows, []string{r.Name, r.Mode, table.SizeText(v.From), table.SizeText(v.To), t.Subjects[v.SubjectIndex].Name, against,
				table.NumberText(v.Value), table.NumberText(v.Low), table.NumberText(v.High), v.Unit, string(v.Verdict), table.NumberText(v.Ratio), table.NumberText(v.RatioLow), table.NumberText(v.RatioHigh), string(v.Outcome),
				v.Method, ranks, v.Algorithm})
		}
	}
	for _, x := range t.Overlaps {
		rows = append(rows, t.crossoverRows(x, "overlap", "", LongerSide)...)
	}
	for _, x := range t.Pairwise {
		rows = append(rows, t.crossoverRows(x, "faster", t.Subjects[x.OtherSubjectIndex].Name, ShorterSide)...)
	}
	return table.WriteText(w, "comparisons", tableHeader, rows)
}

// crossoverRows returns the rows of a crossover. What holds is that its time is on a side.
func (t *Table) crossoverRows(x Crossover, what, against string, side Side) [][]string {
	verdict := params.GoodVerdict
	if x.IsWeak {
		verdict = params.WeakVerdict
	}
	last := x.Zones[len(x.Zones)-1]
	row := func(value, low, high float64, answer Side) []string {
		outcome := map[Side]string{NeitherSide: string(NoDifferenceOutcome), UndecidedSide: string(UndecidedOutcome)}[answer]
		if outcome == "" {
			outcome = yesNoText[answer == side]
		}
		return []string{what + "(" + x.Quantity + ")", x.Mode, table.SizeText(x.Zones[0].From), table.SizeText(last.To), t.Subjects[x.SubjectIndex].Name, against,
			table.NumberText(value), table.NumberText(low), table.NumberText(high), "B", string(verdict), "", "", "", outcome, "", "", ""}
	}
	nan := math.NaN()
	rows := [][]string{row(nan, nan, nan, x.Zones[0].Side)}
	if len(x.Zones) > 1 && x.Zones[0].Side == UndecidedSide {
		rows = append(rows, row(float64(x.Zones[1].From), nan, nan, x.Zones[1].Side))
	}
	for _, p := range x.Crossings {
		rows = append(rows, row(float64(p.Bytes), float64(p.Low), float64(p.High), p.SideAfter))
	}
	if len(x.Zones) > 1 && last.Side == UndecidedSide {
		rows = append(rows, row(float64(last.From), nan, nan, UndecidedSide))
	}
	return rows
}
