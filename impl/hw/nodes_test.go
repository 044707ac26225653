package hw_test

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// together returns how long it takes until ranks have got a packet of 100 kB, each from the rank
// that is so many before it, if those of the first node, or both, send at once.
func together(t *testing.T, m *model.Machine, senders, apart int) (end unit.Time) {
	t.Helper()
	hwtest.Run(t, m, 4, func(p device.Port) {
		switch r := p.Rank(); {
		case r < senders:
			p.Send((r+apart)%4, &device.Packet{Data: make([]byte, 100_000)})
		case r >= apart && r < apart+senders:
			p.Recv(true)
			end = max(end, p.Now())
		}
	})
	return end
}

// Ranks of a node share its interfaces: two that send to another node at once take twice as long as
// one where there is one interface, and no longer where each has its own. Here a rank uses the
// interface of its place in the node.
func TestNodesShareInterfaces(t *testing.T) {
	alone := together(t, hwtest.SMPCluster(1), 1, 2)
	for interfaces, want := range map[int]float64{1: 2, 2: 1} {
		both := together(t, hwtest.SMPCluster(interfaces), 2, 2)
		if got := float64(both) / float64(alone); got < want-0.05 || got > want+0.05 {
			t.Errorf("%d interfaces: two ranks take %v, one takes %v: %.2f times as long, want %v", interfaces, both, alone, got, want)
		}
	}
}

// Ranks of a node share its memory, and nodes do not share theirs: exchanges within two nodes take
// as long as within one, which take twice as long as one message, as each way has to pass the port
// of the memory.
func TestNodesShareMemory(t *testing.T) {
	within := func(senders ...int) (end unit.Time) {
		hwtest.Run(t, hwtest.SMPCluster(1), 4, func(p device.Port) {
			r := p.Rank()
			if slices.Contains(senders, r) {
				p.Send(r^1, &device.Packet{Data: make([]byte, 100_000)})
			}
			if slices.Contains(senders, r^1) {
				p.Recv(true)
			}
			end = max(end, p.Now())
		})
		return end
	}
	one, exchange, two := within(0), within(0, 1), within(0, 1, 2, 3)
	if x := float64(exchange) / float64(one); x < 1.95 || x > 2.05 {
		t.Errorf("an exchange takes %v, one message %v", exchange, one)
	}
	if two != exchange {
		t.Errorf("exchanges in two nodes take %v, in one %v", two, exchange)
	}
}

// Processors of a node that copy share its memory where copies pass the port: as many take no
// longer than one until the port is full, and then they share it. Those of another node do not
// matter.
func TestCopiesShareMemory(t *testing.T) {
	const bytes = 100_000
	for _, c := range []struct {
		shared         bool
		copying, apart int
		times          float64
	}{{true, 1, 1, 1}, {true, 2, 1, 2}, {true, 2, 2, 1}, {false, 2, 1, 1}} {
		m := hwtest.SMPCluster(1)
		m.Processor.Copy = model.Channel{Start: us, Bandwidth: 100e6}
		m.Nodes.Inside.(*model.Hypernodes).CopiesPassPort = c.shared
		var end unit.Time
		hwtest.Run(t, m, 4, func(p device.Port) {
			if r := p.Rank(); r%c.apart == 0 && r/c.apart < c.copying {
				p.Copy(make([]byte, bytes), make([]byte, bytes))
				end = max(end, p.Now())
			}
		})
		alone := m.Processor.Copy.Bandwidth.Time(bytes)
		if got := float64(end) / float64(alone); got < c.times || got > c.times+0.02 {
			t.Errorf("%d processors, %d apart, port %v: %v, which is %.2f times a copy alone, want %v", c.copying, c.apart, c.shared, end, got, c.times)
		}
	}
}
