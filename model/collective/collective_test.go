package collective

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The tests carry out schedules with symbols for bytes: byte i of the In of rank r is "r.i", and
// what is combined is a list. A message goes from one rank to another only when both are at it, so
// that an algorithm that would deadlock without buffers does so here.

// symbols is what a byte holds: contributions in the order in which they were combined.
type symbols []string

type machine struct {
	t     *testing.T
	job   Job
	ranks []*actor
}

type actor struct {
	areas      [3][]symbols
	next       func() (Step, bool)
	step       Step
	halves     []*half // that have not ended, in the order in which they began
	begun, end bool
}

// half is a send or a receive.
type half struct {
	send  bool
	other int
	what  Span
	post  bool
}

// run carries out an algorithm and returns what Out of all ranks has in the end.
func run(t *testing.T, a *Algorithm, j Job) [][]symbols {
	m := &machine{t: t, job: j}
	for r := range j.Ranks {
		x := &actor{}
		in, out := sizes(a.Operation, j, r)
		x.areas[In], x.areas[Out], x.areas[Tmp] = make([]symbols, in), make([]symbols, out), make([]symbols, tmp(a, j, r))
		for i := range in {
			x.areas[In][i] = symbols{fmt.Sprintf("%d.%d", r, i)}
		}
		if a.Operation == Bcast && r == j.Root {
			for i := range out {
				x.areas[Out][i] = symbols{fmt.Sprintf("%d.%d", r, i)}
			}
		}
		next, stop := iter.Pull(a.Steps(j, r))
		defer stop()
		x.next = next
		m.ranks = append(m.ranks, x)
	}
	for m.advance() {
	}
	var outs [][]symbols
	for r, x := range m.ranks {
		if !x.end || len(x.halves) > 0 {
			t.Fatalf("%v of %+v: rank %d is stuck in %+v", a, j, r, x.step)
		}
		outs = append(outs, x.areas[Out])
	}
	return outs
}

// sizes are how long In and Out of a rank are. A rank whose Out has no result has room for one data
// all the same.
func sizes(o Operation, j Job, rank int) (in, out int) {
	all := j.Ranks * j.Bytes
	switch o {
	case Barrier:
		return 0, 0
	case Bcast:
		return 0, j.Bytes
	case Scatter:
		if rank != j.Root {
			return 0, j.Bytes
		}
		return all, j.Bytes
	case Gather:
		if rank != j.Root {
			return j.Bytes, 0
		}
		return j.Bytes, all
	case Allgather:
		return j.Bytes, all
	case Alltoall:
		return all, all
	case ReduceScatter:
		return all, j.Bytes
	}
	return j.Bytes, j.Bytes
}

// tmp is how long Tmp of a rank is.
func tmp(a *Algorithm, j Job, rank int) int {
	n := 0
	for st := range a.Steps(j, rank) {
		for _, s := range []Span{st.Send, st.Recv} {
			if s.Area == Tmp {
				n = max(n, s.Offset+s.Bytes)
			}
		}
	}
	return n
}

// advance moves all ranks on as far as they can, and reports whether any moved.
func (m *machine) advance() bool {
	moved := false
	for r, x := range m.ranks {
		for !x.end && m.try(r, x) {
			moved = true
		}
	}
	return moved
}

// try ends the step of a rank if it can, and takes the next.
func (m *machine) try(r int, x *actor) bool {
	if x.begun {
		for _, h := range slices.Clone(x.halves) {
			if h.send {
				m.deliver(r, x, h)
			}
		}
		if slices.ContainsFunc(x.halves, func(h *half) bool { return !h.post || x.step.Kind == Wait }) {
			return false
		}
	}
	st, ok := x.next()
	x.step, x.begun, x.end = st, true, !ok
	if ok {
		if st.From != NoRank {
			x.halves = append(x.halves, &half{false, st.From, st.Recv, st.IsPosted})
		}
		if st.To != NoRank {
			x.halves = append(x.halves, &half{true, st.To, st.Send, st.IsPosted})
		}
		if st.Kind != Transfer && st.Kind != Wait {
			m.local(r, x)
		}
	}
	return true
}

// deliver hands over what a rank sends, if the other is at it.
func (m *machine) deliver(r int, x *actor, h *half) {
	if h.other < 0 || h.other >= len(m.ranks) || h.other == r {
		m.t.Fatalf("rank %d of %d sends to %d", r, len(m.ranks), h.other)
	}
	y := m.ranks[h.other]
	at := slices.IndexFunc(y.halves, func(g *half) bool { return !g.send && g.other == r })
	if at < 0 {
		return
	}
	g := y.halves[at]
	what, into := m.bytes(x, h.what), m.bytes(y, g.what)
	if len(what) != len(into) {
		m.t.Fatalf("rank %d sends %d bytes, and rank %d receives %d", r, len(what), h.other, len(into))
	}
	if g.what.Area == In && len(into) > 0 {
		m.t.Fatalf("rank %d receives into what it gives", h.other)
	}
	for i, s := range what {
		if s == nil {
			m.t.Fatalf("rank %d sends byte %d of %+v, which has no data yet", r, i, h.what)
		}
	}
	copy(into, what)
	y.halves = slices.Delete(y.halves, at, at+1)
	x.halves = slices.DeleteFunc(x.halves, func(f *half) bool { return f == h })
}

