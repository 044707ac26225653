package collective

import "github.com/loggp/loggp/model"

// levels is a job for two-level algorithms: ranks of a node communicate with its leader, and
// leaders with each other. The root is the leader of its node, the first rank that of any other.
// Nodes are numbered from the root's node, ranks of a node from its leader.
type levels struct {
	Job
	home int // the node of the root
}

func (j Job) levels() levels { return levels{j, int(j.Nodes.of[j.Root])} }

// node returns the node of a number.
func (l levels) node(number int) int { return (l.home + number) % l.Nodes.Count() }

// number returns the number of a node.
func (l levels) number(node int) int { return mod(node-l.home, l.Nodes.Count()) }

// lead returns the index of the leader among the ranks of a node.
func (l levels) lead(node int) int {
	if node == l.home {
		return int(l.Nodes.place[l.Root] - l.Nodes.begin[node])
	}
	return 0
}

// rank returns the rank of a number in a node.
func (l levels) rank(node, number int) int {
	return int(l.Nodes.order[int(l.Nodes.begin[node])+(l.lead(node)+number)%l.Nodes.size(node)])
}

// before returns the number of ranks of the first nodes.
func (l levels) before(nodes int) int {
	begin, last := l.Nodes.begin, l.home+nodes
	if last < len(begin) {
		return int(begin[last] - begin[l.home])
	}
	return l.Ranks - int(begin[l.home]-begin[last-l.Nodes.Count()])
}

// parts returns a function for the blocks of nodes, by their numbers, in an area that begins with
// the blocks of node first.
func (l levels) parts(a Area, first int) func(from, to int) Span {
	base := l.before(first)
	return func(from, to int) Span {
		begin := l.before(from)
		return Span{a, (begin - base) * l.Bytes, (l.before(to) - begin) * l.Bytes}
	}
}

// gather brings the blocks of a node to its leader, into an area from byte base on.
func (l levels) gather(s *Script, rank int, a Area, base int) {
	part := func(from, to int) Span { return Span{a, base + from*l.Bytes, (to - from) * l.Bytes} }
	s.local(Copy, l.whole(In), part(0, 1))
	l.inside(s, rank).do(l.Job, func(s *Script, node Job, at int) { binomialUp(s, node, at, part, nil) })
}

// runs calls each for every run of n consecutive ranks, beginning with rank, whose numbers are
// consecutive as well, beginning with at.
func (l levels) runs(each func(rank, at, n int)) {
	rank, at, n := 0, 0, 0
	for i := range l.Nodes.Count() {
		node := l.node(i)
		for number := range l.Nodes.size(node) {
			r := l.rank(node, number)
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

// ordered reports whether the numbers of all ranks equal the ranks.
func (l levels) ordered() bool {
	if l.Root != 0 {
		return false
	}
	for at, r := range l.Nodes.order {
		if int(r) != at {
			return false
		}
	}
	return true
}

// level is a group of ranks that communicate with each other. The steps of its script name numbers.
type level struct {
	*Script
	ranks int
	at    int // number of the rank whose script it is, or None if it is not in the group
}

// inside returns the level of a rank's node.
func (l levels) inside(s *Script, rank int) level {
	node := int(l.Nodes.of[rank])
	ranks := l.Nodes.size(node)
	at := mod(int(l.Nodes.place[rank]-l.Nodes.begin[node])-l.lead(node), ranks)
	return level{s.among(func(i int) int { return l.rank(node, i) }), ranks, at}
}

// between returns the level of leaders.
func (l levels) between(s *Script, rank int) level {
	node := int(l.Nodes.of[rank])
	at := None
	if l.rank(node, 0) == rank {
		at = l.number(node)
	}
	return level{s.among(func(i int) int { return l.rank(l.node(i), 0) }), l.Nodes.Count(), at}
}

// both returns the two levels of a rank.
func (j Job) both(s *Script, rank int) (inside, between level) {
	l := j.levels()
	return l.inside(s, rank), l.between(s, rank)
}

// do adds the steps of a schedule for the ranks of a level, with number 0 as the root. It does
// nothing if the rank is not in the group.
func (l level) do(j Job, how schedule) {
	if l.at != None {
		how(l.Script, Job{Ranks: l.ranks, Bytes: j.Bytes, Unit: j.Unit}, l.at)
	}
}

// among returns a script whose steps name numbers of ranks.
func (s *Script) among(rank func(number int) int) *Script {
	return s.changed(func(st *Step) bool {
		if st.To != None {
			st.To = rank(st.To)
		}
		if st.From != None {
			st.From = rank(st.From)
		}
		return true
	})
}

// inPlace returns the schedule for ranks whose input is already in Out.
func inPlace(how schedule) schedule {
	return func(s *Script, j Job, rank int) {
		how(s.changed(func(st *Step) bool {
			if st.Send.Area == In {
				st.Send.Area = Out
			}
			return st.Kind != Copy || st.Send != st.Recv
		}), j, rank)
	}
}

// changed returns a script whose steps are changed, or left out, before they are executed.
func (s *Script) changed(keep func(st *Step) bool) *Script { return &Script{By: &changer{s, keep}} }

type changer struct {
	of   *Script
	keep func(st *Step) bool
}

func (c *changer) Do(st *Step) bool {
	if s := c.of; c.keep(st) {
		s.over = s.over || !s.By.Do(st)
	}
	return !c.of.over
}

// Nodes says which ranks of a job share a node.
type Nodes struct {
	of    []int32 // by rank, its node; nodes are numbered by their first ranks
	order []int32 // ranks, node by node, those of a node in their order
	place []int32 // where each rank is in that order
	begin []int32 // where each node begins in it; the last entry is the number of ranks
}

// NewNodes returns the nodes of ranks: ranks with the same name share a node.
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

// Part returns the nodes of some of the ranks, in a new order.
func (n *Nodes) Part(ranks []int) *Nodes {
	names := make([]int, len(ranks))
	for i, r := range ranks {
		names[i] = int(n.of[r])
	}
	return NewNodes(names)
}

// Of returns the node of a rank.
func (n *Nodes) Of(rank int) int { return int(n.of[rank]) }

// Count returns the number of nodes.
func (n *Nodes) Count() int { return len(n.begin) - 1 }

// Together reports whether two ranks share a node. If nodes are unknown they do not.
func (n *Nodes) Together(a, b int) bool { return n != nil && n.of[a] == n.of[b] }

// Tiered reports whether there are several nodes, and several ranks in one of them.
func (n *Nodes) Tiered() bool { return n != nil && n.Count() > 1 && n.Count() < len(n.of) }

// tier returns the tier of the two ranks that are farthest apart. Unknown nodes count as several.
func (n *Nodes) tier() model.Tier {
	if n != nil && n.Count() == 1 {
		return model.IntraNode
	}
	return model.InterNode
}

// size returns the number of ranks of a node.
func (n *Nodes) size(node int) int { return int(n.begin[node+1] - n.begin[node]) }
