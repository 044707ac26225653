package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// BlindPrediction is what a commit predicted of a published number that its authors did not know.
// No later calibration changes it.
type BlindPrediction struct {
	Value  float64 // NaN: the commit had no program for it
	Commit string
}

// BlindClass is the class of a published value that was predicted before its publication was known
// to the authors of the emulation.
const BlindClass = "blind"

// Class says what agreement with the published value is worth: BlindClass, or else the basis.
func (r *Finding) Class() string {
	switch {
	case r.Blind == nil:
		return r.Basis
	case r.Basis == compare.CalibrationBasis:
		return BlindClass + ", fitted later"
	}
	return BlindClass
}

// BlindErrorPercent is how far the blind prediction is from the published value, as ErrorPercent.
// It is NaN where there was none.
func (r *Finding) BlindErrorPercent() float64 {
	if r.Blind == nil {
		return math.NaN()
	}
	frozen := *r
	frozen.Measured = r.Blind.Value
	return frozen.ErrorPercent()
}

// blindValue is the blind prediction, or NaN.
func (r *Finding) blindValue() float64 {
	if r.Blind == nil {
		return math.NaN()
	}
	return r.Blind.Value
}

// errorKindAndPercent is the kind as which a published value counts, and its error there: blind
// predictions are a kind of their own, whatever was fitted later.
func (r *Finding) errorKindAndPercent() (kind string, percent float64) {
	if r.Blind != nil {
		return BlindClass, r.BlindErrorPercent()
	}
	return r.Basis, r.ErrorPercent()
}

// blindFindings are the published numbers that were predicted blind, each once.
func (s *Study) blindFindings() (all []*Finding) {
	s.forEachFinding(func(r *Finding) {
		if r.Blind != nil && !r.IsRepeated {
			all = append(all, r)
		}
	})
	return all
}

// sortedAbsoluteErrors are the sizes of errors that are known, in order.
func sortedAbsoluteErrors(all []*Finding, off func(*Finding) float64) (errors []float64) {
	for _, r := range all {
		if e := math.Abs(off(r)); !math.IsNaN(e) && !math.IsInf(e, 0) {
			errors = append(errors, e)
		}
	}
	slices.Sort(errors)
	return errors
}

