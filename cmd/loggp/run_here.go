package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/engine/recorder"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// What run has for this machine, which is not emulated, and for schedules of programs.

// machine finds the platform, and how to set up a job on it, of a library of MPI or of any.
func (r *runs) machine(cmd *cobra.Command, any bool) (*platform.Platform, opener, error) {
	if r.platform == "" {
		return nil, nil, misuse(cmd, fmt.Errorf("--platform: say on what to run: %s, %s, a file, or loggp:PARAMETERS", strings.Join(platform.Names(), ", "), strings.Join(job.Here, ", ")))
	}
	if !slices.Contains(job.Here, r.platform) {
		known, err := load(cmd, r.platform)
		if any {
			return known, job.NewAny, err
		}
		return known, job.New, err
	}
	for _, flag := range []string{"noise", "place", "profile"} {
		if cmd.Flags().Changed(flag) {
			return nil, nil, misuse(cmd, fmt.Errorf("--%s: it is for emulated machines, and %s is this one", flag, r.platform))
		}
	}
	return &platform.Platform{Machine: &model.Machine{Name: r.platform}}, func(_ *platform.Platform, library string, ranks int, _ float64) (*job.Job, error) {
		return job.NewHere(library, ranks, job.Placement{Platform: r.platform, Pin: true, Any: any, Output: r.output, Command: commandLine(cmd)})
	}, nil
}

// opener sets up a job on a platform.
type opener = func(known *platform.Platform, library string, ranks int, noise float64) (*job.Job, error)

// timed runs a program on this machine and returns when each rank ended.
func (r *runs) timed(cmd *cobra.Command, name string, job *job.Job, program func(*mpi.Comm) error) ([]unit.Time, error) {
	times, err := job.Time(cmd.Context(), r.protocol, program)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", name, r.platform, err)
	}
	return times, r.keep(cmd, job)
}

// recorder gives a job a recorder if its schedule is asked for, and the phases that were computed
// before.
func (r *runs) recorder(cmd *cobra.Command, jobs ...*job.Job) error {
	if r.phases != "" {
		for _, job := range jobs {
			if err := r.stored(cmd, job); err != nil {
				return err
			}
		}
	}
	if r.record == "" {
		return nil
	}
	if err := output(r.record); err != nil {
		return misuse(cmd, errors.New(strings.Replace(err.Error(), "-o", "--record", 1)))
	}
	if len(jobs) > 1 {
		return misuse(cmd, errors.New("--record: it is of one run; name one placement"))
	}
	jobs[0].Recorder = &recorder.Recorder{}
	return nil
}

// stored gives a job the phases of its exchanges.
func (r *runs) stored(cmd *cobra.Command, job *job.Job) error {
	switch {
	case job.Library.Compiled == nil:
		return misuse(cmd, fmt.Errorf("--phases: library %s of %s does not exchange in phases; cc-mpi of cc-cluster does", job.Library.Name, r.platform))
	case r.record != "":
		return misuse(cmd, errors.New("--phases, --record: what is recorded are messages without phases: leave one of them out"))
	}
	f, err := os.Open(r.phases)
	if err != nil {
		return fmt.Errorf("--phases: %w", err)
	}
	defer f.Close()
	if job.Stored, err = phases.ReadSchedules(f, r.phases); err != nil {
		return err
	}
	for _, s := range job.Stored {
		if last := slices.Max(s.Members); last >= job.Ranks {
			return fmt.Errorf("%s: there is a rank %d, and the run has %d ranks", r.phases, last, job.Ranks)
		}
	}
	return nil
}

// keep writes the schedule of a job that has run.
func (r *runs) keep(cmd *cobra.Command, job *job.Job) error {
	if r.record == "" {
		return nil
	}
	s, err := job.Recorder.Schedule(job.Ranks)
	if err != nil {
		return fmt.Errorf("--record %s: %w", r.record, err)
	}
	return flagged("--record", r.record, keep(cmd, r.record, s.Write, "schedule of %d operations in %d ranks", s.Ops(), s.Ranks()))
}

// last returns when the last rank ended, and which that was.
func last(ends []unit.Time) (unit.Time, int) {
	t := slices.Max(ends)
	return t, slices.Index(ends, t)
}
