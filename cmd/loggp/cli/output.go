package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// StandardStream is the name of standard input and standard output.
const StandardStream = "-"

// OutputCheck says why a file or directory cannot be written, before any work. It is not called
// without a name.
type OutputCheck func(name string) error

// outputFlag is a flag that names what a verb writes.
type outputFlag struct {
	name  *string
	check OutputCheck // nil: none, or the verb checks it itself
}

func (o *outputFlag) String() string { return *o.name }
func (o *outputFlag) Type() string   { return "string" }
func (o *outputFlag) Set(name string) error {
	*o.name = name
	return nil
}

// AddOutput adds a flag that names what a verb writes, by default nothing. The name is checked
// before the verb runs, also that it is no input and no other output.
func AddOutput(cmd *cobra.Command, name *string, flag, shorthand, help string, check OutputCheck) {
	cmd.Flags().VarP(&outputFlag{name, check}, flag, shorthand, help)
}

// IsOutput reports whether a flag was added by AddOutput.
func IsOutput(f *flag) bool {
	_, is := f.Value.(*outputFlag)
	return is
}

// checkOutputs checks what is to be written.
func checkOutputs(cmd *cobra.Command) (wrong error) {
	cmd.Flags().Visit(func(f *flag) {
		if o, is := f.Value.(*outputFlag); is && o.check != nil && wrong == nil {
			wrong = CheckOutput(cmd, f.Name, o.check)
		}
	})
	return wrong
}

// CheckOutput checks what a flag of AddOutput names.
func CheckOutput(cmd *cobra.Command, flag string, check OutputCheck) error {
	f := cmd.Flag(flag)
	name := f.Value.String()
	if name == "" {
		return nil
	}
	if err := check(name); err != nil {
		return Usagef("%s %s: %w", flagLabel(f), name, err)
	}
	return nil
}

// flagLabel returns the short form of a flag, if it has one.
func flagLabel(f *flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// WritableFile checks that a file can be written.
func WritableFile(name string) error {
	if name == StandardStream {
		return nil
	}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return errors.New("this is a directory: name a file")
	}
	return sample.CheckWritable(name)
}

// WritableCSV checks a file that is written as CSV, whatever its name is.
func WritableCSV(name string) error {
	switch FileExtension(name) {
	case ".json", ".html", ".svg", ".md", ".yaml", ".yml":
		return errors.New("the file is written as CSV: name it .csv")
	}
	return WritableFile(name)
}

// WritableWithExtension returns a check of a file whose name has to end in an extension. what says
// what has such a file: "the diagram is an SVG file".
func WritableWithExtension(extension, what string) OutputCheck {
	return func(name string) error {
		if FileExtension(name) != extension {
			return fmt.Errorf("%s: use a name that ends in %s", what, extension)
		}
		return WritableFile(name)
	}
}

// WritableDirectory checks that a directory can be written, with everything that a page has.
func WritableDirectory(name string) error {
	if name == StandardStream {
		return errors.New("this names a directory to write; leave -o out to print tables")
	}
	if st, err := os.Stat(name); err == nil && !st.IsDir() {
		return errors.New("this is a file: name a directory")
	}
	return render.CheckDirectory(name)
}

// FileExtension returns how the name of a file ends, before .gz.
func FileExtension(name string) string { return filepath.Ext(strings.TrimSuffix(name, ".gz")) }

// WriteFile writes a file, whole or not at all, and says so by a sentence on standard error.
// Without a name it writes nothing. The file - is standard output, where Print and PrintText print
// nothing then.
func WriteFile(cmd *cobra.Command, name string, write func(io.Writer) error, said string, args ...any) error {
	switch name {
	case "":
		return nil
	case StandardStream:
		return write(cmd.OutOrStdout())
	}
	if err := sample.Save(name, write); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), said+" written to %s\n", append(args, name)...)
	return nil
}

// WriteFileOrPrint is WriteFile to standard output if there is no name.
func WriteFileOrPrint(cmd *cobra.Command, name string, write func(io.Writer) error, said string, args ...any) error {
	if name == "" {
		return write(cmd.OutOrStdout())
	}
	return WriteFile(cmd, name, write, said, args...)
}

// WriteChart is WriteFile of a chart as SVG.
func WriteChart(cmd *cobra.Command, name string, c *chart.Chart, said string, args ...any) error {
	return WriteFile(cmd, name, func(w io.Writer) error { return c.SVG(w, chart.DefaultWidth) }, said, args...)
}

// WriteCSV is WriteFile of a document's first table.
func WriteCSV(cmd *cobra.Command, name string, d *doc.Document, said string, args ...any) error {
	return WriteFile(cmd, name, func(w io.Writer) error { return render.WriteCSV(w, d, "") }, said, args...)
}

// WritePage writes a directory with the page of a document, and says so on standard error.
func WritePage(cmd *cobra.Command, dir string, d *doc.Document, what string) error {
	if err := render.WritePage(dir, d); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s written to %s/index.html\n", what, dir)
	return nil
}

// UsesStandardOutput reports whether standard output is a file of the verb.
func UsesStandardOutput(cmd *cobra.Command) (uses bool) {
	cmd.Flags().VisitAll(func(f *flag) { uses = uses || IsOutput(f) && f.Value.String() == StandardStream })
	return uses
}

// OpenInput opens a file of any kind to be read: standard input if it is -, packed by gzip or not.
func OpenInput(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if in, ok := cmd.InOrStdin().(*os.File); name == StandardStream && (!ok || in != os.Stdin) {
		return io.NopCloser(cmd.InOrStdin()), nil // of a test
	}
	return input.Open(name)
}
