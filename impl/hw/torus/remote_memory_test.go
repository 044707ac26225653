package torus_test

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// putters runs a job in which some ranks, one of each node, put to others: so many bytes at a time,
// so many times, one put after the other. It returns when each had its last completion.
func putters(t *testing.T, m *model.Machine, target map[int]int, times, bytes int) map[int]unit.Time {
	t.Helper()
	ends := map[int]unit.Time{}
	hwtest.Run(t, m, 16, func(p device.Port) {
		key := p.Memory().Expose(make([]byte, bytes))
		p.Delay(us) // memory is exposed
		to, ok := target[p.Rank()]
		if !ok {
			p.Delay(unit.Second) // memory stays exposed
			return
		}
		begin := p.Now()
		for range times {
			p.Memory().Put(to, key, 0, make([]byte, bytes), device.Head{})
			p.Recv(true)
		}
		ends[p.Rank()] = p.Now() - begin
		p.Delay(unit.Second)
	})
	return ends
}

// The processor that puts is busy until all but what its write buffer takes has left; one that
// gets, until it has the data. The engine leaves both free.
func TestProcessorMovesData(t *testing.T) {
	const bytes = 2000
	for _, c := range []struct {
		get, engine bool
		busy        unit.Time
	}{
		{false, false, 2*us + (bytes-250)*8_000},
		{true, false, 3*us + bytes*20_000 + 2*150_000},
		{false, true, us},
		{true, true, us},
	} {
		m := hwtest.Torus()
		n := m.Network.(*model.Torus)
		n.WriteBuffer = 250
		if c.engine {
			n.TransferEngine = model.Channel{Start: us, Bandwidth: 125e6}
		}
		hwtest.Run(t, m, 4, func(p device.Port) {
			key := p.Memory().Expose(make([]byte, bytes))
			p.Delay(us)
			if p.Rank() != 0 {
				p.Delay(unit.Second)
				return
			}
			access, begin := p.Memory().Put, p.Now()
			if c.get {
				access = p.Memory().Get
			}
			access(2, key, 0, make([]byte, bytes), device.Head{})
			if busy := p.Now() - begin; busy != c.busy {
				t.Errorf("get %v by the engine %v: the processor is busy for %v, want %v", c.get, c.engine, busy, c.busy)
			}
			p.Recv(true)
		})
	}
}

// Whether the engine or the processor carries a put, it takes effect behind those before it.
func TestPutsByBothWaysKeepTheirOrder(t *testing.T) {
	m := hwtest.Torus()
	m.Network.(*model.Torus).TransferEngine = model.Channel{Start: 20 * us, Bandwidth: 140e6} // from some 20 KB on
	const long, times = 50_000, 30
	hwtest.Run(t, m, 4, func(p device.Port) {
		b := make([]byte, long)
		key := p.Memory().Expose(b)
		p.Delay(us)
		switch p.Rank() {
		case 0:
			for i := range times {
				data := make([]byte, long-i%2*(long-8)) // the long ones and words in turn
				for j := range data {
					data[j] = byte(i + 1)
				}
				p.Memory().Put(2, key, 0, data, device.Head{})
			}
			for range times {
				p.Recv(true)
			}
			p.Delay(unit.Second)
		case 2:
			last := byte(0)
			for b[0] < times {
				seen := p.Watch().EventCount()
				if b[0] < last || b[0]%2 == 0 && b[0] > 0 && b[long-1] != b[0]-1 {
					t.Fatalf("the first byte is of put %d after %d, the last of put %d", b[0], last, b[long-1])
				}
				last = b[0]
				p.Watch().WaitForEvent(seen, device.Forever)
			}
		}
	})
}

// Puts from several ranks to one take as long as the target's memory, the senders' processors or
// the link need, whichever is longest.
func TestHotSpot(t *testing.T) {
	const times, bytes = 20, 5000
	alone := unit.Time(times) * (2*us + bytes*8_000)
	for _, memory := range []unit.Rate{0, 1000e6, 150e6, 130e6} {
		for senders := 1; senders <= 4; senders++ {
			m := hwtest.Torus()
			n := m.Network.(*model.Torus)
			n.MemoryRate, n.Link = memory, 300e6
			target := map[int]int{}
			for i := range senders {
				target[2+3*i] = 0 // of different nodes
			}
			least := max(alone, n.Link.Time(senders*times*bytes))
			if memory > 0 {
				least = max(least, memory.Time(senders*times*bytes))
			}
			for r, end := range putters(t, m, target, times, bytes) {
				if most := least + least/10; end > most || senders == 1 && end < least || r < 0 {
					t.Errorf("%d ranks put to one, whose memory takes %v: the put of rank %d end after %v, want at most %v", senders, memory, r, end, most)
				}
			}
			last := unit.Time(0)
			for _, end := range putters(t, m, target, times, bytes) {
				last = max(last, end)
			}
			if last < least {
				t.Errorf("%d ranks put to one, whose memory takes %v: the last ends after %v, want at least %v", senders, memory, last, least)
			}
		}
	}
}

