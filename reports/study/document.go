package study

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// Document returns the study as a report. Without all rows it has only those with a published
// value, which a terminal has room for.
func (s *Study) Document(all bool) *doc.Document {
	d := s.VerdictDocument(all)
	d.FrontFigures = doc.Figures(doc.FullWidth, s.ratioChart())
	if all {
		d.Answer, d.KeyNumbers = s.answerSentence(), append(d.KeyNumbers, s.trustKey())
	}
	d.AddSection(doc.Section{ID: "reading", Title: "How to read the tables", Items: []string{
		"error is (measured − published) / published in percent: from the nearer end of a range if it is outside, 0 inside.",
		"calibration: some number of the platform was fitted to this one, so that agreement proves nothing. validation: nothing was.",
		"assumptions: nothing was fitted, but a number that is assumed moves the value by more than 5 % when it is halved or doubled. The note names it.",
		"unexamined: nothing was fitted, and it takes too long to find out whether assumed numbers decide the value.",
		"blind: predicted before the value was known to the authors, and frozen. Errors beside it are of what is measured now; the section on blind predictions has both.",
		"contradicted: the source says something else elsewhere. shown: nothing is published to compare with.",
		"agrees: whether an answer in words is what the source says.",
	}})
	if t := s.blindTable(); t.CountRows() > 0 {
		d.AddTables("blind", "Blind predictions", t)
	}
	d.AddTables("errors", "Errors by table", s.errorTable())
	for i := range s.Artefacts {
		a := &s.Artefacts[i]
		t := a.findingTable(all)
		x := doc.Section{ID: format.FileName(a.ID), Title: a.fullTitle(), ShortTitle: a.paperName(), Items: a.Notes, Tables: []*doc.Table{t},
			Figures: a.figures()}
		switch {
		case all:
		case t.CountRows() > 0:
			t.Notes, x.Items = append(t.Notes, a.Notes...), nil
		default:
			x.Items = append(x.Items[:len(x.Items):len(x.Items)], t.Notes...)
		}
		d.AddSection(x)
	}
	run := &doc.Table{Name: "facts", Title: "How it was measured", Columns: []doc.Column{{Heading: "fact", IsKey: true}, {Heading: "value", Kind: doc.ProseColumn}}}
	var commands []string
	for _, f := range s.Facts {
		run.AddRow(doc.TextCell(f[0]), doc.TextCell(f[1]))
		if f[0] == "command" {
			commands = append(commands, f[1])
		}
	}
	d.AddTables("run", "The run", run)
	d.AddSection(doc.Section{ID: "again", Title: "How to reproduce this page", PageOnly: true, Text: []string{"The same command gives exactly the same numbers."}, Commands: commands})
	d.AddSection(doc.Section{ID: "glossary", Title: "Terms", PageOnly: true, Terms: []doc.Term{
		{Name: "published", Meaning: "As it is printed in the paper; both ends where it is a range."},
		{Name: "measured", Meaning: "By loggp's micro-benchmarks on the emulated machine, with the 95 % interval."},
		{Name: "predicted", Meaning: "By the models, from the file of the platform, without running anything."},
		{Name: "validation", Meaning: "Nothing was fitted to the published value: agreement is evidence."},
		{Name: "calibration", Meaning: "A number of the platform was fitted to the published value: agreement is no evidence."},
		{Name: "assumptions", Meaning: "Nothing was fitted, but a number of the platform that is assumed moves the value by more than 5 % when it is halved or doubled."},
		{Name: "unexamined", Meaning: "Nothing was fitted, but it was not examined whether assumed numbers decide the value."},
		{Name: "blind", Meaning: "Predicted by a commit whose authors did not know the published value. The prediction is frozen: later calibration does not change it."},
		{Name: "nothing fitted", Meaning: "No number of a platform was fitted to the claim or to a published number whose quantity it compares."},
		{Name: "fitted numbers", Meaning: "Some number was: the claim says less than one that rests on nothing fitted."},
		{Name: "true by construction", Meaning: "The claim is an identity, or what was put into a platform's file: it could not fail."},
		{Name: "undecided", Meaning: "The 95 % interval of what is compared contains the threshold."},
		{Name: "not applicable", Meaning: "What the claim speaks of cannot be run."},
	}})
	d.FoldAllBut("summary", "errors")
	return d
}

