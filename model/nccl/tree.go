package nccl

import (
	"math/bits"

	"github.com/loggp/loggp/model/unit"
)

// treeNode is a node of a binary tree.
type treeNode struct {
	parent   int // -1: the root
	children []int
	rate     unit.Rate // of the flows to the parent and from it
}

// binaryTree returns the tree in which the leaves are the odd numbers, and every other node is
// between its children: src/graph/trees.cc, ncclGetBtree. 0 is the root, with one child.
func binaryTree(nodes int) []treeNode {
	t := make([]treeNode, nodes)
	t[0].parent = -1
	for n := 1; n < nodes; n++ {
		bit := 1 << bits.TrailingZeros(uint(n))
		parent := n ^ bit | bit<<1
		if parent >= nodes {
			parent = n ^ bit
		}
		t[n].parent = parent
		t[parent].children = append(t[parent].children, n)
	}
	return t
}

// countDoubleTreeFlows returns for each node how many flows it has in each direction by both trees.
// The second tree is the first one mirrored if the number of nodes is even, and else shifted by
// one. The same, ncclGetDtree.
func countDoubleTreeFlows(t []treeNode) []int {
	peers := func(n int) int {
		k := len(t[n].children)
		if t[n].parent >= 0 {
			k++
		}
		return k
	}
	flows := make([]int, len(t))
	for n := range t {
		second := len(t) - 1 - n
		if len(t)%2 == 1 {
			second = (n + len(t) - 1) % len(t)
		}
		flows[n] = peers(n) + peers(second)
	}
	return flows
}

// treeState is a channel of a tree. All ranks of a node are a chain, whose first one is in the tree
// of nodes; with NVLS they are one block.
type treeState struct {
	channelPlan
	perNode               int
	nodes                 []treeNode
	childrenBeforeParents []int         // children before their parents
	upFree                [][]unit.Time // when a block has ended its last chunk, by node and rank
	downFree              [][]unit.Time
	upNet, downNet        []unit.Time // when the flow from a node to its parent is free, and back
	arrivals              []slicePass // of this chunk, from each node at its parent and then from the parent
}

// treeTime executes an allreduce by trees: chunks go up to the root and, as soon as they are
// combined there, down. Half of the channels have the second tree, in which nodes have other
// places; the two trees share the interfaces by the flows that each node has in both.
// src/device/all_reduce.h, runTreeSplit.
func (c *Communicator) treeTime(call Call, m Method) unit.Time {
	p := c.newPlan(call, m)
	s := &treeState{channelPlan: p, perNode: c.perNode(), nodes: binaryTree(c.Nodes)}
	var once unit.Time
	if m.Algorithm == NVLSTree {
		// The switch combines on the way up and multicasts on the way down. Its latency is that of
		// both.
		s.perNode, s.sendingStepRate = 1, c.switchRate(p)
		once, s.nearHopLatency = s.nearHopLatency, 0
	}
	s.shareInterfaces()
	for range c.Nodes {
		s.upFree = append(s.upFree, make([]unit.Time, s.perNode))
		s.downFree = append(s.downFree, make([]unit.Time, s.perNode))
	}
	s.upNet, s.downNet = make([]unit.Time, c.Nodes), make([]unit.Time, c.Nodes)
	s.arrivals = make([]slicePass, c.Nodes)
	s.childrenBeforeParents = s.childrenFirst(0, nil)
	return once + executeChunks(divideUp(p.bytes, p.chunk), func(chunk int) unit.Time {
		return s.executeChunk(min(p.chunk, p.bytes-chunk*p.chunk))
	})
}

// shareInterfaces sets the rates of flows between nodes: each interface carries two channels, one
// of each tree, and divides its rate among the flows of a node in both.
func (s *treeState) shareInterfaces() {
	flows := countDoubleTreeFlows(s.nodes)
	for n := range s.nodes {
		if p := s.nodes[n].parent; p >= 0 {
			s.nodes[n].rate = 2 * s.channelNetRate / unit.Rate(max(flows[n], flows[p]))
		}
	}
}

func (s *treeState) childrenFirst(n int, order []int) []int {
	for _, child := range s.nodes[n].children {
		order = s.childrenFirst(child, order)
	}
	return append(order, n)
}

// executeChunk brings a chunk up and down, and returns when the last rank has it.
func (s *treeState) executeChunk(bytes int) (last unit.Time) {
	for _, n := range s.childrenBeforeParents {
		s.arrivals[n] = s.combineInNode(n, bytes)
		if node := &s.nodes[n]; node.parent >= 0 {
			s.arrivals[n] = s.deliverFar(s.arrivals[n].end, &s.upNet[n], node.rate, bytes)
		}
	}
	for i := len(s.childrenBeforeParents) - 1; i >= 0; i-- {
		last = max(last, s.passDownNode(s.childrenBeforeParents[i], bytes))
	}
	return last
}

// combineInNode lets a chunk pass the chain of a node towards its first rank, which combines those
// of its children as well.
func (s *treeState) combineInNode(n, bytes int) slicePass {
	var from slicePass
	for r := s.perNode - 1; r >= 0; r-- {
		if r == 0 {
			for _, child := range s.nodes[n].children {
				from.begin, from.end = max(from.begin, s.arrivals[child].begin), max(from.end, s.arrivals[child].end)
			}
		}
		pass := s.passOn(&s.upFree[n][r], from, bytes)
		if r == 0 {
			return pass
		}
		from = s.deliverNear(pass.begin, pass.end)
	}
	return from
}

// passDownNode lets a chunk pass from the first rank of a node to its children and along its chain,
// and returns when the last rank of the node has it.
func (s *treeState) passDownNode(n, bytes int) unit.Time {
	pass := s.passOn(&s.downFree[n][0], s.arrivals[n], bytes)
	for _, child := range s.nodes[n].children {
		s.arrivals[child] = s.deliverFar(pass.end, &s.downNet[child], s.nodes[child].rate, bytes)
	}
	for r := 1; r < s.perNode; r++ {
		pass = s.passOn(&s.downFree[n][r], s.deliverNear(pass.begin, pass.end), bytes)
	}
	return pass.end
}

// passOn executes a step of a block, which receives a chunk and sends it on.
func (s *treeState) passOn(free *unit.Time, from slicePass, bytes int) slicePass {
	begin := max(*free, from.begin)
	end := max(begin+s.sendingStepRate.Time(bytes), from.end)
	*free = end
	return slicePass{begin, end}
}
