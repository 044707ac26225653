package model_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// t3d is a machine with the rounded numbers of a Cray T3D, whose long messages move in chunks.
func t3d() *model.Machine {
	return &model.Machine{
		Name:      "torus",
		Processor: model.Processor{Copy: model.Channel{Bandwidth: 170e6}},
		Network: &model.Torus{ProcessorsPerNode: 2, HopLatency: 13333, TurnLatency: 6667, Deliver: 100000, Link: 300e6, Chunk: 4096, Header: 40,
			Send: model.Channel{Start: 1200000, Bandwidth: 120e6}, Receive: 147000,
			Put: model.Channel{Start: 1200000, Bandwidth: 120e6}, Get: model.Channel{Start: 1500000, Bandwidth: 60e6}},
	}
}

// chimp is a library whose steps cost 1 us, a call 8 us before and 20 us after, that stages and
// bounces.
func chimp() *model.Library {
	l := &model.Library{Name: "chimp", Proto: model.ProtoSettings{LongMessages: model.ForEveryTier(model.LongMessage{CopiesToAccessibleMemory: true, BounceBufferBytes: 1024}), Rules: []model.ProtocolRule{{MaxBytes: 512, Protocol: "T"}, {MaxBytes: -1, Protocol: "RTA"}}}}
	for w := range l.Software {
		l.Software[w] = us
	}
	l.Software[model.ProtoSendCost], l.Software[model.ProtoStandardSendCost] = 8*us, 20*us
	l.Software[model.ProtoPackCost], l.Software[model.ProtoUnpackCost] = 1700, 0
	return l
}

// random returns a transfer of any kind.
func random(r *rand.Rand) model.Transfer {
	time := func() unit.Time { return unit.Time(r.Int64N(int64(20 * us))) }
	rate := func() unit.Rate { return unit.Rate(1e6 + r.Float64()*300e6) }
	m := &model.Machine{Processor: model.Processor{Copy: model.Channel{Start: time(), Bandwidth: rate()}}}
	tier := model.InterNode
	hops := r.IntN(5)
	switch r.IntN(4) {
	case 0:
		m.Network = &model.LogGP{L: time(), SendOverhead: time(), RecvOverhead: time(), Gap: 3 * time(), GapPerByte: unit.PerByte(r.Float64() * 1e4)}
	case 1:
		m.Network = &model.Torus{ProcessorsPerNode: 2, HopLatency: time(), TurnLatency: time(), Deliver: time(), Link: rate(), Chunk: 1 + r.IntN(5000), Header: r.IntN(100),
			Send: model.Channel{Start: time(), Bandwidth: rate()}, Receive: time(),
			Put: model.Channel{Start: time(), Bandwidth: rate()}, WriteBuffer: r.IntN(2) * r.IntN(500), Get: model.Channel{Start: time(), Bandwidth: rate()}}
		if r.IntN(2) == 0 {
			m.Network.(*model.Torus).TransferEngine = model.Channel{Start: time(), Bandwidth: rate()}
		}
	case 2:
		tier = model.Tier(r.IntN(2))
		h := &model.Hypernodes{Port: rate(), Ring: rate(), Hop: time(), Chunk: 1 + r.IntN(5000), Header: r.IntN(100)}
		m.Network = h
		a := model.MemoryAccess{Latency: time(), Send: model.Channel{Start: time(), Bandwidth: rate()}, SettleTime: time() * unit.Time(r.IntN(2)), Receive: time(),
			FetchPerByte: unit.PerByte(r.Float64() * 1e4), Put: model.Channel{Start: time(), Bandwidth: rate()}, Get: model.Channel{Start: time(), Bandwidth: rate()}}
		h.Access = [model.NumTiers]model.MemoryAccess{a, a}
	case 3:
		tier, hops = model.IntraNode, r.IntN(model.NumDistances)
		n := &model.NUMA{Memory: rate(), Link: rate(), Header: r.IntN(100), Send: model.Channel{Start: time(), Bandwidth: rate()}, Receive: time(),
			Put: model.Channel{Start: time(), Bandwidth: rate()}, Get: model.Channel{Start: time(), Bandwidth: rate()}, Page: model.PageCost{Size: r.IntN(2) * 4096, Time: time()}}
		if r.IntN(2) == 0 {
			n.Caches = []model.CacheCopy{{UpTo: r.IntN(10000), Bandwidth: rate()}}
		}
		for d := range n.Distances {
			n.Distances[d] = model.CoreAccess{Latency: time(), Fetch: unit.PerByte(r.Float64() * 1e4), Bandwidth: rate() * unit.Rate(r.IntN(2))}
		}
		m.Network = n
	}
	l := &model.Library{Proto: model.ProtoSettings{FirstBytes: r.IntN(5000), LongMessages: model.ForEveryTier(model.LongMessage{CopiesToAccessibleMemory: r.IntN(2) == 0, BounceBufferBytes: r.IntN(2) * r.IntN(2000)})}}
	for w := range l.Software {
		l.Software[w] = unit.Time(r.Int64N(int64(5*us))) * unit.Time(r.IntN(2))
	}
	l.Software[model.ProtoPackCost] /= 1000
	l.Software[model.ProtoUnpackCost] /= 1000
	x := model.Transfer{Machine: m, Library: l, Bytes: r.IntN(10000) * r.IntN(2), Path: model.Path{Tier: tier, Hops: hops, Turns: r.IntN(3)},
		Protocol: model.Protocols[r.IntN(len(model.Protocols))], Mode: model.Mode(r.IntN(4)), IsNonblocking: r.IntN(2) == 0}
	if x.Mode == model.SynchronousMode && !x.Protocol.IsSynchronous() {
		x.Protocol = model.ProtocolTA
	}
	return x
}

