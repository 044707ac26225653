// Package workload represents what the ranks of a parallel job do, one level above messages:
// computing, messages between two ranks, and collective operations of groups of ranks.
//
// Traces of training steps and generators make workloads. A rank executes a program, which ranks
// that do the same share; each has its own groups and peers. The operations of a program wait for
// those that they depend on, and operations of one stream run one after the other. Schedule expands
// a workload into messages, which the package schedule simulates.
package workload

import (
	"cmp"
	"fmt"
	"math"

	"github.com/loggp/loggp/model/collective"
)

// Kind is what an operation does.
type Kind uint8

// The kinds of operations.
const (
	Compute Kind = iota
	Send
	Recv
	Collective
)

var kindNames = [...]string{"compute", "send", "recv", "collective"}

func (k Kind) String() string { return kindNames[k] }

// Limits of a workload.
const (
	MaxRanks   = 1 << 20
	MaxOps     = 1 << 27              // of a program
	MaxBytes   = math.MaxInt64 >> 20  // of a message or a collective operation
	MaxCompute = math.MaxInt64 / 2000 // nanoseconds of an operation
	MaxTag     = 1<<31 - 1
	MaxStreams = 256
)

// NoStream is the stream of operations that no stream orders.
const NoStream = 0

// Op is an operation of a program.
type Op struct {
	Kind      Kind
	Operation collective.Operation // of a Collective
	Stream    uint8                // NoStream, or one of 1 to MaxStreams - 1
	Size      uint64               // nanoseconds of a Compute; bytes of a message; the input of each rank of a Collective, in bytes
	Peer      uint32               // index of the peer of a message, or of the group of a Collective, in the Rank
	Tag       uint32               // of a message, up to MaxTag
	Root      uint32               // of a Collective: index in the group
	Name      uint32               // index in Program.Names
}

// Program is what a rank does. Operations are numbered from 0; an operation depends on operations
// of lower numbers only.
type Program struct {
	Source          string   // the file that it was read from, or what made it
	Names           []string // of operations
	IDName          string   // what the ids of operations number; "": nodes
	ops             []Op
	ids             []uint64 // of the nodes of a trace, by operation; empty: they have none
	firstDependency []uint32 // the dependencies of operation i are before[first[i]:first[i+1]]
	dependencies    []uint32

	bubbles map[int32]bool // operations whose waiting is the bubble of a pipeline
}

// NewProgram returns a program without operations.
func NewProgram(source string) *Program {
	return &Program{Source: source, firstDependency: []uint32{0}}
}

// AddOp adds an operation that waits for others, and returns its number. It panics if it waits for
// an operation that was not added before.
func (p *Program) AddOp(o Op, before ...uint32) uint32 {
	n := uint32(len(p.ops))
	for _, b := range before {
		if b >= n {
			panic(fmt.Sprintf("workload: operation %d of %s waits for %d", n, p.Source, b))
		}
	}
	p.ops = append(p.ops, o)
	p.dependencies = append(p.dependencies, before...)
	p.firstDependency = append(p.firstDependency, uint32(len(p.dependencies)))
	return n
}

// SetID notes the node of a trace that the last operation was.
func (p *Program) SetID(id uint64) { p.ids = append(p.ids, id) }

// MarkBubble notes that an operation waits while a pipeline fills or drains.
func (p *Program) MarkBubble(op uint32) {
	if p.bubbles == nil {
		p.bubbles = map[int32]bool{}
	}
	p.bubbles[int32(op)] = true
}

// IsBubble reports whether an operation waits while a pipeline fills or drains, and HasBubbles
// whether any does.
func (p *Program) IsBubble(op int32) bool { return p.bubbles[op] }
func (p *Program) HasBubbles() bool       { return len(p.bubbles) > 0 }

// Ops returns the operations. They must not be changed.
func (p *Program) Ops() []Op { return p.ops }

// DependenciesOf returns the operations that operation i waits for, beside the one before in its
// stream.
func (p *Program) DependenciesOf(i int) []uint32 {
	return p.dependencies[p.firstDependency[i]:p.firstDependency[i+1]]
}

// Describe names an operation for messages: the file, and the node or the number of the operation.
func (p *Program) Describe(i int) string {
	text := fmt.Sprintf("%s: operation %d", p.Source, i)
	if i < len(p.ids) {
		text = fmt.Sprintf("%s: %s %d", p.Source, cmp.Or(p.IDName, "node"), p.ids[i])
	}
	if name := p.NameOf(i); name != "" {
		text += fmt.Sprintf(" (%s)", name)
	}
	return text
}

// NameOf returns the name of an operation, or "".
func (p *Program) NameOf(i int) string {
	if name := int(p.ops[i].Name); name < len(p.Names) {
		return p.Names[name]
	}
	return ""
}

// Group is a group of ranks that execute collective operations together, in the order of the
// group.
type Group struct {
	Name  string
	Ranks []int
}

// Rank is a rank of the job.
type Rank struct {
	Program *Program
	Groups  []int // what the program's groups are, as indices of Workload.Groups
	Peers   []int // what the program's peers are: ranks
}

// Workload is the ranks of a job and their groups.
type Workload struct {
	Ranks  []Rank
	Groups []Group
}

// CountOps returns the number of operations of all ranks.
func (w *Workload) CountOps() int {
	n := 0
	for _, r := range w.Ranks {
		n += len(r.Program.ops)
	}
	return n
}

// Job returns the job that a collective operation is for a group of ranks.
func (o Op) Job(ranks int) collective.Job {
	bytes := int(o.Size)
	if o.Operation == collective.Alltoall || o.Operation == collective.ReduceScatter || o.Operation == collective.Scatter {
		bytes = (bytes + ranks - 1) / ranks // the input has a block for each rank
	}
	job := o.Operation.StandardJob(ranks, bytes, nil)
	job.Root = int(o.Root)
	return job
}
