// Package fit turns samples into LogGP parameters, with intervals and warnings.
//
// Values go one way, a package a step: samples become cells (clean), cells over sizes become
// curves of straight pieces (curve), pieces and differences of curves become parameters (params).
// Ranks whose pairs were measured are put into tiers first (tiers), so that each pair has a place.
// Every cell carries bootstrap replicates of its median along that way, so that an interval stands
// at the end of it. docs/fit.md has the conventions. The packages know nothing of platforms: they
// see times only.
package fit

import (
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench/sample"
)

// Result is what the samples say.
type Result struct {
	Parameters         []params.Parameter
	Warnings           []clean.Warning
	Curves             []curve.Curve
	PLogP              []params.PLogP              // of the modes that have round trips
	EagerLimitEvidence []params.EagerLimitEvidence // where messages begin to wait for their receivers
	Tiers              []tiers.Tiers               // of platforms and libraries whose pairs of ranks were all measured
	TimerCurves        []*curve.Curve              // of the timers alone, for a comparison with other sets
}

// Fit derives parameters from samples. It is an error if the facts of the set make no sense, or if
// one place of a library has samples of two clocks. Data from which a parameter cannot be had is
// none: that is a warning. The same set and options give the same result, however many processors
// work on it.
func Fit(set *sample.Set, o clean.Options) (*Result, error) {
	o = o.WithDefaults()
	set, found, err := tiers.AssignTiers(set)
	if err != nil {
		return nil, err
	}
	set, disturbed := clean.SelectUndisturbed(set)
	curves, err := curve.LoadCurves(set, o)
	if err != nil {
		return nil, err
	}
	clean.RunParallel(len(curves), func(i int) { curves[i].CutIntoPieces(o) })
	r := &Result{Warnings: disturbed, TimerCurves: curves}
	for _, t := range found {
		r.Tiers = append(r.Tiers, t.Exported())
		r.Parameters = append(r.Parameters, t.Parameters()...)
		r.Warnings = append(r.Warnings, t.Warnings()...)
	}
	for _, c := range curves {
		r.Curves = append(r.Curves, *c)
		r.Warnings = append(r.Warnings, c.Warnings()...)
	}
	places := curve.SplitByPlace(curves)
	parts := make([]params.Extraction, len(places))
	clean.RunParallel(len(places), func(i int) {
		parts[i] = params.Extraction{Subject: places[i][0].Subject(), Curves: places[i], Options: o}
		parts[i].ExtractParameters()
	})
	for _, p := range parts {
		r.Parameters = append(r.Parameters, p.Parameters...)
		r.Warnings = append(r.Warnings, p.Warnings...)
		r.Curves = append(r.Curves, p.DerivedCurves...)
		r.EagerLimitEvidence = append(r.EagerLimitEvidence, p.EagerLimitEvidence...)
		r.PLogP = append(r.PLogP, p.PLogPViews...)
	}
	clean.MarkImportedWarnings(r.Warnings, set)
	return r, nil
}
