// Package schedule represents communication schedules: the operations by which each rank sends,
// receives and computes, and their dependencies.
//
// Schedules are read from and written to GOAL files (Hoefler, Siebert and Lumsdaine, Group
// Operation Assembly Language, ICPP 2009). Simulate computes when each rank finishes by the LogGOPS
// model (Hoefler, Schneider and Lumsdaine, LogGOPSim, HPDC 2010), in one of three dialects. A
// schedule is independent of the machine. The simulation has no network beyond the parameters.
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Any stands for any source or any tag.
const Any = math.MaxUint32

// Limits of a schedule. MaxRanks and MaxOps bound what four bytes can number beside some flags.
const (
	MaxRanks = 1 << 28
	MaxOps   = 1 << 28
)

// Limits of an operation: the bytes of a message and the nanoseconds of a Calc whose times are a
// unit.Time.
const (
	maxSize = math.MaxInt64 >> 20
	maxCalc = math.MaxInt64 / 2 / 1000
)

// Kind is what an operation does.
type Kind uint8

// The kinds of operations, in the order in which the reference simulators begin operations that
// become ready together.
const (
	Send Kind = iota
	Recv
	Calc
)

var kindNames = [...]string{"send", "recv", "calc"}

func (k Kind) String() string { return kindNames[k] }

// Op is an operation of a rank.
type Op struct {
	Size uint64 // bytes of a message; nanoseconds of a Calc
	Peer uint32 // rank at the other end; Any: a Recv from any source
	Tag  uint32 // of a message; Any: any tag
	rank uint32
	Kind Kind
	CPU  uint8
	NIC  uint8
}

// String prints the operation as in a GOAL file.
func (o Op) String() string { return string(o.appendText(nil)) }

// Schedule is the operations of all ranks. It is immutable, so simulations may share it. Operations
// are numbered from 0 in the order of ranks and, within a rank, of the file.
type Schedule struct {
	firstOpOfRank  []uint32 // operations of rank r: first[r] up to first[r+1]
	ops            []Op
	lines          []uint32 // of the file, by operation; empty: unknown
	firstDependant []uint32 // the dependants of operation i are deps[after[i]:after[i+1]]
	dependants     []uint32 // twice the number of an operation, plus 1 if it waits for the start only
	cpus           int      // 1 + the largest index that is used
	nics           int
	hasWildcards   bool // an operation is for any source or any tag
	calls          []call
	name           string
}

// CountRanks returns the number of ranks.
func (s *Schedule) CountRanks() int { return len(s.firstOpOfRank) - 1 }

// CountOps returns the number of operations of all ranks.
func (s *Schedule) CountOps() int { return len(s.ops) }

// CPUsPerRank returns the number of CPUsPerRank of each rank: 1 + the largest index that an
// operation uses.
func (s *Schedule) CPUsPerRank() int { return s.cpus }

// NICsPerRank returns the number of network interfaces of each rank: 1 + the largest index that is
// used.
func (s *Schedule) NICsPerRank() int { return s.nics }

// Location returns where an operation of a rank is in the schedule's file.
func (s *Schedule) Location(rank, i int) Location {
	return s.location(s.firstOpOfRank[rank] + uint32(i))
}

// OpsOfRank returns the operations of a rank. They must not be changed.
func (s *Schedule) OpsOfRank(rank int) []Op {
	return s.ops[s.firstOpOfRank[rank]:s.firstOpOfRank[rank+1]]
}

// SynchronousSendCall is the name of a Call of one synchronous send, which ends when its receive
// has begun. A program that runs the schedule sends it synchronously; a simulation takes it for a
// standard send.
const SynchronousSendCall = "Ssend"

// Call is a call of a recorded program whose messages belong together, such as Alltoallv. In a file
// it is a comment above its operations: "// Alltoallv: 14 operations".
type Call struct {
	Name       string
	First, Ops int // index of the first operation in the rank, and number of operations
}

// call is a Call with the number of its first operation among those of all ranks, or of a part.
type call struct {
	name       string
	first, ops uint32
}

