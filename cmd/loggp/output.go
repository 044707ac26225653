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
	"github.com/loggp/loggp/reports/render"
)

// standard is the name of standard input and standard output.
const standard = "-"

// output checks, before any work, that a file can be written.
func output(name string) error {
	if name == "" || name == standard {
		return nil
	}
	return flagged("-o", name, sample.CheckWritable(name))
}

// pages checks, before any work, that a directory can be written, with everything that a page has.
func pages(name string) error {
	if name == "" {
		return nil
	}
	if name == standard {
		return errors.New("-o -: it is a directory that is written; leave -o out to print tables")
	}
	return flagged("-o", name, render.CheckDirectory(name))
}

// written checks the output of a verb that writes files of some kinds, told apart by how they end,
// and else a directory.
func written(name string, kinds ...string) error {
	for _, k := range kinds {
		if strings.HasSuffix(name, k) || strings.HasSuffix(name, k+".gz") {
			return output(name)
		}
	}
	return pages(name)
}

func flagged(flag, name string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s %s: %w", flag, name, err)
	}
	return err
}

// extension returns how the name of a file ends, before .gz.
func extension(name string) string { return filepath.Ext(strings.TrimSuffix(name, ".gz")) }

// keep writes a file, whole or not at all, and says so by a sentence on standard error. The file -
// is standard output, where show and text print nothing then.
func keep(cmd *cobra.Command, name string, write func(io.Writer) error, said string, args ...any) error {
	if name == standard {
		return write(cmd.OutOrStdout())
	}
	if err := sample.Save(name, write); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), said+" written to %s\n", append(args, name)...)
	return nil
}

// quiet says that standard output is a file of the verb.
func quiet(cmd *cobra.Command) bool {
	for _, name := range []string{"output", "finish", "record", "diagram"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.String() == standard {
			return true
		}
	}
	return false
}

// open opens a file of any kind to be read: standard input if it is -, packed by gzip or not.
func open(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if in, ok := cmd.InOrStdin().(*os.File); name == standard && (!ok || in != os.Stdin) {
		return io.NopCloser(cmd.InOrStdin()), nil // of a test
	}
	return input.Open(name)
}
