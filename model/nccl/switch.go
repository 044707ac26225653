package nccl

import (
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// switchTime is that of an operation in a node whose switch combines and multicasts. Each of n GPUs
// reads its part of the data combined, and writes it to all. Over a GPU's link go in one direction
//
//	allreduce        S (1 + 1/n): all GPUs read from it, and it writes a part
//	allgather        S: all GPUs write to it
//	reduce-scatter   S: all GPUs read from it
//
// of which the GPU's own parts take the way over the switch as well. src/device/all_reduce.h,
// RunWorkColl of NVLS.
func (c *Communicator) switchTime(call Call) unit.Time {
	p := c.newPlan(call, Method{NVLS, Simple})
	traffic := 1.0
	if call.Operation == collective.Allreduce {
		traffic += 1 / float64(c.perNode())
	}
	return p.nearHopLatency + (c.linksOfSwitch(p) / unit.Rate(traffic)).Time(call.Bytes)
}

// linksOfSwitch is the rate of a GPU's link for what the switch combines: nvlsEfficiency of the
// tables, and one channel in NVLSChannels less, as tuning.cc has it.
func (c *Communicator) linksOfSwitch(p channelPlan) unit.Rate {
	n := float64(c.maxChannelsOf(p.Algorithm))
	return p.sendingStepRate * unit.Rate(float64(p.channels)*c.nvlsShares[c.GPU]*(n-1)/n)
}

// switchRate is how fast a channel combines and multicasts its data by the switch.
func (c *Communicator) switchRate(p channelPlan) unit.Rate {
	rate := c.linksOfSwitch(p) / unit.Rate(p.channels) / unit.Rate(1+1/float64(c.perNode()))
	if limit := c.channelBandwidths["nvls-tree "+c.GPU][c.tableColumn()]; limit > 0 {
		rate = min(rate, rateOfGigabytes(limit)*unit.Rate(c.Ranks)/unit.Rate(2*(c.Ranks-1)))
	}
	return rate
}
