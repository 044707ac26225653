package hw

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Ranks that poll at no cost do not keep each other from seeing time pass, and find a packet when it comes: no later than one who
// waits for it.
func TestPollers(t *testing.T) {
	arrival := func(block bool) (at [4]unit.Time) {
		err := open(t, "loggp", 4, 0).Run(func(p device.Port) error {
			if p.Rank() == 3 {
				p.Delay(unit.Second)
				for dst := range 3 {
					p.Send(dst, &device.Packet{})
				}
				return nil
			}
			for p.Recv(block) == nil {
			}
			at[p.Rank()] = p.Now()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if polled, waited := arrival(false), arrival(true); polled != waited {
		t.Errorf("who polls has packets at %v, who waits at %v", polled, waited)
	}
}

// Who polls for the time at no cost sees it pass, and not much too late.
func TestPollForTime(t *testing.T) {
	const until = unit.Millisecond
	err := open(t, "loggp", 1, 0).Run(func(p device.Port) error {
		for p.Now() < until {
			p.Recv(false)
		}
		if now := p.Now(); now > until+unit.Microsecond {
			t.Errorf("it is %v instead of %v", now, until)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
