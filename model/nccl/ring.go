package nccl

import (
	"github.com/loggp/loggp/model/unit"
)

// ringState is a channel of a ring: a block on each rank of one node, of which all nodes are
// copies.
type ringState struct {
	plan
	ranks    int           // of a node, or all
	crosses  bool          // the last of them sends to the first of the next node
	free     []unit.Time   // when each block has ended its last step
	netFree  unit.Time     // when the interface of the last one is free
	arrived  [][]slicePass // of the step before, by rank and slice
	passing  [][]slicePass // of this step
	taken    [][]unit.Time // when each rank has taken the slices that it received, in a ring of slots
	received []int         // slices that each rank has received
	sent     []int         // slices that each rank has sent
}

// slicePass is when a slice begins and ends to arrive.
type slicePass struct{ begin, end unit.Time }

func (c *Communicator) newRing(p plan) *ringState {
	s := &ringState{plan: p, ranks: c.perNode(), crosses: c.Nodes > 1}
	s.free = make([]unit.Time, s.ranks)
	s.received, s.sent = make([]int, s.ranks), make([]int, s.ranks)
	for range s.ranks {
		s.arrived = append(s.arrived, make([]slicePass, p.slices))
		s.passing = append(s.passing, make([]slicePass, p.slices))
		s.taken = append(s.taken, make([]unit.Time, p.slots))
	}
	return s
}

// ringTime executes the steps of an operation in which every rank passes on what it got: 2(n−1)
// sends of allreduce, n−1 of allgather and reduce-scatter, for each round of n chunks. src/device,
// all_reduce.h, all_gather.h and reduce_scatter.h: runRing.
func (c *Communicator) ringTime(call Call, m Method) unit.Time {
	p := c.newPlan(call, m)
	s := c.newRing(p)
	sends, _ := c.steps(call.Operation)
	for left := p.bytes; left > 0; left -= c.Ranks * p.chunk {
		chunk := min(p.chunk, divideUp(left, c.Ranks))
		for step := 0; step <= sends; step++ {
			s.executeStep(chunk, step > 0, step < sends)
		}
	}
	return s.end()
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
	s.arrived, s.passing = s.passing, s.arrived
}

func (s *ringState) executeSlice(rank, slice, bytes int, receives, sends bool) {
	begin, rate := s.free[rank], s.local
	if sends {
		rate = s.block
		begin = max(begin, s.taken[(rank+1)%s.ranks][s.sent[rank]%s.slots])
		s.sent[rank]++
	}
	end := begin + rate.Time(bytes)
	if receives {
		from := s.arrived[(rank+s.ranks-1)%s.ranks][slice]
		begin = max(begin, from.begin)
		end = max(begin+rate.Time(bytes), from.end)
	}
	s.free[rank] = end
	if receives {
		s.taken[rank][s.received[rank]%s.slots] = end
		s.received[rank]++
	}
	if sends {
		s.passing[rank][slice] = s.deliver(rank, begin, end, bytes)
	}
}

// deliver returns when a slice arrives that a rank has sent.
func (s *ringState) deliver(rank int, begin, end unit.Time, bytes int) slicePass {
	if s.crosses && rank == s.ranks-1 {
		return s.deliverFar(end, &s.netFree, s.net, bytes)
	}
	return s.deliverNear(begin, end)
}

// deliverNear returns when a slice arrives at another GPU of the node.
func (p *plan) deliverNear(begin, end unit.Time) slicePass {
	if p.cutThrough {
		return slicePass{begin + p.near, end + p.near}
	}
	return slicePass{end + p.near, end + p.near}
}

// deliverFar returns when a slice arrives at another node, by an interface that is busy until free.
func (p *plan) deliverFar(end unit.Time, free *unit.Time, rate unit.Rate, bytes int) slicePass {
	*free = max(end, *free) + rate.Time(bytes)
	return slicePass{*free + p.far, *free + p.far}
}

func (s *ringState) end() (last unit.Time) {
	for _, t := range s.free {
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
			end := max(begin+p.block.Time(bytes), from.end)
			free[r] = end
			if (r+1)%c.perNode() == 0 && r+1 < c.Ranks {
				from = p.deliverFar(end, &netFree[r/c.perNode()], p.net, bytes)
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
