// Package collective has the algorithms of collective operations as schedules: what each rank
// sends, receives, copies and combines, step by step.
//
// An Algorithm writes the steps of a rank into a Script, which passes them to a Performer. A
// library moves bytes by them, and Machine.Cost adds up their time by LogGP (a simulation with a
// clock for each rank). A Span is a range of bytes in one of the areas In, Out and Tmp of a rank's
// memory. Tree algorithms number ranks from the root; two-level algorithms run schedules within
// nodes and between their leaders; algorithms for a power of two of ranks first combine surplus
// ranks in pairs.
//
// Algorithms are values in a list, or members of a family with parameters in their names, such as
// knomial-4. A Tuning chooses among them by rules on the number of ranks and the amount of data.
// Decisions are the rules of a library such as Open MPI, with the variables that force an
// algorithm.
package collective

import (
	"fmt"
	"iter"
	"slices"
)

// Operation is a collective operation.
type Operation uint8

// The operations and their results:
const (
	Barrier       Operation = iota // none; no rank continues before all have entered
	Bcast                          // Out of all ranks is the root's Out
	Scatter                        // Out is the rank's block of the root's In, which has a block for each rank
	Gather                         // Out of the root is the In of all ranks, in order
	Allgather                      // Out of all ranks is the In of all ranks, in order
	Alltoall                       // Out of rank r is block r of the In of all ranks, in order
	Reduce                         // Out of the root is the In of all ranks, combined in order
	Allreduce                      // Out of all ranks is the In of all ranks, combined in order
	ReduceScatter                  // Out is the rank's block of the In of all ranks, combined in order
	Scan                           // Out is the In of all ranks up to this one, combined in order
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
	Ranks        int
	Root         int // for operations that have a root
	Bytes        int // size of a block, if there is one for each rank; otherwise of all data
	ElementBytes int // size of an element; data is divided only between elements, and Bytes is a multiple; 0: 1

	Nodes *Nodes // which ranks share a node; nil: unknown, or no ranks do
}

func (j Job) elementBytes() int { return max(j.ElementBytes, 1) }

// Area is a part of a rank's memory. If several receives are posted together, the one that ends
// last in Tmp comes first, so that Tmp need not grow while another is under way.
type Area uint8

// The areas. A rank whose schedule uses an area has memory for it, even if it has no data or result
// there.
const (
	In  Area = iota // input; not modified
	Out             // output
	Tmp             // work space, as large as the schedule uses
)

// Span is a range of bytes in an area.
type Span struct {
	Area   Area
	Offset int
	Bytes  int
}

// NoRank, in place of a rank, says that there is nothing to send or to receive.
const NoRank = -1

// Step is one step of a rank. A step that both sends and receives does so at the same time, so that
// ranks can exchange data. A step that does neither is local. A posted transfer is only started;
// the next Wait step completes all posted transfers.
type Step struct {
	Kind       Kind
	IsPosted   bool
	To, From   int // ranks, or NoRank
	Send, Recv Span
}

// Kind is the kind of a step.
type Kind uint8

// The kinds of steps. Local steps other than Wait read Send and write Recv, which have the same
// length.
const (
	Transfer     Kind = iota
	Wait              // completes all posted transfers
	Copy              // Recv = Send
	CombineLeft       // Recv = Send ∘ Recv
	CombineRight      // Recv = Recv ∘ Send
)

// Algorithm is an algorithm for an operation.
type Algorithm struct {
	Operation        Operation
	Name             string
	NeedsCommutative bool // does not combine data in the order of ranks
	NeedsNodes       bool // needs several nodes, and several ranks in one of them
	NeedsPowerOfTwo  bool // needs a power of two of ranks
	NeedsEvenRanks   bool // needs an even number of ranks, or a single one
	writeSchedule    scheduleWriter
}

// scheduleWriter writes the steps of a rank to a script.
type scheduleWriter func(s *Script, j Job, rank int)

// NewUnknownAlgorithm returns an algorithm without steps. It stands for an algorithm of another
// library with unknown schedule.
func NewUnknownAlgorithm(o Operation, name string) *Algorithm {
	return &Algorithm{Operation: o, Name: name, writeSchedule: func(*Script, Job, int) {}}
}

