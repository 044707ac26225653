package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// FirstErrorWriter keeps the first error of what is written, which not everything that writes
// returns.
type FirstErrorWriter struct {
	io.Writer
	FirstError error
}

func (o *FirstErrorWriter) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.FirstError == nil {
		o.FirstError = err
	}
	return n, err
}

// UnderlyingFile returns the file that is written to, if it is one.
func UnderlyingFile(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*FirstErrorWriter); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}

// terminalStyle returns how to print to w: for people where it is a terminal, plainly otherwise.
func terminalStyle(w io.Writer) render.Style {
	f, ok := UnderlyingFile(w)
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

// AddPrintFlags adds the flags by which a verb says how it prints what it has found.
func AddPrintFlags(cmd *cobra.Command) {
	AddFormatFlags(cmd)
	cmd.Flags().Bool("verbose", false, "print every row and every warning")
}

// AddFormatFlags adds the flags that choose a format, with more formats of the verb, and a table.
func AddFormatFlags(cmd *cobra.Command, more ...string) {
	AddChoice(cmd, new(string), "format", append([]string{"table", "csv", "json", "markdown"}, more...), "table", "output format; csv prints one table", nil)
	cmd.Flags().String("table", "", "with --format csv or json: name of the table to print (default: csv prints the first, json all)")
	cmd.Flags().Bool("tables", false, "list the names of the tables instead of printing them")
}

// Format returns the format in which a verb prints.
func Format(cmd *cobra.Command) string { return cmd.Flag("format").Value.String() }

// PrintsText reports whether a verb prints text, not data.
func PrintsText(cmd *cobra.Command) bool {
	return (Format(cmd) == "table" || Format(cmd) == "markdown") && !cmd.Flags().Changed("tables")
}

// checkFormatFlags checks the flags of AddPrintFlags, and --ranks.
func checkFormatFlags(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("table") && Format(cmd) != "csv" && Format(cmd) != "json":
		return Usagef("--table: it needs --format csv or json")
	case given("tables") && given("format"):
		return Usagef("--tables, --format: give one of them")
	case given("verbose") && Format(cmd) != "table":
		return Usagef("--verbose: --format %s prints every row and every warning anyway", Format(cmd))
	case given("ranks") && cmd.Flag("ranks").Value.String() == "0":
		return Usagef("--ranks 0: it must be at least 1")
	}
	return nil
}

// RejectPrintFlags refuses the flags of AddPrintFlags if -o is written in place of what a verb
// prints.
func RejectPrintFlags(cmd *cobra.Command) error {
	if cmd.Flag("output").Value.String() == "" {
		return nil
	}
	return RejectFlags(cmd, "--%s: with -o nothing is printed", "format", "table", "tables", "verbose")
}

// Print prints a document as --format says, if the verb has that flag, or else as text.
func Print(cmd *cobra.Command, d *doc.Document) error {
	out := cmd.OutOrStdout()
	if UsesStandardOutput(cmd) {
		return nil
	}
	if cmd.Flag("format") != nil {
		table, _ := cmd.Flags().GetString("table")
		if err := render.CheckTable(d, table); err != nil {
			return Usagef("--table: %w", err)
		}
		switch Format(cmd) {
		case "csv":
			return render.WriteCSV(out, d, table)
		case "json":
			return render.WriteJSON(out, d, table)
		}
	}
	return PrintText(cmd, d)
}

// PrintText prints a document as text, with all of it if the verb has --verbose, or as Markdown.
func PrintText(cmd *cobra.Command, d *doc.Document) error {
	out := cmd.OutOrStdout()
	if UsesStandardOutput(cmd) {
		return nil
	}
	if listed, _ := cmd.Flags().GetBool("tables"); listed {
		return render.WriteTableNames(out, d)
	}
	if cmd.Flag("format") != nil && Format(cmd) == "markdown" {
		return render.WriteMarkdown(out, d)
	}
	s := terminalStyle(out)
	if f := cmd.Flags().Lookup("verbose"); f != nil {
		s.Verbose = f.Value.String() == "true"
	}
	return render.WriteText(out, d, s)
}

// WithProgress calls work, and shows what it reports on standard error if that is a terminal.
func WithProgress[T any](cmd *cobra.Command, work func(report func(done, total int)) (T, error)) (T, error) {
	var terminal io.Writer
	if f, ok := UnderlyingFile(cmd.ErrOrStderr()); ok && term.IsTerminal(int(f.Fd())) {
		terminal = f
	}
	bar := render.NewProgressBar(terminal)
	defer bar.End()
	return work(bar.Report)
}
