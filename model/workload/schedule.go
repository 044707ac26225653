package workload

import (
	"container/heap"
	"errors"
	"fmt"

	"github.com/loggp/loggp/model/schedule"
)

// FromSchedule returns a schedule as a workload: its messages, and computing without streams. Ranks
// must have one CPU, receives a source and a tag, and operations wait for ends only.
func FromSchedule(s *schedule.Schedule, name string) (*Workload, error) {
	switch {
	case s.CPUsPerRank() > 1:
		return nil, fmt.Errorf("%s: ranks have up to %d CPUs: a workload has streams instead", name, s.CPUsPerRank())
	case s.CountRanks() > MaxRanks:
		return nil, fmt.Errorf("%s: %d ranks: at most %d", name, s.CountRanks(), MaxRanks)
	}
	w := &Workload{}
	for rank := range s.CountRanks() {
		p, peers, err := programOfRank(s, rank, name)
		if err != nil {
			return nil, err
		}
		w.Ranks = append(w.Ranks, Rank{Program: p, Peers: peers})
	}
	return w, w.Check()
}

// programOfRank returns what a rank of a schedule does, and its peers.
func programOfRank(s *schedule.Schedule, rank int, name string) (*Program, []int, error) {
	ops := s.OpsOfRank(rank)
	before := make([][]uint32, len(ops)) // numbers in the program
	open := make([]int, len(ops))
	for i := range ops {
		for _, d := range s.Dependants(rank, i) {
			if d.WaitsForStart {
				return nil, nil, fmt.Errorf("%s: rank %d: operation %d waits for the start of another one (irequires), which flows cannot: write requires", name, rank, d.Op)
			}
			open[d.Op]++
		}
	}
	p := NewProgram(name)
	var peers []int
	numbers := map[uint32]uint32{}
	ready := &opHeap{}
	for i, n := range open {
		if n == 0 {
			heap.Push(ready, i)
		}
	}
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		o, err := opOfSchedule(ops[i])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: rank %d: operation %d: %w", name, rank, i, err)
		}
		if o.Kind != Compute {
			n, known := numbers[ops[i].Peer]
			if !known {
				n = uint32(len(peers))
				numbers[ops[i].Peer], peers = n, append(peers, int(ops[i].Peer))
			}
			o.Peer = n
		}
		number := p.AddOp(o, before[i]...)
		for _, d := range s.Dependants(rank, i) {
			before[d.Op] = append(before[d.Op], number)
			if open[d.Op]--; open[d.Op] == 0 {
				heap.Push(ready, d.Op)
			}
		}
	}
	return p, peers, nil
}

func opOfSchedule(o schedule.Op) (Op, error) {
	switch {
	case o.Kind == schedule.Calc:
		return Op{Kind: Compute, Size: o.Size}, nil
	case o.Peer == schedule.Any || o.Tag == schedule.Any:
		return Op{}, errors.New("it receives from any source or with any tag, which flows cannot: write a source and a tag")
	case o.Tag > MaxTag:
		return Op{}, fmt.Errorf("its tag is %d: at most %d", o.Tag, MaxTag)
	case o.Kind == schedule.Send:
		return Op{Kind: Send, Size: o.Size, Tag: o.Tag}, nil
	}
	return Op{Kind: Recv, Size: o.Size, Tag: o.Tag}, nil
}

// opHeap has the operations that can come next, the first of the file first.
type opHeap []int

func (h opHeap) Len() int           { return len(h) }
func (h opHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h opHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *opHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *opHeap) Pop() any {
	last := len(*h) - 1
	i := (*h)[last]
	*h = (*h)[:last]
	return i
}
