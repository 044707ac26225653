package main

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
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// standardStream is the name of standard input and standard output.
const standardStream = "-"

// checkWritableFile checks, before any work, that a file can be written.
func checkWritableFile(name string) error {
	return checkWritableFileOfFlag("-o", name)
}

// checkWritableFileOfFlag is checkWritableFile for the file of a flag other than -o.
func checkWritableFileOfFlag(flag, name string) error {
	if name == "" || name == standardStream {
		return nil
	}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return fmt.Errorf("%s %s: this is a directory: name a file", flag, name)
	}
	return prefixFlagToError(flag, name, sample.CheckWritable(name))
}

// checkWritableCSVFile checks a file that is written as CSV, whatever its name is.
func checkWritableCSVFile(name string) error {
	switch e := fileExtension(name); e {
	case ".json", ".html", ".svg", ".md", ".yaml", ".yml":
		return fmt.Errorf("-o %s: the file is written as CSV: name it .csv", name)
	}
	return checkWritableFile(name)
}

// checkWritableDirectory checks, before any work, that a directory can be written, with everything
// that a page has.
func checkWritableDirectory(name string) error {
	if name == "" {
		return nil
	}
	if name == standardStream {
		return errors.New("-o -: this names a directory to write; leave -o out to print tables")
	}
	if st, err := os.Stat(name); err == nil && !st.IsDir() {
		return fmt.Errorf("-o %s: this is a file: name a directory", name)
	}
	return prefixFlagToError("-o", name, render.CheckDirectory(name))
}

// checkWritableFileOrDirectory checks the output of a verb that writes files of some kinds, told
// apart by how they end, and else a directory.
func checkWritableFileOrDirectory(name string, kinds ...string) error {
	for _, k := range kinds {
		if strings.HasSuffix(name, k) || strings.HasSuffix(name, k+".gz") {
			return checkWritableFile(name)
		}
	}
	return checkWritableDirectory(name)
}

func prefixFlagToError(flag, name string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s %s: %w", flag, name, err)
	}
	return err
}

// fileExtension returns how the name of a file ends, before .gz.
func fileExtension(name string) string { return filepath.Ext(strings.TrimSuffix(name, ".gz")) }

// writeFile writes a file, whole or not at all, and says so by a sentence on standard error.
// Without a name it writes nothing. The file - is standard output, where printDocument and
// printDocumentAsText print nothing then.
func writeFile(cmd *cobra.Command, name string, write func(io.Writer) error, said string, args ...any) error {
	switch name {
	case "":
		return nil
	case standardStream:
		return write(cmd.OutOrStdout())
	}
	if err := sample.Save(name, write); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), said+" written to %s\n", append(args, name)...)
	return nil
}

// writeHTMLPage writes a directory with the page of a document, and says so on standard error.
func writeHTMLPage(cmd *cobra.Command, dir string, d *doc.Document, what string) error {
	if err := render.WritePage(dir, d); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s written to %s/index.html\n", what, dir)
	return nil
}

// hasFileOnStandardOutput says that standard output is a file of the verb.
func hasFileOnStandardOutput(cmd *cobra.Command) bool {
	for _, name := range []string{"output", "finish", "record", "diagram"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.String() == standardStream {
			return true
		}
	}
	return false
}

// openInput opens a file of any kind to be read: standard input if it is -, packed by gzip or not.
func openInput(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if in, ok := cmd.InOrStdin().(*os.File); name == standardStream && (!ok || in != os.Stdin) {
		return io.NopCloser(cmd.InOrStdin()), nil // of a test
	}
	return input.Open(name)
}