// figures are the pictures of an artefact: one with the width of the page to itself, several in two
// columns.
func (a *Artefact) figures() []doc.Figure {
	pictures := a.charts()
	if len(pictures) > 1 && len(a.Charts) == 0 {
		return doc.Figures(doc.HalfWidth, pictures...)
	}
	return doc.Figures(doc.SingleWidth, pictures...)
}

// answerSentence says in a sentence what came of the paper: how many claims rest on what, and how
// near the numbers are that prove something.
func (s *Study) answerSentence() string {
	var parts []string
	for _, v := range []struct{ basis, words string }{{BasisNothingFitted, "rest on nothing fitted"}, {BasisFitted, "rest on fitted numbers"}, {BasisTrueByConstruction, "are true by construction"}} {
		if n := s.CountClaims("", v.basis); n > 0 {
			hold := s.CountClaims(VerdictHolds, v.basis)
			parts = append(parts, fmt.Sprintf("%d %s (%d hold)", n, v.words, hold))
		}
	}
	var out string
	if len(parts) > 0 {
		out = fmt.Sprintf("Of %s of the paper %s", format.Plural(len(s.Claims), "claim"), strings.Join(parts, ", "))
	}
	for _, k := range []struct{ basis, words string }{{BlindClass, "predicted blind"}, {compare.ValidationBasis, "to which nothing was fitted"}, {BasisAssumed, "decided by assumptions"}, {BasisUnexamined, "not examined"}} {
		var errors []float64
		s.forEachFinding(func(r *Finding) {
			if kind, off := r.errorKindAndPercent(); kind == k.basis && !r.isTextual() && !r.IsRepeated && !math.IsNaN(off) {
				errors = append(errors, math.Abs(off))
			}
		})
		if slices.Sort(errors); len(errors) > 0 {
			what := "the median error"
			if len(errors) == 1 {
				what = "the error"
			}
			out += fmt.Sprintf("; %s of %s %s is %s", what, format.Plural(len(errors), "number"), k.words, formatErrorPercent(sortedMedian(errors)))
		}
	}
	if out = strings.TrimPrefix(out, "; "); out == "" {
		return ""
	}
	return strings.ToUpper(out[:1]) + out[1:] + "."
}

// trustKey says how much of the paper tests the emulation: the published numbers and the claims to
// which nothing was fitted, and which no assumed number decides.
func (s *Study) trustKey() doc.KeyNumber {
	numbers := s.countNumbers(BlindClass).all + s.countNumbers(compare.ValidationBasis).all
	allNumbers := numbers
	for _, basis := range []string{compare.CalibrationBasis, BasisAssumed, BasisUnexamined} {
		allNumbers += s.countNumbers(basis).all
	}
	claims, allClaims := s.CountClaims("", BasisNothingFitted), len(s.Claims)
	k := doc.KeyNumber{Name: "Trust", Value: "sound", Tone: doc.GoodTone, IsTrust: true}
	if float64(numbers+claims) < doc.MinSoundShare*float64(allNumbers+allClaims) {
		k.Value, k.Tone = "limited", doc.DoubtfulTone
	}
	k.Note = fmt.Sprintf("%d of %s and %d of %s test the emulation; the others were fitted to, or assumed numbers decide them", numbers, format.Plural(allNumbers, "published number"), claims, format.Plural(allClaims, "claim"))
	return k
}

