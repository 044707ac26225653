package collective

import (
	"container/heap"
	"fmt"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Tree is a broadcast tree with its times.
type Tree struct {
	Nodes    []Node // in the order in which they receive the message; the first is the root
	LastTime unit.Time
}

// Node is a rank of a tree. Ranks are numbered in the order in which they receive the message.
type Node struct {
	Parent      int       // −1 for the root
	ReceiveTime unit.Time // end of its receive
	Children    []int     // in the order in which it sends to them
}

// OptimalBroadcast returns the fastest broadcast of k bytes. Each rank that has the message sends
// it as fast as possible to the ranks that would receive it soonest. A rank that has the message at
// time t reaches its i-th child at
//
//	t + o_s + (i−1)·max(g + (k−1) G, o_s) + (k−1) G + L + o_r
//
// Karp, Sahay, Santos and Schauser, Optimal Broadcast and Summation in the LogP Model, 1993,
// section 2, with the terms of LogGP for long messages.
func (m Machine) OptimalBroadcast(ranks, k int) Tree {
	p := timingOf(&m.Parameters, k, false)
	way, apart := p.oneWayTime, max(p.bytesTime+p.gap, p.send)
	t := Tree{Nodes: []Node{{Parent: -1}}}
	next := candidateQueue{{way, 0}}
	for len(t.Nodes) < ranks {
		o := next[0]
		me := len(t.Nodes)
		t.Nodes = append(t.Nodes, Node{Parent: o.node, ReceiveTime: o.receiveTime})
		t.Nodes[o.node].Children = append(t.Nodes[o.node].Children, me)
		t.LastTime = o.receiveTime
		next[0].receiveTime += apart
		heap.Fix(&next, 0)
		heap.Push(&next, candidate{o.receiveTime + way, me})
	}
	return t
}

// candidate is the time at which the next child of a node would have the message.
type candidate struct {
	receiveTime unit.Time
	node        int
}

type candidateQueue []candidate

func (o candidateQueue) Len() int { return len(o) }
func (o candidateQueue) Less(i, j int) bool {
	return o[i].receiveTime < o[j].receiveTime || o[i].receiveTime == o[j].receiveTime && o[i].node < o[j].node
}
func (o candidateQueue) Swap(i, j int) { o[i], o[j] = o[j], o[i] }
func (o *candidateQueue) Push(x any)   { *o = append(*o, x.(candidate)) }
func (o *candidateQueue) Pop() any {
	last := len(*o) - 1
	x := (*o)[last]
	*o = (*o)[:last]
	return x
}

// String draws the tree, with one line per rank below the rank that sends to it.
func (t Tree) String() string {
	var b strings.Builder
	t.drawSubtree(&b, 0, "")
	return b.String()
}

func (t Tree) drawSubtree(b *strings.Builder, node int, indent string) {
	n := t.Nodes[node]
	fmt.Fprintf(b, "%d at %v\n", node, n.ReceiveTime)
	for i, c := range n.Children {
		branch, below := "├─ ", "│  "
		if i == len(n.Children)-1 {
			branch, below = "└─ ", "   "
		}
		b.WriteString(indent + branch)
		t.drawSubtree(b, c, indent+below)
	}
}
