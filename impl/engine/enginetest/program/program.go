// Package program generates random message-passing programs and checks what their ranks receive.
// New generates a Program, and Program.Run executes a rank of it and checks its messages.
//
// A program is a list of actions: a message, a cancelled message, a collective operation, a ring of
// send-receives, a new communicator. Each action gives steps to some ranks, and each rank executes
// its steps in the order of the list. There is no cycle of waiting ranks, because all ranks of the
// first unfinished action have reached it. Then nonblocking steps are moved: sends and receives
// earlier, waits later. This makes no cycle either, because an operation precedes its wait in the
// list. So a program ends, however much is buffered.
//
// A move may change the matching of messages. It is kept if each receive with a source still gets
// its own message (fair). Receives from any source are posted where their sends block no rank. The
// oracle checks what they get by MPI's matching rules alone.
package program

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Program is a message-passing program for all ranks of a job.
type Program struct {
	Seed    uint64
	Ranks   int
	Tuning  []collective.Rule // for mpi.Options
	Actions []*action
	comms   []*communicator
}

// Text returns n bytes that differ from the text of any other seed.
func Text(n, seed int) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// communicator is an intracommunicator with one group, or an intercommunicator with two.
type communicator struct {
	id     int
	groups [][]int // as ranks of the job
}

func (t *communicator) inter() bool { return len(t.groups) == 2 }

// has reports whether a rank of the job is in the communicator.
func (t *communicator) has(rank int) bool { return t.side(rank) >= 0 }

func (t *communicator) side(rank int) int {
	return slices.IndexFunc(t.groups, func(g []int) bool { return slices.Contains(g, rank) })
}

// rank returns the rank in the communicator of a rank of the job.
func (t *communicator) rank(rank int) int { return slices.Index(t.groups[t.side(rank)], rank) }

// peers returns the ranks to which a rank of the job can send.
func (t *communicator) peers(rank int) []int { return t.groups[(t.side(rank)+1)%len(t.groups)] }

// action is a part of a program that can be omitted only as a whole.
type action struct {
	id    int
	name  string
	keep  bool // cannot be omitted
	comm  *communicator
	makes []*communicator
	needs []*communicator // in addition to its own communicator
	steps []*step
}

// step is one step of a rank.
type step struct {
	rank  int
	when  int // number of the action at whose position it is executed
	turn  turn
	from  int // range within which it may be moved
	to    int
	late  bool // a wait that may follow the next barrier
	name  string
	sends []*message // in order
	posts []*message
	do    func(x *runner) error

	waits    *message // the message for which the step waits, as receiver or sender
	incoming bool
}

// turn orders the steps at one position of the list.
type turn uint8

const (
	begin turn = iota // does not block
	block
	finish
)

// message is one message of a program.
type message struct {
	id        int
	action    int
	due       int // the action from which on its sender may wait for it
	comm      *communicator
	src, dst  int // ranks of the job
	tag       int
	mode      model.Mode
	units     int
	unit      *layout
	out, in   placement
	anySource bool // the receive is from any source
	anyTag    bool
	again     [2]*persistentOp // persistent requests of sender and receiver, if any
	freed     bool             // the sender frees its request
	how       [2]int
}

// persistentOp is a persistent request of a rank.
type persistentOp struct{ first int } // first is the action that uses it first

// Tags. Random tags are below these.
const (
	tags          = 3
	goTag         = 5  // the receive is posted
	cancelTag     = 6  // the message may be cancelled
	newsTag       = 7  // says whether a message was cancelled
	interTag      = 50 // between the leaders of two groups
	unreceivedTag = 77 // the message is not received
)

func (m *message) bytes() []byte { return Text(m.units*m.unit.size(), m.id) }

func (m *message) String() string {
	return fmt.Sprintf("message %d: %v from %d to %d in communicator %d, tag %d, %d bytes, %v as %v, any source %v, any tag %v",
		m.id, m.mode, m.src, m.dst, m.comm.id, m.tag, m.units*m.unit.size(), m.out, m.in, m.anySource, m.anyTag)
}

func (s *step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d: %s", s.rank, s.name)
	for _, m := range slices.Concat(s.sends, s.posts) {
		fmt.Fprintf(&b, "; %v", m)
	}
	return b.String()
}

// String lists the actions, and the steps of each.
func (p *Program) String() string {
	var b strings.Builder
	for _, i := range p.Actions {
		fmt.Fprintf(&b, "%d %s\n", i.id, i.name)
		for _, s := range i.steps {
			fmt.Fprintf(&b, "  %d.%d %v\n", s.when, s.turn, s)
		}
	}
	return b.String()
}

// of returns the steps of a rank in the order of execution.
func (p *Program) of(rank int) []*step {
	var mine []*step
	for _, i := range p.Actions {
		for _, s := range i.steps {
			if s.rank == rank {
				mine = append(mine, s)
			}
		}
	}
	slices.SortStableFunc(mine, func(a, b *step) int {
		return cmp.Or(a.when-b.when, int(a.turn)-int(b.turn))
	})
	return mine
}

// Without returns the program without an action, or nil if others depend on it.
func (p *Program) Without(i int) *Program {
	x := p.Actions[i]
	for _, y := range p.Actions[i+1:] {
		if x.keep || slices.ContainsFunc(x.makes, func(t *communicator) bool { return t == y.comm || slices.Contains(y.needs, t) }) {
			return nil
		}
	}
	if x.keep {
		return nil
	}
	q := *p
	q.Actions = slices.Delete(slices.Clone(p.Actions), i, i+1)
	return &q
}

// fair reports whether each receive with a source gets its own message. For a communicator and a
// pair of ranks, messages are matched in the order of sending and receives in the order of posting,
// subject to tags. Messages of a pair arrive in order, so the time of arrival does not matter.
func (p *Program) fair() bool {
	type way struct {
		comm     *communicator
		src, dst int
	}
	sent := map[way][]*message{}
	for r := range p.Ranks {
		for _, s := range p.of(r) {
			for _, m := range s.sends {
				if !m.anySource {
					w := way{m.comm, m.src, m.dst}
					sent[w] = append(sent[w], m)
				}
			}
		}
	}
	for r := range p.Ranks {
		for _, s := range p.of(r) {
			for _, m := range s.posts {
				if m.anySource {
					continue
				}
				w := way{m.comm, m.src, m.dst}
				i := slices.IndexFunc(sent[w], func(x *message) bool { return m.anyTag || x.tag == m.tag })
				if i < 0 || sent[w][i] != m {
					return false
				}
				sent[w] = slices.Delete(sent[w], i, i+1)
			}
		}
	}
	return true
}
