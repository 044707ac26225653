package numa_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const ns = unit.Nanosecond

// quickSends returns a node in which a packet takes 10 ns, and a line 50 ns within a cluster, 100
// within a domain, 150 within a socket and 200 to the other one.
func quickSends() *model.Machine {
	m := hwtest.NUMA()
	m.Network.(*model.NUMA).Send.Start = 10 * ns
	return m
}

// The line of a queue is in the cache of its last sender, and goes to the next one. Senders that
// ask for it at one time get it one after the other.
func TestSendersTakeTheLineFromEachOther(t *testing.T) {
	const receiver = 8
	sends := []struct {
		sender    int
		at, takes unit.Time
	}{
		{0, 1 * us, 10 * ns}, // nobody had it
		{4, 2 * us, 160 * ns},
		{0, 3 * us, 160 * ns},
		{0, 4 * us, 10 * ns},
		{1, 5 * us, 60 * ns},
		{10, 6 * us, 210 * ns},
		{12, 7 * us, 160 * ns},
		{0, 7 * us, 360 * ns}, // from 12, which has got it from 10
	}
	got := make([]unit.Time, len(sends))
	hwtest.Run(t, quickSends(), 16, func(p device.Port) {
		for i, x := range sends {
			switch p.Rank() {
			case x.sender:
				p.Delay(x.at - p.Now())
				if x.sender == 0 && x.at == 7*us {
					p.Delay(ns) // after 12
				}
				begin := p.Now()
				p.Send(receiver, &device.Packet{})
				got[i] = p.Now() - begin
			case receiver:
				p.Recv(true)
			}
		}
	})
	sends[len(sends)-1].takes -= ns
	for i, x := range sends {
		if got[i] != x.takes {
			t.Errorf("packet of rank %d at %v takes it %v, want %v", x.sender, x.at, got[i], x.takes)
		}
	}
}

// A sender waits until the line of its last packet, which was in the cache of that one's receiver,
// has come: so packets to far cores follow each other more slowly, whoever gets them.
func TestSenderWaitsForItsStores(t *testing.T) {
	var at []unit.Time
	hwtest.Run(t, quickSends(), 16, func(p device.Port) {
		for _, receiver := range []int{1, 2, 4, 8, 1} {
			switch p.Rank() {
			case 0:
				p.Send(receiver, &device.Packet{})
				at = append(at, p.Now())
			case receiver:
				p.Recv(true)
			}
		}
	})
	for i, want := range []unit.Time{10, 70, 180, 340, 550} {
		if at[i] != want*ns {
			t.Errorf("packet %d is written at %v, want %v", i, at[i], want*ns)
		}
	}
}

// Both cores wait for the lines of a packet's data: one to write them and one to read them.
func TestSenderAndReceiverFetchLines(t *testing.T) {
	const n = 500 // with 1 ns/B within a domain
	var sent, received unit.Time
	hwtest.Run(t, quickSends(), 16, func(p device.Port) {
		switch p.Rank() {
		case 0:
			p.Send(2, &device.Packet{Data: make([]byte, n)})
			sent = p.Now()
		case 2:
			p.Recv(true)
			received = p.Now()
		}
	})
	// 10 ns and 500 B at 100 MB/s; then 200 ns until it is seen, and 200 to take it
	if want := 10*ns + 5*us + n/2*ns; sent != want || received != want+400*ns+n/2*ns {
		t.Errorf("sent at %v and received at %v, want %v and %v", sent, received, want, want+400*ns+n/2*ns)
	}
}
