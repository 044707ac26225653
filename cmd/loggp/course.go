package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/timeline"
)

// What run, trace and simulate write of a course: trace events, a picture or a page.

// courseHelp is the help of -o.
const courseHelp = "file of trace events (.json), picture (.svg), or directory for a page"

// courseFormat checks what the name of an output ends in, and that it can be written.
func courseFormat(output string) error {
	switch e := extension(output); e {
	case "", ".json", ".svg":
		return written(output, ".json", ".svg")
	default:
		return fmt.Errorf("-o %s: nothing that ends in %s can be written: name a .json file of trace events, a .svg picture, or a directory for a page", output, e)
	}
}

// writeCourse writes a recording as a page, a picture or a file of events; the document is the
// page.
func writeCourse(cmd *cobra.Command, output, of string, shown timeline.Trace, page *doc.Document) error {
	var err error
	what := "page"
	switch extension(output) {
	case ".json":
		what = "trace events"
		err = sample.Save(output, func(w io.Writer) error { return timeline.WriteEvents(w, shown) })
	case ".svg":
		what = "time line"
		err = sample.Save(output, func(w io.Writer) error { return shown.Chart().SVG(w, chart.Width) })
	default:
		err = render.WritePage(output, page)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.Name(), err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s of %s written to %s\n", what, of, output)
	if left := shown.OmittedText(); left != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), left)
	}
	return nil
}

// most is how much of a run is recorded: nothing but totals, as much as a page shows well, or as
// much as there may be.
func (r *runs) most() int {
	switch {
	case r.profile || extension(r.course) == ".json":
		return mostThings
	case r.course != "":
		return 0
	}
	return -1
}

// courseOf checks whether the course of jobs can be written.
func (r *runs) courseOf(cmd *cobra.Command, jobs ...*job.Job) error {
	if r.course == "" {
		return nil
	}
	err := courseFormat(r.course)
	switch {
	case jobs[0].Real():
		err = errors.Join(err, fmt.Errorf("-o: it is for emulated machines, and %s is this one", r.platform))
	case len(jobs) > 1:
		err = errors.Join(err, errors.New("-o: it is of one run; name one placement"))
	case r.profile && extension(r.course) != ".json":
		err = errors.Join(err, errors.New("--profile: it needs all of a run, and -o shows as much as one can read; leave one out, or name a .json file"))
	}
	if err != nil {
		return misuse(cmd, err)
	}
	return nil
}

// writeRun writes the course of a run if that is asked for, with what was printed of it.
func (r *runs) writeRun(cmd *cobra.Command, program []string, job *job.Job, record *model.Timeline, printed *doc.Document) error {
	if r.course == "" {
		return nil
	}
	shown := timeline.Trace{Name: job.Platform.Machine.Name + "-" + filepath.Base(program[0]), Title: printed.Title, Command: recall(cmd, program...), Recording: record}
	return writeCourse(cmd, r.course, shown.Title, shown, shown.Page(printed))
}