// TestTimeline draws transfers at random and checks that what is drawn can happen, and ends when
// the closed form says.
func TestTimeline(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 3000 {
		x := random(r)
		d, c := x.Timeline(), x.Cost()
		sender, receiver := d.Ranks[model.SenderSide], d.Ranks[model.ReceiverSide]
		call := sender.Calls[0]
		bad := func(format string, args ...any) {
			t.Fatalf("seed %d, transfer %d (%v %s): %s", seed, i, x.Mode, x.Protocol.Name, fmt.Sprintf(format, args...))
		}
		if call.To != c.Sender.Sum() {
			bad("the call ends at %v, T_s is %v", call.To, c.Sender.Sum())
		}
		if receiver.End() != c.Delivery.Sum() {
			bad("the receiver ends at %v, T_s-r is %v", receiver.End(), c.Delivery.Sum())
		}
		if sender.End() < call.To || call.From != 0 || receiver.Calls[0].To != receiver.End() {
			bad("the sender's call ends at %v after its lane at %v, the receiver's at %v", call.To, sender.End(), receiver.Calls[0].To)
		}
		// Work and waits of a side fill its time without gap or overlap.
		for _, l := range d.Ranks {
			at := unit.Time(0)
			for _, v := range l.Spans {
				if v.From != at || v.To <= v.From {
					bad("%s lasts from %v to %v after %v", v.Name, v.From, v.To, at)
				}
				at = v.To
			}
		}
		// Where answers are waited for in turn, all that a side does is on its path, and nothing
		// that it does not. A sender that settles does so while the answer may be on its way.
		settles := x.Machine.Network.Kind() == "hypernodes" && x.Machine.Network.(*model.Hypernodes).Access[x.Path.Tier].SettleTime > 0
		if !x.IsNonblocking && x.Mode != model.BufferedMode && !settles {
			for side, l := range map[model.CostSide]model.Track{model.SenderSide: sender, model.ReceiverSide: receiver} {
				path, sum := c.Sender, unit.Time(0)
				if side == model.ReceiverSide {
					path = c.Delivery
				}
				for _, term := range path {
					if term.Side == side {
						sum += term.Time
					}
				}
				for _, v := range l.Spans {
					if v.Activity != model.WaitActivity || v.Name == "g" { // the wait for its own interface is no other's
						sum -= v.To - v.From
					}
				}
				if sum != 0 {
					bad("the %v's terms are %v more than what it does", side, sum)
				}
			}
		}
		// Messages arrive after they departed, and neither while their side does something that
		// belongs to an earlier one.
		packets := 0
		for j, a := range d.Flights {
			if a.Arrive < a.Depart || a.From == a.To || j > 0 && a.Depart < d.Flights[j-1].Depart {
				bad("%s departs at %v from the %v and arrives at %v at the %v", a.Step, a.Depart, a.From, a.Arrive, a.To)
			}
			if a.IsRemoteAccess { // within the time of the side that asked: it waits, or moves the bytes itself and then waits
				if !during(a, sender) && !during(a, receiver) {
					bad("%s goes from %v to %v and neither side waits for it", a.Step, a.Depart, a.Arrive)
				}
				continue
			}
			packets++
			for _, v := range d.Ranks[a.To].Spans {
				if v.Activity != model.WaitActivity && v.Step == a.Step && v.From < a.Arrive {
					bad("%s arrives at %v, %s begins at %v", a.Step, a.Arrive, v.Name, v.From)
				}
			}
		}
		want := 0
		for _, s := range x.Protocol.Steps {
			if s.Means == model.ByPacket && (s.Data != model.RestData || x.Bytes > x.Library.Proto.FirstBytes) {
				want++
			}
		}
		if packets != want {
			bad("%d packets, %s has %d", packets, x.Protocol.Name, want)
		}
	}
}

