package devicetest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// encodeWord returns a word as it lies in memory.
func encodeWord(w uint64) []byte { return binary.NativeEndian.AppendUint64(nil, w) }

// Ranks that only write flags into each other's memory meet again and again, whether they poll or
// wait and whatever comes first, the wait or the flag. A wake-up that is lost once hangs the job.
func checkFlagsNotLost(open func(int) device.World) error {
	const rounds = 500
	for _, waits := range [][2]bool{{true, true}, {false, true}, {false, false}} {
		err := runWithinLimit(open(2), withMemoryAndWatch(func(p *rank, m device.Memory, w device.Watch) error {
			b := make([]byte, 16)
			mine, peer := m.Expose(b), 1-p.Rank()
			p.sendWord(peer, uint64(mine))
			theirs, err := p.recvWord(peer)
			if err != nil {
				return err
			}
			r := rand.New(rand.NewPCG(1, uint64(p.Rank())))
			for i := uint64(1); i <= rounds; i++ {
				if r.IntN(4) == 0 {
					p.Delay(unit.Time(r.IntN(5)) * unit.Microsecond)
				}
				m.Put(peer, device.Key(theirs), 8, encodeWord(i), headWithTag(0))
				if err := p.awaitCompletion(0); err != nil { // else it might wake the rank in place of the flag
					return err
				}
				var got uint64
				if waits[p.Rank()] {
					got = device.WaitForWordChange(w, mine, 8, i-1)
				} else {
					for got = w.LoadWord(mine, 8); got == i-1; got = w.LoadWord(mine, 8) {
					}
				}
				if got != i && got != i+1 { // the other may be a round ahead
					return fmt.Errorf("rank %d: the word is %d in round %d", p.Rank(), got, i)
				}
			}
			return p.checkNoPacketLeft()
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// A flag says that the data is there: that of its own put and that of the puts before it.
func checkFlagFollowsData(open func(int) device.World) error {
	const rounds, size = 50, 40000
	return runWithinLimit(open(2), withMemoryAndWatch(func(p *rank, m device.Memory, w device.Watch) error {
		if p.Rank() == 0 {
			b := make([]byte, 2*size+8)
			k := m.Expose(b)
			p.sendWord(1, uint64(k))
			for i := range rounds {
				if got := device.WaitForWordChange(w, k, 2*size, uint64(i)); got != uint64(i)+1 {
					return fmt.Errorf("the flag is %d in round %d", got, i)
				}
				if err := checkSameBytes(b[:2*size], randomBytes(2*size, i)); err != nil {
					return fmt.Errorf("round %d: %w", i, err)
				}
				p.sendWord(1, 0)
			}
			return p.checkNoPacketLeft()
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		for i := range rounds {
			data := randomBytes(2*size, i)
			m.Put(0, device.Key(k), 0, data[:size], headWithTag(0))
			m.Put(0, device.Key(k), size, append(data[size:], encodeWord(uint64(i)+1)...), headWithTag(1))
			for range 3 { // two completions, and the answer, in any order
				p.recvNext()
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// A word is the unit of agreement between ranks: half of one that is being written is never seen.
func checkWordsAtomic(open func(int) device.World) error {
	const writes = 2000
	return runWithinLimit(open(2), withMemoryAndWatch(func(p *rank, m device.Memory, w device.Watch) error {
		if p.Rank() == 0 {
			k := m.Expose(make([]byte, 24))
			p.sendWord(1, uint64(k))
			for p.recvUnlessBarrier(false) == nil {
				if got := w.LoadWord(k, 8); got != 0 && got != ^uint64(0) {
					return fmt.Errorf("half of a word is there: %#x", got)
				}
			}
			return nil
		}
		k, err := p.recvWord(0)
		if err != nil {
			return err
		}
		for i := range writes {
			m.Put(0, device.Key(k), 8, encodeWord(-uint64(i%2)), headWithTag(0))
			if err := p.awaitCompletion(0); err != nil {
				return err
			}
		}
		p.sendWord(0, 0)
		return nil
	}))
}

// A rank that waits for events, or polls their number, sees its packets and completions, too.
func checkPacketsAreEvents(open func(int) device.World) error {
	const rounds = 200
	return runWithinLimit(open(2), withWatch(func(p *rank, w device.Watch) error {
		for i := range rounds {
			if (i+p.Rank())%2 == 0 {
				p.Delay(unit.Time(i%7) * unit.Microsecond)
				p.sendWord(1-p.Rank(), uint64(i))
				continue
			}
			var q *device.Packet
			if i%3 == 0 {
				for seen := w.EventCount(); q == nil; seen = w.EventCount() {
					if q = p.recvUnlessBarrier(false); q == nil {
						for w.EventCount() == seen {
						}
					}
				}
			} else {
				waitUntil(w, func() bool { q = p.recvUnlessBarrier(false); return q != nil })
			}
			if q.Head[0] != uint64(i) {
				return fmt.Errorf("rank %d: packet %d came in place of %d", p.Rank(), q.Head[0], i)
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// A rank that retransmits waits until a time, no less and not for ever.
func checkWatchDeadlines(open func(int) device.World) error {
	return runWithinLimit(open(2), withWatch(func(p *rank, w device.Watch) error {
		if p.Rank() == 1 {
			if _, err := p.recvFrom(0); err != nil {
				return err
			}
			p.Delay(unit.Millisecond)
			p.sendWord(0, 0)
			return nil
		}
		for _, d := range []unit.Time{-unit.Second, 0, unit.Microsecond, 300 * unit.Microsecond, 20 * unit.Millisecond} {
			deadline := p.Now() + d
			if w.WaitForEvent(w.EventCount(), deadline) {
				return fmt.Errorf("an event of rank 0, to which nothing has happened")
			}
			if now := p.Now(); now < deadline {
				return fmt.Errorf("a wait until %v ended at %v", deadline, now)
			}
		}
		p.sendWord(1, 0)
		deadline := p.Now() + 3600*unit.Second
		var q *device.Packet
		for seen := w.EventCount(); q == nil; seen = w.EventCount() {
			if q = p.recvUnlessBarrier(false); q == nil && !w.WaitForEvent(seen, deadline) {
				return fmt.Errorf("a wait of an hour ended at %v without an event", p.Now())
			}
		}
		return nil
	}))
}

// A word that is not the rank's own to read is a mistake of its program.
func checkLoadOutsideMemory(open func(int) device.World) error {
	for _, off := range []int{-8, 1, 8, 1 << 40} {
		err := runWithinLimit(open(1), withMemoryAndWatch(func(p *rank, m device.Memory, w device.Watch) error {
			w.LoadWord(m.Expose(make([]byte, 8)), off)
			return nil
		}))
		if isMissingCapability(err) {
			return err
		}
		if err := checkFailure(err, 0, ""); err != nil {
			return fmt.Errorf("a load at %d of 8 bytes: %w", off, err)
		}
	}
	return nil
}

// A rank that waits for events waits for other ranks; one that has a deadline does not.
func checkDeadlockInWatch(open func(int) device.World) error {
	err := runWithinLimit(open(3), withWatch(func(p *rank, w device.Watch) error {
		switch p.Rank() {
		case 0:
			w.WaitForEvent(w.EventCount(), p.Now()+5*unit.Millisecond)
			p.sendWord(1, 0) // one of the others was woken in time, and waits again
		case 1:
			waitUntil(w, func() bool { return p.recvUnlessBarrier(false) != nil })
			waitUntil(w, func() bool { return false })
		case 2:
			p.Recv(true)
		}
		return nil
	}))
	if isMissingCapability(err) {
		return err
	}
	return checkDeadlock(err, 3, 1, 2)
}