// Calls returns the named calls of a rank, in order.
func (s *Schedule) Calls(rank int) []Call {
	from, to := s.firstOpOfRank[rank], s.firstOpOfRank[rank+1]
	at, _ := slices.BinarySearchFunc(s.calls, from, func(c call, op uint32) int { return cmp.Compare(c.first, op) })
	var all []Call
	for _, c := range s.calls[at:] {
		if c.first >= to {
			break
		}
		all = append(all, Call{c.name, int(c.first - from), int(min(c.ops, to-c.first))})
	}
	return all
}

// Dependant is an operation that waits for another operation of its rank.
type Dependant struct {
	Op            int  // index in the operations of the rank
	WaitsForStart bool // it waits for the start (irequires), not for the end
}

// Dependants returns the operations that wait for operation i of a rank, in the order of the file.
// An operation that waits for it twice is there twice.
func (s *Schedule) Dependants(rank, i int) []Dependant {
	op := s.firstOpOfRank[rank] + uint32(i)
	var out []Dependant
	for _, d := range s.dependants[s.firstDependant[op]:s.firstDependant[op+1]] {
		out = append(out, Dependant{int(d>>1 - s.firstOpOfRank[rank]), d&1 != 0})
	}
	return out
}

// describeLocation returns the file and line of an operation, if known, its rank and its text.
func (s *Schedule) describeLocation(op uint32) string { return s.location(op).String() }

// schedulePart is consecutive ranks of a schedule while it is built. Numbers of operations count
// from its first one.
type schedulePart struct {
	firstOpOfRank  []uint32 // as in Schedule, without the end of the last rank
	ops            []Op
	lines          []uint32
	firstDependant []uint32 // without the end of the last operation
	dependants     []uint32
	maxCPU         uint8 // largest index
	maxNIC         uint8
	hasWildcards   bool
	calls          []call

	dependencies []dependencyPair // dependencies of the rank that is being built, in the order of the file
	count        []uint32
}

// dependencyPair is a dependency between operations of a part.
type dependencyPair struct {
	before, after uint32 // after as in Schedule.deps
	line, column  uint32 // its place in the file
}

// beginRank begins the next rank.
func (p *schedulePart) beginRank() { p.firstOpOfRank = append(p.firstOpOfRank, uint32(len(p.ops))) }

// addOp adds an operation to the rank that was begun last.
func (p *schedulePart) addOp(o Op) uint32 {
	if len(p.ops) == cap(p.ops) { // grow by half: double takes more memory than many schedules need
		p.ops = append(make([]Op, 0, 1024+len(p.ops)*3/2), p.ops...)
	}
	p.ops = append(p.ops, o)
	p.maxCPU, p.maxNIC = max(p.maxCPU, o.CPU), max(p.maxNIC, o.NIC)
	p.hasWildcards = p.hasWildcards || o.Tag == Any && o.Kind != Calc || o.Peer == Any && o.Kind == Recv
	return uint32(len(p.ops) - 1)
}

// addDependency makes an operation of the rank wait for another one, or for its start.
func (p *schedulePart) addDependency(after, before uint32, start bool) {
	p.dependencies = append(p.dependencies, dependencyPair{before: before, after: after<<1 | bitOf(start)})
}

