// Package program makes random message-passing programs and judges what their ranks receive.
//
// A program is a list of items: a message, a message that may be cancelled, a collective operation,
// a ring of send-receives, a new communicator. Each item gives some ranks steps, and each rank runs
// its own steps in the order of the list, so there is no cycle of waiting ranks: the first item
// that is not done has all its ranks at it. Then what does not block is moved: sends and receives
// begin earlier, and waits come later. Neither can make a cycle, because what is waited for stands
// in the list before the wait. So a program ends whatever is buffered.
//
// A move may change which message meets which receive. It is kept if each receive with a source
// still gets its own message (fair). Other receives may have any source: they are posted where
// those sends block no rank. The oracle judges what they get by MPI's matching rules alone.
package program

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Program is what all ranks of a job do.
type Program struct {
	Seed   uint64
	Ranks  int
	Tuning []collective.Rule // for mpi.Options
	Items  []*item
	teams  []*team
}

// Text returns n bytes that differ from those of any other seed.
func Text(n, seed int) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// team is a communicator: of a group, or between two.
type team struct {
	id     int
	groups [][]int // ranks of the job
}

func (t *team) inter() bool { return len(t.groups) == 2 }

// has reports whether a rank of the job is in the communicator.
func (t *team) has(rank int) bool { return t.side(rank) >= 0 }

func (t *team) side(rank int) int {
	return slices.IndexFunc(t.groups, func(g []int) bool { return slices.Contains(g, rank) })
}

// rank returns what a rank of the job is called in the communicator.
func (t *team) rank(rank int) int { return slices.Index(t.groups[t.side(rank)], rank) }

// peers returns the ranks that a rank of the job can send to.
func (t *team) peers(rank int) []int { return t.groups[(t.side(rank)+1)%len(t.groups)] }

// item is a part of a program that can only be left out as a whole.
type item struct {
	id    int
	name  string
	keep  bool // cannot be left out
	team  *team
	makes []*team
	needs []*team // in addition to its own
	steps []*step
}

// step is what a rank does at some point.
type step struct {
	rank  int
	when  int // in the list: of which item's number
	turn  turn
	from  int // of what can be moved: not before, and not behind
	to    int
	late  bool // of a wait: may come behind the next barrier
	name  string
	sends []*message // in order
	posts []*message
	do    func(x *performer) error
}

// turn is the order of steps of one place in the list.
type turn uint8

const (
	begin turn = iota // of what does not block
	block
	finish
)

// message is one message of a program.
type message struct {
	id        int
	item      int
	due       int // from what item on its sender may wait for it
	team      *team
	src, dst  int // ranks of the job
	tag       int
	mode      model.Mode
	units     int
	unit      *layout
	out, in   lay
	anySource bool // of its receive
	anyTag    bool
	again     [2]*persistentOp // the sender's request, and the receiver's, if they are started again and again
	freed     bool             // the sender forgets its request
	how       [2]int
}

// persistentOp is a persistent request of a rank.
type persistentOp struct{ first int } // the item that it is first of

// The tags: those below are drawn.
const (
	tags          = 3
	goTag         = 5  // of messages that tell of a receive
	cancelTag     = 6  // of messages that may be cancelled
	newsTag       = 7  // of messages that tell what became of them
	interTag      = 50 // of what leaders exchange
	unreceivedTag = 77 // of messages that are not received
)

func (m *message) bytes() []byte { return Text(m.units*m.unit.size(), m.id) }

func (m *message) String() string {
	return fmt.Sprintf("message %d: %v from %d to %d in communicator %d, tag %d, %d bytes, %v as %v, any source %v, any tag %v",
		m.id, m.mode, m.src, m.dst, m.team.id, m.tag, m.units*m.unit.size(), m.out, m.in, m.anySource, m.anyTag)
}

func (s *step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d: %s", s.rank, s.name)
	for _, m := range slices.Concat(s.sends, s.posts) {
		fmt.Fprintf(&b, "; %v", m)
	}
	return b.String()
}

// String lists the items, and the steps of each.
func (p *Program) String() string {
	var b strings.Builder
	for _, i := range p.Items {
		fmt.Fprintf(&b, "%d %s\n", i.id, i.name)
		for _, s := range i.steps {
			fmt.Fprintf(&b, "  %d.%d %v\n", s.when, s.turn, s)
		}
	}
	return b.String()
}

// of returns the steps of a rank in the order in which it does them.
func (p *Program) of(rank int) []*step {
	var mine []*step
	for _, i := range p.Items {
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

// without returns the program without an item, or nil if others need it.
func (p *Program) Without(i int) *Program {
	x := p.Items[i]
	for _, y := range p.Items[i+1:] {
		if x.keep || slices.ContainsFunc(x.makes, func(t *team) bool { return t == y.team || slices.Contains(y.needs, t) }) {
			return nil
		}
	}
	if x.keep {
		return nil
	}
	q := *p
	q.Items = slices.Delete(slices.Clone(p.Items), i, i+1)
	return &q
}

// fair says whether each receive with a source gets its own message. Of a communicator and a pair
// of ranks, messages are taken in the order in which they were sent and receives in the order in
// which they were posted, as far as tags allow: as all messages of a pair come in order, it does
// not matter when they come.
func (p *Program) fair() bool {
	type way struct {
		team     *team
		src, dst int
	}
	sent := map[way][]*message{}
	for r := range p.Ranks {
		for _, s := range p.of(r) {
			for _, m := range s.sends {
				if !m.anySource {
					w := way{m.team, m.src, m.dst}
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
				w := way{m.team, m.src, m.dst}
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
