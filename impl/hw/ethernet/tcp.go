package ethernet

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model/unit"
)

// socket is one end of the connection between two hosts. It counts the bytes of two streams, the
// one that it sends and the one that it receives. The contents are in packets, which stay queued at
// the sending socket until their last byte has been read.
//
// It emulates segments, delayed and piggybacked acknowledgements, window updates and
// retransmission. Without a congestion window all data after a lost segment is retransmitted.
// Connection setup and checksum errors are not emulated.
type socket struct {
	host *host
	peer *socket // the other end

	// The outgoing stream. Positions are bytes since its start: acked ≤ sent ≤ written ≤ requested.
	outPackets      core.PacketList
	requestedEnd    int  // end of the data that the program wants to write
	writtenEnd      int  // end of the data in the send buffer
	sentEnd         int  // end of the data sent
	highestSent     int  // largest value of sent so far
	ackedEnd        int  // end of the acknowledged data
	sendLimit       int  // end of the receiver's window
	isWriting       bool // a call of the program is sending
	retransmitTimer timer
	retryTime       unit.Time // retransmission timeout
	congestion

	// The incoming stream: read ≤ arrived ≤ offeredLimit.
	arrivedEnd       int
	readEnd          int        // end of the data that the program has read
	offeredLimit     int        // end of the window that the other side knows
	lastArrival      unit.Time  // arrival of the last segment
	unackedSegments  int        // number of unacknowledged segments
	quickAcks        int        // remaining segments to acknowledge at once, unless data flows in both directions
	isBidirectional  bool       // data was sent soon after data had arrived, and acknowledged it
	owesShortSegment bool       // a segment that was not full is unacknowledged
	acknowledgeNow   bool       // acknowledge at once
	ackDelayTimer    timer      // delays acknowledgements
	outOfOrder       []byteSpan // bytes received after a gap, in order; with a congestion window only
	latestOutOfOrder int        // start of the latest of them
}

// segment is a TCP segment.
type segment struct {
	receiver       *socket
	offset, length int // bytes of the stream
	ack            int // end of the data received on the other stream
	windowEnd      int // end of the window of the other stream
	isWindowProbe  bool
	arrival        unit.Time // arrival of its frame

	sackBlocks    [maxSackBlocks]byteSpan // spans of the other stream received after a gap
	numSackBlocks int                     // valid entries of sackBlocks
}

// timer is an alarm that can be reset while its event is pending.
type timer struct {
	expiry    unit.Time // when it expires; 0: not running
	nextEvent unit.Time // time of the next event; 0: none
}

// Timers of a socket or of a circuit.
const (
	ackTimer = iota
	retryTimer
)

// maxRetryFactor limits the exponential backoff of the retransmission timeout.
const maxRetryFactor = 64

// set makes the timer expire at a time, in an event of x with an argument; 0 stops it.
func (a *timer) set(k *sim.Kernel, x sim.EventHandler, alarm uint64, at unit.Time) {
	a.expiry = at
	if at > 0 && (a.nextEvent == 0 || at < a.nextEvent) {
		a.nextEvent = at
		k.Schedule(at, x, alarm)
	}
}

// hasExpired reports, in the timer's event, whether it has expired. Otherwise it schedules another
// event if needed.
func (a *timer) hasExpired(k *sim.Kernel, x sim.EventHandler, alarm uint64) bool {
	now := k.Now()
	if a.nextEvent != now {
		return false // a later event has replaced this one
	}
	a.nextEvent = 0
	if a.expiry > now {
		a.set(k, x, alarm, a.expiry)
		return false
	}
	return a.expiry > 0
}

// setTimer sets a timer of the socket.
func (s *socket) setTimer(a *timer, alarm uint64, at unit.Time) { a.set(&s.host.Kernel, s, alarm, at) }

// HandleEvent handles an expired timer.
func (s *socket) HandleEvent(alarm uint64) {
	switch {
	case alarm == ackTimer && s.ackDelayTimer.hasExpired(&s.host.Kernel, s, alarm):
		s.isBidirectional = false
		s.sendAcknowledgement()
	case alarm == retryTimer && s.retransmitTimer.hasExpired(&s.host.Kernel, s, alarm):
		s.retransmitAll(s.host.Kernel.Now())
	}
}

