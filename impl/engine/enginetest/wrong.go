package enginetest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// wrongPrograms are wrong programs with their errors.
var wrongPrograms = []law{
	{name: "ready without a receive", ranks: 2, checkError: expectError(1, "", engine.ErrOther, "ready message of 600 bytes with tag 3"), program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Rsend(c, make([]byte, 600), 1, 3)
			mpi.Recv[byte](c, nil, 1, 0)
			return nil
		}
		mpi.Irecv(c, make([]byte, 600), 0, 4) // another tag
		c.Probe(0, 3)
		return nil
	}},
	{name: "truncation of what was expected", ranks: 2, checkError: expectError(1, "Recv", engine.ErrTruncate, "from rank 0 with tag 3 has 2000 bytes, the receive has room for 1999"), program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Recv[byte](c, nil, 1, 0)
			mpi.Send(c, make([]byte, 2000), 1, 3)
			return nil
		}
		mpi.Send[byte](c, nil, 0, 0)
		mpi.Recv(c, make([]byte, 1999), 0, 3)
		return nil
	}},
	{name: "truncation of what came early", ranks: 2, checkError: expectError(1, "Irecv", engine.ErrTruncate, "from rank 0 with tag 3 has 1 bytes, the receive has room for 0"), program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Send(c, make([]byte, 1), 1, 3)
			return nil
		}
		c.Probe(0, 3)
		mpi.Irecv[byte](c, nil, 0, 3)
		return nil
	}},
	{name: "elements of another type", ranks: 2, checkError: expectError(1, "Recv", engine.ErrType, "of Float64, the receive of Int64"), program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Send(c, make([]float64, 40), 1, 3)
			return nil
		}
		mpi.Recv(c, make([]int64, 50), 0, 3)
		return nil
	}},
	{name: "elements in another order", ranks: 2, checkError: expectError(1, "Irecv", engine.ErrType, "of elements of several kinds, the receive of elements of several kinds"), program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.Send(newBufferOfTwoTypes(mpi.Int32, mpi.Float32), 1, 3)
			return nil
		}
		c.Probe(0, 3)
		c.Irecv(newBufferOfTwoTypes(mpi.Float32, mpi.Int32), 0, 3)
		return nil
	}},
	{name: "part of an element of another type", ranks: 2, checkError: expectError(1, "Recv", engine.ErrType, "of Float32, the receive of Int32"), program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Send(c, make([]float32, 1), 1, 3)
			return nil
		}
		c.Recv(newBufferOfTwoTypes(mpi.Int32, mpi.Float32), 0, 3)
		return nil
	}},
	{name: "buffered without a buffer", ranks: 2, checkError: expectError(0, "Bsend", engine.ErrBuffer, "attached buffer has 0 bytes"), program: programOfRank0(func(c *mpi.Comm) { mpi.Bsend[byte](c, nil, 1, 0) })},
	{name: "a buffer that is too small", ranks: 2, checkError: expectError(0, "Ibsend", engine.ErrBuffer, "no room for a message of 100 bytes"), program: programOfRank0(func(c *mpi.Comm) {
		c.AttachBuffer(make([]byte, 100+mpi.BsendOverhead-1))
		mpi.Ibsend(c, make([]byte, 100), 1, 0)
	})},
	{name: "receives are left", ranks: 2, checkError: expectError(0, "Finalize", engine.ErrRequest, " waits for a message from rank 1 with tag 7"), program: programOfRank0(func(c *mpi.Comm) {
		mpi.Irecv(c, make([]byte, 8), 1, 7)
		mpi.Irecv(c, make([]byte, 8), 1, 8)
	})},
	{name: "a send is left", ranks: 2, checkError: expectError(0, "Finalize", engine.ErrRequest, " waits for rank 1 to take a synchronous message of 8 bytes with tag 7 (protocol "), program: programOfRank0(func(c *mpi.Comm) {
		r := mpi.Irecv(c, make([]byte, 8), 0, 7)
		r.Free()
		r = mpi.Issend(c, make([]byte, 8), 1, 6)
		mpi.Issend(c, make([]byte, 8), 1, 7)
		r.Free()
	})},
	{name: "a complete send is left", ranks: 2, checkError: expectError(0, "Finalize", engine.ErrRequest, "1 request was neither completed nor freed; the first waits for nothing, being complete"), program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 100))
			mpi.Ibsend(c, make([]byte, 8), 1, 7)
			return nil
		}
		mpi.Recv(c, make([]byte, 8), 0, 7)
		return nil
	}},
	{name: "a cancel is left", ranks: 2, checkError: expectError(0, "Finalize", engine.ErrRequest, "waits for rank 1 to say whether it can do without a synchronous message of 8 bytes with tag 7", "waits for nothing, being complete"), program: programOfRank0(func(c *mpi.Comm) {
		r := mpi.Issend(c, make([]byte, 8), 1, 7)
		r.Cancel()
	})},
	{name: "a message is not received", ranks: 2, checkError: expectNotReceivedError, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			r, s := mpi.Isend(c, make([]byte, 100), 1, 5), mpi.Isend(c, make([]byte, 200), 1, 6)
			r.Free()
			s.Free()
			return nil
		}
		c.Probe(0, 6)
		return nil
	}},
	{name: "a deadlock", ranks: 5, checkError: expectDeadlock, program: func(c *mpi.Comm) error {
		switch c.Rank() {
		case 0:
			mpi.Recv[byte](c, nil, 1, 7)
		case 1:
			c.Probe(mpi.AnySource, 8)
		case 2:
			mpi.Ssend(c, make([]byte, 10000), 0, 9)
		case 3:
			c.Create(c.Group().Include([]int{0, 1, 2, 3, 4})).Barrier()
		case 4:
			c.AttachBuffer(make([]byte, 20000))
			reqs := []mpi.Request{{}, mpi.Irecv[byte](c, nil, mpi.AnySource, mpi.AnyTag)}
			mpi.WaitAny(reqs)
		}
		return nil
	}},
}

