// Package program has the table of programs that a job can run: small parallel programs that ship
// with loggp, the NAS Parallel Benchmarks, traffic on the network, communication schedules in GOAL
// files, and executables that were compiled from C or Fortran.
//
// Programs that ship with loggp compare machines and libraries by their run time. Each works on
// real data, charges the time of its computation and checks its result; svd above 2,000 rows
// charges and communicates only.
package program

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog"
	"github.com/loggp/loggp/impl/program/npb"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// Program is a row of the table. Run is its code for each rank, which sets the rank's result. It
// returns an error if the result is wrong or the settings are invalid. A program that is read from
// a file has no Run before Load.
type Program struct {
	Name, Description string
	Parameters        []string // names of the parameters that it takes
	SizeUnit          string   // what Settings.Size counts
	Classes           string   // letters of the classes of a NAS Parallel Benchmark
	Defaults          Settings
	MaxSize           int  // largest Settings.Size; 0: 1 Mi
	DrawsPicture      bool // its result has one
	HasFlows          bool // its result does, so that the load of links can be drawn
	HasNoCollectives  bool // it makes no call of a collective operation, which could be forced to an algorithm
	IsExecutable      bool // its arguments and its output are its own
	UsesSeed          bool // of Settings
	OnlyRankCount     int  // the only number of ranks that it runs on; 0: any

	Run    func(c *mpi.Comm, s *Settings, r *Result) error
	RunAny func(p portable.Process, s *Settings, r *Result) error // instead of Run, with any message-passing library

	Started func(world, parent *mpi.Comm, start []byte) error // of an executable: the programs that it starts, for mpi.Options

	matchesName       func(name string) bool // whether a name is that of a file of this kind; nil: Name is the only one
	loadFile          func(p *Program, e Environment, s Settings) (closing func(), err error)
	checkSettings     func(s Settings, ranks int) error
	titleOfRun        func(s Settings, r Result, ranks int) string
	noteOnTimes       func(s Settings, ranks []Result) string
	exitStatus        func() error // with which the program has ended, after the run
	noteOnThisMachine string       // the note of a run on this machine
	checksResult      bool         // the title says that the result is correct
	whyNeedsData      string       // why it cannot run without data, if that is not obvious
}

// Settings are the values of the parameters of a program. A program ignores those that it does not
// have.
type Settings struct {
	Size               int         // of the problem, in units of Program.SizeUnit
	Rounds             int         // repetitions
	OperationTime      unit.Time   // average time of an arithmetic operation or comparison, with its memory accesses
	LoopStartTime      unit.Time   // to begin a loop over a vector, in programs that count these
	IndirectAccessTime unit.Time   // an access to memory by an index that is read before it, likewise
	Cache              model.Cache // of a processor, likewise

	Class  string // of a NAS Parallel Benchmark: S, W or A; "": S
	Stride int    // of shift: distance to the rank that a rank sends to
	Root   int    // of incast: the rank that all others send to
	Seed   uint64 // of permutation

	SizeOnlyMessages bool // messages have lengths, but no contents

	Arguments          []string      // of an executable
	ComputeCharge      cprog.Compute // virtual time of an executable's computing
	StackBytes         int           // bytes of the stack of each rank of an executable
	ComputeTimeLimit   time.Duration // that a rank of an executable may compute without a call; 0: any
	SpareRanks         int           // on which an executable may start programs
	TagsOutputWithRank bool          // begin each line of an executable's output with the rank
}

// ScaleTo returns the settings with the times of a processor.
func (s Settings) ScaleTo(p model.Processor) Settings {
	s.OperationTime, s.LoopStartTime, s.IndirectAccessTime, s.Cache = p.Operation, p.Loop, p.Indirect, p.Cache
	return s
}

// Result is what a rank knows at the end of a program. Which fields are set depends on the program.
type Result struct {
	Flows        []model.Flow     // of traffic, at rank 0
	Benchmark    *npb.Result      // of a NAS Parallel Benchmark
	Rate         *portable.Result // of a program for any library
	RateItems    string           // what Rate counts
	ScheduleTime unit.Time        // that the rank's part of a schedule took
}

// Environment is what programs that are read from files need of the job that runs them.
type Environment struct {
	Context        context.Context
	IsThisMachine  bool // ranks are processes, and time is real
	Stdout, Stderr io.Writer
	ReadSchedule   func(file string) (*schedule.Schedule, error)

	AvailableMemory func() int64 // how much memory this process may still use, or -1
}

