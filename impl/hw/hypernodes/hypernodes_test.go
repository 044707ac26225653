package hypernodes_test

import (
	"bytes"
	"fmt"
	"math"
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

// place returns where a rank is, counted from the sizes in another way than the emulation does: its
// hypernode, its block, and its block's ring.
func place(h *model.Hypernodes, rank int) (node int, block, ring string) {
	node = h.Node(rank)
	for _, n := range h.Sizes[:node] {
		rank -= n
	}
	b := rank / h.ProcessorsPerBlock
	return node, fmt.Sprintf("block %d of hypernode %d", b, node), fmt.Sprintf("ring %d", b%h.Rings)
}

// TestHypernodesPhysics checks random traffic: nothing is lost, nothing beats its processor or the
// way, and no port or ring lets more pass than it can, in any span of time.
func TestHypernodesPhysics(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := hwtest.Hypernodes([][]int{{12}, {5, 7}, {1, 2, 3, 6}}[r.IntN(3)]...)
		h := m.Network.(*model.Hypernodes)
		h.Port = []unit.Rate{30e6, 100e6, 125e6, 1e9}[r.IntN(4)]
		h.Ring = []unit.Rate{20e6, 50e6, 1e9}[r.IntN(3)]
		h.Rings, h.ProcessorsPerBlock, h.Header = 1+r.IntN(4), 1+r.IntN(3), []int{0, 40}[r.IntN(2)]
		ranks := 4 + r.IntN(9)
		x := hwtest.RandomTransfers(t, m, ranks, seed, true)
		passed := map[string][]hwtest.Transfer{}
		pass := func(c hwtest.Transfer, ch model.Channel, after unit.Time) {
			path := m.PathBetweenRanks(ranks, c.Src, c.Dst)
			if least := ch.Time(c.Bytes) + after; c.EndTime-c.StartTime < least {
				t.Errorf("seed %d: %d bytes from %d to %d (get %v) took %v, they need %v", seed, c.Bytes, c.Src, c.Dst, c.Get, c.EndTime-c.StartTime, least)
			}
			_, mine, _ := place(h, c.Src)
			_, home, ring := place(h, c.Dst)
			out, in := "out of "+mine, "into "+home
			if c.Get {
				out, in = "out of "+home, "into "+mine
			}
			passed[out] = append(passed[out], c)
			passed[in] = append(passed[in], c)
			if path.Tier == model.InterNode {
				passed[ring] = append(passed[ring], c)
			}
		}
		for _, c := range x.Packets {
			path := m.PathBetweenRanks(ranks, c.Src, c.Dst)
			a := h.Access[path.Tier]
			c.Bytes += h.Header
			pass(c, a.Send, a.Latency+h.Hop*unit.Time(path.Hops))
		}
		for _, c := range x.Accesses {
			path := m.PathBetweenRanks(ranks, c.Src, c.Dst)
			a, around := h.Access[path.Tier], h.Hop*unit.Time(path.Hops)
			if c.Get {
				pass(c, a.Get, around)
			} else {
				pass(c, a.Put, a.Latency+around)
			}
		}
		for what, all := range passed {
			rate := h.Port
			if what[:4] == "ring" {
				rate = h.Ring
			}
			if from, to, bytes := crowded(all, rate); bytes > 0 {
				t.Errorf("seed %d: %d bytes passed %s from %v to %v, which takes %v", seed, bytes, what, from, to, rate.Time(bytes))
			}
		}
	}
}

// crowded returns a span of time within which more bytes passed than a rate allows, or none. A
// picosecond a chunk is for rounding.
func crowded(all []hwtest.Transfer, rate unit.Rate) (from, to unit.Time, bytes int) {
	slices.SortFunc(all, func(a, b hwtest.Transfer) int { return int(a.EndTime - b.EndTime) })
	for _, first := range all {
		sum := 0
		for _, c := range all {
			if c.StartTime < first.StartTime {
				continue
			}
			sum += c.Bytes
			if c.EndTime-first.StartTime < rate.Time(sum)-unit.Time(len(all)*5) {
				return first.StartTime, c.EndTime, sum
			}
		}
	}
	return 0, 0, 0
}