// expectError expects an error of a rank in a call, with a class and one of the texts: the progress
// of operations may depend on the engine.
func expectError(rank int, call string, class engine.ErrorClass, texts ...string) func(error) error {
	return func(err error) error {
		var e *mpi.Error
		if !errors.As(err, &e) || e.Rank != rank || call != "" && e.Call != call || e.Class != class ||
			!slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(e.Text, text) }) {
			return fmt.Errorf("the job returned %v\nwant rank %d: %s: %s with %q", err, rank, call, class, texts)
		}
		return nil
	}
}

// expectNotReceivedError expects an error about the message with tag 5. It depends on the protocol
// whether the receiver knows that the message is not received, or waits for its cancellation, or
// the sender waits for its receive.
func expectNotReceivedError(err error) error {
	if err != nil && strings.Contains(err.Error(), "with tag 5") && regexp.MustCompile("not received|waits for 2 operations").MatchString(err.Error()) {
		return nil
	}
	return fmt.Errorf("the job returned %v, want an error about the message with tag 5", err)
}

// expectDeadlock expects a report about five ranks.
func expectDeadlock(err error) error {
	var d *mpi.DeadlockError
	var below *device.Deadlock
	if !errors.As(err, &d) || !errors.As(err, &below) || len(below.Ranks) != 5 {
		return fmt.Errorf("the job returned %v, want a deadlock of 5 ranks", err)
	}
	got := regexp.MustCompile(` \(\w+\.go:\d+\)`).ReplaceAllString(err.Error(), "") // without source lines
	for _, want := range []string{
		"rank 0: in Recv, waits for a message from rank 1 with tag 7",
		"rank 1: in Probe, waits for a message from any rank with tag 8",
		"rank 2: in Ssend, waits for rank 0 to take a synchronous message of 10000 bytes with tag 9 (protocol ",
		"rank 3: in Create, waits for ",
		"rank 4: in WaitAny, waits for a message from any rank with any tag",
	} {
		if !strings.Contains(got, want) {
			return fmt.Errorf("%s\ndoes not say %q", got, want)
		}
	}
	return nil
}

// newBufferOfTwoTypes returns a buffer of three elements, each with a value of both types and a gap
// in between.
func newBufferOfTwoTypes(first, second *mpi.Datatype) mpi.Buffer {
	t := mustCommit(datatype.Struct([]int{1, 1}, []int{0, 8}, []*mpi.Datatype{first, second}))
	return mpi.Buffer{Bytes: make([]byte, 3*t.Extent()), Count: 3, Type: t}
}

// programOfRank0 returns a program that only rank 0 executes.
func programOfRank0(do func(c *mpi.Comm)) func(*mpi.Comm) error {
	return func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			do(c)
		}
		return nil
	}
}