// sortedMedian is the median of sorted numbers.
func sortedMedian(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// blindSentence says how good the blind predictions were, or "" if there are none.
func (s *Study) blindSentence() string {
	all := s.blindFindings()
	if len(all) == 0 {
		return ""
	}
	errors, agree := sortedAbsoluteErrors(all, (*Finding).BlindErrorPercent), 0
	for _, e := range errors {
		if e <= agreementPercent {
			agree++
		}
	}
	out := fmt.Sprintf("%s of numbers that the authors did not know, by commit %s: %d within %d %%, the median error is %s, the largest %s.",
		format.Plural(len(errors), "blind prediction"), all[0].Blind.Commit, agree, agreementPercent, formatErrorPercent(sortedMedian(errors)), formatErrorPercent(errors[len(errors)-1]))
	if n := len(all) - len(errors); n > 0 {
		out += fmt.Sprintf(" Not predicted: %d.", n)
	}
	hold, claims := 0, 0
	for _, c := range s.Claims {
		if c.BlindVerdict != "" {
			claims++
			if c.BlindVerdict == VerdictHolds {
				hold++
			}
		}
	}
	if claims > 0 {
		out += fmt.Sprintf(" Claims that were not known then: %d of %d held.", hold, claims)
	}
	return out
}

// formatErrorPercent returns the size of an error, in percent.
func formatErrorPercent(percent float64) string {
	return strings.TrimPrefix(format.Percent(percent), "+") + format.NonBreakingSpace + "%"
}

// blindTable has a row for each blind prediction, beside what is measured now.
func (s *Study) blindTable() *doc.Table {
	t := &doc.Table{Name: "blind", Title: "Predicted before the published value was known", File: "cells.csv", Columns: []doc.Column{
		{Heading: "case", IsKey: true}, {Heading: "published", Kind: doc.NumberColumn}, {Heading: "predicted\nblind", Kind: doc.NumberColumn}, {Heading: "blind\nerror %", Kind: doc.NumberColumn},
		{Heading: "measured\nnow", Kind: doc.NumberColumn}, {Heading: "error\nnow %", Kind: doc.NumberColumn}, {Heading: "fitted\nlater"}}}
	for i := range s.Artefacts {
		a := &s.Artefacts[i]
		group := doc.Group{Name: a.fullTitle()}
		for j := range a.Rows {
			r := &a.Rows[j]
			if r.Blind == nil || r.IsRepeated {
				continue
			}
			later := doc.EmptyCell
			if r.Basis == compare.CalibrationBasis {
				later = doc.TextCell("yes")
			}
			name := format.PlaceName(r.Platform, r.Library, "") + " " + r.modeColumn() + " " + r.quantityName()
			group.Rows = append(group.Rows, []doc.Cell{doc.TextCell(format.SingleLine(name)), doc.NumberCell(r.Low), doc.NumberCell(r.Blind.Value).WithTone(doc.BlindTone),
				doc.PercentCell(r.BlindErrorPercent()).WithTone(doc.BlindTone), doc.NumberCell(r.Measured), doc.PercentCell(r.ErrorPercent()), later})
		}
		if len(group.Rows) > 0 {
			t.Groups = append(t.Groups, group)
		}
	}
	return t
}

// errorTable has the errors of each table, and of the whole paper.
func (s *Study) errorTable() *doc.Table {
	t := &doc.Table{Name: "errors", Title: "Errors of published numbers, those that were fitted left out", Columns: []doc.Column{
		{Heading: "of", IsKey: true}, {Heading: "numbers", Kind: doc.NumberColumn}, {Heading: "median\n%", Kind: doc.NumberColumn}, {Heading: "worst\n%", Kind: doc.NumberColumn},
		{Heading: "fitted", Kind: doc.NumberColumn}, {Heading: "blind", Kind: doc.NumberColumn}, {Heading: "median\nblind %", Kind: doc.NumberColumn}, {Heading: "worst\nblind %", Kind: doc.NumberColumn}}}
	var whole []*Finding
	add := func(name string, of []*Finding) {
		var free, blind []*Finding
		fitted := 0
		for _, r := range of {
			switch {
			case r.Basis == compare.CalibrationBasis:
				fitted++
			case r.Basis != VerdictContradicted:
				free = append(free, r)
			}
			if r.Blind != nil {
				blind = append(blind, r)
			}
		}
		now, then := sortedAbsoluteErrors(free, (*Finding).ErrorPercent), sortedAbsoluteErrors(blind, (*Finding).BlindErrorPercent)
		largest := func(sorted []float64) float64 {
			if len(sorted) == 0 {
				return math.NaN()
			}
			return sorted[len(sorted)-1]
		}
		t.AddRow(doc.TextCell(name), doc.CountCell(len(now)), doc.NumberCell(sortedMedian(now)), doc.NumberCell(largest(now)), doc.CountCell(fitted),
			doc.CountCell(len(then)), doc.NumberCell(sortedMedian(then)).WithTone(doc.BlindTone), doc.NumberCell(largest(then)).WithTone(doc.BlindTone))
	}
	for i := range s.Artefacts {
		a := &s.Artefacts[i]
		var of []*Finding
		for j := range a.Rows {
			if r := &a.Rows[j]; !math.IsNaN(r.Low) && !r.IsRepeated && !r.isTextual() {
				of = append(of, r)
			}
		}
		if len(of) > 0 {
			add(a.paperName(), of)
			whole = append(whole, of...)
		}
	}
	if len(whole) > 0 {
		add("the paper", whole)
	}
	return t
}

// ComparisonSuffixes follow the name of a column of results in tables: what is published, the error
// of what was measured, the class of the published value, and what was predicted blind with its
// error.
var ComparisonSuffixes = []string{"_published", "_error_percent", "_class", "_blind", "_blind_error_percent"}

// Comparison returns the cells of those columns. NA is a number that does not exist.
func (r *Finding) Comparison() []string {
	number := func(x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return "NA"
		}
		return format.FileNumber(x)
	}
	published := number(r.Low)
	if r.Low < r.High {
		published += " to " + number(r.High)
	}
	return []string{published, number(r.ErrorPercent()), r.Class(), number(r.blindValue()), number(r.BlindErrorPercent())}
}
