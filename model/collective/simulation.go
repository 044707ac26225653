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
	nodes        *Nodes
	ranks        []rankClock
	queue        eventqueue.Queue[uint64, event]
	eventCount   uint64
	occupied     occupancy
	occupations  []model.Occupation // of a message; used again
	freeMessages []*message         // that were received
}

// runEvents executes events until none is left.
func (x *simulation) runEvents() {
	for !x.queue.IsEmpty() {
		at, _, e := x.queue.Pop()
		if e.message != nil {
			x.arriveAtReceiver(e.rank, e.message, unit.Time(at))
		} else {
			x.executeTurn(e.rank, unit.Time(at))
		}
	}
}

// event is a rank that can act, or a message that reaches its interface.
type event struct {
	rank    *rankClock
	message *message // nil if the rank acts
}

// rankClock is the state of a rank.
type rankClock struct {
	rank                int
	next                func() (Step, bool)
	step                Step
	now                 unit.Time
	outFreeAt, inFreeAt unit.Time      // until then its outgoing and incoming interfaces are occupied
	outgoing            *message       // of the step, until it is sent
	inbox               []*message     // that have arrived or will, in that order
	receivedEarly       map[int]int    // messages of each sender that were received before their step
	blockingSends       openRendezvous // of the step
	postedSends         openRendezvous
	received            bool // the step's data has been received
	isWaiting           bool // for a message that has not arrived, or for the end of a send
	ended               bool
}

// openRendezvous are rendezvous that have not ended.
type openRendezvous struct {
	count int
	end   unit.Time // of those that have ended
}

// startNextStep takes the next step of a rank, and executes local ones.
func (x *simulation) startNextStep(c *rankClock) {
	for {
		st, ok := c.next()
		if !ok {
			c.ended = true
			return
		}
		switch st.Kind {
		case Transfer, Wait:
			c.step, c.outgoing, c.received = st, x.newMessage(c, &st), st.From == None
			x.scheduleRank(c)
			return
		case Copy:
			c.now += x.Copying.Time(st.Send.Bytes)
		default:
			c.now += x.Combining.Time(st.Send.Bytes)
		}
	}
}

// scheduleRank lets a rank act when its message can leave, when a message for it has arrived, or
// when its sends have ended.
func (x *simulation) scheduleRank(c *rankClock) {
	at := c.now
	sends := &c.blockingSends
	if c.step.Kind == Wait {
		sends = &c.postedSends
	}
	switch {
	case c.outgoing != nil:
		at += c.outgoing.leaveDelay
		if !c.outgoing.isQueued && !c.outgoing.rendezvous {
			at = max(at, c.outFreeAt)
		}
	case c.received:
		if c.isWaiting = sends.count > 0; c.isWaiting {
			return
		}
		at = max(at, sends.end)
	case c.receivedEarly[c.step.From] > 0:
	default:
		i := c.firstToReceive()
		if c.isWaiting = i < 0; c.isWaiting {
			return
		}
		at = max(at, c.inbox[i].arrivalTime)
	}
	c.isWaiting = false
	x.scheduleEvent(at, event{rank: c})
}

// executeTurn executes the part of a step for which a rank was scheduled: its send, a receive, or
// the end.
func (x *simulation) executeTurn(c *rankClock, at unit.Time) {
	switch {
	case c.outgoing != nil:
		x.send(c, at)
	case c.received:
		c.now = at
		x.startNextStep(c)
		return
	default:
		c.now = at
		x.receive(c)
	}
	x.scheduleRank(c)
}

// newMessage returns the message that a step sends, or nil.
func (x *simulation) newMessage(c *rankClock, st *Step) *message {
	if st.Kind == Wait || st.To == None {
		return nil
	}
	by := x.parameters(x.nodes, c.rank, st.To)
	m := &message{}
	if last := len(x.freeMessages) - 1; last >= 0 {
		m, x.freeMessages = x.freeMessages[last], x.freeMessages[:last]
	}
	*m = message{from: c.rank, to: st.To, size: st.Send.Bytes, posted: st.IsPosted, begin: c.now, parameters: by, messageTiming: timingOf(by, st.Send.Bytes, st.IsPosted)}
	return m
}