// VerdictDocument returns a document of the verdicts alone.
func (s *Study) VerdictDocument(page bool) *doc.Document {
	d := &doc.Document{Title: s.Title, Introduction: []string{s.Source, "Each table and figure of this paper, and each of its statements that a program can check, stand beside what loggp measured on emulated machines and what its models predict."},
		Footer: "Made by loggp.", Files: []doc.File{{Name: "cells.csv", Write: s.WriteCells}, {Name: "claims.csv", Write: s.WriteClaims}}}
	for _, t := range s.Tables {
		d.Files = append(d.Files, doc.File{Name: "tables/" + t.Name, Write: func(w io.Writer) error {
			return table.WriteText(w, "rows", strings.Join(t.Columns, ","), t.Rows)
		}})
	}
	counts := &doc.Table{Name: "verdicts", Title: "Verdicts", Columns: []doc.Column{{Heading: "decided by", IsKey: true}, {Heading: "claims", Kind: doc.NumberColumn}, {Heading: "hold", Kind: doc.NumberColumn}, {Heading: "fail", Kind: doc.NumberColumn}}}
	for _, rests := range []string{BasisNothingFitted, BasisFitted, BasisTrueByConstruction} {
		if s.CountClaims("", rests) > 0 {
			hold, fail := s.CountClaims(VerdictHolds, rests), s.CountClaims(VerdictFails, rests)
			counts.AddRow(doc.TextCell(rests), doc.CountCell(hold+fail), doc.CountCell(hold), doc.CountCell(fail))
			d.KeyNumbers = append(d.KeyNumbers, doc.KeyNumber{Name: "claims, " + rests, Value: fmt.Sprintf("%d of %d hold", hold, hold+fail)})
		}
	}
	for _, v := range []string{VerdictUndecided, VerdictContradicted, VerdictNotApplicable} {
		if n := s.CountClaims(v, ""); n > 0 {
			counts.AddRow(doc.TextCell(verdictCells[v].Text), doc.CountCell(n), doc.EmptyCell, doc.EmptyCell)
			d.KeyNumbers = append(d.KeyNumbers, doc.KeyNumber{Name: "claims, " + verdictCells[v].Text, Value: strconv.Itoa(n)})
		}
	}
	for _, k := range []struct{ basis, name string }{{BlindClass, "values, predicted blind"}, {compare.ValidationBasis, "values, nothing fitted"}, {BasisAssumed, "values, assumed numbers"}, {BasisUnexamined, "values, unexamined"}} {
		if t := s.countNumbers(k.basis); t.all > 0 {
			d.KeyNumbers = append(d.KeyNumbers, doc.KeyNumber{Name: k.name, Value: fmt.Sprintf("%d of %d", t.agree, t.all), Note: fmt.Sprintf("are met within %d %%", agreementPercent)})
		}
	}
	summary := doc.Section{ID: "summary", Title: s.Title, Text: []string{s.Source, s.agreementSentence()}, Tables: []*doc.Table{counts}}
	if page { // which has the title and the source above
		summary.Title, summary.Text = "Summary", summary.Text[1:]
	}
	summary.Text = slices.DeleteFunc(summary.Text, func(t string) bool { return t == "" })
	d.AddSection(summary)
	d.AddTables("claims", "Claims", s.claimTable(page))
	return d
}

// verdictCells are the verdicts for people.
var verdictCells = map[string]doc.Cell{
	VerdictHolds:         {Text: "holds", Tone: doc.GoodTone},
	VerdictFails:         {Text: "fails", Tone: doc.BadTone},
	VerdictUndecided:     {Text: "undecided", Tone: doc.DoubtfulTone},
	VerdictContradicted:  {Text: "contradicted"},
	VerdictNotApplicable: {Text: "not applicable", Tone: doc.FaintTone},
}

// verdictCell returns the cell of a claim's verdict. That of one which holds as it was made to is
// no success.
func (c *Claim) verdictCell() doc.Cell {
	cell, ok := verdictCells[c.Verdict]
	if !ok {
		cell = doc.TextCell(c.Verdict)
	}
	if c.Verdict == VerdictHolds && c.Basis != BasisNothingFitted {
		cell.Tone = doc.FaintTone
	}
	return cell
}

