// Package collective has the algorithms of collective operations as schedules: what each rank sends, receives, copies and combines, step
// by step.
//
// A schedule is the same whoever carries it out: a library moves bytes by it, and Cost adds up what its steps take by LogGP. An algorithm is a
// value in a list, so that tables can choose among them by the number of ranks and the length of the data.
package collective

import (
	"fmt"
	"iter"
	"slices"
)

// Operation is what ranks do together.
type Operation uint8

// The operations. What each leaves where:
const (
	Barrier       Operation = iota // nothing; no rank goes on before all are there
	Bcast                          // Out of all ranks is that of the root
	Scatter                        // Out is the rank's block of the root's In, which has a block for each rank
	Gather                         // Out of the root has the In of all ranks, in their order
	Allgather                      // Out of all ranks has
	Alltoall                       // Out has, in the order of ranks, the block of each one's In that is for this rank
	Reduce                         // Out of the root is In of all ranks, combined in their order
	Allreduce                      // Out of all ranks is
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

// Job is an operation that some ranks carry out.
type Job struct {
	Ranks int
	Root  int // of operations that have one
	Bytes int // of a block: what a rank gives or gets where there is one for each rank, else the whole data
	Unit  int // bytes of an element, of which Bytes is a multiple: data is not divided within one; 0: 1

	Nodes *Nodes // which ranks are near each other; nil: not known, or none
}

func (j Job) unit() int { return max(j.Unit, 1) }

// Area is a part of a rank's memory.
type Area uint8

// The areas. Where an operation leaves no result, or takes no data, there is memory nevertheless if the schedule of the rank mentions it.
const (
	In  Area = iota // what the rank gives; never changed
	Out             // what it gets
	Tmp             // memory to work in, as much as the schedule mentions
)

// Span is some bytes of an area.
type Span struct {
	Area Area
	From int
	Len  int
}

// None in place of a rank says that there is nothing to send, or to receive.
const None = -1

// Step is what a rank does next. A step that sends and receives does both at the same time, so that ranks may exchange data; one that does
// neither is local.
type Step struct {
	Kind       Kind
	To, From   int // ranks, or None
	Send, Recv Span
}

// Kind is what a step is.
type Kind uint8

// The kinds of steps. Those that are local read Send and write Recv, which are of one length.
const (
	Transfer  Kind = iota
	Copy           // Recv becomes Send
	FoldLeft       // Recv becomes Send ∘ Recv
	FoldRight      // Recv becomes Recv ∘ Send
)

// Algorithm is a way to carry out an operation.
type Algorithm struct {
	Operation  Operation
	Name       string
	Disorders  bool // combines in another order than that of ranks, so that the operation must commute
	Tiered     bool // has two levels, within nodes and between them, so that some ranks must be near each other, and some not
	PowerOfTwo bool // of ranks, which there must be
	schedule   schedule
}

// schedule writes the steps of a rank.
type schedule func(s *Script, j Job, rank int)

// Unknown returns an algorithm of which nothing is known but a name, as those of other libraries: it has no steps.
func Unknown(o Operation, name string) *Algorithm {
	return &Algorithm{Operation: o, Name: name, schedule: func(*Script, Job, int) {}}
}

// Serves reports whether the algorithm can carry out a job.
func (a *Algorithm) Serves(j Job) bool {
	return (!a.PowerOfTwo || powerOfTwo(j)) && (!a.Tiered || j.Nodes.Tiered())
}

// Needs says which ranks the algorithm is for, or "" if it serves any.
func (a *Algorithm) Needs() string {
	switch {
	case a.Tiered:
		return "three ranks or more, of which some are in one node and some are not"
	case a.PowerOfTwo:
		return "a power of two of ranks"
	}
	return ""
}

// String returns the operation and the name: bcast binomial.
func (a *Algorithm) String() string { return a.Operation.String() + " " + a.Name }

// Steps returns what a rank does. The algorithm must serve the job.
func (a *Algorithm) Steps(j Job, rank int) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		a.Perform(j, rank, &Script{By: yielder(yield)})
	}
}

// Perform lets the performer of a script do what a rank does. The algorithm must serve the job.
func (a *Algorithm) Perform(j Job, rank int, s *Script) {
	j.check(rank)
	s.over = false
	a.schedule(s, j, rank)
}

// check panics if there is no such job, or no such rank in it.
func (j Job) check(rank int) {
	if rank < 0 || rank >= j.Ranks || j.Root < 0 || j.Root >= j.Ranks || j.Bytes < 0 || j.Bytes%j.unit() != 0 || j.Nodes != nil && len(j.Nodes.of) != j.Ranks {
		panic(fmt.Sprintf("collective: rank %d in %+v", rank, j))
	}
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

// Named returns the algorithm of the name for an operation, or nil.
func Named(o Operation, name string) *Algorithm {
	i := slices.IndexFunc(Algorithms, func(a *Algorithm) bool { return a.Operation == o && a.Name == name })
	if i < 0 {
		return nil
	}
	return Algorithms[i]
}

// Algorithms is every algorithm there is, the simplest of each operation first.
var Algorithms = slices.Concat(barriers, bcasts, scatters, gathers, allgathers, alltoalls, reduces, allreduces, reduceScatters, scans)

// Performer does steps.
type Performer interface {
	// Do does a step, which it may change but not keep, and reports whether it wants more.
	Do(*Step) bool
}

// yielder is a Performer that hands steps to whoever goes through them.
type yielder func(Step) bool

func (y yielder) Do(st *Step) bool { return y(*st) }

// Script is what an algorithm writes the steps of a rank on, each over the one before: a performer does a step when it is written. When nobody
// wants more the algorithm goes on without effect. A script may be used again, for one rank at a time: to carry out an operation takes no memory then.
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

// local adds a step that concerns no other rank, unless it is about no bytes.
func (s *Script) local(k Kind, what, into Span) {
	if what.Len > 0 {
		s.at = Step{Kind: k, To: None, From: None, Send: what, Recv: into}
		s.step()
	}
}

// fold combines what into into. before says that it is of earlier ranks.
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
func powerOfTwo(j Job) bool { return j.Ranks&(j.Ranks-1) == 0 }

// blocks divides the data of a job into as many parts as ranks, as equal as elements allow, and returns where each begins; the last number is
// where the last ends.
func (j Job) blocks() func(i int) int {
	elements := j.Bytes / j.unit()
	each, more := elements/j.Ranks, elements%j.Ranks
	return func(i int) int { return (i*each + min(i, more)) * j.unit() }
}

// span returns blocks from to to of an area, by their beginnings.
func span(a Area, begin func(i int) int, from, to int) Span {
	return Span{a, begin(from), begin(to) - begin(from)}
}

// spans returns a function for blocks of an area, by their beginnings.
func spans(a Area, begin func(i int) int) func(from, to int) Span {
	return func(from, to int) Span { return span(a, begin, from, to) }
}

// block returns block i of an area of equal blocks.
func (j Job) block(a Area, i int) Span { return Span{a, i * j.Bytes, j.Bytes} }

// whole returns the data of the job in an area.
func (j Job) whole(a Area) Span { return Span{a, 0, j.Bytes} }
