package devicetest

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Timers subtract readings of the clock, so it never goes back, whatever the rank does in between.
func clock(open func(int) device.World) error {
	return run(open(2), func(p *rank) error {
		last := p.Now()
		for i := range 50 {
			for _, step := range []func(){
				func() {},
				func() { p.Spend(model.ProtoMatch, i) },
				func() { p.Copy(make([]byte, i), make([]byte, i)) },
				func() { p.Delay(unit.Time(i) * unit.Nanosecond) },
				func() { p.Send(1-p.Rank(), &device.Packet{Data: make([]byte, i)}) },
				func() { p.Recv(i%2 == 0) },
			} {
				step()
				now := p.Now()
				if now < last {
					return fmt.Errorf("rank %d: the clock went from %v back to %v", p.Rank(), last, now)
				}
				last = now
			}
		}
		return nil
	})
}

// The benchmark lets a rank wait for a time that is surely longer than a transfer; if it is not, the numbers are wrong.
// A coarse clock may show a delay as shorter by one of its ticks.
func delay(open func(int) device.World) error {
	return run(open(1), func(p *rank) error {
		tick := tick(p)
		for _, d := range []unit.Time{
			0, unit.Picosecond, unit.Nanosecond, unit.Microsecond, 50 * unit.Microsecond, unit.Millisecond, 5 * unit.Millisecond,
		} {
			start := p.Now()
			p.Delay(d)
			if took := p.Now() - start; took <= d-tick {
				return fmt.Errorf("a delay of %v took %v by a clock with ticks of at most %v", d, took, tick)
			}
		}
		return nil
	})
}

// tick returns the least step that the clock was seen to take, which is no less than its resolution.
func tick(p *rank) unit.Time {
	least, last := unit.Time(math.MaxInt64), p.Now()
	for steps := 0; steps < 10; p.Delay(100 * unit.Nanosecond) {
		if now := p.Now(); now > last {
			least, last = min(least, now-last), now
			steps++
		}
	}
	return least
}

// Whoever times something short has to know what the clock can tell apart.
func step(open func(int) device.World) error {
	return run(open(1), func(p *rank) error {
		if t := p.Tick(); t <= 0 {
			return fmt.Errorf("the clock has ticks of %v", t)
		} else if seen := tick(p); seen < t-unit.Nanosecond {
			return fmt.Errorf("the clock is said to have ticks of %v, and moved by %v", t, seen)
		}
		return nil
	})
}

// An engine charges whatever it does, on every machine, and copies with the port's Copy, which does it.
func work(open func(int) device.World) error {
	return run(open(1), func(p *rank) error {
		for w := range model.MaxCosts {
			p.Spend(w, 0)
			p.Spend(w, 1)
			p.Spend(w, 1000)
		}
		for _, c := range []struct{ dst, src int }{{0, 0}, {0, 5}, {5, 0}, {5, 5}, {3, 5}, {5, 3}, {100000, 100000}} {
			dst, src := make([]byte, c.dst), text(c.src, 1)
			n := min(c.dst, c.src)
			if got := p.Copy(dst, src); got != n {
				return fmt.Errorf("a copy of %d bytes to %d returned %d", c.src, c.dst, got)
			}
			if err := same(dst, append(text(c.src, 1)[:n:n], make([]byte, c.dst-n)...)); err != nil {
				return fmt.Errorf("a copy of %d bytes to %d: %w", c.src, c.dst, err)
			}
		}
		return nil
	})
}

// A program that waits for a time reads the clock until then: it must get there, and not forever see the same.
func stare(open func(ranks int) device.World) error {
	return run(open(1), func(p *rank) error {
		const patience = 10_000_000
		end := p.Now() + unit.Microsecond
		for range patience {
			if p.Now() >= end {
				return nil
			}
		}
		return fmt.Errorf("rank %d: no microsecond passed while the clock was read %d times", p.Rank(), patience)
	})
}
