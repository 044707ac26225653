package ethernet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// TestMulticastTimes checks when each member of a group has a multicast: all on the sender's switch
// at the same time, those on others an uplink and a switch later each.
func TestMulticastTimes(t *testing.T) {
	const bytes = 1000
	m := hwtest.UDPWorkstations("udp")
	e := m.Network.(*model.Ethernet)
	m.TimerResolution = 1
	for _, source := range []int{0, 5} {
		w := hwtest.Open(t, hw.Config{Machine: m, Ranks: 12})
		came := make([]unit.Time, 12)
		err := w.Run(func(p device.Port) error {
			d := p.Datagram()
			if p.Rank() != 3 {
				d.Join(1)
			}
			if p.Rank() == source {
				p.Delay(unit.Millisecond)
				d.Multicast(1, make([]byte, bytes))
			}
			if q := d.Recv(20 * unit.Millisecond); q != nil {
				if q.Src != source || len(q.Data) != bytes {
					return fmt.Errorf("rank %d got %d bytes of rank %d", p.Rank(), len(q.Data), q.Src)
				}
				came[p.Rank()] = p.Now()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		left := unit.Millisecond + e.UDP.Send.Time(bytes)
		step := e.Rate.Time(e.Preamble+e.Header+e.UDP.Header+bytes+e.FCS) + e.Propagation
		for r, at := range came {
			want := left + step + unit.Time(1+e.Switches.Uplinks(source, r))*(e.Switches.Latency+step) + e.UDP.Input + e.TCP.Poll + e.UDP.Receive.Time(bytes)
			if r == source || r == 3 {
				want = 0
			}
			if at != want {
				t.Errorf("multicast of rank %d: rank %d has it at %v, want %v", source, r, at, want)
			}
		}
	}
}

// TestSocketOverflows checks that a socket that is not read keeps what it has room for, the first,
// and that all else is counted as lost.
func TestSocketOverflows(t *testing.T) {
	const many, bytes = 50, 1472
	m := hwtest.UDPWorkstations("udp")
	var s hw.EthernetStatistics
	w := hwtest.Open(t, hw.Config{Machine: m, Ranks: 2, Ethernet: &s})
	var got []byte
	err := w.Run(func(p device.Port) error {
		d := p.Datagram()
		if p.Rank() == 0 {
			for i := range many {
				d.Send(1, slices.Repeat([]byte{byte(i)}, bytes))
			}
			return nil
		}
		p.Delay(unit.Second)
		for q := d.Recv(0); q != nil; q = d.Recv(0) {
			got = append(got, q.Data[0])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if room := 32768 / bytes; len(got) != room || int(got[room-1]) != room-1 {
		t.Errorf("a socket with room for %d datagrams kept %v", room, got)
	}
	if s.UDPDatagramsReceived != many || s.UDPDatagramsDropped != many-len(got) {
		t.Errorf("%d datagrams came and %d were lost, want %d and %d", s.UDPDatagramsReceived, s.UDPDatagramsDropped, many, many-len(got))
	}
}

// TestFaultsOfSwitches checks that the shares of frames that are lost and held back are those asked
// for, that a run with the same seed loses the same ones, and that TCP repairs it.
func TestFaultsOfSwitches(t *testing.T) {
	run := func(seed uint64) (s hw.EthernetStatistics, order []int) {
		m := hwtest.UDPWorkstations("udp with faults")
		w := hwtest.Open(t, hw.Config{Machine: m, Ranks: 2, Ethernet: &s, Seed: seed})
		const many = 4000
		err := w.Run(func(p device.Port) error {
			d := p.Datagram()
			if p.Rank() == 0 {
				for i := range many {
					d.Send(1, []byte{byte(i), byte(i >> 8)})
					p.Delay(200 * us)
				}
				p.Send(1, &device.Packet{Data: make([]byte, 100_000)})
				return nil
			}
			for {
				if q := p.Recv(false); q != nil {
					if len(q.Data) != 100_000 {
						return fmt.Errorf("a packet of %d bytes", len(q.Data))
					}
					return nil
				}
				if q := d.Recv(p.Now() + unit.Millisecond); q != nil {
					order = append(order, int(q.Data[0])|int(q.Data[1])<<8)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return s, order
	}
	s, order := run(1)
	if lost := 4000 - len(order); lost < 150 || lost > 250 || s.FramesLostToFaults < lost {
		t.Errorf("of 4000 datagrams %d were lost at 5 %%, and %d frames by faults", lost, s.FramesLostToFaults)
	}
	back := 0
	for i := range order[1:] {
		if order[i+1] < order[i] {
			back++
		}
	}
	if back < 100 || back > 400 {
		t.Errorf("%d of %d datagrams came behind a later one", back, len(order))
	}
	if s2, again := run(1); s2 != s || !slices.Equal(again, order) {
		t.Error("another run with the same seed had other faults")
	}
	if _, other := run(2); slices.Equal(other, order) {
		t.Error("a run with another seed had the same faults")
	}
}
