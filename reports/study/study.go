// Package study makes the report on a paper whose experiments were run again: each of its tables
// and figures beside what was measured and predicted, and each of its claims with a verdict.
package study

import (
	"fmt"
	"math"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/chart"
)

// Study is a paper whose experiments were run again: its tables and figures beside what was
// measured and predicted, and its claims with the verdicts on them.
type Study struct {
	Name      string // short, for files: altawil-moritz
	Title     string
	Source    string      // authors, title and year of the paper
	Facts     [][2]string // about the run: version, command, seed
	Artefacts []Artefact
	Claims    []Claim
	Tables    []Table
}

// Table is a published table with what was measured instead of what is published, in its own
// columns. NA is a value that was not measured.
type Table struct {
	Name    string // of the file of the published table
	Columns []string
	Rows    [][]string
}

// The verdicts on claims.
const (
	VerdictHolds         = "holds"
	VerdictFails         = "fails"
	VerdictUndecided     = "undecided"      // the interval of what is compared contains the threshold
	VerdictContradicted  = "contradicted"   // the source contradicts itself, so that no machine could decide it
	VerdictNotApplicable = "not_applicable" // what it speaks of cannot be run
)

// What a verdict rests on.
const (
	BasisNothingFitted      = "nothing fitted"
	BasisFitted             = "fitted numbers"       // a number was fitted to the claim, or to a published number whose quantity it compares
	BasisTrueByConstruction = "true by construction" // an identity, or what was put in
)

// BasisUnpublished is the basis of a finding without a published value. The others are
// compare.CalibrationBasis, compare.ValidationBasis and VerdictContradicted.
const BasisUnpublished = "shown"

// BasisAssumed is the basis of a published value to which nothing was fitted, and that a
// number which is assumed decides: agreement with it says no more than that the guess was good.
const BasisAssumed = "assumptions"

// BasisUnexamined is the basis of a published value to which nothing was fitted, where it was not
// found out whether assumed numbers decide it.
const BasisUnexamined = "unexamined"

// Whether two answers in words are the same.
const (
	WordsAgree  = "agrees"
	WordsDiffer = "differs"
)

// Artefact is a table or a figure of the paper.
type Artefact struct {
	ID      string // table-3, figure-10
	Caption string
	Rows    []Finding
	Curves  []Curve // of a figure
	XAxis   string  // with its unit; of a figure
	YAxis   string
	Notes   []string       // what was done where the paper leaves it open, and what is wrong with the source
	Charts  []*chart.Chart // pictures other than curves, such as time lines
}

// MarkAssumed marks the published value of a row as decided by numbers of a platform that are
// assumed, if nothing was fitted to it.
func (s *Study) MarkAssumed(row string, numbers []string) {
	s.forEachFinding(func(r *Finding) {
		if r.PublishedRow == row && r.Basis == compare.ValidationBasis {
			r.Basis = BasisAssumed
			r.Note = strings.TrimSpace(r.Note + " Decided by assumptions: " + strings.Join(numbers, ", ") + ".")
		}
	})
}

// Finding is a published value beside what was measured and predicted. A number that does not exist
// is NaN.
type Finding struct {
	Platform, Library, Place, Mode string
	PublishedRow                   string // name of the published value, as numbers that were fitted to it have: table-3 T3D o_s low
	Parameter                      string
	Bytes                          int     // negative: no size
	Unit                           string  // us, us/B, MB/s, or "" for a count
	Low, High                      float64 // published; the same where one value is printed
	Measured                       float64
	MeasuredLow, MeasuredHigh      float64          // interval of what was measured, at 95 %
	IsUpperBound                   bool             // of what was measured only the upper end is known
	Predicted                      float64          // by the model, from the platform's file
	Text                           [2]string        // published and found, of a row that is not a number
	Agreement                      string           // of these: WordsAgree, WordsDiffer, or "" where they cannot be compared
	Basis                          string           // compare.CalibrationBasis, compare.ValidationBasis, BasisAssumed, BasisUnexamined, VerdictContradicted or BasisUnpublished
	Source                         string           // where the published value is printed
	Note                           string           // the contradiction, how the value is read, what the fit warns of
	Warning                        string           // codes of the fit's warnings
	IsRepeated                     bool             // the published value counts in another artefact
	Blind                          *BlindPrediction // of a published value that was not known; nil: it was
}