// Transfers that share a port or a ring take as long as that needs for all of them, and share it
// alike; those that do not, as long as their processors need.
func TestHypernodesSharing(t *testing.T) {
	const packets, n = 20, 50_000
	for _, c := range []struct {
		what  string
		pairs [][2]int
		port  int // transfers on the busiest port
		rings int
		ring  int // transfers on the busiest ring
	}{
		{"one inside", [][2]int{{0, 2}}, 1, 4, 0},
		{"one between", [][2]int{{0, 8}}, 1, 4, 1},
		{"inside, all apart", [][2]int{{0, 2}, {4, 6}, {8, 10}}, 1, 4, 0},
		{"two out of a block", [][2]int{{0, 2}, {1, 4}}, 2, 4, 0},
		{"three into a block", [][2]int{{0, 6}, {2, 7}, {4, 6}}, 3, 4, 0},
		{"both ways of a port", [][2]int{{0, 2}, {2, 0}}, 1, 4, 0},
		{"between, each by its ring", [][2]int{{0, 8}, {2, 10}, {4, 12}, {6, 14}}, 1, 4, 1},
		{"between, all by one ring", [][2]int{{0, 8}, {2, 10}, {4, 12}, {6, 14}}, 1, 1, 4},
		{"between, the ring of the other's block", [][2]int{{0, 10}, {2, 10}, {4, 10}, {6, 11}}, 4, 4, 4},
		{"both ways of a ring", [][2]int{{0, 8}, {8, 0}}, 1, 4, 2},
		{"all at once", [][2]int{{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13}, {6, 14}, {7, 15}}, 2, 2, 4},
	} {
		for _, by := range []model.TransportMeans{model.ByPacket, model.ByPut, model.ByGet} {
			m := hwtest.Hypernodes(8, 8)
			h := m.Network.(*model.Hypernodes)
			h.Port, h.Ring, h.Rings = 120e6, 40e6, c.rings
			for tier := range h.Access { // two are more than a port takes, and one is more than a ring
				a := &h.Access[tier]
				for _, ch := range []*model.Channel{&a.Send, &a.Put, &a.Get} {
					*ch = model.Channel{Start: us, Bandwidth: 100e6}
				}
				a.SettleTime, a.FetchPerByte = 0, 0
			}
			var sent, there [16]unit.Time
			hwtest.Run(t, m, 16, func(p device.Port) {
				key := p.Memory().Expose(make([]byte, n))
				p.Delay(us) // memory is exposed
				b := make([]byte, n)
				for _, pair := range c.pairs {
					switch {
					case pair[0] != p.Rank():
					case by == model.ByPacket:
						sent[p.Rank()] = hwtest.SendPackets(p, pair[1], packets, n)
					default:
						for range packets {
							access := p.Memory().Put
							if by == model.ByGet {
								access = p.Memory().Get
							}
							access(pair[1], key, 0, b, device.Head{})
							p.Recv(true)
						}
						sent[p.Rank()] = p.Now()
						there[p.Rank()] = sent[p.Rank()]
					}
				}
				if by == model.ByPacket {
					mine := 0
					for _, pair := range c.pairs {
						if pair[1] == p.Rank() {
							mine += packets
						}
					}
					there[p.Rank()] = hwtest.ReceivePackets(p, mine)
					return
				}
				p.Delay(unit.Second) // memory stays exposed
			})
			const bytes = packets * n
			least := unit.Time(packets) * model.Channel{Start: us, Bandwidth: 100e6}.Time(n)
			least = max(least, h.Port.Time(c.port*bytes), h.Ring.Time(c.ring*bytes))
			last := slices.Max(there[:])
			if last < least || last > least+least/20 {
				t.Errorf("%s, by %v: all is there after %v, want %v and little more", c.what, by, last, least)
			}
			// Processors are held up as long as their bytes wait.
			for _, pair := range c.pairs {
				if at := sent[pair[0]]; at > last || at < least*9/10 {
					t.Errorf("%s, by %v: rank %d was free after %v, all took %v", c.what, by, pair[0], at, last)
				}
			}
		}
	}
}

