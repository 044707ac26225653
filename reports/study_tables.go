package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
)

// near is within how many percent of a published value a measured one is said to agree with it.
const near = 20

// phrases are the verdicts for people.
var phrases = map[string]Cell{
	Holds:         {"holds", Good},
	Fails:         {"fails", Bad},
	Contradicted:  {"contradicted", Normal},
	NotApplicable: {"not applicable", Faint},
}

// fittedTo follows the verdict on a claim that a number was fitted to.
const fittedTo = ", fitted"

// verdict returns the cell of a claim's verdict. That of one which holds as it was made to is no success.
func (c *Claim) verdict() Cell {
	cell, ok := phrases[c.Verdict]
	if !ok {
		cell = text(c.Verdict)
	}
	if c.Calibrated {
		cell.Text += fittedTo
	}
	if c.Calibrated && c.Verdict == Holds {
		cell.Tone = Faint
	}
	return cell
}

// predicates say of one claim, and of several, what a verdict means.
var predicates = map[string][2]string{
	Holds:         {"holds", "hold"},
	Fails:         {"fails", "fail"},
	Contradicted:  {"is contradicted by the source itself", "are contradicted by the source itself"},
	NotApplicable: {"is not applicable", "are not applicable"},
}

// counted returns a number with what is said of one or of several.
func counted(n int, one, several string) string {
	if n == 1 {
		several = one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// counts says how many claims have each verdict, and of how many of those that hold it proves nothing.
func (s *Study) counts() string {
	if len(s.Claims) == 0 {
		return ""
	}
	var words []string
	for _, v := range verdicts {
		if n := s.Count(v); n > 0 {
			words = append(words, counted(n, predicates[v][0], predicates[v][1]))
		}
	}
	out := fmt.Sprintf("Of %s, %s.", counted(len(s.Claims), "claim", "claims"), strings.Join(words, ", "))
	if n := s.Fitted(Holds); n > 0 {
		out += fmt.Sprintf(" Of those that hold, %s.", counted(n, "proves nothing: some number of a platform was fitted to it", "prove nothing: some number of a platform was fitted to each"))
	}
	return out
}

// agreement says how many published values were met.
func (s *Study) agreement() string {
	var words []string
	if all, within := s.Rows(compare.Validation, near); all > 0 {
		words = append(words, fmt.Sprintf("Of %s that nothing was fitted to, %s within %d %%.",
			counted(all, "published value", "published values"), counted(within, "was met", "were met"), near))
	}
	if n, _ := s.Rows(compare.Calibration, near); n > 0 {
		words = append(words, counted(n, "more was used for calibration, so that agreement with it proves nothing.", "more were used for calibration, so that agreement with them proves nothing."))
	}
	if n, _ := s.Rows(Contradicted, near); n > 0 {
		words = append(words, counted(n, "is contradicted by the source itself.", "are contradicted by the source itself."))
	}
	if all, agree := s.Words(); all > 0 {
		words = append(words, fmt.Sprintf("Of %s in words %s and %s.", counted(all, "answer", "answers"), counted(agree, "agrees", "agree"), counted(all-agree, "differs", "differ")))
	}
	return strings.Join(words, " ")
}

// claimTable has a row for each claim. The page also says where a claim stands and how it is checked.
func (s *Study) claimTable(page bool) *Table {
	t := &Table{Name: "claims", Title: "Claims", Cards: page,
		Columns: []Column{{Head: "claim", Key: true}, {Head: "verdict"}, {Head: "what it says", Wrap: true}, {Head: "evidence", Wrap: true}}}
	if page {
		t.Title = "The claims of the paper, and what came of them"
		t.Columns = append(t.Columns, Column{Head: "how it is checked", Wrap: true})
	}
	for _, c := range s.Claims {
		row := []Cell{text(c.ID), c.verdict(), text(c.Text), text(strings.TrimSpace(c.Evidence + "\n" + c.Note))}
		if page {
			if c.Where != "" {
				row[2].Text += " (said in " + c.Where + ")"
			}
			row = append(row, Cell{c.Check, Faint})
		}
		t.add(row...)
	}
	return t
}

// name is the artefact as the paper calls it: Table 3.
func (a *Artefact) name() string {
	kind, number, ok := strings.Cut(a.ID, "-")
	if !ok || kind == "" {
		return a.ID
	}
	return strings.ToUpper(kind[:1]) + kind[1:] + " " + number
}

// title is its name with the caption.
func (a *Artefact) title() string { return strings.TrimSuffix(a.name()+": "+a.Caption, ": ") }

// printedIn heads the column that says where published values are printed.
const printedIn = "printed in"

// findings is the table of an artefact's findings, with a group for each platform, library and place; of a figure, for each mode and
// parameter too. Rows that nothing published is beside are left out unless all are wanted.
func (a *Artefact) findings(all bool) *Table {
	t := &Table{Name: a.ID, Title: a.title(), Columns: []Column{
		{Head: "mode", Key: true}, {Head: "parameter", Key: true}, {Head: "bytes", Key: true, Right: true}, {Head: "published", Right: true}, {Head: "measured", Right: true},
		{Head: "predicted", Right: true}, {Head: "error\n%", Right: true}, {Head: "basis"}, {Head: printedIn, Wrap: true}}}
	if slices.ContainsFunc(a.Rows, func(r Finding) bool { return r.textual() }) {
		for i := 3; i <= 4; i++ { // words
			t.Columns[i].Right, t.Columns[i].Wrap = false, true
		}
		t.Columns[6] = Column{Head: "agrees"}
	}
	var notes []string
	left := 0
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Basis == Shown && !all && !r.textual() { // cells.csv has no words
			left++
			continue
		}
		name, cells := where(r.Platform, r.Library, r.Place), r.cells(t)
		mark, key := a.mark(r, &notes), &cells[1]
		if len(a.Curves) > 0 {
			name += ": " + strings.TrimSpace(r.Mode+" "+cells[1].Text)
			cells[0], cells[1], key = none, none, &cells[7]
		}
		key.Text += mark
		if len(t.Groups) == 0 || t.Groups[len(t.Groups)-1].Name != name {
			t.group(name)
		}
		t.add(cells...)
	}
	for i, n := range notes {
		t.note("(%d) %s", i+1, n)
	}
	if left > 0 {
		t.note("%s, which cells.csv has.", counted(left, "more row has nothing published beside it", "more rows have nothing published beside them"))
	}
	t.spare()
	return t
}

// mark returns the number of a finding's note, which joins the notes if it is new.
func (a *Artefact) mark(r *Finding, notes *[]string) string {
	if r.Note == "" {
		return ""
	}
	i := slices.Index(*notes, r.Note)
	if i < 0 {
		i = len(*notes)
		*notes = append(*notes, r.Note)
	}
	return fmt.Sprintf("%s(%d)", glue, i+1)
}

// reading says how to read the tables. It is the same for all, so it is said once.
var reading = []string{
	"error is (measured − published) / published in percent: from the nearer end of a range if it is outside, 0 inside.",
	"calibration: some number of the platform was fitted to this one, so that agreement proves nothing. validation: nothing was.",
	"contradicted: the source says something else elsewhere. shown: the source has nothing to compare with.",
	"agrees: of answers in words, whether what was found is what the source says. holds, fitted: some number of a platform was fitted to the claim, so that it proves nothing.",
}

// cells returns the row of a finding.
func (r *Finding) cells(t *Table) []Cell {
	tone := Normal
	if r.Basis == compare.Calibration {
		tone = Faint
	}
	published, found := text(r.published()), text(measured(r.Measured, r.MeasuredLow, r.MeasuredHigh))
	if r.textual() {
		published, found = text(r.Text[0]), text(r.Text[1])
	}
	off := Cell{percent(r.ErrorPercent()), tone}
	switch {
	case r.textual():
		off = r.agreement()
	case math.IsInf(r.ErrorPercent(), 0):
		off = none
	}
	if !r.textual() && r.Basis == compare.Validation && math.Abs(r.ErrorPercent()) > near && off != none {
		off.Tone = Doubt
		t.note("%s is farther off than %d %%.", doubt, near)
	}
	bytes := none
	if r.Bytes >= 0 {
		bytes = text(strconv.Itoa(r.Bytes))
	}
	mode := text(r.Mode)
	if r.Mode == "" {
		mode = none
	}
	name := strings.TrimSpace(r.Parameter + " " + r.Unit)
	return []Cell{mode, text(name), bytes, published, found, text(number(r.Predicted)), off, {r.Basis, tone}, {r.Source, Faint}}
}

// agreement is the cell that says whether words agree.
func (r *Finding) agreement() Cell {
	switch r.Agreement {
	case "":
		return none
	case Agrees:
		return text("yes")
	}
	return Cell{"no", Bad}
}

// published returns the published value, or range.
func (r *Finding) published() string {
	switch {
	case math.IsNaN(r.Low) || math.IsNaN(r.High):
		return none.Text
	case r.Low == r.High:
		return brief(r.Low)
	}
	return brief(r.Low) + " to " + brief(r.High)
}

// brief returns a number with the digits that it has, if they are few.
func brief(x float64) string {
	const few = 7
	if s := exact(x); len(s) <= few {
		return s
	}
	return number(x)
}

// spare removes columns in which nothing stands.
func (t *Table) spare() {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		empty := true
		for _, g := range t.Groups {
			for _, r := range g.Rows {
				empty = empty && (r[i].Text == "" || r[i].Text == none.Text)
			}
		}
		if empty {
			t.drop(i)
		}
	}
}

// drop removes a column.
func (t *Table) drop(i int) {
	t.Columns = slices.Delete(t.Columns, i, i+1)
	for _, g := range t.Groups {
		for j := range g.Rows {
			g.Rows[j] = slices.Delete(g.Rows[j], i, i+1)
		}
	}
}

// factTable has the facts of the run.
func (s *Study) factTable() *Table {
	t := &Table{Name: "facts", Columns: []Column{{Head: "fact", Key: true}, {Head: "value", Wrap: true}}}
	for _, f := range s.Facts {
		t.add(text(f[0]), text(f[1]))
	}
	return t
}
