// Package collective has the algorithms of collective operations as schedules: what each rank
// sends, receives, copies and combines, step by step.
//
// One schedule serves all uses: a library moves bytes by it, and Cost adds up the time of its steps
// by LogGP. Algorithms are values in a list. Tables choose among them by the number of ranks and
// the length of the data.
package collective

import (
	"fmt"
	"iter"
	"slices"
)

// Operation is a collective operation.
type Operation uint8

// The operations, with their results:
const (
	Barrier       Operation = iota // none; no rank continues before all have entered
	Bcast                          // Out of all ranks is that of the root
	Scatter                        // Out is the rank's block of the root's In, which has a block for each rank
	Gather                         // Out of the root has the In of all ranks, in their order
	Allgather                      // Out of all ranks has the In of all ranks, in their order
	Alltoall                       // Out has block r of the In of all ranks, in their order; r is this rank
	Reduce                         // Out of the root is In of all ranks, combined in their order
	Allreduce                      // Out of all ranks is In of all ranks, combined in their order
	ReduceScatter                  // Out is the rank's block of In of all ranks, combined
	Scan                           // Out is In of the ranks up to this one, combined
	NumOperations
)

var operationNames = [NumOperations]string{"barrier", "bcast", "scatter", "gather", "allgather", "alltoall", "reduce", "allreduce", "reduce-scatter", "scan"}

// String returns the name of the operation in lower case.
func (o Operation) String() string { return operationNames[o] }

// Operations returns all operations.
func Operations() []Operation {
	all := make([]Operation, NumOperations)
	for i := range all {
		all[i] = Operation(i)
	}
	return all
}

// Job describes one execution of an operation.
type Job struct {
	Ranks int
	Root  int // of operations that have one
	Bytes int // of a block, if there is one for each rank; else of the whole data
	Unit  int // bytes of an element; data is divided between elements only, and Bytes is a multiple; 0: 1

	Nodes *Nodes // which ranks share a node; nil: unknown, or no ranks do
}

func (j Job) unit() int { return max(j.Unit, 1) }

// Area is a part of a rank's memory. Among the receives that are posted together, the one that ends
// last in Tmp comes first, so that Tmp need not grow while another one is under way.
type Area uint8

// The areas. A rank whose schedule uses an area has memory for it, even if the rank has no data or
// result there.
const (
	In  Area = iota // input; never changed
	Out             // output
	Tmp             // scratch memory, as much as the schedule mentions
)

// Span is a range of bytes in an area.
type Span struct {
	Area Area
	From int
	Len  int
}

// None in place of a rank means that there is nothing to send or to receive.
const None = -1

// Step is one step of a rank. A step that both sends and receives does so at the same time, so that
// ranks can exchange data. A step that does neither is local. A transfer that is posted is begun,
// and the rank goes on; the next step Wait waits for all of them.
type Step struct {
	Kind       Kind
	Post       bool
	To, From   int // ranks, or None
	Send, Recv Span
}

// Kind is the kind of a step.
type Kind uint8

// The kinds of steps. Local ones but Wait read Send and write Recv, which have the same length.
const (
	Transfer  Kind = iota
	Wait           // until all transfers that were posted have ended
	Copy           // Recv becomes Send
	FoldLeft       // Recv becomes Send ∘ Recv
	FoldRight      // Recv becomes Recv ∘ Send
)

// Algorithm is a way to carry out an operation.
type Algorithm struct {
	Operation        Operation
	Name             string
	NeedsCommutative bool // does not combine data in the order of ranks
	TwoLevel         bool // needs several nodes, and several ranks in one of them
	PowerOfTwo       bool // needs a power of two of ranks
	EvenRanks        bool // needs an even number of ranks, or one
	schedule         schedule
}

// schedule writes the steps of a rank.
type schedule func(s *Script, j Job, rank int)

// Unknown returns an algorithm without steps, for other libraries, whose schedules are unknown.
func Unknown(o Operation, name string) *Algorithm {
	return &Algorithm{Operation: o, Name: name, schedule: func(*Script, Job, int) {}}
}

