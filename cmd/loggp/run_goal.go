package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/programs"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/recording"
)

// isGoal says whether an argument names a schedule.
func isGoal(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".goal")
}

// goal runs a schedule, as a program of MPI.
func (r *runs) goal(cmd *cobra.Command, file string) error {
	var wrong error
	for _, flag := range []string{"place", "size", "rounds", "stride", "root", "class", "picture", "operation", "collective"} {
		if cmd.Flags().Changed(flag) {
			wrong = errors.Join(wrong, fmt.Errorf("--%s is not for a schedule", flag))
		}
	}
	if r.platform == "" {
		wrong = errors.Join(wrong, errors.New("--platform: say on what to run: a name of 'loggp platforms', a file, or loggp:PARAMETERS"))
	}
	noise, err := parseNoise(r.noise)
	if r.protocol != "" {
		err = errors.Join(err, protocol(r.protocol))
	}
	if err := errors.Join(wrong, err); err != nil {
		return misuse(cmd, err)
	}
	s, err := readSchedule(cmd, file)
	if err != nil {
		return err
	}
	x := programs.Execution{Schedule: s}
	if err := x.Check(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if r.ranks != 0 && r.ranks != s.Ranks() {
		return misuse(cmd, fmt.Errorf("--ranks %d: %s has %d ranks: leave it out", r.ranks, file, s.Ranks()))
	}
	known, err := load(cmd, r.platform)
	if err != nil {
		return err
	}
	job, err := world.New(known, r.library, s.Ranks(), noise)
	if err != nil {
		return misuse(cmd, err)
	}
	job.Check = r.check
	limit := -1
	if r.profile {
		limit = mostThings
	}
	begin := time.Now()
	var finish []unit.Time
	record, err := job.Record(cmd.Context(), r.seed, r.protocol, limit, func(c *mpi.Comm) error {
		if all := x.Run(c); c.Rank() == 0 {
			finish = all
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s on %s: %w", file, job.Platform.Machine.Name, err)
	}
	last := slices.Max(finish)
	note := fmt.Sprintf("The schedule takes %s us from its common start; rank %d ends last.", last.MicrosString(), slices.Index(finish, last))
	title := fmt.Sprintf("%s, %d operations, on %s, %s", filepath.Base(file), s.Ops(), job.Platform.Machine.Name, job.Library.Name)
	if err := show(cmd, recording.Run(title, note, record, r.profile)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return nil
}
