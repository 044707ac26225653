package ethernet_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// parcel is a packet of random traffic.
type parcel struct {
	dst, bytes int
	sent, came unit.Time
}

// gossip runs random traffic: every rank sends random packets to random others, and receives those
// that arrive. It returns them by sender.
func gossip(t testing.TB, m *model.Machine, ranks int, seed uint64) (out [][]parcel, s hw.EthernetStatistics, wall unit.Time) {
	t.Helper()
	out = make([][]parcel, ranks)
	next := make([][]int, ranks) // of each pair, the place in out of the packet that comes next
	for i := range out {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for range 40 {
			n := r.IntN(100)
			if r.IntN(3) == 0 {
				n = r.IntN(20000)
			}
			out[i] = append(out[i], parcel{dst: (i + 1 + r.IntN(ranks-1)) % ranks, bytes: n})
		}
		next[i] = make([]int, ranks)
	}
	w := hwtest.Open(t, hw.Config{Machine: m, Ranks: ranks, Seed: seed, Ethernet: &s})
	err := w.Run(func(p device.Port) error {
		r, me := rand.New(rand.NewPCG(seed, uint64(100+p.Rank()))), out[p.Rank()]
		expected := 0
		for _, from := range out {
			for _, x := range from {
				if x.dst == p.Rank() {
					expected++
				}
			}
		}
		take := func(q *device.Packet) error {
			from, i := out[q.Src], &next[q.Src][p.Rank()]
			for from[*i].dst != p.Rank() {
				*i++
			}
			x := &from[*i]
			*i++
			expected--
			if q.Head[0] != uint64(x.bytes) || len(q.Data) != x.bytes || x.bytes > 0 && q.Data[x.bytes-1] != byte(x.bytes) {
				return fmt.Errorf("from %d to %d came a packet of %d bytes, sent were %d", q.Src, p.Rank(), len(q.Data), x.bytes)
			}
			x.came = p.Now()
			return nil
		}
		for i := range me {
			if r.IntN(4) == 0 {
				p.Delay(unit.Time(r.IntN(20)) * unit.Millisecond)
			}
			b := make([]byte, me[i].bytes)
			if len(b) > 0 {
				b[len(b)-1] = byte(len(b))
			}
			me[i].sent = p.Now()
			p.Send(me[i].dst, &device.Packet{Head: device.Head{uint64(len(b))}, Data: b})
			if r.IntN(2) == 0 {
				if q := p.Recv(false); q != nil {
					if err := take(q); err != nil {
						return err
					}
				}
			}
		}
		for expected > 0 {
			if err := take(p.Recv(true)); err != nil {
				return err
			}
		}
		p.Delay(5 * unit.Second) // what is not acknowledged yet
		wall = max(wall, p.Now())
		return nil
	})
	if err != nil {
		t.Fatal(fmt.Errorf("seed %d: %w", seed, err))
	}
	return out, s, wall
}

// lawful returns what is wrong with traffic on an Ethernet, as physics sees it: a transfer may not
// beat its wire, nor all of them together the medium, and what the stations sent is what TCP gave
// them.
func lawful(e *model.Ethernet, out [][]parcel, s hw.EthernetStatistics, wall unit.Time) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	stream, first, last := 0, wall, unit.Time(0)
	for src, from := range out {
		for _, x := range from {
			n := e.TCP.Record + x.bytes
			stream += n
			segments := (n + e.MTU - e.TCP.Header - 1) / (e.MTU - e.TCP.Header)
			frames := e.Rate.Time(n + segments*(e.Preamble+e.Header+e.TCP.Header+e.FCS) + (segments-1)*e.InterframeGapBytes)
			if took := x.came - x.sent; took < frames+e.Propagation {
				wrong("%d bytes from %d to %d took %v, their wire takes %v", x.bytes, src, x.dst, took, frames+e.Propagation)
			}
			first, last = min(first, x.sent), max(last, x.came)
		}
	}
	if s.BusyTime > wall {
		wrong("the medium was busy for %v of %v", s.BusyTime, wall)
	}
	if least := e.Rate.Time(s.PayloadBytes + s.FramesSent*(e.Preamble+e.Header+e.FCS)); s.BusyTime < least {
		wrong("the medium was busy for %v, its frames take %v", s.BusyTime, least)
	}
	if most := float64(e.Rate) * 1460 / 1538; float64(stream) > most*float64(last-first)/float64(unit.Second) {
		wrong("%d bytes in %v are more than %.0f B/s", stream, last-first, most)
	}
	if s.TCPBytesSent != stream {
		wrong("TCP sent %d bytes, the packets have %d", s.TCPBytesSent, stream)
	}
	if s.TCPBytesReceived != stream {
		wrong("segments brought %d bytes, the packets have %d", s.TCPBytesReceived, stream)
	}
	if s.MaxReceiveBufferBytes > e.TCP.ReceiveBuffer {
		wrong("a receive buffer of %d bytes held %d", e.TCP.ReceiveBuffer, s.MaxReceiveBufferBytes)
	}
	if given := s.TCPSegments*e.TCP.Header + s.TCPBytesSent + s.TCPBytesRetransmitted; s.PayloadBytes+s.LostBytes != given {
		wrong("frames carried %d bytes and %d were given up, TCP gave them %d", s.PayloadBytes, s.LostBytes, given)
	}
	return errors.Join(errs...)
}

