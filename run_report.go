package loggp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/impl/program/npb"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/timeline"
)

// report makes the document of a run and puts the results of the program into the outcome.
func (r *programRun) report(e *Execution) {
	result, j := r.results[0], r.job
	machine, library := j.Platform.Machine.Name, j.Library.Name
	e.title = r.program.Title(r.settings, result, j.Ranks, machine, library)
	note := r.program.Note(r.settings, r.results, j.IsLocal())
	if e.Recording != nil {
		note += describeForcedRules(j.ForcedRules)
	}
	switch {
	case result.Flows != nil:
		e.title = fmt.Sprintf("%s of %s, %s each, on %s, %s", r.program.Name, format.Plural(r.settings.Rounds, "message"), format.Size(r.settings.Size), machine, library)
		recording := e.Recording
		if recording == nil {
			recording = &model.Timeline{}
		}
		e.document = timeline.FlowThroughput(e.title, result.Flows, recording)
		e.Platform, e.LinkLoads = j.Platform, timeline.LinkLoads(result.Flows, recording)
		if r.Profile {
			e.document.AddTables("calls", "Calls of all ranks", timeline.CallTable(recording))
		}
	case e.Recording != nil:
		e.document = timeline.RunTimes(e.title, note, e.Recording, r.Profile)
	case e.ends != nil:
		e.document = timeline.EndTimes(e.title, note, e.ends)
	default:
		e.document = &doc.Document{Title: e.title}
	}
	e.Failure = r.program.Status()
	if b := result.Benchmark; b != nil {
		name := r.program.Name
		e.document.AddTables("npb", "NAS Parallel Benchmark "+name, benchmarkTable(name, b, j.Ranks))
		if b.Verification() == npb.Unsuccessful {
			e.Failure = fmt.Errorf("%s, class %s, on %s: verification unsuccessful: the result differs from the published one", name, b.Class, machine)
		}
	}
	addExpectedError(e.document, j.Library, true)
	if result.Rate != nil {
		e.Picture = result.Rate.Picture
		e.document.AddTables("rate", "How fast "+r.program.Name+" is", rateTable(r.program.Name, result))
	}
}

// addDisturbances warns of what may have disturbed measured computing.
func (e *Execution) addDisturbances(found []string) {
	if len(found) == 0 {
		return
	}
	e.Disturbances = found
	w := doc.Warning{Code: "disturbed", Meaning: "This machine was not quiet before the run, so computing may be charged more time than it needs. loggp doctor says what to do.", Count: len(found)}
	for _, d := range found {
		check, text, _ := strings.Cut(d, ": ")
		w.Cases = append(w.Cases, doc.WarningCase{Subjects: check, Text: text})
	}
	e.document.AddSection(doc.Section{ID: "warnings", Title: "Warnings", PageOnly: true, Warnings: []doc.Warning{w}})
}

// benchmarkTable has the lines that NPB prints at the end.
func benchmarkTable(name string, r *npb.Result, ranks int) *doc.Table {
	t := resultTableOf("npb", name)
	for _, line := range [][2]string{
		{"Class", r.Class},
		{"Size", r.Size},
		{"Iterations", strconv.Itoa(r.Iterations)},
		{"Time in seconds", fmt.Sprintf("%.6f", r.Time.Micros()/1e6)},
		{"Total processes", strconv.Itoa(ranks)},
		{"Mop/s total", fmt.Sprintf("%.2f", r.Mops())},
		{"Mop/s/process", fmt.Sprintf("%.2f", r.Mops()/float64(ranks))},
		{"Operation type", r.OperationKind},
		{"Verification", r.Verification()},
	} {
		t.AddRow(doc.TextCell(line[0]), doc.TextCell(line[1]))
	}
	return t
}

// rateTable has the time of a round of a program and the rates that follow from it.
func rateTable(name string, r program.Result) *doc.Table {
	t := resultTableOf("rate", name)
	seconds := r.Rate.Time.Micros() / 1e6
	t.AddRow(doc.TextCell("time of a round"), doc.TextCell(fmt.Sprintf("%.3f ms", 1e3*seconds)))
	if x := r.Rate.Picture; x != nil {
		t.AddRow(doc.TextCell("frames a second"), doc.TextCell(fmt.Sprintf("%.4g", 1/seconds)))
		t.AddRow(doc.TextCell("pixels"), doc.TextCell(fmt.Sprintf("%d x %d", x.Edge, x.Edge)))
	}
	if r.RateItems != portable.FrameItems {
		t.AddRow(doc.TextCell(r.RateItems+" a second"), doc.TextCell(fmt.Sprintf("%.4g", float64(r.Rate.Items)/seconds)))
	}
	return t
}

// resultTableOf returns a table for names of results and their values.
func resultTableOf(name, title string) *doc.Table {
	return &doc.Table{Name: name, Title: title, Columns: []doc.Column{{Heading: "result", IsKey: true, Kind: doc.TextColumn}, {Heading: "value", Kind: doc.TextColumn}}}
}

// comparePlacements runs a program with each placement of its ranks and reports what each costs.
func (o *ProgramOptions) comparePlacements(ctx context.Context, p program.Program, known *platform.Platform, s program.Settings) (*Execution, error) {
	var runs []*programRun
	defer func() {
		for _, r := range runs {
			r.close()
		}
	}()
	for _, placement := range o.Place {
		r, err := o.newRun(ctx, &p, known, s, placement)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	var all []timeline.PlacedRun
	for _, r := range runs {
		recording, err := r.record(ctx, job.TotalsOnly)
		if err != nil {
			return nil, err
		}
		if r != runs[0] {
			runs[0].outcome.Warnings = append(runs[0].outcome.Warnings, r.outcome.Warnings...)
		}
		runs[0].outcome.Failure = errors.Join(runs[0].outcome.Failure, r.program.Status())
		all = append(all, timeline.PlacedRun{Placement: r.job.Platform.Machine.Nodes.Placed, Recording: recording})
	}
	first := runs[0]
	of := p.Name
	if p.SizeUnit != "" {
		of += fmt.Sprintf(", size %d, rounds %d", s.Size, s.Rounds)
	}
	e := first.outcome
	e.title = fmt.Sprintf("Placements of %s, on %s, %s", of, known.Machine.Name, first.job.Library.Name)
	e.document = timeline.PlacementTimes(e.title, all)
	return e, nil
}
