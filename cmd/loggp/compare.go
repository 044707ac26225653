package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports"
)

func compareCommand() *cobra.Command {
	var samples []string
	var params, file string
	cmd := &cobra.Command{
		Use:   "compare --samples SAMPLES.csv --params PARAMS.csv",
		Short: "Set what parameters predict beside what was measured",
		Long: `compare predicts from parameters what the samples are samples of: the times T_s and T_s-r of protocols by equations (1) to (7), which
need parameters of low-level messages, and one-way times by equation (9). Overheads are compared with the line that was fitted to them, and marked
as calibration.`,
		Example: `  loggp compare --samples rta.csv --params params.csv
  loggp compare --samples rta.csv --params params.csv -o comparison.csv`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(samples) == 0 || params == "" {
				return misuse(cmd, errors.New("--samples and --params: both are needed"))
			}
			if err := output(file); err != nil {
				return misuse(cmd, err)
			}
			set, err := sample.ReadFile(samples...)
			if err != nil {
				return err
			}
			ps, err := readParameters(params)
			if err != nil {
				return err
			}
			cs, err := fit.Compare(set, ps, fit.Predict)
			if err != nil {
				return err
			}
			if len(cs) == 0 {
				return fmt.Errorf("%s predicts nothing of what is in the samples: is it of the same platform, library and place, and has it the parameters of their modes, and of mode message for T_s and T_sr?", params)
			}
			out := cmd.OutOrStdout()
			if file != "" {
				if err := sample.Save(file, func(w io.Writer) error { return fit.WriteComparisons(w, cs) }); err != nil {
					return fmt.Errorf("comparison: %w", err)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%d comparisons written to %s\n", len(cs), file)
			}
			return reports.Comparisons(out, cs, style(out))
		},
	}
	cmd.Flags().StringArrayVar(&samples, "samples", nil, "file of samples; may be given more than once")
	cmd.Flags().StringVar(&params, "params", "", "file of parameters")
	cmd.Flags().StringVarP(&file, "output", "o", "", "file for the comparison, as CSV")
	return cmd
}

// readParameters reads a file of parameters.
func readParameters(name string) ([]fit.Parameter, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	defer f.Close()
	return fit.ReadParameters(f, name)
}
