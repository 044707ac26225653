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
	Longest  int // bytes of the longest message
}

// Cost adds up the time of an algorithm by LogGP, with the schedule of each rank:
//
//   - Sending k bytes occupies the processor for o_s(k). The message then waits until the interface
//     is free, and occupies it for g + (k−1) G.
//   - The last byte arrives L + (k−1) G after the first has left. The receiver's interface takes
//     messages in at the same rate, one after the other.
//   - Receiving it occupies the processor for o_r(k). A rank that waits for a message receives all
//     that arrive before it, in the order of arrival, and keeps them for later steps.
//
// If the processor itself sends the bytes, o_s(k) includes G per byte, and a message occupies no
// interface for longer than g (model.Parameters.Flow).
//
// If Way is known, a message reaches a receiver that waits so that its receive ends Way(k) after
// the send began, and what o_s(k) contains beyond that follows the transfer. Of a rendezvous the
// sender does not wait for a receiver that is late.
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
	c := Cost{First: x.ranks[0].now, Messages: x.messages, Bytes: x.bytes, Longest: x.longest}
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
	longest         int
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

	posted bool // by a send that does not block
}

func (l *inFlight) parts() parts { return partsOf(l.by, l.size, l.posted) }

// parts are the times of a message.
type parts struct {
	before, after unit.Time // of o_s: until it leaves, and once it has left
	latency, flow unit.Time // until its first byte arrives, and from that to its last
	receive       unit.Time // o_r
	occupies      unit.Time // an interface
}

// partsOf returns the parts of a message of k bytes. posted says that its send does not block.
func partsOf(x *model.Parameters, k int, posted bool) parts {
	p := parts{before: x.SendO.Time(k), latency: x.L, flow: x.Flow(k), receive: x.RecvO.Time(k)}
	if posted && len(x.Start) > 0 {
		p.before = x.Start.Time(k)
	}
	if len(x.Way) > 0 {
		way := x.Way.Time(k)
		p.receive = min(p.receive, way)
		there := way - p.receive // since the send began
		send := p.before
		p.before = min(send, there)
		p.after = send - p.before
		p.flow = min(p.flow, there-p.before)
		p.latency = there - p.before - p.flow
	}
	p.occupies = x.Gap + p.flow
	return p
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
		l := x.next(c)
		at = max(c.now+l.parts().before, c.out)
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
	c.now = l.received(c.now, c.step)
	if l.from == c.step.From {
		x.advance(c)
		return
	}
	c.taken = append(c.taken, l.from)
	x.schedule(c)
}

// received returns when a receive of a step ends that may begin now. If the receive is posted
// before a send of the same step, a rendezvous transfers the message while that send waits for its
// own.
func (l *inFlight) received(now unit.Time, st Step) unit.Time {
	exchange, rendezvous := st.To != None, l.by.Eager > 0 && l.size > l.by.Eager
	switch o := l.parts().receive; {
	case exchange && rendezvous:
		return max(now, l.at+o)
	case (exchange || st.Post) && !rendezvous && len(l.by.Posted) > 0:
		return now + l.by.Posted.Time(l.size)
	default:
		return now + o
	}
}

// next returns the message of a rank's step.
func (x *simulation) next(c *clock) inFlight {
	return inFlight{from: c.rank, size: c.step.Send.Len, by: x.message(x.nodes, c.rank, c.step.To), posted: c.step.Post}
}

// send sends the message of a rank's step.
func (x *simulation) send(c *clock) {
	l := x.next(c)
	p := l.parts()
	c.out = c.now + p.occupies
	x.push(event{at: c.now + p.latency, rank: &x.ranks[c.step.To], message: l})
	c.now += p.after
	x.messages++
	x.bytes += l.size
	x.longest = max(x.longest, l.size)
}

// arrive lets a message occupy the interface of its receiver.
func (x *simulation) arrive(e event) {
	l, c := e.message, e.rank
	p := l.parts()
	begin := max(e.at, c.in)
	c.in = begin + p.occupies
	l.at = begin + p.flow
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