// during says whether a side waits as long as an arrow flies, or is busy with the same step of the
// protocol.
func during(a model.Flight, l model.Track) bool {
	same := func(v model.Span, waits bool) bool {
		return v.Step == a.Step && (v.Activity == model.WaitActivity) == waits
	}
	waits := func(v model.Span) bool { return same(v, true) && v.From <= a.Depart && a.Arrive <= v.To }
	moves := func(v model.Span) bool { return same(v, false) && v.From == a.Depart }
	ends := func(v model.Span) bool { return same(v, true) && v.From < a.Arrive && a.Arrive <= v.To }
	switch {
	case slices.ContainsFunc(l.Spans, waits):
		return true
	case slices.ContainsFunc(l.Spans, moves) && slices.ContainsFunc(l.Spans, ends): // by a processor with a write buffer
		return true
	}
	return a.Depart == a.Arrive || slices.ContainsFunc(l.Spans, func(v model.Span) bool { return same(v, false) && v.From == a.Depart }) &&
		slices.ContainsFunc(l.Spans, func(v model.Span) bool { return same(v, false) && v.To == a.Arrive })
}

// TestOverlap is figures 3 to 5 of Al-Tawil and Moritz: a blocking synchronous send has L inside, a
// non-blocking one has not, and can do something else.
func TestOverlap(t *testing.T) {
	x := model.Transfer{Machine: &model.Machine{Processor: model.Processor{Copy: model.Channel{Bandwidth: 1e30}}, Network: &example},
		Protocol: model.ProtocolTA, Mode: model.SynchronousMode, Bytes: 1}
	waits := func(t model.Track) (all []model.Span) {
		for _, s := range t.Spans {
			if s.Activity == model.WaitActivity {
				all = append(all, s)
			}
		}
		return all
	}
	if got := x.Timeline().Ranks[model.SenderSide]; got.Calls[0].To != 20*us || !slices.Equal(waits(got), []model.Span{{Name: "ACK", Step: "ACK", Activity: model.WaitActivity, From: 2 * us, To: 17 * us}}) {
		t.Errorf("blocking: %+v, want a call of 20us that waits from 2us to 17us", got)
	}
	x.IsNonblocking = true
	if got := x.Timeline().Ranks[model.SenderSide]; got.Calls[0].To != 2*us || got.End() != 20*us {
		t.Errorf("non-blocking: %+v, want a call of 2us and an end at 20us", got)
	}
}

