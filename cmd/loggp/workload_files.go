package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/trace"
)

// workloadFlags are the flags of verbs that take execution traces and training steps.
type workloadFlags struct {
	processGroupsFile, computeRateText, collectiveAlgorithmsText string
	ranks                                                        int
}

// workloadFlagNames are the flags of workloadFlags.
var workloadFlagNames = []string{"ranks", "groups", "compute-rate", "collective"}

// workloadFilePattern matches the names of files of traces and training steps.
var workloadFilePattern = regexp.MustCompile(`\.(et|json)(\.gz)?$|-\d+\.txt(\.gz)?$|\.ya?ml$`)

func (t *workloadFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&t.ranks, "ranks", "n", 0, "number of ranks of a trace: a rank without a file repeats the nearest rank below it (default: one for each file)")
	f.StringVar(&t.processGroupsFile, "groups", "", `file with the ranks of the trace's process groups, {"0": [0, 1], "1": [2, 3]}`)
	f.StringVar(&t.computeRateText, "compute-rate", "", "operations per second, such as 300e12, of trace nodes that have a number of operations (default: their recorded time)")
	f.StringVar(&t.collectiveAlgorithmsText, "collective", "", "algorithms of the collective operations of a trace or training step: a list such as allreduce=ring,bcast=binomial")
}

// readWorkload reads the files of a trace or a training step, and prints what was restored or
// dropped.
func (t *workloadFlags) readWorkload(cmd *cobra.Command, names []string) (*loggp.Workload, error) {
	o := loggp.WorkloadOptions{Options: trace.Options{Ranks: t.ranks}}
	if t.collectiveAlgorithmsText != "" {
		o.Collective = splitList(t.collectiveAlgorithmsText)
	}
	if cmd.Flags().Changed("ranks") {
		if err := checkFlagRange("--ranks", t.ranks, 1, 1<<20); err != nil {
			return nil, newUsageError(cmd, err)
		}
	}
	if t.computeRateText != "" {
		n, err := fmt.Sscanf(t.computeRateText, "%g", &o.ComputeRate)
		if n != 1 || err != nil || !(o.ComputeRate > 0) || o.ComputeRate > 1e24 {
			return nil, newUsageError(cmd, fmt.Errorf("--compute-rate %s: it must be a number of operations per second, such as 300e12", t.computeRateText))
		}
	}
	if t.processGroupsFile != "" {
		f, err := input.Open(t.processGroupsFile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if o.Groups, err = trace.ReadGroups(f, t.processGroupsFile); err != nil {
			return nil, err
		}
	}
	s, err := loggp.ReadWorkload(names, o)
	if err != nil {
		return nil, usageErrorWithFlag(cmd, err)
	}
	printWarnings(cmd, s.WarningTexts())
	return s, nil
}

// scheduleTraceCommand is 'loggp schedule trace'.
func scheduleTraceCommand() *cobra.Command {
	var t workloadFlags
	var outputPath string
	cmd := &cobra.Command{
		Use:   "trace FILE.0.et FILE.1.et ... | STEP.yaml",
		Short: "Write the schedule of an execution trace or a training step",
		Long: `trace reads Chakra execution traces (as protobuf or JSON) or records of MPI calls (of liballprof),
one file a rank, or the description of a training step, and writes what the ranks compute, send and
receive as a GOAL file. Collective operations become messages by the algorithms of --collective.`,
		Example: `  loggp schedule trace step.0.et.gz -n 8 -o step.goal`,
		Args:    requireArgs("file of a trace, one for each rank (step.0.et step.1.et ...), or of a training step (step.yaml)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkWritableFile(outputPath); err != nil {
				return newUsageError(cmd, err)
			}
			w, err := t.readWorkload(cmd, args)
			if err != nil {
				return err
			}
			s, err := w.Schedule()
			if err != nil {
				return fmt.Errorf("schedule: %w", err)
			}
			if outputPath == "" {
				return s.Write(cmd.OutOrStdout())
			}
			return writeFile(cmd, outputPath, s.Write, "schedule of %d operations in %d ranks", s.CountOps(), s.CountRanks())
		},
	}
	t.addFlags(cmd)
	cmd.Flags().StringVarP(&outputPath, "output", "o", "", "file to write (default: standard output)")
	return cmd
}
