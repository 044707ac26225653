package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
)

// openRequestLaws are the laws of requests that a program leaves open: the program ends with one
// warning, and its messages arrive.
var openRequestLaws = []law{
	{name: "receives whose messages never come", ranks: 2, check: expectSuccessWithWarning(func(c *mpi.Comm) error {
		next := (c.Rank() + 1) % c.Size()
		mpi.Irecv(c, make([]byte, 100), next, 7)
		mpi.Irecv(c, make([]byte, 100_000), mpi.AnySource, 8)
		return nil
	})},
	{name: "receives whose messages come late", ranks: 2, check: expectSuccessWithWarning(func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Irecv(c, make([]byte, 10), mpi.AnySource, mpi.AnyTag)
			mpi.Irecv(c, make([]byte, 100_000), 1, 7)
			mpi.Irecv(c, make([]byte, 1000), 1, mpi.AnyTag)
			mpi.Send(c, []byte{1}, 1, 1)
			return nil
		}
		mpi.Recv(c, make([]byte, 1), 0, 1)
		mpi.Send(c, make([]byte, 10), 0, 7)
		mpi.Ssend(c, make([]byte, 100_000), 0, 7)
		mpi.Ssend(c, make([]byte, 1000), 0, 7)
		return nil
	})},
	{name: "receives into data with gaps", ranks: 2, check: expectSuccessWithWarning(func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.Irecv(newBufferOfTwoTypes(mpi.Int32, mpi.Float32), 1, 7)
			mpi.Send(c, []byte{1}, 1, 1)
			return nil
		}
		mpi.Recv(c, make([]byte, 1), 0, 1)
		c.Ssend(newBufferOfTwoTypes(mpi.Int32, mpi.Float32), 0, 7)
		return nil
	})},
	{name: "sends", ranks: 2, check: expectSuccessWithWarning(func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Isend(c, make([]byte, 100), 1, 7)
			mpi.Issend(c, make([]byte, 100_000), 1, 8)
			return nil
		}
		mpi.Recv(c, make([]byte, 100_000), 0, 8)
		mpi.Recv(c, make([]byte, 100), 0, 7)
		return nil
	})},
	{name: "both ends", ranks: 2, check: expectSuccessWithWarning(func(c *mpi.Comm) error {
		mpi.Irecv(c, make([]byte, 100_000), 1-c.Rank(), 7)
		mpi.Isend(c, make([]byte, 100_000), 1-c.Rank(), 7)
		return nil
	})},
	{name: "persistent requests", ranks: 2, check: expectSuccessWithWarning(func(c *mpi.Comm) error {
		b := make([]byte, 10)
		c.SendInit(mpi.BufferOf(b), 1-c.Rank(), 7)
		r := c.RecvInit(mpi.BufferOf(b), 1-c.Rank(), 7)
		r.Start()
		return nil
	})},
	{name: "requests that are complete", ranks: 2, check: expectSuccessWithWarning(func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Irecv(c, make([]byte, 10), 1, 7)
			c.Probe(1, 8)
			mpi.Recv(c, make([]byte, 10), 1, 8)
			return nil
		}
		mpi.Send(c, make([]byte, 10), 0, 7)
		mpi.Send(c, make([]byte, 10), 0, 8)
		return nil
	})},
}

// wrongProgramsWithOpenRequests are wrong programs that also leave requests open. The other error
// takes precedence.
var wrongProgramsWithOpenRequests = []law{
	{name: "a deadlock beside an open receive", ranks: 2, check: expectFailureWithWarning("rank 1: in Recv", func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Irecv(c, make([]byte, 10), 1, 7)
			return nil
		}
		mpi.Recv(c, make([]byte, 10), 0, 7)
		return nil
	})},
	{name: "a lost message beside an open receive", ranks: 2, check: expectFailureWithWarning("with tag 6", func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Irecv(c, make([]byte, 10), 1, 7)
			mpi.Send(c, make([]byte, 10), 1, 1)
			return nil
		}
		mpi.Send(c, make([]byte, 10), 0, 6)
		mpi.Recv(c, make([]byte, 10), 0, 1)
		return nil
	})},
}

// expectSuccessWithWarning checks that a program ends without an error, with one warning about open
// requests.
func expectSuccessWithWarning(program func(c *mpi.Comm) error) func(testing.TB, *Subject, World) error {
	return func(t testing.TB, s *Subject, w World) error { return runWithWarning(t, s, w, program) }
}

// expectFailureWithWarning checks that a program fails with a text, and with that warning.
func expectFailureWithWarning(text string, program func(c *mpi.Comm) error) func(testing.TB, *Subject, World) error {
	return func(t testing.TB, s *Subject, w World) error {
		if err := runWithWarning(t, s, w, program); err == nil || !strings.Contains(err.Error(), text) {
			return fmt.Errorf("the job returned %v, want an error with %q", err, text)
		}
		return nil
	}
}

func runWithWarning(t testing.TB, s *Subject, w World, program func(c *mpi.Comm) error) error {
	var warnings []mpi.Warning
	ranks := 2
	if w.CanHold(3) {
		ranks = 3
	}
	err := s.run(t, w, ranks, mpi.Options{Check: mpi.CheckWarn, OnWarning: func(x mpi.Warning) { warnings = append(warnings, x) }}, func(c *mpi.Comm) error {
		pair := c.Split(c.Rank()/2, 0)
		if pair.Size() == 1 {
			return nil
		}
		return program(pair)
	})
	if len(warnings) != 1 || warnings[0].Kind != mpi.RequestsLeftOpen || warnings[0].CallSite.Line == 0 && warnings[0].Call != mpi.FinalizeCall {
		return fmt.Errorf("the job returned %v, with the warnings %v", err, warnings)
	}
	return err
}
