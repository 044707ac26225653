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
// its own message (receivesOwnMessages). Receives from any source are posted where their sends
// block no rank. The oracle checks what they get by MPI's matching rules alone.
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

// Payload returns n bytes that depend on the seed: the contents of a message or of a buffer.
func Payload(n, seed int) []byte {
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

func (t *communicator) isInter() bool { return len(t.groups) == 2 }

// contains reports whether a rank of the job is in the communicator.
func (t *communicator) contains(rank int) bool { return t.groupIndexOf(rank) >= 0 }

func (t *communicator) groupIndexOf(rank int) int {
	return slices.IndexFunc(t.groups, func(g []int) bool { return slices.Contains(g, rank) })
}

// rankOf returns the rank in the communicator of a rank of the job.
func (t *communicator) rankOf(rank int) int {
	return slices.Index(t.groups[t.groupIndexOf(rank)], rank)
}

// peersOf returns the ranks to which a rank of the job can send.
func (t *communicator) peersOf(rank int) []int {
	return t.groups[(t.groupIndexOf(rank)+1)%len(t.groups)]
}

// action is a part of a program that can be omitted only as a whole.
type action struct {
	id            int
	name          string
	isRequired    bool // cannot be omitted
	comm          *communicator
	createdComms  []*communicator
	requiredComms []*communicator // in addition to its own communicator
	steps         []*step
}

// step is one step of a rank.
type step struct {
	rank             int
	position         int // number of the action at whose position it is executed
	turn             turn
	earliest         int // range within which it may be moved
	latest           int
	canFollowBarrier bool // a wait that may follow the next barrier
	name             string
	sends            []*message // in order
	receives         []*message
	run              func(x *runner) error

	waitsFor        *message // the message for which the step waits, as receiver or sender
	waitsForReceive bool
}

// turn orders the steps at one position of the list.
type turn uint8

const (
	startTurn turn = iota // does not block
	blockingTurn
	waitTurn
)

// message is one message of a program.
type message struct {
	id                              int
	action                          int
	senderWaitsFrom                 int // the action from which on its sender may wait for it
	comm                            *communicator
	src, dst                        int // ranks of the job
	tag                             int
	mode                            model.Mode
	unitCount                       int
	unit                            *layout
	sendPlacement, receivePlacement placement
	anySource                       bool // the receive is from any source
	anyTag                          bool
	persistent                      [2]*persistentRequestID // persistent requests of sender and receiver, if any
	isRequestFreed                  bool                    // the sender frees its request
	variants                        [2]int
}

// persistentRequestID is a persistent request of a rank.
type persistentRequestID struct{ first int } // first is the action that uses it first

// Tags. Random tags are below these.
const (
	randomTagCount   = 3
	readyTag         = 5  // the receive is posted
	cancelTag        = 6  // the message may be cancelled
	cancelOutcomeTag = 7  // says whether a message was cancelled
	interTag         = 50 // between the leaders of two groups
	unreceivedTag    = 77 // the message is not received
)

func (m *message) payload() []byte { return Payload(m.unitCount*m.unit.size(), m.id) }

func (m *message) String() string {
	return fmt.Sprintf("message %d: %v from %d to %d in communicator %d, tag %d, %d bytes, %v as %v, any source %v, any tag %v",
		m.id, m.mode, m.src, m.dst, m.comm.id, m.tag, m.unitCount*m.unit.size(), m.sendPlacement, m.receivePlacement, m.anySource, m.anyTag)
}

func (s *step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d: %s", s.rank, s.name)
	for _, m := range slices.Concat(s.sends, s.receives) {
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
			fmt.Fprintf(&b, "  %d.%d %v\n", s.position, s.turn, s)
		}
	}
	return b.String()
}

// stepsOf returns the steps of a rank in the order of execution.
func (p *Program) stepsOf(rank int) []*step {
	var mine []*step
	for _, i := range p.Actions {
		for _, s := range i.steps {
			if s.rank == rank {
				mine = append(mine, s)
			}
		}
	}
	slices.SortStableFunc(mine, func(a, b *step) int {
		return cmp.Or(a.position-b.position, int(a.turn)-int(b.turn))
	})
	return mine
}

// Without returns the program without an action, or nil if others depend on it.
func (p *Program) Without(i int) *Program {
	x := p.Actions[i]
	for _, y := range p.Actions[i+1:] {
		if x.isRequired || slices.ContainsFunc(x.createdComms, func(t *communicator) bool { return t == y.comm || slices.Contains(y.requiredComms, t) }) {
			return nil
		}
	}
	if x.isRequired {
		return nil
	}
	q := *p
	q.Actions = slices.Delete(slices.Clone(p.Actions), i, i+1)
	return &q
}

// receivesOwnMessages reports whether each receive with a source gets its own message. For a
// communicator and a pair of ranks, messages are matched in the order of sending and receives in
// the order of posting, subject to tags. Messages of a pair arrive in order, so the time of arrival
// does not matter.
func (p *Program) receivesOwnMessages() bool {
	type way struct {
		comm     *communicator
		src, dst int
	}
	sent := map[way][]*message{}
	for r := range p.Ranks {
		for _, s := range p.stepsOf(r) {
			for _, m := range s.sends {
				if !m.anySource {
					w := way{m.comm, m.src, m.dst}
					sent[w] = append(sent[w], m)
				}
			}
		}
	}
	for r := range p.Ranks {
		for _, s := range p.stepsOf(r) {
			for _, m := range s.receives {
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
