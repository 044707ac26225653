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
	host *host
	peer *socket // the other end

	// The stream out. Its positions are bytes since the beginning: acked ≤ sent ≤ written ≤ asked.
	outPackets      core.PacketList
	requestedEnd    int  // the end of what the program has to write
	written         int  // the end of what is in the send buffer
	sent            int  // the end of what has been sent
	highestSent     int  // the end of what has ever been sent
	acked           int  // the end of what has arrived at the other side
	sendLimit       int  // the end of what the other side has room for
	isWriting       bool // the program's own call is sending
	retransmitTimer timer
	retryTime       unit.Time // until a segment is taken for lost
	congestion

	// The stream in: read ≤ arrived ≤ edge.
	arrived          int
	read             int       // the end of what the program has read
	offeredLimit     int       // the end of the room that the other side was told of
	lastArrival      unit.Time // when the last segment of the stream came
	unacknowledged   int       // segments that are not acknowledged
	quickAcks        int       // remaining segments that are acknowledged at once, unless data goes both ways
	isBidirectional  bool      // data was sent soon after data had come, which acknowledges it
	owesShortSegment bool      // a segment that was not full is not acknowledged
	acknowledgeNow   bool      // acknowledge at once
	ackDelayTimer    timer     // of an acknowledgement
	outOfOrder       []span    // received bytes behind a gap, in order, if there is a congestion window
	latestOutOfOrder int       // where the latest of it begins
}

// segment is what TCP says in a frame.
type segment struct {
	receiver       *socket
	offset, length int // bytes of the stream
	ack            int // of the other stream: all before it are there
	windowEnd      int // and room up to here
	isWindowProbe  bool
	arrival        unit.Time // when its frame came

	sackBlocks    [maxSackBlocks]span // of the other stream, that are there behind a gap
	numSackBlocks int                 // valid entries of sackBlocks
}

// timer is an alarm that can be reset while its event is pending.
type timer struct {
	expiry    unit.Time // when it rings; 0: it does not
	nextEvent unit.Time // when there is an event next; 0: there is none
}

// Alarms of a socket, or of a circuit.
const (
	ackTimer = iota
	retryTimer
)

// maxRetryFactor bounds the doubling of the time until a segment is sent again.
const maxRetryFactor = 64

// set lets an alarm ring at a time, as an event of x with an argument; 0 stops it.
func (a *timer) set(k *sim.Kernel, x sim.EventHandler, alarm uint64, at unit.Time) {
	a.expiry = at
	if at > 0 && (a.nextEvent == 0 || at < a.nextEvent) {
		a.nextEvent = at
		k.Schedule(at, x, alarm)
	}
}

// hasExpired reports at its event whether the alarm rings now. If it is to ring later it gets
// another event.
func (a *timer) hasExpired(k *sim.Kernel, x sim.EventHandler, alarm uint64) bool {
	now := k.Now()
	if a.nextEvent != now {
		return false // another event has taken its place
	}
	a.nextEvent = 0
	if a.expiry > now {
		a.set(k, x, alarm, a.expiry)
		return false
	}
	return a.expiry > 0
}

// setTimer sets an alarm of the socket.
func (s *socket) setTimer(a *timer, alarm uint64, at unit.Time) { a.set(&s.host.Kernel, s, alarm, at) }

// HandleEvent is the event of an alarm.
func (s *socket) HandleEvent(alarm uint64) {
	switch {
	case alarm == ackTimer && s.ackDelayTimer.hasExpired(&s.host.Kernel, s, alarm):
		s.isBidirectional = false
		s.sendAcknowledgement()
	case alarm == retryTimer && s.retransmitTimer.hasExpired(&s.host.Kernel, s, alarm):
		s.retransmit(s.host.Kernel.Now())
	}
}

// freeSendBuffer returns how many bytes the send buffer takes.
func (s *socket) freeSendBuffer() int { return s.host.network.TCP.SendBuffer - (s.written - s.acked) }

