package collective

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// message is a message of a schedule on its way.
type message struct {
	from, to, size int
	posted         bool      // sent by a nonblocking send
	begin          unit.Time // start of its send
	arrivalTime    unit.Time // arrival; for a rendezvous, of its announcement
	parameters     *model.Parameters
	uses           []componentUse
	*messageTiming
}

// messageTiming has the times of a message without contention.
type messageTiming struct {
	leaveDelay, flight unit.Time // from the start of the send until the first byte leaves, and from then until it arrives
	bytesTime, gap     unit.Time // an interface is occupied by the bytes, and then for the gap
	send, receive      unit.Time // o_s and o_r
	oneWayTime         unit.Time // from the start of the send to the end of a receive that waits for it

	afterReceive unit.Time // for a rendezvous: from the end of its receive to the end of its send

	rendezvous bool // the bytes leave when the receiver receives, and a blocking send ends after that
	isQueued   bool // the processor does not wait for a busy interface
}

// numTimings is how many timings a simulation keeps. Most schedules have messages of few sizes.
const numTimings = 64

// knownTiming is the timing of messages that were sent before.
type knownTiming struct {
	parameters *model.Parameters
	size       int
	posted     bool
	timing     *messageTiming
}

// timing returns timingOf, from the timings that are known if it is among them.
func (x *simulation) timing(by *model.Parameters, k int, posted bool) *messageTiming {
	hash := uint(k) * 0x9e3779b97f4a7c15 >> 32
	if posted {
		hash += numTimings / 4
	}
	if by == x.IntraNode {
		hash += numTimings / 2
	}
	known := &x.timings[hash%numTimings]
	if known.timing == nil || known.parameters != by || known.size != k || known.posted != posted {
		t := timingOf(by, k, posted)
		*known = knownTiming{by, k, posted, &t}
	}
	return known.timing
}

// timingOf returns the times of a message of k bytes. posted says that its send is nonblocking.
//
// Without the one-way time T the last byte arrives o_s + (k−1) G + L after the start of the send,
// or o_s + L after it if the processor itself sends the bytes. With T it arrives o_r before T. The
// first byte leaves earlier by the time of the bytes, (k−1) G, at each end.
//
// If o_r includes the bytes, so that T − o_r < (k−1) G, the message is a rendezvous as well.
func timingOf(x *model.Parameters, k int, posted bool) messageTiming {
	t := messageTiming{bytesTime: x.GapPerByte.Time(max(k-1, 0)), gap: x.Gap, send: x.SendOverhead.Time(k), receive: x.RecvOverhead.Time(k)}
	latency := max(x.L, 0)
	if posted && len(x.Start) > 0 {
		t.send, t.isQueued = x.Start.Time(k), true
	}
	arrival := t.send + x.TimeOfBytes(k) + latency
	if len(x.OneWayCurve) > 0 {
		t.oneWayTime = x.OneWayCurve.Time(k)
		t.receive = min(t.receive, t.oneWayTime)
		arrival = t.oneWayTime - t.receive
		t.rendezvous = x.EagerLimit > 0 && k > x.EagerLimit || arrival < t.bytesTime
		latency = 0
	}
	if t.rendezvous {
		t.leaveDelay = min(t.send, arrival)
		t.flight = arrival - t.leaveDelay
		t.afterReceive = x.SendOverhead.Time(k) - t.oneWayTime
		t.oneWayTime = max(t.oneWayTime, t.bytesTime)
		return t
	}
	t.leaveDelay = min(max(arrival-t.bytesTime-latency, 0), t.send)
	t.flight = max(arrival-t.bytesTime-t.leaveDelay, 0)
	t.oneWayTime = t.leaveDelay + t.flight + t.bytesTime + t.receive
	return t
}

// receiveEnd returns the end of a receive that may start now, if the interfaces are free. A
// rendezvous proceeds while the rank waits for its own send of the same step.
func (m *message) receiveEnd(now unit.Time, st *transfer) unit.Time {
	exchange := st.to != NoRank
	switch {
	case exchange && m.rendezvous:
		return max(now, m.arrivalTime+m.receive)
	case (exchange || st.isPosted) && !m.rendezvous && len(m.parameters.Posted) > 0:
		return now + m.parameters.Posted.Time(m.size)
	default:
		return now + m.receive
	}
}

// inbox has the messages that have arrived at a rank, in order.
type inbox struct {
	messages []*message
	first    int // those before were received
}

// queuedMessages returns the messages that were not received.
func (b *inbox) queuedMessages() []*message { return b.messages[b.first:] }

func (b *inbox) add(m *message) {
	if b.first > 0 && len(b.messages) == cap(b.messages) && b.first >= len(b.messages)/2 {
		b.messages = b.messages[:copy(b.messages, b.queuedMessages())]
		b.first = 0
	}
	b.messages = append(b.messages, m)
}

// remove returns the message of an index among the queued ones, and removes it.
func (b *inbox) remove(i int) *message {
	q := b.queuedMessages()
	m := q[i]
	copy(q[1:i+1], q[:i]) // mostly none
	if b.first++; b.first == len(b.messages) {
		b.messages, b.first = b.messages[:0], 0
	}
	return m
}
