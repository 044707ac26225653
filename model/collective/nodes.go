package collective

import "github.com/loggp/loggp/model"

// Nodes says which ranks of a job are near each other: those of one node.
type Nodes struct {
	of    []int32 // by rank, its node; nodes are numbered by their first ranks
	order []int32 // ranks, node by node, those of a node in their order
	place []int32 // where each rank is in that order
	begin []int32 // where each node begins in it; the last number is how many ranks there are
}

// NewNodes returns the nodes of ranks, of which those with the same name are in one node.
func NewNodes(names []int) *Nodes {
	n := &Nodes{of: make([]int32, len(names)), order: make([]int32, len(names)), place: make([]int32, len(names)), begin: []int32{0}}
	numbers := map[int]int32{}
	for r, name := range names {
		node, known := numbers[name]
		if !known {
			node = int32(len(numbers))
			numbers[name] = node
			n.begin = append(n.begin, 0)
		}
		n.of[r] = node
		n.begin[node+1]++
	}
	for i := range n.Count() {
		n.begin[i+1] += n.begin[i]
	}
	next := append([]int32(nil), n.begin...)
	for r, node := range n.of {
		n.place[r], n.order[next[node]] = next[node], int32(r)
		next[node]++
	}
	return n
}

// Count returns how many nodes there are.
func (n *Nodes) Count() int { return len(n.begin) - 1 }

// Together reports whether two ranks are in one node. Where nothing is known of nodes they are not.
func (n *Nodes) Together(a, b int) bool { return n != nil && n.of[a] == n.of[b] }

// Tiered reports whether ranks are in several nodes, and some of them together.
func (n *Nodes) Tiered() bool { return n != nil && n.Count() > 1 && n.Count() < len(n.of) }

// tier returns how near the ranks are that are farthest from each other. Where nothing is known of nodes they are in several.
func (n *Nodes) tier() model.Tier {
	if n != nil && n.Count() == 1 {
		return model.Intra
	}
	return model.Inter
}

// size returns how many ranks a node has.
func (n *Nodes) size(node int) int { return int(n.begin[node+1] - n.begin[node]) }
