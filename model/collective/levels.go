package collective

// levels is a job as its two-level algorithms see it: ranks talk within their node to its leader, and leaders among themselves. The root leads its node, the
// first rank any other. Nodes are numbered from that of the root on, ranks of a node from its leader on.
type levels struct {
	Job
	home int // the node of the root
}

func (j Job) levels() levels { return levels{j, int(j.Nodes.of[j.Root])} }

// node returns the node of a number.
func (l levels) node(number int) int { return (l.home + number) % l.Nodes.Count() }

// number returns that of a node.
func (l levels) number(node int) int { return mod(node-l.home, l.Nodes.Count()) }

// lead returns which of the ranks of a node leads it, in their order.
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

// before returns how many ranks the first nodes have, of which there are so many.
func (l levels) before(nodes int) int {
	begin, last := l.Nodes.begin, l.home+nodes
	if last < len(begin) {
		return int(begin[last] - begin[l.home])
	}
	return l.Ranks - int(begin[l.home]-begin[last-l.Nodes.Count()])
}

// parts returns a function for the blocks of nodes, by their numbers, in an area that begins with those of node first.
func (l levels) parts(a Area, first int) func(from, to int) Span {
	base := l.before(first)
	return func(from, to int) Span {
		begin := l.before(from)
		return Span{a, (begin - base) * l.Bytes, (l.before(to) - begin) * l.Bytes}
	}
}

// gather brings the blocks of a node to its leader, which has them in an area from some byte on.
func (l levels) gather(s *Script, rank int, a Area, base int) {
	part := func(from, to int) Span { return Span{a, base + from*l.Bytes, (to - from) * l.Bytes} }
	s.local(Copy, l.whole(In), part(0, 1))
	l.inside(s, rank).do(l.Job, func(s *Script, node Job, at int) { binomialUp(s, node, at, part, nil) })
}

// runs calls each for ranks in a row: those from rank on, n of them, are in the order of numbers from place at on.
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

// ordered reports whether the order of numbers is that of ranks.
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

// level is ranks that talk among themselves. The steps of its script name numbers.
type level struct {
	*Script
	ranks int
	at    int // the number of the rank whose script it is, or None if it is not among them
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

// do adds the steps of a schedule for the ranks of a level, of which number 0 is the root, unless the rank is not among them.
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

// inPlace returns a schedule for ranks that give what is in Out already.
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

// changed returns a script whose steps are changed, or left out, before they are done.
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
