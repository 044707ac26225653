package mpi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/datatype"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

var (
	null     = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
	undone   = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag, Cancelled: true}
	sparse   = must(datatype.Vector(10, 1, 3, mpi.Byte)) // 10 of 28 bytes
	sparsely = func(c *mpi.Comm, n int) mpi.Buffer {     // n elements with gaps
		return mpi.Buffer{Bytes: make([]byte, n*sparse.Extent()), Count: n, Type: sparse}
	}
)

// fill puts text into the data of a buffer, and what returns it.
func fill(b mpi.Buffer, seed int) mpi.Buffer {
	b.Scatter(text(b.Len(), seed), func(dst, src []byte) int { return copy(dst, src) })
	return b
}

func what(b mpi.Buffer) []byte {
	flat := make([]byte, b.Len())
	b.Gather(flat, func(dst, src []byte) int { return copy(dst, src) })
	return flat
}

// inits are those that make persistent sends, in the order of starters.
func inits(c *mpi.Comm) []func(mpi.Buffer, int, int) mpi.Request {
	return []func(mpi.Buffer, int, int) mpi.Request{c.SendInit, c.SsendInit, c.BsendInit, c.RsendInit}
}

// ends waits for all in one of several ways.
func ends(how int, reqs []mpi.Request) []mpi.Status {
	st := make([]mpi.Status, len(reqs))
	index, some := make([]int, len(reqs)), make([]mpi.Status, len(reqs))
	switch how % 6 {
	case 0:
		mpi.WaitAll(reqs, st)
	case 1:
		for !mpi.TestAll(reqs, st) {
		}
	case 2:
		for i, s := mpi.WaitAny(reqs); i >= 0; i, s = mpi.WaitAny(reqs) {
			st[i] = s
		}
	case 3:
		for n := mpi.WaitSome(reqs, index, some); n >= 0; n = mpi.WaitSome(reqs, index, some) {
			for k := range n {
				st[index[k]] = some[k]
			}
		}
	case 4:
		for n := mpi.TestSome(reqs, index, some); n >= 0; n = mpi.TestSome(reqs, index, some) {
			for k := range n {
				st[index[k]] = some[k]
			}
		}
	case 5:
		for i, s, ok := mpi.TestAny(reqs); i >= 0 || !ok; i, s, ok = mpi.TestAny(reqs) {
			if ok {
				st[i] = s
			}
		}
	}
	return st
}

func freeAll(reqs []mpi.Request) {
	for i := range reqs {
		reqs[i].Free()
	}
}

// settled makes progress until the other of two ranks does, too.
func settled(c *mpi.Comm) { mpi.Sendrecv[byte, byte](c, nil, 1-c.Rank(), 99, nil, 1-c.Rank(), 99) }

