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
func (o Op) String() string { return string(o.append(nil)) }

// Schedule is the operations of all ranks. It is immutable, so simulations may share it. Operations
// are numbered from 0 in the order of ranks and, within a rank, of the file.
type Schedule struct {
	first []uint32 // operations of rank r: first[r] up to first[r+1]
	ops   []Op
	lines []uint32 // of the file, by operation; empty: unknown
	after []uint32 // the dependants of operation i are deps[after[i]:after[i+1]]
	deps  []uint32 // twice the number of an operation, plus 1 if it waits for the start only
	cpus  int      // 1 + the largest index that is used
	nics  int
	wild  bool // an operation is for any source or any tag
	calls []call
	name  string
}

// Ranks returns the number of ranks.
func (s *Schedule) Ranks() int { return len(s.first) - 1 }

// Ops returns the number of operations of all ranks.
func (s *Schedule) Ops() int { return len(s.ops) }

// CPUs returns the number of CPUs of each rank: 1 + the largest index that an operation uses.
func (s *Schedule) CPUs() int { return s.cpus }

// NICs returns the number of network interfaces of each rank: 1 + the largest index that is used.
func (s *Schedule) NICs() int { return s.nics }

// Location returns where an operation of a rank is in the schedule's file.
func (s *Schedule) Location(rank, i int) Location { return s.location(s.first[rank] + uint32(i)) }

// Of returns the operations of a rank. They must not be changed.
func (s *Schedule) Of(rank int) []Op { return s.ops[s.first[rank]:s.first[rank+1]] }

// Ssend is the name of a Call of one synchronous send, which ends when its receive has begun. A
// program that runs the schedule sends it synchronously; a simulation takes it for a standard send.
const Ssend = "Ssend"

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
	from, to := s.first[rank], s.first[rank+1]
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
	Op    int  // index in the operations of the rank
	Start bool // it waits for the start (irequires), not for the end
}

// Dependants returns the operations that wait for operation i of a rank, in the order of the file.
// An operation that waits for it twice is there twice.
func (s *Schedule) Dependants(rank, i int) []Dependant {
	op := s.first[rank] + uint32(i)
	var out []Dependant
	for _, d := range s.deps[s.after[op]:s.after[op+1]] {
		out = append(out, Dependant{int(d>>1 - s.first[rank]), d&1 != 0})
	}
	return out
}

// where returns the file and line of an operation, if known, its rank and its text.
func (s *Schedule) where(op uint32) string { return s.location(op).String() }

// part is consecutive ranks of a schedule while it is built. Numbers of operations count from its
// first one.
type part struct {
	first []uint32 // as in Schedule, without the end of the last rank
	ops   []Op
	lines []uint32
	after []uint32 // without the end of the last operation
	deps  []uint32
	cpus  uint8 // largest index
	nics  uint8
	wild  bool
	calls []call

	pairs []pair // dependencies of the rank that is being built, in the order of the file
	count []uint32
}

// pair is a dependency between operations of a part.
type pair struct {
	before, after uint32 // after as in Schedule.deps
	line, column  uint32 // its place in the file
}

// begin begins the next rank.
func (p *part) begin() { p.first = append(p.first, uint32(len(p.ops))) }

// add adds an operation to the rank that was begun last.
func (p *part) add(o Op) uint32 {
	if len(p.ops) == cap(p.ops) { // grow by half: double takes more memory than many schedules need
		p.ops = append(make([]Op, 0, 1024+len(p.ops)*3/2), p.ops...)
	}
	p.ops = append(p.ops, o)
	p.cpus, p.nics = max(p.cpus, o.CPU), max(p.nics, o.NIC)
	p.wild = p.wild || o.Tag == Any && o.Kind != Calc || o.Peer == Any && o.Kind == Recv
	return uint32(len(p.ops) - 1)
}

