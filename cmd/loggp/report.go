package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/testdata"
)

func reportCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "report SAMPLES.csv... -o DIR",
		Short: "Write a page with tables, charts and provenance",
		Long: `report fits parameters to samples and writes a directory: index.html, which needs no network, every chart as PNG and SVG, and every table as
CSV. Samples of low-level messages and of forced protocols add the comparison of equations (1) to (7) with measurements. A platform of the
catalogue, or one whose file is where it was, adds where each of its numbers is from.`,
		Example: `  loggp report samples.csv -o report
  loggp report samples.csv message.csv rta.csv -o report`,
		Args: some("file of samples"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return misuse(cmd, errors.New("-o: say which directory to write"))
			}
			r, err := report(args)
			if err != nil {
				return err
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if err := reports.Page(dir, r); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "report written to %s/index.html\n", dir)
			return nil
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "directory to write")
	return cmd
}

// report gathers all that a page shows.
func report(files []string) (reports.Report, error) {
	r := reports.Report{}
	set, err := sample.ReadFile(files...)
	if err != nil {
		return r, err
	}
	r.Samples = set
	if r.Result, err = fit.Fit(set, fit.Options{}); err != nil {
		return r, err
	}
	if r.Comparisons, err = fit.Compare(set, r.Result.Parameters, fit.Predict); err != nil {
		return r, err
	}
	papers, err := fs.Sub(testdata.Published, "published/altawil-moritz")
	if err != nil {
		return r, err
	}
	if r.Published, err = reports.ReadPublished(papers); err != nil {
		return r, err
	}
	var changed []fit.Warning
	r.Platforms, changed = platformsOf(set)
	r.Result.Warnings = append(r.Result.Warnings, changed...)
	for _, p := range r.Platforms {
		for _, l := range p.Libraries {
			if slices.ContainsFunc(set.Series, func(s sample.Series) bool { return s.Platform == p.Machine.Name && s.Library == l.Name }) {
				r.Charts = append(r.Charts, timelines(p.Machine, l)...)
			}
		}
	}
	ranks := 0
	if v, ok := set.Fact(ranksFact); ok {
		ranks, _ = strconv.Atoi(v) // a file by hand may say anything: then the platform's default counts
	}
	steps, err := fit.Compare(set, nil, bySteps(r.Platforms, ranks))
	for _, c := range steps {
		c.Quantity += reports.BySteps
		r.Comparisons = append(r.Comparisons, c)
	}
	return r, err
}

// platformsOf returns the platforms on which samples were measured, as far as they are where they were and what they were.
func platformsOf(set *sample.Set) (ps []*platform.Platform, changed []fit.Warning) {
	var file string
	for _, f := range set.Facts {
		if f.Key == fileFact {
			file = f.Value
		}
		if f.Key != sumFact || file == "" {
			continue
		}
		p, err := platform.Load(file)
		switch {
		case err != nil || p.Sum != f.Value:
			changed = append(changed, fit.Warning{Platform: file, Code: fit.PlatformChanged,
				Text: "the platform's file is gone, or is not what it was when this was measured: where its numbers are from, and sums of its steps, are left out"})
		case !slices.ContainsFunc(ps, func(q *platform.Platform) bool { return q.Sum == p.Sum }):
			ps = append(ps, p)
		}
		file = ""
	}
	return ps, changed
}

// timelines draws each protocol on a machine once, with a message that is long enough to be seen and short enough to see the rest.
func timelines(m *model.Machine, l *model.Library) []*reports.Chart {
	const k = 1000
	var charts []*reports.Chart
	for _, p := range model.Protocols {
		mode := model.Standard
		if p.Synchronous() {
			mode = model.Synchronous
		}
		t := model.Transfer{Machine: m, Library: l, Protocol: p, Mode: mode, Bytes: k, Path: m.Path(m.Ranks.Default, 0, m.Ranks.Default-1)}
		title := fmt.Sprintf("%s on %s, %s: a blocking %v send of %d bytes", p.Name, m.Name, l.Name, mode, k)
		charts = append(charts, reports.Timeline(m.Name+"-"+l.Name+"-"+p.Name, title, t.Timeline()))
	}
	return charts
}
