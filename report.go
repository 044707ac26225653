package loggp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/testdata"
)

// ReportOptions configure Report.
type ReportOptions struct {
	Samples    []string   // files
	Params     Parameters // for predictions of collective operations; empty: those of ParamsFile, or fitted to Samples, or those of the platform
	ParamsFile string
}

// Report returns a document with tables, charts and provenance of samples: of emulated machines, of
// transports of real machines, or of collective operations.
func Report(ctx context.Context, o ReportOptions) (*doc.Document, error) {
	if len(o.Samples) == 0 {
		return nil, optionErrorf("Samples", "name at least one file of samples")
	}
	machines, err := sample.ReadMachines(o.Samples...)
	var d interface{ Document() *doc.Document }
	switch {
	case err != nil:
	case slices.ContainsFunc(machines, hasCollectives):
		if len(o.Params.All) == 0 && o.ParamsFile != "" {
			o.Params, err = ReadParameters(o.ParamsFile)
		}
		if err == nil {
			d, err = collectiveReport(ctx, machines, o.Params)
		}
	case len(o.Params.All) > 0 || o.ParamsFile != "":
		err = optionErrorf("Params", "it is for samples of collective operations; of others parameters are fitted")
	case reports.AreReal(machines):
		d, err = transportReport(machines)
	default:
		d, err = emulationReport(machines)
	}
	if err != nil {
		return nil, err
	}
	return d.Document(), ctx.Err()
}

// maxPredictedMachines is the largest number of machines for which the transport chart shows
// predictions.
const maxPredictedMachines = 4

// transportReport compares transports of real machines.
func transportReport(machines []sample.Machine) (*reports.Report, error) {
	t := &reports.Report{Machines: machines, Results: make([]*fit.Result, len(machines))}
	fitted, failed := make([][]*curve.Curve, len(machines)), make([]error, len(machines))
	clean.RunParallel(len(machines), func(i int) {
		if t.Results[i], failed[i] = fit.Fit(machines[i].Set, clean.Options{}); failed[i] == nil {
			fitted[i] = t.Results[i].TimerCurves
		}
	})
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	if len(machines) <= maxPredictedMachines {
		for i, m := range machines {
			compared, err := compareLogGP(m.Set, t.Results[i].Parameters)
			if err != nil {
				return nil, err
			}
			t.Comparisons = append(t.Comparisons, compared...)
		}
	}
	var err error
	t.SideBySide, err = compare.CompareFittedSubjects(machines, fitted, clean.Options{}, defaultMargin, true)
	return t, err
}

// compareLogGP predicts one-way times from LogGP parameters only, without the times fitted to round
// trips.
func compareLogGP(set *sample.Set, ps []params.Parameter) ([]compare.Comparison, error) {
	withoutT := slices.DeleteFunc(slices.Clone(ps), func(p params.Parameter) bool { return p.Name == "T" })
	compared, err := compare.ComparePredictions(set, withoutT, func(q compare.PredictionQuery) (compare.Prediction, bool) {
		if q.Quantity != compare.OneWay {
			return compare.Prediction{}, false
		}
		return compare.PredictFromParameters(q)
	})
	for i := range compared {
		compared[i].Quantity += reports.LogGPQuantitySuffix
	}
	return compared, err
}

// emulationReport returns the contents of a page about samples of emulated machines.
func emulationReport(machines []sample.Machine) (*reports.Report, error) {
	all, err := sample.JoinMachines(machines...)
	if err != nil {
		return nil, err
	}
	fitted, err := fit.Fit(all.Set, clean.Options{})
	if err != nil {
		return nil, err
	}
	r := &reports.Report{Machines: []sample.Machine{all}, Results: []*fit.Result{fitted}}
	if r.SideBySide, err = compare.CompareFittedSubjects(r.Machines, [][]*curve.Curve{fitted.TimerCurves}, clean.Options{}, defaultMargin, false); err != nil {
		return nil, err
	}
	if r.Comparisons, err = compare.ComparePredictions(all.Set, fitted.Parameters, compare.PredictFromParameters); err != nil {
		return nil, err
	}
	byLogGP, err := compareLogGP(all.Set, fitted.Parameters)
	if err != nil {
		return nil, err
	}
	r.Comparisons = append(r.Comparisons, byLogGP...)
	if r.Published, err = publishedValues(); err != nil {
		return nil, err
	}
	routes, changed := routesOf(all.Set)
	fitted.Warnings = append(fitted.Warnings, changed...)
	for _, way := range routes {
		if !slices.ContainsFunc(r.Platforms, func(p *platform.Platform) bool { return p.Hash == way.Hash }) {
			r.Platforms = append(r.Platforms, way.Platform)
		}
		for _, l := range way.Libraries {
			if slices.ContainsFunc(all.Series, func(s sample.Series) bool {
				return s.Platform == way.Machine.Name && s.Library == l.Name && s.Place == way.place()
			}) {
				r.Charts = append(r.Charts, protocolTimelines(way, l)...)
			}
		}
	}
	steps, err := compare.ComparePredictions(all.Set, nil, sumSteps(routes))
	for _, c := range steps {
		c.Quantity += reports.StepsQuantitySuffix
		r.Comparisons = append(r.Comparisons, c)
	}
	return r, err
}

// publishedValues returns the values published in papers, from testdata.
func publishedValues() (reports.PublishedRows, error) {
	names, err := paper.List(testdata.Published)
	if err != nil {
		return nil, err
	}
	var all reports.PublishedRows
	for _, name := range names {
		p, err := paper.Read(testdata.Published, name)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Published()...)
	}
	return all, nil
}

// protocolTimelines draws each protocol on a route, for a message size at which all steps are
// visible.
func protocolTimelines(r route, l *model.Library) []*chart.Chart {
	if l.ClosedForm() != nil {
		return nil
	}
	const bytes = 1000
	m := r.Machine
	var charts []*chart.Chart
	for _, p := range model.Protocols {
		mode := model.StandardMode
		if p.IsSynchronous() {
			mode = model.SynchronousMode
		}
		t := model.Transfer{Machine: m, Library: l, Protocol: p, Mode: mode, Bytes: bytes, Path: r.path()}
		title := fmt.Sprintf("%s on %s, %s: a blocking %v send of %d bytes from rank %d to %d", p.Name, m.Name, l.Name, mode, bytes, r.pair[0], r.pair[1])
		charts = append(charts, chart.TransferChart(strings.Join([]string{m.Name, l.Name, r.place(), p.Name}, "-"), title, t.Timeline()))
	}
	return charts
}