// Serves reports whether the algorithm can execute a job.
func (a *Algorithm) Serves(j Job) bool {
	return a.servesCount(j.Ranks) && (!a.TwoLevel || j.Nodes.Tiered())
}

// servesCount reports whether the algorithm can serve a number of ranks, wherever they are.
func (a *Algorithm) servesCount(ranks int) bool {
	return (!a.PowerOfTwo || isPowerOfTwo(ranks)) && (!a.EvenRanks || ranks%2 == 0 || ranks == 1)
}

// Needs returns what ranks the algorithm needs, or "" if it serves any.
func (a *Algorithm) Needs() string {
	switch {
	case a.TwoLevel:
		return "three ranks or more, of which some are in one node and some are not"
	case a.PowerOfTwo:
		return "a power of two of ranks"
	case a.EvenRanks:
		return "an even number of ranks, or one"
	}
	return ""
}

// String returns the operation and the name: bcast binomial.
func (a *Algorithm) String() string { return a.Operation.String() + " " + a.Name }

// Steps returns the steps of a rank. The algorithm must serve the job.
func (a *Algorithm) Steps(j Job, rank int) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		a.Perform(j, rank, &Script{By: yielder(yield)})
	}
}

// Perform passes the steps of a rank to the performer of a script. The algorithm must serve the
// job. Perform panics if the job is invalid or has no such rank.
func (a *Algorithm) Perform(j Job, rank int, s *Script) {
	if rank < 0 || rank >= j.Ranks || j.Root < 0 || j.Root >= j.Ranks || j.Bytes < 0 || j.Bytes%j.unit() != 0 || j.Nodes != nil && len(j.Nodes.of) != j.Ranks {
		panic(fmt.Sprintf("collective: rank %d in %+v", rank, j))
	}
	s.over = false
	a.schedule(s, j, rank)
}

// Of returns the algorithms for an operation, in the order of Algorithms.
func Of(o Operation) []*Algorithm {
	var of []*Algorithm
	for _, a := range Algorithms {
		if a.Operation == o {
			of = append(of, a)
		}
	}
	return of
}

// Named returns the algorithm of the name for an operation, or nil. Names are those of Algorithms,
// of particular libraries, and of families with parameters, as Forms has them.
func Named(o Operation, name string) *Algorithm {
	for _, list := range [][]*Algorithm{Algorithms, libraryAlgorithms} {
		if i := slices.IndexFunc(list, func(a *Algorithm) bool { return a.Operation == o && a.Name == name }); i >= 0 {
			return list[i]
		}
	}
	if a, known := members.Load(o.String() + " " + name); known {
		return a.(*Algorithm)
	}
	return memberNamed(o, name)
}

// Algorithms are those that comparisons of all contain, the simplest of each operation first.
// Extended has more.
var Algorithms = slices.Concat(barriers, bcasts, scatters, gathers, allgathers, alltoalls, reduces, allreduces, reduceScatters, scans)

// Performer executes steps.
type Performer interface {
	// Do executes a step, which it may change but not keep, and reports whether to continue.
	Do(*Step) bool
}

// yielder is a Performer that yields the steps.
type yielder func(Step) bool

func (y yielder) Do(st *Step) bool { return y(*st) }

// Script receives the steps of a rank from an algorithm and passes each to its performer. After the
// performer has stopped, further steps have no effect. A script may be used again, for one rank at
// a time; executing an operation then allocates nothing.
type Script struct {
	By   Performer
	over bool
	at   Step
}

func (s *Script) step() { s.over = s.over || !s.By.Do(&s.at) }

func (s *Script) send(to int, what Span) {
	s.at = Step{To: to, From: None, Send: what}
	s.step()
}

func (s *Script) recv(from int, into Span) {
	s.at = Step{To: None, From: from, Recv: into}
	s.step()
}