func (m *machine) bytes(x *actor, s Span) []symbols {
	return x.areas[s.Area][s.Offset : s.Offset+s.Bytes]
}

func (m *machine) local(r int, x *actor) {
	what, into := m.bytes(x, x.step.Send), m.bytes(x, x.step.Recv)
	if len(what) != len(into) || x.step.Recv.Area == In || x.step.Send == x.step.Recv {
		m.t.Fatalf("rank %d: %+v", r, x.step)
	}
	if x.step.Kind != Copy && (x.step.Send.Offset%m.job.elementBytes() != 0 || x.step.Send.Bytes%m.job.elementBytes() != 0 || x.step.Recv.Offset%m.job.elementBytes() != 0) {
		m.t.Fatalf("rank %d combines parts of elements: %+v", r, x.step)
	}
	for i, s := range what {
		switch x.step.Kind {
		case Copy:
			into[i] = s
		case CombineLeft:
			into[i] = slices.Concat(s, into[i])
		case CombineRight:
			into[i] = slices.Concat(into[i], s)
		}
	}
}

// want returns what byte i of Out of a rank is to hold, or nil if it does not matter.
func want(o Operation, j Job, rank, i int) symbols {
	from := func(r, i int) symbols { return symbols{fmt.Sprintf("%d.%d", r, i)} }
	combined := func(ranks, i int) (s symbols) {
		for r := range ranks {
			s = append(s, from(r, i)...)
		}
		return s
	}
	switch o {
	case Bcast:
		return from(j.Root, i)
	case Scatter:
		return from(j.Root, rank*j.Bytes+i)
	case Gather:
		if rank != j.Root {
			return nil
		}
		return from(i/j.Bytes, i%j.Bytes)
	case Allgather:
		return from(i/j.Bytes, i%j.Bytes)
	case Alltoall:
		return from(i/j.Bytes, rank*j.Bytes+i%j.Bytes)
	case Reduce:
		if rank != j.Root {
			return nil
		}
		return combined(j.Ranks, i)
	case Allreduce:
		return combined(j.Ranks, i)
	case ReduceScatter:
		return combined(j.Ranks, rank*j.Bytes+i)
	case Scan:
		return combined(rank+1, i)
	}
	return nil
}

// extendedAlgorithms are all algorithms that are no members of families, and one of each family.
func extendedAlgorithms() []*Algorithm {
	all := slices.Clone(Algorithms)
	for _, o := range Operations() {
		all = append(all, AdditionalAlgorithms(o)...)
	}
	return all
}

