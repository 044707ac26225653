package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/reports"
)

func doctorCommand() *cobra.Command {
	var ranks int
	var quick bool
	var format *string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine for what disturbs measurements, and say what to do",
		Long: `doctor checks this machine before a measurement: processors and their load, interruptions, clock
rates, container limits, the clock, cache line transfers, memory, and the installed MPI. It changes
nothing, and takes about two seconds.

A note is something that results depend on; a warning is something that disturbs them; a problem
makes measuring impossible. The exit status is 1 if there is a problem, else 0.`,
		Example: `  loggp doctor
  loggp doctor --ranks 4 --quick
  loggp doctor --quick --format json`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := inRange("--ranks", ranks, 1, 1_000_000); err != nil {
				return misuse(cmd, err)
			}
			return consult(cmd, ranks, quick, *format)
		},
	}
	cmd.Flags().IntVar(&ranks, "ranks", 2, "number of ranks of the job to be measured")
	cmd.Flags().BoolVar(&quick, "quick", false, "take half a second, with a shorter watch for interruptions")
	format = chosen(cmd, "format", []string{"table", "csv", "json", "markdown"}, "table", "what to print")
	return cmd
}

// consult examines this machine, and prints what is found.
func consult(cmd *cobra.Command, ranks int, quick bool, format string) error {
	effort := host.InspectOptions{Ranks: ranks, WatchDuration: host.ThoroughWatch}
	if quick {
		effort.WatchDuration = host.QuickWatch
	}
	inspection, err := host.Inspect(cmd.Context(), effort)
	if err != nil {
		return fmt.Errorf("look at this machine: %w", err)
	}
	all := host.RunChecks(inspection)
	if err := diagnose(cmd, all, format); err != nil {
		return err
	}
	return impossible(all)
}

// diagnose prints findings.
func diagnose(cmd *cobra.Command, all []host.CheckResult, format string) error {
	if format == "json" {
		return findings(cmd.OutOrStdout(), all)
	}
	var list []reports.Advice
	for _, f := range all {
		list = append(list, reports.Advice{Check: f.Check, Verdict: f.Verdict.String(), Found: f.Found, Why: f.Why, Do: f.Do, IsGrave: f.Verdict >= host.Warning})
	}
	return show(cmd, reports.Doctor(list))
}

// findings prints findings as JSON.
func findings(out io.Writer, all []host.CheckResult) error {
	type finding struct {
		Check   string `json:"check"`
		Verdict string `json:"verdict"`
		Found   string `json:"found"`
		Why     string `json:"why,omitempty"`
		Do      string `json:"do,omitempty"`
	}
	list := []finding{}
	for _, f := range all {
		list = append(list, finding{f.Check, f.Verdict.String(), f.Found, f.Why, f.Do})
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Verdict string    `json:"verdict"`
		Checks  []finding `json:"checks"`
	}{host.WorstVerdict(all).String(), list})
}

// impossible is an error if measuring is impossible.
func impossible(all []host.CheckResult) error {
	var problems []string
	for _, f := range all {
		if f.Verdict == host.Problem {
			problems = append(problems, f.Check+": "+f.Found)
		}
	}
	if problems == nil {
		return nil
	}
	return errors.New("this machine cannot be measured: " + strings.Join(problems, "; "))
}
