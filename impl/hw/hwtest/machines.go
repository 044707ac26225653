package hwtest

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// Torus returns a torus with round numbers: a packet of n bytes occupies its sender for 1 µs plus
// 10 ns per byte, and a link for 5 ns per byte.
func Torus() *model.Machine {
	return &model.Machine{Name: "torus", Ranks: model.RankLimits{Min: 1, Max: 4096}, TimerResolution: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}},
		Network: &model.Torus{ProcessorsPerNode: 2, HopLatency: 50_000, TurnLatency: 7_000, Deliver: 100_000, Link: 200e6, Chunk: 1000, Header: 0,
			Send: model.Channel{Start: us, Bandwidth: 100e6}, Receive: 200_000,
			Put: model.Channel{Start: 2 * us, Bandwidth: 125e6}, Get: model.Channel{Start: 3 * us, Bandwidth: 50e6}, CounterTime: us, BarrierReleaseTime: us}}
}

// TorusAtRate returns a torus with rounded numbers of a Cray T3D and one rank per node.
func TorusAtRate(source unit.Rate) *model.Machine {
	channel := model.Channel{Start: us, Bandwidth: source}
	return &model.Machine{Name: "torus", Ranks: model.RankLimits{Min: 1, Max: 4096}, TimerResolution: 1, Network: &model.Torus{ProcessorsPerNode: 1,
		HopLatency: 13_333, TurnLatency: 6_667, Deliver: 100_000, Link: 300e6, Chunk: 4096, Send: channel, Put: channel, Get: channel, CounterTime: us}}
}

// FatTree returns a fat tree with rounded numbers. Its interfaces access memory at a given rate.
func FatTree(arity int, source unit.Rate, up ...int) *model.Machine {
	channel := model.Channel{Start: us, Bandwidth: source}
	pio := model.PIO{Start: 300_000, Word: model.AccessWidth{Size: 8, Time: 100_000}}
	return &model.Machine{Name: "tree", Ranks: model.RankLimits{Min: 1, Max: 4096}, TimerResolution: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}}, Network: &model.FatTree{Arity: arity, UpLinks: up,
		HopLatency: 150_000, Deliver: 300_000, Link: 100e6, Packet: model.PacketSize{Header: 8, Payload: 88}, Send: pio, Receive: pio,
		Chunk: 4096, Put: channel, Get: channel}}
}

// Fabric returns a graph with rounded numbers: links of 100 MB/s and buffers for three chunks.
func Fabric(g *topology.Graph) *model.Machine {
	f := &model.Fabric{Graph: g, SwitchLatency: 100_000, Buffer: 3 * 4096, Deliver: 300_000, Packet: model.PacketSize{Payload: 1024}, Chunk: 4096,
		Send: model.Channel{Start: us, Bandwidth: 400e6}, Receive: 200_000, Put: us, Get: us, RDMA: true}
	for c := range f.Links {
		f.Links[c] = model.FabricLink{Bandwidth: 50e6, Width: 2, Latency: 50_000}
	}
	return &model.Machine{Name: "fabric", Ranks: model.RankLimits{Min: 1, Max: g.Hosts}, TimerResolution: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}}, Network: f}
}

// RDMAFabric returns Fabric with RDMA interfaces whose buses are twice as fast as its links.
func RDMAFabric(g *topology.Graph) *model.Machine {
	m := Fabric(g)
	f := m.Network.(*model.Fabric)
	f.Send, f.Receive, f.Put, f.Get, f.RDMA = model.Channel{}, 0, 0, 0, false
	f.NIC = &model.NIC{Doorbell: 200_000, Inline: model.InlineData{Size: 64, Bandwidth: 400e6}, Bus: model.Bus{Latency: 150_000, Bandwidth: 200e6},
		Message: 500_000, Complete: 100_000, OneSided: true, Atomic: 300_000}
	return m
}

// Hypernodes returns a machine of hypernodes with round numbers.
func Hypernodes(sizes ...int) *model.Machine {
	h := &model.Hypernodes{Sizes: sizes, ProcessorsPerBlock: 2, Port: 250e6, Rings: 4, Ring: 500e6, Hop: 50_000, Chunk: 1000, Header: 0, Access: [model.NumTiers]model.MemoryAccess{
		model.IntraNode: {Latency: 300_000, Send: model.Channel{Start: us, Bandwidth: 100e6}, SettleTime: us, Receive: 200_000, FetchPerByte: 5000,
			Put: model.Channel{Start: us, Bandwidth: 100e6}, Get: model.Channel{Start: us, Bandwidth: 125e6}, CounterTime: us},
		model.InterNode: {Latency: 700_000, Send: model.Channel{Start: 4 * us, Bandwidth: 50e6}, SettleTime: 20 * us, Receive: 500_000, FetchPerByte: 20_000,
			Put: model.Channel{Start: 4 * us, Bandwidth: 50e6}, Get: model.Channel{Start: 2 * us, Bandwidth: 25e6}, CounterTime: 2 * us},
	}}
	return &model.Machine{Name: fmt.Sprint("hypernodes ", sizes), Ranks: model.RankLimits{Min: 1, Max: h.CountProcessors()}, TimerResolution: 1, Network: h,
		Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}}}
}

