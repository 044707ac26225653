package loggp

import (
	"fmt"

	"github.com/loggp/loggp/fit/export"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/schedule"
)

// Parameters are results of Fit, for one or several platforms, libraries, places and modes.
type Parameters struct {
	All   []params.Parameter
	Tiers []tiers.Tiers // groups of close ranks, if all pairs were measured
	From  string        // file name, or another name for errors
}

// ReadParameters reads a parameter file.
func ReadParameters(name string) (Parameters, error) {
	p := Parameters{From: name}
	f, err := input.Open(name)
	if err != nil {
		return p, fmt.Errorf("read parameters: %w; 'loggp fit -o FILE' writes such a file", err)
	}
	defer f.Close()
	all, facts, err := params.ReadParameters(f, name)
	if err != nil {
		return p, err
	}
	if len(all) == 0 {
		return p, fmt.Errorf("%s has no parameters below its header: fit samples anew (loggp fit SAMPLES -o %s)", name, name)
	}
	p.All = all
	if p.Tiers, err = tiers.ParseGroupFacts(facts); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return p, err
}

// logGOPS returns the LogGOPS parameters of a platform, library and place; "" matches any. The
// notes list assumptions.
func (p Parameters) logGOPS(platform, library, place string) (params schedule.Params, notes []string, err error) {
	params, notes, err = export.LogGOPSParameters(p.All, export.Options{Platform: platform, Library: library, Place: place})
	if err != nil {
		return params, nil, fmt.Errorf("%s: %w", p.From, err)
	}
	for i, note := range notes {
		notes[i] = p.From + ": " + note
	}
	return params, notes, nil
}
