// Package export writes parameters in the formats of other tools: of simulators of message passing,
// and JSON.
//
// A Format is a file of this package with a function that writes parameters. If a tool needs a
// parameter that the samples do not determine, Write fails and says what to measure. It does not
// invent numbers.
package export

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/params"
)

// Format is the input format of a tool.
type Format struct {
	Name        string
	Description string // one line for people

	write func(io.Writer, []params.Parameter, Options) error
}

// Formats are all formats, in the order in which they are listed.
var Formats = []*Format{&logGOPSim, &simGrid, &jsonFormat}

// FormatNamed returns the format of a name, or nil.
func FormatNamed(name string) *Format {
	for _, f := range Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Names returns the names of all formats.
func Names() []string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// Options say which parameters to write, and how.
type Options struct {
	Platform, Library, Place string // "": the only one; for JSON all
	Mode                     string // "": send; for JSON all
	EagerLimit               int    // S in bytes: the longest eager message; 0: from the parameters
	TakesBounds              bool   // use the upper bound of g if no more is known
	TakesSmallOverheads      bool   // use the overheads of small messages at all sizes

	simulated bool // for LogGOPSParameters
}

// Write writes parameters in a format. It fails if they are of several platforms, libraries or
// places and the options do not select one, and if the tool needs a parameter that is missing.
func Write(w io.Writer, f *Format, ps []params.Parameter, o Options) error {
	selected := slices.Clone(params.ParametersOfPlace(ps, o.Platform, o.Library, o.Place))
	if o.Mode != "" {
		selected = slices.DeleteFunc(selected, func(p params.Parameter) bool { return p.Mode != o.Mode && f != &simGrid })
	}
	if len(selected) == 0 {
		var selection []string
		for _, x := range []struct{ what, value string }{{"platform", o.Platform}, {"library", o.Library}, {"place", o.Place}, {"mode", o.Mode}} {
			if x.value != "" {
				selection = append(selection, x.what+" "+x.value)
			}
		}
		return fmt.Errorf("no parameters of %s: there are those of %s", strings.Join(selection, ", "), listSubjects(ps))
	}
	return f.write(w, selected, o)
}

// listSubjects lists the platforms, libraries and places of parameters.
func listSubjects(ps []params.Parameter) string {
	var all []string
	for _, p := range ps {
		if s := selectSubject(p); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, "; ")
}

func selectSubject(p params.Parameter) string {
	if p.Library == "" {
		return p.Platform + ", " + p.Place
	}
	return p.Platform + ", " + p.Library + ", " + p.Place
}

// singleValue fails unless there are parameters and all are of one platform, library and place.
func singleValue(ps []params.Parameter) error {
	if len(ps) == 0 {
		return errors.New("there are no parameters of this platform, library and place")
	}
	if slices.ContainsFunc(ps, func(p params.Parameter) bool { return selectSubject(p) != selectSubject(ps[0]) }) {
		return fmt.Errorf("the parameters are of several places, choose one by platform, library and place: %s", listSubjects(ps))
	}
	return nil
}