// A rank that waits for a ring does not keep a port that others could use.
func TestHypernodesWaitingBlocksNoPort(t *testing.T) {
	const packets, n = 20, 50_000
	m := hwtest.Hypernodes(8, 8)
	h := m.Network.(*model.Hypernodes)
	h.Rings, h.Ring = 1, 10e6
	var there unit.Time
	hwtest.Run(t, m, 16, func(p device.Port) {
		switch r := p.Rank(); {
		case r < 6:
			hwtest.SendPackets(p, 8, packets/4, n)
		case r == 8:
			hwtest.ReceivePackets(p, 6*packets/4)
		case r == 10:
			hwtest.SendPackets(p, 9, packets, n) // of the block to which all others send
		case r == 9:
			there = hwtest.ReceivePackets(p, packets)
		}
	})
	a := h.Access[model.IntraNode]
	alone := unit.Time(packets) * (a.Send.Time(n) + a.SettleTime)
	if there > alone+alone/5 {
		t.Errorf("a stream inside a hypernode takes %v beside a busy ring, alone %v", there, alone)
	}
}

// A counter is asked along the ring, and answers by the rest of it.
func TestHypernodesCounter(t *testing.T) {
	hwtest.Run(t, hwtest.Hypernodes(2, 3, 3), 8, func(p device.Port) {
		if p.Rank() != 3 {
			return
		}
		for dst, want := range map[int]unit.Time{
			3: us + 2*300_000, 2: us + 2*300_000, 0: 2*us + 2*700_000 + 3*50_000, 7: 2*us + 2*700_000 + 3*50_000,
		} {
			at := p.Now()
			p.Counters().FetchAndAddRegister(dst, 0, 1)
			if took := p.Now() - at; took != want {
				t.Errorf("to count at %d takes %v, want %v", dst, took, want)
			}
		}
	})
}

// Written data can be read when the write has ended, and not before.
func TestHypernodesPutEnds(t *testing.T) {
	m := hwtest.Hypernodes(1, 1)
	a := m.Network.(*model.Hypernodes).Access[model.InterNode]
	const n = 2500
	end := us + a.Put.Time(n) + a.Latency + 2*m.Network.(*model.Hypernodes).Hop
	b := make([]byte, n)
	hwtest.Run(t, m, 2, func(p device.Port) {
		key := p.Memory().Expose(b)
		if p.Rank() == 0 {
			p.Delay(us) // memory is exposed
			p.Memory().Put(1, key, 0, bytes.Repeat([]byte{1}, n), device.Head{})
			if p.Now() != end {
				t.Errorf("a write from 1us on ends at %v, want %v", p.Now(), end)
			}
			return
		}
		p.Delay(end - 1)
		before := b[n-1]
		p.Delay(2)
		if before != 0 || b[n-1] != 1 {
			t.Errorf("the last byte is %d before the end and %d after, want 0 and 1", before, b[n-1])
		}
	})
}

// The time for which a processor moves bytes varies like any step, whether they go in one chunk or
// in many.
func TestHypernodesNoise(t *testing.T) {
	const relative, packets = 0.07, 5000
	for _, n := range []int{1000, 10_000} {
		m := hwtest.Hypernodes(2)
		a := &m.Network.(*model.Hypernodes).Access[model.IntraNode]
		a.Send.Start, a.SettleTime = 0, 0
		w := hwtest.Open(t, hw.Config{Machine: m, Ranks: 2, Seed: 1, Noise: relative})
		mean, square, want := 0.0, 0.0, float64(a.Send.Time(n))
		if err := w.Run(func(p device.Port) error {
			for range packets {
				if p.Rank() == 1 {
					p.Recv(true)
					continue
				}
				at := p.Now()
				p.Send(1, &device.Packet{Data: make([]byte, n)})
				x := float64(p.Now()-at)/want - 1
				mean += x / packets
				square += x * x / packets
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		// The standard errors are 0.1 % of the mean and 1 % of the deviation.
		if math.Abs(mean) > 0.004 || math.Abs(math.Sqrt(square)/relative-1) > 0.04 {
			t.Errorf("%d bytes: mean %+.2f %%, deviation %.2f %%, want 0 and 7", n, 100*mean, 100*math.Sqrt(square))
		}
	}
}