// freeSendBuffer returns the free bytes of the send buffer.
func (s *socket) freeSendBuffer() int {
	return s.host.network.TCP.SendBuffer - (s.writtenEnd - s.ackedEnd)
}

// sendableBytes returns the length of the next segment, or 0 if none can be sent now. A segment
// that does not contain all written data is sent only if it is full or half of the receiver's
// buffer, to avoid the silly window syndrome (RFC 1122, 4.2.3.4). Nagle's algorithm is not used.
func (s *socket) sendableBytes() int {
	waits := s.writtenEnd - s.sentEnd
	n := min(waits, s.sendWindowEnd()-s.sentEnd, s.host.network.mss)
	if n == waits || n == s.host.network.mss || 2*n >= s.host.network.TCP.ReceiveBuffer {
		return max(n, 0)
	}
	return 0
}

// nextSegment returns the next segment to send, or nil. Lost segments come first.
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
	f.segment.offset, f.segment.length = s.sentEnd, n
	s.sentEnd += n
	fresh := max(s.sentEnd-s.highestSent, 0)
	s.highestSent += fresh
	s.host.network.statistics.TCPBytesSent += fresh
	s.host.network.statistics.TCPBytesRetransmitted += n - fresh
	return f
}

// newSegment returns a segment without data, which acknowledges all data received.
func (s *socket) newSegment() *frame {
	n := s.host.network
	f := n.newFrame()
	f.src, f.dst, f.payload = s.host.stationIndex, s.peer.host.stationIndex, n.TCP.Header
	s.offeredLimit = s.readEnd + n.TCP.ReceiveBuffer
	f.segment = segment{receiver: s.peer, ack: s.arrivedEnd, windowEnd: s.offeredLimit}
	s.fillSackBlocks(&f.segment)
	s.unackedSegments, s.acknowledgeNow, s.owesShortSegment = 0, false, false
	s.setTimer(&s.ackDelayTimer, ackTimer, 0)
	n.statistics.TCPSegments++
	return f
}

// sendAcknowledgement sends an acknowledgement from an interrupt.
func (s *socket) sendAcknowledgement() { s.host.sendFromInterrupt(s.newSegment()) }

// sendSegments sends, from an interrupt, all segments that can be sent. If a call of the program is
// sending, it leaves that to the call.
func (s *socket) sendSegments() {
	if s.isWriting {
		return
	}
	for f := s.nextSegment(); f != nil; f = s.nextSegment() {
		s.host.sendFromInterrupt(f)
	}
	s.startRetryTimer()
}

// startRetryTimer starts the retransmission timer unless it is running.
func (s *socket) startRetryTimer() {
	if s.retransmitTimer.expiry == 0 && s.writtenEnd > s.ackedEnd {
		s.setTimer(&s.retransmitTimer, retryTimer, s.host.Kernel.Now()+s.retryTime)
	}
}

// retransmitAll retransmits all unacknowledged data. If there is none because the window is closed,
// it probes the window.
func (s *socket) retransmitAll(now unit.Time) {
	s.retryTime = min(2*s.retryTime, maxRetryFactor*s.host.network.TCP.Retransmit)
	s.setTimer(&s.retransmitTimer, retryTimer, now+s.retryTime)
	if s.sentEnd > s.ackedEnd {
		s.handleTimeout()
		s.sendSegments()
		return
	}
	f := s.newSegment()
	f.segment.isWindowProbe = true
	s.host.sendFromInterrupt(f)
}

// receiveSegment handles an arrived segment.
func (s *socket) receiveSegment(x *segment) {
	s.sendLimit = max(s.sendLimit, x.windowEnd)
	if s.host.network.TCP.Congestion != nil {
		before, acked := s.bytesInFlight(), s.ackedEnd
		if x.ack > acked {
			s.dataAcknowledged(x.ack)
		}
		s.updateWindow(x, s.ackedEnd-acked, before)
	} else if x.ack > s.ackedEnd {
		s.dataAcknowledged(x.ack)
	}
	s.acknowledgeNow = s.acknowledgeNow || x.isWindowProbe
	if x.length > 0 {
		s.receiveData(x)
	}
	s.sendSegments()
	if s.acknowledgeNow {
		s.sendAcknowledgement()
	}
}

