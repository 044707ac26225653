// Package foreign reads what other tools have measured: their outputs become data sets, with the
// timers of ours that mean the same.
//
// A format is a file: a Format value, and how its lines are read. Output that corresponds to none
// of our timers is left out, and a Note says so. docs/import.md has the tables.
package foreign

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// Format is what a tool prints.
type Format struct {
	Name        string // on a command line, and of the platform unless another is given
	Description string // one line for people, with the unit
	Mark        string // what Guess looks for, for people

	matches func(text string) bool
	read    func(*input, *builder)
}

// Formats are all of them, in the order in which they are listed.
var Formats = []*Format{&osu, &imb, &netgauge, &netpipe, &logpMPI, &skampi, &prtt}

// Named returns the format of a name, or nil.
func Named(name string) *Format {
	for _, f := range Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Options says what the output of a tool does not.
type Options struct {
	Format   *Format // default: guessed, in each file
	Platform string  // default: the name of the format
	Library  string  // default: what the file says, or none
	Ranks    int     // of collective operations, where the file does not say; 0: unknown
	Place    string  // inter, intra, or two ranks such as 0-7; default inter
}

// Note says what of a file was not imported, or is not what it seems.
type Note struct{ File, Text string }

func (n Note) String() string { return n.File + ": " + n.Text }

// File is one output.
type File struct {
	Name string // stands for it in errors; its last element goes into the facts
	io.Reader
}

// Import reads outputs into one set. A repeated measurement, in one file or in several, counts as
// another launch. It is an error if a line is not what the format has there, with file, line and
// column; if a format cannot be guessed; and if nothing of a file can be used.
func Import(files []File, o Options) (*sample.Set, []Note, error) {
	all := &builder{launches: make(map[sample.Key]int)}
	for _, f := range files {
		text, err := readContents(f)
		if err != nil {
			return nil, nil, err
		}
		format := o.Format
		if format == nil {
			if format, err = guessFormat(f.Name, text); err != nil {
				return nil, nil, err
			}
		}
		if err := all.readFile(f.Name, text, format, o); err != nil {
			return nil, nil, err
		}
	}
	return &all.set, all.notes, nil
}

// guessFormat returns the only format that a text can be of.
func guessFormat(name, text string) (*Format, error) {
	var found []*Format
	for _, f := range Formats {
		if f.matches(text) {
			found = append(found, f)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	looked := Formats
	what := "not the output of a known tool"
	if len(found) > 1 {
		looked, what = found, "could be the output of several tools, name one"
	}
	var b strings.Builder
	for _, f := range looked {
		fmt.Fprintf(&b, "\n  %-9s %s", f.Name, f.Mark)
	}
	return nil, fmt.Errorf("%s: %s; this was looked for:%s", name, what, b.String())
}

// fileBase returns the last element of a path, which does not reveal the directory of the file.
func fileBase(name string) string { return filepath.Base(name) }
