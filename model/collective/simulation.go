package collective

import (
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/eventqueue"
	"github.com/loggp/loggp/model/unit"
)

// simulation is the execution of a job. Events of the same time run in the order in which they were
// scheduled.
type simulation struct {
	Machine
	Cost
	nodes       *Nodes
	ranks       []clock
	queue       eventqueue.Queue[uint64, event]
	scheduled   uint64
	occupied    map[model.Component]unit.Time // until when
	occupations []model.Occupation            // of a message; used again
}

// run executes events until none is left.
func (x *simulation) run() {
	for !x.queue.IsEmpty() {
		at, _, e := x.queue.Pop()
		if e.message != nil {
			x.arrive(e.rank, e.message, unit.Time(at))
		} else {
			x.act(e.rank, unit.Time(at))
		}
	}
}

// event is a rank that can act, or a message that reaches its interface.
type event struct {
	rank    *clock
	message *message // nil if the rank acts
}

// clock is the state of a rank.
type clock struct {
	rank     int
	next     func() (Step, bool)
	step     Step
	now      unit.Time
	out, in  unit.Time  // until then its outgoing and incoming interfaces are occupied
	outgoing *message   // of the step, until it is sent
	inbox    []*message // that have arrived or will, in that order
	taken    []int      // senders of messages that were received before their step
	blocking openSends  // of the step
	posted   openSends
	received bool // the step's data has been received
	waits    bool // for a message that has not arrived, or for the end of a send
	ended    bool
}

// openSends are rendezvous that have not ended.
type openSends struct {
	count int
	end   unit.Time // of those that have ended
}

// advance takes the next step of a rank, and executes local ones.
func (x *simulation) advance(c *clock) {
	for {
		st, ok := c.next()
		if !ok {
			c.ended = true
			return
		}
		switch st.Kind {
		case Transfer, Wait:
			c.step, c.outgoing, c.received = st, x.newMessage(c, &st), st.From == None
			x.schedule(c)
			return
		case Copy:
			c.now += x.Copy.Time(st.Send.Len)
		default:
			c.now += x.Fold.Time(st.Send.Len)
		}
	}
}

// schedule lets a rank act when its message can leave, when a message for it has arrived, or when
// its sends have ended.
func (x *simulation) schedule(c *clock) {
	at := c.now
	sends := &c.blocking
	if c.step.Kind == Wait {
		sends = &c.posted
	}
	switch {
	case c.outgoing != nil:
		at += c.outgoing.leave
		if !c.outgoing.queued && !c.outgoing.rendezvous {
			at = max(at, c.out)
		}
	case c.received:
		if c.waits = sends.count > 0; c.waits {
			return
		}
		at = max(at, sends.end)
	case slices.Contains(c.taken, c.step.From):
	default:
		i := c.firstToReceive()
		if c.waits = i < 0; c.waits {
			return
		}
		at = max(at, c.inbox[i].at)
	}
	c.waits = false
	x.push(at, event{rank: c})
}

// act executes the part of a step for which a rank was scheduled: its send, a receive, or the end.
func (x *simulation) act(c *clock, at unit.Time) {
	switch {
	case c.outgoing != nil:
		x.send(c, at)
	case c.received:
		c.now = at
		x.advance(c)
		return
	default:
		c.now = at
		x.receive(c)
	}
	x.schedule(c)
}

// newMessage returns the message that a step sends, or nil.
func (x *simulation) newMessage(c *clock, st *Step) *message {
	if st.Kind == Wait || st.To == None {
		return nil
	}
	by := x.parameters(x.nodes, c.rank, st.To)
	return &message{from: c.rank, to: st.To, size: st.Send.Len, posted: st.Post, begin: c.now, by: by, timing: timingOf(by, st.Send.Len, st.Post)}
}

// send sends the message of a rank's step, whose first byte can leave at a time.
func (x *simulation) send(c *clock, at unit.Time) {
	m := c.outgoing
	c.outgoing = nil
	c.now = at + m.send - m.leave
	switch {
	case !m.rendezvous:
		at = x.occupy(m, max(at, c.out), false)
		c.out = at + m.flow + m.gap
	case m.posted:
		c.posted.count++
	default:
		c.blocking.count++
	}
	x.push(at+m.flight, event{&x.ranks[m.to], m})
	x.Messages++
	x.Bytes += m.size
	x.Longest = max(x.Longest, m.size)
}

// arrive lets a message occupy the interface of its receiver.
func (x *simulation) arrive(c *clock, m *message, at unit.Time) {
	if m.at = at; !m.rendezvous {
		begin := x.occupy(m, max(at, c.in), true)
		c.in = begin + m.flow + m.gap
		m.at = begin + m.flow
	}
	c.inbox = append(c.inbox, m)
	if c.waits && !c.received {
		x.schedule(c)
	}
}

// receive receives the message of a rank's step, unless it was received before, or else the next
// one.
func (x *simulation) receive(c *clock) {
	if i := slices.Index(c.taken, c.step.From); i >= 0 {
		c.taken = slices.Delete(c.taken, i, i+1)
		c.received = true
		return
	}
	i := c.firstToReceive()
	m := c.inbox[i]
	c.inbox = slices.Delete(c.inbox, i, i+1)
	c.now = m.received(c.now, c.step)
	if m.rendezvous {
		x.transfer(m, c)
	}
	if c.received = m.from == c.step.From; !c.received {
		c.taken = append(c.taken, m.from)
	}
}

// firstToReceive returns the index in the inbox of the message that the rank receives next, or -1.
// A rendezvous waits for the step that receives it, unless receives are posted.
func (c *clock) firstToReceive() int {
	return slices.IndexFunc(c.inbox, func(m *message) bool { return !m.rendezvous || m.from == c.step.From || c.step.Post })
}

// transfer lets the bytes of a rendezvous, whose receive ends now if nothing holds it up, occupy
// both interfaces, and ends its send.
func (x *simulation) transfer(m *message, c *clock) {
	s := &x.ranks[m.from]
	begin := x.occupy(m, max(c.now-m.flow, m.begin, s.out, c.in), false)
	begin = x.occupy(m, begin, true)
	c.now = max(c.now, begin+m.flow)
	s.out, c.in = begin+m.flow+m.gap, begin+m.flow+m.gap
	sends := &s.blocking
	if m.posted {
		sends = &s.posted
	}
	sends.count--
	sends.end = max(sends.end, c.now+m.afterReceive)
	if s.waits && s.received {
		x.schedule(s)
	}
}

// occupy lets a message occupy what it shares with others when it leaves or when it arrives, and
// returns a time so much later as it has to wait.
func (x *simulation) occupy(m *message, at unit.Time, atReceiver bool) unit.Time {
	if x.Shared == nil {
		return at
	}
	x.occupations = x.Shared(x.occupations[:0], m.from, m.to, m.size)
	for _, o := range x.occupations {
		if o.AtReceiver != atReceiver {
			continue
		}
		free := x.occupied[o.Component]
		if free > at {
			free += o.Contention
		}
		free = max(at, free) + o.Time
		x.occupied[o.Component] = free
		at = max(at, free-max(o.Time, m.flow))
	}
	return at
}

func (x *simulation) push(at unit.Time, e event) {
	x.scheduled++
	x.queue.Push(uint64(at), x.scheduled, e)
}
