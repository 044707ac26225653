package devicetest

import (
	"fmt"
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

func withSignal(program func(*rank, device.Signal) error) func(*rank) error {
	return withCapability("signals", device.Port.Signal, program)
}

// A cancel has to end whatever the peer does. So a handler runs though its rank computes, and
// before it makes its next call.
func checkSignalInterruptsComputing(open func(int) device.World) error {
	const busy, tries, enough = 200 * unit.Millisecond, 5, 0 // something else may be in the way of a real world
	return runWithinLimit(open(2), withSignal(func(p *rank, s device.Signal) error {
		if p.Rank() == 0 {
			s.SetHandler(func(src int, head device.Head) { p.Send(src, &device.Packet{Head: head}) })
			for {
				p.sendWord(1, 0)
				p.Delay(busy)
				if answer, err := p.recvWord(1); err != nil || answer == enough {
					return err
				}
			}
		}
		var took unit.Time
		for try := range tries {
			if _, err := p.recvFrom(0); err != nil {
				return err
			}
			start := p.Now()
			s.RaiseAt(0, headWithTag(try))
			if q, err := p.recvFrom(0); err != nil || q.Head != headWithTag(try) {
				return fmt.Errorf("the handler answered %v to signal %d: %v", q.Head, try, err)
			}
			if took = p.Now() - start; took < busy/2 {
				p.sendWord(0, enough)
				return nil
			}
			p.sendWord(0, 1)
		}
		return fmt.Errorf("a handler answered after %v while its rank was busy for %v", took, busy)
	}))
}

// Every signal runs the handler once, those of one sender in order, and no two at a time, though
// the rank masks them now and then and some come before there is a handler.
func checkSignalOrder(open func(int) device.World) error {
	const n, each = 4, 200
	return runWithinLimit(open(n), withSignal(func(p *rank, s device.Signal) error {
		if p.Rank() != 0 {
			for i := range each {
				s.RaiseAt(0, headWithTag(i))
			}
			return p.checkNoPacketLeft()
		}
		var inside atomic.Int32
		var next [n]int // with signals masked, or by the handler
		var wrong error
		from, to := make([]byte, 100000), make([]byte, 100000) // takes a while to copy
		p.Delay(50 * unit.Microsecond)
		s.SetHandler(func(src int, head device.Head) {
			if inside.Add(1) != 1 {
				wrong = fmt.Errorf("two handlers run at a time")
			}
			if want := headWithTag(next[src]); head != want {
				wrong = fmt.Errorf("signal %v of rank %d came in place of %v", head, src, want)
			}
			next[src]++
			p.Copy(to, from)
			inside.Add(-1)
		})
		p.Delay(100 * unit.Microsecond) // handlers run meanwhile
		for sum := 0; sum < (n-1)*each; {
			s.Mask(true)
			if inside.Load() != 0 {
				return fmt.Errorf("a handler runs when signals have been masked")
			}
			sum = next[1] + next[2] + next[3]
			p.Delay(unit.Microsecond)
			if wrong != nil {
				return wrong
			}
			if now := next[1] + next[2] + next[3]; now != sum {
				return fmt.Errorf("%d handlers ran while signals were masked", now-sum)
			}
			s.Mask(false)
			p.Delay(unit.Microsecond)
		}
		return p.checkNoPacketLeft()
	}))
}

// Signals that are masked wait, and have run when they are unmasked. A put that was started behind
// a signal tells when that has come.
func checkSignalMask(open func(int) device.World) error {
	const rounds, signals = 50, 3
	return runWithinLimit(open(1), withMemory(func(p *rank, m device.Memory) error {
		return withSignal(func(p *rank, s device.Signal) error {
			k := m.Expose(make([]byte, 8))
			count := 0
			s.SetHandler(func(int, device.Head) { count++ })
			for i := range rounds {
				s.Mask(true)
				before := count
				for range signals {
					s.RaiseAt(0, headWithTag(0))
				}
				m.Put(0, k, 0, encodeWord(0), headWithTag(i))
				if err := p.awaitCompletion(i); err != nil {
					return err
				}
				p.Delay(20 * unit.Microsecond)
				if count != before {
					return fmt.Errorf("round %d: %d handlers ran while signals were masked", i, count-before)
				}
				s.Mask(false)
				if count != before+signals {
					return fmt.Errorf("round %d: of %d signals %d have run when they were unmasked", i, signals, count-before)
				}
			}
			return nil
		})(p)
	}))
}

// A handler may do what starts something and does not wait: send, put, enqueue, and raise in its
// turn.
func checkCallsInHandler(open func(int) device.World) error {
	const rounds = 50
	return runWithinLimit(open(2), withSignal(func(p *rank, s device.Signal) error {
		m, q := p.Memory(), p.Queues()
		peer := 1 - p.Rank()
		var memory, queue device.Key
		if m != nil {
			memory = m.Expose(make([]byte, 8))
		}
		if q != nil {
			queue = q.Create(rounds * (8 + device.EntryOverhead))
		}
		p.Send(peer, &device.Packet{Head: device.Head{uint64(memory), uint64(queue)}})
		keys, err := p.recvFrom(peer)
		if err != nil {
			return err
		}
		theirs := keys.Head
		s.SetHandler(func(src int, head device.Head) {
			i := head[0]
			p.Now()
			p.Spend(0, p.Copy(make([]byte, 10), make([]byte, 10)))
			if m != nil {
				m.Put(src, device.Key(theirs[0]), 0, encodeWord(i), headWithTag(-1))
			}
			if q != nil {
				q.Enqueue(src, device.Key(theirs[1]), encodeWord(i), device.RetryAfterRefusal|device.CompleteOnlyIfRefused, headWithTag(-2))
			}
			if i < 2*rounds {
				s.RaiseAt(src, device.Head{i + 1})
			} else {
				p.sendWord(p.Rank(), 0)
				p.sendWord(src, 0)
			}
		})
		p.barrier()
		if p.Rank() == 0 {
			s.RaiseAt(1, device.Head{1})
		}
		for ended := false; !ended; {
			c := p.recvNext()
			ended = c.Head == device.Head{}
			if !ended && c.Head != headWithTag(-1) && c.Head != headWithTag(-2) {
				return fmt.Errorf("rank %d: packet %v of rank %d", p.Rank(), c.Head, c.Src)
			}
		}
		p.barrier()
		return nil
	}))
}

// A rank that waits for events sees what its handler has done.
func checkSignalsAreEvents(open func(int) device.World) error {
	const rounds = 200
	return runWithinLimit(open(2), withSignal(func(p *rank, s device.Signal) error {
		return withWatch(func(p *rank, w device.Watch) error {
			var last atomic.Uint64
			s.SetHandler(func(_ int, head device.Head) { last.Store(head[0]) })
			for i := uint64(1); i <= rounds; i++ {
				if (int(i)+p.Rank())%2 == 0 {
					s.RaiseAt(1-p.Rank(), device.Head{i})
				} else {
					waitUntil(w, func() bool { return last.Load() == i })
				}
			}
			return p.checkNoPacketLeft()
		})(p)
	}))
}

// A put that was started before a signal is there when its handler runs.
func checkPutPrecedesSignal(open func(int) device.World) error {
	const rounds, size = 50, 30000
	return runWithinLimit(open(2), withMemory(func(p *rank, m device.Memory) error {
		return withSignal(func(p *rank, s device.Signal) error {
			if p.Rank() == 0 {
				b := make([]byte, size)
				s.SetHandler(func(src int, head device.Head) {
					ok := uint64(1)
					if checkSameBytes(b, randomBytes(size, int(head[0]))) != nil {
						ok = 0
					}
					p.sendWord(src, ok)
				})
				p.sendWord(1, uint64(m.Expose(b)))
				return p.checkNoPacketLeft()
			}
			k, err := p.recvWord(0)
			if err != nil {
				return err
			}
			for i := range rounds {
				m.Put(0, device.Key(k), 0, randomBytes(size, i), headWithTag(-1))
				s.RaiseAt(0, device.Head{uint64(i)})
				for range 2 { // the completion and the answer
					if c := p.recvNext(); c.Src == 0 && c.Head[0] == 0 {
						return fmt.Errorf("round %d: the handler did not find what was put", i)
					}
				}
			}
			return p.checkNoPacketLeft()
		})(p)
	}))
}

// A handler that panics is a failure of its rank, and a rank that has ended has no handler.
func checkHandlerEnds(open func(int) device.World) error {
	w := open(3)
	err := runWithinLimit(w, withSignal(func(p *rank, s device.Signal) error {
		if p.Rank() == 1 {
			s.SetHandler(func(int, device.Head) { panic(errDeliberate) })
			p.barrier()
			p.Recv(true)
		}
		p.barrier()
		if p.Rank() == 0 {
			s.RaiseAt(1, headWithTag(0))
		}
		p.Recv(true)
		return nil
	}))
	if isMissingCapability(err) {
		return err
	}
	if err := checkFailure(err, 1, errDeliberate.Error()); err != nil {
		return err
	}
	return runWithinLimit(w, withSignal(func(p *rank, s device.Signal) error {
		s.SetHandler(func(src int, _ device.Head) { p.sendWord(src, 0) })
		if p.Rank() == 0 {
			p.NotifyExit(1, headWithTag(1))
			if _, err := p.recvFrom(1); err != nil {
				return err
			}
			for range 100 {
				s.RaiseAt(1, headWithTag(0))
			}
			p.Delay(unit.Millisecond)
			if p.recvUnlessBarrier(false) != nil {
				return fmt.Errorf("a handler ran after the end of its rank")
			}
		}
		return nil
	}))
}

// A handler that is under way may wake a rank: there is no deadlock. One that is masked wakes
// no rank.
func checkDeadlockWithSignal(open func(int) device.World) error {
	w := open(2)
	for range 20 {
		err := runWithinLimit(w, withSignal(func(p *rank, s device.Signal) error {
			s.SetHandler(func(src int, _ device.Head) { p.sendWord(src, 0) })
			p.barrier()
			s.RaiseAt(1-p.Rank(), headWithTag(0))
			_, err := p.recvFrom(1 - p.Rank())
			p.barrier() // a rank that has ended has no handler
			return err
		}))
		if err != nil {
			return err
		}
	}
	return checkDeadlock(runWithinLimit(w, withSignal(func(p *rank, s device.Signal) error {
		s.SetHandler(func(src int, _ device.Head) { p.sendWord(src, 0) })
		s.Mask(true)
		p.barrier()
		s.RaiseAt(1-p.Rank(), headWithTag(0))
		p.Recv(true)
		return nil
	})), 2, 0, 1)
}
