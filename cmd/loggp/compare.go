package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// overlapMargin is how much more a call that blocks costs before one says that it pays not to
// block.
const overlapMargin = 0.2

// comparison has the flags of the verb.
type comparison struct {
	samples                       []string
	params, output, margin, sizes string
	failOver                      string
	schedules                     schedules
}

func compareCommand() *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare A.csv B.csv | --samples A.csv --samples B.csv... | --samples SAMPLES.csv --params PARAMS.csv | --platform NAME,... --collective all",
		Short: "Compare runs, machines, or predictions with measurements",
		Long: `compare A.csv B.csv shows how much faster or slower each time of B is than that of A, the reference,
with the confidence interval of the change, and the geometric mean. With --fail-over 5% it fails if
the mean, or a time with its whole interval, is more than 5 % slower.

With several --samples it sets machines, libraries or places side by side: overheads and parameters
with intervals, ratios to the first, from which size non-blocking calls pay, and which machine is
faster up to which size.

With --params it predicts the times in the samples: T_s and T_s-r of protocols by equations (1) to
(7), from parameters of low-level messages, and one-way times by equation (9), or (8) within a node.
Overheads are compared with their own fitted line, and marked as calibration.

For samples of collective operations (measure --collective) it compares each algorithm with LogGP,
and shows which algorithm is fastest by measurement and by the model. The model uses --params, or
else low-level messages of the emulated platform. A vendor's MPI, whose algorithms are unknown, is
compared by its total times.

With --platform it runs schedules on machines and simulates them by LogGOPS, with parameters that
are given or fitted to each machine, to show where LogGOPS is accurate.`,
		Example: `  loggp compare here.csv mpi.csv
  loggp compare --samples samples.csv --samples intra.csv
  loggp compare --samples samples.csv --samples intra.csv --margin 50% --sizes 16,10KB -o side-by-side.csv
  loggp compare --samples rta.csv --params params.csv
  loggp compare --samples rta.csv --params params.csv -o comparison.csv
  loggp compare --samples together.csv -o together-comparison.csv
  loggp compare --platform t3d,now,convex -n 8 --collective all
  loggp compare --platform shm -n 2 --collective bcast,allreduce --sizes 8,4KiB`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return errors.New("compare: name two files, the reference first; more than two, and files of one machine, by --samples")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("platform") {
				for _, f := range []string{"samples", "margin", "fail-over"} {
					if len(args) > 0 || cmd.Flags().Changed(f) {
						return misuse(cmd, fmt.Errorf("--platform: it runs schedules; files of samples, and --%s, do not go with it", f))
					}
				}
				return c.schedules.machines(cmd, &c)
			}
			for _, f := range []string{"schedule", "collective", "library", "loggops", "ranks"} {
				if cmd.Flags().Changed(f) {
					return misuse(cmd, fmt.Errorf("--%s: name machines that run schedules, by --platform", f))
				}
			}
			if len(args) == 2 {
				return c.changes(cmd, args[0], args[1])
			}
			return c.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&c.samples, "samples", nil, "file of samples; may be given more than once, and files of one machine are joined")
	f.StringVar(&c.params, "params", "", "file of parameters")
	f.StringVar(&c.margin, "margin", unit.Percent(overlapMargin), "how much more a blocking call must cost before the non-blocking one pays")
	f.StringVar(&c.sizes, "sizes", "", "lengths at which to show overheads (default: those nearest to 16 bytes, 1 KB and 10 KB)")
	f.StringVar(&c.failOver, "fail-over", "", "of A.csv B.csv: fail if B is slower by more than this, such as 5%")
	f.StringVarP(&c.output, "output", "o", "", "file for the comparison, as CSV, with all sizes")
	c.schedules.flags(cmd)
	printing(cmd)
	return cmd
}

// changes compares each time of a file with that of a reference.
func (c *comparison) changes(cmd *cobra.Command, before, after string) error {
	for _, f := range []string{"samples", "params", "margin", "sizes"} {
		if cmd.Flags().Changed(f) {
			return misuse(cmd, fmt.Errorf("--%s: it is not for two files as arguments: name them by --samples", f))
		}
	}
	part := math.Inf(1)
	if c.failOver != "" {
		var err error
		if part, err = unit.ParsePercent(c.failOver); err != nil || part < 0 {
			return misuse(cmd, fmt.Errorf("--fail-over %s: it must be a percentage such as 5%%", c.failOver))
		}
	}
	if err := output(c.output); err != nil {
		return misuse(cmd, err)
	}
	var sets [2]*sample.Set
	for i, name := range []string{before, after} {
		var err error
		if sets[i], err = sample.ReadFile(name); err != nil {
			return err
		}
		if some, _ := clean.FindCollectiveSamples(sets[i]); some {
			return fmt.Errorf("compare: %s has samples of collective operations: name both files by --samples", name)
		}
	}
	all, err := compare.Changes(sets[0], sets[1], clean.Options{})
	if err != nil {
		return err
	}
	if err := c.write(cmd, len(all), reports.Changes(before, after, all)); err != nil {
		return err
	}
	if mean := compare.GeometricMean(all) - 1; mean > part {
		return fmt.Errorf("compare: %s is slower than %s by %s in the geometric mean, which is more than --fail-over %s", after, before, unit.Percent(math.Round(mean*1000)/1000), c.failOver)
	}
	if slower := compare.FindRegressions(all, part); len(slower) > 0 {
		x := slower[0]
		return fmt.Errorf("compare: %d of %d times of %s are slower than those of %s by more than --fail-over %s with their whole interval: first %s of %s at %s",
			len(slower), len(all), after, before, c.failOver, x.Timer, x.Mode, unit.Bytes(x.Bytes))
	}
	return nil
}