// send sends the message of a rank's step, whose first byte can leave at a time.
func (x *simulation) send(c *rankClock, at unit.Time) {
	m := c.outgoing
	c.outgoing = nil
	c.now = at + m.send - m.leaveDelay
	switch {
	case !m.rendezvous:
		at = x.occupy(m, max(at, c.outFreeAt), false)
		c.outFreeAt = at + m.bytesTime + m.gap
	case m.posted:
		c.postedSends.count++
	default:
		c.blockingSends.count++
	}
	x.scheduleEvent(at+m.flight, event{&x.ranks[m.to], m})
	x.Messages++
	x.Bytes += m.size
	x.LongestMessage = max(x.LongestMessage, m.size)
}

// arriveAtReceiver lets a message occupy the interface of its receiver.
func (x *simulation) arriveAtReceiver(c *rankClock, m *message, at unit.Time) {
	if m.arrivalTime = at; !m.rendezvous {
		begin := x.occupy(m, max(at, c.inFreeAt), true)
		c.inFreeAt = begin + m.bytesTime + m.gap
		m.arrivalTime = begin + m.bytesTime
	}
	c.inbox = append(c.inbox, m)
	if c.isWaiting && !c.received {
		x.scheduleRank(c)
	}
}

// receive receives the message of a rank's step, unless it was received before, or else the next
// one.
func (x *simulation) receive(c *rankClock) {
	if c.receivedEarly[c.step.From] > 0 {
		c.receivedEarly[c.step.From]--
		c.received = true
		return
	}
	i := c.firstToReceive()
	m := c.inbox[i]
	c.inbox = slices.Delete(c.inbox, i, i+1)
	c.now = m.receiveEnd(c.now, c.step)
	if m.rendezvous {
		x.transfer(m, c)
	}
	if c.received = m.from == c.step.From; !c.received {
		if c.receivedEarly == nil {
			c.receivedEarly = map[int]int{}
		}
		c.receivedEarly[m.from]++
	}
	x.freeMessages = append(x.freeMessages, m)
}

// firstToReceive returns the index in the inbox of the message that the rank receives next, or -1.
// A rendezvous waits for the step that receives it, unless receives are posted.
func (c *rankClock) firstToReceive() int {
	return slices.IndexFunc(c.inbox, func(m *message) bool { return !m.rendezvous || m.from == c.step.From || c.step.IsPosted })
}

// transfer lets the bytes of a rendezvous, whose receive ends now if nothing holds it up, occupy
// both interfaces, and ends its send.
func (x *simulation) transfer(m *message, c *rankClock) {
	s := &x.ranks[m.from]
	begin := x.occupy(m, max(c.now-m.bytesTime, m.begin, s.outFreeAt, c.inFreeAt), false)
	begin = x.occupy(m, begin, true)
	c.now = max(c.now, begin+m.bytesTime)
	s.outFreeAt, c.inFreeAt = begin+m.bytesTime+m.gap, begin+m.bytesTime+m.gap
	sends := &s.blockingSends
	if m.posted {
		sends = &s.postedSends
	}
	sends.count--
	sends.end = max(sends.end, c.now+m.afterReceive)
	if s.isWaiting && s.received {
		x.scheduleRank(s)
	}
}

// occupy lets a message occupy what it shares with others when it leaves or when it arrives, and
// returns a time so much later as it has to wait.
func (x *simulation) occupy(m *message, at unit.Time, atReceiver bool) unit.Time {
	if x.SharedOccupations == nil {
		return at
	}
	x.occupations = x.SharedOccupations(x.occupations[:0], m.from, m.to, m.size)
	for _, o := range x.occupations {
		if o.AtReceiver != atReceiver {
			continue
		}
		until := x.occupied.until(&o.Component)
		free := *until
		if free > at {
			free += o.Contention
		}
		free = max(at, free) + o.Time
		*until = free
		at = max(at, free-max(o.Time, m.bytesTime))
	}
	return at
}

func (x *simulation) scheduleEvent(at unit.Time, e event) {
	x.eventCount++
	x.queue.Push(uint64(at), x.eventCount, e)
}