// claimTable has a row for each claim. A page also says where it stands and how it is checked, and
// has those that do not hold first.
func (s *Study) claimTable(page bool) *doc.Table {
	t := &doc.Table{Name: "claims", Title: "The claims of the paper, and what came of them", RowsAsCards: page, File: "claims.csv",
		Columns: []doc.Column{{Heading: "claim", IsKey: true}, {Heading: "verdict"}, {Heading: "rests on"}, {Heading: "what it says", Kind: doc.ProseColumn}, {Heading: "evidence", Kind: doc.ProseColumn}}}
	claims := s.Claims
	if page {
		t.Columns = append(t.Columns, doc.Column{Heading: "how it is checked", Kind: doc.ProseColumn})
		t.AddNote("A verdict rests on nothing fitted, or on numbers of a platform that were fitted to the claim or to the values it compares. The terms at the end of the page explain the verdicts.")
		claims = slices.Clone(claims)
		order := []string{VerdictFails, VerdictUndecided, VerdictContradicted, VerdictHolds}
		place := func(c Claim) int {
			if i := slices.Index(order, c.Verdict); i >= 0 {
				return i
			}
			return len(order)
		}
		slices.SortStableFunc(claims, func(a, b Claim) int { return place(a) - place(b) })
	}
	for _, c := range claims {
		if page {
			t.BeginGroup(fmt.Sprintf("%s: %d", cmp.Or(verdictCells[c.Verdict].Text, c.Verdict), s.CountClaims(c.Verdict, "")))
		}
		evidence := c.Evidence + "\n" + c.Note
		if c.Cause != "" {
			evidence = "Cause: " + c.Cause + "\n" + evidence
		}
		row := []doc.Cell{doc.TextCell(c.ID), c.verdictCell(), doc.TextCell(c.Basis), doc.TextCell(c.Text), doc.TextCell(strings.TrimSpace(evidence))}
		if page {
			if c.Location != "" {
				row[3].Text += " (said in " + c.Location + ")"
			}
			row = append(row, doc.Cell{Text: c.Check, Tone: doc.FaintTone})
		}
		t.AddRow(row...)
	}
	return t
}

// paperName is the artefact as the paper calls it: Table 3.
func (a *Artefact) paperName() string {
	kind, number, ok := strings.Cut(a.ID, "-")
	if !ok || kind == "" {
		kind, number = a.ID, ""
	}
	if kind == "" {
		return ""
	}
	return strings.TrimSpace(strings.ToUpper(kind[:1]) + kind[1:] + " " + number)
}

// fullTitle is its name with the caption.
func (a *Artefact) fullTitle() string { return strings.TrimSuffix(a.paperName()+": "+a.Caption, ": ") }

