package collective

import (
	"iter"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Machine is what messages and local work take.
type Machine struct {
	model.Parameters                   // of messages between nodes
	Near             *model.Parameters // of those within a node; nil: the same
	Copy             unit.PerByte      // of what is copied
	Fold             unit.PerByte      // of what is combined
}

// message returns what a message takes from one rank to another.
func (m *Machine) message(nodes *Nodes, from, to int) *model.Parameters {
	if m.Near != nil && nodes.Together(from, to) {
		return m.Near
	}
	return &m.Parameters
}

// Cost is when the ranks of a job are done. All begin at time 0.
type Cost struct {
	Last     unit.Time // the last one
	First    unit.Time // the first one
	Messages int
	Bytes    int // that were sent
}

// Cost adds up what an algorithm takes by LogGP, with the schedule of each rank:
//
//   - to send k bytes keeps the processor busy for o_s(k). It then waits until the interface is free, which a message takes for g + (k−1) G;
//   - the last byte arrives L + (k−1) G after the first has left. The other interface takes messages in as fast as this one sends them, one after
//     another;
//   - to take it in keeps the processor busy for o_r(k). A rank that waits for a message takes in all that comes before it, in the order in which it comes;
//     what was taken in before is there when it is wanted.
//
// Where the processor itself sends the bytes o_s(k) has what is G per byte, and no interface is taken for longer than g (model.Parameters.Flow).
//
// A message is taken to be copied to where it belongs at once, and the network to have room. Alexandrov et al. 1995. Of two tiers each message has the
// parameters of its own, and ranks have one interface out and one in for both.
func (m Machine) Cost(a *Algorithm, j Job) Cost {
	x := &account{Machine: m, nodes: j.Nodes, ranks: make([]clock, j.Ranks)}
	for r := range x.ranks {
		next, stop := iter.Pull(a.Steps(j, r))
		defer stop()
		x.ranks[r] = clock{rank: r, next: next}
		x.advance(&x.ranks[r])
	}
	for len(x.queue) > 0 {
		if e := x.pop(); e.letter.by != nil {
			x.enter(e)
		} else {
			x.act(e.rank, e.at)
		}
	}
	c := Cost{First: x.ranks[0].now, Messages: x.messages, Bytes: x.bytes}
	for i := range x.ranks {
		c.First, c.Last = min(c.First, x.ranks[i].now), max(c.Last, x.ranks[i].now)
	}
	return c
}

// account is a job under way. What happens next is in a heap by time, so that messages enter the network, and the interfaces of ranks, in its order. What
// happens at one time does so in the order in which it was foreseen.
type account struct {
	Machine
	nodes           *Nodes
	ranks           []clock
	queue           []event
	foreseen        int
	messages, bytes int
}

// clock is a rank.
type clock struct {
	rank    int
	next    func() (Step, bool)
	step    Step
	now     unit.Time
	out, in unit.Time // until when its interfaces are taken
	sent    bool      // what the step has to send
	mail    []letter  // that has come, or will, in that order
	taken   []int     // from whom messages were taken in that nobody has wanted yet
	waits   bool      // for a message, and none has come
}

// letter is a message on its way.
type letter struct {
	from int
	size int
	by   *model.Parameters
	at   unit.Time // when its last byte is there
}

// event is a rank that can act, or a message that comes to the interface of one.
type event struct {
	at     unit.Time
	order  int
	rank   *clock
	letter letter // of a rank that acts: none
}

// advance takes the next step of a rank, and goes through those that are local.
func (x *account) advance(c *clock) {
	for {
		st, ok := c.next()
		if !ok {
			return
		}
		switch st.Kind {
		case Transfer:
			c.step, c.sent = st, st.To == None
			x.schedule(c)
			return
		case Copy:
			c.now += x.Copy.Time(st.Send.Len)
		default:
			c.now += x.Fold.Time(st.Send.Len)
		}
	}
}

// schedule lets a rank act, if it can, when a message of its leaves, or one is there for it.
func (x *account) schedule(c *clock) {
	at := c.now
	switch {
	case !c.sent:
		by := x.message(x.nodes, c.rank, c.step.To)
		at = max(c.now+by.SendO.Time(c.step.Send.Len), c.out)
	case slices.Contains(c.taken, c.step.From):
	case len(c.mail) > 0:
		at = max(c.now, c.mail[0].at)
	default:
		c.waits = true
		return
	}
	c.waits = false
	x.push(event{at: at, rank: c})
}

// act lets a rank do what it was scheduled for.
func (x *account) act(c *clock, at unit.Time) {
	c.now = at
	if c.sent {
		x.receive(c)
		return
	}
	x.send(c)
	c.sent = true
	if c.step.From == None {
		x.advance(c)
	} else {
		x.schedule(c)
	}
}

// receive lets a rank go on that has the message it wants, or take in the next one.
func (x *account) receive(c *clock) {
	if i := slices.Index(c.taken, c.step.From); i >= 0 {
		c.taken = slices.Delete(c.taken, i, i+1)
		x.advance(c)
		return
	}
	l := c.mail[0]
	c.mail = c.mail[1:]
	c.now += l.by.RecvO.Time(l.size)
	if l.from == c.step.From {
		x.advance(c)
		return
	}
	c.taken = append(c.taken, l.from)
	x.schedule(c)
}

// send lets the message of a rank's step leave.
func (x *account) send(c *clock) {
	l := letter{from: c.rank, size: c.step.Send.Len, by: x.message(x.nodes, c.rank, c.step.To)}
	c.out = c.now + l.holds()
	x.push(event{at: c.now + l.by.L, rank: &x.ranks[c.step.To], letter: l})
	x.messages++
	x.bytes += l.size
}

// holds returns how long a message takes an interface.
func (l *letter) holds() unit.Time { return l.by.Gap + l.by.Flow(l.size) }

// enter lets a message take the interface into its rank.
func (x *account) enter(e event) {
	l, c := e.letter, e.rank
	begin := max(e.at, c.in)
	c.in = begin + l.holds()
	l.at = begin + l.by.Flow(l.size)
	c.mail = append(c.mail, l)
	if c.waits {
		x.schedule(c)
	}
}

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.order < f.order }

func (x *account) push(e event) {
	x.foreseen++
	e.order = x.foreseen
	x.queue = append(x.queue, e)
	q, i := x.queue, len(x.queue)-1
	for ; i > 0 && e.before(&q[(i-1)/2]); i = (i - 1) / 2 {
		q[i] = q[(i-1)/2]
	}
	q[i] = e
}

func (x *account) pop() event {
	first, last := x.queue[0], len(x.queue)-1
	e := x.queue[last]
	x.queue = x.queue[:last]
	q, i := x.queue, 0
	for last > 0 {
		child := 2*i + 1
		if child+1 < last && q[child+1].before(&q[child]) {
			child++
		}
		if child >= last || !q[child].before(&e) {
			q[i] = e
			break
		}
		q[i] = q[child]
		i = child
	}
	return first
}
