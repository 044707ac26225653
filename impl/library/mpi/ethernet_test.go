package mpi_test

import (
	"math"
	"testing"

	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// workstations returns an Ethernet with costs whose sums are all different.
func workstations() *model.Machine {
	return &model.Machine{Name: "workstations", Ranks: model.RankLimits{Min: 1, Max: 16}, TimerResolution: 1,
		Processor: model.Processor{Copy: model.Channel{Start: 30011, Bandwidth: 31e6}},
		Network: &model.Ethernet{Rate: 1.25e6, Preamble: 8, Header: 14, FCS: 4, InterframeGapBytes: 12, MinPayload: 46, MTU: 1500, BackoffSlot: 51_200_000, JamBytes: 4,
			MaxBackoffDoublings: 10, MaxCollisionsOfFrame: 16, Propagation: 1_000_003,
			TCP: model.TCP{Header: 40, Record: 40, SendBuffer: 4096, ReceiveBuffer: 4096,
				Write: model.Channel{Start: 80_000_009, Bandwidth: 12e6}, Read: model.Channel{Start: 70_000_027, Bandwidth: 13e6},
				Poll: 90_000_049, Output: 81_000_001, Input: 110_000_017, AckEvery: 2, AckDelay: 200 * unit.Millisecond, Retransmit: unit.Second}}}
}

// switched returns the same machine with switches that have a number of ports.
func switched(full bool, ports int) *model.Machine {
	m := workstations()
	m.Network.(*model.Ethernet).Switches = &model.Switches{IsFullDuplex: full, StationsPerSwitch: ports, Latency: 11_000_003, LinkBufferBytes: 1 << 20, Uplink: 3.7e6}
	return m
}

// ethernets are kinds of Ethernet, each with two ranks that communicate.
var ethernets = []struct {
	name string
	m    *model.Machine
	pair
}{
	{"medium", workstations(), pair{2, 0, 1}},
	{"full duplex", switched(true, 8), pair{2, 0, 1}},
	{"half duplex", switched(false, 8), pair{3, 2, 0}},
	{"an uplink", switched(true, 2), pair{3, 0, 2}},
	{"an uplink down", switched(false, 1), pair{3, 2, 0}},
	{"two uplinks", switched(true, 1), pair{3, 1, 2}},
}

// oneAfterTheOther reports whether the packets of a protocol alternate in direction, so that none
// meets another on the medium or at its receiver.
func oneAfterTheOther(p *model.Protocol) bool { return p != model.ProtocolRAT }

// TestExactEthernet compares emulation and closed form for packets that fit a segment and never
// overlap in time.
func TestExactEthernet(t *testing.T) {
	for _, e := range ethernets {
		t.Run(e.name, func(t *testing.T) {
			for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
				for _, k := range []int{0, 1, 2, 5, 6, 7, 16, 100, 1000, 1023, 1024, 1025, 1419, 1420} {
					eachWay(t, e.m, l, k, e.pair, func(t *testing.T, x model.Transfer, p pair) {
						if oneAfterTheOther(x.Protocol) {
							exact(t, x, p)
						}
					})
				}
			}
		})
	}
}

// TestEthernetStreams compares packets of several segments, for which the closed form uses a
// recurrence. A send returns when its buffer has space for the last bytes. This may differ by one
// acknowledgement, or about a frame: by chance of a collision on the shared medium, and by the
// order of reads on switches, where acknowledgements and data do not compete.
func TestEthernetStreams(t *testing.T) {
	const most = 0.10
	for _, e := range ethernets {
		mostOfCalls := 0.40
		if e.name == "medium" {
			mostOfCalls = 0.25
		}
		t.Run(e.name, func(t *testing.T) { streams(t, e.m, e.pair, most, mostOfCalls) })
	}
}