// Serves reports whether the algorithm can execute a job.
func (a *Algorithm) Serves(j Job) bool {
	return a.servesCount(j.Ranks) && (!a.NeedsNodes || j.Nodes.HasTiers())
}

// servesCount reports whether the algorithm supports a number of ranks, for any placement.
func (a *Algorithm) servesCount(ranks int) bool {
	return (!a.NeedsPowerOfTwo || isPowerOfTwo(ranks)) && (!a.NeedsEvenRanks || ranks%2 == 0 || ranks == 1)
}

// RankRequirement describes the ranks that the algorithm needs, or returns "" if it supports any.
func (a *Algorithm) RankRequirement() string {
	switch {
	case a.NeedsNodes:
		return "three ranks or more, of which some are in one node and some are not"
	case a.NeedsPowerOfTwo:
		return "a power of two of ranks"
	case a.NeedsEvenRanks:
		return "an even number of ranks, or one"
	}
	return ""
}

// String returns the operation and the name, such as "bcast binomial".
func (a *Algorithm) String() string { return a.Operation.String() + " " + a.Name }

// Steps returns the steps of a rank. The algorithm must serve the job.
func (a *Algorithm) Steps(j Job, rank int) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		a.RunSchedule(j, rank, &Script{Performer: yieldPerformer(yield)})
	}
}

// RunSchedule passes the steps of a rank to the performer of a script. The algorithm must support
// the job. RunSchedule panics if the job is invalid or has no such rank.
func (a *Algorithm) RunSchedule(j Job, rank int, s *Script) {
	if rank < 0 || rank >= j.Ranks || j.Root < 0 || j.Root >= j.Ranks || j.Bytes < 0 || j.Bytes%j.elementBytes() != 0 || j.Nodes != nil && len(j.Nodes.nodeOfRank) != j.Ranks {
		panicInvalidJob(j, rank)
	}
	s.isStopped = false
	a.writeSchedule(s, j, rank)
}

// panicInvalidJob is a separate function so that the frame of RunSchedule is small.
//
//go:noinline
func panicInvalidJob(j Job, rank int) {
	panic(fmt.Sprintf("collective: rank %d in %+v", rank, j))
}

// AlgorithmsOf returns the algorithms for an operation, in the order of Algorithms.
func AlgorithmsOf(o Operation) []*Algorithm {
	var of []*Algorithm
	for _, a := range Algorithms {
		if a.Operation == o {
			of = append(of, a)
		}
	}
	return of
}

// AlgorithmNamed returns the algorithm of an operation with a name, or nil. Names are those of
// Algorithms, of libraries' own algorithms, and of families with parameters (NameForms).
func AlgorithmNamed(o Operation, name string) *Algorithm {
	for _, list := range [][]*Algorithm{Algorithms, libraryAlgorithms} {
		if i := slices.IndexFunc(list, func(a *Algorithm) bool { return a.Operation == o && a.Name == name }); i >= 0 {
			return list[i]
		}
	}
	if a, known := algorithmCache.Load(o.String() + " " + name); known {
		return a.(*Algorithm)
	}
	return cachedAlgorithm(o, name)
}

// Algorithms are the algorithms in comparisons of all algorithms, the simplest of each operation
// first. AdditionalAlgorithms returns further ones.
var Algorithms = slices.Concat(barriers, bcasts, scatters, gathers, allgathers, alltoalls, reduces, allreduces, reduceScatters, scans)

// Performer executes steps.
type Performer interface {
	// ExecuteStep executes a step, which it may modify but not keep. It reports whether to
	// continue.
	ExecuteStep(*Step) bool
}

// yieldPerformer is a Performer that yields steps to an iterator.
type yieldPerformer func(Step) bool

func (y yieldPerformer) ExecuteStep(st *Step) bool { return y(*st) }

// Script receives the steps of a rank from an algorithm and passes each to its performer. After the
// performer has stopped, further steps have no effect. A script may be reused, for one rank at a
// time; executing an operation then allocates nothing.
type Script struct {
	Performer Performer
	isStopped bool
	step      Step
}

func (s *Script) passStep() { s.isStopped = s.isStopped || !s.Performer.ExecuteStep(&s.step) }

func (s *Script) send(to int, what Span) {
	s.step = Step{To: to, From: NoRank, Send: what}
	s.passStep()
}

func (s *Script) recv(from int, into Span) {
	s.step = Step{To: NoRank, From: from, Recv: into}
	s.passStep()
}