// TestPath compares the ways on a torus with those that a search through the graph of its links
// finds.
func TestPath(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 24, 60, 64, 2 * 7 * 5 * 3} {
		n := &model.Torus{ProcessorsPerNode: 2}
		m := &model.Machine{Network: n}
		s := n.Shape(ranks)
		place := func(rank int) [3]int { return [3]int{rank / 2 % s[0], rank / 2 / s[0] % s[1], rank / 2 / s[0] / s[1]} }
		for a := range ranks {
			far := map[[3]int]int{place(a): 0}
			for queue := [][3]int{place(a)}; len(queue) > 0; queue = queue[1:] {
				for d := range 3 {
					for _, by := range []int{1, s[d] - 1} {
						to := queue[0]
						to[d] = (to[d] + by) % s[d]
						if _, seen := far[to]; !seen {
							far[to] = far[queue[0]] + 1
							queue = append(queue, to)
						}
					}
				}
			}
			for b := range ranks {
				differ := 0
				for d := range 3 {
					if place(a)[d] != place(b)[d] {
						differ++
					}
				}
				want := model.Path{Tier: m.TierOfRanks(a, b), Hops: far[place(b)], Turns: max(differ-1, 0)}
				if got := m.PathBetweenRanks(ranks, a, b); got != want {
					t.Fatalf("from %d to %d of %d ranks, shape %v: %+v, want %+v", a, b, ranks, s, got, want)
				}
			}
		}
	}
}

// The way has the tier of its ends, which is what a port says of them, where there are no nodes
// too.
func TestPathTier(t *testing.T) {
	for _, m := range []*model.Machine{{Network: &example}, {Network: &model.Ethernet{}}} {
		if near, far := m.PathBetweenRanks(4, 2, 2), m.PathBetweenRanks(4, 2, 3); near != (model.Path{Tier: model.IntraNode}) || far != (model.Path{Tier: model.InterNode}) {
			t.Errorf("to itself %+v, to another %+v", near, far)
		}
	}
}

// TestPathHypernodes has the ways of a machine of three hypernodes: all on the ring that a job uses
// are a request and its answer passed by.
func TestPathHypernodes(t *testing.T) {
	m := &model.Machine{Network: &model.Hypernodes{Sizes: []int{2, 1, 3}}}
	for _, c := range []struct {
		ranks, a, b int
		want        model.Path
	}{
		{6, 0, 0, model.Path{Tier: model.IntraNode}},
		{6, 0, 1, model.Path{Tier: model.IntraNode}},
		{6, 5, 3, model.Path{Tier: model.IntraNode}},
		{6, 1, 2, model.Path{Hops: 3}},
		{6, 2, 1, model.Path{Hops: 3}},
		{6, 5, 0, model.Path{Hops: 3}},
		{4, 0, 2, model.Path{Hops: 3}},
		{3, 0, 2, model.Path{Hops: 2}},
		{2, 0, 1, model.Path{Tier: model.IntraNode}},
	} {
		if got := m.PathBetweenRanks(c.ranks, c.a, c.b); got != c.want || m.TierOfRanks(c.a, c.b) != c.want.Tier {
			t.Errorf("from %d to %d of %d ranks: %+v, tier %v, want %+v", c.a, c.b, c.ranks, got, m.TierOfRanks(c.a, c.b), c.want)
		}
	}
}

