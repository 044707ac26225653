package collective

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/eventqueue"
	"github.com/loggp/loggp/model/unit"
)

// simulation is the execution of a job. Events at equal times run in the order in which they were
// scheduled.
type simulation struct {
	Machine
	Cost
	nodes        *Nodes
	ranks        []rankClock
	queue        eventqueue.Queue[uint64, event]
	eventCount   uint64
	occupied     componentOccupancy
	occupations  []model.Occupation // of a message; reused
	freeMessages []*message         // messages that were received
	timings      [numTimings]knownTiming
}

// runEvents executes events until none are left.
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

// event says that a rank can act, or that a message reaches the receiver's interface.
type event struct {
	rank    *rankClock
	message *message // nil: the rank acts
}

// rankClock is the state of a rank.
type rankClock struct {
	rank                int
	steps               transferSource
	step                transfer
	now                 unit.Time
	outFreeAt, inFreeAt unit.Time // end of the occupation of its outgoing and incoming interfaces
	outgoing            *message  // message of the current step, until it is sent
	occupied            componentUseCache
	inbox               inbox          // messages that have arrived or will, in order
	receivedEarly       map[int32]int  // number of messages, by sender, that were received before their step
	blockingSends       openRendezvous // of the current step
	postedSends         openRendezvous
	received            bool // the step's data has been received
	isWaiting           bool // for a message that has not arrived, or for the end of a send
	ended               bool
}

// openRendezvous has rendezvous that have not ended.
type openRendezvous struct {
	count int
	end   unit.Time // of those that have ended
}

// startNextStep starts the next step of a rank, after the local work that comes before it.
func (x *simulation) startNextStep(c *rankClock) {
	st := c.steps.next()
	if c.now += st.workBefore; st.isScheduleEnd {
		c.ended = true
		return
	}
	c.step, c.outgoing, c.received = *st, x.newMessage(c, st), st.from == NoRank
	x.scheduleRank(c)
}

// scheduleRank schedules a rank for the time when its message can leave, a message for it has
// arrived, or its sends have ended.
func (x *simulation) scheduleRank(c *rankClock) {
	at := c.now
	sends := &c.blockingSends
	if c.step.isWait {
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
	case c.receivedEarly[c.step.from] > 0:
	default:
		i := c.firstToReceive()
		if c.isWaiting = i < 0; c.isWaiting {
			return
		}
		at = max(at, c.inbox.queuedMessages()[i].arrivalTime)
	}
	c.isWaiting = false
	x.scheduleEvent(at, event{rank: c})
}

// executeTurn executes the part of a step for which a rank was scheduled: its send, a receive, or
// its end.
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
func (x *simulation) newMessage(c *rankClock, st *transfer) *message {
	if st.isWait || st.to == NoRank {
		return nil
	}
	to := int(st.to)
	by := x.parameters(x.nodes, c.rank, to)
	var m *message
	if last := len(x.freeMessages) - 1; last >= 0 {
		m, x.freeMessages = x.freeMessages[last], x.freeMessages[:last]
	} else {
		m = &message{}
	}
	*m = message{from: c.rank, to: to, size: st.bytes, posted: st.isPosted, begin: c.now, parameters: by, messageTiming: x.timing(by, st.bytes, st.isPosted), uses: m.uses[:0]}
	if x.SharedOccupations != nil {
		m.uses = append(m.uses, x.usesOf(c, to, st.bytes)...)
	}
	return m
}

// send sends the message of a rank's step. Its first byte can leave at time at.
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

// arriveAtReceiver makes a message occupy the receiver's interface.
func (x *simulation) arriveAtReceiver(c *rankClock, m *message, at unit.Time) {
	if m.arrivalTime = at; !m.rendezvous {
		begin := x.occupy(m, max(at, c.inFreeAt), true)
		c.inFreeAt = begin + m.bytesTime + m.gap
		m.arrivalTime = begin + m.bytesTime
	}
	c.inbox.add(m)
	if c.isWaiting && !c.received {
		x.scheduleRank(c)
	}
}

// receive receives the message of a rank's step, unless it was received early, or else the next
// one.
func (x *simulation) receive(c *rankClock) {
	if c.receivedEarly[c.step.from] > 0 {
		c.receivedEarly[c.step.from]--
		c.received = true
		return
	}
	i := c.firstToReceive()
	m := c.inbox.remove(i)
	c.now = m.receiveEnd(c.now, &c.step)
	if m.rendezvous {
		x.transfer(m, c)
	}
	if c.received = m.from == int(c.step.from); !c.received {
		if c.receivedEarly == nil {
			c.receivedEarly = map[int32]int{}
		}
		c.receivedEarly[int32(m.from)]++
	}
	x.freeMessages = append(x.freeMessages, m)
}

// firstToReceive returns the index in the inbox of the next message to receive, or -1. A rendezvous
// waits for its step, unless receives are posted.
func (c *rankClock) firstToReceive() int {
	for i, m := range c.inbox.queuedMessages() {
		if !m.rendezvous || m.from == int(c.step.from) || c.step.isPosted {
			return i
		}
	}
	return -1
}

// transfer makes the bytes of a rendezvous, whose receive ends now without contention, occupy both
// interfaces, and ends its send.
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

// occupy makes a message occupy its shared components at its departure or its arrival, and returns
// the time at, delayed by its waiting time.
func (x *simulation) occupy(m *message, at unit.Time, atReceiver bool) unit.Time {
	for i := range m.uses {
		o := &m.uses[i]
		if o.atReceiver != atReceiver {
			continue
		}
		until := &x.occupied.times[o.component]
		free := *until
		if free > at {
			free += o.contention
		}
		free = max(at, free) + o.time
		*until = free
		at = max(at, free-max(o.time, m.bytesTime))
	}
	return at
}

func (x *simulation) scheduleEvent(at unit.Time, e event) {
	x.eventCount++
	x.queue.Push(uint64(at), x.eventCount, e)
}
