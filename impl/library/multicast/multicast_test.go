package multicast

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model/unit"
)

// impatient is for tests, whose ranks answer soon.
var impatient = Options{RetransmitTimeout: 200 * unit.Microsecond, MaxRetransmitTimeout: 5 * unit.Millisecond}

// run runs a program on a world whose ranks have multicast.
func run(t *testing.T, w device.World, o Options, program func(p *Port) error) error {
	t.Helper()
	return devicetest.RunWithin(time.Minute, func() error {
		return w.Run(func(p device.Port) error {
			m, err := New(p, o)
			if err != nil {
				return err
			}
			return program(m)
		})
	})
}

// barrier waits for all ranks by packets.
func barrier(p *Port) {
	if p.Rank() != 0 {
		p.Send(0, &device.Packet{})
		p.Recv(true)
		return
	}
	for range p.Size() - 1 {
		p.Recv(true)
	}
	for r := 1; r < p.Size(); r++ {
		p.Send(r, &device.Packet{})
	}
}

// message is what a sender sends as its i-th message.
func message(i, length int) []byte {
	b := make([]byte, length)
	r := rand.New(rand.NewPCG(uint64(i), uint64(length)))
	for j := range b {
		b[j] = byte(r.Uint32())
	}
	return b
}

// Messages of several senders in several groups arrive once each, unchanged and in order, whatever
// the network does to datagrams, and with a receiver that is slow.
func TestReliable(t *testing.T) {
	const ranks, messages = 5, 40
	for seed, f := range []loop.Faults{{}, {Loss: 0.05}, {Loss: 0.3}, {Reorder: 0.3}, {Duplicate: 0.3}, {Loss: 0.15, Reorder: 0.2, Duplicate: 0.2}} {
		f.Seed = uint64(seed)
		for _, window := range []int{1, 3, 0} {
			o := impatient
			o.WindowPackets = window
			slow := (seed + window) % ranks
			err := run(t, loop.NewFaulty(ranks, f), o, func(p *Port) error {
				var groups []*Group
				for id, members := range [][]int{{0, 1, 2, 3, 4}, {4, 2, 0}, {1, 2}} {
					var g *Group
					for _, m := range members {
						if m == p.Rank() {
							var err error
							if g, err = p.Open(uint32(id), members); err != nil {
								return err
							}
						}
					}
					groups = append(groups, g)
				}
				barrier(p)
				r := rand.New(rand.NewPCG(uint64(seed), 1)) // the same in all ranks
				for i := range messages {
					which := r.IntN(len(groups))
					root, length := r.IntN(3), r.IntN(20_000)
					if r.IntN(4) == 0 {
						length = r.IntN(2)
					}
					g := groups[which]
					if g == nil {
						continue
					}
					src := g.members[root%len(g.members)]
					if p.Rank() == slow && i%8 == 0 {
						p.Delay(2 * unit.Millisecond)
						time.Sleep(2 * time.Millisecond)
					}
					if p.Rank() == src {
						if err := g.Send(message(i, length), nil); err != nil {
							return err
						}
						continue
					}
					b := make([]byte, 20_000)
					n, err := g.Recv(src, b, nil)
					if err != nil {
						return err
					}
					if !bytes.Equal(b[:n], message(i, length)) {
						return fmt.Errorf("rank %d: message %d of rank %d is %d bytes that were not sent, instead of %d", p.Rank(), i, src, n, length)
					}
				}
				barrier(p) // meanwhile ranks answer those that lack an acknowledgement
				for _, g := range groups {
					if g != nil {
						g.Close()
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("%+v, window %d: %v", f, window, err)
			}
		}
	}
}

// The root of a message takes in one acknowledgement a packet from each receiver, if its window
// holds the whole message. With a shorter one, a receiver that is late acknowledges some packets
// twice.
func TestAcknowledgements(t *testing.T) {
	for _, packet := range []int{0, 1000, 1 << 20} {
		acknowledged(t, packet)
	}
}

// acknowledged counts the packets of a message and their acknowledgements, with packets of a
// length.
func acknowledged(t *testing.T, packet int) {
	const ranks, length = 6, 10_000
	err := run(t, loop.New(ranks), Options{WindowPackets: 16, PacketBytes: packet, RetransmitTimeout: 60 * unit.Second}, func(p *Port) error {
		g, err := p.Open(7, []int{0, 1, 2, 3, 4, 5})
		if err != nil {
			return err
		}
		barrier(p)
		if p.Rank() != 2 {
			_, err := g.Recv(2, make([]byte, length), nil)
			return err
		}
		if err := g.Send(message(0, length), nil); err != nil {
			return err
		}
		room := p.datagrams.MaxDatagramBytes() - headBytes
		if packet == 1000 {
			room = packet - headBytes
		}
		packets := (length + room - 1) / room
		if want := (PacketCounts{Packets: packets, Acknowledged: packets * (ranks - 1), MaxOpenGroups: 1}); p.Counts != want {
			return fmt.Errorf("%+v instead of %+v", p.Counts, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Where nothing is lost nothing is sent again: a receiver that is late says when it has room.
func TestLateReceiver(t *testing.T) {
	const length = 100_000
	err := run(t, loop.New(2), Options{RetransmitTimeout: unit.Second}, func(p *Port) error {
		g, err := p.Open(1, []int{0, 1})
		if err != nil {
			return err
		}
		barrier(p)
		if p.Rank() == 0 {
			if err := g.Send(message(0, length), nil); err != nil || p.Counts.Retransmitted > 0 {
				return fmt.Errorf("%d packets were sent again: %v", p.Counts.Retransmitted, err)
			}
			return nil
		}
		for begin := p.Now(); p.Now() < begin+20*unit.Millisecond; {
			p.Recv(false)
		}
		_, err = g.Recv(0, make([]byte, length), nil)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A receiver that does not answer is named.
func TestSilent(t *testing.T) {
	err := run(t, loop.New(4), Options{RetransmitTimeout: 100 * unit.Microsecond, MaxRetransmitTimeout: unit.Millisecond, MaxRetransmissions: 20}, func(p *Port) error {
		members := []int{0, 1, 2, 3}
		g, err := p.Open(1, members)
		if err != nil {
			return err
		}
		barrier(p)
		switch p.Rank() {
		case 0:
			return g.Send(message(0, 100_000), nil)
		case 2:
			return nil // it is gone
		}
		_, err = g.Recv(0, make([]byte, 100_000), nil)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "rank 0 multicasts to group 1: no answer from ranks [2]") {
		t.Error(err)
	}
}

// A rank that waits for a message which nobody sends is part of a deadlock, as no time passes for
// it.
func TestNobodySends(t *testing.T) {
	err := run(t, loop.New(2), Options{}, func(p *Port) error {
		g, err := p.Open(1, []int{0, 1})
		if err != nil {
			return err
		}
		_, err = g.Recv(1-p.Rank(), make([]byte, 1), nil)
		return err
	})
	if deadlock := (*device.Deadlock)(nil); !errors.As(err, &deadlock) {
		t.Error(err)
	}
}

// A rank that sends makes progress for others, and so does one that receives: rank 1 takes part in
// the message only when its packet was answered.
func TestProgress(t *testing.T) {
	for root := range 2 {
		err := run(t, loop.New(3), impatient, func(p *Port) error {
			g, err := p.Open(1, []int{0, 1, 2})
			if err != nil {
				return err
			}
			barrier(p)
			if p.Rank() == 1 {
				p.Send(0, &device.Packet{})
				p.Recv(true)
			}
			progress := func() bool {
				q := p.Recv(false)
				if q != nil && p.Rank() == 0 {
					p.Send(q.Src, &device.Packet{})
				}
				return q != nil
			}
			if p.Rank() == root {
				return g.Send(message(0, 50_000), progress)
			}
			_, err = g.Recv(root, make([]byte, 50_000), progress)
			return err
		})
		if err != nil {
			t.Errorf("root %d: %v", root, err)
		}
	}
}

// An interface tells only some groups apart, and one that was closed makes room.
func TestGroups(t *testing.T) {
	err := run(t, loop.New(2), impatient, func(p *Port) error {
		members := []int{0, 1}
		var last *Group
		for id := range p.datagrams.MaxGroups() {
			g, err := p.Open(uint32(id), members)
			if err != nil {
				return err
			}
			last = g
		}
		if _, err := p.Open(100, members); !errors.Is(err, ErrTooManyGroups) || !strings.Contains(err.Error(), "in 20 already") {
			return fmt.Errorf("group 21: %v", err)
		}
		barrier(p)
		last.Close()
		g, err := p.Open(100, members)
		if err != nil {
			return err
		}
		barrier(p)
		if p.Rank() == 0 {
			return g.Send([]byte("a"), nil)
		}
		if _, err := g.Recv(0, make([]byte, 1), nil); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWrongUse(t *testing.T) {
	if err := run(t, loop.New(2), Options{PacketBytes: headBytes}, func(*Port) error { return nil }); err == nil || !strings.Contains(err.Error(), "their header has 16") {
		t.Errorf("packets without room: %v", err)
	}
	err := run(t, loop.New(2), impatient, func(p *Port) error {
		for id, members := range map[uint32][]int{1: {1 - p.Rank()}, 2: nil} {
			if _, err := p.Open(id, members); err == nil || !strings.Contains(err.Error(), "which it is not a member of") {
				return fmt.Errorf("opened: %v", err)
			}
		}
		g, err := p.Open(3, []int{1, 0})
		if err != nil {
			return err
		}
		if _, err := p.Open(3, []int{1, 0}); err == nil || !strings.Contains(err.Error(), "which it has open") {
			return fmt.Errorf("opened twice: %v", err)
		}
		if _, err := g.Recv(p.Rank(), nil, nil); err == nil || !strings.Contains(err.Error(), "no other member") {
			return fmt.Errorf("received from itself: %v", err)
		}
		barrier(p)
		if p.Rank() == 1 {
			return errors.Join(g.Send(message(1, 2000), nil), g.Send(message(2, 10), nil))
		}
		if n, err := g.Recv(1, make([]byte, 100), nil); n != 2000 || err == nil || !strings.Contains(err.Error(), "has room for 100") {
			return fmt.Errorf("%d bytes: %v", n, err)
		}
		b := make([]byte, 10)
		if _, err := g.Recv(1, b, nil); err != nil || !bytes.Equal(b, message(2, 10)) {
			return fmt.Errorf("the next message: %v, %v", b, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkBroadcast(b *testing.B) {
	for _, length := range []int{1, 10_000} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			b.ReportAllocs()
			err := loop.New(4).Run(func(q device.Port) error {
				p, err := New(q, Options{})
				if err != nil {
					return err
				}
				g, err := p.Open(1, []int{0, 1, 2, 3})
				if err != nil {
					return err
				}
				barrier(p)
				buf := make([]byte, length)
				for range b.N {
					if p.Rank() == 0 {
						err = g.Send(buf, nil)
					} else {
						_, err = g.Recv(0, buf, nil)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