// TestPathNUMA has the distances of cores, where ranks fill a socket after the other and where they
// take the sockets in turn, in a whole machine and in the second node of a composed one.
func TestPathNUMA(t *testing.T) {
	const cluster, domain, socket, remote = int(model.SameCluster), int(model.SameDomain), int(model.SameSocket), int(model.OtherSocket)
	for _, c := range []struct {
		order model.CoreOrder
		b     int // from rank 1
		want  int
	}{
		{model.BlockOrder, 1, cluster}, {model.BlockOrder, 2, cluster}, {model.BlockOrder, 3, domain}, {model.BlockOrder, 6, socket}, {model.BlockOrder, 11, socket}, {model.BlockOrder, 12, remote},
		{model.RoundRobinOrder, 0, remote}, {model.RoundRobinOrder, 5, cluster}, {model.RoundRobinOrder, 7, domain}, {model.RoundRobinOrder, 13, socket},
		{model.DomainRoundRobinOrder, 0, socket}, {model.DomainRoundRobinOrder, 2, remote}, {model.DomainRoundRobinOrder, 9, cluster}, {model.DomainRoundRobinOrder, 13, domain},
	} {
		n := &model.NUMA{Sockets: 2, Domains: 2, Clusters: 2, Cores: 3, Order: c.order}
		want := model.Path{Tier: model.IntraNode, Hops: c.want}
		if got := (&model.Machine{Network: n}).PathBetweenRanks(24, 1, c.b); got != want {
			t.Errorf("order %v, ranks 1 and %d: %+v, want %+v", c.order, c.b, got, want)
		}
		nodes := &model.Machine{Network: &example, Nodes: &model.Nodes{Ranks: 24, Interfaces: 1, Inside: n}}
		if got := nodes.PathBetweenRanks(72, 25, 24+c.b); got != want {
			t.Errorf("order %v, ranks 1 and %d of the second node: %+v, want %+v", c.order, c.b, got, want)
		}
		if got := nodes.PathBetweenRanks(72, 1, 24+c.b); got.Tier != model.InterNode || got.Hops != 0 {
			t.Errorf("from node to node: %+v", got)
		}
	}
}

// Within nodes of cores that share memory a message is read by a single copy, though the network
// between nodes has no remote memory. Hypernodes in nodes do without it, as machines of that time.
func TestNodeMemory(t *testing.T) {
	ethernet := &model.Ethernet{Rate: 1e9, MTU: 1500, TCP: model.TCP{Write: model.Channel{Bandwidth: 1e9}, Read: model.Channel{Bandwidth: 1e9}}}
	hypernodes := near().Network
	for _, c := range []struct {
		inside  model.Network
		private bool
		want    bool
	}{{cores().Network, false, true}, {cores().Network, true, false}, {hypernodes, false, false}} {
		m := &model.Machine{Name: "nodes", ProcessorsCannotShareMemory: c.private, Network: ethernet, Nodes: &model.Nodes{Ranks: 16, Interfaces: 1, Inside: c.inside}, Processor: model.Processor{Copy: model.Channel{Bandwidth: 1e9}}}
		if m.HasRemoteMemory() || m.HasRemoteMemoryAt(model.InterNode) || m.HasRemoteMemoryAt(model.IntraNode) != c.want {
			t.Errorf("%s in nodes, private %v: remote memory %v, between nodes %v, in nodes %v", c.inside.Kind(), c.private, m.HasRemoteMemory(), m.HasRemoteMemoryAt(model.InterNode), m.HasRemoteMemoryAt(model.IntraNode))
		}
		x := model.Transfer{Machine: m, Library: chimp(), Protocol: model.ProtocolRTA, Bytes: 10_000, Path: model.Path{Tier: model.IntraNode}}
		if got := slices.ContainsFunc(x.Cost().Delivery, func(x model.Term) bool { return x.Name == "numa.get.start" }); got != c.want {
			t.Errorf("%s in nodes, private %v: a single copy: %v", c.inside.Kind(), c.private, got)
		}
	}
}

