package loggp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
)

// CompareOptions configure Compare.
type CompareOptions struct {
	Samples    []string   // files; those of one machine are joined
	Params     Parameters // predictions to compare with the samples; empty: those of ParamsFile, or machines are compared
	ParamsFile string
	Margin     float64 // relative extra cost of a blocking call above which a nonblocking one pays; 0: 0.2
	Sizes      []int   // sizes in bytes at which overheads of machines are shown; nil: those nearest to 16 bytes, 1 KB and 10 KB
}

// defaultMargin is the relative extra cost of a blocking call above which a report says that the
// nonblocking one pays.
const defaultMargin = 0.2

// Comparison compares times, or parameters of machines.
type Comparison struct {
	Rows int // number of rows of its CSV file

	document *doc.Document
}

// Document shows the comparison.
func (c *Comparison) Document() *doc.Document { return c.document }

// Compare compares machines, libraries or places or, with parameters, predictions with measured
// times. For samples of collective operations it compares them with the model, based on the
// parameters or on the low-level messages of the emulated platform.
func Compare(ctx context.Context, o CompareOptions) (*Comparison, error) {
	if len(o.Samples) == 0 {
		return nil, optionErrorf("Samples", "name two files to compare machines, or one and --params to compare it with predictions")
	}
	machines, err := sample.ReadMachines(o.Samples...)
	if err != nil {
		return nil, err
	}
	areCollective, err := hasOnlyCollectives(machines)
	if err != nil {
		return nil, err
	}
	if o.ParamsFile != "" && len(o.Params.All) == 0 {
		o.Params.From = o.ParamsFile
	}
	if hasParams := o.Params.From != ""; hasParams || areCollective {
		if o.Margin != 0 {
			return nil, optionErrorf("Margin", "predictions know none; it is for comparing machines, without --params")
		}
		if o.Sizes != nil {
			return nil, optionErrorf("Sizes", "predictions know none; it is for comparing machines, without --params")
		}
		if areCollective {
			return compareCollectives(ctx, machines, o)
		}
		return comparePredictions(machines, o)
	}
	return compareMachines(ctx, machines, o)
}

// readParams reads the parameter file if there is one.
func (o *CompareOptions) readParams() (err error) {
	if len(o.Params.All) == 0 && o.ParamsFile != "" {
		o.Params, err = ReadParameters(o.ParamsFile)
	}
	return err
}

// comparePredictions compares predictions from parameters with measured times.
func comparePredictions(machines []sample.Machine, o CompareOptions) (*Comparison, error) {
	measured, err := sample.JoinMachines(machines...)
	if err != nil {
		return nil, err
	}
	if err := o.readParams(); err != nil {
		return nil, err
	}
	all, err := compare.ComparePredictions(measured.Set, o.Params.All, compare.PredictFromParameters)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		err := fmt.Errorf("%s predicts nothing of what is in the samples: is it of the same platform, library and place, and has it the parameters of their modes, and of mode message for T_s and T_sr?", o.Params.From)
		if _, missing := params.ModelParameters(o.Params.All, microbench.LowLevelMode); missing != nil {
			err = fmt.Errorf("%w There is %w", err, missing)
		}
		return nil, err
	}
	return &Comparison{len(all), reports.PredictionErrors(all)}, nil
}

// compareMachines compares measurements on several machines.
func compareMachines(ctx context.Context, machines []sample.Machine, o CompareOptions) (*Comparison, error) {
	if o.Margin < 0 || o.Margin > 10 {
		return nil, &OptionError{"Margin", unit.Percent(o.Margin), errors.New("it must be from 0% to 1000%")}
	}
	t, err := compare.CompareSubjects(machines, clean.Options{}, cmp.Or(o.Margin, defaultMargin), false)
	if err != nil {
		return nil, err
	}
	if err := checkSubjects(t, o.Sizes); err != nil {
		return nil, err
	}
	return &Comparison{len(t.Rows), reports.SubjectComparison(t, o.Sizes)}, ctx.Err()
}

// checkSubjects returns an error that says what is missing if no two subjects can be compared.
func checkSubjects(t *compare.Table, sizes []int) error {
	if len(t.Subjects) < 2 {
		s := t.Subjects[0]
		return fmt.Errorf("compare: all samples are of %s, %s, %s: it takes two to compare. Measure another platform, library or place (loggp measure --platform NAME -o FILE) and name its file by another --samples; or say with --params whose predictions to set beside these samples",
			s.Platform, s.Library, s.Place)
	}
	numbers := func(list []int) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
	}
	if len(t.Pairwise) == 0 && !slices.ContainsFunc(t.Rows, func(r compare.Row) bool { return len(r.Values) > 1 }) {
		var lines []string
		for _, s := range t.Subjects {
			lines = append(lines, fmt.Sprintf("%s has %s at %s bytes", s.Name, cmp.Or(strings.Join(s.Modes, " "), "no mode"), numbers(s.Sizes)))
		}
		return fmt.Errorf("compare: no two subjects have samples of the same mode, with the library's choice of protocol, at the same size: %s. Measure them with the same --modes and --sizes", strings.Join(lines, "; "))
	}
	common := t.Sizes()
	for _, k := range sizes {
		if !slices.Contains(common, k) {
			return fmt.Errorf("compare: no two subjects were measured at %d bytes; common sizes are %s", k, numbers(common))
		}
	}
	return nil
}

// RunComparison shows the differences between the times of two runs.
type RunComparison struct {
	Comparison
	*compare.ChangeSet
}

// CompareRuns compares each time in a file of samples with that in a reference file.
// RunComparison.JudgeRegression says whether times have increased by more than a threshold.
func CompareRuns(reference, file string) (*RunComparison, error) {
	var sets [2]*sample.Set
	for i, name := range []string{reference, file} {
		var err error
		if sets[i], err = sample.ReadFile(name); err != nil {
			return nil, err
		}
		if has, _ := clean.FindCollectiveSamples(sets[i]); has {
			return nil, fmt.Errorf("compare: %s has samples of collective operations: name both files by --samples", name)
		}
	}
	all, err := compare.FindChanges(sets[0], sets[1], clean.Options{})
	if err != nil {
		return nil, err
	}
	return &RunComparison{Comparison{len(all.Changes), reports.TimeChanges(reference, file, all)}, all}, nil
}
