package loggp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// OptionError says which option is wrong, and why.
type OptionError struct {
	Option string // name of the field, or several with commas in between; "": Err names what is wrong
	Value  string // value of the option, if the error shows it
	Err    error
}

// Error names the option by its field.
func (e *OptionError) Error() string { return e.Text(func(field string) string { return field }) }

// Text returns the error with other names for fields.
func (e *OptionError) Text(name func(field string) string) string {
	if e.Option == "" {
		return e.Err.Error()
	}
	fields := strings.Split(e.Option, ", ")
	for i, field := range fields {
		fields[i] = name(field)
	}
	return strings.TrimSuffix(strings.Join(fields, ", ")+" "+e.Value, " ") + ": " + e.Err.Error()
}

func (e *OptionError) Unwrap() error { return e.Err }

// optionErrorf returns an error about an option.
func optionErrorf(option, format string, args ...any) error {
	return &OptionError{Option: option, Err: fmt.Errorf(format, args...)}
}

// badOption makes err an error about an option. It returns nil for nil, and an error about another
// option unchanged.
func badOption(option string, err error) error {
	var known *OptionError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &OptionError{Option: option, Err: err}
}

// checkRange fails unless low ≤ n ≤ high.
func checkRange(option string, n, low, high int) error {
	if n < low || n > high {
		return &OptionError{option, fmt.Sprint(n), fmt.Errorf("it must be from %d to %d", low, high)}
	}
	return nil
}

// isThisMachine reports whether a platform is a transport of this computer.
func isThisMachine(platform string) bool { return slices.Contains(job.LocalPlatforms, platform) }

// LoadPlatform returns an emulated machine: from the catalogue, from a file, or as
// loggp:PARAMETERS. An unknown name and wrong parameters are an OptionError; an error in a file is
// not.
func LoadPlatform(name string) (*platform.Platform, error) {
	if isThisMachine(name) || name == probe.PlatformName {
		return nil, optionErrorf("", "platform %s is this machine, which is not emulated: measure it with 'loggp measure --platform %[1]s -o FILE', fit with 'loggp fit FILE -o PARAMS', and give PARAMS to --params of predict, compare or simulate", name)
	}
	p, err := platform.Load(name)
	var unknown *platform.UnknownPlatformError
	if errors.As(err, &unknown) || strings.HasPrefix(name, "loggp:") {
		return p, badOption("", err)
	}
	return p, err
}

// newJob sets up a job on an emulated machine.
func newJob(p *platform.Platform, library string, ranks int, noise float64) (*job.Job, error) {
	if err := checkNoise(noise); err != nil {
		return nil, err
	}
	j, err := job.New(p, library, ranks, noise)
	return j, badOption("", err)
}

// maxNoise is the largest relative standard deviation of a processor step.
const maxNoise = 0.4

// checkNoise checks the option Noise.
func checkNoise(noise float64) error {
	if noise > maxNoise {
		return &OptionError{"Noise", unit.Percent(noise), errors.New("it must be from 0% to 40%, so that no step takes negative time")}
	}
	return nil
}

// pairOf returns the pair of ranks for the option Place.
func pairOf(j *job.Job, place string) ([2]int, error) {
	pair, err := j.PairToMeasure(place)
	return pair, badOption("Place", err)
}

// checkProtocol fails unless a protocol has the name.
func checkProtocol(option, name string) error {
	if model.FindProtocol(name) == nil {
		return optionErrorf(option, "there is no protocol %q%s", name, table.NameChoices(name, model.ProtocolNames()))
	}
	return nil
}

// errNotSynchronous says why a protocol does not support synchronous sends.
var errNotSynchronous = errors.New("it does not support synchronous sends, in which the receiver confirms that a receive has matched")
