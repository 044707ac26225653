package devicetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Timers subtract readings of the clock, so it never goes back, whatever the rank does in between.
func checkClockMonotonic(open func(int) device.World) error {
	return runWithinLimit(open(2), func(p *rank) error {
		last := p.Now()
		for i := range 50 {
			for _, step := range []func(){
				func() {},
				func() { p.Spend(model.ProtoMatchCost, i) },
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

// The benchmark lets a rank wait for a time that is surely longer than a transfer; if it is not,
// the numbers are wrong. A coarse clock may show a delay as shorter by one of its ticks.
func checkDelay(open func(int) device.World) error {
	return runWithinLimit(open(1), func(p *rank) error {
		tick := measureTick(p)
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

// measureTick returns the least step that the clock was seen to take, which is no less than its
// resolution.
func measureTick(p *rank) unit.Time {
	least, last := unit.Time(math.MaxInt64), p.Now()
	for steps := 0; steps < 10; p.Delay(100 * unit.Nanosecond) {
		if now := p.Now(); now > last {
			least, last = min(least, now-last), now
			steps++
		}
	}
	return least
}

// To time something short, a program has to know the resolution of the clock.
func checkClockTick(open func(int) device.World) error {
	return runWithinLimit(open(1), func(p *rank) error {
		if t := p.Tick(); t <= 0 {
			return fmt.Errorf("the clock has ticks of %v", t)
		} else if seen := measureTick(p); seen < t-unit.Nanosecond {
			return fmt.Errorf("the clock is said to have ticks of %v, and moved by %v", t, seen)
		}
		return nil
	})
}

// An engine charges whatever it does, on every machine, and copies with the port's Copy, which does
// it.
func checkSpendAndCopy(open func(int) device.World) error {
	return runWithinLimit(open(1), func(p *rank) error {
		for w := range model.MaxCosts {
			p.Spend(w, 0)
			p.Spend(w, 1)
			p.Spend(w, 1000)
		}
		for _, c := range []struct{ dst, src int }{{0, 0}, {0, 5}, {5, 0}, {5, 5}, {3, 5}, {5, 3}, {100000, 100000}} {
			dst, src := make([]byte, c.dst), randomBytes(c.src, 1)
			n := min(c.dst, c.src)
			if got := p.Copy(dst, src); got != n {
				return fmt.Errorf("a copy of %d bytes to %d returned %d", c.src, c.dst, got)
			}
			if err := checkSameBytes(dst, append(randomBytes(c.src, 1)[:n:n], make([]byte, c.dst-n)...)); err != nil {
				return fmt.Errorf("a copy of %d bytes to %d: %w", c.src, c.dst, err)
			}
		}
		return nil
	})
}

// A program that waits for a time reads the clock until then: it must get there, and not forever
// see the same.
func checkWaitingByClock(open func(ranks int) device.World) error {
	return runWithinLimit(open(1), func(p *rank) error {
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

// virtualTimeLaws are the laws of worlds in virtual time, where equal programs take equal times.
var virtualTimeLaws = []law{
	{"polling costs what waiting costs", checkPollingIsFree},
	{"polling memory costs what waiting costs", checkMemoryPollingIsFree},
}

// TestVirtualTime tests that in the worlds which open returns a rank that polls goes on at the time
// at which it would have gone on if it had waited. It is for worlds whose time is virtual and has
// no noise, and on which a look costs nothing: a look by a system call does.
func TestVirtualTime(t *testing.T, open func(ranks int) device.World) {
	testLaws(t, virtualTimeLaws, open)
}

// requestReply is rounds in which rank 0 asks and rank 1 answers after a while, of all lengths.
// polls says which ranks poll. It returns when rank 0 had the answers.
type requestReply func(open func(int) device.World, polls [2]bool) ([]unit.Time, error)

// answerDelays are how long rank 1 takes for its answers.
var answerDelays = []unit.Time{
	0, unit.Nanosecond, 700 * unit.Nanosecond, unit.Microsecond, 3333 * unit.Nanosecond,
	10 * unit.Microsecond, 99 * unit.Microsecond, unit.Millisecond, 7 * unit.Microsecond, 0,
}

// checkTimesIndependentOfPolling tells where polling changes the times of an exchange.
func checkTimesIndependentOfPolling(open func(int) device.World, e requestReply) error {
	want, err := e(open, [2]bool{})
	if err != nil {
		return err
	}
	for _, polls := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		got, err := e(open, polls)
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("ranks 0 and 1 poll: %v; rank 0 has its answers at %v, and if all wait at %v", polls, got, want)
		}
	}
	return nil
}

// A library may poll or wait as it likes: in virtual time, that a rank looks for packets costs
// nothing, and it sees them as soon as they are there.
func checkPollingIsFree(open func(int) device.World) error {
	return checkTimesIndependentOfPolling(open, func(open func(int) device.World, polls [2]bool) (times []unit.Time, err error) {
		err = runWithinLimit(open(2), func(p *rank) error {
			receive := func() {
				for p.recvUnlessBarrier(!polls[p.Rank()]) == nil {
				}
			}
			for _, d := range answerDelays {
				if p.Rank() == 1 {
					receive()
					p.Delay(d)
					p.sendWord(0, 0)
					continue
				}
				p.sendWord(1, 0)
				receive()
				times = append(times, p.Now())
			}
			return nil
		})
		return times, err
	})
}

// The same holds for words of memory.
func checkMemoryPollingIsFree(open func(int) device.World) error {
	return checkTimesIndependentOfPolling(open, func(open func(int) device.World, polls [2]bool) (times []unit.Time, err error) {
		err = runWithinLimit(open(2), withMemoryAndWatch(func(p *rank, m device.Memory, w device.Watch) error {
			mine, peer := m.Expose(make([]byte, 8)), 1-p.Rank()
			p.sendWord(peer, uint64(mine))
			theirs, err := p.recvWord(peer)
			if err != nil {
				return err
			}
			put := func(round int) error {
				m.Put(peer, device.Key(theirs), 0, encodeWord(uint64(round)), headWithTag(round))
				return p.awaitCompletion(round)
			}
			see := func(round int) {
				if !polls[p.Rank()] {
					device.WaitForWordChange(w, mine, 0, uint64(round-1))
				}
				for w.LoadWord(mine, 0) < uint64(round) {
				}
			}
			for i, d := range answerDelays {
				if p.Rank() == 1 {
					see(i + 1)
					p.Delay(d)
					if err := put(i + 1); err != nil {
						return err
					}
					continue
				}
				if err := put(i + 1); err != nil {
					return err
				}
				see(i + 1)
				times = append(times, p.Now())
			}
			return nil
		}))
		return times, err
	})
}
