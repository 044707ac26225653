package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/trace"
)

// workloadFlags has the flags of verbs that take execution traces and training steps.
type workloadFlags struct {
	options           loggp.WorkloadOptions
	processGroupsFile string
}

// workloadFlagNames are the flags of workloadFlags.
var workloadFlagNames = []string{"ranks", "groups", "compute-rate", "collective"}

func (t *workloadFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&t.options.Ranks, "ranks", "n", 0, "number of ranks of a trace: a rank without a file repeats the nearest rank below it (default: one for each file)")
	f.StringVar(&t.processGroupsFile, "groups", "", `file with the ranks of the trace's process groups, {"0": [0, 1], "1": [2, 3]}`)
	cli.AddParsed(cmd, &t.options.ComputeRate, "compute-rate", "", parseComputeRate, "operations per second, such as 300e12, of trace nodes that have a number of operations (default: their recorded time)")
	cli.AddParsed(cmd, &t.options.Collective, "collective", "", cli.List, "algorithms of the collective operations of a trace or training step: a list such as allreduce=ring,bcast=binomial")
}

// parseComputeRate returns a number of operations per second.
func parseComputeRate(text string) (rate float64, err error) {
	n, err := fmt.Sscanf(text, "%g", &rate)
	if n != 1 || err != nil || !(rate > 0) || rate > 1e24 {
		return 0, cli.ValueError("it must be a number of operations per second, such as 300e12")
	}
	return rate, nil
}

// readWorkload reads the files of a trace or a training step, and prints what was restored or
// dropped.
func (t *workloadFlags) readWorkload(cmd *cobra.Command, names []string) (*loggp.Workload, error) {
	if cmd.Flags().Changed("ranks") {
		if err := cli.CheckRange("--ranks", t.options.Ranks, 1, 1<<20); err != nil {
			return nil, err
		}
	}
	if t.processGroupsFile != "" {
		f, err := input.Open(t.processGroupsFile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if t.options.Groups, err = trace.ReadGroups(f, t.processGroupsFile); err != nil {
			return nil, err
		}
	}
	w, err := loggp.ReadWorkload(names, t.options)
	if err != nil {
		return nil, err
	}
	cli.PrintLines(cmd, "", w.WarningTexts())
	return w, nil
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
		Args:    cli.RequireArgs("file of a trace, one for each rank (step.0.et step.1.et ...), or of a training step (step.yaml)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := t.readWorkload(cmd, args)
			if err != nil {
				return err
			}
			s, err := w.Schedule()
			if err != nil {
				return fmt.Errorf("schedule: %w", err)
			}
			return writeSchedule(cmd, outputPath, s)
		},
	}
	t.addFlags(cmd)
	cli.AddOutput(cmd, &outputPath, "output", "o", "file to write (default: standard output)", cli.WritableFile)
	return cmd
}
