package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/timeline"
)

// What run, trace and simulate write of a course: trace events, a picture or a page; and what
// simulate writes of a sweep.

// TimelineHelp is the help of -o.
const TimelineHelp = "file of trace events (.json, as much as viewers load at once; .json.gz: all), picture (.svg), or directory for a page"

// fullTraceExtension is the extension of files of trace events that have all of a run.
const fullTraceExtension = ".json.gz"

// WritableTimeline checks a file or directory of WriteTimeline.
func WritableTimeline(name string) error {
	e := FileExtension(name)
	switch {
	case strings.HasSuffix(name, fullTraceExtension), e == ".json", e == ".svg":
		return WritableFile(name)
	case e == "":
		return WritableDirectory(name)
	}
	return fmt.Errorf("nothing that ends in %s can be written: name a .json file of trace events, a .svg picture, or a directory for a page", e)
}

// WriteTimeline writes a recording as a page, a picture or a file of events; the document is the
// page.
func WriteTimeline(cmd *cobra.Command, output, of string, shown timeline.Trace, page *doc.Document) error {
	var err error
	what := "page"
	switch e := FileExtension(output); {
	case strings.HasSuffix(output, fullTraceExtension):
		what = "trace events"
		err = sample.Save(output, func(w io.Writer) error { return timeline.WriteAllEvents(w, shown) }) // packed by its name
	case e == ".json":
		what = "trace events"
		err = sample.Save(output, func(w io.Writer) error { return timeline.WriteEvents(w, shown) })
	case e == ".svg":
		what = "time line"
		err = sample.Save(output, func(w io.Writer) error { return shown.Chart().SVG(w, chart.DefaultWidth) })
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

// WritableSweep checks a file of WriteSweep.
func WritableSweep(name string) error {
	if e := FileExtension(name); e != ".svg" && e != ".csv" {
		return errors.New("name a .svg file for a chart of the sweep, or a .csv file for its table")
	}
	return WritableFile(name)
}

// WriteSweep writes a sweep as a chart or a table, or prints it.
func WriteSweep(cmd *cobra.Command, output string, d *doc.Document, c *chart.Chart) error {
	switch FileExtension(output) {
	case ".svg":
		return WriteChart(cmd, output, c, "chart of the sweep")
	case ".csv":
		return WriteCSV(cmd, output, d, "table of the sweep")
	}
	return Print(cmd, d)
}
