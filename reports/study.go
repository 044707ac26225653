package reports

import (
	"math"

	"github.com/loggp/loggp/fit/compare"
)

// Study is a paper whose experiments were run again: its tables and figures beside what was measured and predicted, and its
// statements with the verdicts on them.
type Study struct {
	Name      string // short, for files: altawil-moritz
	Title     string
	Source    string      // authors, title and year of the paper
	Facts     [][2]string // about the run: version, command, seed
	Artefacts []Artefact
	Claims    []Claim
}

// The verdicts on claims.
const (
	Holds         = "holds"
	Fails         = "fails"
	Contradicted  = "contradicted"   // the source contradicts itself, so that no machine could decide it
	NotApplicable = "not_applicable" // what it speaks of is not there to be run
)

// verdicts are in the order in which they are counted up.
var verdicts = []string{Holds, Fails, Contradicted, NotApplicable}

// Shown is the basis of a finding that no published value is beside. The others are fit.Calibration, fit.Validation and
// Contradicted.
const Shown = "shown"

// What two answers in words do.
const (
	Agrees  = "agrees"
	Differs = "differs"
)

// Count returns how many claims have a verdict.
func (s *Study) Count(verdict string) int {
	n := 0
	for i := range s.Claims {
		if s.Claims[i].Verdict == verdict {
			n++
		}
	}
	return n
}

// Fitted returns how many of the claims with a verdict are calibrated.
func (s *Study) Fitted(verdict string) int {
	n := 0
	for i := range s.Claims {
		if s.Claims[i].Verdict == verdict && s.Claims[i].Calibrated {
			n++
		}
	}
	return n
}

// Words returns how many findings in words, that nothing was fitted to, have an answer of the source that can be compared with what was found,
// and with how many of these it agrees.
func (s *Study) Words() (all, agree int) {
	for i := range s.Artefacts {
		for j := range s.Artefacts[i].Rows {
			r := &s.Artefacts[i].Rows[j]
			if r.Basis != compare.Validation || r.Again || r.Agreement == "" {
				continue
			}
			all++
			if r.Agreement == Agrees {
				agree++
			}
		}
	}
	return all, agree
}

// Rows returns how many findings have a basis, and how many of these were measured within so many percent of what was published. Each published
// value counts once.
func (s *Study) Rows(basis string, percent float64) (all, within int) {
	for i := range s.Artefacts {
		for j := range s.Artefacts[i].Rows {
			r := &s.Artefacts[i].Rows[j]
			if r.Basis != basis || r.textual() || r.Again {
				continue
			}
			all++
			if math.Abs(r.ErrorPercent()) <= percent {
				within++
			}
		}
	}
	return all, within
}

// Artefact is a table or a figure of the paper.
type Artefact struct {
	ID      string // table-3, figure-10
	Caption string
	Rows    []Finding
	Curves  []StudyCurve // of a figure
	XAxis   string       // with its unit; of a figure
	YAxis   string
	Linear  bool     // the vertical axis is not logarithmic
	Words   []string // what was done where the paper leaves it open, and what is wrong with the source
	Charts  []*Chart // pictures that are none of curves, such as time lines
}

// Finding is a published value beside what was measured and predicted. A number that there is none of is NaN.
type Finding struct {
	Platform, Library, Place, Mode string
	Parameter                      string
	Bytes                          int     // negative: no size
	Unit                           string  // us, us/B, MB/s, or "" for a count
	Low, High                      float64 // published; the same where one value is printed
	Measured                       float64
	MeasuredLow, MeasuredHigh      float64   // interval of what was measured, at 95 %
	Predicted                      float64   // by the model, from the platform's file
	Text                           [2]string // published and found, of a row that is not a number
	Agreement                      string    // of these: Agrees or Differs, or "" where nobody can say
	Basis                          string    // fit.Calibration, fit.Validation, Contradicted or Shown
	Source                         string    // where the published value is printed
	Note                           string    // the contradiction, or how the value is read
	Again                          bool      // the published value stands in another artefact too, where it counts
}

// ErrorPercent is how far the measured value is from the published one, in percent, signed: from the nearer end of a range
// if it is outside, 0 inside. It is NaN where one of them is missing.
func (r *Finding) ErrorPercent() float64 {
	switch {
	case r.Measured < r.Low:
		return 100 * (r.Measured/r.Low - 1)
	case r.Measured > r.High:
		return 100 * (r.Measured/r.High - 1)
	}
	return 0 * r.Measured * r.Low * r.High // NaN if one is
}

// textual says whether the finding is words, not a number.
func (r *Finding) textual() bool { return r.Text != [2]string{} }

// StudyCurve is a line of a figure.
type StudyCurve struct {
	Name   string // curves of one name belong together: what was measured, predicted and published of the same
	Kind   string // measured, predicted or published
	Points []StudyPoint
}

// StudyPoint is a point of it, with the interval of its value, which is empty where Low is High.
type StudyPoint struct{ X, Y, Low, High float64 }

// Claim is a statement of the paper, and what came of it.
type Claim struct {
	ID, Text, Where, Check string
	Verdict                string // Holds, Fails, Contradicted or NotApplicable
	Evidence               string // the numbers that decided
	Note                   string // what is to be known beside: the reason of a failure, the contradiction, how near the edge it is
	Calibrated             bool   // some number of a platform was fitted to the claim, so that what came of it proves nothing
}
