package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// terminalStyle returns how to print to w: for people where it is a terminal, plainly otherwise.
func terminalStyle(w io.Writer) render.Style {
	f, ok := underlyingFile(w)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return render.PlainStyle
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	s := render.TerminalStyle
	s.Width = width
	s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// addPrintFlags adds the flags by which a verb says how it prints what it has found.
func addPrintFlags(cmd *cobra.Command) {
	addChoiceFlag(cmd, "format", []string{"table", "csv", "json", "markdown"}, "table", "what to print")
	cmd.Flags().Bool("verbose", false, "print every warning and every row")
}

// printDocument prints a document as --format says, if the verb has that flag, or else as text.
func printDocument(cmd *cobra.Command, d *doc.Document) error {
	out := cmd.OutOrStdout()
	if hasFileOnStandardOutput(cmd) {
		return nil
	}
	if f := cmd.Flags().Lookup("format"); f != nil {
		switch f.Value.String() {
		case "csv":
			return render.WriteCSV(out, d)
		case "json":
			return render.WriteJSON(out, d)
		}
	}
	return printDocumentAsText(cmd, d)
}

// printDocumentAsText prints a document as text, with all of it if the verb has --verbose, or as
// Markdown.
func printDocumentAsText(cmd *cobra.Command, d *doc.Document) error {
	out := cmd.OutOrStdout()
	if hasFileOnStandardOutput(cmd) {
		return nil
	}
	if f := cmd.Flags().Lookup("format"); f != nil && f.Value.String() == "markdown" {
		return render.WriteMarkdown(out, d)
	}
	s := terminalStyle(out)
	if f := cmd.Flags().Lookup("verbose"); f != nil {
		s.Verbose = f.Value.String() == "true"
	}
	return render.WriteText(out, d, s)
}

// newProgressBar returns a bar that is shown if w is a terminal.
func newProgressBar(w io.Writer, total int) *render.ProgressBar {
	if f, ok := underlyingFile(w); ok && term.IsTerminal(int(f.Fd())) {
		return render.NewProgressBar(w, total)
	}
	return render.NewProgressBar(nil, total)
}