func (s *Script) exchange(to int, what Span, from int, into Span) {
	s.step = Step{To: to, From: from, Send: what, Recv: into}
	s.passStep()
}

// post adds a posted transfer, which the next Wait completes.
func (s *Script) post(to int, what Span, from int, into Span) {
	s.step = Step{IsPosted: true, To: to, From: from, Send: what, Recv: into}
	s.passStep()
}

func (s *Script) wait() {
	s.step = Step{Kind: Wait, To: NoRank, From: NoRank}
	s.passStep()
}

// addLocalStep adds a local step unless it has no bytes.
func (s *Script) addLocalStep(k Kind, what, into Span) {
	if what.Bytes > 0 {
		s.step = Step{Kind: k, To: NoRank, From: NoRank, Send: what, Recv: into}
		s.passStep()
	}
}

// combine combines the data of a span into another. before says that it comes from earlier ranks.
func (s *Script) combine(what, into Span, before bool) {
	k := CombineRight
	if before {
		k = CombineLeft
	}
	s.addLocalStep(k, what, into)
}

// floorMod returns a modulo n, which is never negative.
func floorMod(a, n int) int { return (a%n + n) % n }

// hasPowerOfTwoRanks reports whether the number of ranks of a job is a power of two.
func hasPowerOfTwoRanks(j Job) bool { return isPowerOfTwo(j.Ranks) }

func isPowerOfTwo(n int) bool { return n&(n-1) == 0 }

// partBegins divides the data of a job into one part per rank, as equal as elements allow. It
// returns a function for the start of part i; part j.Ranks starts at the end of the data.
func (j Job) partBegins() func(i int) int {
	elements := j.Bytes / j.elementBytes()
	each, more := elements/j.Ranks, elements%j.Ranks
	return func(i int) int { return (i*each + min(i, more)) * j.elementBytes() }
}

// blockSpan returns the blocks [from, to) of an area, given the start of each block.
func blockSpan(a Area, begin func(i int) int, from, to int) Span {
	return Span{a, begin(from), begin(to) - begin(from)}
}

// spanOfBlocks returns blockSpan for an area with given block starts.
func spanOfBlocks(a Area, begin func(i int) int) func(from, to int) Span {
	return func(from, to int) Span { return blockSpan(a, begin, from, to) }
}

// block returns block i of an area with equal blocks.
func (j Job) block(a Area, i int) Span { return Span{a, i * j.Bytes, j.Bytes} }

// wholeData returns the data of the job in an area.
func (j Job) wholeData(a Area) Span { return Span{a, 0, j.Bytes} }

// combinedElementBytes is the size of the numbers that are combined, if the data is a multiple of
// it.
const combinedElementBytes = 8

// OtherNames are the names that NCCL and frameworks have for operations.
var OtherNames = map[string]Operation{"broadcast": Bcast, "all_gather": Allgather, "all_to_all": Alltoall, "all_reduce": Allreduce, "reduce_scatter": ReduceScatter}

// OperationNamed returns the operation of a name, and whether there is one.
func OperationNamed(name string) (Operation, bool) {
	if o, ok := OtherNames[name]; ok {
		return o, true
	}
	i := slices.Index(operationNames[:], name)
	return Operation(max(i, 0)), i >= 0
}

// IsReduction reports whether the operation combines elements.
func (o Operation) IsReduction() bool {
	return o == Reduce || o == Allreduce || o == ReduceScatter || o == Scan
}

// HasBlocks reports whether Job.Bytes is the size of a block, of which there is one per rank.
func (o Operation) HasBlocks() bool {
	return o == Scatter || o == Gather || o == Allgather || o == Alltoall || o == ReduceScatter
}

// StandardJob returns the job that measurements and predictions use for a number of ranks and
// bytes. The root is rank 0. Elements have 8 bytes, or one byte if bytes is not a multiple of 8. A
// barrier has no bytes.
func (o Operation) StandardJob(ranks, bytes int, nodes *Nodes) Job {
	j := Job{Ranks: ranks, Bytes: bytes, ElementBytes: 1, Nodes: nodes}
	if o == Barrier {
		j.Bytes = 0
	}
	if o.IsReduction() && j.Bytes%combinedElementBytes == 0 {
		j.ElementBytes = combinedElementBytes
	}
	return j
}
