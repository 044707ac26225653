package enginetest

import (
	"fmt"

	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/mpi"
)

// progressLaws are the laws of progress while ranks make calls.
var progressLaws = []law{
	{name: "Ssend waits for its receive", ranks: 2, program: checkSynchronousSendEnds(func(c *mpi.Comm, b []byte) { mpi.Ssend(c, b, 1, 7) })},
	{name: "Issend waits for its receive", ranks: 2, program: checkSynchronousSendEnds(func(c *mpi.Comm, b []byte) {
		r := mpi.Issend(c, b, 1, 7)
		for ok := false; !ok; {
			_, ok = r.Test()
		}
	})},
	{name: "many blocked messages block no other", ranks: 2, program: checkManyBlockedSends},
	{name: "a flood of short messages", ranks: 2, program: FloodProgram(20_000, 8)},
	{name: "a flood of long messages", ranks: 2, program: FloodProgram(2_000, 4096)},
	lawOfProgressDuring("Recv", func(c *mpi.Comm) { mpi.Recv[byte](c, nil, 1, 2) }),
	lawOfProgressDuring("Probe", func(c *mpi.Comm) { c.Probe(1, 2); mpi.Recv[byte](c, nil, 1, 2) }),
	lawOfProgressDuring("Iprobe", func(c *mpi.Comm) {
		for ok := false; !ok; {
			_, ok = c.Iprobe(1, 2)
		}
		mpi.Recv[byte](c, nil, 1, 2)
	}),
	lawOfProgressDuring("Wait", func(c *mpi.Comm) { r := mpi.Irecv[byte](c, nil, 1, 2); r.Wait() }),
	lawOfProgressDuring("Test", func(c *mpi.Comm) {
		r := mpi.Irecv[byte](c, nil, 1, 2)
		for ok := false; !ok; {
			_, ok = r.Test()
		}
	}),
	lawOfProgressDuring("WaitAny", func(c *mpi.Comm) { mpi.WaitAny([]mpi.Request{mpi.Irecv[byte](c, nil, 1, 2)}) }),
	lawOfProgressDuring("TestAny", func(c *mpi.Comm) {
		reqs := []mpi.Request{mpi.Irecv[byte](c, nil, 1, 2)}
		for ok := false; !ok; {
			_, _, ok = mpi.TestAny(reqs)
		}
	}),
	lawOfProgressDuring("WaitSome", func(c *mpi.Comm) {
		mpi.WaitSome([]mpi.Request{mpi.Irecv[byte](c, nil, 1, 2)}, make([]int, 1), nil)
	}),
	lawOfProgressDuring("TestSome", func(c *mpi.Comm) {
		reqs := []mpi.Request{mpi.Irecv[byte](c, nil, 1, 2)}
		for mpi.TestSome(reqs, make([]int, 1), nil) == 0 {
		}
	}),
	lawOfProgressDuring("WaitAll", func(c *mpi.Comm) { mpi.WaitAll([]mpi.Request{mpi.Irecv[byte](c, nil, 1, 2)}, nil) }),
	lawOfProgressDuring("Ssend", func(c *mpi.Comm) { mpi.Ssend[byte](c, nil, 1, 3); mpi.Recv[byte](c, nil, 1, 2) }),
	lawOfProgressDuring("Sendrecv", func(c *mpi.Comm) { mpi.Sendrecv[byte, byte](c, nil, 1, 3, nil, 1, 2) }),
	lawOfProgressDuring("Barrier", func(c *mpi.Comm) { c.Barrier(); mpi.Recv[byte](c, nil, 1, 2) }),
	lawOfProgressDuring("Finalize", nil),
}

// checkSynchronousSendEnds checks that a synchronous send completes when its receive is posted, and
// not when its message has arrived. The sender reports when it has completed.
func checkSynchronousSendEnds(send func(c *mpi.Comm, b []byte)) func(*mpi.Comm) error {
	return func(c *mpi.Comm) error {
		for _, n := range []int{0, 100, 1000, 10000} {
			c.Barrier()
			if c.Rank() == 0 {
				send(c, make([]byte, n))
				mpi.Send[byte](c, nil, 1, 8)
				continue
			}
			c.Probe(0, 7)
			for range 300 {
				if _, ended := c.Iprobe(0, 8); ended {
					return fmt.Errorf("a synchronous send of %d bytes was complete before its receive was posted", n)
				}
				c.Compute(10 * microsecond)
			}
			mpi.Recv(c, make([]byte, n), 0, 7)
			mpi.Recv[byte](c, nil, 0, 8)
		}
		return nil
	}
}

// lawOfProgressDuring checks that a matched message makes progress while the receiver is in a call
// that waits for a later message.
func lawOfProgressDuring(name string, call func(c *mpi.Comm)) law {
	return law{name: "in " + name, ranks: 2, program: func(c *mpi.Comm) error {
		const bytes = 20000
		if c.Rank() == 1 {
			synchronizeComm(c)
			mpi.Ssend(c, program.Payload(bytes, 1), 0, 1)
			switch name {
			case "Ssend", "Sendrecv":
				mpi.Recv[byte](c, nil, 0, 3)
			case "Barrier":
				c.Barrier()
			case "Finalize":
				return nil
			}
			mpi.Send[byte](c, nil, 0, 2)
			return nil
		}
		b := make([]byte, bytes)
		r := mpi.Irecv(c, b, 1, 1)
		synchronizeComm(c)
		if call == nil {
			r.Free()
			return nil
		}
		call(c)
		return checkReceived("the message", r.Wait(), b, mpi.Status{Source: 1, Tag: 1, Bytes: bytes}, 1)
	}}
}

// checkManyBlockedSends checks that many messages that wait for their receives do not block others.
func checkManyBlockedSends(c *mpi.Comm) error {
	const n = 2000
	if c.Rank() == 0 {
		reqs := make([]mpi.Request, n)
		b := program.Payload(1000, 1)
		for i := range reqs {
			reqs[i] = mpi.Isend(c, b, 1, 1)
		}
		mpi.Send(c, program.Payload(1000, 2), 1, 2)
		mpi.WaitAll(reqs, nil)
		return nil
	}
	if err := recvAndCheck(c, 0, 2, mpi.Status{Tag: 2, Bytes: 1000}, 2); err != nil {
		return err
	}
	for range n {
		if err := recvAndCheck(c, 0, mpi.AnyTag, mpi.Status{Tag: 1, Bytes: 1000}, 1); err != nil {
			return err
		}
	}
	return nil
}

// FloodProgram returns a program that sends messages from rank 0 to rank 1 while rank 1 makes no
// progress. No message may be lost.
func FloodProgram(messages, bytes int) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			const ahead = 200
			var reqs [ahead]mpi.Request
			b := program.Payload(bytes, 1)
			for i := range messages {
				r := &reqs[i%ahead]
				r.Wait()
				*r = mpi.Isend(c, b, 1, i%3)
			}
			mpi.WaitAll(reqs[:], nil)
			mpi.Send[byte](c, nil, 1, 3)
			return nil
		}
		c.Compute(1000 * microsecond)
		b := make([]byte, bytes)
		for i := range messages {
			want := mpi.Status{Tag: i % 3, Bytes: bytes}
			if st := mpi.Recv(c, b, 0, i%3); st != want {
				return fmt.Errorf("message %d: %+v, want %+v", i, st, want)
			}
			if i%1000 == 0 {
				if err := checkReceived("message", want, b, want, 1); err != nil {
					return err
				}
			}
		}
		return recvAndCheck(c, 0, mpi.AnyTag, mpi.Status{Tag: 3}, 0)
	}
}
