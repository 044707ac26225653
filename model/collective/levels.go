package collective

import "github.com/loggp/loggp/model"

// nodeLevels is a job as seen by two-level algorithms: ranks of a node communicate with the node's
// leader, and leaders with each other. The root is the leader of its node, and the first rank is
// the leader of any other node. Nodes are numbered from the root's node, ranks of a node from its
// leader.
type nodeLevels struct {
	Job
	rootNode int // node of the root
}

func (j Job) twoLevelJob() nodeLevels { return nodeLevels{j, int(j.Nodes.nodeOfRank[j.Root])} }

// nodeOf returns the node with a number.
func (l nodeLevels) nodeOf(number int) int { return (l.rootNode + number) % l.Nodes.Count() }

// numberOf returns the number of a node.
func (l nodeLevels) numberOf(node int) int { return floorMod(node-l.rootNode, l.Nodes.Count()) }

// leaderIndex returns the index of the leader among the ranks of a node.
func (l nodeLevels) leaderIndex(node int) int {
	if node == l.rootNode {
		return int(l.Nodes.positionOfRank[l.Root] - l.Nodes.nodeBegins[node])
	}
	return 0
}

// rankOf returns the rank with a number in a node.
func (l nodeLevels) rankOf(node, number int) int {
	return int(l.Nodes.ranksByNode[int(l.Nodes.nodeBegins[node])+(l.leaderIndex(node)+number)%l.Nodes.ranksOfNode(node)])
}

// ranksBefore returns the number of ranks of the first nodes.
func (l nodeLevels) ranksBefore(nodes int) int {
	begin, last := l.Nodes.nodeBegins, l.rootNode+nodes
	if last < len(begin) {
		return int(begin[last] - begin[l.rootNode])
	}
	return l.Ranks - int(begin[l.rootNode]-begin[last-l.Nodes.Count()])
}

// blocksOfNodes returns a function for the blocks of a range of node numbers, in an area that
// starts with the blocks of node first.
func (l nodeLevels) blocksOfNodes(a Area, first int) func(from, to int) Span {
	base := l.ranksBefore(first)
	return func(from, to int) Span {
		begin := l.ranksBefore(from)
		return Span{a, (begin - base) * l.Bytes, (l.ranksBefore(to) - begin) * l.Bytes}
	}
}

// gatherAtLeader gathers the blocks of a node at its leader, in an area from byte base on.
func (l nodeLevels) gatherAtLeader(s *Script, rank int, a Area, base int) {
	part := func(from, to int) Span { return Span{a, base + from*l.Bytes, (to - from) * l.Bytes} }
	s.addLocalStep(Copy, l.wholeData(In), part(0, 1))
	l.nodeGroup(s, rank).addSteps(l.Job, func(s *Script, node Job, at int) { collectOnBinomialTree(s, node, at, part, nil) })
}

// forEachRun calls each for every run of n consecutive ranks, starting with rank, that also have
// consecutive numbers, starting with at.
func (l nodeLevels) forEachRun(each func(rank, at, n int)) {
	rank, at, n := 0, 0, 0
	for i := range l.Nodes.Count() {
		node := l.nodeOf(i)
		for number := range l.Nodes.ranksOfNode(node) {
			r := l.rankOf(node, number)
			if n > 0 && r != rank+n {
				each(rank, at, n)
				at, n = at+n, 0
			}
			if n == 0 {
				rank = r
			}
			n++
		}
	}
	each(rank, at, n)
}

// isInRankOrder reports whether each rank's number equals the rank.
func (l nodeLevels) isInRankOrder() bool {
	if l.Root != 0 {
		return false
	}
	for at, r := range l.Nodes.ranksByNode {
		if int(r) != at {
			return false
		}
	}
	return true
}

// rankGroup is a group of ranks that communicate with each other. The steps of its script refer to
// numbers in the group.
type rankGroup struct {
	*Script
	ranks  int
	number int // number of the rank that runs the script, or NoRank if it is not in the group
}

// nodeGroup returns the group of a rank's node.
func (l nodeLevels) nodeGroup(s *Script, rank int) rankGroup {
	node := int(l.Nodes.nodeOfRank[rank])
	ranks := l.Nodes.ranksOfNode(node)
	at := floorMod(int(l.Nodes.positionOfRank[rank]-l.Nodes.nodeBegins[node])-l.leaderIndex(node), ranks)
	return rankGroup{s.withNumbers(func(i int) int { return l.rankOf(node, i) }), ranks, at}
}

// leaderGroup returns the group of leaders.
func (l nodeLevels) leaderGroup(s *Script, rank int) rankGroup {
	node := int(l.Nodes.nodeOfRank[rank])
	at := NoRank
	if l.rankOf(node, 0) == rank {
		at = l.numberOf(node)
	}
	return rankGroup{s.withNumbers(func(i int) int { return l.rankOf(l.nodeOf(i), 0) }), l.Nodes.Count(), at}
}