// triedAlgorithms are extendedAlgorithms, and members of each family with several radices, and with
// segments shorter than the data.
func triedAlgorithms() []*Algorithm {
	all := extendedAlgorithms()
	for _, f := range families {
		suffixes := []string{"", "-8B"}
		if f.radix != parameterAbsent {
			suffixes = []string{"-1", "-2", "-3", "-7", "-1-4B", "-2-8B", "-3-12B", "-30-8B"}
		}
		for _, suffix := range suffixes {
			if a := AlgorithmNamed(f.operation, f.name+suffix); a != nil && !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	for _, name := range []string{"in-order-binary-8B+binary-8B", "rabenseifner+scatter-doubling", "two-level+two-level", "scatter-gather+chain-2-4B"} {
		all = append(all, AlgorithmNamed(Allreduce, name))
	}
	return all
}

// TestSchedules carries out every algorithm on 1 to 20 ranks, with all roots, and data that does
// and does not divide evenly.
func TestSchedules(t *testing.T) {
	for _, a := range triedAlgorithms() {
		t.Run(strings.ReplaceAll(a.String(), " ", "/"), func(t *testing.T) {
			for _, j := range jobs(a) {
				for rank, out := range run(t, a, j) {
					for i, got := range out {
						need := want(a.Operation, j, rank, i)
						if a.NeedsCommutative {
							slices.Sort(got)
							slices.Sort(need)
						}
						if need != nil && !slices.Equal(got, need) {
							t.Fatalf("%+v: byte %d of rank %d is %v, not %v", j, i, rank, got, need)
						}
					}
				}
			}
		})
	}
}

// jobs are those that an algorithm is tried with.
func jobs(a *Algorithm) []Job {
	rooted := a.Operation == Bcast || a.Operation == Scatter || a.Operation == Gather || a.Operation == Reduce
	var all []Job
	for ranks := 1; ranks <= 20; ranks++ {
		for _, bytes := range []int{0, 4, 20, 64} {
			for root := range ranks {
				if ranks > 8 && root > 1 && root < ranks-1 {
					continue
				}
				for _, nodes := range layouts(a, ranks) {
					j := Job{Ranks: ranks, Root: root, Bytes: bytes, ElementBytes: 4, Nodes: nodes}
					if (root == 0 || rooted) && a.Serves(j) {
						all = append(all, j)
					}
				}
			}
		}
	}
	if strings.Contains(a.Name, "KiB") && !a.Operation.HasBlocks() {
		all = append(all, Job{Ranks: 4, Root: 1, Bytes: 200_000}, Job{Ranks: 3, Bytes: 1024})
	}
	return all
}

// layouts are ways in which ranks lie on nodes: one after another, in turn, and as it comes. Who
// does not look at them is tried with none.
func layouts(a *Algorithm, ranks int) []*Nodes {
	if !a.NeedsNodes {
		return []*Nodes{nil}
	}
	random := rand.New(rand.NewPCG(uint64(ranks), 1))
	var all []*Nodes
	for _, node := range []func(rank int) int{
		func(rank int) int { return rank / 4 },
		func(rank int) int { return (rank + 2) / 3 }, // the first has one rank
		func(rank int) int { return rank % 2 },
		func(rank int) int { return rank % 5 },
		func(int) int { return random.IntN(3) },
		func(int) int { return random.IntN(ranks) },
	} {
		names := make([]int, ranks)
		for r := range names {
			names[r] = node(r)
		}
		all = append(all, NewNodes(names))
	}
	return all
}

// A barrier holds everybody until all have come: no rank's schedule may end before each other
// rank's has begun. So what a rank hears must come from all.
func TestBarriers(t *testing.T) {
	for _, a := range triedAlgorithms() {
		if a.Operation != Barrier {
			continue
		}
		for ranks := 1; ranks <= 33; ranks++ {
			for _, nodes := range layouts(a, ranks) {
				j := Job{Ranks: ranks, Nodes: nodes}
				if !a.Serves(j) {
					continue
				}
				for r, h := range hearsay(a, j) {
					if len(h) != ranks {
						t.Errorf("%v of %d: rank %d leaves when it has heard of %d", a, ranks, r, len(h))
					}
				}
			}
		}
	}
}

// hearsay returns of whom each rank knows in the end that it has come.
func hearsay(a *Algorithm, j Job) []map[int]bool {
	type message struct {
		from int
		know map[int]bool
	}
	know := make([]map[int]bool, j.Ranks)
	steps := make([][]Step, j.Ranks)
	queues := make([][]message, j.Ranks)
	sent := make([]bool, j.Ranks)
	for r := range j.Ranks {
		know[r] = map[int]bool{r: true}
		steps[r] = slices.Collect(withoutPosting(a.Steps(j, r)))
	}
	for moved := true; moved; {
		moved = false
		for r := range j.Ranks {
			for len(steps[r]) > 0 {
				st := steps[r][0]
				if !sent[r] && st.To != NoRank {
					copied := map[int]bool{}
					for k := range know[r] {
						copied[k] = true
					}
					queues[st.To] = append(queues[st.To], message{r, copied})
					sent[r], moved = true, true
				}
				i := slices.IndexFunc(queues[r], func(m message) bool { return m.from == st.From })
				if st.From != NoRank && i < 0 {
					break
				}
				if st.From != NoRank {
					for k := range queues[r][i].know {
						know[r][k] = true
					}
					queues[r] = slices.Delete(queues[r], i, i+1)
				}
				steps[r], sent[r], moved = steps[r][1:], false, true
			}
		}
	}
	return know
}

// In two-level algorithms one rank of each node talks to other nodes, in the node of the root the
// root.
func TestLeaders(t *testing.T) {
	for _, a := range Algorithms {
		if !a.NeedsNodes {
			continue
		}
		for _, j := range jobs(a) {
			leaders := map[int32]int{}
			for r := range j.Ranks {
				for st := range a.Steps(j, r) {
					for _, other := range []int{st.To, st.From} {
						if node := j.Nodes.nodeOfRank[r]; other != NoRank && !j.Nodes.AreOnOneNode(r, other) {
							if l, known := leaders[node]; known && l != r {
								t.Fatalf("%v of %+v: ranks %d and %d of node %d talk to other nodes", a, j, l, r, node)
							}
							leaders[node] = r
						}
					}
				}
			}
			if l := leaders[j.Nodes.nodeOfRank[j.Root]]; len(leaders) != j.Nodes.Count() || l != j.Root {
				t.Fatalf("%v of %+v: %d leaders of %d nodes, that of the root's is %d", a, j, len(leaders), j.Nodes.Count(), l)
			}
		}
	}
}

// Leaders of a power of two of nodes exchange what they have by recursive doubling, which has fewer
// rounds than a ring.
func TestLeadersDouble(t *testing.T) {
	for nodes, rounds := range map[int]int{2: 1, 3: 2, 4: 2, 5: 4, 8: 3} {
		names := make([]int, 2*nodes)
		for r := range names {
			names[r] = r / 2
		}
		j := Job{Ranks: len(names), Bytes: 4, Nodes: NewNodes(names)}
		between := 0
		for st := range AlgorithmNamed(Allgather, "two-level").Steps(j, 0) {
			if st.To != NoRank && !j.Nodes.AreOnOneNode(0, st.To) {
				between++
			}
		}
		if between != rounds {
			t.Errorf("%d leaders exchange in %d rounds, not in %d", nodes, between, rounds)
		}
	}
}

// Two-level algorithms serve no job whose nodes are unknown, or whose ranks are all equally near.
func TestTiered(t *testing.T) {
	for _, a := range triedAlgorithms() {
		for _, c := range []struct {
			nodes  *Nodes
			tiered bool
		}{{nil, false}, {NewNodes([]int{7, 7, 7, 7}), false}, {NewNodes([]int{3, 2, 1, 0}), false}, {NewNodes([]int{5, 3, 5, 3}), true}, {NewNodes([]int{0, 1, 2, 0}), true}} {
			if got, want := a.Serves(Job{Ranks: 4, Nodes: c.nodes}), c.tiered || !a.NeedsNodes; got != want {
				t.Errorf("%v serves ranks in %+v: %v", a, c.nodes, got)
			}
		}
	}
}

// Names are told apart, and every operation has an algorithm that serves any job, which stands
// first.
func TestAlgorithms(t *testing.T) {
	for i, a := range Algorithms {
		if slices.ContainsFunc(Algorithms[:i], func(b *Algorithm) bool { return a.String() == b.String() }) || AlgorithmNamed(a.Operation, a.Name) != a {
			t.Errorf("%v stands there twice", a)
		}
	}
	for _, o := range Operations() {
		if of := AlgorithmsOf(o); len(of) < 2 || of[0].RankRequirement() != "" || of[0].NeedsCommutative {
			t.Errorf("%v: %v", o, of)
		}
	}
	if AlgorithmNamed(Bcast, "none") != nil {
		t.Error("there is a bcast of no name")
	}
}

// A schedule stops when its reader stops.
func TestStop(t *testing.T) {
	for _, a := range triedAlgorithms() {
		n := 0
		for range a.Steps(Job{Ranks: 8, Bytes: 64, ElementBytes: 1, Nodes: NewNodes([]int{0, 0, 0, 1, 1, 1, 1, 2})}, 3) {
			if n++; n == 2 {
				break
			}
		}
	}
}

// The order in which an exchange is posted is that of ranks, or begins behind the own rank.
func TestAlltoallOrders(t *testing.T) {
	for name, want := range map[string][]int{"posted": {3, 0, 1}, "ranked": {0, 1, 3}} {
		var to []int
		for step := range AlgorithmNamed(Alltoall, name).Steps(Alltoall.StandardJob(4, 64, nil), 2) {
			if step.Kind == Transfer && step.To != NoRank {
				to = append(to, step.To)
			}
		}
		if !slices.Equal(to, want) {
			t.Errorf("%s: rank 2 sends to %v, want %v", name, to, want)
		}
	}
}

// ignoredSteps is a Performer that does nothing.
type ignoredSteps struct{}

func (ignoredSteps) ExecuteStep(*Step) bool { return true }

// The steps of a rank allocate nothing, but for those of two levels.
func TestSchedulesAllocateNothing(t *testing.T) {
	s := &Script{Performer: ignoredSteps{}}
	for _, a := range extendedAlgorithms() {
		j := Job{Ranks: 64, Bytes: 4096, ElementBytes: 8}
		if !a.Serves(j) {
			continue
		}
		if n := testing.AllocsPerRun(10, func() { a.RunSchedule(j, 5, s) }); n > 0 {
			t.Errorf("%v allocates %v times", a, n)
		}
	}
}

// withoutPosting returns equivalent steps without Wait: posted sends are executed at once, and
// posted receives one after another at the Wait. These steps keep Post set.
func withoutPosting(steps iter.Seq[Step]) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		var posted []Step
		for st := range steps {
			todo := []Step{st}
			switch {
			case st.Kind == Wait:
				todo, posted = append(posted, st), nil
			case st.IsPosted && st.From != NoRank:
				todo, posted = nil, append(posted, st)
			}
			for _, st := range todo {
				if !yield(st) {
					return
				}
			}
		}
	}
}
