package program

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loggp/loggp/impl/program/cprog"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Parameter is a setting of programs as a user gives it: by name and as text.
type Parameter struct {
	Name, Help string
	Type       string // string, int or bool
	Default    string // that the help shows; "": it depends on the program, or is off

	parse func(s *Settings, text string) error
}

// ParameterError says which parameter of a program cannot be used, and why.
type ParameterError struct {
	Parameter, Value string
	Err              error
}

func (e *ParameterError) Error() string {
	return strings.TrimSuffix(e.Parameter+" "+e.Value, " ") + ": " + e.Err.Error()
}

func (e *ParameterError) Unwrap() error { return e.Err }

// dataParameter is the name of the parameter of programs whose messages do not depend on what they
// receive.
const dataParameter = "data"

// Parameters of most programs.
var (
	sizeAndRoundsParameters = []string{"size", "rounds"}
	operationParameters     = []string{"size", "rounds", "operation"}
)

// Parameters are all parameters.
var Parameters = []Parameter{
	{Name: "size", Type: "string", Help: "size of the problem, or of a message such as 64KiB (default: the program's)", parse: func(s *Settings, text string) (err error) {
		s.Size, err = unit.ParseSize(text)
		return err
	}},
	{Name: "rounds", Type: "int", Help: "repetitions (default: the program's)", parse: func(s *Settings, text string) (err error) {
		s.Rounds, err = parseInteger(text)
		return err
	}},
	{Name: "operation", Type: "string", Help: "computing time of an operation of the program (default: the platform's)", parse: func(s *Settings, text string) (err error) {
		if s.OperationTime, err = unit.ParseTime(text); err != nil || s.OperationTime < 0 {
			return valueErrorf(text, "it must be a time such as 50ns, 0 or above")
		}
		return nil
	}},
	{Name: "class", Type: "string", Help: "size of a NAS Parallel Benchmark: S, W or A (default: S)", parse: func(s *Settings, text string) error {
		s.Class = text
		return nil
	}},
	{Name: "stride", Type: "int", Default: strconv.Itoa(trafficDefaults.Stride), Help: "shift: distance from each rank to the rank that it sends to; negative: backwards", parse: func(s *Settings, text string) (err error) {
		s.Stride, err = parseInteger(text)
		return err
	}},
	{Name: "root", Type: "int", Default: strconv.Itoa(trafficDefaults.Root), Help: "incast: the rank that all others send to", parse: func(s *Settings, text string) (err error) {
		s.Root, err = parseInteger(text)
		return err
	}},
	{Name: dataParameter, Type: "string", Default: "all", Help: "contents of messages: all, or none: only lengths, which takes less time and memory. Results are then wrong and not checked, and times are wrong if messages depend on what a rank receives", parse: func(s *Settings, text string) error {
		if s.SizeOnlyMessages = text == "none"; !s.SizeOnlyMessages && text != "all" {
			return valueErrorf(text, "it must be all or none")
		}
		return nil
	}},
	{Name: "compute", Type: "string", Default: "none", Help: "C programs: virtual time of computing between calls: none, measured (the time on this machine), measured*FACTOR, or from a clock rate such as 150MHz", parse: func(s *Settings, text string) (err error) {
		s.ComputeCharge, err = parseCompute(text)
		return err
	}},
	{Name: "stack", Type: "string", Default: "8MiB", Help: "C programs: stack size of each rank", parse: func(s *Settings, text string) (err error) {
		if s.StackBytes, err = unit.ParseSize(text); err != nil || s.StackBytes < minStackBytes || s.StackBytes > maxStackBytes {
			return valueErrorf(text, "it must be a size from 16KiB to 4GiB")
		}
		return nil
	}},
	{Name: "limit", Type: "string", Help: "C programs: time limit on this machine for a rank that computes without a call, or polls without success (default: none)", parse: func(s *Settings, text string) error {
		limit, err := unit.ParseTime(text)
		if s.ComputeTimeLimit = time.Duration(limit / unit.Nanosecond); err != nil || s.ComputeTimeLimit <= 0 {
			return valueErrorf(text, "it must be a time such as 10s")
		}
		return nil
	}},
	{Name: "spare", Type: "int", Default: "0", Help: "C programs: number of further ranks, on which MPI_Comm_spawn starts programs", parse: func(s *Settings, text string) (err error) {
		if s.SpareRanks, err = parseInteger(text); err != nil || s.SpareRanks < 0 {
			return valueErrorf(text, "it must be a number of ranks")
		}
		return nil
	}},
	{Name: "tag-output", Type: "bool", Default: "false", Help: "C programs: begin each line of output with the rank", parse: func(s *Settings, text string) (err error) {
		s.TagsOutputWithRank, err = strconv.ParseBool(text)
		return err
	}},
}

