package compare

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/model/quantile"
)

// Summary says how far predictions are from measurements, and whether to use them. Errors are in
// percent of what was measured.
type Summary struct {
	Predictions int     // of the basis, that have an error
	Basis       string  // validation; or calibration if there is no validation
	Median      float64 // of the errors without their signs
	Worst       Comparison
}

// What may be off in predictions that are fit for use, in percent.
const (
	usableError       = 5  // the median
	usableWorstError  = 25 // any
	questionableError = 15 // the median, with care
)

// Summarize sums comparisons up: validations, or if there are none calibrations. The second result
// is false if no comparison has an error.
func Summarize(cs []Comparison) (Summary, bool) {
	for _, basis := range []string{Validation, Calibration} {
		s := Summary{Basis: basis}
		var errors []float64
		for _, c := range cs {
			if c.Basis != basis || math.IsNaN(c.Error) {
				continue
			}
			if errors = append(errors, math.Abs(c.Error)); len(errors) == 1 || math.Abs(c.Error) > math.Abs(s.Worst.Error) {
				s.Worst = c
			}
		}
		if s.Predictions = len(errors); s.Predictions > 0 {
			s.Median = quantile.Median(errors)
			return s, true
		}
	}
	return Summary{}, false
}

// String returns the summary as a line.
func (s Summary) String() string {
	advice := "use these predictions"
	switch worst := math.Abs(s.Worst.Error); {
	case s.Median > questionableError:
		advice = "do not use these predictions"
	case s.Median > usableError:
		advice = "use these predictions for orders of magnitude only"
	case worst > usableWorstError:
		advice = fmt.Sprintf("use these predictions, but not those of %s near %d bytes", s.Worst.Quantity, s.Worst.Bytes)
	}
	if s.Basis == Calibration {
		advice += "; they were fitted to these times: loggp fit --holdout has errors of others"
	}
	where := fmt.Sprintf("%s of %d bytes", s.Worst.Quantity, s.Worst.Bytes)
	if s.Worst.Protocol != "" && s.Worst.Protocol != "auto" {
		where += " by " + s.Worst.Protocol
	}
	return fmt.Sprintf("%d predictions (%s): median error %.1f %%, worst %+.0f %% (%s, %s): %s.",
		s.Predictions, s.Basis, s.Median, s.Worst.Error, where, s.Worst.Place, advice)
}
