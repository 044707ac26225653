package nccl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Message is a send to another rank and its receive.
type Message struct{ From, To, Bytes int }

// Limits of sends and receives: src/include/device.h and src/enqueue.cc. A block of threads serves
// so many peers at the same time, and a message is divided among channels if it is longer than the
// shortest part.
const (
	peersOfBatch   = 8
	minMessagePart = 64 << 10
)

// GroupTime returns what sends and receives in one group (ncclGroupStart, ncclGroupEnd) take, from
// the launch of the kernels to the end of the last. The peers of a rank are served in rounds, each
// of which takes the latency of a hop. Beyond that messages share links by max-min fairness, and
// the last one ends when the busiest part is done: the links of a GPU, those between two GPUs
// without a switch, an interface, and the blocks and connections of a message.
// src/device/sendrecv.h; src/enqueue.cc, p2pSchedule.
func (c *Communicator) GroupTime(messages []Message) unit.Time {
	longest := 0
	for _, m := range messages {
		if m.From < 0 || m.To < 0 || m.From >= c.Ranks || m.To >= c.Ranks || m.Bytes < 0 {
			panic(fmt.Sprintf("nccl: message %+v among %d ranks", m, c.Ranks))
		}
		longest = max(longest, m.Bytes)
	}
	g := c.newGroup(longest, c.groupProtocol(longest))
	busy, peers := map[sharedPart]unit.Time{}, map[sharedPart]int{}
	hasFar := false
	for _, m := range messages {
		if m.From == m.To {
			continue
		}
		peers[sharedPart{"sends", m.From, 0}]++
		peers[sharedPart{"receives", m.To, 0}]++
		isFar := m.From/c.perNode() != m.To/c.perNode()
		hasFar = hasFar || isFar
		for _, l := range g.partLoads(m, isFar) {
			busy[l.sharedPart] += l.rate.Time(m.Bytes)
		}
	}
	if len(peers) == 0 {
		return g.baseLatency
	}
	rounds := unit.Time(divideUp(slices.Max(slices.Collect(maps.Values(peers))), g.concurrentPeers))
	latency := g.nearHopLatency
	if hasFar {
		latency = g.farHopLatency
	}
	return g.baseLatency + rounds*latency + slices.Max(slices.Collect(maps.Values(busy)))
}

// messageGroup is what messages of a group take.
type messageGroup struct {
	*Communicator
	protocol                                   Protocol
	baseLatency, nearHopLatency, farHopLatency unit.Time
	channelsPerMessage                         int
	concurrentPeers                            int // of a rank
}

// groupProtocol is that of messages up to a length.
func (c *Communicator) groupProtocol(longest int) Protocol {
	if longest <= int(c.peersLL) {
		return LL
	}
	return Simple
}

func (c *Communicator) newGroup(longest int, p Protocol) *messageGroup {
	g := &messageGroup{Communicator: c, protocol: p}
	g.baseLatency = c.callLatency(Method{Peers, g.protocol})
	g.nearHopLatency, g.farHopLatency = c.hopLatencies(Method{Peers, g.protocol})
	g.channelsPerMessage = max(1, min(longest/minMessagePart, c.PeerChannels/max(1, c.perNode()-1)))
	g.concurrentPeers = c.PeerChannels * peersOfBatch / g.channelsPerMessage
	return g
}

// sharedPart is a part of the machine that messages share.
type sharedPart struct {
	name string
	a, b int
}

// partLoad is a part that a message uses, and its rate there.
type partLoad struct {
	sharedPart
	rate unit.Rate
}

// partLoads returns the parts that a message uses. LL sends as many bytes of flags as of data.
func (g *messageGroup) partLoads(m Message, isFar bool) []partLoad {
	wire := unit.Rate(1)
	if g.protocol == LL {
		wire = 0.5
	}
	if isFar {
		nic := g.Network * unit.Rate(g.interfacesPerNode()) / unit.Rate(g.perNode()) * wire
		all := []partLoad{{sharedPart{"interface out", m.From, 0}, nic}, {sharedPart{"interface in", m.To, 0}, nic}}
		if measured := g.Connection[g.protocol]; measured > 0 {
			all = append(all, partLoad{sharedPart{"connection", m.From, m.To}, measured})
		}
		return all
	}
	block := rateOfGigabytes(g.channelBandwidths["ring-LL128 "+g.GPU][g.tableColumn()])
	if g.protocol == LL {
		block = block / 2
	}
	all := []partLoad{{sharedPart{"blocks", m.From, m.To}, block * unit.Rate(g.channelsPerMessage)}}
	if !g.HasSwitch {
		return append(all, partLoad{sharedPart{"links", m.From, m.To}, g.NVLink / unit.Rate(g.GPUs-1) * wire})
	}
	return append(all, partLoad{sharedPart{"links out", m.From, 0}, g.NVLink * wire}, partLoad{sharedPart{"links in", m.To, 0}, g.NVLink * wire})
}

// exchangeTime is the GroupTime of a message of a block from each rank to each other one. By
// symmetry one rank suffices: its parts are as busy as those of all others.
func (c *Communicator) exchangeTime(call Call, m Method) unit.Time {
	block := divideUp(call.Bytes, c.Ranks)
	g := c.newGroup(block, m.Protocol)
	busy := map[sharedPart]unit.Time{}
	for to := 1; to < c.Ranks; to++ {
		for _, l := range g.partLoads(Message{0, to, block}, to >= c.perNode()) {
			busy[l.sharedPart] += l.rate.Time(block)
		}
	}
	latency := g.nearHopLatency
	if c.Nodes > 1 {
		latency = g.farHopLatency
	}
	return g.baseLatency + unit.Time(divideUp(c.Ranks-1, g.concurrentPeers))*latency + slices.Max(slices.Collect(maps.Values(busy)))
}
