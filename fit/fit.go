// Package fit turns samples into LogGP parameters, with intervals and warnings.
//
// Data flows in one direction, with a package for each step: samples become cells (clean), cells
// over sizes become curves of straight pieces (curve), and pieces and differences of curves become
// parameters (params). If all pairs of ranks were measured, the ranks are first grouped into tiers
// (tiers), so that each pair has a place. Every cell carries bootstrap replicates of its median
// through all steps, from which the intervals are computed. Fit runs all steps. docs/fit.md has the
// conventions. The packages use only times and do not know platforms.
package fit

import (
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench/sample"
)

// Result is the result of a fit.
type Result struct {
	Parameters         []params.Parameter
	Warnings           []clean.Warning
	Curves             []curve.Curve
	PLogP              []params.PLogP              // for modes with round trips
	EagerLimitEvidence []params.EagerLimitEvidence // sizes from which messages wait for their receivers
	Tiers              []tiers.Tiers               // for platforms and libraries with all pairs of ranks measured
	TimerCurves        []*curve.Curve              // of plain timers, for a comparison with other sets
}

// Fit derives parameters from samples. It fails if the facts of the set are inconsistent, or if one
// place of a library has samples of two clocks. If the data does not determine a parameter, it is
// omitted with a warning. The same set and options give the same result, independent of the number
// of processors.
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
		r.PLogP = append(r.PLogP, p.PLogPParameters...)
	}
	clean.MarkImportedWarnings(r.Warnings, set)
	return r, nil
}