// near is a machine with the rounded numbers of a Convex Exemplar.
func near() *model.Machine {
	a := model.MemoryAccess{Latency: us, Send: model.Channel{Start: 2 * us, Bandwidth: 100e6}, SettleTime: 5 * us, Receive: us, FetchPerByte: 10_000,
		Put: model.Channel{Start: us, Bandwidth: 80e6}, Get: model.Channel{Start: us, Bandwidth: 125e6}}
	return &model.Machine{Name: "hypernodes", Processor: model.Processor{Copy: model.Channel{Bandwidth: 170e6}},
		Network: &model.Hypernodes{Sizes: []int{8, 8}, ProcessorsPerBlock: 2, Port: 250e6, Rings: 4, Ring: 50e6, Hop: 100_000, Chunk: 4096, Header: 64,
			Access: [model.NumTiers]model.MemoryAccess{a, a}}}
}

// messageCost returns what a low-level message of k bytes costs: that of a protocol which is no
// more than this message, in calls that cost nothing themselves. The sender makes the packet, or
// accesses the other side's memory; an access is delivered when its call ends.
func messageCost(m *model.Machine, lib *model.Library, by model.TransportMeans, k int, path model.Path) model.Cost {
	bare := &model.Library{}
	for _, w := range []model.CostKey{model.ProtoHandleCost, model.ProtoControlCost, model.ProtoUnpackCost} {
		bare.Software[w] = lib.Software[w]
	}
	message := model.Step{Means: by, Data: model.AllData, From: model.SenderSide}
	switch by {
	case model.ByPacket: // its making is part of the call, and it is not unpacked
		bare.Software[model.ProtoSendCost], bare.Software[model.ProtoUnpackCost] = lib.Software[model.ProtoControlCost], 0
	case model.ByGet:
		message.From = model.ReceiverSide
	}
	c := model.Transfer{Machine: m, Library: bare, Protocol: &model.Protocol{Steps: []model.Step{message}}, Bytes: k, Path: path}.Cost()
	if by != model.ByPacket {
		c.Delivery = c.Sender
	}
	return c
}

// cores is a node of cores that share memory. The link limits their short packets, and the memory
// the long ones.
func cores() *model.Machine {
	n := &model.NUMA{Caches: []model.CacheCopy{{UpTo: 90, Bandwidth: 400e6}, {UpTo: 4100, Bandwidth: 300e6}}, Memory: 260e6, Link: 270e6, Header: 64,
		Send: model.Channel{Start: us, Bandwidth: 350e6}, Receive: us, Put: model.Channel{Start: us, Bandwidth: 80e6}, Get: model.Channel{Start: us, Bandwidth: 125e6}, Page: model.PageCost{Size: 4096, Time: us}}
	n.Distances[model.OtherSocket] = model.CoreAccess{Latency: 300_000, Fetch: 1000}
	return &model.Machine{Name: "numa", Processor: model.Processor{Copy: model.Channel{Start: 7, Bandwidth: 170e6}}, Network: n}
}