// sendableBytes returns the length of the segment that can be sent now, or 0. Part of the waiting
// data is only sent if it fills a segment or half of the other side's buffer, so that windows do
// not get smaller and smaller (RFC 1122, 4.2.3.4). Nagle's algorithm is not used.
func (s *socket) sendableBytes() int {
	waits := s.written - s.sent
	n := min(waits, s.sendWindowEnd()-s.sent, s.host.network.mss)
	if n == waits || n == s.host.network.mss || 2*n >= s.host.network.TCP.ReceiveBuffer {
		return max(n, 0)
	}
	return 0
}

// nextSegment takes the next segment of the stream, or returns nil. A lost one is first.
func (s *socket) nextSegment() *frame {
	if x, ok := s.nextLostSpan(); ok {
		return s.resendSpan(x)
	}
	n := s.sendableBytes()
	if n == 0 {
		return nil
	}
	s.restartIdleWindow()
	f := s.newSegment()
	f.payload += n
	f.segment.offset, f.segment.length = s.sent, n
	s.sent += n
	fresh := max(s.sent-s.highestSent, 0)
	s.highestSent += fresh
	s.host.network.statistics.TCPBytesSent += fresh
	s.host.network.statistics.TCPBytesRetransmitted += n - fresh
	return f
}

// newSegment returns a segment without data, which acknowledges all that has arrived.
func (s *socket) newSegment() *frame {
	n := s.host.network
	f := n.newFrame()
	f.src, f.dst, f.payload = s.host.stationIndex, s.peer.host.stationIndex, n.TCP.Header
	s.offeredLimit = s.read + n.TCP.ReceiveBuffer
	f.segment = segment{receiver: s.peer, ack: s.arrived, windowEnd: s.offeredLimit}
	s.fillSackBlocks(&f.segment)
	s.unacknowledged, s.acknowledgeNow, s.owesShortSegment = 0, false, false
	s.setTimer(&s.ackDelayTimer, ackTimer, 0)
	n.statistics.TCPSegments++
	return f
}

// sendAcknowledgement sends an acknowledgement from an interrupt.
func (s *socket) sendAcknowledgement() { s.host.sendFromInterrupt(s.newSegment()) }

// flush sends what can be sent from an interrupt. If the program's own call is sending it does that
// as well.
func (s *socket) flush() {
	if s.isWriting {
		return
	}
	for f := s.nextSegment(); f != nil; f = s.nextSegment() {
		s.host.sendFromInterrupt(f)
	}
	s.startRetryTimer()
}

// startRetryTimer sets the alarm that rings if nothing is heard of what was written, unless it is
// set.
func (s *socket) startRetryTimer() {
	if s.retransmitTimer.expiry == 0 && s.written > s.acked {
		s.setTimer(&s.retransmitTimer, retryTimer, s.host.Kernel.Now()+s.retryTime)
	}
}

// retransmit retransmits all unacknowledged data. If there is none because the window is closed, it
// probes the window.
func (s *socket) retransmit(now unit.Time) {
	s.retryTime = min(2*s.retryTime, maxRetryFactor*s.host.network.TCP.Retransmit)
	s.setTimer(&s.retransmitTimer, retryTimer, now+s.retryTime)
	if s.sent > s.acked {
		s.handleTimeout()
		s.flush()
		return
	}
	f := s.newSegment()
	f.segment.isWindowProbe = true
	s.host.sendFromInterrupt(f)
}

// receiveSegment takes in a segment.
func (s *socket) receiveSegment(x *segment) {
	s.sendLimit = max(s.sendLimit, x.windowEnd)
	if s.host.network.TCP.Congestion != nil {
		before, acked := s.bytesInFlight(), s.acked
		if x.ack > acked {
			s.dataAcknowledged(x.ack)
		}
		s.updateWindow(x, s.acked-acked, before)
	} else if x.ack > s.acked {
		s.dataAcknowledged(x.ack)
	}
	s.acknowledgeNow = s.acknowledgeNow || x.isWindowProbe
	if x.length > 0 {
		s.receiveData(x)
	}
	s.flush()
	if s.acknowledgeNow {
		s.sendAcknowledgement()
	}
}

