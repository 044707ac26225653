package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/export"
	"github.com/loggp/loggp/fit/loggops"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/schedule/pattern"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/timeline"
)

// What compare has for schedules: what they take on machines beside what LogGOPS says.

// schedules has its flags.
type schedules struct {
	platforms, files             []string
	library, operations, loggops string
	ranks                        int
}

func (s *schedules) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.platforms, "platform", nil, "machine that runs schedules, which are compared with LogGOPS: a name of 'loggp platforms', a file, loggp:PARAMETERS, "+
		strings.Join(job.Here, " or ")+"; or a list of names; may be given more than once")
	f.StringArrayVar(&s.files, "schedule", nil, "with --platform: file of a schedule; may be given more than once")
	f.StringVar(&s.operations, "collective", "", "with --platform: schedules of collective operations by all their algorithms, a list such as bcast,allreduce, or all")
	f.StringVar(&s.library, "library", "", "with --platform: library on the machine (default: its first)")
	f.StringVar(&s.loggops, "loggops", "", "with --platform: parameters of LogGOPS such as L=5us,o=1us,g=1us,G=1ns (default: those of --params, or fitted to the machine)")
	f.IntVarP(&s.ranks, "ranks", "n", 8, "with --collective: number of ranks")
	mustComplete(cmd, "platform", append(platform.Names(), job.Here...))
}

// work is a schedule with what it is called.
type work struct {
	group, name string
	bytes       int
	schedule    *schedule.Schedule
	repeats     int // how often the schedule repeats what it is called
}

// Repetitions on this machine, where times vary: of a collective operation in one schedule, and
// runs of a file of which the median counts.
const (
	hereRounds = 50
	hereRuns   = 5
)

// machines runs schedules on machines, and simulates them with their parameters.
func (s *schedules) machines(cmd *cobra.Command, c *comparison) error {
	if len(s.files) == 0 && s.operations == "" {
		return misuse(cmd, errors.New("--platform: say which schedules to run: --schedule FILE.goal, or --collective all"))
	}
	if c.params != "" && s.loggops != "" {
		return misuse(cmd, errors.New("--params and --loggops: give one of them"))
	}
	var given *schedule.Params
	if s.loggops != "" {
		p, err := schedule.ParseParams(s.loggops)
		if err != nil {
			return misuse(cmd, fmt.Errorf("--loggops: %w", err))
		}
		given = &p
	}
	if err := output(c.output); err != nil {
		return misuse(cmd, err)
	}
	files, err := s.read(cmd)
	if err != nil {
		return err
	}
	type subject struct {
		job  *job.Job
		work []work
	}
	var subjects []subject // all before the first runs: a process that is started as a rank comes to its run by the same way
	for _, name := range s.names() {
		for ranks, of := range s.grouped(files) {
			job, err := openJob(cmd, name, s.library, ranks)
			if err != nil {
				return err
			}
			if s.operations != "" && ranks == s.ranks {
				made, err := s.collectives(c, job)
				if err != nil {
					return misuse(cmd, err)
				}
				of = append(made, of...)
			}
			subjects = append(subjects, subject{job, of})
		}
	}
	var all []timeline.MachineSchedules
	rows := 0
	for _, x := range subjects {
		m, err := onMachine(cmd, c, x.job, x.work, given)
		if err != nil {
			return fmt.Errorf("compare on %s: %w", x.job.Platform.Machine.Name, err)
		}
		if len(m.Times) > 0 { // else this process was started as another rank
			all = append(all, *m)
		}
		rows += len(m.Times)
	}
	if len(all) == 0 {
		return nil
	}
	return c.write(cmd, rows, timeline.ScheduleTimes(all))
}

// names returns the platforms. Parameters of one may have commas.
func (s *schedules) names() []string {
	var all []string
	for _, p := range s.platforms {
		if strings.HasPrefix(p, "loggp:") {
			all = append(all, p)
		} else {
			all = append(all, words(p)...)
		}
	}
	return all
}

// read reads the files.
func (s *schedules) read(cmd *cobra.Command) ([]work, error) {
	var all []work
	for _, file := range s.files {
		x, err := readSchedule(cmd, file)
		if err != nil {
			return nil, err
		}
		if err := (program.Execution{Schedule: x}).Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, work{filepath.Base(file), "", -1, x, 1})
	}
	return all, nil
}

// grouped yields the files of each number of ranks, in the order of these numbers. Collective
// operations are of --ranks.
func (s *schedules) grouped(files []work) func(yield func(int, []work) bool) {
	return func(yield func(int, []work) bool) {
		var counts []int
		if s.operations != "" {
			counts = append(counts, s.ranks)
		}
		for _, f := range files {
			counts = append(counts, f.schedule.Ranks())
		}
		slices.Sort(counts)
		for _, n := range slices.Compact(counts) {
			if !yield(n, slices.DeleteFunc(slices.Clone(files), func(f work) bool { return f.schedule.Ranks() != n })) {
				return
			}
		}
	}
}

