package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/timeline"
)

// isGoal says whether an argument names a schedule.
func isGoal(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".goal")
}

// goal runs a schedule, as a program of MPI.
func (r *runs) goal(cmd *cobra.Command, file string) error {
	var wrong error
	for _, flag := range []string{"place", "size", "rounds", "stride", "root", "class", "picture", "operation", "collective", "phases", "check"} {
		if cmd.Flags().Changed(flag) {
			wrong = errors.Join(wrong, fmt.Errorf("--%s is not for a schedule", flag))
		}
	}
	noise, err := parseNoise(r.noise)
	if r.protocol != "" {
		err = errors.Join(err, protocol(r.protocol))
	}
	if err := errors.Join(wrong, err); err != nil {
		return misuse(cmd, err)
	}
	known, open, err := r.machine(cmd, false)
	if err != nil {
		return err
	}
	s, err := readSchedule(cmd, file)
	if err != nil {
		return err
	}
	x := program.Execution{Schedule: s}
	if err := x.Check(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if r.ranks != 0 && r.ranks != s.Ranks() {
		return misuse(cmd, fmt.Errorf("--ranks %d: %s has %d ranks: leave it out", r.ranks, file, s.Ranks()))
	}
	job, err := open(known, r.library, s.Ranks(), noise)
	if err != nil {
		return misuse(cmd, err)
	}
	job.Check = mpi.CheckWarn // each message has memory of its own: the check names the ranks of lost messages
	if err := errors.Join(r.recorder(cmd, job), r.courseOf(cmd, job)); err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %d operations, on %s, %s", filepath.Base(file), s.Ops(), job.Platform.Machine.Name, job.Library.Name)
	if job.Real() {
		ends, err := r.timed(cmd, file, job, func(c *mpi.Comm) error {
			x.Run(c)
			return nil
		})
		if err != nil {
			return err
		}
		return show(cmd, timeline.EndTimes(title, takes(ends), ends))
	}
	begin := time.Now()
	finish := make([]unit.Time, s.Ranks())
	record, err := job.Record(cmd.Context(), r.seed, r.protocol, r.most(), func(c *mpi.Comm) error {
		finish[c.Rank()] = x.Run(c)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s on %s: %w", file, job.Platform.Machine.Name, err)
	}
	document := timeline.RunTimes(title, takes(finish), record, r.profile)
	if err := show(cmd, document); err != nil {
		return err
	}
	if err := errors.Join(r.keep(cmd, job), r.writeRun(cmd, []string{file}, job, record, document)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return nil
}

// takes says how long a schedule takes.
func takes(ends []unit.Time) string {
	t, rank := last(ends)
	return fmt.Sprintf("The schedule takes %s us from its common start; rank %d ends last.", t.MicrosString(), rank)
}
