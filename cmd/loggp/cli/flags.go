package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

type flag = pflag.Flag

// ParsedFlag is a flag whose text is parsed into an option.
type ParsedFlag struct {
	TypeName string // in the help; "": string
	text     string
	parse    func(text string) error
}

func (p *ParsedFlag) String() string { return p.text }
func (p *ParsedFlag) Type() string   { return cmp.Or(p.TypeName, "string") }
func (p *ParsedFlag) Set(text string) error {
	p.text = text
	return p.parse(text)
}

// ValueError says what is wrong with the value of a flag that can be read.
type ValueError string

func (e ValueError) Error() string { return string(e) }

// AddParsed adds a flag whose text is parsed into an option. The option keeps its value unless the
// flag is given; preset is the default that the help shows.
func AddParsed[T any](cmd *cobra.Command, option *T, name, preset string, parse func(text string) (T, error), help string) *ParsedFlag {
	f := &ParsedFlag{text: preset, parse: func(text string) error {
		x, err := parse(text)
		if err == nil {
			*option = x
		}
		return err
	}}
	cmd.Flags().Var(f, name, help)
	return f
}

// Pointer returns a parser that returns a pointer to the result of another parser.
func Pointer[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(text string) (*T, error) {
		x, err := parse(text)
		return &x, err
	}
}

// List parses a list with commas, Verbatim returns a text as it is.
func List(text string) ([]string, error) {
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list, nil
}

func Verbatim(text string) (string, error) { return text, nil }

// Duration parses a time from 0 up.
func Duration(text string) (unit.Time, error) {
	d, err := unit.ParseTime(text)
	if err == nil && d < 0 {
		err = ValueError("it may not be negative")
	}
	return d, err
}

// PositiveInt parses a whole number above zero.
func PositiveInt(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && n < 1 {
		err = ValueError("it must be above zero")
	}
	return n, err
}

// ExplainFlagError says in the words of this program what is wrong with a flag.
func ExplainFlagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch text := err.Error(); {
	case strings.Contains(text, "strconv.ParseUint"):
		err = errors.New(text[:strings.Index(text, "strconv.")] + "it must be a whole number, 0 or above")
	case strings.Contains(text, "strconv."):
		err = errors.New(text[:strings.Index(text, "strconv.")] + "it must be a whole number")
	case errors.As(err, &invalid):
		err = explainInvalidValue(invalid)
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *flag) { names = append(names, f.Name) })
		name, _, _ := strings.Cut(cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()), "=") // a long name behind one dash
		if meant := table.Suggestion(name, names); meant != "" {
			err = fmt.Errorf("%w; did you mean --%s?", err, meant)
		}
	}
	return Usage(err)
}

// explainInvalidValue names the flag, and its text unless the error of a parser shows that.
func explainInvalidValue(invalid *pflag.InvalidValueError) error {
	name, cause := "--"+invalid.GetFlag().Name, invalid.Unwrap()
	switch _, parsed := invalid.GetFlag().Value.(*ParsedFlag); {
	case !parsed:
		return invalid
	case errors.As(cause, new(ValueError)):
		return fmt.Errorf("%s %s: %w", name, invalid.GetValue(), cause)
	}
	return fmt.Errorf("%s: %w", name, cause)
}

// choiceFlag is a flag with a few values.
type choiceFlag struct {
	value         *string
	allowedValues []string
	valueByAlias  map[string]string // other names that are accepted
}

func (c *choiceFlag) String() string { return *c.value }

// Type is what the help shows of the value: the list of values, if it is short.
func (c *choiceFlag) Type() string {
	if list := strings.Join(c.allowedValues, "|"); len(list) <= maxValueListLength {
		return list
	}
	return "name"
}

// maxValueListLength is the length of the longest list of values in a column of the help.
const maxValueListLength = 40

func (c *choiceFlag) Set(s string) error {
	s = cmp.Or(c.valueByAlias[s], s)
	if !slices.Contains(c.allowedValues, s) {
		list := "it must be " + strings.Join(c.allowedValues[:len(c.allowedValues)-1], ", ") + " or " + c.allowedValues[len(c.allowedValues)-1]
		if meant := table.Suggestion(s, slices.Concat(c.allowedValues, slices.Sorted(maps.Keys(c.valueByAlias)))); meant != "" {
			list += "; did you mean " + meant + "?"
		}
		return errors.New(list)
	}
	*c.value = s
	return nil
}

// AddChoice adds a flag whose values are few, and completes it. Aliases are other names of values.
func AddChoice(cmd *cobra.Command, value *string, name string, allowed []string, preset, help string, aliases map[string]string) {
	*value = preset
	cmd.Flags().Var(&choiceFlag{value, allowed, aliases}, name, help)
	AddCompletion(cmd, name, allowed)
}

// AddCompletion completes the values of a flag.
func AddCompletion(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// maxInputFlag is the value of a flag that bounds the files of this process.
type maxInputFlag struct{}

func (maxInputFlag) String() string { return unit.Bytes(int(input.MaxBytes())) }
func (maxInputFlag) Type() string   { return "size" }

func (maxInputFlag) Set(s string) error {
	n, err := unit.ParseSize(s)
	if err == nil && n < 1 {
		err = errors.New("it must be at least 1 byte")
	}
	if err == nil {
		input.SetMaxBytes(int64(n))
	}
	return err
}

// AddMaxInput adds the flag that bounds the files that a verb and its commands read.
func AddMaxInput(cmd *cobra.Command) {
	cmd.PersistentFlags().Var(maxInputFlag{}, "max-input", "size limit of an input file, in bytes of uncompressed text")
}
