package ethernet

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model/unit"
)

// socket is one end of the connection between two hosts. It counts the bytes of two streams, the
// one that it sends and the one that it receives. The contents are in the packets, which are queued
// in order at the sending socket until their last byte has been read.
//
// It emulates the segments of TCP, acknowledgements that are delayed or go with data, windows that
// close and open, and retransmission: of all that follows a lost segment where there is no
// congestion window. Connection setup and checksum errors are not emulated.
type socket struct {
	h    *host
	peer *socket // the other end

	// The stream out. Its positions are bytes since the beginning: acked ≤ sent ≤ written ≤ asked.
	out     core.PacketList
	asked   int  // the end of what the program has to write
	written int  // the end of what is in the send buffer
	sent    int  // the end of what has been sent
	most    int  // the end of what has ever been sent
	acked   int  // the end of what has arrived at the other side
	limit   int  // the end of what the other side has room for
	writing bool // the program's own call is sending
	retry   timer
	wait    unit.Time // until a segment is taken for lost
	congestion

	// The stream in: read ≤ arrived ≤ edge.
	arrived int
	read    int       // the end of what the program has read
	edge    int       // the end of the room that the other side was told of
	came    unit.Time // when the last segment of the stream came
	owed    int       // segments that are not acknowledged
	quick   int       // so many more are acknowledged at once, unless data goes both ways
	both    bool      // data was sent soon after data had come, which acknowledges it
	short   bool      // a segment that was not full is not acknowledged
	must    bool      // acknowledge at once
	delay   timer     // of an acknowledgement
	early   []span    // what is there behind a gap, in order, where there is a congestion window
	latest  int       // where the latest of it begins
}

// segment is what TCP says in a frame.
type segment struct {
	to    *socket
	at, n int // bytes of the stream
	ack   int // of the other stream: all before it are there
	edge  int // and room up to here
	probe bool
	came  unit.Time // when its frame came

	blocks [blocks]span // of the other stream, that are there behind a gap
	has    int          // so many of them
}

// timer is an alarm that can be reset while its event is pending.
type timer struct {
	at    unit.Time // when it rings; 0: it does not
	event unit.Time // when there is an event next; 0: there is none
}

// Alarms of a socket, or of a circuit.
const (
	delayAlarm = iota
	retryAlarm
)

// longestWait bounds the doubling of the time until a segment is sent again.
const longestWait = 64

// set lets an alarm ring at a time, as an event of x with an argument; 0 stops it.
func (a *timer) set(k *sim.Kernel, x sim.Action, alarm uint64, at unit.Time) {
	a.at = at
	if at > 0 && (a.event == 0 || at < a.event) {
		a.event = at
		k.Schedule(at, x, alarm)
	}
}

// rings reports at its event whether the alarm rings now. If it is to ring later it gets another
// event.
func (a *timer) rings(k *sim.Kernel, x sim.Action, alarm uint64) bool {
	now := k.Now()
	if a.event != now {
		return false // another event has taken its place
	}
	a.event = 0
	if a.at > now {
		a.set(k, x, alarm, a.at)
		return false
	}
	return a.at > 0
}

// set sets an alarm of the socket.
func (s *socket) set(a *timer, alarm uint64, at unit.Time) { a.set(&s.h.Kernel, s, alarm, at) }

// Act is the event of an alarm.
func (s *socket) Act(alarm uint64) {
	switch {
	case alarm == delayAlarm && s.delay.rings(&s.h.Kernel, s, alarm):
		s.both = false
		s.answer()
	case alarm == retryAlarm && s.retry.rings(&s.h.Kernel, s, alarm):
		s.again(s.h.Kernel.Now())
	}
}

// free returns how many bytes the send buffer takes.
func (s *socket) free() int { return s.h.net.TCP.SendBuffer - (s.written - s.acked) }

// due returns the length of the segment that can be sent now, or 0. Part of the waiting data is
// only sent if it fills a segment or half of the other side's buffer, so that windows do not get
// smaller and smaller (RFC 1122, 4.2.3.4). Nagle's algorithm is not used.
func (s *socket) due() int {
	waits := s.written - s.sent
	n := min(waits, s.allowed()-s.sent, s.h.net.mss)
	if n == waits || n == s.h.net.mss || 2*n >= s.h.net.TCP.ReceiveBuffer {
		return max(n, 0)
	}
	return 0
}

// next takes the next segment of the stream, or returns nil. A lost one is first.
func (s *socket) next() *frame {
	if x, ok := s.hole(); ok {
		return s.resend(x)
	}
	n := s.due()
	if n == 0 {
		return nil
	}
	s.uses()
	f := s.frame()
	f.payload += n
	f.segment.at, f.segment.n = s.sent, n
	s.sent += n
	fresh := max(s.sent-s.most, 0)
	s.most += fresh
	s.h.net.count.Stream += fresh
	s.h.net.count.Again += n - fresh
	return f
}

