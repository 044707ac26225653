package main

import (
	"errors"
	"fmt"
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

// addOutputFlags adds the flags by which a verb says how it prints what it has found.
func addOutputFlags(cmd *cobra.Command) {
	addFormatFlags(cmd)
	cmd.Flags().Bool("verbose", false, "print every row and every warning")
}

// addFormatFlags adds the flags that choose a format, with more formats of the verb, and a table.
func addFormatFlags(cmd *cobra.Command, more ...string) {
	addChoiceFlag(cmd, "format", append([]string{"table", "csv", "json", "markdown"}, more...), "table", "output format; csv prints one table")
	cmd.Flags().String("table", "", "with --format csv or json: name of the table to print (default: csv prints the first, json all)")
	cmd.Flags().Bool("tables", false, "list the names of the tables instead of printing them")
}

// printsText reports whether a verb prints text, not data.
func printsText(cmd *cobra.Command) bool {
	format := cmd.Flag("format").Value.String()
	return (format == "table" || format == "markdown") && !cmd.Flags().Changed("tables")
}

// checkOutputFlags checks the flags of addOutputFlags, and --ranks, before any work.
func checkOutputFlags(cmd *cobra.Command) error {
	if table := cmd.Flag("table"); table != nil && table.Changed {
		if format := cmd.Flag("format").Value.String(); format != "csv" && format != "json" {
			return newUsageError(cmd, errors.New("--table: it needs --format csv or json"))
		}
	}
	if tables := cmd.Flag("tables"); tables != nil && tables.Changed && cmd.Flags().Changed("format") {
		return newUsageError(cmd, errors.New("--tables, --format: give one of them"))
	}
	if verbose := cmd.Flag("verbose"); verbose != nil && verbose.Changed && cmd.Flag("format").Value.String() != "table" {
		return newUsageError(cmd, fmt.Errorf("--verbose: --format %s prints every row and every warning anyway", cmd.Flag("format").Value))
	}
	if ranks := cmd.Flag("ranks"); ranks != nil && ranks.Changed && ranks.Value.String() == "0" {
		return newUsageError(cmd, errors.New("--ranks 0: it must be at least 1"))
	}
	return nil
}

// rejectPrintFlags refuses the flags of addOutputFlags if -o is written in place of what a verb
// prints.
func rejectPrintFlags(cmd *cobra.Command) error {
	if cmd.Flag("output").Value.String() == "" {
		return nil
	}
	return rejectFlagsWithoutEffect(cmd, "--%s: with -o nothing is printed", "format", "table", "tables", "verbose")
}

// printDocument prints a document as --format says, if the verb has that flag, or else as text.
func printDocument(cmd *cobra.Command, d *doc.Document) error {
	out := cmd.OutOrStdout()
	if hasFileOnStandardOutput(cmd) {
		return nil
	}
	if f := cmd.Flags().Lookup("format"); f != nil {
		table, _ := cmd.Flags().GetString("table")
		if err := render.CheckTable(d, table); err != nil {
			return newUsageError(cmd, fmt.Errorf("--table: %w", err))
		}
		switch f.Value.String() {
		case "csv":
			return render.WriteCSV(out, d, table)
		case "json":
			return render.WriteJSON(out, d, table)
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
	if listed, _ := cmd.Flags().GetBool("tables"); listed {
		return render.WriteTableNames(out, d)
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
