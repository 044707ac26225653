package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// overlapMargin is how much more a call that blocks costs before one says that it pays not to block.
const overlapMargin = 0.2

// comparison has the flags of the verb.
type comparison struct {
	samples                       []string
	params, output, margin, sizes string
}

func compareCommand() *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare --samples A.csv --samples B.csv... | --samples SAMPLES.csv --params PARAMS.csv",
		Short: "Set machines side by side, or predictions beside measurements",
		Long: `compare sets two or more machines side by side, or libraries, or places of one machine: whatever differs in the files of samples. It shows
overheads and parameters with intervals and ratios to the first, from which size on calls that do not block pay, and which machine is faster up to which size.

With --params it predicts from parameters what the samples are samples of: the times T_s and T_s-r of protocols by equations (1) to (7), which
need parameters of low-level messages, and one-way times by equation (9), within a node (8). Overheads are compared with the line that was fitted to them, and marked
as calibration.

Samples of collective operations (measure --collective) are set beside what LogGP says of each algorithm, with the parameters of the file, those of whole calls, or
without one with those of the emulated platform's low-level messages; and it shows which algorithms are the fastest, by measurement and by the model.
Where a vendor's MPI is among them, whose algorithms have no model, machines and libraries stand side by side, each with its fastest algorithm.`,
		Example: `  loggp compare --samples samples.csv --samples intra.csv
  loggp compare --samples samples.csv --samples intra.csv --margin 50% --sizes 16,10KB -o side-by-side.csv
  loggp compare --samples rta.csv --params params.csv
  loggp compare --samples rta.csv --params params.csv -o comparison.csv
  loggp compare --samples together.csv -o together-comparison.csv`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&c.samples, "samples", nil, "file of samples; may be given more than once, and files of one machine are joined")
	f.StringVar(&c.params, "params", "", "file of parameters")
	f.StringVar(&c.margin, "margin", unit.Percent(overlapMargin), "how much more a call that blocks must cost before it pays not to block")
	f.StringVar(&c.sizes, "sizes", "", "lengths at which to show overheads (default: those nearest to 16 bytes, 1 KB and 10 KB)")
	f.StringVarP(&c.output, "output", "o", "", "file for the comparison, as CSV, with all sizes")
	return cmd
}

func (c *comparison) run(cmd *cobra.Command) error {
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
		return c.contrast(cmd, machines)
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
	cs, err := compare.Compare(set, ps, compare.Predict)
	if err != nil {
		return err
	}
	if len(cs) == 0 {
		return unpredicted(c.params, ps)
	}
	if err := c.save(cmd, cs); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	return reports.Comparisons(out, cs, style(out))
}

// save writes comparisons to a file, if there is to be one, and says so.
func (c *comparison) save(cmd *cobra.Command, cs []compare.Comparison) error {
	if c.output == "" {
		return nil
	}
	if err := sample.Save(c.output, func(w io.Writer) error { return compare.WriteComparisons(w, cs) }); err != nil {
		return fmt.Errorf("comparison: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d comparisons written to %s\n", len(cs), c.output)
	return nil
}

// unpredicted is the error of parameters that predict nothing of some samples.
func unpredicted(name string, ps []params.Parameter) error {
	err := fmt.Errorf("%s predicts nothing of what is in the samples: is it of the same platform, library and place, and has it the parameters of their modes, and of mode message for T_s and T_sr?", name)
	if _, missing := params.Model(ps, microbench.Message); missing != nil {
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
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("parameters: %w", err)
	}
	defer f.Close()
	ps, facts, err := params.Read(f, name)
	if err != nil {
		return nil, nil, err
	}
	known, err := tiers.FromFacts(facts)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return ps, known, err
}
