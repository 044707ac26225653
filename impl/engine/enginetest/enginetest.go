// Package enginetest states the laws of package engine as tests, which every engine has to pass.
//
// The test of an engine's package calls Test with each library that uses a different part of the
// engine. A law is a program of package mpi, because the rules are those of MPI-1.2, or a check of
// an engine.Rank if package mpi cannot observe the result. Ranks of a world may be processes, so
// programs share only what they send.
//
// The suite does not check times, packets, or buffering. These are specific to an engine, and its
// package tests them.
package enginetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const microsecond = unit.Microsecond

// Subject is an engine with a library to be tested.
type Subject struct {
	Name          string
	NewJobEngines engine.NewJobEnginesFunc
	Library       func() *model.Library // returns a new library for each job, because an emulated machine sets its software costs
	Worlds        []World               // worlds to test in; nil: those of Worlds

	// CheckNothingHeld returns an error if the engine of a rank that has ended still holds
	// resources; nil: it has only operations.
	CheckNothingHeld func(e engine.Engine) error
}

// law is a program that must succeed with every engine, a wrong program with its error, or a check.
type law struct {
	name       string
	ranks      int
	program    func(c *mpi.Comm) error
	checkError func(err error) error // checks the error of a wrong program
	check      func(t testing.TB, s *Subject, w World) error
}

// laws are all laws, in groups.
var laws = []struct {
	group string
	laws  []law
}{
	{"messages", messageLaws},
	{"requests", requestLaws},
	{"cancel", cancelLaws},
	{"progress", progressLaws},
	{"wrong", wrongPrograms},
	{"open requests", openRequestLaws},
	{"open requests of wrong programs", wrongProgramsWithOpenRequests},
	{"leftovers", memoryLaws},
	{"random", []law{{name: "programs", check: checkRandomPrograms}}},
}

// Test tests that an engine keeps the laws.
func Test(t *testing.T, s Subject) {
	t.Run(s.Name, func(t *testing.T) {
		worlds := s.Worlds
		if worlds == nil {
			worlds = Worlds()
		}
		for _, w := range worlds {
			t.Run(w.Name, func(t *testing.T) {
				for _, g := range laws {
					for _, l := range g.laws {
						t.Run(g.group+"/"+l.name, func(t *testing.T) {
							if why := l.reasonToSkip(w); why != "" {
								t.Skip(why)
							}
							if err := l.checkLaw(t, &s, w); err != nil {
								t.Error(err)
							}
						})
					}
				}
			})
		}
	})
}

// reasonToSkip says why a law does not apply to a world, or returns "".
func (l *law) reasonToSkip(w World) string {
	switch {
	case !w.CanHold(l.ranks):
		return fmt.Sprintf("it has at most %d ranks", w.MaxRanks())
	case w.LosesFrames && l.name != "programs":
		return "the law is for machines without faults"
	case w.RanksAreProcesses && l.checkError != nil:
		return "impl/library/mpi tests the errors of processes"
	case w.RanksAreProcesses && RaceDetectorOn:
		return "the race detector does not see between processes"
	case RaceDetectorOn && strings.HasPrefix(l.name, allocationLaws):
		return "the race detector allocates"
	}
	return ""
}

// checkLaw returns an error if an engine violates the law in a world.
func (l *law) checkLaw(t testing.TB, s *Subject, w World) error {
	if l.check != nil {
		return l.check(t, s, w)
	}
	if l.checkError != nil {
		return l.checkError(s.run(t, w, l.ranks, mpi.Options{Check: mpi.CheckStrict}, l.program))
	}
	return s.run(t, w, l.ranks, mpi.Options{}, l.program)
}

// maxJobDuration is the time limit of a job. The longest jobs take seconds.
var maxJobDuration = time.Minute

// run runs a job and fails if it exceeds the time limit.
func (s *Subject) run(t testing.TB, w World, ranks int, o mpi.Options, p func(c *mpi.Comm) error) error {
	o.Library, o.Engine = s.Library(), s.NewJobEngines
	world := w.Open(t, o.Library, ranks)
	if w.RanksAreProcesses {
		return mpi.Run(world, o, p) // a rank that is a process ends in it
	}
	return devicetest.RunWithin(maxJobDuration, func() error { return mpi.Run(world, o, p) })
}

// checkReceived compares a received message with the expected status and the text of a seed.
func checkReceived(what string, got mpi.Status, b []byte, want mpi.Status, seed int) error {
	if got != want {
		return fmt.Errorf("%s: status %+v, want %+v", what, got, want)
	}
	if !bytes.Equal(b[:want.Bytes], program.Payload(want.Bytes, seed)) {
		return fmt.Errorf("%s: %d bytes that are not those of message %d", what, want.Bytes, seed)
	}
	return nil
}

// recvAndCheck receives a message and compares it.
func recvAndCheck(c *mpi.Comm, src, tag int, want mpi.Status, seed int) error {
	b := make([]byte, want.Bytes)
	return checkReceived(fmt.Sprintf("rank %d, Recv(%d, %d)", c.Rank(), src, tag), mpi.Recv(c, b, src, tag), b, want, seed)
}

// firstError returns the first error.
func firstError(errs ...error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// NewStandaloneRank returns a rank with an engine, without package mpi.
func NewStandaloneRank[E engine.Engine](p device.Port, m engine.JobEngines) (*engine.Rank, E) {
	e, r := m.Engines(1)(0).(E), new(engine.Rank)
	r.Setup(p, e, &engine.Config{})
	return r, e
}