// dataAcknowledged handles the acknowledgement of data.
func (s *socket) dataAcknowledged(ack int) {
	s.ackedEnd = ack
	s.sentEnd = max(s.sentEnd, ack)
	s.retryTime = s.host.network.TCP.Retransmit
	s.setTimer(&s.retransmitTimer, retryTimer, 0)
	if s.host.blockedSocket == s || s.writtenEnd < s.requestedEnd && s.isWritable() {
		s.host.NotifyEvent() // wakes a rank that waits for any event (device.Watch), too
	}
}

// receiveData handles data. It acknowledges a segment that is out of order or a duplicate with the
// expected position.
func (s *socket) receiveData(x *segment) {
	t := &s.host.network.TCP
	fresh := x.offset + x.length - s.arrivedEnd
	if x.offset > s.arrivedEnd || fresh <= 0 {
		s.acknowledgeNow = true
		if t.Congestion != nil && fresh > 0 {
			s.keepOutOfOrder(byteSpan{x.offset, x.offset + x.length})
		}
		return
	}
	fresh = s.mergeOutOfOrder(x.offset+x.length) - s.arrivedEnd
	if s.readEnd == s.arrivedEnd {
		s.host.unreadSocketCount++
	}
	count := s.host.network.statistics
	count.TCPBytesReceived += fresh
	s.arrivedEnd += fresh
	count.MaxReceiveBufferBytes = max(count.MaxReceiveBufferBytes, s.arrivedEnd-s.readEnd)
	s.scheduleAcknowledgement(x.arrival)
	s.owesShortSegment = s.owesShortSegment || x.length < s.host.network.mss
	s.host.Probe.ReportIfObserved((*arrivalReport)(s), uint64(fresh))
	if s.host.HasProgramEnded() {
		s.readBytes(s.arrivedEnd - s.readEnd)
		return
	}
	s.host.NotifyEvent()
}

// scheduleAcknowledgement decides when to acknowledge a segment that continues the stream. It does
// so at once for every second segment, if a gap remains, and at the start or after a pause, when
// the sender's window is small (Linux's quick acknowledgements, unless data flows in both
// directions). Otherwise it delays the acknowledgement until data is sent or the timer expires.
func (s *socket) scheduleAcknowledgement(came unit.Time) {
	t := &s.host.network.TCP
	if c := t.Congestion; c != nil && (s.lastArrival == 0 || came-s.lastArrival > t.Retransmit) {
		s.quickAcks = c.QuickAckSegments
	}
	s.lastArrival = came
	s.unackedSegments++
	switch {
	case s.unackedSegments >= t.AckEvery || len(s.outOfOrder) > 0:
		s.acknowledgeNow = true
	case s.quickAcks > 0 && !s.isBidirectional:
		s.acknowledgeNow = true
	case s.ackDelayTimer.expiry == 0:
		s.setTimer(&s.ackDelayTimer, ackTimer, s.host.Kernel.Now()+t.AckDelay)
	}
	s.quickAcks = max(s.quickAcks-1, 0)
}

// readBytes removes n bytes from the receive buffer, and passes packets that are complete with them
// to the rank. It announces the new window if it has grown by two segments or half of the buffer.
func (s *socket) readBytes(n int) {
	s.readEnd += n
	if s.readEnd == s.arrivedEnd {
		s.host.unreadSocketCount--
	}
	for q := &s.peer.outPackets; q.Head != nil && q.Head.Transit.Position <= s.readEnd; {
		s.host.AppendToInbox(q.Pop())
	}
	net := s.host.network
	if c := net.TCP.Congestion; c != nil && c.QuickAckSegments > 0 && s.owesShortSegment && !s.isBidirectional && s.readEnd == s.arrivedEnd {
		s.acknowledgeNow = true // Linux 2.4: a read that empties the buffer acknowledges the end of a message
	}
	if room := s.readEnd + net.TCP.ReceiveBuffer - s.offeredLimit; room >= min(2*net.mss, net.TCP.ReceiveBuffer/2) {
		s.acknowledgeNow = true
	}
}
