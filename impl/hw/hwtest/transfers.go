package hwtest

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// SendPackets sends a number of packets of n bytes, and returns when the sender was free again.
func SendPackets(p device.Port, dst, packets, n int) unit.Time {
	for range packets {
		p.Send(dst, &device.Packet{Data: make([]byte, n)})
	}
	return p.Now()
}

// ReceivePackets receives packets, and returns when the last one arrived.
func ReceivePackets(p device.Port, packets int) unit.Time {
	for range packets {
		p.Recv(true)
	}
	return p.Now()
}

// Transfers is the result of random transfers.
type Transfers struct {
	Packets  []Transfer // by sender, in order
	Accesses []Transfer
}

// Transfer describes one transfer: its ranks, bytes, start and end.
type Transfer struct {
	Src, Dst, Bytes    int
	Get                bool
	StartTime, EndTime unit.Time
}

// MakeReceivesFree sets the cost of taking a packet to zero, so that a waiting receiver sees its
// arrival time.
func MakeReceivesFree(m *model.Machine) {
	if m.Network.Kind() == "torus" {
		m.Network.(*model.Torus).Receive = 0
	}
	if h, ok := m.Network.(*model.Hypernodes); ok {
		for t := range h.Access {
			h.Access[t].Receive, h.Access[t].FetchPerByte = 0, 0
		}
	}
	if n, ok := m.Network.(*model.NUMA); ok {
		n.Receive = 0
		for d := range n.Distances {
			n.Distances[d].Fetch = 0
		}
	}
}

// RandomTransfers runs random transfers. Even ranks send packets to odd ranks, which only receive,
// and read and write their memory. If watched is set, each rank reads its clock after every step,
// otherwise only where necessary.
func RandomTransfers(t *testing.T, m *model.Machine, ranks int, seed uint64, watched bool) (x Transfers) {
	byRank := make([]Transfers, ranks)
	type arrival struct {
		at    unit.Time
		bytes int
	}
	arrived := make(map[[2]int][]arrival)
	MakeReceivesFree(m)
	Run(t, m, ranks, func(p device.Port) {
		p.Memory().Expose(make([]byte, 10000))
		if p.Rank()%2 == 1 {
			for left := (ranks + 1) / 2; left > 0; {
				q := p.Recv(true)
				if q.Head[0] == 2 {
					left--
					continue
				}
				pair := [2]int{q.Src, p.Rank()}
				arrived[pair] = append(arrived[pair], arrival{p.Now(), len(q.Data)})
			}
			return
		}
		r := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
		me := &byRank[p.Rank()]
		p.Delay(unit.Time(r.IntN(1000_000)))
		open := 0
		end := func() {
			q := p.Recv(true)
			me.Accesses[q.Head[1]].EndTime = p.Now()
			open--
		}
		for range 60 {
			dst, n := r.IntN(ranks/2)*2+1, r.IntN(4000)
			at := unit.Time(0)
			if watched {
				at = p.Now()
			}
			switch r.IntN(6) {
			case 0:
				p.Delay(unit.Time(r.IntN(20_000_000)))
			case 1:
				get := r.IntN(2) == 0
				done := device.Head{1, uint64(len(me.Accesses))}
				me.Accesses = append(me.Accesses, Transfer{p.Rank(), dst, n, get, at, 0})
				open++
				if get {
					p.Memory().Get(dst, 0, 0, make([]byte, n), done)
				} else {
					p.Memory().Put(dst, 0, 0, make([]byte, n), done)
				}
				if k := m.Network.Kind(); k == "hypernodes" || k == "numa" { // the transfer has ended
					end()
				}
			default:
				p.Send(dst, &device.Packet{Data: make([]byte, n)})
				me.Packets = append(me.Packets, Transfer{p.Rank(), dst, n, false, at, 0})
			}
		}
		for open > 0 {
			end()
		}
		for dst := 1; dst < ranks; dst += 2 {
			p.Send(dst, &device.Packet{Head: device.Head{2}})
		}
	})
	for _, me := range byRank {
		for _, c := range me.Packets {
			pair := [2]int{c.Src, c.Dst}
			if len(arrived[pair]) == 0 {
				t.Fatalf("seed %d: a packet of %d bytes from %d to %d is lost", seed, c.Bytes, c.Src, c.Dst)
			}
			if got := arrived[pair][0].bytes; got != c.Bytes {
				t.Fatalf("seed %d: a packet of %d bytes from %d to %d comes as one of %d", seed, c.Bytes, c.Src, c.Dst, got)
			}
			c.EndTime, arrived[pair] = arrived[pair][0].at, arrived[pair][1:]
			x.Packets = append(x.Packets, c)
		}
		x.Accesses = append(x.Accesses, me.Accesses...)
	}
	return x
}
