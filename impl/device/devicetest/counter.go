package devicetest

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// Ranks that draw numbers from one register get each number once: tickets, slots of a buffer, turns of a lock.
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
func apartCounters(open func(int) device.World) error {
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
func freshCounters(open func(int) device.World) error {
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
