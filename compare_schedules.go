package loggp

import (
	"context"
	"fmt"
	"slices"

	"github.com/loggp/loggp/fit/loggops"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/goal"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/schedule/pattern"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/timeline"
)

// ScheduleOptions say which schedules CompareSchedules runs, on which machines, and with which
// parameters it simulates them.
type ScheduleOptions struct {
	Platform   []string        // emulated machines, or shm or tcp
	Library    string          // on each machine; "": its first
	Schedule   []NamedSchedule // with any numbers of ranks
	Collective []string        // collective operations whose schedules are added, for all algorithms; "all" stands for every operation
	Ranks      int             // ranks of these; 0: 8
	Sizes      []int           // data sizes of these in bytes; nil: 8 bytes and 4 KiB

	LogGOPS *schedule.Params // nil: from Params, or fitted to each machine
	Params  Parameters

	Args []string // arguments of processes started as ranks; nil: those of this process
}

// NamedSchedule is a schedule with its file name.
type NamedSchedule struct {
	Name     string
	Schedule *schedule.Schedule
}

// ScheduleComparison compares the times of schedules on machines with those by LogGOPS.
type ScheduleComparison struct {
	Comparison
	Warnings []string
}

// Defaults for schedules of collective operations.
const defaultScheduleRanks = 8

var defaultScheduleSizes = []int{8, 4 << 10}

// Repetitions on this computer, where times vary.
const (
	collectiveRounds = 50 // executions of a collective operation in one schedule
	scheduleRuns     = 5  // runs of a schedule from a file; their median is used
)

// timedSchedule is a schedule to run.
type timedSchedule struct {
	group, name string
	bytes       int // -1: from a file
	schedule    *schedule.Schedule
	rounds      int // number of executions of the operation in the schedule
}

