package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports"
)

// What report has for collective operations.

// hasCollectives says whether some samples are of collective operations.
func hasCollectives(m sample.Machine) bool {
	some, _ := clean.FindCollectiveSamples(m.Set)
	return some
}

// collectiveReport gathers what is shown of collective operations. params is a file of parameters,
// or "".
func collectiveReport(cmd *cobra.Command, machines []sample.Machine, params string) (*reports.CollectiveReport, error) {
	subjects, err := compare.CollectiveSubjects(machines)
	if err != nil {
		return nil, err
	}
	r := &reports.CollectiveReport{Machines: machines, CollectiveSubjects: subjects, Warnings: compare.CollectiveWarnings(machines, subjects)}
	if t := compare.CompareCollectives(subjects, clean.Options{}); len(t.Rows) > 0 {
		r.Table = t
	}
	from, err := parametersOf(machines, params)
	if err != nil {
		return nil, err
	}
	modelled := false
	for _, e := range subjects {
		times, missing := modelOf(cmd, machines, e, from)
		r.Times = append(r.Times, times)
		modelled = modelled || slices.ContainsFunc(times, func(c compare.CollectiveComparison) bool { return c.Model != "" })
		for _, err := range missing {
			if !slices.Contains(r.Unknown, err.Error()) {
				r.Unknown = append(r.Unknown, err.Error())
			}
		}
	}
	if params != "" && !modelled {
		return nil, fmt.Errorf("report: %s", strings.Join(r.Unknown, "; "))
	}
	return r, nil
}

// parameters are those from which to predict, and where they are from.
type parameters struct {
	from  string
	all   []params.Parameter
	given bool // in a file
}

// parametersOf reads the parameters of a file, or fits them to samples of single messages, if there
// are any.
func parametersOf(machines []sample.Machine, file string) (p parameters, err error) {
	if file != "" {
		p.from, p.given = file, true
		p.all, err = readParameters(file)
		return p, err
	}
	var files []string
	for _, m := range machines {
		if _, others := clean.FindCollectiveSamples(m.Set); !others {
			continue
		}
		fitted, err := fit.Fit(m.Set, clean.Options{})
		if err != nil {
			return p, err
		}
		p.all, files = append(p.all, fitted.Parameters...), append(files, m.Files...)
	}
	p.from = strings.Join(files, " and ")
	return p, nil
}

// modelOf sets the model beside the times of a subject: from the parameters of a file, or those
// that samples show of its library, or else from what is known of an emulated platform. What has no
// model is missing.
func modelOf(cmd *cobra.Command, machines []sample.Machine, e compare.CollectiveSubject, p parameters) ([]compare.CollectiveComparison, []error) {
	switch {
	case byVendor(e):
		return compare.WithoutPrediction(e.Times), []error{errVendor}
	case p.given || slices.ContainsFunc(p.all, func(x params.Parameter) bool { return x.Platform == e.Platform && x.Library == e.Library }):
		return predicted(e.Times, fromParameters(p.from, p.all, machines, e))
	}
	return predicted(e.Times, fromPlatform(cmd, machines, e))
}
