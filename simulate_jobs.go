package loggp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/flow"
	"github.com/loggp/loggp/model/schedule/pattern"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Job is a workload on some ranks of a machine.
type Job struct {
	*Workload
	Name  string
	Ranks []int // of the machine, in the order of the workload's
}

// JobTime is how long a job takes alone on its ranks, and beside the others.
type JobTime struct {
	Name            string
	Ranks           int
	Alone, Together unit.Time
}

// SlowDown returns how many times as long the job takes beside the others.
func (t JobTime) SlowDown() float64 { return float64(t.Together) / float64(max(t.Alone, 1)) }

// SharedPart is a part of the machine that several jobs use, with the time for which each keeps it
// busy.
type SharedPart struct {
	Name string
	Busy []unit.Time // by job
}

// JobsSimulation is the outcome of SimulateJobs.
type JobsSimulation struct {
	Jobs     []JobTime
	Shared   []SharedPart // the busiest first
	document *doc.Document
}

// Document has the times of jobs, and what they share.
func (s *JobsSimulation) Document() *doc.Document { return s.document }

// SimulateJobs simulates jobs by flows that run at the same time on one machine, and each of them
// alone.
func SimulateJobs(ctx context.Context, jobs []Job, o FlowOptions) (*JobsSimulation, error) {
	if o.Platform == "" {
		return nil, optionErrorf("Platform", "jobs share the links of a machine: name one")
	}
	ranks := 0
	for _, job := range jobs {
		ranks = max(ranks, slices.Max(job.Ranks)+1)
	}
	simulate := func(some []Job) (*flow.Result, *model.Machine, error) {
		var placed []workload.PlacedJob
		expansion := some[0].expansion
		for _, job := range some {
			placed = append(placed, workload.PlacedJob{Name: job.Name, Workload: job.Workload.Workload, Ranks: job.Ranks})
		}
		joined, err := workload.JoinJobs(placed, ranks)
		if err != nil {
			return nil, nil, err
		}
		return o.simulate(ctx, &Workload{Workload: joined, name: "jobs", expansion: expansion}, "", "")
	}
	together, machine, err := simulate(jobs)
	if err != nil {
		return nil, err
	}
	s := &JobsSimulation{}
	busy := map[model.Component][]unit.Time{}
	for i, job := range jobs {
		alone, _, err := simulate(jobs[i : i+1])
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", job.Name, err)
		}
		t := JobTime{Name: job.Name, Ranks: len(job.Ranks), Alone: alone.Finish}
		for _, r := range job.Ranks {
			t.Together = max(t.Together, together.RankFinish[r])
		}
		s.Jobs = append(s.Jobs, t)
		for _, p := range alone.PartLoads() {
			if busy[p.Component] == nil {
				busy[p.Component] = make([]unit.Time, len(jobs))
			}
			busy[p.Component][i] = p.Busy
		}
	}
	for _, p := range together.PartLoads() {
		users := 0
		for _, t := range busy[p.Component] {
			if t > 0 {
				users++
			}
		}
		if users > 1 {
			s.Shared = append(s.Shared, SharedPart{partName(machine, p.Component), busy[p.Component]})
		}
	}
	s.document = &doc.Document{Title: fmt.Sprintf("%d jobs on %s", len(jobs), o.Platform), Answer: s.answer(), Footer: "Made by loggp."}
	s.document.AddTables("jobs", "Jobs", s.jobsTable(), s.sharedTable(together.Finish))
	return s, addPlatformError(s.document, o.Platform, o.Library)
}

// answer says which job is slowed down most.
func (s *JobsSimulation) answer() string {
	most := slices.MaxFunc(s.Jobs, func(a, b JobTime) int {
		if a.SlowDown() < b.SlowDown() {
			return -1
		}
		return 1
	})
	switch {
	case len(s.Shared) == 0:
		return "The jobs share no part of the machine."
	case most.SlowDown() < 1.0005:
		return fmt.Sprintf("No job is slowed down, though they share %s.", partsText(len(s.Shared)))
	}
	return fmt.Sprintf("%s takes %.3f times as long as alone; the jobs share %s.", most.Name, most.SlowDown(), partsText(len(s.Shared)))
}

func partsText(n int) string { return format.Plural(n, "part") + " of the machine" }

func (s *JobsSimulation) jobsTable() *doc.Table {
	t := &doc.Table{Name: "jobs", Title: "Time of jobs", Columns: []doc.Column{{Heading: "job", IsKey: true}, {Heading: "ranks", Kind: doc.NumberColumn}, {Heading: "alone\nus", Kind: doc.NumberColumn}, {Heading: "together\nus", Kind: doc.NumberColumn}, {Heading: "slow-down", Field: "slow_down", Kind: doc.NumberColumn}}}
	for _, j := range s.Jobs {
		t.AddRow(doc.TextCell(j.Name), doc.CountCell(j.Ranks), microsCell(j.Alone), microsCell(j.Together), doc.TextCell(fmt.Sprintf("%.3f", j.SlowDown())))
	}
	return t
}

// maxSharedRows is how many shared parts are listed.
const maxSharedRows = 10

func (s *JobsSimulation) sharedTable(finish unit.Time) *doc.Table {
	t := &doc.Table{Name: "shared", Title: "Parts of the machine that jobs share", Columns: []doc.Column{{Heading: "part", IsKey: true}}}
	for i, j := range s.Jobs {
		t.Columns = append(t.Columns, doc.Column{Heading: "busy with " + j.Name + "\nus", Field: fmt.Sprintf("busy_%d_us", i+1), Kind: doc.NumberColumn})
	}
	t.Columns = append(t.Columns, doc.Column{Heading: "share\n%", Kind: doc.NumberColumn})
	for _, p := range s.Shared[:min(len(s.Shared), maxSharedRows)] {
		row, sum := []doc.Cell{doc.TextCell(p.Name)}, unit.Time(0)
		for _, b := range p.Busy {
			row, sum = append(row, microsCell(b)), sum+b
		}
		t.AddRow(append(row, doc.TextCell(percentText(busyShare(sum, finish))))...)
	}
	if more := len(s.Shared) - maxSharedRows; more > 0 {
		t.AddNote("Other shared parts, busy for less of the time: %d", more)
	}
	return t
}

// SplitJob splits the name of a file and the ranks of a job, such as a.yaml@0-31,64-95.
func SplitJob(text string) (file string, ranks []int, err error) {
	const example = "write a workload and its ranks, as step.yaml@0-31,64-95"
	i := strings.LastIndex(text, "@")
	if i <= 0 {
		return "", nil, errors.New(example)
	}
	if ranks, err = pattern.ParseRanks(text[i+1:]); err != nil {
		return "", nil, fmt.Errorf("%w: %s", err, example)
	}
	return text[:i], ranks, nil
}
