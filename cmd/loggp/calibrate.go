package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/calibrate"
	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
)

// calibrateFlags has the flags of the verb.
type calibrateFlags struct {
	targets                           []string
	library, modes, sizes, outputPath string
	seed                              uint64
}

func calibrateCommand() *cobra.Command {
	var c calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate PLATFORM.yaml",
		Short: "Fit numbers of a platform to samples or published results",
		Long: `calibrate fits the numbers that a platform file marks as free, so that the emulated machine comes as
near as possible to the targets: published rows, or samples of 'loggp measure'. It prints the
remaining errors, and how well the targets determine each number. -o writes the platform file with
the fitted numbers, whose basis is then fitted; comments and order are kept. docs/calibrate.md has
an example.`,
		Example: `  loggp measure --platform my.yaml --modes send,isend --sizes 16,1KB,20KB -o mine.csv
  loggp calibrate my.yaml --to mine.csv -o fitted.yaml
  loggp calibrate fitted.yaml --modes send`,
		Args:              requireOneArg("platform file"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
		ValidArgsFunction: cobra.FixedCompletions(platform.Names(), cobra.ShellCompDirectiveDefault),
	}
	f := cmd.Flags()
	f.StringArrayVar(&c.targets, "to", nil, "target: a file of samples (.csv), or a published row, with * for any text; may be given more than once (default: what the free numbers were fitted to)")
	f.StringVar(&c.library, "library", "", "library to calibrate (default: the one named in the samples, or the first)")
	f.StringVar(&c.modes, "modes", "", "modes of the samples (default: all)")
	f.StringVar(&c.sizes, "sizes", "", "sizes of the samples (default: eight of each mode)")
	f.Uint64Var(&c.seed, "seed", 1, "seed of the starting points of the search")
	f.StringVarP(&c.outputPath, "output", "o", "", "platform file to write")
	addPrintFlags(cmd)
	return cmd
}

func (c *calibrateFlags) run(cmd *cobra.Command, what string) error {
	if err := checkWritableFile(c.outputPath); err != nil {
		return newUsageError(cmd, err)
	}
	d, err := openDraftOfPlatformFile(cmd, what)
	if err != nil {
		return err
	}
	part := calibrate.SampleSelection{Library: c.library}
	if c.modes != "" {
		part.Modes = splitList(c.modes)
	}
	if part.Sizes, err = parseSizes(c.sizes, nil); err != nil {
		return newUsageError(cmd, err)
	}
	papers, err := paper.ReadAll(publishedPapersFS())
	if err != nil {
		return err
	}
	b, err := calibrate.TargetBench(cmd.Context(), d, papers, c.targets, part)
	if errors.Is(err, calibrate.ErrNoTargets) {
		return newUsageError(cmd, fmt.Errorf("calibrate %s: %w", d.Machine.Name, err))
	}
	if err != nil {
		return fmt.Errorf("calibrate %s: %w", d.Machine.Name, err)
	}
	const steps = 120 // at most: forty from each of three starts
	bar := newProgressBar(cmd.ErrOrStderr(), steps)
	found, err := calibrate.Calibrate(cmd.Context(), d, b, calibrate.Options{Seed: c.seed, Progress: func(step, _ int) { bar.SetDone(min(step, steps)) }})
	bar.End()
	if err != nil {
		return fmt.Errorf("calibrate %s: %w", d.Machine.Name, err)
	}
	if err := writeFile(cmd, c.outputPath, found.WritePlatform, "platform"); err != nil {
		return fmt.Errorf("calibrate %s: %w", d.Machine.Name, err)
	}
	return printDocument(cmd, found.Document())
}

// openDraftOfPlatformFile opens the file of a platform, to change numbers of it.
func openDraftOfPlatformFile(cmd *cobra.Command, what string) (*edit.Draft, error) {
	if _, err := loadEmulatedPlatform(cmd, what); err != nil {
		return nil, err
	}
	d, err := edit.Open(what)
	return d, newUsageError(cmd, err)
}

// sensitivityFlags has the flags of 'platforms sensitivity'.
type sensitivityFlags struct {
	publishedRows       []string
	usesOwnParameters   bool
	library, outputPath string
}

func sensitivityCommand() *cobra.Command {
	var s sensitivityFlags
	cmd := &cobra.Command{
		Use:   "sensitivity NAME|FILE",
		Short: "Show how results depend on each number of a platform",
		Long: `sensitivity halves and doubles every assumed or fitted number of a platform, one at a time, and
prints which quantities change by more than 5 %: the published rows of the platform, or its LogGP
parameters if there are none. -o writes a CSV file, or a directory with index.html and tornado
charts.`,
		Example: `  loggp platforms sensitivity t3d
  loggp platforms sensitivity t3d --to 'table-3 T3D o_s *' -o sensitivity.csv
  loggp platforms sensitivity my.yaml --own -o sensitivity`,
		Args:              requireOneArg("platform"),
		RunE:              func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
		ValidArgsFunction: cobra.FixedCompletions(platform.Names(), cobra.ShellCompDirectiveDefault),
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.publishedRows, "to", nil, "a published row, with * for any text; may be given more than once (default: all rows of the platform)")
	f.BoolVar(&s.usesOwnParameters, "own", false, "use the platform's own LogGP parameters instead of published rows")
	f.StringVar(&s.library, "library", "", "library of the platform's own parameters (default: its first)")
	f.StringVarP(&s.outputPath, "output", "o", "", "file (.csv) or directory to write")
	addPrintFlags(cmd)
	return cmd
}

func (s *sensitivityFlags) run(cmd *cobra.Command, what string) error {
	if s.usesOwnParameters && s.publishedRows != nil {
		return newUsageError(cmd, fmt.Errorf("--own, --to: one of them says which quantities"))
	}
	if err := checkWritableFileOrDirectory(s.outputPath, ".csv"); err != nil {
		return newUsageError(cmd, err)
	}
	d, err := openDraftOfPlatformFile(cmd, what)
	if err != nil {
		return err
	}
	papers, err := paper.ReadAll(publishedPapersFS())
	if err != nil {
		return err
	}
	b, err := calibrate.SensitivityBench(d.Platform, papers, s.publishedRows, s.usesOwnParameters || s.library != "", s.library)
	if err != nil {
		return fmt.Errorf("sensitivity of %s: %w", d.Machine.Name, err)
	}
	bar := newProgressBar(cmd.ErrOrStderr(), 1)
	found, err := calibrate.VaryNumbers(cmd.Context(), d, b, calibrate.Options{Progress: bar.Report})
	bar.End()
	if err != nil {
		return fmt.Errorf("sensitivity of %s: %w", d.Machine.Name, err)
	}
	report := found.Document()
	switch {
	case fileExtension(s.outputPath) == ".csv":
		if err := writeFile(cmd, s.outputPath, found.CSV, "sensitivity"); err != nil {
			return fmt.Errorf("sensitivity of %s: %w", d.Machine.Name, err)
		}
	case s.outputPath != "":
		if err := writePage(cmd, s.outputPath, report, "sensitivity"); err != nil {
			return err
		}
	}
	return printDocument(cmd, report)
}
