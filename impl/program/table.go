package program

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog"
	"github.com/loggp/loggp/impl/program/goal"
	"github.com/loggp/loggp/impl/program/npb"
	"github.com/loggp/loggp/impl/program/portable"
)

// Programs is the table: programs that ship with loggp, and then kinds of files.
var Programs = slices.Concat(mpiPrograms(), portablePrograms(), npbPrograms(), trafficPrograms(), []Program{goalFileProgram, executableFileProgram})

// ProgramNamed returns the program of a name, or of a file if it is the name of one.
func ProgramNamed(name string) (Program, bool) {
	for _, p := range Programs {
		switch {
		case p.matchesName == nil && p.Name == name:
			return p, true
		case p.matchesName != nil && p.matchesName(name):
			p.Name = name
			return p, true
		}
	}
	return Program{}, false
}

// Names returns the names of the programs that ship with loggp.
func Names() []string {
	var names []string
	for _, p := range Programs {
		if p.matchesName == nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// noteOnUnchargedComputing is the note of programs whose computing cannot be charged on this
// machine.
const noteOnUnchargedComputing = "What programs compute takes its own time."

// mpiPrograms are the programs that run with MPI and check their results.
func mpiPrograms() []Program {
	all := []Program{ringProgram, stencilProgram, matmulProgram, sortProgram, gradientProgram, broadcastsProgram, columnsProgram, svdProgram, sdsmProgram}
	for i := range all {
		all[i].checksResult, all[i].noteOnThisMachine = true, noteOnUnchargedComputing
	}
	return all
}

// portablePrograms are the programs that run with any library.
func portablePrograms() (all []Program) {
	for _, p := range portable.Programs {
		parameters := operationParameters
		if !p.ChargesOperations {
			parameters = sizeAndRoundsParameters
		}
		all = append(all, Program{
			Name: p.Name, Description: p.Description, Parameters: parameters, SizeUnit: p.SizeUnit, DrawsPicture: p.DrawsPicture,
			Defaults: Settings{Size: p.Defaults.Size, Rounds: p.Defaults.Rounds}, checksResult: true, noteOnThisMachine: noteOnUnchargedComputing,
			RunAny: func(x portable.Process, s *Settings, r *Result) error {
				rate, err := p.Run(x, portable.Settings{Size: s.Size, Rounds: s.Rounds, OperationTime: s.OperationTime})
				r.Rate, r.RateItems = &rate, p.Items
				return err
			},
		})
	}
	return all
}

// npbPrograms are the NAS Parallel Benchmarks.
func npbPrograms() (all []Program) {
	for _, b := range npb.Benchmarks {
		all = append(all, Program{
			Name: b.Name, Description: b.Description, Parameters: []string{"class", "operation"}, Classes: b.Classes, noteOnThisMachine: noteOnUnchargedComputing,
			Run: func(c *mpi.Comm, s *Settings, r *Result) error {
				result, err := b.Run(c, npb.Settings{Class: s.Class, OperationTime: s.OperationTime})
				r.Benchmark = &result
				return err
			},
			titleOfRun: func(_ Settings, r Result, _ int) string { return b.Name + ", class " + r.Benchmark.Class },
		})
	}
	return all
}

// goalFileProgram is a communication schedule in a file.
var goalFileProgram = Program{
	Name: "FILE.goal", Description: "a communication schedule, which ranks carry out by calls of MPI", HasNoCollectives: true, Parameters: []string{dataParameter},
	matchesName: func(name string) bool { return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".goal") },
	loadFile:    loadSchedule,
	noteOnTimes: func(_ Settings, ranks []Result) string {
		last := 0
		for rank, r := range ranks {
			if r.ScheduleTime > ranks[last].ScheduleTime {
				last = rank
			}
		}
		return fmt.Sprintf("The schedule takes %s us from its common start; rank %d ends last.", ranks[last].ScheduleTime.MicrosString(), last)
	},
}

// loadSchedule reads a schedule.
func loadSchedule(p *Program, e Environment, settings Settings) (func(), error) {
	s, err := e.ReadSchedule(p.Name)
	if err != nil {
		return nil, err
	}
	x := goal.Execution{Schedule: s, SizeOnlyMessages: settings.SizeOnlyMessages}
	if err := x.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	p.OnlyRankCount, p.loadFile = s.CountRanks(), nil // more runs need not read it again
	p.Run = func(c *mpi.Comm, _ *Settings, r *Result) error {
		r.ScheduleTime = x.Run(c)
		return nil
	}
	p.titleOfRun = func(Settings, Result, int) string {
		return fmt.Sprintf("%s, %d operations", filepath.Base(p.Name), s.CountOps())
	}
	return func() {}, nil
}

// executableFileProgram is a program in C or Fortran.
var executableFileProgram = Program{
	Name: "./PROGRAM", Description: "a program in C or Fortran that 'loggp cc' or 'loggp fc' has compiled, with its arguments",
	Parameters: []string{"compute", "stack", "limit", "spare", "tag-output", dataParameter}, IsExecutable: true, noteOnThisMachine: "Computing takes its own time.",
	matchesName: func(name string) bool { return strings.Contains(name, "/") },
	loadFile: func(p *Program, e Environment, s Settings) (func(), error) {
		x := &cprog.Program{
			Path: p.Name, Arguments: s.Arguments, Compute: s.ComputeCharge, StackBytes: s.StackBytes, StallLimit: s.ComputeTimeLimit, TagOutput: s.TagsOutputWithRank, SizeOnlyMessages: s.SizeOnlyMessages,
			Context: e.Context, RanksAreProcesses: e.IsThisMachine, Stdout: e.Stdout, Stderr: e.Stderr, AvailableMemory: e.AvailableMemory,
		}
		main, err := x.Main()
		if err != nil {
			return nil, err
		}
		p.exitStatus, p.Started = x.ExitError, x.RunSpawned
		if !e.IsThisMachine {
			p.checkSettings = func(_ Settings, ranks int) error { return x.ReserveRanks(ranks) }
		}
		p.Run = func(c *mpi.Comm, _ *Settings, _ *Result) error { return main(c) }
		p.titleOfRun = func(s Settings, _ Result, ranks int) string {
			title := fmt.Sprintf("%s, %d ranks", filepath.Base(p.Name), ranks-s.SpareRanks)
			if s.SpareRanks > 0 {
				title += fmt.Sprintf(" and %d spare", s.SpareRanks)
			}
			return title
		}
		p.noteOnTimes = func(Settings, []Result) string { return computeNote(x.Compute, x.InterruptedShare()) }
		return x.Close, nil
	},
}

// maxInterruptedShare is the part of the time of computing from which other work disturbs it, as in
// measurements of a processor.
const maxInterruptedShare = 0.05

// computeNote says what the computing of an executable was charged as, and whether other work had
// its processors for a part of the time.
func computeNote(c cprog.Compute, interrupted float64) string {
	warning := ""
	if interrupted > maxInterruptedShare {
		warning = fmt.Sprintf(" Warning: other work had the processors of computing ranks for %.0f %% of the time. It is not charged, but slows computing down: run again on a quiet machine.", 100*interrupted)
	}
	switch {
	case c.Rate > 0:
		return fmt.Sprintf("Computing takes as many cycles as here, at %s: %.3g times the processor time that it takes here.%s", formatClockRate(c.Rate), c.Factor, warning)
	case c.Factor > 0:
		return fmt.Sprintf("Computing takes %g times the processor time that it takes here.%s", c.Factor, warning)
	}
	return "Computing takes no time; --compute measured charges the time that it takes here."
}
