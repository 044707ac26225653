package ethernet_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// careful is workstations of 100 Mbit/s on a switch, whose TCP has congestion windows.
func careful(buffer int) (*model.Machine, *model.Ethernet) {
	m := hwtest.UDPWorkstations("udp")
	m.TimerResolution = 1
	e := m.Network.(*model.Ethernet)
	e.Switches.StationsPerSwitch, e.Switches.LinkBufferBytes = 8, buffer
	e.TCP.SendBuffer, e.TCP.ReceiveBuffer, e.TCP.Retransmit = 65536, 65536, 200*unit.Millisecond
	e.TCP.Write.Start, e.TCP.Write.Bandwidth, e.TCP.Read.Start, e.TCP.Read.Bandwidth = 5*us, 400e6, 5*us, 400e6
	e.TCP.Output, e.TCP.Input, e.TCP.Poll = 3*us, 5*us, 5*us
	e.TCP.Congestion = &model.Congestion{InitialWindowSegments: 2, ReorderToleranceSegments: 3}
	return m, e
}

// streams lets ranks send bytes to others, and returns when each receiver had all of its own, and
// what was on the network.
func streams(t *testing.T, m *model.Machine, to map[int]int, bytes int) (took map[int]unit.Time, s hw.EthernetStatistics) {
	t.Helper()
	return seeded(t, m, 0, to, bytes)
}