func (s *Script) exchange(to int, what Span, from int, into Span) {
	s.at = Step{To: to, From: from, Send: what, Recv: into}
	s.step()
}

// post adds a transfer one way that ends no later than the next wait.
func (s *Script) post(to int, what Span, from int, into Span) {
	s.at = Step{Post: true, To: to, From: from, Send: what, Recv: into}
	s.step()
}

func (s *Script) wait() {
	s.at = Step{Kind: Wait, To: None, From: None}
	s.step()
}

// inOrder returns steps that do the same without waits, in the sense that the data which a rank
// posts is sent at once, and what it has posted to receive is received, one after the other, where
// it waits. Such steps keep Post.
func inOrder(steps iter.Seq[Step]) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		var posted []Step
		for st := range steps {
			todo := []Step{st}
			switch {
			case st.Kind == Wait:
				todo, posted = append(posted, st), nil
			case st.Post && st.From != None:
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

// local adds a local step, unless it has no bytes.
func (s *Script) local(k Kind, what, into Span) {
	if what.Len > 0 {
		s.at = Step{Kind: k, To: None, From: None, Send: what, Recv: into}
		s.step()
	}
}

// fold combines the data of a span into another. before says that it is from earlier ranks.
func (s *Script) fold(what, into Span, before bool) {
	k := FoldRight
	if before {
		k = FoldLeft
	}
	s.local(k, what, into)
}

// mod returns a modulo n, never negative.
func mod(a, n int) int { return (a%n + n) % n }

// powerOfTwo reports whether a job has 1, 2, 4 … ranks.
func powerOfTwo(j Job) bool { return isPowerOfTwo(j.Ranks) }

func isPowerOfTwo(n int) bool { return n&(n-1) == 0 }

// blocks divides the data of a job into one part per rank, as equal as elements allow. It returns
// the beginning of part i; that of part j.Ranks is the end of the data.
func (j Job) blocks() func(i int) int {
	elements := j.Bytes / j.unit()
	each, more := elements/j.Ranks, elements%j.Ranks
	return func(i int) int { return (i*each + min(i, more)) * j.unit() }
}

// span returns the blocks [from, to) of an area, given the beginning of each.
func span(a Area, begin func(i int) int, from, to int) Span {
	return Span{a, begin(from), begin(to) - begin(from)}
}

// spans returns span for an area and the beginnings of its blocks.
func spans(a Area, begin func(i int) int) func(from, to int) Span {
	return func(from, to int) Span { return span(a, begin, from, to) }
}

// block returns block i of an area of equal blocks.
func (j Job) block(a Area, i int) Span { return Span{a, i * j.Bytes, j.Bytes} }

// whole returns the data of the job in an area.
func (j Job) whole(a Area) Span { return Span{a, 0, j.Bytes} }

// element is the size of the numbers that are combined, if the data can be divided into them.
const element = 8

// OperationNamed returns the operation of a name, and whether there is one.
func OperationNamed(name string) (Operation, bool) {
	i := slices.Index(operationNames[:], name)
	return Operation(max(i, 0)), i >= 0
}

// Combines reports whether the operation combines elements.
func (o Operation) Combines() bool {
	return o == Reduce || o == Allreduce || o == ReduceScatter || o == Scan
}

// ByBlocks reports whether Job.Bytes is the size of a block; there is one for each rank.
func (o Operation) ByBlocks() bool {
	return o == Scatter || o == Gather || o == Allgather || o == Alltoall || o == ReduceScatter
}

// Job returns the job that measurements and predictions use for a number of ranks and bytes: the
// root is rank 0, and elements have 8 bytes, or one byte if bytes is not a multiple of 8. A barrier
// has no bytes.
func (o Operation) Job(ranks, bytes int, nodes *Nodes) Job {
	j := Job{Ranks: ranks, Bytes: bytes, Unit: 1, Nodes: nodes}
	if o == Barrier {
		j.Bytes = 0
	}
	if o.Combines() && j.Bytes%element == 0 {
		j.Unit = element
	}
	return j
}