// TestMessageView compares the view of low-level messages with their costs: within a picosecond, as
// a curve rounds once where a sum rounds each term.
func TestMessageView(t *testing.T) {
	l := chimp()
	path := model.Path{Hops: 3, Turns: 1}
	for _, m := range []*model.Machine{t3d(), near(), cores(), {Network: &example, Processor: model.Processor{Copy: model.Channel{Start: 7, Bandwidth: 171e6}}}} {
		v := model.LowLevelParameters(m, l, path)
		for _, k := range []int{0, 1, 2, 100, 4056, 5000, 1 << 20} {
			c := messageCost(m, l, model.ByPacket, k, path)
			wire, settle := v.L, unit.Time(0)
			if m.Network.Kind() == "hypernodes" {
				settle = m.Network.(*model.Hypernodes).Access[path.Tier].SettleTime
			}
			if m.Network.Kind() == "loggp" {
				wire += example.GapPerByte.Time(max(k-1, 0))
			}
			if d := v.SendOverhead.Time(k) - c.Sender.Sum(); d < -1 || d > 1 {
				t.Errorf("%s: o_s(%d) = %v, the call takes %v", m.Name, k, v.SendOverhead.Time(k), c.Sender.Sum())
			}
			if d := v.SendOverhead.Time(k) - settle + wire + v.RecvOverhead.Time(k) - c.Delivery.Sum(); d < -2 || d > 2 {
				t.Errorf("%s: o_s + L + o_r of %d bytes is %v off %v", m.Name, k, d, c.Delivery.Sum())
			}
			// The slope of remote accesses is their G.
			for by, g := range map[model.TransportMeans]unit.PerByte{model.ByGet: v.GapPerPulledByte, model.ByPut: v.GapPerPushedByte} {
				if g == 0 {
					g = v.GapPerByte
				}
				d := messageCost(m, l, by, k+1000, path).Sender.Sum() - messageCost(m, l, by, k, path).Sender.Sum() - g.Time(1000)
				if k > 0 && (d < -1 || d > 1) {
					t.Errorf("%s: 1000 bytes more by %v take %v more than G says", m.Name, by, d)
				}
			}
		}
	}
	// By hand: 1 + 1.2 + 40/120; 0.147 + 1; 3·0.013333 + 0.006667 + 0.1; 40/300; 1e6/120, 1e6/60
	// ps.
	v := model.LowLevelParameters(t3d(), l, path)
	if got := fmt.Sprint(v.SendOverhead.Time(0), v.RecvOverhead.Time(0), v.RecvOverhead.Time(170), v.L, v.Gap); got != "2.533333us 1.147us 2.147us 146.666ns 133.333ns" {
		t.Errorf("o_s, o_r, o_r(170), L, g = %s", got)
	}
	// In a hypernode: 1 + 2 + 64/100 + 5; 1 + 1; the same, 1700/170 and 1700/100; 1; 64/250.
	// Between two: 64/50 instead of 64/100, 1 + 3·0.1, 64/50.
	for tier, want := range []string{"9.28us 2us 29us 1.3us 1.28us", "8.64us 2us 29us 1us 256ns"} {
		path := model.Path{Tier: model.Tier(tier), Hops: 3 - 3*tier}
		v := model.LowLevelParameters(near(), l, path)
		if got := fmt.Sprint(v.SendOverhead.Time(0), v.RecvOverhead.Time(0), v.RecvOverhead.Time(1700), v.L, v.Gap); got != want {
			t.Errorf("%v: o_s, o_r, o_r(1700), L, g = %s, want %s", path.Tier, got, want)
		}
	}
	if v.GapPerByte != v.GapPerPushedByte || v.GapPerPulledByte != 2*v.GapPerPushedByte || v.GapPerPushedByte.Time(120) != us {
		t.Errorf("G = %v, pulled %v, pushed %v", v.GapPerByte, v.GapPerPulledByte, v.GapPerPushedByte)
	}
}

// TestPanics is about mistakes of callers.
func TestPanics(t *testing.T) {
	for name, x := range map[string]model.Transfer{
		"model: protocol T does not tell a synchronous sender that the receive was there": {Machine: t3d(), Protocol: model.ProtocolT, Mode: model.SynchronousMode},
		"model: no protocol for a synchronous message of 3 bytes":                         {Machine: t3d(), Library: chimp(), Mode: model.SynchronousMode, Bytes: 3},
		"model: negative size":               {Machine: t3d(), Protocol: model.ProtocolT, Bytes: -1},
		"model: machine none has no network": {Machine: &model.Machine{Name: "none"}, Protocol: model.ProtocolT},
	} {
		func() {
			defer func() {
				if v := recover(); v != name {
					t.Errorf("panic %v, want %s", v, name)
				}
			}()
			x.Cost()
		}()
	}
}
