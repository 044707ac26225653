package enginetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// cancelLaws are the laws of cancellation.
var cancelLaws = []law{
	{name: "receives that have no message are cancelled", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 20
		if c.Rank() == 1 {
			mpi.Recv[byte](c, nil, 0, 0)
			for i := range n {
				mpi.Send(c, program.Payload(messageLengths[i%len(messageLengths)], i), 0, 1)
			}
			return nil
		}
		bufs := make([][]byte, 2*n)
		reqs := make([]mpi.Request, 2*n)
		for i := range reqs {
			bufs[i] = make([]byte, 20000)
			reqs[i] = mpi.RecvInit(c, bufs[i], 1, []int{1, mpi.AnyTag}[i/2%2])
			reqs[i].Start()
		}
		for i := 0; i < 2*n; i += 2 {
			reqs[i].Cancel()
			reqs[i].Cancel()
		}
		mpi.Send[byte](c, nil, 1, 0)
		for i, st := range waitForAllBy(0, reqs) {
			switch {
			case i%2 == 0 && st != cancelledStatus:
				return fmt.Errorf("receive %d was not cancelled: %+v", i, st)
			case i%2 == 1:
				if err := checkReceived(fmt.Sprint("receive ", i), st, bufs[i], mpi.Status{Source: 1, Tag: 1, Bytes: messageLengths[i/2%len(messageLengths)]}, i/2); err != nil {
					return err
				}
			}
		}
		freeRequests(reqs)
		return nil
	}},
	{name: "a cancelled receive with gaps writes nothing", ranks: 1, program: func(c *mpi.Comm) error {
		b := bufferWithGaps(40)
		r := c.RecvInit(b, 0, 1)
		r.Start()
		mpi.Send(c, program.Payload(b.Len(), 1), 0, 1)
		r.Wait()
		clear(b.Bytes)
		r.Start()
		r.Cancel()
		if st := r.Wait(); st != cancelledStatus || !bytes.Equal(b.Bytes, make([]byte, len(b.Bytes))) {
			return fmt.Errorf("%+v, or something was written", st)
		}
		r.Free()
		return nil
	}},
	{name: "a receive that has its message is not cancelled", ranks: 2, program: func(c *mpi.Comm) error {
		for i, size := range messageLengths {
			if c.Rank() == 0 {
				r := mpi.Isend(c, program.Payload(size, i), 1, 1)
				synchronizeComm(c)
				r.Wait()
				continue
			}
			b := make([]byte, size)
			r := mpi.Irecv(c, b, 0, 1)
			synchronizeComm(c)
			r.Cancel()
			if err := checkReceived("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: size}, i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "a cancelled request may be freed", ranks: 2, program: func(c *mpi.Comm) error {
		for range 10 {
			if c.Rank() == 0 {
				r := mpi.Irecv(c, make([]byte, 8), 1, 1)
				r.Cancel()
				r.Free()
				s := mpi.Issend(c, program.Payload(3000, 1), 1, 1)
				s.Cancel()
				s.Free()
			}
			synchronizeComm(c)
			for range 1000 { // the cancel may arrive by a signal, before messages sent earlier
				if _, ok := c.Iprobe(mpi.AnySource, 1); !ok {
					break
				}
				c.Compute(10 * microsecond)
			}
			if st, ok := c.Iprobe(mpi.AnySource, 1); ok {
				return fmt.Errorf("the message is there: %+v", st)
			}
			synchronizeComm(c)
		}
		return nil
	}},
	{name: "sends without a receive are cancelled", ranks: 2, program: func(c *mpi.Comm) error {
		for round := range 4 { // checks that the window is not used up
			for i, size := range messageLengths {
				if c.Rank() == 0 {
					r := mpi.Issend(c, program.Payload(size, i), 1, 1)
					if round%2 == 0 {
						r.Cancel()
					}
					synchronizeComm(c) // the message has arrived
					r.Cancel()
					if st := r.Wait(); st != cancelledStatus {
						return fmt.Errorf("%d bytes: %+v", size, st)
					}
					synchronizeComm(c)
					mpi.Send(c, program.Payload(size, i+1), 1, 1)
					continue
				}
				synchronizeComm(c)
				synchronizeComm(c)
				if err := recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: size}, i+1); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{name: "sends with a receive are not cancelled", ranks: 2, program: func(c *mpi.Comm) error {
		for i, size := range messageLengths {
			if c.Rank() == 1 {
				b := make([]byte, size)
				r := mpi.Irecv(c, b, 0, 1)
				synchronizeComm(c)
				if err := checkReceived("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: size}, i); err != nil {
					return err
				}
				synchronizeComm(c)
				continue
			}
			synchronizeComm(c)
			r := mpi.Issend(c, program.Payload(size, i), 1, 1)
			r.Cancel()
			st := r.Wait()
			if st != nullStatus {
				return fmt.Errorf("%d bytes: %+v", size, st)
			}
			synchronizeComm(c)
		}
		return nil
	}},
	{name: "a cancel is for the message of its rank", ranks: 3, program: func(c *mpi.Comm) error {
		for i, size := range messageLengths {
			switch c.Rank() {
			case 0, 1: // the same calls, so operations reuse the same memory
				r := mpi.Issend(c, program.Payload(size, 10*i+c.Rank()), 2, 1)
				mpi.Recv[byte](c, nil, 2, 2)
				if c.Rank() == 1 {
					r.Cancel()
				}
				if st := r.Wait(); st.Cancelled != (c.Rank() == 1) {
					return fmt.Errorf("rank %d: %+v", c.Rank(), st)
				}
				mpi.Send[byte](c, nil, 2, 3)
			case 2:
				c.Probe(0, 1)
				c.Probe(1, 1)
				mpi.Send[byte](c, nil, 1, 2)
				mpi.Recv[byte](c, nil, 1, 3)
				mpi.Send[byte](c, nil, 0, 2)
				if err := recvAndCheck(c, mpi.AnySource, 1, mpi.Status{Tag: 1, Bytes: size}, 10*i); err != nil {
					return err
				}
				mpi.Recv[byte](c, nil, 0, 3)
			}
		}
		return nil
	}},
	{name: "a buffered send is not cancelled", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 1<<17))
			for i, size := range messageLengths {
				r := mpi.Ibsend(c, program.Payload(size, i), 1, 1)
				r.Cancel()
				if st := r.Wait(); st != nullStatus {
					return fmt.Errorf("%d bytes: %+v", size, st)
				}
			}
			return nil
		}
		for i, size := range messageLengths {
			if err := recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: size}, i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "persistent requests that were cancelled start again", ranks: 2, program: func(c *mpi.Comm) error {
		b := make([]byte, 3000)
		if c.Rank() == 0 {
			copy(b, program.Payload(3000, 1))
			r := mpi.SsendInit(c, b, 1, 1)
			for range 5 {
				r.Start()
				r.Cancel()
				if st := r.Wait(); st != cancelledStatus || r.IsNull() {
					return fmt.Errorf("the send: %+v", st)
				}
			}
			synchronizeComm(c) // if the sender looks for posted receives, one that is to be cancelled would take the message
			synchronizeComm(c)
			r.Start()
			synchronizeComm(c)
			if st := r.Wait(); st != nullStatus {
				return fmt.Errorf("the send that was not cancelled: %+v", st)
			}
			r.Free()
			return nil
		}
		r := mpi.RecvInit(c, b, 0, 1)
		synchronizeComm(c)
		for range 5 {
			r.Start()
			r.Cancel()
			if st := r.Wait(); st != cancelledStatus || r.IsNull() {
				return fmt.Errorf("the receive: %+v", st)
			}
		}
		synchronizeComm(c)
		synchronizeComm(c)
		r.Start()
		defer r.Free()
		return checkReceived("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 3000}, 1)
	}},
	{name: "Finalize answers a cancel", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			c.Probe(0, 1)
			mpi.Send[byte](c, nil, 0, 2)
			return nil
		}
		r := mpi.Issend(c, program.Payload(3000, 1), 1, 1)
		mpi.Recv[byte](c, nil, 1, 2)
		c.Compute(1000 * microsecond)
		r.Cancel()
		if st := r.Wait(); st != cancelledStatus {
			return fmt.Errorf("%+v", st)
		}
		return nil
	}},
	{name: "a cancel that comes too late is not waited for", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			b := make([]byte, 3000)
			r := mpi.Irecv(c, b, 0, 1)
			synchronizeComm(c)
			return checkReceived("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 3000}, 1)
		}
		synchronizeComm(c)
		r := mpi.Issend(c, program.Payload(3000, 1), 1, 1)
		c.Compute(20000 * microsecond)
		r.Cancel() // the other rank has ended
		if st := r.Wait(); st != nullStatus {
			return fmt.Errorf("%+v", st)
		}
		return nil
	}},
	{name: "messages to a rank that has ended are cancelled", ranks: 3, program: func(c *mpi.Comm) error {
		if c.Rank() > 0 {
			c.Compute(unit.Time(c.Rank()-1) * 1000 * microsecond) // without calls of the library
			return nil
		}
		for round, computes := range []unit.Time{0, 0, 3000 * microsecond, 0} { // the others end before the first cancel, or later
			b := program.Payload(3000, round)
			again := c.SsendInit(mpi.BufferOf(b), 1, 4)
			again.Start()
			reqs := []mpi.Request{mpi.Issend(c, b, 1, 1), mpi.Issend(c, b[:8], 2, 2), mpi.Issend(c, b, 2, 3), again}
			kept := mpi.Issend(c, b, 1, 6) // cancelled last
			freed := mpi.Issend(c, b, 1, 5)
			c.Compute(computes)
			for i := range reqs {
				reqs[i].Cancel()
			}
			freed.Cancel()
			freed.Free()
			for i := range reqs {
				st, done := reqs[i].Test()
				for round%2 == 0 && !done {
					st, done = reqs[i].Test()
				}
				if !done {
					st = reqs[i].Wait()
				}
				if st != cancelledStatus {
					return fmt.Errorf("round %d: send %d is %+v", round, i, st)
				}
			}
			reqs[3].Free()
			if st, done := kept.Test(); done {
				return fmt.Errorf("round %d: what was not cancelled is %+v", round, st)
			}
			kept.Cancel()
			if st := kept.Wait(); st != cancelledStatus {
				return fmt.Errorf("round %d: what was cancelled last is %+v", round, st)
			}
		}
		return nil
	}},
	{name: "the end of one rank cancels its messages alone", ranks: 3, program: func(c *mpi.Comm) error {
		b := program.Payload(3000, 1)
		switch c.Rank() {
		case 1:
			return nil
		case 2:
			got := make([]byte, 3000)
			r := mpi.Irecv(c, got, 0, 1)
			mpi.Send[byte](c, nil, 0, 2)
			c.Compute(20000 * microsecond) // the message arrives, and then the cancel
			return checkReceived("the receive", r.Wait(), got, mpi.Status{Tag: 1, Bytes: 3000}, 1)
		}
		mpi.Recv[byte](c, nil, 2, 2)
		c.Compute(2000 * microsecond)
		received, dropped := mpi.Issend(c, b, 2, 1), mpi.Issend(c, b, 1, 1)
		received.Cancel()
		dropped.Cancel()
		if st := dropped.Wait(); st != cancelledStatus {
			return fmt.Errorf("the message to who has ended: %+v", st)
		}
		if st := received.Wait(); st != nullStatus {
			return fmt.Errorf("the message that has its receive: %+v", st)
		}
		return nil
	}},
	{name: "messages that an ended rank has received are not cancelled", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 12
		if c.Rank() == 1 {
			for i := 0; i < n; i += 3 {
				b := make([]byte, 3000)
				if err := checkReceived("the receive", mpi.Recv(c, b, 0, i), b, mpi.Status{Tag: i, Bytes: 3000}, i); err != nil {
					return err
				}
			}
			return nil
		}
		var reqs []mpi.Request
		for i := range n {
			reqs = append(reqs, mpi.Issend(c, program.Payload(3000, i), 1, i))
		}
		c.Compute(3000 * microsecond)
		for i := range n {
			if i%3 > 0 {
				reqs[i].Cancel()
			}
		}
		for i := range n {
			if st := reqs[i].Wait(); st != nullStatus && i%3 == 0 || st != cancelledStatus && i%3 > 0 {
				return fmt.Errorf("send %d is %+v", i, st)
			}
		}
		return nil
	}},
	{name: "each message is cancelled or received", ranks: 2, program: func(c *mpi.Comm) error {
		const n, rounds = 40, 6
		r := rand.New(rand.NewPCG(uint64(c.Rank()), 1))
		for round := range rounds {
			reqs, fate := make([]mpi.Request, n), make([]byte, n)
			if c.Rank() == 0 {
				for i := range n {
					reqs[i] = nonBlockingSends(c)[r.IntN(2)](mpi.BufferOf(program.Payload(messageLengths[i%len(messageLengths)], i)), 1, i)
				}
				mpi.Send[byte](c, nil, 1, n)
				for _, i := range r.Perm(n)[:n/2] {
					reqs[i].Cancel()
					if r.IntN(4) == 0 {
						c.Iprobe(mpi.AnySource, mpi.AnyTag)
					}
					if r.IntN(4) == 0 { // an operation that is half complete may end
						continue
					}
					if reqs[i].Wait().Cancelled {
						fate[i] = 1
					}
				}
				mpi.Send(c, fate, 1, n+1)
				for i, st := range waitForAllBy(round, reqs) {
					if st.Cancelled {
						fate[i] = 1
					}
				}
				mpi.Send(c, fate, 1, n+2)
				mpi.Recv[byte](c, nil, 1, n)
				continue
			}
			bufs, done := make([][]byte, n), make([]bool, n)
			for i := range n {
				bufs[i] = make([]byte, messageLengths[i%len(messageLengths)])
				if r.IntN(2) == 0 {
					reqs[i] = mpi.Irecv(c, bufs[i], 0, i)
					done[i] = true
				}
			}
			mpi.Recv[byte](c, nil, 0, n)
			for i := range n { // while other messages are cancelled
				if c.Compute(10 * microsecond); !done[i] && r.IntN(3) == 0 {
					reqs[i] = mpi.Irecv(c, bufs[i], 0, i)
					done[i] = true
					c.Iprobe(0, n)
				}
			}
			known := make([]byte, n)
			mpi.Recv(c, known, 0, n+1)
			for i := range n { // so that no send waits for a receive that is never posted
				if !done[i] && known[i] == 0 {
					reqs[i] = mpi.Irecv(c, bufs[i], 0, i)
				}
			}
			mpi.Recv(c, fate, 0, n+2)
			for i := range n {
				if fate[i] == 1 {
					if reqs[i].IsNull() {
						continue
					}
					reqs[i].Cancel()
					if st := reqs[i].Wait(); st != cancelledStatus {
						return fmt.Errorf("round %d: message %d was cancelled and received: %+v", round, i, st)
					}
					continue
				}
				if err := checkReceived(fmt.Sprint("message ", i), reqs[i].Wait(), bufs[i], mpi.Status{Tag: i, Bytes: len(bufs[i])}, i); err != nil {
					return err
				}
			}
			if st, ok := c.Iprobe(0, mpi.AnyTag); ok {
				return fmt.Errorf("round %d: message %d is left", round, st.Tag)
			}
			mpi.Send[byte](c, nil, 0, n)
		}
		return nil
	}},
}
