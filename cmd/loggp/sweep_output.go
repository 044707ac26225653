package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// checkSweepOutput checks what the name of the output of a sweep ends in, and that it can be
// written.
func checkSweepOutput(output string) error {
	switch e := fileExtension(output); {
	case output == "" || e == ".svg" || e == ".csv":
		return checkWritableFile(output)
	default:
		return fmt.Errorf("-o %s: name a .svg file for a chart of the sweep, or a .csv file for its table", output)
	}
}

// writeSweep writes a sweep as a chart or a table, or prints it.
func writeSweep(cmd *cobra.Command, output string, d *doc.Document, c *chart.Chart) error {
	switch fileExtension(output) {
	case ".svg":
		return writeFile(cmd, output, func(w io.Writer) error { return c.SVG(w, chart.DefaultWidth) }, "chart of the sweep")
	case ".csv":
		return writeFile(cmd, output, func(w io.Writer) error { return render.WriteCSV(w, d, "") }, "table of the sweep")
	}
	return printDocument(cmd, d)
}