// dataAcknowledged notes that what was sent has arrived.
func (s *socket) dataAcknowledged(ack int) {
	s.acked = ack
	s.sent = max(s.sent, ack)
	s.retryTime = s.host.network.TCP.Retransmit
	s.setTimer(&s.retransmitTimer, retryTimer, 0)
	if s.host.blockedSocket == s || s.written < s.requestedEnd && s.isWritable() {
		s.host.NotifyEvent() // also of a rank that waits for events of any kind (device.Watch)
	}
}

// receiveData takes in data. A segment that does not continue the stream, or has arrived before, is
// answered with the position that is expected next.
func (s *socket) receiveData(x *segment) {
	t := &s.host.network.TCP
	fresh := x.offset + x.length - s.arrived
	if x.offset > s.arrived || fresh <= 0 {
		s.acknowledgeNow = true
		if t.Congestion != nil && fresh > 0 {
			s.keepOutOfOrder(span{x.offset, x.offset + x.length})
		}
		return
	}
	fresh = s.mergeOutOfOrder(x.offset+x.length) - s.arrived
	if s.read == s.arrived {
		s.host.unreadSocketCount++
	}
	count := s.host.network.statistics
	count.TCPBytesReceived += fresh
	s.arrived += fresh
	count.MaxReceiveBufferBytes = max(count.MaxReceiveBufferBytes, s.arrived-s.read)
	s.scheduleAcknowledgement(x.arrival)
	s.owesShortSegment = s.owesShortSegment || x.length < s.host.network.mss
	s.host.Probe.ReportIfObserved((*arrivalReport)(s), uint64(fresh))
	if s.host.HasProgramEnded() {
		s.readBytes(s.arrived - s.read)
		return
	}
	s.host.NotifyEvent()
}

// scheduleAcknowledgement decides when a segment that continues the stream and came at a time is
// acknowledged: at once if it is the second one, if a gap is left, or at the beginning and after a
// pause, when the sender's window is small (quick acknowledgements of Linux, unless data goes both
// ways); else after a while, if no data goes with the acknowledgement.
func (s *socket) scheduleAcknowledgement(came unit.Time) {
	t := &s.host.network.TCP
	if c := t.Congestion; c != nil && (s.lastArrival == 0 || came-s.lastArrival > t.Retransmit) {
		s.quickAcks = c.QuickAckSegments
	}
	s.lastArrival = came
	s.unacknowledged++
	switch {
	case s.unacknowledged >= t.AckEvery || len(s.outOfOrder) > 0:
		s.acknowledgeNow = true
	case s.quickAcks > 0 && !s.isBidirectional:
		s.acknowledgeNow = true
	case s.ackDelayTimer.expiry == 0:
		s.setTimer(&s.ackDelayTimer, ackTimer, s.host.Kernel.Now()+t.AckDelay)
	}
	s.quickAcks = max(s.quickAcks-1, 0)
}

// readBytes takes n bytes out of the receive buffer, and packets whose last byte that is to the
// rank. The other side hears of the room when it is worth a segment: two segments, or half of the
// buffer.
func (s *socket) readBytes(n int) {
	s.read += n
	if s.read == s.arrived {
		s.host.unreadSocketCount--
	}
	for q := &s.peer.outPackets; q.Head != nil && q.Head.Transit.Position <= s.read; {
		s.host.AppendToInbox(q.Pop())
	}
	net := s.host.network
	if c := net.TCP.Congestion; c != nil && c.QuickAckSegments > 0 && s.owesShortSegment && !s.isBidirectional && s.read == s.arrived {
		s.acknowledgeNow = true // Linux 2.4: a read that empties the buffer acknowledges the end of a message
	}
	if room := s.read + net.TCP.ReceiveBuffer - s.offeredLimit; room >= min(2*net.mss, net.TCP.ReceiveBuffer/2) {
		s.acknowledgeNow = true
	}
}
