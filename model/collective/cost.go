package collective

import (
	"iter"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Machine has the costs of messages and local work.
type Machine struct {
	model.Parameters                   // of messages between nodes
	Near             *model.Parameters // of those within a node; nil: the same
	Copy             unit.PerByte      // of copying
	Fold             unit.PerByte      // of combining
}

// message returns the parameters of messages from one rank to another.
func (m *Machine) message(nodes *Nodes, from, to int) *model.Parameters {
	if m.Near != nil && nodes.Together(from, to) {
		return m.Near
	}
	return &m.Parameters
}

// Cost says when the ranks of a job end. All begin at time 0.
type Cost struct {
	Last     unit.Time // the last one
	First    unit.Time // the first one
	Messages int
	Bytes    int // that were sent
}

// Cost adds up the time of an algorithm by LogGP, with the schedule of each rank:
//
//   - Sending k bytes occupies the processor for o_s(k). The message then waits until the interface is
//     free, and occupies it for g + (k−1) G.
//   - The last byte arrives L + (k−1) G after the first has left. The receiver's interface takes
//     messages in at the same rate, one after the other.
//   - Receiving it occupies the processor for o_r(k). A rank that waits for a message receives all
//     that arrive before it, in the order of arrival, and keeps them for later steps.
//
// If the processor itself sends the bytes, o_s(k) includes G per byte, and a message occupies no
// interface for longer than g (model.Parameters.Flow).
//
// Posted transfers are sent where they are posted, and received in turn at the wait.
//
// Messages are copied to their destination at once, and the network has unlimited capacity.
// Alexandrov et al. 1995. With two tiers each message has the parameters of its tier, and a rank
// has one outgoing and one incoming interface for both.
func (m Machine) Cost(a *Algorithm, j Job) Cost {
	x := &simulation{Machine: m, nodes: j.Nodes, ranks: make([]clock, j.Ranks)}
	for r := range x.ranks {
		next, stop := iter.Pull(inOrder(a.Steps(j, r)))
		defer stop()
		x.ranks[r] = clock{rank: r, next: next}
		x.advance(&x.ranks[r])
	}
	for len(x.queue) > 0 {
		if e := x.pop(); e.message.by != nil {
			x.arrive(e)
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

// simulation is the execution of a job. Events are in a heap by time; events of the same time run
// in the order in which they were scheduled.
type simulation struct {
	Machine
	nodes           *Nodes
	ranks           []clock
	queue           []event
	scheduled       int
	messages, bytes int
}

// clock is the state of a rank.
type clock struct {
	rank    int
	next    func() (Step, bool)
	step    Step
	now     unit.Time
	out, in unit.Time  // until then its outgoing and incoming interfaces are occupied
	sent    bool       // the step's data has been sent
	inbox   []inFlight // messages that have arrived or will, in that order
	taken   []int      // senders of messages that were received before their step
	waits   bool       // the rank waits for a message that has not arrived
}

// inFlight is a message in flight.
type inFlight struct {
	from int
	size int
	by   *model.Parameters
	at   unit.Time // when its last byte arrives
}

// event is a rank that can act, or a message that reaches a rank's interface.
type event struct {
	at      unit.Time
	order   int
	rank    *clock
	message inFlight // zero if the rank acts
}

// advance takes the next step of a rank, and executes local ones.
func (x *simulation) advance(c *clock) {
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

// schedule lets a rank act when its message can leave, or when a message for it has arrived.
func (x *simulation) schedule(c *clock) {
	at := c.now
	switch {
	case !c.sent:
		by := x.message(x.nodes, c.rank, c.step.To)
		at = max(c.now+by.SendO.Time(c.step.Send.Len), c.out)
	case slices.Contains(c.taken, c.step.From):
	case len(c.inbox) > 0:
		at = max(c.now, c.inbox[0].at)
	default:
		c.waits = true
		return
	}
	c.waits = false
	x.push(event{at: at, rank: c})
}

// act executes the half of a step for which a rank was scheduled: its send, or a receive.
func (x *simulation) act(c *clock, at unit.Time) {
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

// receive continues a rank that has received the message of its step, or receives the next one.
func (x *simulation) receive(c *clock) {
	if i := slices.Index(c.taken, c.step.From); i >= 0 {
		c.taken = slices.Delete(c.taken, i, i+1)
		x.advance(c)
		return
	}
	l := c.inbox[0]
	c.inbox = c.inbox[1:]
	c.now += l.by.RecvO.Time(l.size)
	if l.from == c.step.From {
		x.advance(c)
		return
	}
	c.taken = append(c.taken, l.from)
	x.schedule(c)
}

// send sends the message of a rank's step.
func (x *simulation) send(c *clock) {
	l := inFlight{from: c.rank, size: c.step.Send.Len, by: x.message(x.nodes, c.rank, c.step.To)}
	c.out = c.now + l.occupies()
	x.push(event{at: c.now + l.by.L, rank: &x.ranks[c.step.To], message: l})
	x.messages++
	x.bytes += l.size
}

// occupies returns how long a message occupies an interface.
func (l *inFlight) occupies() unit.Time { return l.by.Gap + l.by.Flow(l.size) }

// arrive lets a message occupy the interface of its receiver.
func (x *simulation) arrive(e event) {
	l, c := e.message, e.rank
	begin := max(e.at, c.in)
	c.in = begin + l.occupies()
	l.at = begin + l.by.Flow(l.size)
	c.inbox = append(c.inbox, l)
	if c.waits {
		x.schedule(c)
	}
}

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.order < f.order }

func (x *simulation) push(e event) {
	x.scheduled++
	e.order = x.scheduled
	x.queue = append(x.queue, e)
	q, i := x.queue, len(x.queue)-1
	for ; i > 0 && e.before(&q[(i-1)/2]); i = (i - 1) / 2 {
		q[i] = q[(i-1)/2]
	}
	q[i] = e
}

func (x *simulation) pop() event {
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
