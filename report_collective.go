package loggp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports"
)

// hasCollectives reports whether any samples are of collective operations.
func hasCollectives(m sample.Machine) bool {
	has, _ := clean.FindCollectiveSamples(m.Set)
	return has
}

// collectiveReport returns the contents of a page about collective operations. It fails if given
// parameters predict none of them.
func collectiveReport(ctx context.Context, machines []sample.Machine, given Parameters) (*reports.CollectiveReport, error) {
	subjects, err := compare.GroupCollectiveSubjects(machines)
	if err != nil {
		return nil, err
	}
	r := &reports.CollectiveReport{Machines: machines, Subjects: subjects, Warnings: compare.CollectiveWarnings(machines, subjects)}
	if t := compare.CompareCollectives(subjects, clean.Options{}); len(t.Rows) > 0 {
		r.SideBySide = t
	}
	hasGiven := len(given.All) > 0
	ps := given
	if !hasGiven {
		if ps, err = fitMessages(machines); err != nil {
			return nil, err
		}
	}
	isPredicted := false
	for _, s := range subjects {
		times, missing := predictSubject(ctx, machines, s, ps, hasGiven)
		setLibraryChoices(times, machines, s)
		r.Times = append(r.Times, times)
		isPredicted = isPredicted || slices.ContainsFunc(times, func(c compare.CollectiveComparison) bool { return c.Model != "" })
		for _, err := range missing {
			if !slices.Contains(r.ModelGaps, err.Error()) {
				r.ModelGaps = append(r.ModelGaps, err.Error())
			}
		}
	}
	if hasGiven && !isPredicted {
		return nil, fmt.Errorf("report: %s", strings.Join(r.ModelGaps, "; "))
	}
	return r, nil
}

// fitMessages fits parameters to the samples of single messages, if there are any.
func fitMessages(machines []sample.Machine) (p Parameters, err error) {
	var files []string
	for _, m := range machines {
		if _, others := clean.FindCollectiveSamples(m.Set); !others {
			continue
		}
		fitted, err := fit.Fit(m.Set, clean.Options{})
		if err != nil {
			return p, err
		}
		p.All, files = append(p.All, fitted.Parameters...), append(files, m.Files...)
	}
	p.From = strings.Join(files, " and ")
	return p, nil
}

// predictSubject adds predictions to the times of a subject: from given parameters, from those
// fitted to its library, or from the emulated platform.
func predictSubject(ctx context.Context, machines []sample.Machine, s compare.CollectiveSubject, p Parameters, given bool) ([]compare.CollectiveComparison, []error) {
	isOfSubject := func(x params.Parameter) bool { return x.Platform == s.Platform && x.Library == s.Library }
	switch {
	case isVendor(s):
		return compare.WithoutPrediction(s.Times), []error{errVendorModel}
	case given || slices.ContainsFunc(p.All, isOfSubject):
		return predictCollectives(s.Times, parameterModels(p, machines, s))
	}
	return predictCollectives(s.Times, platformModels(ctx, machines, s))
}