// ErrorPercent is how far the measured value is from the published one, in percent, signed: from
// the nearer end of a range if it is outside, 0 inside. It is NaN where one of them is missing.
func (r *Finding) ErrorPercent() float64 {
	switch {
	case r.Measured < r.Low:
		return 100 * (r.Measured/r.Low - 1)
	case r.Measured > r.High:
		return 100 * (r.Measured/r.High - 1)
	}
	return 0 * r.Measured * r.Low * r.High // NaN if one is
}

// isTextual says whether the finding is words, not a number.
func (r *Finding) isTextual() bool { return r.Text != [2]string{} }

// Curve is a line of a figure.
type Curve struct {
	Name   string // curves of one name belong together: what was measured, predicted and published of the same
	Kind   string // MeasuredCurve, PredictedCurve or PublishedCurve
	Points []chart.Point
}

// Claim is a statement of the paper, and what came of it.
type Claim struct {
	ID, Text, Location, Check string
	Verdict                   string // VerdictHolds, VerdictFails, VerdictUndecided, VerdictContradicted or VerdictNotApplicable
	Evidence                  string // the numbers that decided
	Basis                     string // BasisNothingFitted, BasisFitted or BasisTrueByConstruction; "" where nothing was compared
	Cause                     string // of a failure, in one sentence
	Note                      string // the reason of a failure, the contradiction, how near the threshold is
	BlindVerdict              string // by what was predicted before the claim was known; "": it was
}

// CountClaims returns how many claims have a verdict that rests on something; "" stands for all.
func (s *Study) CountClaims(verdict, rests string) int {
	n := 0
	for _, c := range s.Claims {
		if (verdict == "" || c.Verdict == verdict) && (rests == "" || c.Basis == rests) {
			n++
		}
	}
	return n
}

// agreementPercent is within how many percent of a published value a measured one is said to agree
// with it.
const agreementPercent = 20

// agreementCounts is how many published values there are of a basis, and how many agree with what
// was found.
type agreementCounts struct{ all, agree int }

// countNumbers counts the published numbers of a basis, or those of BlindClass, whose error is that
// of the blind prediction. Each counts once, and blind ones as such alone.
func (s *Study) countNumbers(basis string) (t agreementCounts) {
	s.forEachFinding(func(r *Finding) {
		if kind, off := r.errorKindAndPercent(); kind == basis && !r.isTextual() && !r.IsRepeated {
			t.all++
			if math.Abs(off) <= agreementPercent {
				t.agree++
			}
		}
	})
	return t
}

// countWords counts the answers in words to which nothing was fitted and that can be compared.
func (s *Study) countWords() (t agreementCounts) {
	s.forEachFinding(func(r *Finding) {
		if r.Basis == compare.ValidationBasis && r.Agreement != "" && !r.IsRepeated {
			t.all++
			if r.Agreement == WordsAgree {
				t.agree++
			}
		}
	})
	return t
}

func (s *Study) forEachFinding(do func(*Finding)) {
	for i := range s.Artefacts {
		for j := range s.Artefacts[i].Rows {
			do(&s.Artefacts[i].Rows[j])
		}
	}
}

// agreementSentence says how many published values were met.
func (s *Study) agreementSentence() string {
	var words []string
	if t := s.blindSentence(); t != "" {
		words = append(words, t)
	}
	var met []string
	for _, k := range []struct{ basis, words string }{
		{compare.ValidationBasis, "to which nothing was fitted"},
		{BasisAssumed, "that assumed numbers decide"},
		{BasisUnexamined, "that assumed numbers may decide (not examined)"},
	} {
		if t := s.countNumbers(k.basis); t.all > 0 {
			met = append(met, fmt.Sprintf("%d of %d %s", t.agree, t.all, k.words))
		}
	}
	if len(met) > 0 {
		words = append(words, fmt.Sprintf("Published values met within %d %%: %s.", agreementPercent, strings.Join(met, ", ")))
	}
	if t := s.countWords(); t.all > 0 {
		words = append(words, fmt.Sprintf("%d of %d answers in words agree.", t.agree, t.all))
	}
	if t := s.countNumbers(compare.CalibrationBasis); t.all > 0 {
		words = append(words, fmt.Sprintf("Published values used for calibration, which prove nothing: %d.", t.all))
	}
	if t := s.countNumbers(VerdictContradicted); t.all > 0 {
		words = append(words, fmt.Sprintf("Published values that the source itself contradicts: %d.", t.all))
	}
	return strings.Join(words, " ")
}
