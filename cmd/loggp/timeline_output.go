package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/timeline"
)

// What run, trace and simulate write of a course: trace events, a picture or a page.

// timelineOutputHelp is the help of -o.
const timelineOutputHelp = "file of trace events (.json, as much as viewers load at once; .json.gz: all), picture (.svg), or directory for a page"

// fullTraceExtension is the extension of files of trace events that have all of a run.
const fullTraceExtension = ".json.gz"

// checkTimelineOutput checks what the name of an output ends in, and that it can be written.
func checkTimelineOutput(output string) error {
	switch e := fileExtension(output); {
	case strings.HasSuffix(output, fullTraceExtension):
		return checkWritableFile(output)
	case slices.Contains([]string{"", ".json", ".svg"}, e):
		return checkWritableFileOrDirectory(output, ".json", ".svg")
	default:
		return fmt.Errorf("-o %s: nothing that ends in %s can be written: name a .json file of trace events, a .svg picture, or a directory for a page", output, e)
	}
}

// writeTimeline writes a recording as a page, a picture or a file of events; the document is the
// page.
func writeTimeline(cmd *cobra.Command, output, of string, shown timeline.Trace, page *doc.Document) error {
	var err error
	what := "page"
	switch e := fileExtension(output); {
	case strings.HasSuffix(output, fullTraceExtension):
		what = "trace events"
		err = sample.Save(output, func(w io.Writer) error {
			z := gzip.NewWriter(w)
			return errors.Join(timeline.WriteAllEvents(z, shown), z.Close())
		})
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
