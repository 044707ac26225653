package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// Change is how the median of one timer at one size differs between a reference and another data
// set. Times are in microseconds.
type Change struct {
	Platform, Library, Place string // of the reference; Place where there are several
	Mode, Protocol, Timer    string
	Bytes                    int

	Before, After      float64
	Ratio, Low, High   float64 // of After to Before, with its 95 % interval, NaN if a side has too few samples
	Outcome            Outcome
	SamplesA, SamplesB int
}

// Changes compares the cells that two data sets have in common: the same timer, mode, protocol,
// place and size, and the same platform and library if a set has several. Cells whose time is zero
// are left out. Round trips come first. It is an error if the sets have nothing in common.
func Changes(before, after *sample.Set, o clean.Options) ([]Change, error) {
	o = o.Defaults()
	var sides [2][]*curve.Curve
	several := false // platforms or libraries in one of the sets
	for i, set := range []*sample.Set{before, after} {
		set, _ := clean.SelectUndisturbed(set)
		curves, err := curve.Load(set, o)
		if err != nil {
			return nil, err
		}
		sides[i] = curves
		for _, c := range curves {
			several = several || c.Platform != curves[0].Platform || c.Library != curves[0].Library
		}
	}
	type what struct{ platform, library, place, mode, protocol, timer string }
	keyOf := func(c *curve.Curve) what {
		k := what{place: c.Place, mode: c.Mode, protocol: c.Protocol, timer: c.Timer}
		if several {
			k.platform, k.library = c.Platform, c.Library
		}
		return k
	}
	other := map[what]*curve.Curve{}
	for _, c := range sides[1] {
		other[keyOf(c)] = c
	}
	var all []Change
	for _, a := range sides[0] {
		b := other[keyOf(a)]
		if b == nil {
			continue
		}
		for _, x := range a.Cells {
			y := b.CellOf(x.Bytes)
			if y == nil {
				continue
			}
			c := Change{Platform: a.Platform, Library: a.Library, Place: a.Place, Mode: a.Mode, Protocol: a.Protocol, Timer: a.Timer, Bytes: x.Bytes,
				Before: x.Value, After: y.Value, SamplesA: x.Samples, SamplesB: y.Samples}
			c.Ratio, c.Low, c.High = ratioOf(estimate{y.Value, y.Low, y.High, y.Replicates}, estimate{x.Value, x.Low, x.High, x.Replicates}, o.Level)
			if min(x.FewestSamples, y.FewestSamples) < clean.LeastForInterval {
				c.Low, c.High = math.NaN(), math.NaN()
			}
			if math.IsNaN(c.Ratio) || math.IsInf(c.Ratio, 0) {
				continue
			}
			c.Outcome = judgeRatio(c.Low, c.High, o.Tolerance, false)
			all = append(all, c)
		}
	}
	if all == nil {
		return nil, fmt.Errorf("compare: the two files have no timer of one mode, place and size in common")
	}
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Library, b.Library), cmp.Compare(a.Place, b.Place),
			timerRank(a.Timer)-timerRank(b.Timer), sample.TimerIndex(a.Timer)-sample.TimerIndex(b.Timer), sample.ModeIndex(a.Mode)-sample.ModeIndex(b.Mode), cmp.Compare(a.Protocol, b.Protocol))
	})
	return all, nil
}

// timerRank returns 0 for round trips, which come first, and 1 for all other timers.
func timerRank(timer string) int {
	if timer == sample.TimerRTT {
		return 0
	}
	return 1
}

// GeometricMean returns the geometric mean of the ratios.
func GeometricMean(all []Change) float64 {
	sum := 0.0
	for _, c := range all {
		sum += math.Log(c.Ratio)
	}
	return math.Exp(sum / float64(len(all)))
}

// FindRegressions returns the changes whose whole interval is more than a part above the reference.
func FindRegressions(all []Change, part float64) []Change {
	return slices.DeleteFunc(slices.Clone(all), func(c Change) bool { return c.Outcome != Worse || c.Low <= 1+part })
}
