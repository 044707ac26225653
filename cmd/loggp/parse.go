package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model/unit"
)

// optionSetter sets an option to what the text of a flag says.
type optionSetter struct {
	flagName string
	set      func(text string) error
}

// flagValueError says what is wrong with the value of a flag that can be read.
type flagValueError string

func (e flagValueError) Error() string { return string(e) }

// applyGivenFlags sets the options of the flags that were given; others keep their zero value.
func applyGivenFlags(cmd *cobra.Command, setters []optionSetter) error {
	for _, s := range setters {
		if !cmd.Flags().Changed(s.flagName) {
			continue
		}
		text := cmd.Flag(s.flagName).Value.String()
		err := s.set(text)
		if _, is := err.(flagValueError); is {
			return fmt.Errorf("--%s %s: %w", s.flagName, text, err)
		}
		if err != nil { // which shows the text
			return fmt.Errorf("--%s: %w", s.flagName, err)
		}
	}
	return nil
}

// parseInto returns a function that parses a text and stores the result in a value.
func parseInto[T any](value *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*value, err = parse(text)
		return err
	}
}

// pointerParser returns a parser that returns a pointer to the result of another parser.
func pointerParser[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(text string) (*T, error) {
		x, err := parse(text)
		return &x, err
	}
}

func parseVerbatim(text string) (string, error) { return text, nil }
func parseList(text string) ([]string, error)   { return splitList(text), nil }

// parseNoise returns the relative noise that --noise asks for, or job.PlatformNoise.
func parseNoise(text string) (float64, error) {
	x, err := parseNoiseLevel(text)
	if err != nil {
		err = fmt.Errorf("--noise: %w", err)
	}
	return x, err
}

func parseNoiseLevel(text string) (float64, error) {
	switch text {
	case "on":
		return job.PlatformNoise, nil
	case "off":
		return 0, nil
	}
	x, err := unit.ParsePercent(text)
	if err != nil {
		return 0, fmt.Errorf("write on, off, or a percentage such as 5%%: %w", err)
	}
	if x < 0 || x > 0.4 {
		return 0, flagValueError("it must be from 0% to 40%, so that no step takes negative time")
	}
	return x, nil
}
