package nccl

import (
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// channelPlan is how an operation is divided: among channels, and there into chunks and slices.
type channelPlan struct {
	Method
	channels                      int       // that are used
	bytes                         int       // of each of them, of the larger buffer
	chunk                         int       // bytes of a step, at most
	slices                        int       // of a chunk
	receiverSlots                 int       // slices that a receiver has room for
	sendingStepRate               unit.Rate // of a step that sends
	receivingStepRate             unit.Rate // of a step that only receives
	channelNetRate                unit.Rate // of a channel between nodes; 0: there is one node
	nearHopLatency, farHopLatency unit.Time // latency of a hop, within a node and between nodes
	cutThrough                    bool      // within a node a receiver takes in data while it arrives
}

// newPlan divides an operation. Channels are left out if there is little for each thread:
// src/enqueue.cc, topoGetAlgoInfo. Chunks are those of calcCollChunking there.
func (c *Communicator) newPlan(call Call, m Method) channelPlan {
	p := channelPlan{Method: m, channels: c.maxChannelsOf(m.Algorithm), slices: 1, receiverSlots: 8, cutThrough: m.Protocol != Simple}
	perChannel := c.threadCounts[m.Protocol] * c.threadBytes[m.Protocol]
	if m == (Method{Ring, LL}) {
		perChannel *= float64(c.Ranks)
	}
	hasSwitch := m.Algorithm == NVLS || m.Algorithm == NVLSTree
	for p.channels > 1 && !hasSwitch && float64(call.Bytes) < float64(p.channels)*perChannel {
		p.channels--
	}
	p.bytes = divideUp(call.Bytes, p.channels)
	p.chunk = int(c.stepBytes[m.Protocol])
	if m == (Method{Ring, Simple}) && call.Operation != collective.Bcast && call.Operation != collective.Reduce {
		p.chunk, p.slices, p.receiverSlots = 4*p.chunk, 2, 4 // a chunk is four steps, a slice two of eight
	}
	switch m.Algorithm {
	case Ring:
		if m.Protocol == Simple && p.slices == 1 {
			p.chunk = c.pipelineChunk(call.Bytes, p, float64(c.Ranks))
		}
	case Tree:
		p.chunk = c.treeChunk(m.Protocol, call.Bytes, p)
	case NVLSTree:
		p.chunk = c.perNode() * c.switchChunk(call.Bytes, p)
	}
	p.nearHopLatency, p.farHopLatency = c.hopLatencies(m)
	p.sendingStepRate, p.receivingStepRate = c.blockRates(call.Operation, p)
	if c.Nodes > 1 {
		p.channelNetRate = c.channelNetworkRate(p)
	}
	return p
}

// hopLatencies returns those of a hop within a node and between nodes. Between nodes a proxy has to
// hand over each step of a ring, also of those within a node.
func (c *Communicator) hopLatencies(m Method) (near, far unit.Time) {
	a := m.Algorithm
	if a == Peers {
		a = Ring
	}
	near, far = timeOfMicroseconds(c.hopLatencyTable[nvlinkHop][a][m.Protocol]), timeOfMicroseconds(c.hopLatencyTable[networkHop][a][m.Protocol])
	if a == Ring {
		near = max(near, timeOfMicroseconds(c.proxyOverhead(m.Protocol)))
		if c.perNode() == 1 {
			far = timeOfMicroseconds(c.hopLatencyTable[networkHop][Tree][m.Protocol])
		}
	}
	if measured := c.NetworkHop[m.Protocol]; measured > 0 {
		far = measured
	}
	return near, far + c.NetworkLatency
}

// treeChunk makes chunks shorter until there are several for each level of the tree. The same,
// calcCollChunking.
func (c *Communicator) treeChunk(protocol Protocol, bytes int, p channelPlan) int {
	switch {
	case protocol == Simple && c.TreeChunk > 0:
		return c.TreeChunk
	case protocol == Simple:
		return c.pipelineChunk(bytes, p, float64(c.perNode()+floorLog2(c.Nodes)))
	case protocol == LL:
		return p.chunk
	}
	perNode := float64(c.perNode())
	steps := 1 + float64(floorLog2(c.Nodes)) + 0.1*perNode
	return p.shortenChunk(bytes, []chunkLimit{{steps * 64 / perNode, 128 << 10}, {steps * 16 / perNode, 32 << 10}})
}

// pipelineChunk is the chunk of a pipeline by Simple that passes so many ranks one after the other.
// That broadcasts and reductions have the rule of trees is assumed.
func (c *Communicator) pipelineChunk(bytes int, p channelPlan, depth float64) int {
	return p.shortenChunk(bytes, []chunkLimit{{8 * depth, 128 << 10}, {4 * depth, 64 << 10}, {depth, 32 << 10}})
}

// chunkLimit says up to which length chunks are halved as long as a channel has fewer.
type chunkLimit struct {
	chunks   float64
	shortest int
}

// shortenChunk halves the chunk by rules, one after the other.
func (p *channelPlan) shortenChunk(bytes int, limits []chunkLimit) int {
	chunk := p.chunk
	for _, l := range limits {
		for float64(bytes/(p.channels*chunk)) < l.chunks && chunk > l.shortest {
			chunk /= 2
		}
	}
	return chunk
}

// switchChunk is the chunk of each GPU's part. The same, NVLS_TREE.
func (c *Communicator) switchChunk(bytes int, p channelPlan) int {
	chunk := p.chunk
	if c.Nodes >= 4 {
		chunk = min(chunk, 64<<10)
	}
	for _, limit := range []struct{ times, chunk int }{{32, 256 << 10}, {16, 128 << 10}, {4, 64 << 10}, {1, 32 << 10}} {
		if bytes < limit.times*p.channels*c.perNode()*chunk {
			chunk = min(chunk, limit.chunk)
		}
	}
	return chunk
}

// blockRates returns how fast a block of threads moves data: in steps that send by its part of the
// GPU's links, and no faster than the tables say of a block. That of a ring by Simple is assumed to
// be that of LL128. A block of a tree moves data up and down at the same time.
func (c *Communicator) blockRates(o collective.Operation, p channelPlan) (sending, receiving unit.Rate) {
	links := c.nvlinkRate() / unit.Rate(p.channels)
	limit := func(what string) unit.Rate {
		return rateOfGigabytes(c.channelBandwidths[what+" "+c.GPU][c.tableColumn()])
	}
	switch p.Algorithm {
	case Ring:
		block := limit("ring-LL128")
		switch p.Protocol {
		case LL:
			links, block = links/2, c.blockRateOfLL(p)
		case LL128:
			links *= 0.92
		}
		if measured := c.Block[p.Protocol]; measured > 0 {
			block = measured
		}
		if o == collective.Bcast || o == collective.Reduce {
			return min(links, block), min(links, block)
		}
		sends, _ := c.countHops(o)
		return shareOfLinks(links, block, sends), block
	case Tree:
		rate := min(links*0.92, limit("tree"))
		switch {
		case p.Protocol == LL:
			rate = min(rate/3.8, c.blockRateOfLL(p))
		case p.Protocol == LL128 && c.Nodes == 1:
			rate = min(rate*7/9, limit("tree-LL128"))
		case p.Protocol == LL128:
			rate = min(rate*120/128, limit("tree-LL128"))
		}
		return rate / 2, rate / 2
	}
	return links, links
}

// blockRateOfLL is how fast a block of threads moves data by LL: half as fast as by LL128, as half
// of what it stores are flags, and no faster than its part of what the tables say of all.
func (c *Communicator) blockRateOfLL(p channelPlan) unit.Rate {
	return rateOfGigabytes(min(c.channelBandwidths["ring-LL128 "+c.GPU][c.tableColumn()]/2, c.llOfGPU[c.GPU]/float64(p.channels)))
}

// shareOfLinks is a channel's part of a GPU's links in one of so many steps that send, after which
// one only receives. Channels are not in step, and those that only receive leave their part to the
// others: all steps together take as long as the bytes on the links.
func shareOfLinks(links, block unit.Rate, sends int) unit.Rate {
	if sends := unit.Rate(sends); sends/links > (sends+1)/block {
		return sends / (sends/links - 1/block)
	}
	return block
}

// channelNetworkRate is a channel's part of the interfaces of a node, in bytes of data. LL sends
// its flags as well, which the proxies of a node check.
func (c *Communicator) channelNetworkRate(p channelPlan) unit.Rate {
	rate := c.networkRate() / unit.Rate(p.channels)
	if p.Algorithm == NVLSTree {
		return rate // each GPU sends its part by its own interface
	}
	rate = min(rate, c.Network)
	switch p.Protocol {
	case LL:
		rate = min(rate/2, rateOfGigabytes(c.llRate())/unit.Rate(p.channels))
	case LL128:
		rate = rate * 120 / 128
	}
	if measured := c.Connection[p.Protocol]; measured > 0 {
		rate = min(rate, measured)
	}
	return rate
}

func rateOfGigabytes(perSecond float64) unit.Rate { return unit.Rate(perSecond * 1e9) }

func divideUp(a, b int) int { return (a + b - 1) / b }