// depend makes an operation of the rank wait for another one, or for its start.
func (p *part) depend(after, before uint32, start bool) {
	p.pairs = append(p.pairs, pair{before: before, after: after<<1 | bit(start)})
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// end sorts the dependencies of the rank by the operation that is waited for, stably. It returns a
// dependency that is in a cycle, or nil.
func (p *part) end() *pair {
	from := p.first[len(p.first)-1]
	n := uint32(len(p.ops)) - from
	base := uint32(len(p.deps))
	p.count = slices.Grow(p.count[:0], int(n)+1)[:n+1]
	clear(p.count)
	backward := false
	for _, d := range p.pairs {
		p.count[d.before-from+1]++
		backward = backward || d.after>>1 <= d.before
	}
	for i := range n {
		p.after = append(p.after, base+p.count[i])
		p.count[i+1] += p.count[i]
	}
	p.deps = slices.Grow(p.deps, len(p.pairs))[:len(p.deps)+len(p.pairs)]
	at := p.count
	for _, d := range p.pairs {
		i := d.before - from
		p.deps[base+at[i]] = d.after
		at[i]++
	}
	if backward {
		return p.cycle(from, n)
	}
	p.pairs = p.pairs[:0]
	return nil
}

// cycle returns a dependency of the last rank that is in a cycle, or nil.
func (p *part) cycle(from, n uint32) *pair {
	waits := make([]uint32, n) // for how many operations each waits
	for _, d := range p.pairs {
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
		end := uint32(len(p.deps))
		if i+1 < n {
			end = p.after[from+i+1]
		}
		for _, d := range p.deps[p.after[from+i]:end] {
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
		p.pairs = p.pairs[:0]
		return nil
	}
	for {
		for i := range p.pairs {
			if d := &p.pairs[i]; d.after>>1-from == at && waits[d.before-from] > 0 {
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
func joinParts(name string, parts []*part) *Schedule {
	ranks, ops, deps, lines := 0, 0, 0, 0
	for _, p := range parts {
		ranks, ops, deps, lines = ranks+len(p.first), ops+len(p.ops), deps+len(p.deps), lines+len(p.lines)
	}
	if len(parts) == 1 {
		p := parts[0]
		for r, from := range p.first {
			to := uint32(len(p.ops))
			if r+1 < len(p.first) {
				to = p.first[r+1]
			}
			for i := from; i < to; i++ {
				p.ops[i].rank = uint32(r)
			}
		}
		return &Schedule{
			first: append(p.first, uint32(ops)), ops: p.ops, lines: p.lines, after: append(p.after, uint32(deps)), deps: p.deps,
			cpus: int(p.cpus) + 1, nics: int(p.nics) + 1, wild: p.wild, calls: p.calls, name: name,
		}
	}
	s := &Schedule{
		first: make([]uint32, 0, ranks+1), ops: make([]Op, 0, ops), lines: make([]uint32, 0, lines),
		after: make([]uint32, 0, ops+1), deps: make([]uint32, 0, deps), cpus: 1, nics: 1, name: name,
	}
	for i, p := range parts {
		op, dep := uint32(len(s.ops)), uint32(len(s.deps))
		s.ops = append(s.ops, p.ops...)
		s.lines = append(s.lines, p.lines...)
		for _, c := range p.calls {
			s.calls = append(s.calls, call{c.name, op + c.first, c.ops})
		}
		for r, f := range p.first {
			to := len(p.ops)
			if r+1 < len(p.first) {
				to = int(p.first[r+1])
			}
			mine := s.ops[op+f : int(op)+to]
			for i := range mine {
				mine[i].rank = uint32(len(s.first))
			}
			s.first = append(s.first, op+f)
		}
		for _, a := range p.after {
			s.after = append(s.after, dep+a)
		}
		for _, d := range p.deps {
			s.deps = append(s.deps, d+op<<1)
		}
		s.cpus, s.nics, s.wild = max(s.cpus, int(p.cpus)+1), max(s.nics, int(p.nics)+1), s.wild || p.wild
		parts[i] = nil
	}
	s.first, s.after = append(s.first, uint32(len(s.ops))), append(s.after, uint32(len(s.deps)))
	return s
}

// Builder builds a schedule rank by rank, for generators and recordings. The zero value has no
// ranks. The methods panic if they are called in the wrong order or with operations that do not
// exist. Errors in the data, such as a peer that is not a rank, are returned by Schedule.
type Builder struct {
	part part
	err  error
}

// Rank begins the next rank; the first one is rank 0.
func (b *Builder) Rank() {
	b.close()
	b.part.begin()
}

func (b *Builder) close() {
	if len(b.part.first) == 0 {
		return
	}
	if d := b.part.end(); d != nil && b.err == nil {
		b.err = fmt.Errorf("rank %d: operation %d waits for itself: its dependencies form a cycle", len(b.part.first)-1, d.after>>1-b.part.first[len(b.part.first)-1])
		b.part.pairs = b.part.pairs[:0]
	}
}

// Add adds an operation to the rank, and returns its index there.
func (b *Builder) Add(o Op) int {
	if len(b.part.first) == 0 {
		panic("schedule: an operation before the first rank")
	}
	if b.Ops() == MaxOps {
		b.err = errors.Join(b.err, fmt.Errorf("more than %d operations", MaxOps))
		return 0
	}
	return int(b.part.add(o) - b.part.first[len(b.part.first)-1])
}

// Call names the call of the program to which the next n operations of the rank belong.
func (b *Builder) Call(name string, n int) {
	b.part.calls = append(b.part.calls, call{name, uint32(len(b.part.ops)), uint32(n)})
}

// Ops returns the number of operations of all ranks so far.
func (b *Builder) Ops() int { return len(b.part.ops) }

// Depend makes operation after of the rank wait for the end of operation before, or for its start.
func (b *Builder) Depend(after, before int, start bool) {
	from := int(b.part.first[len(b.part.first)-1])
	if n := len(b.part.ops) - from; after < 0 || after >= n || before < 0 || before >= n {
		panic(fmt.Sprintf("schedule: operation %d waits for %d, of %d", after, before, n))
	}
	b.part.depend(uint32(from+after), uint32(from+before), start)
}

// Schedule returns what was built. The builder is empty afterwards.
func (b *Builder) Schedule() (*Schedule, error) {
	b.close()
	p, err := b.part, b.err
	*b = Builder{}
	if err != nil {
		return nil, err
	}
	ranks := uint32(len(p.first))
	if ranks == 0 {
		return nil, errors.New("a schedule without ranks")
	}
	s := joinParts("", []*part{&p})
	for i, o := range s.ops {
		if o.Kind != Calc && o.Peer >= ranks && !(o.Kind == Recv && o.Peer == Any) {
			return nil, fmt.Errorf("%s: there are %d ranks", s.where(uint32(i)), ranks)
		}
	}
	return s, nil
}