// CompareSchedules runs schedules on machines and simulates them by LogGOPS. It returns nil in a
// process that was started as a rank other than 0.
func CompareSchedules(ctx context.Context, o ScheduleOptions) (*ScheduleComparison, error) {
	if len(o.Schedule) == 0 && o.Collective == nil {
		return nil, optionErrorf("Platform", "say which schedules to run: --schedule FILE.goal, or --collective all")
	}
	if o.LogGOPS != nil && len(o.Params.All) > 0 {
		return nil, optionErrorf("Params, LogGOPS", "give one of them")
	}
	for _, s := range o.Schedule {
		if err := (goal.Execution{Schedule: s.Schedule}).Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if o.Ranks == 0 {
		o.Ranks = defaultScheduleRanks
	}
	type subject struct {
		job       *job.Job
		schedules []timedSchedule
	}
	var subjects []subject // set up all before the first runs: a process started as a rank reaches its run by the same steps
	for _, platform := range o.Platform {
		for _, ranks := range o.rankCounts() {
			j, err := openScheduleJob(platform, o.Library, ranks, o.Args)
			if err != nil {
				return nil, err
			}
			schedules, err := o.schedulesOf(j)
			if err != nil {
				return nil, err
			}
			subjects = append(subjects, subject{j, schedules})
		}
	}
	comparison := &ScheduleComparison{}
	var machines []timeline.MachineSchedules
	for _, s := range subjects {
		m, notes, err := o.timeSchedules(ctx, s.job, s.schedules)
		if err != nil {
			return nil, fmt.Errorf("compare on %s: %w", s.job.Platform.Machine.Name, err)
		}
		for _, note := range notes {
			if !slices.Contains(comparison.Warnings, note) {
				comparison.Warnings = append(comparison.Warnings, note)
			}
		}
		if len(m.Schedules) > 0 { // otherwise this process was started as another rank
			machines = append(machines, *m)
		}
		comparison.Rows += len(m.Schedules)
	}
	if len(machines) == 0 {
		return nil, nil
	}
	comparison.document = timeline.ScheduleTimes(machines)
	return comparison, nil
}

// rankCounts returns the numbers of ranks of all schedules.
func (o *ScheduleOptions) rankCounts() []int {
	var counts []int
	if o.Collective != nil {
		counts = append(counts, o.Ranks)
	}
	for _, s := range o.Schedule {
		counts = append(counts, s.Schedule.CountRanks())
	}
	slices.Sort(counts)
	return slices.Compact(counts)
}

// schedulesOf returns the schedules for the number of ranks of a job.
func (o *ScheduleOptions) schedulesOf(j *job.Job) ([]timedSchedule, error) {
	var all []timedSchedule
	if o.Collective != nil && j.Ranks == o.Ranks {
		var err error
		if all, err = o.collectiveSchedules(j); err != nil {
			return nil, err
		}
	}
	for _, s := range o.Schedule {
		if s.Schedule.CountRanks() == j.Ranks {
			all = append(all, timedSchedule{s.Name, "", -1, s.Schedule, 1})
		}
	}
	return all, nil
}

// collectiveSchedules creates the schedules of collective operations.
func (o *ScheduleOptions) collectiveSchedules(j *job.Job) ([]timedSchedule, error) {
	operations, err := parseOperations(o.Collective)
	if err != nil {
		return nil, err
	}
	sizes := o.Sizes
	if sizes == nil {
		sizes = defaultScheduleSizes
	}
	rounds := 1
	if j.IsLocal() {
		rounds = collectiveRounds
	}
	nodes := j.RanksByNode()
	var all []timedSchedule
	for _, op := range operations {
		for _, a := range collective.AlgorithmsOf(op) {
			for i, k := range sizes {
				if !a.Serves(op.StandardJob(j.Ranks, k, nodes)) || op == collective.Barrier && i > 0 {
					continue
				}
				s, err := pattern.Make(op.String(), pattern.Config{Ranks: j.Ranks, Size: k, Algorithm: a.Name, Nodes: nodes, Rounds: rounds})
				if err != nil {
					return nil, badOption("", err)
				}
				if op == collective.Barrier {
					k = 0
				}
				all = append(all, timedSchedule{op.String(), a.Name, k, s, rounds})
			}
		}
	}
	return all, nil
}

// openScheduleJob sets up a job on an emulated machine or on this computer.
func openScheduleJob(platform, library string, ranks int, args []string) (*job.Job, error) {
	if isThisMachine(platform) {
		j, err := job.NewLocal(library, ranks, job.LocalOptions{Platform: platform, PinsRanks: true, RankCommand: args})
		return j, badOption("", err)
	}
	p, err := LoadPlatform(platform)
	if err != nil {
		return nil, err
	}
	return newJob(p, library, ranks, 0)
}

// timeSchedules runs schedules on a machine, and simulates them.
func (o *ScheduleOptions) timeSchedules(ctx context.Context, j *job.Job, schedules []timedSchedule) (m *timeline.MachineSchedules, notes []string, err error) {
	m = &timeline.MachineSchedules{Platform: j.Platform.Machine.Name, Library: j.Library.Name, Ranks: j.Ranks}
	switch {
	case o.LogGOPS != nil:
		m.Params = *o.LogGOPS
	case len(o.Params.All) > 0:
		m.Params, notes, err = o.Params.logGOPS(m.Platform, m.Library, "")
	default:
		m.Fitted = true
		m.Params, err = fitLogGOPS(ctx, j)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, s := range schedules {
		runs := 1
		if j.IsLocal() && s.bytes < 0 {
			runs = scheduleRuns
		}
		var times []unit.Time
		for range runs {
			finish, err := runSchedule(ctx, j, s.schedule)
			if err != nil {
				return nil, nil, fmt.Errorf("%s %s: %w", s.group, s.name, err)
			}
			if len(finish) > 0 {
				times = append(times, slices.Max(finish))
			}
		}
		if len(times) == 0 {
			continue
		}
		slices.Sort(times)
		simulated, err := s.schedule.Simulate(schedule.Options{Params: m.Params})
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", s.group, s.name, err)
		}
		n := unit.Time(s.rounds)
		m.Schedules = append(m.Schedules, timeline.ScheduleTime{Group: s.group, Name: s.name, Bytes: s.bytes, MachineTime: max(1, quantile.UpperMedian(times)/n), SimulatedTime: simulated.LastFinish / n})
	}
	return m, notes, nil
}

// fitLogGOPS fits the parameters of a machine to the times of small schedules. They are zero in a
// process that was started as a rank other than 0.
func fitLogGOPS(ctx context.Context, j *job.Job) (schedule.Params, error) {
	var times [][]unit.Time
	for _, s := range loggops.Probes(j.Ranks) {
		finish, err := runSchedule(ctx, j, s)
		if err != nil {
			return schedule.Params{}, err
		}
		if len(finish) > 0 {
			times = append(times, finish)
		}
	}
	if len(times) == 0 {
		return schedule.Params{}, nil
	}
	return loggops.Fit(times)
}

// runSchedule runs a schedule on a machine and returns the end time of each rank. It returns nil in
// a process that was started as a rank other than 0.
func runSchedule(ctx context.Context, j *job.Job, s *schedule.Schedule) ([]unit.Time, error) {
	x := goal.Execution{Schedule: s}
	if j.IsLocal() {
		return j.TimeRanks(ctx, "", func(c *mpi.Comm) error {
			x.Run(c)
			return nil
		})
	}
	w, err := j.World(ctx, 1)
	if err != nil {
		return nil, err
	}
	finish := make([]unit.Time, j.Ranks)
	err = mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
		finish[c.Rank()] = x.Run(c)
		return nil
	})
	return finish, err
}
