package devicetest

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// A rank that gives up what it has sent to another has to know that no answer will come any more.
// So the packet that tells of the exit comes behind all that the other has sent, whether the rank
// asks for it before the exit or after it, and whether it waits or polls.
func checkExitNotices(open func(int) device.World) error {
	const packets = 30
	for _, before := range []bool{true, false} { // rank 0 asks before others send anything, or when they have ended, most likely
		for _, block := range []bool{true, false} {
			err := runWithinLimit(open(4), func(p *rank) error {
				if p.Rank() != 0 {
					if before {
						p.recvFrom(0)
					}
					for i := range packets * (p.Rank() - 1) {
						p.Send(0, &device.Packet{Head: headWithTag(i), Data: make([]byte, i*i*40)})
					}
					return nil
				}
				for r := range 4 {
					if !before {
						p.Delay(unit.Millisecond)
					}
					p.NotifyExit(r, headWithTag(-1-r)) // for its own exit it gets none
					if before && r != 0 {
						p.NotifyExit(r, headWithTag(-1-r))
						p.sendWord(r, 0)
					}
				}
				var next [4]int
				for range 3*packets + 3 {
					q := p.recvUnlessBarrier(block)
					for q == nil {
						q = p.recvUnlessBarrier(block)
					}
					i := next[q.Src]
					next[q.Src]++
					want, bytes := headWithTag(i), i*i*40
					if i == packets*(q.Src-1) {
						want, bytes = headWithTag(-1-q.Src), 0
					}
					if q.Head != want || len(q.Data) != bytes {
						return fmt.Errorf("asked before: %v: packet %d of rank %d has head %v and %d bytes", before, i, q.Src, q.Head, len(q.Data))
					}
				}
				if q := p.recvUnlessBarrier(false); q != nil {
					return fmt.Errorf("asked before: %v: one more packet of rank %d", before, q.Src)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A rank that asks again after an exit gets a packet again, and so do others. A rank that has ended
// gets none, and what it has asked for keeps no other from its exit.
func checkRepeatedExitNotices(open func(int) device.World) error {
	const n, times = 4, 5
	return runWithinLimit(open(n), func(p *rank) error {
		switch p.Rank() {
		case 1:
			p.NotifyExit(0, headWithTag(1)) // which ends later
			return nil
		case 2:
			p.NotifyExit(1, headWithTag(1))
			return nil
		}
		for i := range times {
			for _, r := range []int{1, 2} {
				p.NotifyExit(r, headWithTag(i))
				if q, err := p.recvFrom(r); err != nil || q.Head != headWithTag(i) {
					return fmt.Errorf("rank %d, notice %d: %v: %v", p.Rank(), i, q.Head, err)
				}
			}
		}
		return nil
	})
}

// A rank that waits for the exit of another waits for something that will come, unless the other
// does not end: then they may wait for each other.
func checkDeadlockInExitWait(open func(int) device.World) error {
	w := open(3)
	for _, few := range []device.World{open(2), w} { // two may spin where three sleep
		for i := range 20 {
			err := runWithinLimit(few, func(p *rank) error {
				if p.Rank() == 0 {
					p.Delay(unit.Time(i) * unit.Millisecond / 5)
					return nil
				}
				p.NotifyExit(0, headWithTag(i))
				_, err := p.recvFrom(0)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	for _, first := range []int{0, 1} {
		err := runWithinLimit(w, func(p *rank) error {
			if p.Rank() == 2 {
				return nil
			}
			p.NotifyExit(1-p.Rank(), headWithTag(1))
			if p.Rank() == first {
				p.NotifyExit(2, headWithTag(2))
				p.recvFrom(2)
			}
			p.Recv(true)
			return nil
		})
		if err := checkDeadlock(err, 3, 0, 1); err != nil {
			return err
		}
	}
	return nil
}
