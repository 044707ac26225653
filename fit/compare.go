package fit

import (
	"fmt"
	"io"
	"math"

	"github.com/loggp/loggp/microbench/sample"
)

// Comparison sets a prediction beside a measurement.
type Comparison struct {
	Platform, Library, Place string

	Protocol  string
	Bytes     int
	Quantity  string  // with its mode: T_sr(ssend), o_s(isend)
	Predicted float64 // microseconds
	Measured  float64 // microseconds: the median
	Error     float64 // percent of measured; NaN where that is zero
	Basis     string  // validation, or calibration where the prediction rests on what is compared
}

// What a comparison rests on.
const (
	Validation  = "validation"
	Calibration = "calibration"
)

// Query asks for the prediction of a time.
type Query struct {
	Platform, Library, Place string

	Mode, Protocol string
	Quantity       string // T_s T_sr o_s o_r one-way get put
	Bytes          int
	Parameters     []Parameter // of this platform, library and place
}

// Prediction is the answer to a Query.
type Prediction struct {
	Micros float64
	Basis  string // default validation
}

// Predictor predicts a time, or says that it cannot.
type Predictor func(Query) (Prediction, bool)

// Compare sets predictions beside the medians of all samples for which there is one: T_s and T_sr of any protocol, and of
// each mode with the library's choice of protocol o_s, o_r, the one-way time (rtt/2), get and put.
func Compare(set *sample.Set, ps []Parameter, predict Predictor) ([]Comparison, error) {
	o := Options{Replicates: 40}.defaults()
	cleaned, err := clean(set)
	if err != nil {
		return nil, err
	}
	curves, err := load(cleaned.Set, o)
	if err != nil {
		return nil, err
	}
	var out []Comparison
	for _, place := range byPlace(curves) {
		here := Select(ps, place[0].platform, place[0].library, place[0].place)
		e := &extraction{curves: place, o: o}
		for _, c := range place {
			quantity, factor := mode{e, c.mode}.quantity(c)
			if quantity == "" {
				continue
			}
			for _, x := range c.cells {
				q := Query{c.platform, c.library, c.place, c.mode, c.protocol, quantity, x.bytes, here}
				if p, ok := predict(q); ok {
					out = append(out, comparison(q, p, x.value*factor))
				}
			}
		}
	}
	return out, nil
}

// quantity returns what a curve of the mode shows times a factor, or "" where it shows nothing of interest.
func (m mode) quantity(c *curve) (name string, factor float64) {
	switch {
	case c.timer == sample.Sender || c.timer == sample.OneWay:
		return c.timer, 1
	case c == m.sendOverhead():
		return "o_s", 1
	case c == m.receiveOverhead():
		return "o_r", 1
	case c == m.timer(sample.RTT):
		return "one-way", 0.5
	case c == m.timer(sample.Get) || c == m.timer(sample.Put):
		return c.timer, 1
	}
	return "", 0
}

func comparison(q Query, p Prediction, measured float64) Comparison {
	c := Comparison{
		Platform: q.Platform, Library: q.Library, Place: q.Place, Protocol: q.Protocol, Bytes: q.Bytes, Quantity: q.Quantity + "(" + q.Mode + ")",
		Predicted: rounded(p.Micros), Measured: rounded(measured), Error: math.NaN(), Basis: p.Basis,
	}
	if measured != 0 {
		c.Error = rounded(100 * (p.Micros - measured) / measured)
	}
	if c.Basis == "" {
		c.Basis = Validation
	}
	return c
}

const comparisonHeader = "platform,library,place,protocol,bytes,quantity,predicted_us,measured_us,error_percent,basis"

// WriteComparisons writes comparisons as CSV.
func WriteComparisons(w io.Writer, cs []Comparison) error {
	err := writeTable(w, comparisonHeader, len(cs), func(i int) []string {
		c := cs[i]
		return []string{c.Platform, c.Library, c.Place, c.Protocol, size(c.Bytes), c.Quantity,
			printed(c.Predicted), printed(c.Measured), printed(c.Error), c.Basis}
	})
	if err != nil {
		return fmt.Errorf("write comparisons: %w", err)
	}
	return nil
}
