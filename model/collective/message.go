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
	arrivalTime    unit.Time // when it has arrived; of a rendezvous its announcement
	parameters     *model.Parameters
	messageTiming
}

// messageTiming has the times of a message that nothing holds up.
type messageTiming struct {
	leaveDelay, flight unit.Time // from the begin of the send until its first byte leaves, and from that until it arrives
	bytesTime, gap     unit.Time // an interface is occupied by its bytes, and then by the gap
	send, receive      unit.Time // o_s and o_r
	oneWayTime         unit.Time // from the begin of the send to the end of a receive that waits

	afterReceive unit.Time // from the end of the receive of a rendezvous to that of its send

	rendezvous bool // the bytes leave when the receiver receives, and a send that blocks ends after that
	isQueued   bool // the processor does not wait for an interface that is occupied
}

// timingOf returns the times of a message of k bytes. posted says that its send does not block.
//
// Without the one-way time T the last byte arrives o_s + (k−1) G + L after the send began, or
// o_s + L if the processor itself sends the bytes. With it, it arrives when o_r is left of T.
// Earlier than that its first byte leaves by the time of the bytes, (k−1) G, at each end.
//
// If o_r contains the bytes, T − o_r < (k−1) G, the message is a rendezvous as well.
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

// receiveEnd returns when a receive of a step ends that may begin now, if the interfaces are free.
// A rendezvous proceeds while the rank waits for its own send of the same step.
func (m *message) receiveEnd(now unit.Time, st Step) unit.Time {
	exchange := st.To != None
	switch {
	case exchange && m.rendezvous:
		return max(now, m.arrivalTime+m.receive)
	case (exchange || st.IsPosted) && !m.rendezvous && len(m.parameters.Posted) > 0:
		return now + m.parameters.Posted.Time(m.size)
	default:
		return now + m.receive
	}
}