// TestEthernetPhysics checks random traffic, also where frames are lost, and on odd media and
// sockets.
func TestEthernetPhysics(t *testing.T) {
	again := 0
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := hwtest.Workstations()
		e := m.Network.(*model.Ethernet)
		e.MaxCollisionsOfFrame = []int{16, 16, 3, 2}[r.IntN(4)]
		e.Propagation = []unit.Time{0, us, 9 * us}[r.IntN(3)]
		e.TCP.SendBuffer = []int{4096, 100, 1460, 65536}[r.IntN(4)]
		e.TCP.ReceiveBuffer = []int{4096, 512, 3000, 65536}[r.IntN(4)]
		e.TCP.AckEvery = 1 + r.IntN(3)
		e.TCP.Input = []unit.Time{30 * us, 3 * unit.Millisecond}[r.IntN(2)]
		out, s, wall := gossip(t, m, 2+r.IntN(7), seed)
		if err := lawful(e, out, s, wall); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		again += s.TCPBytesRetransmitted
	}
	if again == 0 {
		t.Error("nothing was sent again, so nothing was lost")
	}
}

// The check of traffic finds faults that are planted into a correct recording.
func TestEthernetFaults(t *testing.T) {
	m := hwtest.Workstations()
	out, s, wall := gossip(t, m, 4, 1)
	if err := lawful(m.Network.(*model.Ethernet), out, s, wall); err != nil {
		t.Fatal(err)
	}
	if s.FramesAbandoned == 0 && s.TCPBytesRetransmitted > 0 {
		t.Errorf("nothing was lost, and %d bytes were sent again", s.TCPBytesRetransmitted)
	}
	for what, plant := range map[string]func(m *model.Ethernet, s *hw.EthernetStatistics){
		"a faster wire":           func(e *model.Ethernet, _ *hw.EthernetStatistics) { e.Rate /= 2 },
		"more time than there is": func(_ *model.Ethernet, s *hw.EthernetStatistics) { s.BusyTime = wall + 1 },
		"overlapping frames":      func(_ *model.Ethernet, s *hw.EthernetStatistics) { s.FramesSent *= 2 },
		"a lost byte":             func(_ *model.Ethernet, s *hw.EthernetStatistics) { s.PayloadBytes-- },
		"a byte that never came":  func(_ *model.Ethernet, s *hw.EthernetStatistics) { s.TCPBytesReceived-- },
		"a full buffer":           func(e *model.Ethernet, s *hw.EthernetStatistics) { s.MaxReceiveBufferBytes = e.TCP.ReceiveBuffer + 1 },
		"a byte too many":         func(_ *model.Ethernet, s *hw.EthernetStatistics) { s.TCPBytesSent++ },
	} {
		e, s := *m.Network.(*model.Ethernet), s
		plant(&e, &s)
		if lawful(&e, out, s, wall) == nil {
			t.Errorf("%s goes unseen", what)
		}
	}
	out[0][3].came = out[0][3].sent + us
	if lawful(m.Network.(*model.Ethernet), out, s, wall) == nil {
		t.Error("a packet that is there at once goes unseen")
	}
}

// The same seed is the same run, and another seed another one, as its collisions end otherwise.
func TestEthernetReproducible(t *testing.T) {
	a, s, _ := gossip(t, hwtest.Workstations(), 6, 5)
	b, u, _ := gossip(t, hwtest.Workstations(), 6, 5)
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			t.Fatalf("rank %d: other times in the second run", i)
		}
	}
	if s != u || s.Collisions == 0 {
		t.Errorf("%+v and %+v", s, u)
	}
}