var requesting = []struct {
	name    string
	ranks   int
	program func(c *mpi.Comm) error
}{
	{"persistent, in every mode", 2, func(c *mpi.Comm) error {
		const rounds = 8
		n := 4 * len(lengths)
		reqs, bufs := make([]mpi.Request, n), make([][]byte, n)
		c.AttachBuffer(make([]byte, 1<<17))
		for i := range n {
			bufs[i] = make([]byte, lengths[i/4])
			if c.Rank() == 0 {
				reqs[i] = inits(c)[i%4](mpi.Of(bufs[i]), 1, i)
			} else {
				reqs[i] = mpi.RecvInit(c, bufs[i], []int{0, mpi.AnySource}[i%2], i)
			}
		}
		for round := range rounds {
			if c.Rank() == 1 {
				mpi.StartAll(reqs)
				settled(c) // ready sends may come
				for i, st := range ends(round, reqs) {
					if err := equal(fmt.Sprint("round ", round, ", message ", i), st, bufs[i], mpi.Status{Tag: i, Bytes: len(bufs[i])}, 1000*round+i); err != nil {
						return err
					}
				}
				continue
			}
			for i := range n {
				copy(bufs[i], text(len(bufs[i]), 1000*round+i))
			}
			settled(c)
			for i := range n / 2 {
				reqs[i].Start()
			}
			mpi.StartAll(reqs[n/2:])
			for i, st := range ends(round, reqs) {
				if st != null {
					return fmt.Errorf("send %d: %+v", i, st)
				}
			}
		}
		freeAll(reqs)
		if !reqs[0].Null() {
			return fmt.Errorf("a freed request is not null")
		}
		return nil
	}},
	{"persistent, with gaps", 2, func(c *mpi.Comm) error {
		for _, n := range []int{1, 40, 300} {
			b := sparsely(c, n)
			r := c.SendInit(b, 1, 3)
			if c.Rank() == 1 {
				r.Free()
				r = c.RecvInit(b, 0, 3)
			}
			for round := range 3 {
				if c.Rank() == 0 {
					fill(b, round)
				}
				r.Start()
				st := r.Wait()
				if c.Rank() == 0 {
					continue
				}
				if got := what(b); st != (mpi.Status{Tag: 3, Bytes: b.Len()}) || !bytes.Equal(got, text(len(got), round)) {
					return fmt.Errorf("round %d: %+v, or other bytes", round, st)
				}
				if b.Bytes[1] != 0 {
					return fmt.Errorf("the gaps were written to")
				}
			}
			r.Free()
		}
		return nil
	}},
	{"persistent and others match each other", 2, func(c *mpi.Comm) error {
		b := make([]byte, 3000)
		if c.Rank() == 0 {
			r := mpi.SendInit(c, text(1000, 1), 1, 1)
			r.Start()
			r.Wait()
			mpi.Send(c, text(3000, 2), 1, 1)
			r.Start()
			r.Wait()
			r.Free()
			return nil
		}
		r := mpi.RecvInit(c, b, 0, mpi.AnyTag)
		defer r.Free()
		if err := recv(c, 0, 1, mpi.Status{Tag: 1, Bytes: 1000}, 1); err != nil {
			return err
		}
		r.Start()
		if err := equal("the second", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 3000}, 2); err != nil {
			return err
		}
		r.Start()
		return equal("the third", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 1000}, 1)
	}},
	{"inactive requests count as null", 1, func(c *mpi.Comm) error {
		b := make([]byte, 8)
		reqs := []mpi.Request{mpi.RecvInit(c, b, 0, 1), {}, mpi.SendInit(c, text(8, 1), 0, 1), mpi.RecvInit(c, b, mpi.ProcNull, 1)}
		for range 3 {
			for how := range 6 {
				for i, st := range ends(how, reqs) {
					if empty := how < 2; empty && st != null || !empty && st != (mpi.Status{}) {
						return fmt.Errorf("way %d, request %d: %+v", how, i, st)
					}
				}
			}
			if st := reqs[0].Wait(); st != null {
				return fmt.Errorf("Wait: %+v", st)
			}
			if st, ok := reqs[2].Test(); !ok || st != null {
				return fmt.Errorf("Test: %+v, %v", st, ok)
			}
			reqs[3].Start() // which is complete
			if !mpi.TestAll(reqs, nil) {
				return fmt.Errorf("not all are complete that are active")
			}
			if reqs[0].Null() || reqs[2].Null() {
				return fmt.Errorf("a persistent request is null")
			}
			mpi.StartAll([]mpi.Request{reqs[0], reqs[2]})
			again := reqs[0] // names the same operation
			if err := equal("the copy", again.Wait(), b, mpi.Status{Tag: 1, Bytes: 8}, 1); err != nil {
				return err
			}
			if st := reqs[0].Wait(); st != null {
				return fmt.Errorf("Wait after that of a copy: %+v", st)
			}
			reqs[2].Wait()
		}
		reqs[0].Free()
		reqs[2].Free()
		reqs[3].Free()
		return nil
	}},
	{"a persistent buffered send is complete when it is copied", 2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 3*(3000+mpi.BsendOverhead)))
			b := make([]byte, 3000)
			r := mpi.BsendInit(c, b, 1, 1)
			for i := range 3 {
				copy(b, text(3000, i))
				r.Start()
				if _, ok := r.Test(); !ok {
					return fmt.Errorf("start %d is not complete", i)
				}
			}
			r.Free()
			clear(b)
			mpi.Send[byte](c, nil, 1, 2)
			return nil
		}
		return first(
			recv(c, 0, 2, mpi.Status{Tag: 2}, 0),
			recv(c, 0, 1, mpi.Status{Tag: 1, Bytes: 3000}, 0),
			recv(c, 0, 1, mpi.Status{Tag: 1, Bytes: 3000}, 1),
			recv(c, 0, 1, mpi.Status{Tag: 1, Bytes: 3000}, 2),
		)
	}},
	{"persistent, with no process", 1, func(c *mpi.Comm) error {
		none := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
		for i := range 4 {
			r := inits(c)[i](mpi.Of([]byte("lost")), mpi.ProcNull, 1)
			for range 2 {
				r.Start()
				if st, ok := r.Test(); !ok || st != null {
					return fmt.Errorf("send %d: %+v, %v", i, st, ok)
				}
			}
			r.Free()
		}
		r := mpi.RecvInit(c, []byte("kept"), mpi.ProcNull, 1)
		for range 2 {
			r.Start()
			if st := r.Wait(); st != none {
				return fmt.Errorf("receive: %+v", st)
			}
		}
		r.Free()
		return nil
	}},
	{"what is freed completes", 2, func(c *mpi.Comm) error {
		const n = 300
		for i, size := range lengths {
			if c.Rank() == 0 {
				mpi.Recv[byte](c, nil, 1, 5)
				mpi.Ssend(c, text(size, i), 1, 1)
				c.Ssend(fill(sparsely(c, n), i), 1, 2)
				mpi.Ssend(c, text(size, i), 1, 3)
				mpi.Send[byte](c, nil, 1, 5)
				continue
			}
			b, gaps, again := make([]byte, size), sparsely(c, n), make([]byte, size)
			reqs := []mpi.Request{mpi.Irecv(c, b, 0, 1), c.Irecv(gaps, 0, 2), mpi.RecvInit(c, again, 0, 3)}
			reqs[2].Start()
			freeAll(reqs)
			mpi.Send[byte](c, nil, 0, 5)
			mpi.Recv[byte](c, nil, 0, 5) // what was sent before has ended
			if !bytes.Equal(b, text(size, i)) || !bytes.Equal(what(gaps), text(gaps.Len(), i)) || !bytes.Equal(again, b) {
				return fmt.Errorf("%d bytes: not all has come", size)
			}
		}
		return nil
	}},
	{"sends that are freed arrive", 2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 1<<17))
			for i, size := range lengths {
				for m := range 3 {
					r := starters(c)[m](mpi.Of(text(size, i)), 1, 6*i+m)
					r.Free()
					r = inits(c)[m](mpi.Of(text(size, i)), 1, 6*i+3+m)
					r.Start()
					r.Free()
				}
			}
			return nil // Finalize waits for them
		}
		c.Compute(1000 * us)
		for i, size := range lengths {
			for k := range 6 {
				if err := recv(c, 0, 6*i+k, mpi.Status{Tag: 6*i + k, Bytes: size}, i); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"a request that is complete may be freed", 1, func(c *mpi.Comm) error {
		for i := range 10 {
			b := make([]byte, 3000)
			r, s := mpi.Irecv(c, b, 0, 1), mpi.Isend(c, text(3000, i), 0, 1)
			for ok := false; !ok; {
				_, ok = s.Test()
			}
			mpi.Sendrecv[byte, byte](c, nil, 0, 2, nil, 0, 2)
			r.Free()
			if !bytes.Equal(b, text(3000, i)) {
				return fmt.Errorf("message %d has not come", i)
			}
		}
		return nil
	}},
	{"receives that have no message are cancelled", 2, func(c *mpi.Comm) error {
		const n = 20
		if c.Rank() == 1 {
			mpi.Recv[byte](c, nil, 0, 0)
			for i := range n {
				mpi.Send(c, text(lengths[i%len(lengths)], i), 0, 1)
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
		for i, st := range ends(0, reqs) {
			switch {
			case i%2 == 0 && st != undone:
				return fmt.Errorf("receive %d was not cancelled: %+v", i, st)
			case i%2 == 1:
				if err := equal(fmt.Sprint("receive ", i), st, bufs[i], mpi.Status{Source: 1, Tag: 1, Bytes: lengths[i/2%len(lengths)]}, i/2); err != nil {
					return err
				}
			}
		}
		freeAll(reqs)
		return nil
	}},
	{"a cancelled receive with gaps writes nothing", 1, func(c *mpi.Comm) error {
		b := sparsely(c, 40)
		r := c.RecvInit(b, 0, 1)
		r.Start()
		mpi.Send(c, text(b.Len(), 1), 0, 1)
		r.Wait()
		clear(b.Bytes)
		r.Start()
		r.Cancel()
		if st := r.Wait(); st != undone || !bytes.Equal(b.Bytes, make([]byte, len(b.Bytes))) {
			return fmt.Errorf("%+v, or something was written", st)
		}
		r.Free()
		return nil
	}},
	{"a receive that has its message is not cancelled", 2, func(c *mpi.Comm) error {
		for i, size := range lengths {
			if c.Rank() == 0 {
				r := mpi.Isend(c, text(size, i), 1, 1)
				settled(c)
				r.Wait()
				continue
			}
			b := make([]byte, size)
			r := mpi.Irecv(c, b, 0, 1)
			settled(c)
			r.Cancel()
			if err := equal("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: size}, i); err != nil {
				return err
			}
		}
		return nil
	}},
	{"a cancelled request may be freed", 2, func(c *mpi.Comm) error {
		for range 10 {
			if c.Rank() == 0 {
				r := mpi.Irecv(c, make([]byte, 8), 1, 1)
				r.Cancel()
				r.Free()
				s := mpi.Issend(c, text(3000, 1), 1, 1)
				s.Cancel()
				s.Free()
			}
			settled(c)
			if st, ok := c.Iprobe(mpi.AnySource, 1); ok {
				return fmt.Errorf("the message is there: %+v", st)
			}
			settled(c)
		}
		return nil
	}},
	{"sends without a receive are cancelled", 2, func(c *mpi.Comm) error {
		for round := range 4 { // the window is not used up
			for i, size := range lengths {
				if c.Rank() == 0 {
					r := mpi.Issend(c, text(size, i), 1, 1)
					if round%2 == 0 {
						r.Cancel()
					}
					settled(c) // it has arrived
					r.Cancel()
					if st := r.Wait(); st != undone {
						return fmt.Errorf("%d bytes: %+v", size, st)
					}
					settled(c)
					mpi.Send(c, text(size, i+1), 1, 1)
					continue
				}
				settled(c)
				settled(c)
				if err := recv(c, 0, 1, mpi.Status{Tag: 1, Bytes: size}, i+1); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"sends with a receive are not cancelled", 2, func(c *mpi.Comm) error {
		for i, size := range lengths {
			if c.Rank() == 1 {
				b := make([]byte, size)
				r := mpi.Irecv(c, b, 0, 1)
				settled(c)
				if err := equal("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: size}, i); err != nil {
					return err
				}
				settled(c)
				continue
			}
			settled(c)
			r := mpi.Issend(c, text(size, i), 1, 1)
			r.Cancel()
			st := r.Wait()
			if st != null {
				return fmt.Errorf("%d bytes: %+v", size, st)
			}
			settled(c)
		}
		return nil
	}},
	{"a cancel is for the message of its rank", 3, func(c *mpi.Comm) error {
		for i, size := range lengths {
			switch c.Rank() {
			case 0, 1: // the same calls, so the same places
				r := mpi.Issend(c, text(size, 10*i+c.Rank()), 2, 1)
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
				if err := recv(c, mpi.AnySource, 1, mpi.Status{Tag: 1, Bytes: size}, 10*i); err != nil {
					return err
				}
				mpi.Recv[byte](c, nil, 0, 3)
			}
		}
		return nil
	}},
	{"a buffered send is not cancelled", 2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 1<<17))
			for i, size := range lengths {
				r := mpi.Ibsend(c, text(size, i), 1, 1)
				r.Cancel()
				if st := r.Wait(); st != null {
					return fmt.Errorf("%d bytes: %+v", size, st)
				}
			}
			return nil
		}
		for i, size := range lengths {
			if err := recv(c, 0, 1, mpi.Status{Tag: 1, Bytes: size}, i); err != nil {
				return err
			}
		}
		return nil
	}},
	{"persistent requests that were cancelled start again", 2, func(c *mpi.Comm) error {
		b := make([]byte, 3000)
		if c.Rank() == 0 {
			copy(b, text(3000, 1))
			r := mpi.SsendInit(c, b, 1, 1)
			for range 5 {
				r.Start()
				r.Cancel()
				if st := r.Wait(); st != undone || r.Null() {
					return fmt.Errorf("the send: %+v", st)
				}
			}
			r.Start()
			settled(c)
			if st := r.Wait(); st != null {
				return fmt.Errorf("the send that was not cancelled: %+v", st)
			}
			r.Free()
			return nil
		}
		r := mpi.RecvInit(c, b, 0, 1)
		for range 5 {
			r.Start()
			r.Cancel()
			if st := r.Wait(); st != undone || r.Null() {
				return fmt.Errorf("the receive: %+v", st)
			}
		}
		settled(c)
		r.Start()
		defer r.Free()
		return equal("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 3000}, 1)
	}},
	{"Finalize answers a cancel", 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			c.Probe(0, 1)
			mpi.Send[byte](c, nil, 0, 2)
			return nil
		}
		r := mpi.Issend(c, text(3000, 1), 1, 1)
		mpi.Recv[byte](c, nil, 1, 2)
		c.Compute(1000 * us)
		r.Cancel()
		if st := r.Wait(); st != undone {
			return fmt.Errorf("%+v", st)
		}
		return nil
	}},
	{"a cancel that comes to nobody is not waited for", 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			b := make([]byte, 3000)
			r := mpi.Irecv(c, b, 0, 1)
			settled(c)
			return equal("the receive", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 3000}, 1)
		}
		settled(c)
		r := mpi.Issend(c, text(3000, 1), 1, 1)
		c.Compute(20000 * us)
		r.Cancel() // the other rank is gone
		if st := r.Wait(); st != null {
			return fmt.Errorf("%+v", st)
		}
		return nil
	}},
	{"who has ended does without messages", 3, func(c *mpi.Comm) error {
		if c.Rank() > 0 {
			c.Compute(unit.Time(c.Rank()-1) * 1000 * us) // and no call of the library
			return nil
		}
		for round, computes := range []unit.Time{0, 0, 3000 * us, 0} { // the others end before the first cancel, or later
			b := text(3000, round)
			again := c.SsendInit(mpi.Of(b), 1, 4)
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
				if st != undone {
					return fmt.Errorf("round %d: send %d is %+v", round, i, st)
				}
			}
			reqs[3].Free()
			if st, done := kept.Test(); done {
				return fmt.Errorf("round %d: what was not cancelled is %+v", round, st)
			}
			kept.Cancel()
			if st := kept.Wait(); st != undone {
				return fmt.Errorf("round %d: what was cancelled last is %+v", round, st)
			}
		}
		return nil
	}},
	{"an end is that of one rank", 3, func(c *mpi.Comm) error {
		b := text(3000, 1)
		switch c.Rank() {
		case 1:
			return nil
		case 2:
			got := make([]byte, 3000)
			r := mpi.Irecv(c, got, 0, 1)
			c.Compute(20000 * us) // the message comes, and the cancel behind it
			return equal("the receive", r.Wait(), got, mpi.Status{Tag: 1, Bytes: 3000}, 1)
		}
		c.Compute(2000 * us)
		received, dropped := mpi.Issend(c, b, 2, 1), mpi.Issend(c, b, 1, 1)
		received.Cancel()
		dropped.Cancel()
		if st := dropped.Wait(); st != undone {
			return fmt.Errorf("the message to who has ended: %+v", st)
		}
		if st := received.Wait(); st != null {
			return fmt.Errorf("the message that has its receive: %+v", st)
		}
		return nil
	}},
	{"who has ended has received some messages", 2, func(c *mpi.Comm) error {
		const n = 12
		if c.Rank() == 1 {
			for i := 0; i < n; i += 3 {
				b := make([]byte, 3000)
				if err := equal("the receive", mpi.Recv(c, b, 0, i), b, mpi.Status{Tag: i, Bytes: 3000}, i); err != nil {
					return err
				}
			}
			return nil
		}
		var reqs []mpi.Request
		for i := range n {
			reqs = append(reqs, mpi.Issend(c, text(3000, i), 1, i))
		}
		c.Compute(3000 * us)
		for i := range n {
			if i%3 > 0 {
				reqs[i].Cancel()
			}
		}
		for i := range n {
			if st := reqs[i].Wait(); st != null && i%3 == 0 || st != undone && i%3 > 0 {
				return fmt.Errorf("send %d is %+v", i, st)
			}
		}
		return nil
	}},
	{"each message is cancelled or received", 2, func(c *mpi.Comm) error {
		const n, rounds = 40, 6
		r := rand.New(rand.NewPCG(uint64(c.Rank()), 1))
		for round := range rounds {
			reqs, fate := make([]mpi.Request, n), make([]byte, n)
			if c.Rank() == 0 {
				for i := range n {
					reqs[i] = starters(c)[r.IntN(2)](mpi.Of(text(lengths[i%len(lengths)], i)), 1, i)
				}
				mpi.Send[byte](c, nil, 1, n)
				for _, i := range r.Perm(n)[:n/2] {
					reqs[i].Cancel()
					if r.IntN(4) == 0 {
						c.Iprobe(mpi.AnySource, mpi.AnyTag)
					}
					if r.IntN(4) == 0 { // what is half through may end
						continue
					}
					if reqs[i].Wait().Cancelled {
						fate[i] = 1
					}
				}
				mpi.Send(c, fate, 1, n+1)
				for i, st := range ends(round, reqs) {
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
				bufs[i] = make([]byte, lengths[i%len(lengths)])
				if r.IntN(2) == 0 {
					reqs[i] = mpi.Irecv(c, bufs[i], 0, i)
					done[i] = true
				}
			}
			mpi.Recv[byte](c, nil, 0, n)
			for i := range n { // while others are cancelled
				if c.Compute(10 * us); !done[i] && r.IntN(3) == 0 {
					reqs[i] = mpi.Irecv(c, bufs[i], 0, i)
					done[i] = true
					c.Iprobe(0, n)
				}
			}
			known := make([]byte, n)
			mpi.Recv(c, known, 0, n+1)
			for i := range n { // so that nobody waits for a receive that does not come
				if !done[i] && known[i] == 0 {
					reqs[i] = mpi.Irecv(c, bufs[i], 0, i)
				}
			}
			mpi.Recv(c, fate, 0, n+2)
			for i := range n {
				if fate[i] == 1 {
					if reqs[i].Null() {
						continue
					}
					reqs[i].Cancel()
					if st := reqs[i].Wait(); st != undone {
						return fmt.Errorf("round %d: message %d was cancelled and received: %+v", round, i, st)
					}
					continue
				}
				if err := equal(fmt.Sprint("message ", i), reqs[i].Wait(), bufs[i], mpi.Status{Tag: i, Bytes: len(bufs[i])}, i); err != nil {
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
	{"elements that were received", 1, func(c *mpi.Comm) error {
		pair := must(datatype.Struct([]int{1, 1}, []int{0, 8}, []*mpi.Datatype{mpi.Int16, mpi.Float64}))
		none := must(datatype.Contiguous(0, mpi.Int32))
		for _, x := range []struct {
			n, count, elements int
			t                  *mpi.Datatype
		}{
			{0, 0, 0, pair}, {1, mpi.Undefined, mpi.Undefined, pair}, {2, mpi.Undefined, 1, pair}, {9, mpi.Undefined, mpi.Undefined, pair}, {10, 1, 2, pair},
			{12, mpi.Undefined, 3, pair}, {30, 3, 6, pair}, {31, mpi.Undefined, mpi.Undefined, pair}, {30, 3, 30, sparse}, {25, mpi.Undefined, 25, sparse},
			{0, 0, 0, none}, {4, mpi.Undefined, mpi.Undefined, none}, {12, 3, 3, mpi.Int32},
		} {
			r := mpi.Irecv(c, make([]byte, 100), 0, 1)
			mpi.Send(c, make([]byte, x.n), 0, 1)
			if st := r.Wait(); st.Count(x.t) != x.count || st.Elements(x.t) != x.elements {
				return fmt.Errorf("%d bytes of %v: %d, %d elements, want %d, %d", x.n, x.t, st.Count(x.t), st.Elements(x.t), x.count, x.elements)
			}
		}
		return nil
	}},
}

func TestRequests(t *testing.T) {
	for _, s := range requesting {
		t.Run(s.name, func(t *testing.T) { holdsEverywhere(t, s.ranks, s.program) })
	}
}
