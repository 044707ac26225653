package nccl

import (
	"math"
	"math/bits"
	"slices"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// TunerTime returns what NCCL's tuner estimates for an operation by a method: a latency, and bytes
// over a bandwidth. It is not what the operation takes, but what NCCL decides by.
// src/graph/tuning.cc, ncclTopoTuneModel and ncclTopoGetAlgoTime.
func (c *Communicator) TunerTime(call Call, m Method) unit.Time {
	latency, bandwidth := c.tunerLatency(call.Operation, m), c.tunerBandwidth(call.Operation, m)
	logSize := bits.Len(uint(call.Bytes>>6)) - 1
	if f := c.treeCorrections[m.Protocol]; m.Algorithm == Tree && logSize < len(f) {
		bandwidth *= f[max(logSize, 0)]
	}
	if m.Algorithm == Ring && m.Protocol == Simple && c.Nodes > 1 && call.Operation == collective.Allreduce && call.Bytes/(c.maxChannelsOf(m.Algorithm)*c.Ranks) >= 64 {
		latency *= 1.4 // the plateau of rings
	}
	return timeOfMicroseconds(latency + float64(call.Bytes)/(1000*bandwidth))
}

// Choice returns the method that the tuner takes: of some algorithms, or of all if none is named.
func (c *Communicator) Choice(call Call, of ...Algorithm) Method {
	if call.Operation == collective.Alltoall {
		return Method{Peers, c.groupProtocol(divideUp(call.Bytes, c.Ranks))}
	}
	var best Method
	shortest := unit.LongestTime
	for _, m := range c.Methods(call.Operation) {
		if m.Protocol == LL128 && !c.allowsLL128() || len(of) > 0 && !slices.Contains(of, m.Algorithm) {
			continue
		}
		if t := c.TunerTime(call, m); t < shortest {
			best, shortest = m, t
		}
	}
	return best
}

// allowsLL128 reports whether stores of 128 B stay whole on the way: within nodes, and between them
// if interfaces access the memory of GPUs. The same, NCCL_PROTO_LL128 and pEnable.
func (c *Communicator) allowsLL128() bool { return c.Nodes == 1 || c.HasGPUDirect }

// countHops are the hops of a ring one after the other.
func (c *Communicator) countHops(o collective.Operation) (all, betweenNodes int) {
	switch o {
	case collective.Allreduce:
		return 2 * (c.Ranks - 1), 2 * (c.Nodes - 1)
	case collective.Allgather, collective.ReduceScatter:
		return c.Ranks - 1, c.Nodes - 1
	}
	return c.Ranks, c.Nodes
}

func (c *Communicator) tunerLatency(o collective.Operation, m Method) float64 {
	base, near := c.callLatencies[m.Algorithm][m.Protocol], c.hopLatencyTable[nvlinkHop][m.Algorithm][m.Protocol]
	far := c.hopLatencyTable[networkHop][m.Algorithm][m.Protocol]
	if c.perNode() == 1 {
		far = c.hopLatencyTable[networkHop][Tree][m.Protocol]
	}
	switch m.Algorithm {
	case Ring:
		steps, between := c.countHops(o)
		if o == collective.Bcast || o == collective.Reduce {
			if c.Nodes > 1 {
				near = c.hopLatencyTable[networkHop][Ring][m.Protocol]
			}
			return base + near
		}
		return base + float64(steps-between)*max(near, c.proxyOverhead(m.Protocol)) + float64(between)*far
	case Tree:
		return base + 2*(float64(c.perNode()-1)*near+float64(floorLog2(c.Nodes))*far)
	case NVLS:
		return near
	}
	return base + near + 2*float64(floorLog2(c.Nodes))*far
}

// proxyOverhead is the time of a proxy for a step in us, if there are proxies.
func (c *Communicator) proxyOverhead(p Protocol) float64 {
	switch {
	case c.Nodes == 1:
		return 0
	case p == Simple:
		return 3 * c.proxyOverheads[c.Processor]
	}
	return c.proxyOverheads[c.Processor]
}

// tunerBandwidth is in GB/s of the larger buffer.
func (c *Communicator) tunerBandwidth(o collective.Operation, m Method) float64 {
	links := float64(c.nvlinkRate()) / 1e9
	bus, channels := links, float64(c.maxChannelsOf(m.Algorithm))
	if c.Nodes > 1 {
		bus = min(links, float64(c.networkRate())/1e9)
		if c.Nodes == 2 && m.Algorithm == Tree { // search.cc: their speed within nodes is up to twice that between
			bus = min(links, 2*float64(c.networkRate())/1e9)
		}
	}
	switch {
	case m.Algorithm == NVLS || m.Algorithm == NVLSTree:
		inside := links * c.nvlsShares[c.GPU] * (channels - 1) / channels
		if o == collective.Allreduce {
			inside *= 2
		} else {
			inside *= float64(c.perNode()-1) / float64(c.perNode())
		}
		bus = inside
		if m.Algorithm == NVLSTree {
			between := float64(c.networkRate()) / 1e9
			if c.Nodes == 2 {
				between *= 2
			}
			bus = min(inside, between, channels*c.channelBandwidths["nvls-tree "+c.GPU][c.tableColumn()])
		}
	case m == Method{Ring, LL}:
		bus = min(c.llRate(), bus/2)
	case m == Method{Ring, LL128}:
		bus = min(bus*0.92, channels*c.channelBandwidths["ring-LL128 "+c.GPU][c.tableColumn()])
	case m.Algorithm == Tree:
		bus = min(bus*0.92, channels*c.channelBandwidths["tree "+c.GPU][c.tableColumn()])
		switch {
		case m.Protocol == LL:
			bus = min(bus/3.8, c.llRate())
		case m.Protocol == LL128 && c.Nodes == 1:
			bus = min(bus*7/9, channels*c.channelBandwidths["tree-LL128 "+c.GPU][c.tableColumn()])
		case m.Protocol == LL128:
			bus = min(bus*120/128, channels*c.channelBandwidths["tree-LL128 "+c.GPU][c.tableColumn()])
		}
		bus *= c.patternCorrections[c.GPU]
	}
	steps, _ := c.countHops(o)
	switch {
	case m.Algorithm == Tree:
		return bus / 2
	case m.Algorithm == Ring || o == collective.Allreduce:
		return bus * float64(c.Ranks) / float64(steps)
	}
	return bus
}

// llRate is the bandwidth of all channels by LL in GB/s.
func (c *Communicator) llRate() float64 {
	if c.Nodes == 1 {
		return c.llOfGPU[c.GPU]
	}
	return c.llOfCPU[c.Processor][c.tableColumn()-1]
}

// nvlinkRate is that of the links of a GPU to the other ranks of its node.
func (c *Communicator) nvlinkRate() unit.Rate {
	if c.HasSwitch || c.perNode() == 1 {
		return c.NVLink
	}
	return c.NVLink * unit.Rate(c.perNode()-1) / unit.Rate(c.GPUs-1)
}

// interfacesPerNode are those of the ranks of a node.
func (c *Communicator) interfacesPerNode() int { return max(1, c.Interfaces*c.perNode()/c.GPUs) }

// networkRate is that of the interfaces of a node.
func (c *Communicator) networkRate() unit.Rate { return c.Network * unit.Rate(c.interfacesPerNode()) }

// maxChannelsOf is the number of channels of an algorithm at most.
func (c *Communicator) maxChannelsOf(a Algorithm) int {
	switch {
	case a == NVLS || a == NVLSTree:
		return c.NVLSChannels
	case a == Peers:
		return c.PeerChannels
	case c.Nodes > 1:
		return c.InterfaceChannels * c.interfacesPerNode()
	case c.HasSwitch:
		return c.NodeChannels
	}
	return max(1, c.NodeChannels*(c.perNode()-1)/(c.GPUs-1))
}

// floorLog2 is that of the largest power of two that is not greater.
func floorLog2(n int) int { return int(math.Log2(float64(n))) }
