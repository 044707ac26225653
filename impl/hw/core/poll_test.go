package core_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
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
// its wait, and than 1 us.
func TestPollForTime(t *testing.T) {
	for _, until := range []unit.Time{us, 1_234_567, 1_777_777, 2_345_678, 3_141_593, 4_567_891, 6_789_123, 100 * us, unit.Millisecond} {
		for what, look := range map[string]func(p device.Port){"reads the clock": func(device.Port) {}, "polls, too": func(p device.Port) { p.Recv(false) }} {
			t.Run(fmt.Sprint(what, " ", until), func(t *testing.T) {
				hwtest.Run(t, hwtest.Torus(), 1, func(p device.Port) {
					begin := p.Now()
					for p.Now() < until {
						look(p)
					}
					if now := p.Now(); now > until+min(us, (until-begin)/8) {
						t.Errorf("it is %v instead of %v", now, until)
					}
				})
			})
		}
	}
}
