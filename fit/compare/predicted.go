// Package compare compares predictions with measurements (Comparison), and measurements of
// machines, libraries and algorithms with each other (Table, CollectiveSubject, ChangeSet).
package compare

import (
	"io"
	"math"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Comparison compares a prediction with a measurement.
type Comparison struct {
	Platform, Library, Place string

	Protocol  string
	Bytes     int
	Quantity  string  // with its mode: T_sr(ssend), o_s(isend)
	Predicted float64 // microseconds
	Measured  float64 // microseconds: the median
	Error     float64 // percent of measured; NaN where that is zero
	Basis     string  // validation; or calibration if the prediction was fitted to the measurement
}

// Bases of comparisons.
const (
	ValidationBasis  = "validation"
	CalibrationBasis = "calibration"
)

// PredictionQuery asks for the prediction of a time.
type PredictionQuery struct {
	Platform, Library, Place string

	Mode, Protocol string
	Quantity       string // T_s T_sr o_s o_r one-way get put
	Bytes          int
	Parameters     []params.Parameter // of this platform, library and place
}

// Prediction is the answer to a PredictionQuery.
type Prediction struct {
	Micros float64
	Basis  string // default: validation
}

// Predictor returns the prediction of a time, and whether it has one.
type Predictor func(PredictionQuery) (Prediction, bool)

// ComparePredictions compares predictions with the medians of all samples that have one: T_s and
// T_sr of any protocol and, for each mode with the library's choice of protocol, o_s, o_r, the
// one-way time (rtt/2), get and put.
func ComparePredictions(set *sample.Set, ps []params.Parameter, predict Predictor) ([]Comparison, error) {
	o := clean.Options{ReplicateCount: 40}.WithDefaults()
	_, curves, err := countedCurves(set, o)
	if err != nil {
		return nil, err
	}
	var out []Comparison
	for _, place := range curve.SplitByPlace(curves) {
		here := params.ParametersOfPlace(ps, place[0].Platform, place[0].Library, place[0].Place)
		e := &params.Extraction{Curves: place, Options: o}
		for _, c := range place {
			quantity, factor := quantityOfCurve(e.ModeOf(c.Mode), c)
			if quantity == "" {
				continue
			}
			for _, x := range c.Cells {
				q := PredictionQuery{c.Platform, c.Library, c.Place, c.Mode, c.Protocol, quantity, x.Bytes, here}
				if p, ok := predict(q); ok {
					out = append(out, newComparison(q, p, x.Value*factor))
				}
			}
		}
	}
	return out, nil
}

// quantityOfCurve returns the quantity that a curve of the mode, times factor, shows, or "" if
// there is none to compare.
func quantityOfCurve(m params.Mode, c *curve.Curve) (name string, factor float64) {
	switch {
	case c.Timer == sample.TimerSender || c.Timer == sample.TimerOneWay:
		return c.Timer, 1
	case c == m.SendOverheadCurve():
		return "o_s", 1
	case c == m.ReceiveOverheadCurve():
		return "o_r", 1
	case c == m.TimerCurve(sample.TimerRTT):
		return "one-way", 0.5
	case c == m.TimerCurve(sample.TimerGet) || c == m.TimerCurve(sample.TimerPut):
		return c.Timer, 1
	}
	return "", 0
}

func newComparison(q PredictionQuery, p Prediction, measured float64) Comparison {
	c := Comparison{
		Platform: q.Platform, Library: q.Library, Place: q.Place, Protocol: q.Protocol, Bytes: q.Bytes, Quantity: q.Quantity + "(" + q.Mode + ")",
		Predicted: clean.RoundDigits(p.Micros), Measured: clean.RoundDigits(measured), Error: math.NaN(), Basis: p.Basis,
	}
	if measured != 0 {
		c.Error = clean.RoundDigits(100 * (p.Micros - measured) / measured)
	}
	if c.Basis == "" {
		c.Basis = ValidationBasis
	}
	return c
}

const comparisonHeader = "platform,library,place,protocol,bytes,quantity,predicted_us,measured_us,error_percent,basis"

// WriteComparisons writes comparisons as CSV.
func WriteComparisons(w io.Writer, cs []Comparison) error {
	var rows [][]string
	for _, c := range cs {
		rows = append(rows, []string{c.Platform, c.Library, c.Place, c.Protocol, table.SizeText(c.Bytes), c.Quantity,
			table.NumberText(c.Predicted), table.NumberText(c.Measured), table.NumberText(c.Error), c.Basis})
	}
	return table.WriteText(w, "comparisons", comparisonHeader, rows)
}

// PredictFromParameters is a Predictor that uses only parameters. T_s and T_sr come from equations
// (1) to (7) with the parameters of low-level messages, which were fitted to other times: these
// predictions are validations. Overheads and one-way times of calls come from the fitted ranges of
// o_s, o_r and T. If the samples are the same, their errors are only residuals; HoldOut returns
// errors for samples that were not fitted. Without T, one-way times come from equation (9), or (8)
// within a node.
//
// T_s and T_sr of calls with the library's choice of protocol come from the ranges of o_s and T.
// These were fitted to other timers, so the predictions are validations, too. T_s of a nonblocking
// call includes its completion, for which there is no parameter.
func PredictFromParameters(q PredictionQuery) (Prediction, bool) {
	if fitted := (map[string]string{sample.TimerSender: "o_s", sample.TimerOneWay: OneWay})[q.Quantity]; fitted != "" && clean.IsLibraryChoice(q.Mode, q.Protocol) {
		if q.Quantity = fitted; fitted == "o_s" && !sample.IsBlockingMode(q.Mode) {
			return Prediction{}, false
		}
		p, ok := PredictFromParameters(q)
		return Prediction{p.Micros, ValidationBasis}, ok
	}
	mode := q.Mode
	if q.Quantity == sample.TimerSender || q.Quantity == sample.TimerOneWay {
		mode = sample.LowLevelMode
	}
	switch q.Quantity {
	case "o_s", "o_r":
		v, ok := params.ValueAt(q.Parameters, mode, q.Quantity, q.Bytes)
		return Prediction{v, CalibrationBasis}, ok
	case OneWay:
		if v, ok := params.ValueAt(q.Parameters, mode, "T", q.Bytes); ok {
			return Prediction{v, CalibrationBasis}, true
		}
	}
	if _, err := params.IsExtrapolatedSize(q.Parameters, mode, q.Bytes); err != nil {
		return Prediction{}, false
	}
	if q.Quantity == OneWay && mode != sample.LowLevelMode {
		x, err := params.BlockingCallParameters(q.Parameters, mode)
		return Prediction{model.LoGH{BetweenHypernodes: x, InsideHypernode: x}.OneWayTime(params.AreIntraNode(q.Parameters), q.Bytes).Micros(), ValidationBasis}, err == nil
	}
	x, err := params.ModelParameters(q.Parameters, mode)
	if err != nil {
		return Prediction{}, false
	}
	p := model.FindProtocol(q.Protocol)
	var t unit.Time
	switch {
	case q.Quantity == OneWay:
		// If an overhead includes the bytes, G counts them again. The rest is the cost of small
		// messages.
		small := model.Parameters{SendOverhead: model.ConstantCurve(x.SendOverhead.Time(0)), RecvOverhead: model.ConstantCurve(x.RecvOverhead.Time(0)), L: x.L, GapPerByte: x.GapPerByte}
		t = small.OneWayTime(q.Bytes)
	case q.Quantity == sample.TimerSender && p != nil && q.Mode != "bsend" && q.Mode != "ibsend": // these complete before the protocol does
		t = model.SenderTime(p, x, q.Bytes)
	case q.Quantity == sample.TimerOneWay && p != nil:
		t = model.CompletionTime(p, x, q.Bytes)
	default:
		return Prediction{}, false
	}
	return Prediction{t.Micros(), ValidationBasis}, true
}
