package devicetest

import (
	"fmt"
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Ranks that draw numbers from one register get each number once: tickets, slots of a buffer, turns
// of a lock.
func atomicCounters(open func(int) device.World) error {
	const n, draws = 5, 100
	return run(open(n), withCounter(func(p *rank, c device.Counter) error {
		last := int64(-1)
		for range draws {
			got := c.Add(0, 0, 1)
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
			q := p.next()
			if got := q.Head[0]; got >= n*draws || drawn[got] {
				return fmt.Errorf("rank %d drew %d, which was not to be drawn or not again", q.Src, got)
			}
			drawn[q.Head[0]] = true
		}
		if sum := c.Add(0, 0, 0); sum != n*draws {
			return fmt.Errorf("after %d draws the register has %d", n*draws, sum)
		}
		return nil
	}))
}

// Each rank has its registers, and each register its value, which may go up and down by any amount.
func separateCounters(open func(int) device.World) error {
	const n = 3
	return run(open(n), withCounter(func(p *rank, c device.Counter) error {
		weight := int64(1)
		for dst := range n {
			for r := range device.Counters {
				weight *= 10
				c.Add(dst, r, weight<<20)
				c.Add(dst, r, -weight)
			}
		}
		if err := p.nothingLeft(); err != nil {
			return err
		}
		weight = 1
		for dst := range n {
			for r := range device.Counters {
				weight *= 10
				if got, want := c.Add(dst, r, 0), n*(weight<<20-weight); got != want {
					return fmt.Errorf("rank %d: register %d of rank %d has %d, want %d", p.Rank(), r, dst, got, want)
				}
			}
		}
		return nil
	}))
}

// Every run starts anew, and so do its counters.
func countersBeginAtZero(open func(int) device.World) error {
	w := open(2)
	for i := range 3 {
		err := run(w, withCounter(func(p *rank, c device.Counter) error {
			for r := range device.Counters {
				if got := c.Add(p.Rank(), r, 5); got != 0 {
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

// A reset by Swap loses no count: a rank resets the register that others count up, and every count
// is in what a reset returned, or in what is left.
func swapCounters(open func(int) device.World) error {
	const n, counts = 4, 200
	return run(open(n), withCounter(func(p *rank, c device.Counter) error {
		if p.Rank() != 0 {
			for range counts {
				c.Add(0, 1, 1)
				p.Delay(unit.Microsecond) // others go on meanwhile
			}
			p.sendWord(0, 0)
			return nil
		}
		var sum int64
		for ended := 0; ended < n-1; {
			if p.take(false) != nil {
				ended++
			}
			sum += c.Swap(0, 1, 0)
		}
		if sum += c.Swap(0, 1, -1<<40); sum != (n-1)*counts {
			return fmt.Errorf("resets returned %d of %d counts", sum, (n-1)*counts)
		}
		if got := c.Swap(0, 1, 1<<62); got != -1<<40 {
			return fmt.Errorf("a register that was set to %d has %d", -1<<40, got)
		}
		if got, other := c.Add(0, 1, 0), c.Add(0, 0, 0); got != 1<<62 || other != 0 {
			return fmt.Errorf("after a swap for %d the register has %d, and the other, which was never changed, %d", 1<<62, got, other)
		}
		return nil
	}))
}

// No rank passes a barrier before all have come to it, and all pass then, each time.
func barrier(open func(int) device.World) error {
	const n, rounds = 5, 40
	var come atomic.Int64 // ranks with barriers are in one process
	return run(open(n), withBarrier(func(p *rank, b device.Barrier, w device.Watch) error {
		for i := range rounds {
			p.Delay(unit.Time((p.Rank()*7+i*3)%5) * unit.Microsecond)
			come.Add(1)
			b.Arrive()
			for {
				seen := w.Events()
				if b.Passed() {
					break
				}
				w.Wait(seen, device.Forever)
			}
			if have := come.Load(); have < int64((i+1)*n) {
				return fmt.Errorf("rank %d has passed barrier %d when %d of %d had come", p.Rank(), i, have-int64(i*n), n)
			}
			if !b.Passed() {
				return fmt.Errorf("rank %d: barrier %d is shut again", p.Rank(), i)
			}
		}
		return p.nothingLeft()
	}))
}
