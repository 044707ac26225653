package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/paper"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports"
)

func reportCommand() *cobra.Command {
	var dir, params string
	cmd := &cobra.Command{
		Use:   "report SAMPLES.csv... [-o DIR]",
		Short: "Write a page with tables, charts and provenance",
		Long: `report fits parameters to samples and writes a directory: index.html, which needs no network, every chart as PNG and SVG, and every table as
CSV. Samples of low-level messages and of forced protocols add the comparison of equations (1) to (7) with measurements. A platform of the
catalogue, or one whose file is where it was, adds where each of its numbers is from.

Of samples that were all taken by a real clock, it sets the transports side by side: this program's over shared memory, an MPI, what other tools measured. Without -o it
prints the tables of that.

Of collective operations (measure --collective) it shows which algorithm is the fastest for how many ranks and bytes, each algorithm beside what LogGP says of it, and machines and
libraries side by side if there are several. The model takes the parameters of --params, or else those that samples of single messages among the files show, or
else those of the emulated platform's low-level messages.`,
		Example: `  loggp report samples.csv -o report
  loggp report samples.csv message.csv rta.csv -o report
  loggp report here.csv mpi.csv
  loggp report together.csv -o together
  loggp report together.csv samples.csv`,
		Args: some("file of samples"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := reportOf(cmd, args, params)
			if err != nil {
				return err
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return write(cmd, dir)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "directory to write")
	cmd.Flags().StringVar(&params, "params", "", "of collective operations: file of parameters from which to predict")
	return cmd
}

// reportOf returns what writes a report on files: on collective operations, of transports of real machines side by side, or on emulated ones.
func reportOf(cmd *cobra.Command, files []string, params string) (func(cmd *cobra.Command, dir string) error, error) {
	machines, err := sample.ReadMachines(files...)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(machines, hasCollectives) {
		r, err := collectiveReport(cmd, machines, params)
		return func(cmd *cobra.Command, dir string) error {
			if dir == "" {
				out := cmd.OutOrStdout()
				return reports.WriteCollectives(out, r, style(out))
			}
			return written(cmd, dir, reports.CollectivePage(dir, r))
		}, err
	}
	if params != "" {
		return nil, misuse(cmd, errors.New("--params: it is for samples of collective operations; of others parameters are fitted"))
	}
	if realClock(machines) {
		s, err := survey(machines)
		return func(cmd *cobra.Command, dir string) error {
			if dir == "" {
				out := cmd.OutOrStdout()
				return reports.WriteSurvey(out, s, style(out))
			}
			return written(cmd, dir, reports.SurveyPage(dir, s))
		}, err
	}
	r, err := report(files)
	return func(cmd *cobra.Command, dir string) error {
		if dir == "" {
			return misuse(cmd, errors.New("-o: say which directory to write"))
		}
		return written(cmd, dir, reports.Page(dir, r))
	}, err
}

// written says where a report is, unless writing it failed.
func written(cmd *cobra.Command, dir string, err error) error {
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "report written to %s/index.html\n", dir)
	}
	return err
}

// report gathers all that a page shows.
func report(files []string) (reports.Report, error) {
	r := reports.Report{}
	set, err := sample.ReadFile(files...)
	if err != nil {
		return r, err
	}
	r.Samples = set
	if r.Result, err = fit.Fit(set, clean.Options{}); err != nil {
		return r, err
	}
	if r.Contrast, err = compare.NewContrast([]sample.Machine{{Files: files, Set: set}}, clean.Options{}, overlapMargin); err != nil {
		return r, err
	}
	if r.Comparisons, err = compare.Compare(set, r.Result.Parameters, compare.Predict); err != nil {
		return r, err
	}
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
	steps, err := compare.Compare(set, nil, bySteps(ways))
	for _, c := range steps {
		c.Quantity += reports.BySteps
		r.Comparisons = append(r.Comparisons, c)
	}
	return r, err
}

// timelines draws each protocol on its way once, with a message that is long enough to be seen and short enough to see the rest.
func timelines(w way, l *model.Library) []*reports.Chart {
	if l.ClosedForm() != nil {
		return nil
	}
	const k = 1000
	m := w.Machine
	var charts []*reports.Chart
	for _, p := range model.Protocols {
		mode := model.Standard
		if p.Synchronous() {
			mode = model.Synchronous
		}
		t := model.Transfer{Machine: m, Library: l, Protocol: p, Mode: mode, Bytes: k, Path: w.path()}
		title := fmt.Sprintf("%s on %s, %s: a blocking %v send of %d bytes from rank %d to %d", p.Name, m.Name, l.Name, mode, k, w.pair[0], w.pair[1])
		charts = append(charts, reports.Timeline(strings.Join([]string{m.Name, l.Name, w.place(), p.Name}, "-"), title, t.Timeline()))
	}
	return charts
}
