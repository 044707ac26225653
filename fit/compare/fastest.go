package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/model/quantile"
)

// FastestAlgorithm is the fastest algorithm for an operation, by measurement and by the model.
type FastestAlgorithm struct {
	CollectiveComparison                      // by measurement
	NextFastest          CollectiveComparison // the fastest of the others
	IsClear              bool                 // the interval of its time ends before that of any other begins
	FastestByModel       CollectiveComparison // the fastest by the model; without an Operation if there is no model
	Taken                CollectiveComparison // what the library takes; without an Operation if that is not known or was not measured
}

// LossPercent returns by how many percent the algorithm that the model chooses is slower than the
// fastest; NaN without a model.
func (f FastestAlgorithm) LossPercent() float64 {
	if f.FastestByModel.Operation == "" {
		return math.NaN()
	}
	return f.slowerPercent(f.FastestByModel)
}

// LeadPercent returns by how many percent the next algorithm is slower.
func (f FastestAlgorithm) LeadPercent() float64 { return f.slowerPercent(f.NextFastest) }

// SavingPercent returns by how many percent the fastest algorithm shortens the time of the one that
// the library takes: 0 if it is that one, or if their intervals overlap; NaN if it is not known.
func (f FastestAlgorithm) SavingPercent() float64 {
	switch {
	case f.Taken.Operation == "":
		return math.NaN()
	case f.Taken.Low <= f.High:
		return 0
	}
	return 100 * (1 - f.rankedMicros()/f.Taken.rankedMicros())
}

func (f FastestAlgorithm) slowerPercent(c CollectiveComparison) float64 {
	return 100 * (c.rankedMicros() - f.rankedMicros()) / f.rankedMicros()
}

// FastestAlgorithms returns the fastest algorithms for each operation and length, in the order of
// the comparisons. Operations with a single algorithm are left out.
func FastestAlgorithms(cs []CollectiveComparison) []FastestAlgorithm {
	var all []FastestAlgorithm
	for _, of := range groupByKey(cs, func(c CollectiveComparison) operation { return c.operation(true) }) {
		if len(of) > 1 {
			all = append(all, fastestOfLength(of))
		}
	}
	return all
}

// fastestOfLength compares the algorithms for one operation and length. The first of equally fast
// ones wins.
func fastestOfLength(of []CollectiveComparison) FastestAlgorithm {
	byTime := slices.Clone(of)
	slices.SortStableFunc(byTime, func(a, b CollectiveComparison) int { return cmp.Compare(a.rankedMicros(), b.rankedMicros()) })
	f := FastestAlgorithm{CollectiveComparison: byTime[0], NextFastest: byTime[1], IsClear: true}
	for _, c := range byTime[1:] {
		f.IsClear = f.IsClear && c.Low > f.High
	}
	for _, c := range of {
		if f.Taken.Operation == "" && c.IsLibraryChoice() || c.IsUnforced() {
			f.Taken = c
		}
		if c.Model != "" && (f.FastestByModel.Operation == "" || c.Predicted < f.FastestByModel.Predicted) {
			f.FastestByModel = c
		}
	}
	return f
}

// ModelAccuracy is how well a model predicts an operation of some ranks.
type ModelAccuracy struct {
	Example                   CollectiveComparison // one of the predictions, for its names
	TimeCount                 int                  // predicted
	MedianError, LargestError float64              // percent: the median of the errors without their signs, and the largest
	LengthCount               int                  // with several algorithms
	FastestChosen             int                  // lengths at which the model finds the fastest, or one whose interval overlaps that of the fastest
	LargestLoss               float64              // percent: the largest of the lengths
}

// ModelAccuracies summarizes the comparisons that have a model, by operation and number of ranks,
// in their order.
func ModelAccuracies(cs []CollectiveComparison) []ModelAccuracy {
	var all []ModelAccuracy
	for _, of := range groupByKey(cs, func(c CollectiveComparison) operation { return c.operation(false) }) {
		if of = slices.DeleteFunc(of, func(c CollectiveComparison) bool { return c.Model == "" }); len(of) > 0 {
			all = append(all, modelAccuracy(of))
		}
	}
	return all
}

func modelAccuracy(of []CollectiveComparison) ModelAccuracy {
	m := ModelAccuracy{Example: of[0], TimeCount: len(of)}
	var errors []float64
	for _, c := range of {
		errors = append(errors, math.Abs(c.Comparison().Error))
	}
	m.MedianError = quantile.Median(errors)
	m.LargestError = errors[len(errors)-1]
	for _, f := range FastestAlgorithms(of) {
		m.LengthCount++
		if f.FastestByModel.Algorithm == f.Algorithm || f.FastestByModel.Low <= f.High {
			m.FastestChosen++
		}
		m.LargestLoss = max(m.LargestLoss, f.LossPercent())
	}
	return m
}
