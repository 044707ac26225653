package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// HoldOutError says how well parameters from half of the sizes, and of the launches if there are
// several, predict the half round trips of the others.
type HoldOutError struct {
	Platform, Library, Place, Mode string

	FittedSizeCount int                 // number of fitted sizes
	HeldOutSizes    []PredictedHalfTrip // the other sizes, in order
	MedianError     float64             // of the absolute errors, in percent
	LargestError    float64             // largest absolute error, in percent
}

// PredictedHalfTrip is a predicted half round trip, in microseconds.
type PredictedHalfTrip struct {
	Bytes               int
	Predicted, Measured float64
	Error               float64 // (predicted − measured)/measured, percent
}

// minHoldOutSizes is the minimum number of round-trip sizes for holding out half of them.
const minHoldOutSizes = 6

// HoldOut fits every other size of the round trips of each mode, starting with the smallest, with
// every other launch. It predicts the other sizes of the other launches from the parameters. It
// omits modes with fewer than six sizes. Its errors are those of Fit.
func HoldOut(set *sample.Set, o clean.Options) ([]HoldOutError, error) {
	type series struct {
		clean.Subject
		mode, protocol string
	}
	of := func(s *sample.Series) series { return series{clean.SubjectOf(s), s.Mode, s.Protocol} }
	sizes, launches := map[series][]int{}, map[clean.Subject][]int{}
	add := func(all []int, x int) []int {
		if i, ok := slices.BinarySearch(all, x); !ok {
			all = slices.Insert(all, i, x)
		}
		return all
	}
	trips := func(s *sample.Series) bool {
		return s.Timer == sample.TimerRTT && clean.IsLibraryChoice(s.Mode, s.Protocol) && len(s.Times) > 0
	}
	for i := range set.Series {
		if s := &set.Series[i]; trips(s) {
			sizes[of(s)] = add(sizes[of(s)], s.Bytes)
			launches[clean.SubjectOf(s)] = add(launches[clean.SubjectOf(s)], s.Launch)
		}
	}
	fitted, rest := &sample.Set{Facts: set.Facts}, &sample.Set{Facts: set.Facts}
	for _, s := range set.Series {
		if !trips(&s) || len(sizes[of(&s)]) < minHoldOutSizes {
			continue
		}
		all := launches[clean.SubjectOf(&s)]
		i, launch := slices.Index(sizes[of(&s)], s.Bytes), slices.Index(all, s.Launch)
		switch several := len(all) > 1; {
		case i%2 == 0 && (!several || launch%2 == 0):
			fitted.Series = append(fitted.Series, s)
		case i%2 == 1 && (!several || launch%2 == 1):
			rest.Series = append(rest.Series, s)
		}
	}
	r, err := fit.Fit(fitted, o)
	if err != nil {
		return nil, err
	}
	o = o.WithDefaults()
	_, curves, err := countedCurves(rest, o)
	if err != nil {
		return nil, err
	}
	var out []HoldOutError
	for _, c := range curves {
		here := params.ParametersOfPlace(r.Parameters, c.Platform, c.Library, c.Place)
		h := HoldOutError{Platform: c.Platform, Library: c.Library, Place: c.Place, Mode: c.Mode}
		h.FittedSizeCount = (len(sizes[series{c.Subject(), c.Mode, c.Protocol}]) + 1) / 2
		var errors []float64
		for _, x := range c.Cells {
			e, err := params.EstimateAt(here, c.Mode, params.OneWayTime, x.Bytes)
			if err != nil {
				continue
			}
			p := PredictedHalfTrip{Bytes: x.Bytes, Predicted: clean.RoundDigits(e.Value), Measured: clean.RoundDigits(x.Value / 2)}
			if x.Value > 0 {
				p.Error = clean.RoundDigits(100 * (p.Predicted/p.Measured - 1))
				errors = append(errors, math.Abs(p.Error))
			}
			h.HeldOutSizes = append(h.HeldOutSizes, p)
		}
		if len(errors) > 0 {
			h.MedianError = quantile.Median(errors)
			h.LargestError = errors[len(errors)-1]
			out = append(out, h)
		}
	}
	return out, nil
}
