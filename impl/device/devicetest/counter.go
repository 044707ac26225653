package devicetest

import (
	"fmt"
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Ranks that draw numbers from one register get each number once: tickets, slots of a buffer, turns
// of a lock.
func checkCountersAtomic(open func(int) device.World) error {
	const n, draws = 5, 100
	return runWithinLimit(open(n), withCounter(func(p *rank, c device.Counters) error {
		last := int64(-1)
		for range draws {
			got := c.FetchAndAddRegister(0, 0, 1)
			if got <= last {
				return fmt.Errorf("rank %d: drew %d after %d", p.Rank(), got, last)
			}
			last = got
			p.sendWord(0, uint64(got))
		}
		if p.Rank() != 0 {
			return nil
		}
		var drawn [n * draws]bool
		for range n * draws {
			q := p.recvNext()
			if got := q.Head[0]; got >= n*draws || drawn[got] {
				return fmt.Errorf("rank %d drew %d, which was not to be drawn or not again", q.Src, got)
			}
			drawn[q.Head[0]] = true
		}
		if sum := c.FetchAndAddRegister(0, 0, 0); sum != n*draws {
			return fmt.Errorf("after %d draws the register has %d", n*draws, sum)
		}
		return nil
	}))
}

// Each rank has its registers, and each register its value, which may go up and down by any amount.
func checkCountersSeparate(open func(int) device.World) error {
	const n = 3
	return runWithinLimit(open(n), withCounter(func(p *rank, c device.Counters) error {
		weight := int64(1)
		for dst := range n {
			for r := range device.CountersPerRank {
				weight *= 10
				c.FetchAndAddRegister(dst, r, weight<<20)
				c.FetchAndAddRegister(dst, r, -weight)
			}
		}
		if err := p.checkNoPacketLeft(); err != nil {
			return err
		}
		weight = 1
		for dst := range n {
			for r := range device.CountersPerRank {
				weight *= 10
				if got, want := c.FetchAndAddRegister(dst, r, 0), n*(weight<<20-weight); got != want {
					return fmt.Errorf("rank %d: register %d of rank %d has %d, want %d", p.Rank(), r, dst, got, want)
				}
			}
		}
		return nil
	}))
}

// Every run starts anew, and so do its counters.
func checkCountersBeginAtZero(open func(int) device.World) error {
	w := open(2)
	for i := range 3 {
		err := runWithinLimit(w, withCounter(func(p *rank, c device.Counters) error {
			for r := range device.CountersPerRank {
				if got := c.FetchAndAddRegister(p.Rank(), r, 5); got != 0 {
					return fmt.Errorf("run %d: register %d of rank %d begins at %d", i, r, p.Rank(), got)
				}
			}
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// A reset by Swap loses no count: a rank resets the register that others count up meanwhile, and
// every count is in what a reset returned, or in what is left. The others count until enough resets
// have met counts, so that none of the ranks is late for the others.
func checkCounterSwaps(open func(int) device.World) error {
	const n, resets = 4, 200
	return runWithinLimit(open(n), withCounter(func(p *rank, c device.Counters) error {
		if p.Rank() != 0 {
			counts := uint64(0)
			for ; p.recvUnlessBarrier(false) == nil; counts++ {
				c.FetchAndAddRegister(0, 1, 1)
				p.Delay(unit.Microsecond) // others go on meanwhile
			}
			p.sendWord(0, counts)
			return nil
		}
		var sum, counts int64
		for met := 0; met < resets; {
			if was := c.FetchAndStoreRegister(0, 1, 0); was != 0 {
				sum += was
				met++
			}
		}
		for r := 1; r < n; r++ {
			p.sendWord(r, 0)
		}
		for r := 1; r < n; r++ {
			counts += int64(p.recvUnlessBarrier(true).Head[0])
		}
		if sum += c.FetchAndStoreRegister(0, 1, -1<<40); sum != counts {
			return fmt.Errorf("resets returned %d of %d counts", sum, counts)
		}
		if got := c.FetchAndStoreRegister(0, 1, 1<<62); got != -1<<40 {
			return fmt.Errorf("a register that was set to %d has %d", -1<<40, got)
		}
		if got, other := c.FetchAndAddRegister(0, 1, 0), c.FetchAndAddRegister(0, 0, 0); got != 1<<62 || other != 0 {
			return fmt.Errorf("after a swap for %d the register has %d, and the other, which was never changed, %d", 1<<62, got, other)
		}
		return nil
	}))
}

// No rank passes a barrier before all have come to it, and all pass then, each time.
func checkBarrier(open func(int) device.World) error {
	const n, rounds = 5, 40
	var come atomic.Int64 // ranks with barriers are in one process
	return runWithinLimit(open(n), withBarrier(func(p *rank, b device.Barrier, w device.Watch) error {
		for i := range rounds {
			p.Delay(unit.Time((p.Rank()*7+i*3)%5) * unit.Microsecond)
			come.Add(1)
			b.ArriveAtBarrier()
			for {
				seen := w.EventCount()
				if b.IsBarrierReleased() {
					break
				}
				w.WaitForEvent(seen, device.Forever)
			}
			if have := come.Load(); have < int64((i+1)*n) {
				return fmt.Errorf("rank %d has passed barrier %d when %d of %d had come", p.Rank(), i, have-int64(i*n), n)
			}
			if !b.IsBarrierReleased() {
				return fmt.Errorf("rank %d: barrier %d is shut again", p.Rank(), i)
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// Words of each root in turn come to all ranks, in order and unchanged, whoever is late.
func checkControlBroadcasts(open func(int) device.World) error {
	const n, rounds = 5, 60
	return runWithinLimit(open(n), withCapability("control", device.Port.Control, func(p *rank, c device.Control) error {
		for i := range rounds {
			if p.Rank() == i%3 {
				p.Delay(unit.Time(i%4) * 20 * unit.Microsecond)
			}
			root, words := i/4%n, make([]uint32, 1+i%c.MaxWords())
			for k := range words {
				if words[k] = ^uint32(0); p.Rank() == root {
					words[k] = uint32(i<<16 | k)
				}
			}
			c.Broadcast(root, words)
			for k, got := range words {
				if want := uint32(i<<16 | k); got != want {
					return fmt.Errorf("rank %d: word %d of broadcast %d is %#x, want %#x", p.Rank(), k, i, got, want)
				}
			}
		}
		return p.checkNoPacketLeft()
	}))
}

// A combination has the words of all ranks, and none ends before all have begun.
func checkControlCombinations(open func(int) device.World) error {
	const n, rounds = 5, 60
	var come atomic.Int64 // ranks with control networks are in one process
	return runWithinLimit(open(n), withCapability("control", device.Port.Control, func(p *rank, c device.Control) error {
		for i := range rounds {
			p.Delay(unit.Time((p.Rank()*7+i*3)%5) * unit.Microsecond)
			op := device.Combination(i % 4)
			word := func(r int) uint32 { return uint32(i*17+r*r*13) % 101 << (r % 3) }
			want := word(0)
			for r := 1; r < n; r++ {
				want = op.Combine(want, word(r))
			}
			come.Add(1)
			if got := c.Combine(op, word(p.Rank())); got != want {
				return fmt.Errorf("rank %d: combination %d by operation %d is %d, want %d", p.Rank(), i, op, got, want)
			}
			if have := come.Load(); have < int64((i+1)*n) {
				return fmt.Errorf("rank %d has ended combination %d when %d of %d had begun it", p.Rank(), i, have-int64(i*n), n)
			}
		}
		return p.checkNoPacketLeft()
	}))
}