// seeded is streams with a seed of faults.
func seeded(t *testing.T, m *model.Machine, seed uint64, to map[int]int, bytes int) (took map[int]unit.Time, s hw.EthernetStatistics) {
	t.Helper()
	w := hwtest.Open(t, hw.Config{Machine: m, Ranks: 8, Ethernet: &s, Seed: seed})
	took = map[int]unit.Time{}
	err := w.Run(func(p device.Port) error {
		if dst, ok := to[p.Rank()]; ok {
			p.Send(dst, &device.Packet{Data: make([]byte, bytes)})
			return nil
		}
		n := 0
		for _, dst := range to {
			if dst == p.Rank() {
				n++
			}
		}
		for range n {
			took[p.Recv(true).Src] = p.Now()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return took, s
}

// TestSharedReceiver checks what is known of such networks: disjoint pairs run at the full rate,
// and three flows into one link get less than it can carry, and very different shares, as some wait
// for what was lost. It comes out of the buffer of the switch, and is not so where there is room
// for all windows.
func TestSharedReceiver(t *testing.T) {
	line := 12.5e6 * 1460 / 1538 // data of a segment, of what a frame and its gap take
	for _, c := range []struct {
		name        string
		buffer      int
		target      []int
		least, most float64 // of what the links can carry
		lost        bool
	}{
		{"disjoint pairs", 32 << 10, []int{1, 1, 3, 3, 5, 5}, 0.97, 1, false},
		{"three into one", 16 << 10, []int{3, 3, 3, 3}, 0.85, 0.995, true},
		{"three into one", 32 << 10, []int{3, 3, 3, 3}, 0.85, 0.995, true},
		{"three into one with room", 1 << 20, []int{3, 3, 3, 3}, 0.97, 1, false},
	} {
		m, _ := careful(c.buffer)
		var s hw.EthernetStatistics
		sum := 0.0
		into := map[int]bool{}
		rates := flows(t, m, c.target, &s)
		for src, rate := range rates {
			sum += rate
			if dst := c.target[src]; dst != src {
				into[dst] = true
			}
		}
		if got := sum / line / float64(len(into)); got < c.least || got > c.most*1.003 {
			t.Errorf("%s, buffer of %d: %.3f of what links can carry, want %v to %v: %.3g", c.name, c.buffer, got, c.least, c.most, rates)
		}
		if c.lost && slices.Max(rates) < 1.3*sum/3 {
			t.Errorf("%s, buffer of %d: equal shares %.3g, where some wait", c.name, c.buffer, rates)
		}
		if lost := s.FramesOverflowed > 0 && s.FastRetransmits > 0 && s.TCPTimeouts > 0; lost != c.lost || !c.lost && s.TCPBytesRetransmitted > 0 {
			t.Errorf("%s, buffer of %d: %+v", c.name, c.buffer, s)
		}
	}
}

// TestBursts checks what losses do to an exchange: messages of seven ranks that come into one link
// at the same time would take 40 ms, and some wait for a timeout of 200 ms.
func TestBursts(t *testing.T) {
	to := map[int]int{1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0}
	for _, c := range []struct {
		buffer int
		waits  bool
	}{{32 << 10, true}, {1 << 20, false}} {
		m, e := careful(c.buffer)
		took, s := streams(t, m, to, 64<<10)
		last := slices.Max(slices.Collect(maps.Values(took)))
		if waits := last >= e.TCP.Retransmit; waits != c.waits || s.TCPTimeouts > 0 != c.waits || last < 36*unit.Millisecond || !waits && last > 45*unit.Millisecond {
			t.Errorf("buffer of %d: the last is there after %v: %+v", c.buffer, last, s)
		}
	}
}

// TestSlowStart checks that a window of two segments doubles with each round trip: 2, 4, 8
// segments.
func TestSlowStart(t *testing.T) {
	m, e := careful(1 << 20)
	e.Switches.Latency, e.TCP.AckEvery = 10*unit.Millisecond, 1
	mss := e.MaxSegmentData()
	round := 2 * e.Switches.Latency
	for _, c := range []struct{ segments, rounds int }{{2, 0}, {3, 1}, {6, 1}, {7, 2}, {14, 2}, {15, 3}, {30, 3}, {31, 4}} {
		took, _ := streams(t, m, map[int]int{0: 1}, c.segments*mss-e.TCP.Record)
		// Beside the round trips there is the way, and the time of the segments.
		rest := took[0] - unit.Time(c.rounds)*round - e.Switches.Latency
		if rest < 0 || rest > round/2 {
			t.Errorf("%d segments take %v, want %d round trips of %v and a way", c.segments, took[0], c.rounds, round)
		}
	}
}

// TestIdle checks that the window of a connection is half after each timeout in which nothing was
// sent. With a window of 44 segments, 31 take no round trip; they take one with 22, two with 5, and
// four with two.
func TestIdle(t *testing.T) {
	m, e := careful(1 << 20)
	e.Switches.Latency, e.TCP.AckEvery = 10*unit.Millisecond, 1
	round := 2 * e.Switches.Latency
	for _, c := range []struct {
		timeouts float64
		rounds   int
	}{{0, 0}, {0.5, 0}, {1.5, 1}, {3.5, 2}, {20, 4}} {
		w := hwtest.Open(t, hw.Config{Machine: m, Ranks: 2})
		var begun, took unit.Time
		err := w.Run(func(p device.Port) error {
			if p.Rank() == 0 {
				p.Send(1, &device.Packet{Data: make([]byte, 200*e.MaxSegmentData())})
				p.Recv(true)
				p.Delay(unit.Time(c.timeouts * float64(e.TCP.Retransmit)))
				begun = p.Now()
				p.Send(1, &device.Packet{Data: make([]byte, 31*e.MaxSegmentData()-e.TCP.Record)})
				return nil
			}
			p.Recv(true)
			p.Send(0, &device.Packet{})
			p.Recv(true)
			took = p.Now() - begun
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if rest := took - unit.Time(c.rounds)*round - e.Switches.Latency; rest < 0 || rest > round/2 {
			t.Errorf("after %v timeouts 31 segments take %v, want %d round trips of %v and a way", c.timeouts, took, c.rounds, round)
		}
	}
}

// TestFastRetransmission checks that what a switch loses now and then is sent again at once, and
// how long it takes where it is not.
func TestFastRetransmission(t *testing.T) {
	const bytes = 4 << 20
	m, e := careful(1 << 20)
	e.Switches.LossProbability = 0.005
	fast, s := streams(t, m, map[int]int{0: 1}, bytes)
	e.TCP.Congestion = &model.Congestion{InitialWindowSegments: 2, ReorderToleranceSegments: 1000}
	slow, s1000 := streams(t, m, map[int]int{0: 1}, bytes)
	if s.FramesLostToFaults == 0 || s.FastRetransmits < s.FramesLostToFaults/4 || s.TCPTimeouts > s.FastRetransmits || s1000.FastRetransmits != 0 || s1000.TCPTimeouts < 5 {
		t.Errorf("losses: %+v; without fast retransmission: %+v", s, s1000)
	}
	if fast[0] > slow[0]/2 {
		t.Errorf("with fast retransmission %v, without %v", fast[0], slow[0])
	}
	if s.TCPBytesReceived != s.TCPBytesSent || s1000.TCPBytesReceived != s1000.TCPBytesSent {
		t.Errorf("of %d and %d bytes %d and %d came", s.TCPBytesSent, s1000.TCPBytesSent, s.TCPBytesReceived, s1000.TCPBytesReceived)
	}
}

// TestSelective checks that senders resend exactly what was lost, as receivers say what they have,
// but for at most a segment at a timeout.
func TestSelective(t *testing.T) {
	m, e := careful(1 << 20)
	e.Switches.Latency, e.Switches.LossProbability = 2*unit.Millisecond, 0.04
	fast := 0
	for seed := range uint64(50) {
		_, s := seeded(t, m, seed, map[int]int{0: 1}, 100*e.MaxSegmentData())
		if lost := s.LostBytes - s.FramesLostToFaults*e.TCP.Header; s.TCPBytesRetransmitted < lost || s.TCPBytesRetransmitted > lost+s.TCPTimeouts*e.MaxSegmentData() {
			t.Errorf("seed %d: %d bytes of data were lost, and %d sent again: %+v", seed, lost, s.TCPBytesRetransmitted, s)
		}
		fast += s.FastRetransmits - s.TCPTimeouts
	}
	if fast < 100 {
		t.Errorf("%d segments were sent again without a timeout", fast)
	}
}

// TestSocketsTogether checks what a library that writes to several sockets at the same time makes
// of its link: messages to three ranks share it, and all are there at the end, where one that
// writes in turn has the first there after a third of the time. Sends return at once, and Flush
// when all is written.
func TestSocketsTogether(t *testing.T) {
	const bytes = 4 << 20
	m, e := careful(1 << 20)
	whole := e.Rate.Time(bytes * 1538 / 1460)
	for _, together := range []bool{false, true} {
		w := hwtest.Open(t, hw.Config{Machine: m, Ranks: 4, Library: &model.Library{Sockets: &model.Sockets{BufferBytes: 32768, BuffersUnsentData: together}}})
		var came [4]unit.Time
		var sent, flushed unit.Time
		err := w.Run(func(p device.Port) error {
			if p.Rank() > 0 {
				p.Recv(true)
				came[p.Rank()] = p.Now()
				return nil
			}
			for r := 1; r < 4; r++ {
				p.Send(r, &device.Packet{Data: make([]byte, bytes)})
			}
			sent = p.Now()
			p.(device.BufferedSender).Flush()
			flushed = p.Now()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		near := func(x, want unit.Time) bool { return x > want*95/100 && x < want*105/100 }
		first := whole
		if together {
			first = 3 * whole
		}
		if !near(came[1], first) || !near(came[3], 3*whole) || !near(flushed, 3*whole) || near(sent, 3*whole) == together {
			t.Errorf("together %v: sent at %v, written at %v, there at %v, where one takes %v", together, sent, flushed, came, whole)
		}
	}
}