func (c *comparison) run(cmd *cobra.Command) error {
	if c.failOver != "" {
		return misuse(cmd, errors.New("--fail-over: name two files as arguments, the reference first"))
	}
	if len(c.samples) == 0 {
		return misuse(cmd, errors.New("--samples: name two files to compare machines, or one and --params to compare it with predictions"))
	}
	if err := output(c.output); err != nil {
		return misuse(cmd, err)
	}
	machines, err := sample.ReadMachines(c.samples...)
	if err != nil {
		return err
	}
	if together, err := ofCollectives(machines); together || err != nil {
		if err != nil {
			return err
		}
		return c.collectives(cmd, machines)
	}
	if c.params == "" {
		return c.machines(cmd, machines)
	}
	if err := c.unasked(cmd); err != nil {
		return err
	}
	return c.predictions(cmd)
}

// unasked complains of flags that are for comparing machines.
func (c *comparison) unasked(cmd *cobra.Command) error {
	for _, f := range []string{"margin", "sizes"} {
		if cmd.Flags().Changed(f) {
			return misuse(cmd, fmt.Errorf("--%s: predictions know none; it is for comparing machines, without --params", f))
		}
	}
	return nil
}

// predictions sets what parameters predict beside what was measured.
func (c *comparison) predictions(cmd *cobra.Command) error {
	set, err := sample.ReadFile(c.samples...)
	if err != nil {
		return err
	}
	ps, err := readParameters(c.params)
	if err != nil {
		return err
	}
	cs, err := compare.ComparePredictions(set, ps, compare.PredictFromParameters)
	if err != nil {
		return err
	}
	if len(cs) == 0 {
		return unpredicted(c.params, ps)
	}
	return c.write(cmd, len(cs), reports.Comparisons(cs))
}

// write prints a comparison of so many rows. If there is to be a file, it has the CSV.
func (c *comparison) write(cmd *cobra.Command, rows int, d *doc.Document) error {
	if c.output != "" {
		if err := keep(cmd, c.output, func(w io.Writer) error { return render.WriteCSV(w, d) }, "%d comparisons", rows); err != nil {
			return fmt.Errorf("comparison: %w", err)
		}
	}
	return show(cmd, d)
}

// machines sets what was measured on several machines side by side.
func (c *comparison) machines(cmd *cobra.Command, machines []sample.Machine) error {
	margin, err := unit.ParsePercent(c.margin)
	if err == nil && (margin < 0 || margin > 10) {
		err = errors.New("it must be from 0% to 1000%")
	}
	if err != nil {
		return misuse(cmd, fmt.Errorf("--margin %s: %w", c.margin, err))
	}
	lengths, err := sizes(c.sizes, nil)
	if err != nil {
		return misuse(cmd, err)
	}
	t, err := compare.CompareSubjects(machines, clean.Options{}, margin, false)
	if err != nil {
		return err
	}
	if err := comparable(t, lengths); err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	return c.write(cmd, len(t.Rows), reports.Comparison(t, lengths))
}

// comparable says what is missing if there is nothing to be seen side by side.
func comparable(t *compare.Table, lengths []int) error {
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
	for _, k := range lengths {
		if !slices.Contains(common, k) {
			return fmt.Errorf("--sizes: no two subjects were measured at %d bytes; common sizes are %s", k, numbers(common))
		}
	}
	return nil
}

// unpredicted is the error of parameters that predict nothing of some samples.
func unpredicted(name string, ps []params.Parameter) error {
	err := fmt.Errorf("%s predicts nothing of what is in the samples: is it of the same platform, library and place, and has it the parameters of their modes, and of mode message for T_s and T_sr?", name)
	if _, missing := params.ModelParameters(ps, microbench.Message); missing != nil {
		err = fmt.Errorf("%w There is %w", err, missing)
	}
	return err
}

// readParameters reads a file of parameters.
func readParameters(name string) ([]params.Parameter, error) {
	ps, _, err := readTiers(name)
	return ps, err
}

// readTiers reads a file of parameters, and the tiers whose ranks it knows.
func readTiers(name string) ([]params.Parameter, []tiers.Tiers, error) {
	f, err := sample.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("parameters: %w", err)
	}
	defer f.Close()
	ps, facts, err := params.ReadWithFacts(f, name)
	if err != nil {
		return nil, nil, err
	}
	if len(ps) == 0 {
		return nil, nil, fmt.Errorf("%s has no parameters below its header: fit samples anew (loggp fit SAMPLES -o %s)", name, name)
	}
	known, err := tiers.ParseGroupFacts(facts)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return ps, known, err
}