// A processor that stores is slowed down by what is written to its memory meanwhile, as far as that
// has the memory.
func TestMemoryIsShared(t *testing.T) {
	const times, bytes = 10, 50_000
	for _, memory := range []unit.Rate{0, 250e6, 500e6} {
		m := hwtest.Torus()
		n := m.Network.(*model.Torus)
		n.MemoryRate, n.Link = memory, 1000e6
		for what, c := range map[string]struct {
			target map[int]int
			taken  int // bytes written to a rank for each byte that it stores
		}{
			"one way":      {map[int]int{0: 6}, 0},
			"both ways":    {map[int]int{0: 6, 6: 0}, 1},
			"along a ring": {map[int]int{0: 6, 6: 12, 12: 0}, 1},
		} {
			want := unit.Time(times) * (2*us + n.Put.Bandwidth.Time(bytes))
			if memory > 0 {
				want += memory.Time(c.taken * times * bytes)
			}
			for r, end := range putters(t, m, c.target, times, bytes) {
				if end < want-want/20 || end > want+want/20 {
					t.Errorf("memory of %v, %s: the puts of rank %d end after %v, want about %v", memory, what, r, end, fmt.Sprint(want))
				}
			}
		}
	}
}

// A rank that others flood stops them: each goes on when memory has taken what it has put, and all
// go on at about the same time.
func TestFloodStopsSenders(t *testing.T) {
	const bytes = 5000
	m := hwtest.Torus()
	n := m.Network.(*model.Torus)
	n.MemoryRate, n.MemoryLineBytes, n.Link = 50e6, 32, 1000e6
	flood := n.MemoryRate.Time(3 * bytes)
	var second [16]unit.Time
	hwtest.Run(t, m, 16, func(p device.Port) {
		key := p.Memory().Expose(make([]byte, bytes))
		p.Delay(us) // memory is exposed
		if r := p.Rank(); r == 2 || r == 4 || r == 8 {
			begin := p.Now()
			p.Memory().Put(0, key, 0, make([]byte, bytes), device.Head{})
			p.Memory().Put(1, key, 0, make([]byte, 8), device.Head{})
			second[r] = p.Now() - begin
			p.Recv(true)
			p.Recv(true)
		}
		p.Delay(unit.Second)
	})
	for _, r := range []int{2, 4, 8} {
		if d := second[r]; d < flood-flood/10 || d > flood+10*us {
			t.Errorf("rank %d has put to a flooded rank and then to another after %v, want about %v", r, d, flood)
		}
	}
}

// Bytes that memory cannot take yet stay in the links on their way, where others wait behind them.
func TestFloodHoldsLinks(t *testing.T) {
	const bytes = 5000
	m := hwtest.Torus()
	n := m.Network.(*model.Torus)
	n.MemoryRate, n.MemoryLineBytes, n.Link = 10e6, 32, 1000e6
	var took [16]unit.Time
	hwtest.Run(t, m, 16, func(p device.Port) {
		key := p.Memory().Expose(make([]byte, bytes))
		p.Delay(us) // memory is exposed
		put := func(to, bytes int) {
			begin := p.Now()
			p.Memory().Put(to, key, 0, make([]byte, bytes), device.Head{})
			p.Recv(true)
			took[p.Rank()] = p.Now() - begin
		}
		switch p.Rank() {
		case 6:
			put(0, bytes)
		case 5: // to the other rank of the node of rank 0, by the last link of rank 6
			p.Delay(20 * us)
			put(1, 8)
		case 8: // likewise, by another link
			p.Delay(20 * us)
			put(1, 8)
		}
		p.Delay(unit.Second)
	})
	chunk := n.MemoryRate.Time(n.Chunk) // has its turn before
	if took[5] < chunk/2 || took[8] > 10*us {
		t.Errorf("memory takes %v for a chunk: a put behind one takes %v, one by another link %v", chunk, took[5], took[8])
	}
}

// A line that others write closes the page from which a processor reads, so that it reads longer.
func TestPagesAreClosed(t *testing.T) {
	const times, bytes = 10, 5000
	for _, reopen := range []unit.Time{0, 100 * unit.Nanosecond} {
		m := hwtest.Torus()
		n := m.Network.(*model.Torus)
		n.MemoryRate, n.MemoryLineBytes, n.PageReopen, n.Link = 500e6, 32, reopen, 1000e6
		want := unit.Time(times)*(2*us+n.Put.Bandwidth.Time(bytes)+reopen*(bytes/32)) + n.MemoryRate.Time(times*bytes)
		for r, end := range putters(t, m, map[int]int{0: 6, 6: 0}, times, bytes) {
			if end < want-want/20 || end > want+want/20 {
				t.Errorf("pages that cost %v: the puts of rank %d end after %v, want about %v", reopen, r, end, want)
			}
		}
	}
}
