package collective

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// message is a message of a schedule, on its way from one rank to another.
type message struct {
	from, to, size int
	posted         bool      // by a send that does not block
	begin          unit.Time // when its send began
	at             unit.Time // when it has arrived; of a rendezvous its announcement
	by             *model.Parameters
	timing
}

// timing has the times of a message that nothing holds up.
type timing struct {
	leave, flight unit.Time // from the begin of the send until its first byte leaves, and from that until it arrives
	flow, gap     unit.Time // an interface is occupied by its bytes, and then by the gap
	send, receive unit.Time // o_s and o_r
	way           unit.Time // from the begin of the send to the end of a receive that waits

	afterReceive unit.Time // from the end of the receive of a rendezvous to that of its send

	rendezvous bool // the bytes leave when the receiver receives, and a send that blocks ends after that
	queued     bool // the processor does not wait for an interface that is occupied
}

// timingOf returns the times of a message of k bytes. posted says that its send does not block.
//
// Without the one-way time T the last byte arrives o_s + (k−1) G + L after the send began, or
// o_s + L if the processor itself sends the bytes. With it, it arrives when o_r is left of T.
// Earlier than that its first byte leaves by the time of the bytes, (k−1) G, at each end.
//
// If o_r contains the bytes, T − o_r < (k−1) G, the message is a rendezvous as well.
func timingOf(x *model.Parameters, k int, posted bool) timing {
	t := timing{flow: x.GapPerByte.Time(max(k-1, 0)), gap: x.Gap, send: x.SendOverhead.Time(k), receive: x.RecvOverhead.Time(k)}
	latency := max(x.L, 0)
	if posted && len(x.Start) > 0 {
		t.send, t.queued = x.Start.Time(k), true
	}
	arrival := t.send + x.TimeOfBytes(k) + latency
	if len(x.OneWayCurve) > 0 {
		t.way = x.OneWayCurve.Time(k)
		t.receive = min(t.receive, t.way)
		arrival = t.way - t.receive
		t.rendezvous = x.EagerLimit > 0 && k > x.EagerLimit || arrival < t.flow
		latency = 0
	}
	if t.rendezvous {
		t.leave = min(t.send, arrival)
		t.flight = arrival - t.leave
		t.afterReceive = x.SendOverhead.Time(k) - t.way
		t.way = max(t.way, t.flow)
		return t
	}
	t.leave = min(max(arrival-t.flow-latency, 0), t.send)
	t.flight = max(arrival-t.flow-t.leave, 0)
	t.way = t.leave + t.flight + t.flow + t.receive
	return t
}

// received returns when a receive of a step ends that may begin now, if the interfaces are free. A
// rendezvous proceeds while the rank waits for its own send of the same step.
func (m *message) received(now unit.Time, st Step) unit.Time {
	exchange := st.To != None
	switch {
	case exchange && m.rendezvous:
		return max(now, m.at+m.receive)
	case (exchange || st.Post) && !m.rendezvous && len(m.by.Posted) > 0:
		return now + m.by.Posted.Time(m.size)
	default:
		return now + m.receive
	}
}