// findingTable has the findings of an artefact, with a group for each platform, library and place;
// of a figure, for each mode and parameter too.
func (a *Artefact) findingTable(all bool) *doc.Table {
	first, quantity := "case", a.commonQuantity()
	if !slices.ContainsFunc(a.Rows, func(r Finding) bool { return strings.Trim(r.Mode, "abcdefghijklmnopqrstuvwxyz") != "" }) {
		first = "mode"
	}
	t := &doc.Table{Name: a.ID, Title: a.fullTitle(), File: "cells.csv", Columns: []doc.Column{
		{Heading: first}, {Heading: "parameter"}, {Heading: "bytes", Kind: doc.NumberColumn}, {Heading: "published", Kind: doc.NumberColumn}, {Heading: "measured", Kind: doc.NumberColumn},
		{Heading: "predicted", Kind: doc.NumberColumn}, {Heading: "error\n%", Kind: doc.NumberColumn}, {Heading: "basis"}, {Heading: "printed in", Kind: doc.ProseColumn}}}
	figure := len(a.Curves) > 0
	t.Columns[0].IsKey = !figure && slices.ContainsFunc(a.Rows, func(r Finding) bool { return r.Mode != "" })
	t.Columns[1].IsKey, t.Columns[2].IsKey = !figure && (!all || quantity == ""), figure
	if all {
		t.Title = a.paperName() + ", published and measured"
		if quantity != "" {
			t.Title = a.paperName() + ": " + quantity + ", published and measured"
		}
	}
	if slices.ContainsFunc(a.Rows, func(r Finding) bool { return r.isTextual() }) {
		t.Columns[3].Kind, t.Columns[4].Kind = doc.ProseColumn, doc.ProseColumn
		t.Columns[6] = doc.Column{Heading: "agrees"}
	}
	var notes []string
	var rows rowGroups
	left := 0
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Basis == BasisUnpublished && !all && !r.isTextual() {
			left++
			continue
		}
		cells := r.cells(t)
		if !all || r.Source == a.paperName() { // no room, or no news
			cells[8] = doc.EmptyCell
		}
		if all && quantity != "" {
			cells[1] = doc.EmptyCell
		}
		if r.Note != "" {
			n := slices.Index(notes, r.Note)
			if n < 0 {
				n = len(notes)
				notes = append(notes, r.Note)
			}
			cells[7].Text += fmt.Sprintf("%s(%d)", format.NonBreakingSpace, n+1)
		}
		group := format.PlaceName(r.Platform, r.Library, r.Place)
		if figure {
			what := strings.TrimSpace(r.Mode + " " + r.quantityName())
			if all && quantity != "" {
				what = r.Mode
			}
			group = strings.TrimSuffix(group+": "+what, ": ")
			cells[0], cells[1] = doc.EmptyCell, doc.EmptyCell
		}
		rows.add(group, cells)
	}
	t.Groups = rows
	for i, n := range notes {
		t.AddNote("(%d) %s", i+1, n)
	}
	if left > 0 {
		t.AddNote("Rows without a published value, which cells.csv has: %d.", left)
	}
	t.DropEmpty()
	return t
}

// rowGroups are rows under their headings, each heading once.
type rowGroups []doc.Group

func (g *rowGroups) add(name string, row []doc.Cell) {
	i := slices.IndexFunc(*g, func(x doc.Group) bool { return x.Name == name })
	if i < 0 {
		i = len(*g)
		*g = append(*g, doc.Group{Name: name})
	}
	(*g)[i].Rows = append((*g)[i].Rows, row)
}

// commonQuantity is the parameter with its unit that all rows of an artefact have, or "".
func (a *Artefact) commonQuantity() string {
	for i := range a.Rows {
		if r := &a.Rows[i]; r.isTextual() || r.quantityName() != a.Rows[0].quantityName() {
			return ""
		}
	}
	if len(a.Rows) == 0 || a.Rows[0].Unit == "" {
		return ""
	}
	return a.Rows[0].Parameter + " in " + a.Rows[0].Unit
}

// modeColumn is what a source has in the column that tells rows of a table apart, or "" where that
// does not apply.
func (r *Finding) modeColumn() string {
	if r.Mode == "NA" {
		return ""
	}
	return r.Mode
}

// quantityName is the parameter with its unit.
func (r *Finding) quantityName() string { return strings.TrimSpace(r.Parameter + " " + r.Unit) }

