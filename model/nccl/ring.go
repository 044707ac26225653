package nccl

import (
	"github.com/loggp/loggp/model/unit"
)

// ringState is a channel of a ring: a block on each rank of one node, of which all nodes are
// copies.
type ringState struct {
	channelPlan
	ranks         int           // of a node, or all
	hasNextNode   bool          // the last of them sends to the first of the next node
	blockFreeAt   []unit.Time   // when each block has ended its last step
	netFree       unit.Time     // when the interface of the last one is free
	arrivedSlices [][]slicePass // of the step before, by rank and slice
	sentSlices    [][]slicePass // of this step
	slotFreeAt    [][]unit.Time // when each rank has taken the slices that it received, in a ring of slots
	received      []int         // slices that each rank has received
	sent          []int         // slices that each rank has sent
}

// slicePass is when a slice begins and ends to arrive.
type slicePass struct{ begin, end unit.Time }

func (c *Communicator) newRing(p channelPlan) *ringState {
	s := &ringState{channelPlan: p, ranks: c.perNode(), hasNextNode: c.Nodes > 1}
	s.blockFreeAt = make([]unit.Time, s.ranks)
	s.received, s.sent = make([]int, s.ranks), make([]int, s.ranks)
	for range s.ranks {
		s.arrivedSlices = append(s.arrivedSlices, make([]slicePass, p.slices))
		s.sentSlices = append(s.sentSlices, make([]slicePass, p.slices))
		s.slotFreeAt = append(s.slotFreeAt, make([]unit.Time, p.receiverSlots))
	}
	return s
}

// ringTime executes the steps of an operation in which every rank passes on what it got: 2(n−1)
// sends of allreduce, n−1 of allgather and reduce-scatter, for each round of n chunks. src/device,
// all_reduce.h, all_gather.h and reduce_scatter.h: runRing.
func (c *Communicator) ringTime(call Call, m Method) unit.Time {
	p := c.newPlan(call, m)
	s := c.newRing(p)
	sends, _ := c.countHops(call.Operation)
	for left := p.bytes; left > 0; left -= c.Ranks * p.chunk {
		chunk := min(p.chunk, divideUp(left, c.Ranks))
		for step := 0; step <= sends; step++ {
			s.executeStep(chunk, step > 0, step < sends)
		}
	}
	return s.endTime()
}

// executeStep executes a step of every rank: it receives a chunk, sends one, or does both.
func (s *ringState) executeStep(chunk int, receives, sends bool) {
	slice := divideUp(chunk, s.slices)
	for i := range s.slices {
		bytes := max(min(slice, chunk-i*slice), 0)
		for rank := range s.ranks {
			s.executeSlice(rank, i, bytes, receives, sends)
		}
	}
	s.arrivedSlices, s.sentSlices = s.sentSlices, s.arrivedSlices
}

func (s *ringState) executeSlice(rank, slice, bytes int, receives, sends bool) {
	begin, rate := s.blockFreeAt[rank], s.receivingStepRate
	if sends {
		rate = s.sendingStepRate
		begin = max(begin, s.slotFreeAt[(rank+1)%s.ranks][s.sent[rank]%s.receiverSlots])
		s.sent[rank]++
	}
	end := begin + rate.Time(bytes)
	if receives {
		from := s.arrivedSlices[(rank+s.ranks-1)%s.ranks][slice]
		begin = max(begin, from.begin)
		end = max(begin+rate.Time(bytes), from.end)
	}
	s.blockFreeAt[rank] = end
	if receives {
		s.slotFreeAt[rank][s.received[rank]%s.receiverSlots] = end
		s.received[rank]++
	}
	if sends {
		s.sentSlices[rank][slice] = s.deliverSlice(rank, begin, end, bytes)
	}
}

// deliverSlice returns when a slice arrives that a rank has sent.
func (s *ringState) deliverSlice(rank int, begin, end unit.Time, bytes int) slicePass {
	if s.hasNextNode && rank == s.ranks-1 {
		return s.deliverFar(end, &s.netFree, s.channelNetRate, bytes)
	}
	return s.deliverNear(begin, end)
}

// deliverNear returns when a slice arrives at another GPU of the node.
func (p *channelPlan) deliverNear(begin, end unit.Time) slicePass {
	if p.cutThrough {
		return slicePass{begin + p.nearHopLatency, end + p.nearHopLatency}
	}
	return slicePass{end + p.nearHopLatency, end + p.nearHopLatency}
}

// deliverFar returns when a slice arrives at another node, by an interface that is busy until free.
func (p *channelPlan) deliverFar(end unit.Time, free *unit.Time, rate unit.Rate, bytes int) slicePass {
	*free = max(end, *free) + rate.Time(bytes)
	return slicePass{*free + p.farHopLatency, *free + p.farHopLatency}
}

func (s *ringState) endTime() (last unit.Time) {
	for _, t := range s.blockFreeAt {
		last = max(last, t)
	}
	return last
}

// chainTime executes a broadcast or a reduction: chunks pass all ranks of the ring one after the
// other. src/device/broadcast.h and reduce.h.
func (c *Communicator) chainTime(call Call, m Method) unit.Time {
	p := c.newPlan(call, m)
	chunks := divideUp(p.bytes, p.chunk)
	free, netFree := make([]unit.Time, c.Ranks), make([]unit.Time, c.Nodes)
	return executeChunks(chunks, func(chunk int) unit.Time {
		bytes := min(p.chunk, p.bytes-chunk*p.chunk)
		var from slicePass
		for r := range free {
			begin := max(free[r], from.begin)
			end := max(begin+p.sendingStepRate.Time(bytes), from.end)
			free[r] = end
			if (r+1)%c.perNode() == 0 && r+1 < c.Ranks {
				from = p.deliverFar(end, &netFree[r/c.perNode()], p.channelNetRate, bytes)
			} else {
				from = p.deliverNear(begin, end)
			}
		}
		return free[c.Ranks-1]
	})
}

// maxChunks is how many chunks of a pipeline are executed; more take as long as the second half of
// these does for each.
const maxChunks = 2048

// executeChunks executes chunks that pass a pipeline one after the other, and returns when the last
// one ends.
func executeChunks(chunks int, execute func(chunk int) unit.Time) unit.Time {
	var half, end unit.Time
	for i := range min(chunks, maxChunks) {
		end = execute(i)
		if i+1 == maxChunks/2 {
			half = end
		}
	}
	if chunks > maxChunks {
		end += (end - half).Times(chunks-maxChunks) / (maxChunks / 2)
	}
	return end
}
