package enginetest

import (
	"bytes"
	"fmt"

	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// requestLaws are the laws of completion, and of persistent and freed requests.
var requestLaws = []law{
	{name: "wait for any, some and all", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 12
		if c.Rank() == 0 {
			for i := range n { // in reverse order
				mpi.Recv[byte](c, nil, 1, 0)
				mpi.Send(c, program.Payload(messageLengths[n-1-i], n-1-i), 1, n-1-i)
			}
			return nil
		}
		var bufs [n][20000]byte
		reqs := make([]mpi.Request, n+2)
		for i := range n {
			reqs[i+1] = mpi.Irecv(c, bufs[i][:], 0, i) // with a null request at each end
		}
		check := func(at int, st mpi.Status) error {
			if !reqs[at].IsNull() {
				return fmt.Errorf("request %d is complete and not null", at)
			}
			return checkReceived(fmt.Sprint("request ", at), st, bufs[at-1][:], mpi.Status{Tag: at - 1, Bytes: messageLengths[at-1]}, at-1)
		}
		for i := range n {
			mpi.Send[byte](c, nil, 0, 0)
			at, st := -1, mpi.Status{}
			switch i % 6 {
			case 0:
				at, st = mpi.WaitAny(reqs)
			case 1:
				for ok := false; !ok; {
					at, st, ok = mpi.TestAny(reqs)
				}
			case 2, 3:
				index, sts := make([]int, n+2), make([]mpi.Status, n+2)
				k := 0
				if i%6 == 2 {
					k = mpi.WaitSome(reqs, index, sts)
				}
				for k == 0 {
					k = mpi.TestSome(reqs, index, sts)
				}
				if k != 1 {
					return fmt.Errorf("%d are complete, want 1", k)
				}
				at, st = index[0], sts[0]
			case 4:
				at = n - i
				st = reqs[at].Wait()
			case 5:
				at = n - i
				for ok := false; !ok; {
					if i < n-1 && mpi.TestAll(reqs, nil) {
						return fmt.Errorf("all are complete after %d of %d", i, n)
					}
					st, ok = reqs[at].Test()
				}
			}
			if at != n-i {
				return fmt.Errorf("request %d is complete, want %d", at, n-i)
			}
			if err := check(at, st); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "all that are complete", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 8
		if c.Rank() == 0 {
			for round := range 3 {
				mpi.Recv[byte](c, nil, 1, 0)
				for i := range n {
					mpi.Send(c, program.Payload(messageLengths[i], i), 1, i+round)
				}
				mpi.Send[byte](c, nil, 1, 99)
			}
			return nil
		}
		for round := range 3 {
			var bufs [n][500]byte
			reqs, st, index := make([]mpi.Request, n), make([]mpi.Status, n), make([]int, n)
			for i := range reqs {
				reqs[i] = mpi.Irecv(c, bufs[i][:], 0, i+round)
			}
			mpi.Send[byte](c, nil, 0, 0)
			mpi.Recv[byte](c, nil, 0, 99) // messages do not overtake, but may complete in any order
			switch round {
			case 0:
				mpi.WaitAll(reqs, st)
			case 1:
				for !mpi.TestAll(reqs, st) {
				}
			case 2:
				for left := n; left > 0; {
					some := make([]mpi.Status, n)
					k := mpi.WaitSome(reqs, index, some)
					for j := range k {
						st[index[j]] = some[j]
					}
					left -= k
				}
			}
			for i := range reqs {
				if err := checkReceived(fmt.Sprint("request ", i), st[i], bufs[i][:], mpi.Status{Tag: i + round, Bytes: messageLengths[i]}, i); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{name: "null requests are complete", ranks: 1, program: func(c *mpi.Comm) error {
		null := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
		reqs, st, index := make([]mpi.Request, 2), make([]mpi.Status, 2), make([]int, 2)
		if got := reqs[0].Wait(); got != null {
			return fmt.Errorf("mpi.Wait: %+v", got)
		}
		if got, ok := reqs[0].Test(); !ok || got != null {
			return fmt.Errorf("mpi.Test: %+v, %v", got, ok)
		}
		if i, got := mpi.WaitAny(reqs); i != -1 || got != null {
			return fmt.Errorf("mpi.WaitAny: %d, %+v", i, got)
		}
		if i, got, ok := mpi.TestAny(reqs); i != -1 || got != null || !ok {
			return fmt.Errorf("mpi.TestAny: %d, %+v, %v", i, got, ok)
		}
		if n, m := mpi.WaitSome(reqs, index, st), mpi.TestSome(reqs, index, st); n != -1 || m != -1 {
			return fmt.Errorf("mpi.WaitSome: %d, TestSome: %d", n, m)
		}
		if mpi.WaitAll(reqs, st); st[0] != null || st[1] != null {
			return fmt.Errorf("mpi.WaitAll: %+v", st)
		}
		if st[0].Tag = 0; !mpi.TestAll(reqs, st) || st[0] != null {
			return fmt.Errorf("mpi.TestAll: %+v", st)
		}
		if i, got, ok := mpi.TestAny(nil); i != -1 || got != null || !ok {
			return fmt.Errorf("mpi.TestAny of nothing: %d, %+v, %v", i, got, ok)
		}
		return nil
	}},
	{name: "many requests", ranks: 3, program: func(c *mpi.Comm) error {
		const n = 400
		right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
		bufs := make([][]byte, n)
		recvs, sends := make([]mpi.Request, n), make([]mpi.Request, n)
		for i := range n {
			bufs[i] = make([]byte, i)
			recvs[i] = mpi.Irecv(c, bufs[i], left, i)
		}
		for i := range n {
			i = n - 1 - i
			sends[i] = mpi.Isend(c, program.Payload(i, 1000*c.Rank()+i), right, i)
		}
		st := make([]mpi.Status, n)
		mpi.WaitAll(recvs, st)
		mpi.WaitAll(sends, nil)
		for i := range n {
			if err := checkReceived(fmt.Sprint("message ", i), st[i], bufs[i], mpi.Status{Source: left, Tag: i, Bytes: i}, 1000*left+i); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "persistent, in every mode", ranks: 2, program: func(c *mpi.Comm) error {
		const rounds = 8
		n := 4 * len(messageLengths)
		reqs, bufs := make([]mpi.Request, n), make([][]byte, n)
		c.AttachBuffer(make([]byte, 1<<17))
		for i := range n {
			bufs[i] = make([]byte, messageLengths[i/4])
			if c.Rank() == 0 {
				reqs[i] = persistentSends(c)[i%4](mpi.BufferOf(bufs[i]), 1, i)
			} else {
				reqs[i] = mpi.RecvInit(c, bufs[i], []int{0, mpi.AnySource}[i%2], i)
			}
		}
		for round := range rounds {
			if c.Rank() == 1 {
				mpi.StartAll(reqs)
				synchronizeComm(c) // the receives of ready sends are posted
				for i, st := range waitForAllBy(round, reqs) {
					if err := checkReceived(fmt.Sprint("round ", round, ", message ", i), st, bufs[i], mpi.Status{Tag: i, Bytes: len(bufs[i])}, 1000*round+i); err != nil {
						return err
					}
				}
				continue
			}
			for i := range n {
				copy(bufs[i], program.Payload(len(bufs[i]), 1000*round+i))
			}
			synchronizeComm(c)
			for i := range n / 2 {
				reqs[i].Start()
			}
			mpi.StartAll(reqs[n/2:])
			for i, st := range waitForAllBy(round, reqs) {
				if st != nullStatus {
					return fmt.Errorf("send %d: %+v", i, st)
				}
			}
		}
		freeRequests(reqs)
		if !reqs[0].IsNull() {
			return fmt.Errorf("a freed request is not null")
		}
		return nil
	}},
	{name: "persistent, with gaps", ranks: 2, program: func(c *mpi.Comm) error {
		for _, n := range []int{1, 40, 300} {
			b := bufferWithGaps(n)
			r := c.SendInit(b, 1, 3)
			if c.Rank() == 1 {
				r.Free()
				r = c.RecvInit(b, 0, 3)
			}
			for round := range 3 {
				if c.Rank() == 0 {
					fillWithText(b, round)
				}
				r.Start()
				st := r.Wait()
				if c.Rank() == 0 {
					continue
				}
				if got := textOf(b); st != (mpi.Status{Tag: 3, Bytes: b.Len()}) || !bytes.Equal(got, program.Payload(len(got), round)) {
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
	{name: "persistent and others match each other", ranks: 2, program: func(c *mpi.Comm) error {
		b := make([]byte, 3000)
		if c.Rank() == 0 {
			r := mpi.SendInit(c, program.Payload(1000, 1), 1, 1)
			r.Start()
			r.Wait()
			mpi.Send(c, program.Payload(3000, 2), 1, 1)
			r.Start()
			r.Wait()
			r.Free()
			return nil
		}
		r := mpi.RecvInit(c, b, 0, mpi.AnyTag)
		defer r.Free()
		if err := recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 1000}, 1); err != nil {
			return err
		}
		r.Start()
		if err := checkReceived("the second", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 3000}, 2); err != nil {
			return err
		}
		r.Start()
		return checkReceived("the third", r.Wait(), b, mpi.Status{Tag: 1, Bytes: 1000}, 1)
	}},
	{name: "inactive requests count as null", ranks: 1, program: func(c *mpi.Comm) error {
		b := make([]byte, 8)
		reqs := []mpi.Request{mpi.RecvInit(c, b, 0, 1), {}, mpi.SendInit(c, program.Payload(8, 1), 0, 1), mpi.RecvInit(c, b, mpi.ProcNull, 1)}
		for range 3 {
			for how := range 6 {
				for i, st := range waitForAllBy(how, reqs) {
					if empty := how < 2; empty && st != nullStatus || !empty && st != (mpi.Status{}) {
						return fmt.Errorf("way %d, request %d: %+v", how, i, st)
					}
				}
			}
			if st := reqs[0].Wait(); st != nullStatus {
				return fmt.Errorf("mpi.Wait: %+v", st)
			}
			if st, ok := reqs[2].Test(); !ok || st != nullStatus {
				return fmt.Errorf("mpi.Test: %+v, %v", st, ok)
			}
			reqs[3].Start() // its operation is complete
			if !mpi.TestAll(reqs, nil) {
				return fmt.Errorf("not all are complete that are active")
			}
			if reqs[0].IsNull() || reqs[2].IsNull() {
				return fmt.Errorf("a persistent request is null")
			}
			mpi.StartAll([]mpi.Request{reqs[0], reqs[2]})
			again := reqs[0] // refers to the same operation
			if err := checkReceived("the copy", again.Wait(), b, mpi.Status{Tag: 1, Bytes: 8}, 1); err != nil {
				return err
			}
			if st := reqs[0].Wait(); st != nullStatus {
				return fmt.Errorf("mpi.Wait after that of a copy: %+v", st)
			}
			reqs[2].Wait()
		}
		reqs[0].Free()
		reqs[2].Free()
		reqs[3].Free()
		return nil
	}},
	{name: "a persistent buffered send is complete when it is copied", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 3*(3000+mpi.BsendOverhead)))
			b := make([]byte, 3000)
			r := mpi.BsendInit(c, b, 1, 1)
			for i := range 3 {
				copy(b, program.Payload(3000, i))
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
		return firstError(
			recvAndCheck(c, 0, 2, mpi.Status{Tag: 2}, 0),
			recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 3000}, 0),
			recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 3000}, 1),
			recvAndCheck(c, 0, 1, mpi.Status{Tag: 1, Bytes: 3000}, 2),
		)
	}},
	{name: "persistent, with no process", ranks: 1, program: func(c *mpi.Comm) error {
		none := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
		for i := range 4 {
			r := persistentSends(c)[i](mpi.BufferOf([]byte("lost")), mpi.ProcNull, 1)
			for range 2 {
				r.Start()
				if st, ok := r.Test(); !ok || st != nullStatus {
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
	{name: "operations that are freed complete", ranks: 2, program: func(c *mpi.Comm) error {
		const n = 300
		for i, size := range messageLengths {
			if c.Rank() == 0 {
				mpi.Recv[byte](c, nil, 1, 5)
				mpi.Ssend(c, program.Payload(size, i), 1, 1)
				c.Ssend(fillWithText(bufferWithGaps(n), i), 1, 2)
				mpi.Ssend(c, program.Payload(size, i), 1, 3)
				mpi.Send[byte](c, nil, 1, 5)
				continue
			}
			b, gaps, again := make([]byte, size), bufferWithGaps(n), make([]byte, size)
			reqs := []mpi.Request{mpi.Irecv(c, b, 0, 1), c.Irecv(gaps, 0, 2), mpi.RecvInit(c, again, 0, 3)}
			reqs[2].Start()
			freeRequests(reqs)
			mpi.Send[byte](c, nil, 0, 5)
			mpi.Recv[byte](c, nil, 0, 5) // earlier messages have arrived
			if !bytes.Equal(b, program.Payload(size, i)) || !bytes.Equal(textOf(gaps), program.Payload(gaps.Len(), i)) || !bytes.Equal(again, b) {
				return fmt.Errorf("%d bytes: not all has come", size)
			}
		}
		return nil
	}},
	{name: "sends that are freed arrive", ranks: 2, program: func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, 1<<17))
			for i, size := range messageLengths {
				for m := range 3 {
					r := nonBlockingSends(c)[m](mpi.BufferOf(program.Payload(size, i)), 1, 6*i+m)
					r.Free()
					r = persistentSends(c)[m](mpi.BufferOf(program.Payload(size, i)), 1, 6*i+3+m)
					r.Start()
					r.Free()
				}
			}
			return nil // Finalize waits for them
		}
		c.Compute(1000 * microsecond)
		for i, size := range messageLengths {
			for k := range 6 {
				if err := recvAndCheck(c, 0, 6*i+k, mpi.Status{Tag: 6*i + k, Bytes: size}, i); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{name: "a request that is complete may be freed", ranks: 1, program: func(c *mpi.Comm) error {
		for i := range 10 {
			b := make([]byte, 3000)
			r, s := mpi.Irecv(c, b, 0, 1), mpi.Isend(c, program.Payload(3000, i), 0, 1)
			for ok := false; !ok; {
				_, ok = s.Test()
			}
			mpi.Sendrecv[byte, byte](c, nil, 0, 2, nil, 0, 2)
			r.Free()
			if !bytes.Equal(b, program.Payload(3000, i)) {
				return fmt.Errorf("message %d has not come", i)
			}
		}
		return nil
	}},
}

var (
	nullStatus      = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
	cancelledStatus = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag, Cancelled: true}
	typeWithGaps    = mustCommit(datatype.Vector(10, 1, 3, mpi.Byte)) // 10 of 28 bytes are data
	bufferWithGaps  = func(n int) mpi.Buffer {                        // n elements with gaps
		return mpi.Buffer{Bytes: make([]byte, n*typeWithGaps.Extent()), Count: n, Type: typeWithGaps}
	}
)

// fillWithText fills the data of a buffer with a text.
func fillWithText(b mpi.Buffer, seed int) mpi.Buffer {
	b.Scatter(program.Payload(b.Len(), seed), func(dst, src []byte) int { return copy(dst, src) })
	return b
}

func textOf(b mpi.Buffer) []byte {
	flat := make([]byte, b.Len())
	b.Gather(flat, func(dst, src []byte) int { return copy(dst, src) })
	return flat
}

// persistentSends are the functions for persistent sends, in the order of starters.
func persistentSends(c *mpi.Comm) []func(mpi.Buffer, int, int) mpi.Request {
	return []func(mpi.Buffer, int, int) mpi.Request{c.SendInit, c.SsendInit, c.BsendInit, c.RsendInit}
}

// waitForAllBy completes all requests in one of several ways.
func waitForAllBy(how int, reqs []mpi.Request) []mpi.Status {
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

func freeRequests(reqs []mpi.Request) {
	for i := range reqs {
		reqs[i].Free()
	}
}

// synchronizeComm makes progress until the other of two ranks does so, too. Its earlier messages
// have then arrived.
func synchronizeComm(c *mpi.Comm) {
	mpi.Sendrecv[byte, byte](c, nil, 1-c.Rank(), 99, nil, 1-c.Rank(), 99)
}

func mustCommit(t *mpi.Datatype, err error) *mpi.Datatype {
	if err != nil {
		panic(err)
	}
	return t.Commit()
}