// Load reads the file of a program, for one run. Others it returns as they are. Call the function
// that it returns after the run.
func (p Program) Load(e Environment, s Settings) (Program, func(), error) {
	if p.loadFile == nil {
		return p, func() {}, nil
	}
	closing, err := p.loadFile(&p, e, s)
	return p, closing, err
}

// Check returns an error if the program cannot run with these settings on so many ranks.
func (p Program) Check(s Settings, ranks int) error {
	if p.checkSettings == nil {
		return nil
	}
	return p.checkSettings(s, ranks)
}

// Title names a run of the program on a machine.
func (p Program) Title(s Settings, r Result, ranks int, machine, library string) string {
	what := fmt.Sprintf("%s, %s %d, rounds %d", p.Name, p.SizeUnit, s.Size, s.Rounds)
	if p.titleOfRun != nil {
		what = p.titleOfRun(s, r, ranks)
	}
	what += ", on " + machine + ", " + library
	switch {
	case p.checksResult && s.SizeOnlyMessages:
		what += ": result not checked, because messages had no contents"
	case p.checksResult:
		what += ": result correct"
	}
	return what
}

// Status returns an error after a run that has ended well if an executable has ended with a status
// other than 0.
func (p Program) Status() error {
	if p.exitStatus == nil {
		return nil
	}
	return p.exitStatus()
}

// Note says on what the times of a run depend.
func (p Program) Note(s Settings, ranks []Result, isThisMachine bool) string {
	switch {
	case isThisMachine && p.noteOnThisMachine != "":
		return p.noteOnThisMachine
	case p.noteOnTimes != nil:
		return p.noteOnTimes(s, ranks)
	}
	return fmt.Sprintf("One operation takes %v.", s.OperationTime)
}

// Usage describes the program and the defaults of its parameters, in a line of help.
func (p Program) Usage() string {
	switch {
	case p.Classes != "":
		return fmt.Sprintf("%s (--class: %s)", p.Description, strings.Join(strings.Split(p.Classes, ""), ", "))
	case p.IsTraffic():
		return fmt.Sprintf("%s (--size: %s)", p.Description, p.SizeUnit)
	case p.SizeUnit != "":
		return fmt.Sprintf("%s (--size: %s, %d unless given)", p.Description, p.SizeUnit, p.Defaults.Size)
	}
	return p.Description
}

// withoutResult makes a row's Run of a function that has no result but that it is right.
func withoutResult(run func(c *mpi.Comm, s *Settings) error) func(*mpi.Comm, *Settings, *Result) error {
	return func(c *mpi.Comm, s *Settings, _ *Result) error { return run(c, s) }
}

// chargeOperations occupies the processor for a number of operations.
func chargeOperations(c *mpi.Comm, s *Settings, operations int) {
	c.Compute(s.OperationTime.Times(operations))
}

// splitRange returns a rank's part of n items: those from first to end−1. Parts are as equal as
// possible.
func splitRange(n, ranks, rank int) (first, end int) {
	return rank * n / ranks, (rank + 1) * n / ranks
}

// resultError returns the error of a wrong result.
func resultError(c *mpi.Comm, format string, args ...any) error {
	return fmt.Errorf("rank %d: wrong result: %s", c.Rank(), fmt.Sprintf(format, args...))
}

// agreeOnError returns an error on every rank if any rank has one, so that all ranks stop together.
func agreeOnError(c *mpi.Comm, err error) error {
	counts := []int32{0, 0} // of this rank, and of all
	if err != nil {
		counts[0] = 1
	}
	mpi.Allreduce(c, counts[:1], counts[1:], mpi.Sum)
	if err == nil && counts[1] > 0 {
		err = errorOfOtherRanks(c, counts[1])
	}
	return err
}

// errorOfOtherRanks is a separate function so that ranks that wait in agreeOnError have small
// frames.
//
//go:noinline
func errorOfOtherRanks(c *mpi.Comm, others int32) error {
	return fmt.Errorf("rank %d: the result of %d other ranks is wrong", c.Rank(), others)
}

// checkLinesPerRank returns an error if some ranks would get none of n lines.
func checkLinesPerRank(n, ranks int) error {
	if n < ranks {
		return fmt.Errorf("%d lines of points are too few for %d ranks in a row: take a larger problem, or fewer ranks", n, ranks)
	}
	return nil
}
