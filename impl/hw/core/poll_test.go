package core_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model/unit"
)

// Ranks that poll at no cost do not stop each other's clocks, and find a packet when it arrives: no
// later than a rank that blocks for it. That holds also where they read the clock each time, and
// where a packet comes from within the node or from another.
func TestPollers(t *testing.T) {
	for _, name := range []string{"loggp", "t3d", "convex", "smp-torus"} {
		arrival := func(next func(p device.Port) *device.Packet) (at [6]unit.Time) {
			err := hwtest.OpenCatalogue(t, name, 6, 0).Run(func(p device.Port) error {
				if p.Rank() == 3 {
					for dst := range 6 {
						p.Delay(3*unit.Millisecond + 12_345_679)
						p.Send(dst, &device.Packet{})
					}
				}
				for next(p) == nil {
				}
				at[p.Rank()] = p.Now()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		waited := arrival(func(p device.Port) *device.Packet { return p.Recv(true) })
		if polled := arrival(func(p device.Port) *device.Packet { return p.Recv(false) }); polled != waited {
			t.Errorf("%s: ranks that poll have packets at %v, ranks that wait at %v", name, polled, waited)
		}
		if polled := arrival(func(p device.Port) *device.Packet { p.Now(); return p.Recv(false) }); polled != waited {
			t.Errorf("%s: ranks that poll and read the clock have packets at %v, ranks that wait at %v", name, polled, waited)
		}
	}
}

// On an Ethernet a poll costs a call of select. A rank that polls has a packet no later than one
// that waits, and no more than such a call before it.
func TestPollersOnEthernet(t *testing.T) {
	for _, name := range []string{"now", "smp-ethernet"} {
		for _, late := range []unit.Time{0, 12_345_679, 50 * unit.Microsecond} {
			arrival := func(block bool) (at unit.Time) {
				err := hwtest.OpenCatalogue(t, name, 8, 0).Run(func(p device.Port) error {
					switch p.Rank() {
					case 0:
						p.Delay(unit.Millisecond + late)
						p.Send(7, &device.Packet{})
					case 7:
						for p.Recv(block) == nil {
						}
						at = p.Now()
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return at
			}
			if polled, waited := arrival(false), arrival(true); polled > waited || polled < waited-100*unit.Microsecond {
				t.Errorf("%s, sent %v late: a rank that polls has the packet at %v, one that waits at %v", name, late, polled, waited)
			}
		}
	}
}

// A rank that polls for a word in its memory sees it when the access of another has written it: the
// time from which a rank that knew of the write could send it a packet. Here the writing rank
// reports when the write was done, after the completion has returned to it.
func TestPollForMemory(t *testing.T) {
	m := hwtest.Torus()
	n := 2*us + 100*unit.Nanosecond + 64*unit.Nanosecond // start, way, 8 bytes at 125 MB/s
	for _, delay := range []unit.Time{us, 100 * us, unit.Millisecond + 7} {
		word := make([]byte, 8)
		var seen unit.Time
		var key device.Key
		hwtest.Run(t, m, 2, func(p device.Port) {
			if p.Rank() == 1 {
				key = p.Memory().Expose(word)
				for binary.LittleEndian.Uint64(word) == 0 {
					p.Recv(false)
				}
				seen = p.Now()
				return
			}
			p.Delay(delay)
			p.Memory().Put(1, key, 0, []byte{1, 0, 0, 0, 0, 0, 0, 0}, device.Head{})
			p.Recv(true)
		})
		if want := delay + n; seen != want {
			t.Errorf("written at %v, seen at %v", want, seen)
		}
	}
}

// A rank that polls for the time at no cost sees it pass, and is late by no more than an eighth of
// its wait, and than 1 us. If it does nothing else for more than 1 ms, it is a 64th.
func TestPollForTime(t *testing.T) {
	for _, until := range []unit.Time{us, 1_234_567, 1_777_777, 2_345_678, 3_141_593, 4_567_891, 6_789_123, 100 * us, unit.Millisecond, 3 * unit.Millisecond, 50 * unit.Millisecond} {
		for what, look := range map[string]func(p device.Port){"reads the clock": func(device.Port) {}, "polls, too": func(p device.Port) { p.Recv(false) }} {
			t.Run(fmt.Sprint(what, " ", until), func(t *testing.T) {
				hwtest.Run(t, hwtest.Torus(), 1, func(p device.Port) {
					begin := p.Now()
					for p.Now() < until {
						look(p)
					}
					late := min(us, (until-begin)/8)
					if what == "reads the clock" && until > unit.Millisecond {
						late = (until - begin) / 64
					}
					if now := p.Now(); now > until+late {
						t.Errorf("it is %v instead of %v", now, until)
					}
				})
			})
		}
	}
}

// A rank that waits for the clock to advance between two readings of a turn sees it, whichever two
// of them that are, and by as much as it wants.
func TestClockAdvancesBetweenAnyReadings(t *testing.T) {
	for readings := 2; readings <= 7; readings++ { // of a turn
		for first := range readings - 1 {
			hwtest.Run(t, hwtest.Torus(), 1, func(p device.Port) {
				var sum unit.Time // from this reading to the next
				for range 100_000 {
					var at unit.Time
					for i := range readings {
						switch now := p.Now(); i {
						case first:
							at = now
						case first + 1:
							sum += now - at
						}
					}
					if sum > 100*us {
						return
					}
				}
				t.Errorf("%d readings a turn: after reading %d the clock has advanced by %v", readings, first, sum)
			})
		}
	}
	hwtest.Run(t, hwtest.Torus(), 1, func(p device.Port) {
		for range 100_000 {
			if before := p.Now(); p.Now()-before > 150*unit.Microsecond {
				return
			}
		}
		t.Error("the clock never advances by 150 us")
	})
}

// Ranks that poll in vain while nothing else can happen are in a deadlock.
func TestEndlessPollsAreADeadlock(t *testing.T) {
	poll := func(p device.Port) {
		for p.Recv(false) == nil {
		}
	}
	wait := func(p device.Port) { p.Recv(true) }
	end := func(device.Port) {}
	for name, c := range map[string]struct {
		ranks []func(p device.Port)
		want  []int
	}{
		"all poll":            {[]func(device.Port){poll, poll, poll}, []int{0, 1, 2}},
		"others wait":         {[]func(device.Port){wait, poll, wait}, []int{0, 1, 2}},
		"others have ended":   {[]func(device.Port){end, poll, end}, []int{1}},
		"after a computation": {[]func(device.Port){wait, func(p device.Port) { p.Delay(1200 * unit.Millisecond); poll(p) }, poll}, []int{0, 1, 2}},
	} {
		w := hwtest.Open(t, hw.Config{Machine: hwtest.Torus(), Ranks: 3, Seed: 1})
		err := w.Run(func(p device.Port) error { c.ranks[p.Rank()](p); return nil })
		var d *device.Deadlock
		if !errors.As(err, &d) || !slices.Equal(d.Ranks, c.want) {
			t.Errorf("%s: %v, want a deadlock of the ranks %v", name, err, c.want)
		}
	}
}

// Ranks that poll for long while another one computes, reads the clock, or has sent what is to
// come, are in none.
func TestLongPollsAreNoDeadlock(t *testing.T) {
	send := func(p device.Port) { p.Send(0, &device.Packet{Head: device.Head{1}}) }
	for name, other := range map[string]func(p device.Port){
		"computes": func(p device.Port) { p.Delay(1200 * unit.Millisecond); send(p) },
		"computes step by step": func(p device.Port) {
			for range 1200 {
				p.Recv(false)
				p.Delay(unit.Millisecond)
			}
			send(p)
		},
		"waits for a time": func(p device.Port) {
			for p.Now() < 1200*unit.Millisecond {
				p.Recv(false)
			}
			send(p)
		},
	} {
		hwtest.Run(t, hwtest.Torus(), 2, func(p device.Port) {
			if p.Rank() == 1 {
				other(p)
				return
			}
			for p.Recv(false) == nil {
			}
			if p.Now() < unit.Second {
				t.Errorf("%s: the packet is here at %v", name, p.Now())
			}
		})
	}
}