// Limits of parameters.
const (
	maxProblemSize = 1 << 20 // unless a program has a limit of its own
	maxRounds      = 1_000_000
	minStackBytes  = 16 << 10
	maxStackBytes  = 1 << 32
)

// ParseSettings returns the defaults of the program with the times of a processor, and what is
// given instead, by name. A parameter that the program does not take is an error.
func (p Program) ParseSettings(given map[string]string, on model.Processor) (Settings, error) {
	s := p.Defaults.ScaleTo(on)
	for _, x := range Parameters {
		text, isGiven := given[x.Name]
		if !isGiven {
			continue
		}
		if !slices.Contains(p.Parameters, x.Name) {
			err := p.unknownParameterError()
			if x.Name == dataParameter && p.whyNeedsData != "" {
				err = fmt.Errorf("%s does not take it: %s", p.Name, p.whyNeedsData)
			}
			return s, &ParameterError{x.Name, "", err}
		}
		if err := x.parse(&s, text); err != nil {
			if value, ok := err.(*ParameterError); ok {
				value.Parameter = x.Name
				return s, value
			}
			return s, &ParameterError{x.Name, "", err}
		}
	}
	for name := range given {
		if !slices.ContainsFunc(Parameters, func(x Parameter) bool { return x.Name == name }) {
			return s, &ParameterError{name, "", p.unknownParameterError()}
		}
	}
	if letters := strings.Split(p.Classes, ""); s.Class != "" && p.Classes != "" && !slices.Contains(letters, s.Class) {
		return s, &ParameterError{"class", s.Class, fmt.Errorf("%s has no such class%s", p.Name, table.NameChoices(s.Class, letters))}
	}
	if slices.Contains(p.Parameters, "size") {
		if err := checkRange("size", s.Size, cmp.Or(p.MaxSize, maxProblemSize)); err != nil {
			return s, err
		}
		return s, checkRange("rounds", s.Rounds, maxRounds)
	}
	return s, nil
}

// unknownParameterError says which parameters the program takes.
func (p Program) unknownParameterError() error {
	if len(p.Parameters) == 0 {
		return fmt.Errorf("%s takes no parameters", p.Name)
	}
	text := p.Name + " does not take it; it takes " + strings.Join(p.Parameters, ", ")
	if p.IsExecutable {
		text += ", and its own arguments after its name"
	}
	return fmt.Errorf("%s", text)
}

// checkRange checks that a number is from 1 to a limit.
func checkRange(name string, n, limit int) error {
	if n < 1 || n > limit {
		return &ParameterError{name, strconv.Itoa(n), fmt.Errorf("it must be from 1 to %d", limit)}
	}
	return nil
}

// valueErrorf returns the error of a value that its reader wants to see.
func valueErrorf(value, format string, args ...any) error {
	return &ParameterError{Value: value, Err: fmt.Errorf(format, args...)}
}

// parseInteger reads a whole number.
func parseInteger(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, valueErrorf(text, "it must be a whole number")
	}
	return n, nil
}

// parseCompute reads the virtual time of an executable's computing.
func parseCompute(text string) (cprog.Compute, error) {
	switch text {
	case "none":
		return cprog.Compute{}, nil
	case "measured":
		return cprog.Compute{Factor: 1}, nil
	}
	if factor, ok := strings.CutPrefix(text, "measured*"); ok {
		if x, err := strconv.ParseFloat(factor, 64); err == nil && x > 0 && x < 1e9 {
			return cprog.Compute{Factor: x}, nil
		}
	} else if rate, err := parseClockRate(text); err == nil && rate >= 1 && rate <= 1e15 {
		return cprog.Compute{Rate: rate}, nil
	}
	return cprog.Compute{}, valueErrorf(text, "it is none, measured, measured*FACTOR with a factor such as 2.5, or a clock rate such as 150MHz")
}

// clockUnits are the units of clock rates, in cycles a second, the largest first.
var clockUnits = []struct {
	name string
	rate float64
}{{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"Hz", 1}}

// parseClockRate returns a clock rate in cycles a second, which is in Hz if it has no unit.
func parseClockRate(text string) (float64, error) {
	for _, u := range clockUnits {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			return x * u.rate, err
		}
	}
	return strconv.ParseFloat(text, 64)
}

// formatClockRate writes a clock rate with a unit.
func formatClockRate(rate float64) string {
	for _, u := range clockUnits {
		if rate >= u.rate {
			return strconv.FormatFloat(rate/u.rate, 'g', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(rate, 'g', -1, 64) + "Hz"
}
