// Package export writes parameters as other tools take them: simulators of message passing, and
// JSON for everybody else.
//
// A format is a file: a Format value and what it writes. A parameter that a tool needs and the
// samples do not determine is an error that says what to measure; no number is made up for it.
package export

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/params"
)

// Format is what a tool reads.
type Format struct {
	Name        string
	Description string // one line for people

	write func(io.Writer, []params.Parameter, Options) error
}

// Formats are all of them, in the order in which they are listed.
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

// Options says of what to write, and how.
type Options struct {
	Platform, Library, Place string // "": the only one there is; of JSON all
	Mode                     string // "": send; of JSON all
	EagerLimit               int    // S: bytes of the longest message that is sent without asking the receiver; 0: by the parameters
	TakesBounds              bool   // take a g of which only a bound is known as that bound
	TakesSmallOverheads      bool   // charge the overheads of small messages at all sizes

	simulated bool // for LogGOPSParameters
}

// Write writes parameters in a format. It is an error if they are of several platforms, libraries
// or places and the options do not say which, and if the tool needs a parameter that is not among
// them.
func Write(w io.Writer, f *Format, ps []params.Parameter, o Options) error {
	selected := slices.Clone(params.ParametersOfPlace(ps, o.Platform, o.Library, o.Place))
	if o.Mode != "" {
		selected = slices.DeleteFunc(selected, func(p params.Parameter) bool { return p.Mode != o.Mode && f != &simGrid })
	}
	if len(selected) == 0 {
		return fmt.Errorf("no parameters of %s: there are those of %s", strings.Join(strings.Fields(strings.Join([]string{o.Platform, o.Library, o.Place, o.Mode}, " ")), ", "), listSubjects(ps))
	}
	return f.write(w, selected, o)
}

// listSubjects lists what parameters are of.
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

// singleValue is an error unless there are parameters and all parameters are of one platform,
// library and place.
func singleValue(ps []params.Parameter) error {
	if len(ps) == 0 {
		return errors.New("there are no parameters of this platform, library and place")
	}
	if slices.ContainsFunc(ps, func(p params.Parameter) bool { return selectSubject(p) != selectSubject(ps[0]) }) {
		return fmt.Errorf("the parameters are of several places, choose one by platform, library and place: %s", listSubjects(ps))
	}
	return nil
}