// NUMA returns a node with round numbers: two sockets of two domains of two clusters of two cores.
// A packet occupies its sender for 1 µs plus 10 ns per byte. Beyond the caches, a memory takes 2.5
// ns per byte and access, and a link 5 ns per byte.
func NUMA() *model.Machine {
	n := &model.NUMA{Sockets: 2, Domains: 2, Clusters: 2, Cores: 2, Caches: []model.CacheCopy{{UpTo: 1000, Bandwidth: 400e6}, {UpTo: 2000, Bandwidth: 250e6}},
		Memory: 400e6, Link: 200e6, Send: model.Channel{Start: us, Bandwidth: 100e6}, Receive: 200_000,
		Put: model.Channel{Start: us, Bandwidth: 100e6}, Get: model.Channel{Start: us, Bandwidth: 125e6}, Page: model.PageCost{Size: 4096, Time: 50_000}, Counter: us}
	for d := range n.Distances {
		n.Distances[d] = model.CoreAccess{Latency: unit.Time(1+d) * 100_000, Fetch: unit.PerByte(d) * 1000}
	}
	return &model.Machine{Name: "numa", Ranks: model.RankLimits{Min: 1, Max: n.Capacity()}, TimerResolution: 1, Network: n, Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}}}
}

// SMPCluster returns a machine with nodes of two ranks: a hypernode with one memory inside each
// node, and a torus with a switch per interface between nodes.
func SMPCluster(interfaces int) *model.Machine {
	m := Torus()
	t := m.Network.(*model.Torus)
	t.ProcessorsPerNode, t.Link = 1, 100e6
	a := model.MemoryAccess{Send: model.Channel{Bandwidth: 100e6}, Put: model.Channel{Bandwidth: 1e8}, Get: model.Channel{Bandwidth: 1e8}}
	m.Nodes = &model.Nodes{Ranks: 2, Interfaces: interfaces, Inside: &model.Hypernodes{Sizes: []int{2}, ProcessorsPerBlock: 2, Port: 100e6, Rings: 1, Chunk: 1000,
		Access: [model.NumTiers]model.MemoryAccess{model.IntraNode: a}}}
	return m
}

// Workstations returns a 10 Mbit/s Ethernet whose hosts can saturate it.
func Workstations() *model.Machine {
	return &model.Machine{Name: "workstations", Ranks: model.RankLimits{Min: 1, Max: 64}, TimerResolution: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: 100e6}},
		Network: &model.Ethernet{Rate: 1.25e6, Preamble: 8, Header: 14, FCS: 4, InterframeGapBytes: 12, MinPayload: 46, MTU: 1500, BackoffSlot: 51_200_000, JamBytes: 4,
			MaxBackoffDoublings: 10, MaxCollisionsOfFrame: 16, Propagation: us,
			TCP: model.TCP{Header: 40, Record: 40, SendBuffer: 4096, ReceiveBuffer: 4096,
				Write: model.Channel{Start: 20 * us, Bandwidth: 50e6}, Read: model.Channel{Start: 20 * us, Bandwidth: 50e6},
				Poll: 10 * us, Output: 20 * us, Input: 30 * us, AckEvery: 2, AckDelay: 200 * unit.Millisecond, Retransmit: unit.Second}}}
}

// SwitchedWorkstations returns a switched 10 Mbit/s Ethernet whose hosts have buffers for many
// segments.
func SwitchedWorkstations(full bool, ports, buffer int) *model.Machine {
	m := Workstations()
	e := m.Network.(*model.Ethernet)
	e.Switches = &model.Switches{IsFullDuplex: full, StationsPerSwitch: ports, Latency: 10 * us, LinkBufferBytes: buffer, Uplink: 12.5e6}
	e.TCP.SendBuffer, e.TCP.ReceiveBuffer = 16384, 16384
	return m
}

// UDPWorkstations returns a 100 Mbit/s Ethernet with UDP, by name: with two switches, with one
// medium, or with faulty switches.
func UDPWorkstations(name string) *model.Machine {
	m := SwitchedWorkstations(true, 4, 100_000)
	e := m.Network.(*model.Ethernet)
	e.Rate, e.BackoffSlot, e.Propagation, e.Switches.Latency = 12.5e6, 5120*unit.Nanosecond, 500*unit.Nanosecond, 5*us
	e.UDP = &model.UDP{Header: 28, Send: model.Channel{Start: 10 * us, Bandwidth: 100e6}, Receive: model.Channel{Start: 5 * us, Bandwidth: 100e6},
		Input: 5 * us, Buffer: 32768, MaxGroups: 20}
	e.TCP.Retransmit = 20 * unit.Millisecond
	switch name {
	case "udp on a hub":
		e.Switches = nil
	case "congestion with faults":
		e.TCP.Congestion = &model.Congestion{InitialWindowSegments: 2, ReorderToleranceSegments: 3}
		fallthrough
	case "udp with faults":
		e.Switches.LossProbability, e.Switches.ReorderProbability = 0.05, 0.1
	}
	return m
}

// MBCFWorkstations returns a 100 Mbit/s Ethernet with one switch, whose systems have MBCF.
func MBCFWorkstations(full bool, buffer int) *model.Machine {
	m := SwitchedWorkstations(full, 16, buffer)
	e := m.Network.(*model.Ethernet)
	e.Rate, e.BackoffSlot, e.Propagation, e.Switches.Latency = 12.5e6, 5120*unit.Nanosecond, 500*unit.Nanosecond, 5*us
	e.MBCF = &model.MBCF{Header: 36, MaxDataBytes: 1408, Call: model.Channel{Start: 7 * us, Bandwidth: 31e6}, Input: model.Channel{Start: 11 * us, Bandwidth: 31e6},
		Ack: 4 * us, InterruptEntryAndExit: 3 * us, Output: model.Channel{Start: 4 * us, Bandwidth: 31e6}, Dequeue: 5 * us, Upcall: 20 * us,
		Window: 16, AckEvery: 8, AckDelay: 1000 * us, Retransmit: 50_000 * us}
	return m
}