// frame returns a segment without data, which acknowledges all that has arrived.
func (s *socket) frame() *frame {
	n := s.h.net
	f := n.newFrame()
	f.src, f.dst, f.payload = s.h.station, s.peer.h.station, n.TCP.Header
	s.edge = s.read + n.TCP.ReceiveBuffer
	f.segment = segment{to: s.peer, ack: s.arrived, edge: s.edge}
	s.report(&f.segment)
	s.owed, s.must, s.short = 0, false, false
	s.set(&s.delay, delayAlarm, 0)
	n.count.Segments++
	return f
}

// answer sends an acknowledgement from an interrupt.
func (s *socket) answer() { s.h.later(s.frame()) }

// flush sends what can be sent from an interrupt. If the program's own call is sending it does that
// as well.
func (s *socket) flush() {
	if s.writing {
		return
	}
	for f := s.next(); f != nil; f = s.next() {
		s.h.later(f)
	}
	s.expect()
}

// expect sets the alarm that rings if nothing is heard of what was written, unless it is set.
func (s *socket) expect() {
	if s.retry.at == 0 && s.written > s.acked {
		s.set(&s.retry, retryAlarm, s.h.Kernel.Now()+s.wait)
	}
}

// again retransmits all unacknowledged data. If there is none because the window is closed, it
// probes the window.
func (s *socket) again(now unit.Time) {
	s.wait = min(2*s.wait, longestWait*s.h.net.TCP.Retransmit)
	s.set(&s.retry, retryAlarm, now+s.wait)
	if s.sent > s.acked {
		s.collapse()
		s.flush()
		return
	}
	f := s.frame()
	f.segment.probe = true
	s.h.later(f)
}

// input takes in a segment.
func (s *socket) input(x *segment) {
	s.limit = max(s.limit, x.edge)
	if s.h.net.TCP.Congestion != nil {
		before, acked := s.flying(), s.acked
		if x.ack > acked {
			s.confirm(x.ack)
		}
		s.acknowledged(x, s.acked-acked, before)
	} else if x.ack > s.acked {
		s.confirm(x.ack)
	}
	s.must = s.must || x.probe
	if x.n > 0 {
		s.take(x)
	}
	s.flush()
	if s.must {
		s.answer()
	}
}

// confirm notes that what was sent has arrived.
func (s *socket) confirm(ack int) {
	s.acked = ack
	s.sent = max(s.sent, ack)
	s.wait = s.h.net.TCP.Retransmit
	s.set(&s.retry, retryAlarm, 0)
	if s.h.blocked == s || s.written < s.asked && s.writable() {
		s.h.Wake()
	}
}

// take takes in data. A segment that does not continue the stream, or has arrived before, is
// answered with the position that is expected next.
func (s *socket) take(x *segment) {
	t := &s.h.net.TCP
	fresh := x.at + x.n - s.arrived
	if x.at > s.arrived || fresh <= 0 {
		s.must = true
		if t.Congestion != nil && fresh > 0 {
			s.keep(span{x.at, x.at + x.n})
		}
		return
	}
	fresh = s.joined(x.at+x.n) - s.arrived
	if s.read == s.arrived {
		s.h.unread++
	}
	count := s.h.net.count
	count.Taken += fresh
	s.arrived += fresh
	count.Fullest = max(count.Fullest, s.arrived-s.read)
	s.acknowledge(x.came)
	s.short = s.short || x.n < s.h.net.mss
	s.h.Probe.RequestReport((*landing)(s), uint64(fresh))
	if s.h.ProgramEnded() {
		s.consume(s.arrived - s.read)
		return
	}
	s.h.NotifyEvent()
}

// acknowledge decides when a segment that continues the stream and came at a time is acknowledged:
// at once if it is the second one, if a gap is left, or at the beginning and after a pause, when
// the sender's window is small (quick acknowledgements of Linux, unless data goes both ways); else
// after a while, if no data goes with the acknowledgement.
func (s *socket) acknowledge(came unit.Time) {
	t := &s.h.net.TCP
	if c := t.Congestion; c != nil && (s.came == 0 || came-s.came > t.Retransmit) {
		s.quick = c.Quick
	}
	s.came = came
	s.owed++
	switch {
	case s.owed >= t.AckEvery || len(s.early) > 0:
		s.must = true
	case s.quick > 0 && !s.both:
		s.must = true
	case s.delay.at == 0:
		s.set(&s.delay, delayAlarm, s.h.Kernel.Now()+t.AckDelay)
	}
	s.quick = max(s.quick-1, 0)
}

// consume takes n bytes out of the receive buffer, and packets whose last byte that is to the rank.
// The other side hears of the room when it is worth a segment: two segments, or half of the buffer.
func (s *socket) consume(n int) {
	s.read += n
	if s.read == s.arrived {
		s.h.unread--
	}
	for q := &s.peer.out; q.Head != nil && q.Head.Transit.Position <= s.read; {
		s.h.AppendToInbox(q.Pop())
	}
	net := s.h.net
	if c := net.TCP.Congestion; c != nil && c.Quick > 0 && s.short && !s.both && s.read == s.arrived {
		s.must = true // Linux 2.4: a read that empties the buffer acknowledges the end of a message
	}
	if room := s.read + net.TCP.ReceiveBuffer - s.edge; room >= min(2*net.mss, net.TCP.ReceiveBuffer/2) {
		s.must = true
	}
}
