package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
	"github.com/loggp/loggp/reports/render"
)

func reportCommand() *cobra.Command {
	var dir, params string
	cmd := &cobra.Command{
		Use:   "report SAMPLES.csv... [-o DIR]",
		Short: "Write a page with tables, charts and provenance",
		Long: `report fits parameters to samples and writes a directory: index.html, which needs no network, every
chart as PNG and SVG, and every table as CSV. Without -o it prints the tables. Samples of low-level
messages and of forced protocols add the comparison of equations (1) to (7) with measurements; an
emulated platform adds the source of each of its numbers.

If all samples are from real machines, the page sets the transports side by side: shared memory,
TCP, MPI libraries, and results of other tools.

For collective operations (measure --collective) it shows which algorithm is the fastest for which
ranks and sizes, each algorithm beside LogGP, and machines and libraries side by side. The model
uses --params, or else the single messages among the samples, or else the low-level messages of the
emulated platform.`,
		Example: `  loggp report samples.csv -o report
  loggp report samples.csv message.csv rta.csv -o report
  loggp report here.csv mpi.csv
  loggp report together.csv -o together
  loggp report together.csv samples.csv`,
		Args: some("file of samples"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := pages(dir); err != nil {
				return misuse(cmd, err)
			}
			d, err := reportOf(cmd, args, params)
			if err == nil {
				err = cmd.Context().Err()
			}
			if err != nil {
				return err
			}
			if dir == "" {
				return show(cmd, d)
			}
			if err := render.WritePage(dir, d); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "report written to %s/index.html\n", dir)
			return nil
		},
	}
	printing(cmd)
	cmd.Flags().StringVarP(&dir, "output", "o", "", "directory to write")
	cmd.Flags().StringVar(&params, "params", "", "of collective operations: file of parameters from which to predict")
	return cmd
}

// reportOf returns the report on files: on collective operations, of transports of real machines
// side by side, or on emulated ones.
func reportOf(cmd *cobra.Command, files []string, params string) (*doc.Document, error) {
	machines, err := sample.ReadMachines(files...)
	switch {
	case err != nil:
		return nil, err
	case slices.ContainsFunc(machines, hasCollectives):
		r, err := collectiveReport(cmd, machines, params)
		if err != nil {
			return nil, err
		}
		return r.Document(), nil
	case params != "":
		return nil, misuse(cmd, errors.New("--params: it is for samples of collective operations; of others parameters are fitted"))
	case realClock(machines):
		t, err := transports(machines)
		if err != nil {
			return nil, err
		}
		return t.Document(), nil
	}
	r, err := report(files)
	if err != nil {
		return nil, err
	}
	return r.Document(), nil
}

// realClock says whether everything was measured on real machines.
func realClock(machines []sample.Machine) bool {
	return !slices.ContainsFunc(machines, func(m sample.Machine) bool {
		return slices.ContainsFunc(m.Series, func(s sample.Series) bool { return s.Clock != "real" })
	})
}

// transports gathers what is shown of transports of real machines.
func transports(machines []sample.Machine) (*reports.Transports, error) {
	t := &reports.Transports{Machines: machines, Results: make([]*fit.Result, len(machines))}
	fitted, failed := make([][]*curve.Curve, len(machines)), make([]error, len(machines))
	clean.Parallel(len(machines), func(i int) {
		if t.Results[i], failed[i] = fit.Fit(machines[i].Set, clean.Options{}); failed[i] == nil {
			fitted[i] = t.Results[i].Measured
		}
	})
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	if len(machines) <= 4 { // of more the chart has no lines of predictions
		for i, m := range machines {
			cs, err := byLogGP(m.Set, t.Results[i].Parameters)
			if err != nil {
				return nil, err
			}
			t.Comparisons = append(t.Comparisons, cs...)
		}
	}
	var err error
	t.Table, err = compare.CompareFittedSubjects(machines, fitted, clean.Options{}, overlapMargin, true)
	return t, err
}

// byLogGP predicts one-way times from LogGP parameters alone: the times that were fitted to round
// trips are left out.
func byLogGP(set *sample.Set, ps []params.Parameter) ([]compare.Comparison, error) {
	alone := slices.DeleteFunc(slices.Clone(ps), func(p params.Parameter) bool { return p.Name == "T" })
	cs, err := compare.ComparePredictions(set, alone, func(q compare.Query) (compare.Prediction, bool) {
		if q.Quantity != compare.OneWay {
			return compare.Prediction{}, false
		}
		return compare.PredictFromParameters(q)
	})
	for i := range cs {
		cs[i].Quantity += reports.ByLogGP
	}
	return cs, err
}

// report gathers all that a page shows.
func report(files []string) (reports.Report, error) {
	r := reports.Report{}
	set, err := sample.ReadFile(files...)
	if err != nil {
		return r, err
	}
	r.Samples, r.Files = set, files
	if r.Result, err = fit.Fit(set, clean.Options{}); err != nil {
		return r, err
	}
	if r.Contrast, err = compare.CompareFittedSubjects([]sample.Machine{{Files: files, Set: set}}, [][]*curve.Curve{r.Result.Measured}, clean.Options{}, overlapMargin, false); err != nil {
		return r, err
	}
	if r.Comparisons, err = compare.ComparePredictions(set, r.Result.Parameters, compare.PredictFromParameters); err != nil {
		return r, err
	}
	alone, err := byLogGP(set, r.Result.Parameters)
	if err != nil {
		return r, err
	}
	r.Comparisons = append(r.Comparisons, alone...)
	for _, name := range paperNames() {
		p, err := paper.Read(published(), name)
		if err != nil {
			return r, err
		}
		r.Published = append(r.Published, p.Published()...)
	}
	ways, changed := waysOf(set)
	r.Result.Warnings = append(r.Result.Warnings, changed...)
	for _, w := range ways {
		if !slices.ContainsFunc(r.Platforms, func(p *platform.Platform) bool { return p.Sum == w.Sum }) {
			r.Platforms = append(r.Platforms, w.Platform)
		}
		for _, l := range w.Libraries {
			if slices.ContainsFunc(set.Series, func(s sample.Series) bool {
				return s.Platform == w.Machine.Name && s.Library == l.Name && s.Place == w.place()
			}) {
				r.Charts = append(r.Charts, timelines(w, l)...)
			}
		}
	}
	steps, err := compare.ComparePredictions(set, nil, bySteps(ways))
	for _, c := range steps {
		c.Quantity += reports.BySteps
		r.Comparisons = append(r.Comparisons, c)
	}
	return r, err
}

// timelines draws each protocol on its way once, with a message that is long enough to be seen and
// short enough to see the rest.
func timelines(w way, l *model.Library) []*chart.Chart {
	if l.ClosedForm() != nil {
		return nil
	}
	const k = 1000
	m := w.Machine
	var charts []*chart.Chart
	for _, p := range model.Protocols {
		mode := model.Standard
		if p.Synchronous() {
			mode = model.Synchronous
		}
		t := model.Transfer{Machine: m, Library: l, Protocol: p, Mode: mode, Bytes: k, Path: w.path()}
		title := fmt.Sprintf("%s on %s, %s: a blocking %v send of %d bytes from rank %d to %d", p.Name, m.Name, l.Name, mode, k, w.pair[0], w.pair[1])
		charts = append(charts, chart.TransferChart(strings.Join([]string{m.Name, l.Name, w.place(), p.Name}, "-"), title, t.Timeline()))
	}
	return charts
}