// openJob sets up a job of some ranks on a machine, which may be this one.
func openJob(cmd *cobra.Command, name, library string, ranks int) (*job.Job, error) {
	if isHere(name) {
		job, err := job.NewHere(library, ranks, job.Placement{Platform: name, Pin: true, Command: commandLine(cmd)})
		return job, misuse(cmd, err)
	}
	known, err := load(cmd, name)
	if err != nil {
		return nil, err
	}
	job, err := job.New(known, library, ranks, 0)
	return job, misuse(cmd, err)
}

// onMachine runs schedules on a machine, and simulates them.
func onMachine(cmd *cobra.Command, c *comparison, job *job.Job, all []work, given *schedule.Params) (*timeline.MachineSchedules, error) {
	var err error
	m := &timeline.MachineSchedules{Platform: job.Platform.Machine.Name, Library: job.Library.Name, Ranks: job.Ranks}
	switch {
	case given != nil:
		m.Params = *given
	case c.params != "":
		if m.Params, err = logGOPS(cmd, c.params, export.Options{Platform: m.Platform, Library: m.Library}); err != nil {
			return nil, err
		}
	default:
		m.Fitted = true
		if m.Params, err = fitted(cmd, job); err != nil {
			return nil, err
		}
	}
	for _, w := range all {
		runs := 1
		if job.Real() && w.bytes < 0 {
			runs = hereRuns
		}
		var took []unit.Time
		for range runs {
			ends, err := execute(cmd, job, w.schedule)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", w.group, w.name, err)
			}
			if len(ends) > 0 {
				end, _ := last(ends)
				took = append(took, end)
			}
		}
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		res, err := w.schedule.Simulate(schedule.Options{Params: m.Params})
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", w.group, w.name, err)
		}
		n := unit.Time(w.repeats)
		m.Times = append(m.Times, timeline.ScheduleTime{Group: w.group, Name: w.name, Bytes: w.bytes, Machine: max(1, took[len(took)/2]/n), Simulated: res.Last / n})
	}
	return m, nil
}

// collectives makes the schedules of collective operations.
func (s *schedules) collectives(c *comparison, job *job.Job) ([]work, error) {
	operations, err := operationsOf(s.operations)
	if err != nil {
		return nil, err
	}
	lengths, err := sizes(c.sizes, []int{8, 4 << 10})
	if err != nil {
		return nil, err
	}
	rounds := 1
	if job.Real() {
		rounds = hereRounds
	}
	nodes := nodesOf(job)
	var all []work
	for _, o := range operations {
		for _, a := range collective.Of(o) {
			for i, k := range lengths {
				if !a.Serves(o.Job(job.Ranks, k, nodes)) || o == collective.Barrier && i > 0 {
					continue
				}
				x, err := pattern.Make(o.String(), pattern.Config{Ranks: job.Ranks, Size: k, Algorithm: a.Name, Nodes: nodes, Rounds: rounds})
				if err != nil {
					return nil, err
				}
				if o == collective.Barrier {
					k = 0
				}
				all = append(all, work{o.String(), a.Name, k, x, rounds})
			}
		}
	}
	return all, nil
}

// fitted returns the parameters of a machine, by the times of small schedules that it runs.
func fitted(cmd *cobra.Command, job *job.Job) (schedule.Params, error) {
	var times [][]unit.Time
	for _, s := range loggops.Probes(job.Ranks) {
		ends, err := execute(cmd, job, s)
		if err != nil {
			return schedule.Params{}, err
		}
		if len(ends) > 0 {
			times = append(times, ends)
		}
	}
	if len(times) == 0 {
		return schedule.Params{}, nil // this process was started as another rank
	}
	return loggops.Fit(times)
}

// execute runs a schedule on a machine and returns when each rank ended.
func execute(cmd *cobra.Command, job *job.Job, s *schedule.Schedule) ([]unit.Time, error) {
	x := program.Execution{Schedule: s}
	if job.Real() {
		return job.Time(cmd.Context(), "", func(c *mpi.Comm) error {
			x.Run(c)
			return nil
		})
	}
	w, err := job.World(cmd.Context(), 1)
	if err != nil {
		return nil, err
	}
	ends := make([]unit.Time, job.Ranks)
	err = mpi.Run(w, job.Options(""), func(c *mpi.Comm) error {
		ends[c.Rank()] = x.Run(c)
		return nil
	})
	return ends, err
}