func streams(t *testing.T, m *model.Machine, between pair, most, mostOfCalls float64) {
	var worst, worstCall float64
	for _, l := range []*model.Library{odd(true, 0), odd(false, 0), odd(false, 8192)} {
		for _, k := range []int{16, 1421, 2000, 2881, 4000, 4056, 4057, 5000, 7000, 10000, 15000, 20000, 50000, 100000, 300000} {
			eachWay(t, m, l, k, between, func(t *testing.T, x model.Transfer, p pair) {
				got, want := emulate(t, x, p, x.Protocol.Name), x.Cost()
				off := func(what string, got, want unit.Time, most float64, worst *float64) {
					off := float64(want)/float64(got) - 1
					*worst = max(*worst, math.Abs(off))
					if math.Abs(off) > most {
						t.Errorf("%s of %s: emulated %v, model %v, %+.1f %%", what, describeTransfer(x, p), got, want, 100*off)
					}
				}
				off("T_s-r", got.delivery, want.Delivery.Sum(), most, &worst)
				off("T_s", got.sender, want.Sender.Sum(), mostOfCalls, &worstCall)
			})
		}
	}
	t.Logf("the model is off by at most %.1f %% of deliveries, %.1f %% of calls", 100*worst, 100*worstCall)
}

// TestExactEthernetMessages compares low-level messages with their closed form, and the closed form
// with its LogGP view.
func TestExactEthernetMessages(t *testing.T) {
	m, l := workstations(), odd(false, 0)
	path := m.PathBetweenRanks(2, 0, 1)
	view := model.LowLevelParameters(m, l, path)
	for _, k := range []int{0, 1, 16, 1000, 1420} {
		got, want := emulateMessage(t, m, l, model.ByPacket, k, pair{2, 0, 1}), messageCost(m, l, model.ByPacket, k, path)
		if got.sender != want.Sender.Sum() || got.delivery != want.Delivery.Sum() {
			t.Errorf("%d bytes: emulated %v and %v, closed form %v and %v", k, got.sender, got.delivery, want.Sender.Sum(), want.Delivery.Sum())
		}
		one := view.SendOverhead.Time(k) + view.L + m.Network.(*model.Ethernet).Rate.Time(k) + view.RecvOverhead.Time(k)
		for _, c := range [][2]unit.Time{{view.SendOverhead.Time(k), want.Sender.Sum()}, {one, want.Delivery.Sum()}} {
			if d := c[0] - c[1]; d < -10 || d > 10 { // several roundings
				t.Errorf("%d bytes: LogGP has %v, the closed form %v", k, c[0], c[1])
			}
		}
	}
	// A long message is limited by the medium: with preamble, headers and gap, 1460 bytes take the
	// time of 1538.
	if g, want := view.GapPerByte.Micros(), 1538/1.25/1460; math.Abs(g-want) > 1e-9 {
		t.Errorf("G is %v us/B, want %v", g, want)
	}
}

// TestExactEthernetMeeting starts the receive before the send, at the same time, and long after the
// message has arrived. In the last case the interrupt delayed what the rank did before, and the
// call starts later by that time.
func TestExactEthernetMeeting(t *testing.T) {
	m, l := workstations(), odd(false, 0)
	for _, k := range []int{0, 16, 1000, 1420} {
		eachWay(t, m, l, k, pair{2, 0, 1}, func(t *testing.T, x model.Transfer, p pair) {
			if !oneAfterTheOther(x.Protocol) {
				return
			}
			for _, apart := range []unit.Time{-unit.Millisecond, 0, 20 * unit.Millisecond} {
				y := model.TimedTransfer{Transfer: x, SendStart: unit.Millisecond, ReceiveStart: unit.Millisecond + apart}
				for _, y.IsBlocking = range []bool{false, true} {
					late := y
					if apart > 0 {
						late.ReceiveStart += m.Network.(*model.Ethernet).TCP.Input
					}
					if got, want := emulateMeeting(t, y), late.ReturnTimes(); got != want {
						t.Fatalf("%s, receive %v after the send, blocking %v: emulated %+v, closed form %+v", describeTransfer(x, p), apart, y.IsBlocking, got, want)
					}
				}
			}
		})
	}
}