// nodeAndLeaderLevels returns the two groups of a rank.
func (j Job) nodeAndLeaderLevels(s *Script, rank int) (inside, between rankGroup) {
	l := j.twoLevelJob()
	return l.nodeGroup(s, rank), l.leaderGroup(s, rank)
}

// addSteps adds the steps of a schedule for the group, with number 0 as the root. It does nothing
// if the rank is not in the group.
func (l rankGroup) addSteps(j Job, how scheduleWriter) {
	if l.number != NoRank {
		how(l.Script, Job{Ranks: l.ranks, Bytes: j.Bytes, ElementBytes: j.ElementBytes}, l.number)
	}
}

// withNumbers returns a script whose steps refer to numbers, which rank converts to ranks.
func (s *Script) withNumbers(rank func(number int) int) *Script {
	return s.withChangedSteps(func(st *Step) bool {
		if st.To != NoRank {
			st.To = rank(st.To)
		}
		if st.From != NoRank {
			st.From = rank(st.From)
		}
		return true
	})
}

// withInputInOut returns the schedule for ranks whose input is already in Out.
func withInputInOut(how scheduleWriter) scheduleWriter {
	return func(s *Script, j Job, rank int) {
		how(s.withChangedSteps(func(st *Step) bool {
			if st.Send.Area == In {
				st.Send.Area = Out
			}
			return st.Kind != Copy || st.Send != st.Recv
		}), j, rank)
	}
}

// withChangedSteps returns a script that passes each step to keep, which may change it or drop it.
func (s *Script) withChangedSteps(keep func(st *Step) bool) *Script {
	return &Script{Performer: &stepChanger{s, keep}}
}

type stepChanger struct {
	script     *Script
	changeStep func(st *Step) bool
}

func (c *stepChanger) ExecuteStep(st *Step) bool {
	if s := c.script; c.changeStep(st) {
		s.isStopped = s.isStopped || !s.Performer.ExecuteStep(st)
	}
	return !c.script.isStopped
}

// Nodes says which ranks of a job share a node.
type Nodes struct {
	nodeOfRank     []int32 // nodes are numbered by their first ranks
	ranksByNode    []int32 // ranks in order of nodes, and in order within a node
	positionOfRank []int32 // index of each rank in ranksByNode
	nodeBegins     []int32 // index in ranksByNode of the first rank of each node, then the number of ranks
}

// NewNodes returns the nodes of ranks, given a name for each: ranks with the same name share a
// node.
func NewNodes(names []int) *Nodes {
	n := &Nodes{nodeOfRank: make([]int32, len(names)), ranksByNode: make([]int32, len(names)), positionOfRank: make([]int32, len(names)), nodeBegins: []int32{0}}
	numbers := map[int]int32{}
	for r, name := range names {
		node, known := numbers[name]
		if !known {
			node = int32(len(numbers))
			numbers[name] = node
			n.nodeBegins = append(n.nodeBegins, 0)
		}
		n.nodeOfRank[r] = node
		n.nodeBegins[node+1]++
	}
	for i := range n.Count() {
		n.nodeBegins[i+1] += n.nodeBegins[i]
	}
	next := append([]int32(nil), n.nodeBegins...)
	for r, node := range n.nodeOfRank {
		n.positionOfRank[r], n.ranksByNode[next[node]] = next[node], int32(r)
		next[node]++
	}
	return n
}

// Subset returns the nodes of a subset of the ranks, in a new order.
func (n *Nodes) Subset(ranks []int) *Nodes {
	names := make([]int, len(ranks))
	for i, r := range ranks {
		names[i] = int(n.nodeOfRank[r])
	}
	return NewNodes(names)
}

// NodeOf returns the node of a rank.
func (n *Nodes) NodeOf(rank int) int { return int(n.nodeOfRank[rank]) }

// Count returns the number of nodes.
func (n *Nodes) Count() int { return len(n.nodeBegins) - 1 }

// AreOnOneNode reports whether two ranks share a node. It returns false if nodes are unknown.
func (n *Nodes) AreOnOneNode(a, b int) bool { return n != nil && n.nodeOfRank[a] == n.nodeOfRank[b] }

// HasTiers reports whether there are several nodes, at least one of which has several ranks.
func (n *Nodes) HasTiers() bool { return n != nil && n.Count() > 1 && n.Count() < len(n.nodeOfRank) }

// farthestTier returns the tier of the two ranks that are farthest apart. Unknown nodes count as
// several.
func (n *Nodes) farthestTier() model.Tier {
	if n != nil && n.Count() == 1 {
		return model.IntraNode
	}
	return model.InterNode
}

// ranksOfNode returns the number of ranks of a node.
func (n *Nodes) ranksOfNode(node int) int { return int(n.nodeBegins[node+1] - n.nodeBegins[node]) }