func bitOf(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// endRank sorts the dependencies of the rank by the operation that is waited for, stably. It
// returns a dependency that is in a cycle, or nil.
func (p *schedulePart) endRank() *dependencyPair {
	from := p.firstOpOfRank[len(p.firstOpOfRank)-1]
	n := uint32(len(p.ops)) - from
	base := uint32(len(p.dependants))
	p.count = slices.Grow(p.count[:0], int(n)+1)[:n+1]
	clear(p.count)
	backward := false
	for _, d := range p.dependencies {
		p.count[d.before-from+1]++
		backward = backward || d.after>>1 <= d.before
	}
	for i := range n {
		p.firstDependant = append(p.firstDependant, base+p.count[i])
		p.count[i+1] += p.count[i]
	}
	p.dependants = slices.Grow(p.dependants, len(p.dependencies))[:len(p.dependants)+len(p.dependencies)]
	at := p.count
	for _, d := range p.dependencies {
		i := d.before - from
		p.dependants[base+at[i]] = d.after
		at[i]++
	}
	if backward {
		return p.dependencyInCycle(from, n)
	}
	p.dependencies = p.dependencies[:0]
	return nil
}

// dependencyInCycle returns a dependency of the last rank that is in a cycle, or nil.
func (p *schedulePart) dependencyInCycle(from, n uint32) *dependencyPair {
	waits := make([]uint32, n) // for how many operations each waits
	for _, d := range p.dependencies {
		waits[d.after>>1-from]++
	}
	var ready []uint32
	for i, w := range waits {
		if w == 0 {
			ready = append(ready, uint32(i))
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		end := uint32(len(p.dependants))
		if i+1 < n {
			end = p.firstDependant[from+i+1]
		}
		for _, d := range p.dependants[p.firstDependant[from+i]:end] {
			if waits[d>>1-from]--; waits[d>>1-from] == 0 {
				ready = append(ready, d>>1-from)
			}
		}
	}
	// An operation that waits for ever is in a cycle or depends on one: going back leads into the
	// cycle.
	at, seen := uint32(math.MaxUint32), map[uint32]bool{}
	for i, w := range waits {
		if w > 0 {
			at = uint32(i)
			break
		}
	}
	if at == math.MaxUint32 {
		p.dependencies = p.dependencies[:0]
		return nil
	}
	for {
		for i := range p.dependencies {
			if d := &p.dependencies[i]; d.after>>1-from == at && waits[d.before-from] > 0 {
				if seen[at] {
					return d
				}
				seen[at] = true
				at = d.before - from
				break
			}
		}
	}
}

// joinParts makes a schedule of parts, which it empties.
func joinParts(name string, parts []*schedulePart) *Schedule {
	ranks, ops, deps, lines := 0, 0, 0, 0
	for _, p := range parts {
		ranks, ops, deps, lines = ranks+len(p.firstOpOfRank), ops+len(p.ops), deps+len(p.dependants), lines+len(p.lines)
	}
	if len(parts) == 1 {
		p := parts[0]
		for r, from := range p.firstOpOfRank {
			to := uint32(len(p.ops))
			if r+1 < len(p.firstOpOfRank) {
				to = p.firstOpOfRank[r+1]
			}
			for i := from; i < to; i++ {
				p.ops[i].rank = uint32(r)
			}
		}
		return &Schedule{
			firstOpOfRank: append(p.firstOpOfRank, uint32(ops)), ops: p.ops, lines: p.lines, firstDependant: append(p.firstDependant, uint32(deps)), dependants: p.dependants,
			cpus: int(p.maxCPU) + 1, nics: int(p.maxNIC) + 1, hasWildcards: p.hasWildcards, calls: p.calls, name: name,
		}
	}
	s := &Schedule{
		firstOpOfRank: make([]uint32, 0, ranks+1), ops: make([]Op, 0, ops), lines: make([]uint32, 0, lines),
		firstDependant: make([]uint32, 0, ops+1), dependants: make([]uint32, 0, deps), cpus: 1, nics: 1, name: name,
	}
	for i, p := range parts {
		op, dep := uint32(len(s.ops)), uint32(len(s.dependants))
		s.ops = append(s.ops, p.ops...)
		s.lines = append(s.lines, p.lines...)
		for _, c := range p.calls {
			s.calls = append(s.calls, call{c.name, op + c.first, c.ops})
		}
		for r, f := range p.firstOpOfRank {
			to := len(p.ops)
			if r+1 < len(p.firstOpOfRank) {
				to = int(p.firstOpOfRank[r+1])
			}
			mine := s.ops[op+f : int(op)+to]
			for i := range mine {
				mine[i].rank = uint32(len(s.firstOpOfRank))
			}
			s.firstOpOfRank = append(s.firstOpOfRank, op+f)
		}
		for _, a := range p.firstDependant {
			s.firstDependant = append(s.firstDependant, dep+a)
		}
		for _, d := range p.dependants {
			s.dependants = append(s.dependants, d+op<<1)
		}
		s.cpus, s.nics, s.hasWildcards = max(s.cpus, int(p.maxCPU)+1), max(s.nics, int(p.maxNIC)+1), s.hasWildcards || p.hasWildcards
		parts[i] = nil
	}
	s.firstOpOfRank, s.firstDependant = append(s.firstOpOfRank, uint32(len(s.ops))), append(s.firstDependant, uint32(len(s.dependants)))
	return s
}

// Builder builds a schedule rank by rank, for generators and recordings. The zero value has no
// ranks. The methods panic if they are called in the wrong order or with operations that do not
// exist. Errors in the data, such as a peer that is not a rank, are returned by Schedule.
type Builder struct {
	part schedulePart
	err  error
}

// BeginRank begins the next rank; the first one is rank 0.
func (b *Builder) BeginRank() {
	b.endLastRank()
	b.part.beginRank()
}

func (b *Builder) endLastRank() {
	if len(b.part.firstOpOfRank) == 0 {
		return
	}
	if d := b.part.endRank(); d != nil && b.err == nil {
		b.err = fmt.Errorf("rank %d: operation %d waits for itself: its dependencies form a cycle", len(b.part.firstOpOfRank)-1, d.after>>1-b.part.firstOpOfRank[len(b.part.firstOpOfRank)-1])
		b.part.dependencies = b.part.dependencies[:0]
	}
}

// AddOp adds an operation to the rank, and returns its index there.
func (b *Builder) AddOp(o Op) int {
	if len(b.part.firstOpOfRank) == 0 {
		panic("schedule: an operation before the first rank")
	}
	if b.CountOps() == MaxOps {
		b.err = errors.Join(b.err, fmt.Errorf("more than %d operations", MaxOps))
		return 0
	}
	return int(b.part.addOp(o) - b.part.firstOpOfRank[len(b.part.firstOpOfRank)-1])
}

// NameCall names the call of the program to which the next n operations of the rank belong.
func (b *Builder) NameCall(name string, n int) {
	b.part.calls = append(b.part.calls, call{name, uint32(len(b.part.ops)), uint32(n)})
}

// NameLastCall names the call of the program to which the last n operations of the rank belong.
func (b *Builder) NameLastCall(name string, n int) {
	b.part.calls = append(b.part.calls, call{name, uint32(len(b.part.ops) - n), uint32(n)})
}

// CountOps returns the number of operations of all ranks so far.
func (b *Builder) CountOps() int { return len(b.part.ops) }

// AddDependency makes operation after of the rank wait for the end of operation before, or for its
// start.
func (b *Builder) AddDependency(after, before int, start bool) {
	from := int(b.part.firstOpOfRank[len(b.part.firstOpOfRank)-1])
	if n := len(b.part.ops) - from; after < 0 || after >= n || before < 0 || before >= n {
		panic(fmt.Sprintf("schedule: operation %d waits for %d, of %d", after, before, n))
	}
	b.part.addDependency(uint32(from+after), uint32(from+before), start)
}

// Build returns what was built. The builder is empty afterwards.
func (b *Builder) Build() (*Schedule, error) {
	b.endLastRank()
	p, err := b.part, b.err
	*b = Builder{}
	if err != nil {
		return nil, err
	}
	ranks := uint32(len(p.firstOpOfRank))
	if ranks == 0 {
		return nil, errors.New("a schedule without ranks")
	}
	s := joinParts("", []*schedulePart{&p})
	for i, o := range s.ops {
		if o.Kind != Calc && o.Peer >= ranks && !(o.Kind == Recv && o.Peer == Any) {
			return nil, fmt.Errorf("%s: there are %d ranks", s.describeLocation(uint32(i)), ranks)
		}
	}
	return s, nil
}