// TestEthernetLateReceive starts the receive of a long message long after the window has stopped
// the sender.
func TestEthernetLateReceive(t *testing.T) {
	m, l := workstations(), odd(false, 0)
	for _, k := range []int{5000, 20000, 50000} {
		x := model.TimedTransfer{Transfer: model.Transfer{Machine: m, Library: l, Bytes: k, Path: m.PathBetweenRanks(2, 0, 1), Protocol: model.ProtocolT}, ReceiveStart: 60 * unit.Millisecond, IsBlocking: true}
		got, want := emulateMeeting(t, x), x.ReturnTimes()
		if off := float64(want.ReceiveWait-x.ReceiveStart)/float64(got.ReceiveWait-x.ReceiveStart) - 1; math.Abs(off) > 0.1 {
			t.Errorf("%d bytes: received %v after the call, model %v, %+.1f %%", k, got.ReceiveWait-x.ReceiveStart, want.ReceiveWait-x.ReceiveStart, 100*off)
		}
	}
}

// TestLongMessagesShareLinks: a library that writes to several sockets at once sends two long
// messages in parallel, although each is a rendezvous. While it passes one to the system, it
// receives the request for the other.
func TestLongMessagesShareLinks(t *testing.T) {
	const bytes = 1 << 20
	m := switched(true, 8)
	l := odd(true, 1024)
	l.Proto.Fallback, l.Proto.FirstBytes, l.Sockets = "RTA", 0, &model.Sockets{BuffersUnsentData: true}
	for i := range l.Proto.Rules {
		l.Proto.Rules[i].Protocol = "PTAT"
	}
	w, err := hw.New(hw.Config{Machine: m, Library: l, Ranks: 3})
	if err != nil {
		t.Fatal(err)
	}
	var came [3]unit.Time
	err = mpi.Run(w, mpi.Options{Engine: proto.New, Library: l}, func(c *mpi.Comm) error {
		b := mpi.BufferOf(make([]byte, bytes))
		if c.Rank() > 0 {
			c.Recv(b, 0, 0)
			came[c.Rank()] = c.Wtime()
			return nil
		}
		mpi.WaitAll([]mpi.Request{c.Isend(b, 1, 0), c.Isend(b, 2, 0)}, nil)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if first, last := min(came[1], came[2]), max(came[1], came[2]); first < last*9/10 {
		t.Errorf("one is there at %v, the other at %v", first, last)
	}
}

// TestExchangeOrders checks the order in which MPI_Alltoallv sends on PCs with switches. If all
// ranks start with rank 0, the switch's memory overflows. If each starts with the next rank, it
// does not.
func TestExchangeOrders(t *testing.T) {
	const ranks, bytes = 16, 16 << 10
	p := load("cc-cluster")
	for _, order := range append(model.ExchangeOrders, "") {
		l := *p.Libraries[0]
		if l.Exchange != model.ExchangeByRank {
			t.Fatalf("%s sends in the order %q", l.Name, l.Exchange)
		}
		l.Exchange = order
		var s hw.EthernetStatistics
		w, err := hw.New(hw.Config{Machine: p.Machine, Library: &l, Ranks: ranks, Ethernet: &s})
		if err != nil {
			t.Fatal(err)
		}
		err = mpi.Run(w, mpi.Options{Engine: proto.New, Library: &l}, func(c *mpi.Comm) error {
			counts, offsets := make([]int, ranks), make([]int, ranks)
			for i := range ranks {
				counts[i], offsets[i] = bytes, i*bytes
			}
			out, in := make([]byte, ranks*bytes), make([]byte, ranks*bytes)
			for i := range out {
				out[i] = byte(c.Rank() + i/bytes)
			}
			for range 8 { // the TCP windows grow
				c.Alltoallv(mpi.BufferOf(out), counts, offsets, mpi.BufferOf(in), counts, offsets)
			}
			for i, b := range in {
				if b != byte(c.Rank()+i/bytes) {
					t.Errorf("%s: rank %d has %d from rank %d", order, c.Rank(), b, i/bytes)
					break
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if lost := s.FramesOverflowed > 0; lost != (order == model.ExchangeByRank) {
			t.Errorf("order %q: %d frames find no room", order, s.FramesOverflowed)
		}
	}
}