// cells returns the row of a finding.
func (r *Finding) cells(t *doc.Table) []doc.Cell {
	tone := doc.NormalTone
	switch {
	case r.Blind != nil:
		tone = doc.BlindTone
	case r.Basis == compare.CalibrationBasis:
		tone = doc.FaintTone
	}
	errorTone := tone
	if r.Blind != nil { // the error of what is measured now
		errorTone = doc.NormalTone
	}
	or := func(text string) doc.Cell {
		if text == "" {
			return doc.EmptyCell
		}
		return doc.TextCell(text)
	}
	published, found, off := doc.EmptyCell, doc.IntervalCell(r.Measured, r.MeasuredLow, r.MeasuredHigh), doc.PercentCell(r.ErrorPercent()).WithTone(errorTone)
	if r.MeasuredLow == r.MeasuredHigh {
		found = doc.NumberCell(r.Measured)
	}
	switch {
	case r.isTextual():
		published, found = doc.TextCell(r.Text[0]), doc.TextCell(r.Text[1])
		off = map[string]doc.Cell{"": doc.EmptyCell, WordsAgree: doc.TextCell("yes"), WordsDiffer: {Text: "no", Tone: doc.BadTone}}[r.Agreement]
	case r.Low == r.High:
		published = doc.Cell{Text: format.FileNumber(r.Low), Values: []float64{r.Low}}
	case r.Low < r.High:
		published = doc.TextCell(format.FileNumber(r.Low) + " to " + format.FileNumber(r.High))
	}
	switch e := r.ErrorPercent(); {
	case r.isTextual():
	case math.IsInf(e, 0) || math.IsNaN(e):
		off = doc.EmptyCell
	case r.Basis == compare.ValidationBasis && math.Abs(e) > agreementPercent:
		off.Tone = doc.DoubtfulTone
		t.AddNote("%s beside an error: farther off than %d %%.", doc.WeakMark, agreementPercent)
	}
	if r.IsUpperBound {
		found.Text, off = format.UpperBound(r.Measured, r.MeasuredHigh), doc.EmptyCell
		t.AddNote("≤ is an upper bound, as fit prints it: the samples show only that the value is not larger, so it has no error. cells.csv has the value by the paper's own method.")
	}
	if r.Warning != "" && !r.isTextual() {
		found.Tone = doc.DoubtfulTone
		t.AddNote("%s beside a measured value: the fit warns of it, in the note of the row.", doc.WeakMark)
	}
	return []doc.Cell{or(r.modeColumn()), doc.TextCell(r.quantityName()), sizeCell(r.Bytes), published, found, doc.NumberCell(r.Predicted), off,
		{Text: r.Class(), Tone: tone}, {Text: r.Source, Tone: doc.FaintTone}}
}

// WriteCells writes a row for each finding as CSV, in the units of the findings. The cell of a
// number that does not exist is empty.
func (s *Study) WriteCells(w io.Writer) error {
	t := &doc.Table{Name: "cells", Columns: doc.TextColumns("artefact", "platform", "library", "place", "mode", "parameter", "bytes", "published_low", "published_high",
		"measured", "predicted", "error_percent", "basis", "measured_low", "measured_high", "warning", "blind_predicted", "blind_error_percent")}
	for _, a := range s.Artefacts {
		for i := range a.Rows {
			r := &a.Rows[i]
			row := append(doc.TextCells(a.ID, r.Platform, r.Library, r.Place, r.Mode, r.Parameter), sizeCell(r.Bytes))
			for _, x := range []float64{r.Low, r.High, r.Measured, r.Predicted, r.ErrorPercent()} {
				row = append(row, doc.NumberCell(x))
			}
			t.AddRow(append(row, doc.TextCell(r.Class()), doc.NumberCell(r.MeasuredLow), doc.NumberCell(r.MeasuredHigh), doc.TextCell(r.Warning), doc.NumberCell(r.blindValue()), doc.NumberCell(r.BlindErrorPercent()))...)
		}
	}
	return render.WriteTableCSV(w, t)
}

// WriteClaims writes a row for each claim as CSV.
func (s *Study) WriteClaims(w io.Writer) error {
	t := &doc.Table{Name: "claims", Columns: doc.TextColumns("id", "verdict", "evidence", "rests_on", "note", "blind_verdict", "cause")}
	for _, c := range s.Claims {
		t.AddRow(doc.TextCells(c.ID, c.Verdict, c.Evidence, c.Basis, c.Note, c.BlindVerdict, c.Cause)...)
	}
	return render.WriteTableCSV(w, t)
}

// sizeCell returns a number of bytes; one below zero stands for no size.
func sizeCell(bytes int) doc.Cell {
	if bytes < 0 {
		return doc.EmptyCell
	}
	return doc.CountCell(bytes)
}
