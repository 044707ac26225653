package main

import (
	"slices"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports"
)

// realClock says whether everything was measured on real machines.
func realClock(machines []sample.Machine) bool {
	return !slices.ContainsFunc(machines, func(m sample.Machine) bool {
		return slices.ContainsFunc(m.Series, func(s sample.Series) bool { return s.Clock != "real" })
	})
}

// survey gathers what is shown of transports of real machines.
func survey(machines []sample.Machine) (*reports.Survey, error) {
	s := &reports.Survey{Machines: machines}
	for _, m := range machines {
		r, err := fit.Fit(m.Set, clean.Options{})
		if err != nil {
			return nil, err
		}
		s.Results = append(s.Results, r)
	}
	var err error
	if s.Fit, err = compare.NewSurvey(machines, clean.Options{}); err != nil {
		return nil, err
	}
	s.Contrast, err = compare.NewContrast(machines, clean.Options{}, overlapMargin)
	return s, err
}
