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
var Programs = slices.Concat(mpiPrograms(), portablePrograms(), benchmarks(), trafficPrograms(), []Program{goalFile, executableFile})

// Named returns the program of a name, or of a file if it is the name of one.
func Named(name string) (Program, bool) {
	for _, p := range Programs {
		switch {
		case p.names == nil && p.Name == name:
			return p, true
		case p.names != nil && p.names(name):
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
		if p.names == nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// builtInNote is the note of programs whose computing cannot be charged on this machine.
const builtInNote = "What programs compute takes its own time."

// mpiPrograms are the programs that run with MPI and check their results.
func mpiPrograms() []Program {
	all := []Program{ring, stencil, matmul, sorting, gradient, broadcasts, columns, svd, sdsm}
	for i := range all {
		all[i].isChecked, all[i].notEmulated = true, builtInNote
	}
	return all
}

// portablePrograms are the programs that run with any library.
func portablePrograms() (all []Program) {
	for _, p := range portable.Programs {
		parameters := withOperations
		if !p.Computes {
			parameters = sizeAndRounds
		}
		all = append(all, Program{
			Name: p.Name, Description: p.Description, Parameters: parameters, SizeUnit: p.SizeUnit, DrawsPicture: p.DrawsPicture,
			Defaults: Settings{Size: p.Defaults.Size, Rounds: p.Defaults.Rounds}, isChecked: true, notEmulated: builtInNote,
			RunAny: func(x portable.Process, s Settings) (Result, error) {
				r, err := p.Run(x, portable.Settings{Size: s.Size, Rounds: s.Rounds, Operation: s.Operation})
				return Result{Rate: &r, Items: p.Items}, err
			},
		})
	}
	return all
}

// benchmarks are the NAS Parallel Benchmarks.
func benchmarks() (all []Program) {
	for _, b := range npb.Benchmarks {
		all = append(all, Program{
			Name: b.Name, Description: b.Description, Parameters: []string{"class", "operation"}, Classes: b.Classes, notEmulated: builtInNote,
			Run: func(c *mpi.Comm, s Settings) (Result, error) {
				r, err := b.Run(c, npb.Settings{Class: s.Class, Operation: s.Operation})
				return Result{Benchmark: &r}, err
			},
			title: func(_ Settings, r Result, _ int) string { return b.Name + ", class " + r.Benchmark.Class },
		})
	}
	return all
}

// goalFile is a communication schedule in a file.
var goalFile = Program{
	Name: "FILE.goal", Description: "a communication schedule, which ranks carry out by calls of MPI", PointToPoint: true,
	names: func(name string) bool { return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".goal") },
	load:  loadSchedule,
	note: func(_ Settings, ranks []Result) string {
		last := 0
		for rank, r := range ranks {
			if r.Time > ranks[last].Time {
				last = rank
			}
		}
		return fmt.Sprintf("The schedule takes %s us from its common start; rank %d ends last.", ranks[last].Time.MicrosString(), last)
	},
}

// loadSchedule reads a schedule.
func loadSchedule(p *Program, e Environment, _ Settings) (func(), error) {
	s, err := e.ReadSchedule(p.Name)
	if err != nil {
		return nil, err
	}
	x := goal.Execution{Schedule: s}
	if err := x.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	p.Ranks, p.load = s.Ranks(), nil // more runs need not read it again
	p.Run = func(c *mpi.Comm, _ Settings) (Result, error) { return Result{Time: x.Run(c)}, nil }
	p.title = func(Settings, Result, int) string {
		return fmt.Sprintf("%s, %d operations", filepath.Base(p.Name), s.Ops())
	}
	return func() {}, nil
}

// executableFile is a program in C or Fortran.
var executableFile = Program{
	Name: "./PROGRAM", Description: "a program in C or Fortran that 'loggp cc' or 'loggp fc' has compiled, with its arguments",
	Parameters: []string{"compute", "stack", "limit", "tag-output"}, Executable: true, notEmulated: "Computing takes its own time.",
	names: func(name string) bool { return strings.Contains(name, "/") },
	load: func(p *Program, e Environment, s Settings) (func(), error) {
		x := &cprog.Program{
			Path: p.Name, Arguments: s.Arguments, Compute: s.Compute, Stack: s.Stack, Limit: s.Limit, Tag: s.TagOutput,
			Context: e.Context, Real: e.IsThisMachine, Stdout: e.Stdout, Stderr: e.Stderr, AvailableMemory: e.AvailableMemory,
		}
		main, err := x.Main()
		if err != nil {
			return nil, err
		}
		p.status = x.Status
		if !e.IsThisMachine {
			p.check = func(_ Settings, ranks int) error { return x.ReserveRanks(ranks) }
		}
		p.Run = func(c *mpi.Comm, _ Settings) (Result, error) { return Result{}, main(c) }
		p.title = func(_ Settings, _ Result, ranks int) string {
			return fmt.Sprintf("%s, %d ranks", filepath.Base(p.Name), ranks)
		}
		p.note = func(Settings, []Result) string { return computeNote(x.Compute, x.InterruptedShare()) }
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
