package compare

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/model/quantile"
)

// Summary says how far predictions are from measurements, and whether to use them. Errors are in
// percent of what was measured.
type Summary struct {
	PredictionCount int     // of the basis, that have an error
	Basis           string  // validation; or calibration if there is no validation
	MedianError     float64 // of the errors without their signs
	WorstComparison Comparison
}

// What may be off in predictions that are fit for use, in percent.
const (
	maxUsableMedianError       = 5  // the median
	maxUsableError             = 25 // any
	maxQuestionableMedianError = 15 // the median, with care
)

// Summarize sums comparisons up: validations, or if there are none calibrations. The second result
// is false if no comparison has an error.
func Summarize(cs []Comparison) (Summary, bool) {
	for _, basis := range []string{ValidationBasis, CalibrationBasis} {
		s := Summary{Basis: basis}
		var errors []float64
		for _, c := range cs {
			if c.Basis != basis || math.IsNaN(c.Error) {
				continue
			}
			if errors = append(errors, math.Abs(c.Error)); len(errors) == 1 || math.Abs(c.Error) > math.Abs(s.WorstComparison.Error) {
				s.WorstComparison = c
			}
		}
		if s.PredictionCount = len(errors); s.PredictionCount > 0 {
			s.MedianError = quantile.Median(errors)
			return s, true
		}
	}
	return Summary{}, false
}

// String returns the summary as a line.
func (s Summary) String() string {
	advice := "use these predictions"
	switch worst := math.Abs(s.WorstComparison.Error); {
	case s.MedianError > maxQuestionableMedianError:
		advice = "do not use these predictions"
	case s.MedianError > maxUsableMedianError:
		advice = "use these predictions for orders of magnitude only"
	case worst > maxUsableError:
		advice = fmt.Sprintf("use these predictions, but not those of %s near %d bytes", s.WorstComparison.Quantity, s.WorstComparison.Bytes)
	}
	if s.Basis == CalibrationBasis {
		advice += "; they were fitted to these times: loggp fit --holdout has errors of others"
	}
	where := fmt.Sprintf("%s of %d bytes", s.WorstComparison.Quantity, s.WorstComparison.Bytes)
	if s.WorstComparison.Protocol != "" && s.WorstComparison.Protocol != "auto" {
		where += " by " + s.WorstComparison.Protocol
	}
	return fmt.Sprintf("%d predictions (%s): median error %.1f %%, worst %+.0f %% (%s, %s): %s.",
		s.PredictionCount, s.Basis, s.MedianError, s.WorstComparison.Error, where, s.WorstComparison.Place, advice)
}
