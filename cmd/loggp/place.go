package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/timeline"
)

// placed makes a job for each placement of --place, or the one job of the other flags.
func (r *runs) placed(known *platform.Platform, usual program.Settings, most int, open opener) ([]*job.Job, program.Settings, error) {
	if r.place == nil {
		j, s, err := r.set(known, usual, most, open)
		return []*job.Job{j}, s, err
	}
	var jobs []*job.Job
	var settings program.Settings
	for _, text := range r.place {
		p, err := model.ParsePlacement(strings.TrimSpace(text))
		if err != nil {
			return nil, settings, fmt.Errorf("--place: %w", err)
		}
		if r.ranks != 0 && r.ranks != p.Ranks() {
			return nil, settings, fmt.Errorf("--place %v has %d ranks, and -n says %d: leave -n out", p, p.Ranks(), r.ranks)
		}
		on := *known
		if on.Machine, err = known.Machine.Place(p); err != nil {
			return nil, settings, fmt.Errorf("--place: %w", err)
		}
		one := *r
		one.ranks = p.Ranks()
		job, s, err := one.set(&on, usual, most, open)
		if err != nil {
			return nil, settings, fmt.Errorf("--place %v: %w", p, err)
		}
		jobs, settings = append(jobs, job), s
	}
	return jobs, settings, nil
}

// compare runs a program on several placements and prints what each costs.
func (r *runs) compare(cmd *cobra.Command, p program.Program, s program.Settings, jobs []*job.Job, code func(*mpi.Comm) error) error {
	if r.profile {
		return misuse(cmd, fmt.Errorf("--profile: it is of one run; name one placement"))
	}
	var all []timeline.PlacedRun
	for _, job := range jobs {
		record, err := job.Record(cmd.Context(), r.seed, r.protocol, -1, code)
		placement := job.Platform.Machine.Nodes.Placed
		if err != nil {
			return fmt.Errorf("%s on %s, placed %v: %w", p.Name, job.Platform.Machine.Name, placement, err)
		}
		all = append(all, timeline.PlacedRun{Placement: placement, Record: record})
	}
	title := fmt.Sprintf("Placements of %s, size %d, rounds %d, on %s, %s", p.Name, s.Size, s.Rounds, jobs[0].Platform.Machine.Name, jobs[0].Library.Name)
	return show(cmd, timeline.PlacementTimes(title, all))
}
