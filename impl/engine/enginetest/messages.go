package enginetest

import (
	"fmt"

	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/mpi"
)

// messageLaws are the laws of order, matching, modes and communicators.
var messageLaws = []law{
	{name: "messages do not overtake", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 60
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 1<<20))
			var reqs []mpi.Request
			for i := range n {
				reqs = append(reqs, nonBlockingSends(c)[i%3](mpi.BufferOf(program.Payload(messageLengths[i*5%len(messageLengths)], i)), 1, 7))
			}
			mpi.WaitAll(reqs, nil)
			return nil
		}
		for i := range n {
			if i == 20 { // some messages have arrived, and some have not
				c.Compute(2000 * microsecond)
			}
			if err := recvAndCheck(c, 0, []int{7, mpi.AnyTag}[i%2], mpi.Status{Tag: 7, Bytes: messageLengths[i*5%len(messageLengths)]}, i); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
		return nil
	}},
	{name: "receives do not overtake", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 40
		if c.Rank() == 1 {
			mpi.Recv[byte](c, nil, 0, 0) // all receives are posted
			for i := range n {
				mpi.Send(c, program.Payload(messageLengths[i%len(messageLengths)], i), 0, 7)
			}
			return nil
		}
		var reqs []mpi.Request
		var bufs [n][20000]byte
		for i := range n {
			reqs = append(reqs, mpi.Irecv(c, bufs[i][:], []int{1, mpi.AnySource}[i/2%2], []int{7, mpi.AnyTag}[i%2]))
		}
		mpi.Send[byte](c, nil, 1, 0)
		st := make([]mpi.Status, n)
		mpi.WaitAll(reqs, st)
		for i := range n {
			if err := checkReceived(fmt.Sprint("receive ", i), st[i], bufs[i][:], mpi.Status{Source: 1, Tag: 7, Bytes: messageLengths[i%len(messageLengths)]}, i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "wildcards", ranks: 4, program: func(c *mpi.Comm) error {
		const n = 30
		if c.Rank() > 0 {
			for i := range n {
				mpi.Send(c, program.Payload(messageLengths[i%len(messageLengths)], c.Rank()*1000+i), 0, i%3)
			}
			return nil
		}
		var next [4][3]int // next expected message by source and tag
		b := make([]byte, 20000)
		for range 3 * n {
			st := mpi.Recv(c, b, mpi.AnySource, mpi.AnyTag)
			k := &next[st.Source][st.Tag]
			i := 3**k + st.Tag
			*k++
			if err := checkReceived("any", st, b, mpi.Status{Source: st.Source, Tag: st.Tag, Bytes: messageLengths[i%len(messageLengths)]}, st.Source*1000+i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "a source or a tag alone may be any", ranks: 3, program: func(c *mpi.Comm) error {
		if c.Rank() > 0 {
			mpi.Send(c, program.Payload(100, 10*c.Rank()+1), 0, 1)
			mpi.Send(c, program.Payload(2000, 10*c.Rank()+2), 0, 2)
			return nil
		}
		c.Compute(1000 * microsecond)
		return firstError(
			recvAndCheck(c, 2, mpi.AnyTag, mpi.Status{Source: 2, Tag: 1, Bytes: 100}, 21),
			recvAndCheck(c, 2, mpi.AnyTag, mpi.Status{Source: 2, Tag: 2, Bytes: 2000}, 22),
			recvAndCheck(c, mpi.AnySource, 1, mpi.Status{Source: 1, Tag: 1, Bytes: 100}, 11),
			recvAndCheck(c, mpi.AnySource, 2, mpi.Status{Source: 1, Tag: 2, Bytes: 2000}, 12),
		)
	}},
	{name: "probe", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			for i, n := range messageLengths {
				mpi.Send(c, program.Payload(n, i), 1, i)
			}
			mpi.Recv[byte](c, nil, 1, 0)
			mpi.Send[byte](c, nil, 1, 99)
			return nil
		}
		for i, n := range messageLengths {
			want := mpi.Status{Source: 0, Tag: i, Bytes: n}
			if st := c.Probe(mpi.AnySource, mpi.AnyTag); st != want {
				return fmt.Errorf("mpi.Probe: %+v, want %+v", st, want)
			}
			if st, ok := c.Iprobe(0, i); !ok || st != want { // the message is still there
				return fmt.Errorf("mpi.Iprobe: %+v, %v, want %+v", st, ok, want)
			}
			if _, ok := c.Iprobe(0, i+100); ok {
				return fmt.Errorf("mpi.Iprobe found a message with tag %d that was not sent", i+100)
			}
			if err := recvAndCheck(c, 0, i, want, i); err != nil {
				return err
			}
		}
		if _, ok := c.Iprobe(mpi.AnySource, mpi.AnyTag); ok {
			return fmt.Errorf("a message is left")
		}
		mpi.Send[byte](c, nil, 0, 0)
		for ok := false; !ok; {
			_, ok = c.Iprobe(0, 99)
		}
		return recvAndCheck(c, 0, 99, mpi.Status{Tag: 99}, 0)
	}},
	{name: "a probe does not see what a posted receive will take", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			mpi.Recv[byte](c, nil, 1, 0)
			mpi.Send(c, program.Payload(100, 1), 1, 1)
			mpi.Send(c, program.Payload(100, 2), 1, 1)
			return nil
		}
		b := make([]byte, 100)
		r := mpi.Irecv(c, b, 0, 1)
		mpi.Send[byte](c, nil, 0, 0)
		c.Probe(0, 1)
		if err := recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 100}, 2); err != nil {
			return err
		}
		return checkReceived("Irecv", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 100}, 1)
	}},
	{name: "a buffered send needs no receiver", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			lent := make([]byte, 20000+5000+2*mpi.BsendOverhead)
			c.AttachBuffer(lent)
			b := program.Payload(20000, 1)
			mpi.Bsend(c, b, 1, 1)
			clear(b) // the buffer may be reused at once
			r := mpi.Ibsend(c, program.Payload(5000, 2), 1, 1)
			if _, ok := r.Test(); !ok {
				return fmt.Errorf("mpi.Ibsend is not complete")
			}
			mpi.Send[byte](c, nil, 1, 2)
			back := c.DetachBuffer()
			if len(back) != len(lent) || &back[0] != &lent[0] {
				return fmt.Errorf("another buffer came back")
			}
			clear(back) // the buffer must not be needed any more
			mpi.Send[byte](c, nil, 1, 3)
			return nil
		}
		return firstError(
			recvAndCheck(c, 0, 2, mpi.Status{Tag: 2}, 0),
			recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 20000}, 1),
			recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 5000}, 2),
			recvAndCheck(c, 0, 3, mpi.Status{Tag: 3}, 0),
		)
	}},
	{name: "buffered messages leave before their rank does", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 50000))
			for i, n := range messageLengths {
				mpi.Bsend(c, program.Payload(n, i), 1, i)
			}
			return nil
		}
		c.Compute(3000 * microsecond)
		for i, n := range messageLengths {
			if err := recvAndCheck(c, 0, i, mpi.Status{Tag: i, Bytes: n}, i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "room for buffered messages is used again", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 200
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 3*(1000+mpi.BsendOverhead)))
			for i := range n {
				mpi.Bsend(c, program.Payload(1+i*37%1000, i), 1, 0)
				if i%3 == 2 {
					mpi.Recv[byte](c, nil, 1, 0)
				}
			}
			return nil
		}
		for i := range n {
			if err := recvAndCheck(c, 0, 0, mpi.Status{Bytes: 1 + i*37%1000}, i); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			if i%3 == 2 {
				mpi.Send[byte](c, nil, 0, 0)
			}
		}
		return nil
	}},
	{name: "a ready send finds its receive", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			for i, n := range messageLengths {
				mpi.Recv[byte](c, nil, 0, 100)
				if i%2 == 0 {
					mpi.Rsend(c, program.Payload(n, i), 0, i)
				} else {
					r := mpi.Irsend(c, program.Payload(n, i), 0, i)
					r.Wait()
				}
			}
			return nil
		}
		for i, n := range messageLengths {
			b := make([]byte, n)
			r := mpi.Irecv(c, b, 1, i)
			mpi.Send[byte](c, nil, 1, 100)
			if err := checkReceived("ready", r.Wait(), b, mpi.Status{Source: 1, Tag: i, Bytes: n}, i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "exchange", ranks: 5, program: func(c *mpi.Comm) error {
		right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		for i, n := range messageLengths {
			b := make([]byte, n)
			st := mpi.Sendrecv(c, program.Payload(n, 100*c.Rank()+i), right, i, b, left, i)
			if err := checkReceived("Sendrecv", st, b, mpi.Status{Source: left, Tag: i, Bytes: n}, 100*left+i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "to itself", ranks: 1, program: func(c *mpi.Comm) error {
		c.AttachBuffer(make([]byte, 50000))
		for i, n := range messageLengths {
			for m := range nonBlockingSends(c) {
				want := mpi.Status{Tag: m, Bytes: n}
				b := make([]byte, n)
				r := mpi.Irecv(c, b, 0, m)
				blockingSends(c)[m](mpi.BufferOf(program.Payload(n, i)), 0, m)
				if err := checkReceived("receive, then send", r.Wait(), b, want, i); err != nil {
					return err
				}
				r = mpi.Irecv(c, b, mpi.AnySource, m)
				s := nonBlockingSends(c)[m](mpi.BufferOf(program.Payload(n, i+1)), 0, m)
				if err := checkReceived("receive, then start", r.Wait(), b, want, i+1); err != nil {
					return err
				}
				s.Wait()
				if m == 3 {
					continue // a ready send needs a posted receive
				}
				s = nonBlockingSends(c)[m](mpi.BufferOf(program.Payload(n, i+2)), 0, m)
				if err := recvAndCheck(c, 0, m, want, i+2); err != nil {
					return err
				}
				s.Wait()
			}
		}
		return nil
	}},
	{name: "ProcNull", ranks: 2, program: func(c *mpi.Comm) error {
		none := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
		for _, c := range []*mpi.Comm{c, c.Create(c.Group().Include([]int{1, 0}))} {
			for m := range nonBlockingSends(c) {
				blockingSends(c)[m](mpi.BufferOf([]byte("lost")), mpi.ProcNull, 1)
				r := nonBlockingSends(c)[m](mpi.BufferOf([]byte("lost")), mpi.ProcNull, 1)
				if _, ok := r.Test(); !ok {
					return fmt.Errorf("a send to no process is not complete")
				}
			}
			b := []byte("kept")
			if st := mpi.Recv(c, b, mpi.ProcNull, 1); st != none || string(b) != "kept" {
				return fmt.Errorf("mpi.Recv: %+v, %q", st, b)
			}
			r := mpi.Irecv(c, b, mpi.ProcNull, 1)
			if st := r.Wait(); st != none {
				return fmt.Errorf("mpi.Irecv: %+v, want %+v", st, none)
			}
			reqs := []mpi.Request{{}, mpi.Irecv(c, b, mpi.ProcNull, 1)}
			if i, st := mpi.WaitAny(reqs); i != 1 || st != none {
				return fmt.Errorf("mpi.WaitAny: %d, %+v, want 1, %+v", i, st, none)
			}
			if st := c.Probe(mpi.ProcNull, mpi.AnyTag); st != none {
				return fmt.Errorf("mpi.Probe: %+v", st)
			}
			if st, ok := c.Iprobe(mpi.ProcNull, mpi.AnyTag); !ok || st != none {
				return fmt.Errorf("mpi.Iprobe: %+v, %v", st, ok)
			}
			// A chain: the end ranks have one neighbour.
			left, right := c.Rank()-1, c.Rank()+1
			want := mpi.Status{Source: left, Tag: 3, Bytes: 10}
			if left < 0 {
				left, want = mpi.ProcNull, none
			}
			if right == c.Size() {
				right = mpi.ProcNull
			}
			if st := mpi.Sendrecv(c, program.Payload(10, 1), right, 3, make([]byte, 10), left, 3); st != want {
				return fmt.Errorf("mpi.Sendrecv: %+v, want %+v", st, want)
			}
		}
		return nil
	}},
	{name: "communicators are separate", ranks: 4, program: func(c *mpi.Comm) error {
		turned := c.Create(c.Group().Include([]int{3, 1, 0, 2}))
		again := c.Create(c.Group().Include([]int{3, 1, 0, 2}))
		if want := []int{2, 1, 3, 0}[c.Rank()]; turned.Rank() != want || turned.Size() != 4 {
			return fmt.Errorf("rank %d of %d, want %d of 4", turned.Rank(), turned.Size(), want)
		}
		// The same ranks and tag in three communicators, received in another order than sent.
		comms := []*mpi.Comm{c, turned, again}
		var sends []mpi.Request
		for i, x := range comms {
			for dst := range x.Size() {
				sends = append(sends, mpi.Isend(x, program.Payload(700, 100*i+x.Rank()), dst, 5))
			}
		}
		for i := range comms {
			i = 2 - i
			for src := range 4 {
				if err := recvAndCheck(comms[i], src, mpi.AnyTag, mpi.Status{Source: src, Tag: 5, Bytes: 700}, 100*i+src); err != nil {
					return fmt.Errorf("communicator %d: %w", i, err)
				}
			}
		}
		mpi.WaitAll(sends, nil)
		for _, x := range comms {
			x.Barrier()
		}
		return nil
	}},
	{name: "communicators of some ranks", ranks: 6, program: func(c *mpi.Comm) error {
		// Halves, used alternately with communicators created from all ranks.
		for range 3 {
			even, odd := c.Create(c.Group().Include([]int{4, 2, 0})), c.Create(c.Group().Include([]int{1, 3, 5}))
			mine := even
			if c.Rank()%2 == 1 {
				mine = odd
			}
			if (even != nil) == (odd != nil) || mine == nil {
				return fmt.Errorf("rank %d is in %v and %v", c.Rank(), even, odd)
			}
			inner := mine.Create(mine.Group().Include([]int{2, 1}))
			c.Barrier()
			mine.Barrier()
			if (inner == nil) != (mine.Rank() == 0) {
				return fmt.Errorf("rank %d: inner is %v", c.Rank(), inner)
			}
			if inner != nil {
				inner.Barrier()
				peer := 1 - inner.Rank()
				b := make([]byte, 100)
				st := mpi.Sendrecv(inner, program.Payload(100, 10*(c.Rank()%2)+inner.Rank()), peer, 1, b, mpi.AnySource, 1)
				if err := checkReceived("inner", st, b, mpi.Status{Source: peer, Tag: 1, Bytes: 100}, 10*(c.Rank()%2)+peer); err != nil {
					return err
				}
				// Probe does not find messages of another communicator.
				if _, ok := mine.Iprobe(mpi.AnySource, mpi.AnyTag); ok {
					return fmt.Errorf("a message from nowhere")
				}
			}
		}
		return nil
	}},
	{name: "some have made more communicators than others", ranks: 3, program: func(c *mpi.Comm) error {
		pair := c.Create(c.Group().Include([]int{2, 0}))
		for range 3 {
			if pair != nil {
				pair = pair.Create(pair.Group().Include([]int{1, 0}))
			}
			all := c.Create(c.Group().Include([]int{1, 2, 0}))
			right, left := (all.Rank()+1)%3, (all.Rank()+2)%3
			b := make([]byte, 10)
			st := mpi.Sendrecv(all, program.Payload(10, all.Rank()), right, 1, b, left, 1)
			if err := checkReceived("Sendrecv", st, b, mpi.Status{Source: left, Tag: 1, Bytes: 10}, left); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "a blocked message blocks no other", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 20
		if c.Rank() == 0 {
			var reqs []mpi.Request
			for i := range n {
				reqs = append(reqs, mpi.Issend(c, program.Payload(1000, i), 1, 1), mpi.Isend(c, program.Payload(3000, i), 1, 2))
			}
			for i := range n {
				mpi.Send(c, program.Payload(messageLengths[i%len(messageLengths)], i), 1, 3)
			}
			mpi.WaitAll(reqs, nil)
			return nil
		}
		for i := range n {
			if err := recvAndCheck(c, 0, 3, mpi.Status{Tag: 3, Bytes: messageLengths[i%len(messageLengths)]}, i); err != nil {
				return err
			}
		}
		for i := range n {
			if err := firstError(recvAndCheck(c, 0, 2, mpi.Status{Tag: 2, Bytes: 3000}, i), recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 1000}, i)); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "barrier", ranks: 7, program: func(c *mpi.Comm) error {
		for round := range 10 {
			sends := make([]mpi.Request, c.Size())
			for dst := range sends {
				sends[dst] = mpi.Isend[byte](c, nil, dst, round)
			}
			if c.Rank() == round%c.Size() {
				c.Compute(100 * microsecond)
			}
			c.Barrier()
			for src := range c.Size() {
				mpi.Recv[byte](c, nil, src, round)
			}
			mpi.WaitAll(sends, nil)
		}
		return nil
	}},
	{name: "data of any shape", ranks: 2, program: checkShapes},
	{name: "SendrecvReplace", ranks: 3, program: checkSendrecvReplace},
	{name: "part of the elements", ranks: 2, program: checkPartialElements},
}

// messageLengths cover the rules of all libraries.
var messageLengths = []int{0, 1, 7, 8, 64, 65, 200, 500, 1000, 3000, 5000, 20000}

// blockingSends are the blocking sends, and starters the nonblocking ones. Ready sends are last,
// because they need a posted receive.
func blockingSends(c *mpi.Comm) []func(mpi.Buffer, int, int) {
	return []func(mpi.Buffer, int, int){c.Send, c.Ssend, c.Bsend, c.Rsend}
}

func nonBlockingSends(c *mpi.Comm) []func(mpi.Buffer, int, int) mpi.Request {
	return []func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Ibsend, c.Irsend}
}
