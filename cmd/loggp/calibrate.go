package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/calibrate"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/testdata"
)

// calibrateFlags has the flags of the verb.
type calibrateFlags struct {
	targets, sampleFiles         []string
	selection                    calibrate.SampleSelection
	templatePlatform, outputPath string
	machineSize                  calibrate.TwinOptions
	seed                         uint64
}

func calibrateCommand() *cobra.Command {
	var c calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate PLATFORM.yaml | calibrate --template NAME SAMPLES.csv...",
		Short: "Fit numbers of a platform to samples or published results",
		Long: `calibrate fits the numbers that a platform file marks as free, so that the emulated machine comes as
near as possible to the targets: published rows, or samples of 'loggp measure'. It prints the
remaining errors, and how well the targets determine each number. -o writes the platform file with
the fitted numbers, whose basis is then fitted; comments and order are kept. docs/calibrate.md has
an example.

With --template it makes the file of a machine of your own: a platform of the catalogue, resized and
fitted to samples or to the output of other tools, such as nccl-tests. It also leaves out a third of
the targets, three times, and prints how well it predicts those: the error to expect. docs/twin.md
has an example.`,
		Example: `  loggp measure --platform my.yaml --modes send,isend --sizes 16,1KB,20KB -o mine.csv
  loggp calibrate my.yaml --to mine.csv -o fitted.yaml
  loggp calibrate fitted.yaml --modes send
  loggp calibrate --template hdr-fattree --samples osu.csv --sizes 8,4KiB,64KiB --nodes 512 --ranks-per-node 64 -o mine.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if c.templatePlatform != "" {
				return nil
			}
			return cli.RequireOneArg("platform file")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.templatePlatform != "" {
				return c.makePlatformFromTemplate(cmd, append(c.sampleFiles, args...))
			}
			return c.calibratePlatform(cmd, args[0])
		},
		ValidArgsFunction: cobra.FixedCompletions(platform.Names(), cobra.ShellCompDirectiveDefault),
	}
	f := cmd.Flags()
	f.StringArrayVar(&c.targets, "to", nil, "target: a file of samples (.csv), or a published row, with * for any text; may be given more than once (default: what the free numbers were fitted to)")
	f.StringVar(&c.templatePlatform, "template", "", "platform that the file of your own machine starts from, fitted to --samples")
	cli.AddCompletion(cmd, "template", platform.Names())
	f.StringArrayVar(&c.sampleFiles, "samples", nil, "with --template: files of samples, or outputs that 'loggp import' reads; further arguments are files, too")
	f.IntVar(&c.machineSize.Nodes, "nodes", 0, "with --template: nodes of your machine (default: the template's)")
	f.IntVar(&c.machineSize.RanksPerNode, "ranks-per-node", 0, "with --template: ranks of a node (default: the template's)")
	f.StringVar(&c.selection.Library, "library", "", "library to calibrate (default: the one named in the samples, or the first)")
	cli.AddParsed(cmd, &c.selection.Modes, "modes", "", cli.List, "modes of the samples (default: all)")
	cli.AddParsed(cmd, &c.selection.Sizes, "sizes", "", unit.ParseSizes, "sizes of the samples (default: eight of each mode, with --template all)")
	f.Uint64Var(&c.seed, "seed", 1, "seed of the starting points of the search")
	cli.AddOutput(cmd, &c.outputPath, "output", "o", "platform file to write", cli.WritableFile)
	cli.AddPrintFlags(cmd)
	return cmd
}

// calibratePlatform fits the free numbers of a platform file.
func (c *calibrateFlags) calibratePlatform(cmd *cobra.Command, what string) error {
	if c.sampleFiles != nil || c.machineSize != (calibrate.TwinOptions{}) {
		return cli.Usagef("--samples, --nodes, --ranks-per-node: they need --template; name the targets of a platform file with --to")
	}
	d, err := openPlatformForEditing(what)
	if err != nil {
		return err
	}
	b, err := c.newCalibrationBench(cmd, d, c.targets)
	if err != nil {
		return err
	}
	found, err := cli.WithProgress(cmd, func(report func(done, total int)) (*calibrate.Calibration, error) {
		return calibrate.Calibrate(cmd.Context(), d, b, calibrate.Options{Seed: c.seed, Progress: report})
	})
	if err != nil {
		return fmt.Errorf("calibrate %s: %w", d.Machine.Name, err)
	}
	if err := cli.WriteFile(cmd, c.outputPath, found.WritePlatform, "platform"); err != nil {
		return err
	}
	return cli.Print(cmd, found.Document())
}

// makePlatformFromTemplate makes a platform file from a template and files of samples.
func (c *calibrateFlags) makePlatformFromTemplate(cmd *cobra.Command, samples []string) error {
	extension := cli.FileExtension(c.outputPath)
	switch c.machineSize.Name = strings.TrimSuffix(filepath.Base(c.outputPath), extension); {
	case len(samples) == 0:
		return cli.Usagef("--template: name files of samples of your machine, such as 'loggp import' writes, with --samples")
	case c.targets != nil:
		return cli.Usagef("--to, --template: name the files of samples with --samples")
	case c.outputPath == "":
		return cli.Usagef("-o: name the platform file to write, such as mine.yaml")
	case extension != ".yaml" && extension != ".yml":
		return cli.Usagef("-o %s: the name of a platform file ends in .yaml", c.outputPath)
	case cmd.Flags().Changed("nodes") && c.machineSize.Nodes < 1, cmd.Flags().Changed("ranks-per-node") && c.machineSize.RanksPerNode < 1:
		return cli.Usagef("--nodes, --ranks-per-node: give at least 1")
	}
	template, err := openPlatformForEditing(c.templatePlatform)
	if err != nil {
		return err
	}
	d, err := calibrate.Resize(template, c.machineSize)
	if err != nil {
		return cli.Usagef("%s: %w", c.outputPath, err)
	}
	c.selection.AllSizes, c.selection.Template = true, template.Machine.Name
	var targets []string
	for _, file := range samples {
		targets = append(targets, calibrate.SamplesPrefix+file)
	}
	b, err := c.newCalibrationBench(cmd, d, targets)
	if err != nil {
		return err
	}
	twin, err := cli.WithProgress(cmd, func(report func(done, total int)) (*calibrate.Twin, error) {
		return calibrate.MakeTwin(cmd.Context(), d, b, calibrate.Options{Seed: c.seed, Progress: report})
	})
	if err != nil {
		return fmt.Errorf("calibrate %s to %s: %w", c.templatePlatform, strings.Join(samples, ", "), err)
	}
	if err := cli.WriteFile(cmd, c.outputPath, twin.WritePlatform, "platform"); err != nil {
		return err
	}
	return cli.Print(cmd, twin.Document())
}

// newCalibrationBench returns the bench of the targets.
func (c *calibrateFlags) newCalibrationBench(cmd *cobra.Command, d *edit.Draft, targets []string) (*calibrate.Bench, error) {
	papers, err := paper.ReadAll(testdata.Published)
	if err != nil {
		return nil, err
	}
	b, err := calibrate.TargetBench(cmd.Context(), d, papers, targets, c.selection)
	if err == nil {
		return b, nil
	}
	err, isUsage := fmt.Errorf("calibrate %s: %w", d.Machine.Name, err), errors.Is(err, calibrate.ErrNoTargets) || errors.Is(err, calibrate.ErrSelectsNoSamples)
	if isUsage {
		err = cli.Usage(err)
	}
	return nil, err
}

// openPlatformForEditing opens the file of a platform, to change numbers in it.
func openPlatformForEditing(what string) (*edit.Draft, error) {
	if _, err := loggp.LoadPlatform(what); err != nil {
		return nil, err
	}
	d, err := edit.Open(what)
	return d, cli.Usage(err)
}

// writableSensitivity checks a file of numbers, or a directory.
func writableSensitivity(name string) error {
	if cli.FileExtension(name) == ".csv" {
		return cli.WritableFile(name)
	}
	return cli.WritableDirectory(name)
}

// sensitivityFlags has the flags of 'platforms sensitivity'.
type sensitivityFlags struct {
	publishedRowPatterns   []string
	usesPlatformParameters bool
	library, outputPath    string
	variedBasis            string
}

// variedBasesByName has, for each value of --basis, the bases of the numbers that are varied.
var variedBasesByName = map[string][]platform.Basis{"both": nil, "assumed": {platform.BasisAssumed}, "fitted": {platform.BasisFitted}}

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
		Args:              cli.RequireOneArg("platform"),
		RunE:              func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
		ValidArgsFunction: cobra.FixedCompletions(platform.Names(), cobra.ShellCompDirectiveDefault),
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.publishedRowPatterns, "to", nil, "a published row, with * for any text; may be given more than once (default: all rows of the platform)")
	f.BoolVar(&s.usesPlatformParameters, "own", false, "use the platform's own LogGP parameters instead of published rows")
	f.StringVar(&s.library, "library", "", "library of the platform's own parameters (default: its first)")
	cli.AddChoice(cmd, &s.variedBasis, "basis", []string{"both", "assumed", "fitted"}, "both", "numbers to vary: those that are assumed, those that are fitted, or both", nil)
	cli.AddOutput(cmd, &s.outputPath, "output", "o", "file (.csv) or directory to write", writableSensitivity)
	cli.AddPrintFlags(cmd)
	return cmd
}

func (s *sensitivityFlags) run(cmd *cobra.Command, what string) error {
	if s.usesPlatformParameters && s.publishedRowPatterns != nil {
		return cli.Usagef("--own, --to: give one of them")
	}
	d, err := openPlatformForEditing(what)
	if err != nil {
		return err
	}
	papers, err := paper.ReadAll(testdata.Published)
	if err != nil {
		return err
	}
	b, err := calibrate.SensitivityBench(d.Platform, papers, s.publishedRowPatterns, s.usesPlatformParameters || s.library != "", s.library)
	if err != nil {
		return fmt.Errorf("sensitivity of %s: %w", d.Machine.Name, err)
	}
	found, err := cli.WithProgress(cmd, func(report func(done, total int)) (*calibrate.Sensitivity, error) {
		return calibrate.VaryNumbers(cmd.Context(), d, b, calibrate.Options{Bases: variedBasesByName[s.variedBasis], Progress: report})
	})
	if err != nil {
		return fmt.Errorf("sensitivity of %s: %w", d.Machine.Name, err)
	}
	report := found.Document()
	switch {
	case cli.FileExtension(s.outputPath) == ".csv":
		err = cli.WriteFile(cmd, s.outputPath, found.CSV, "sensitivity")
	case s.outputPath != "":
		err = cli.WritePage(cmd, s.outputPath, report, "sensitivity")
	}
	if err != nil {
		return err
	}
	return cli.Print(cmd, report)
}
