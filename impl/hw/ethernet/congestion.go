package ethernet

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// congestion is the congestion control of a stream's sender, as Linux 2.4 has it: slow start and
// congestion avoidance (RFC 2581), selective acknowledgements (RFC 2018), which say what is lost
// (FACK: Mathis and Mahdavi, SIGCOMM 1996), and a window that shrinks by a segment with every
// second acknowledgement until it is half (rate halving). It is used where the model has a
// model.Congestion.
//
// The window bounds what is in flight: bytes that were sent, and are neither acknowledged, nor
// reported by the receiver, nor lost.
type congestion struct {
	window          int          // bytes that may be in flight
	threshold       int          // up to which the window grows by a segment with each acknowledgement
	phase           lossPhase    // after a loss
	recoverPoint    int          // what had been sent at the loss: its acknowledgement ends the phase
	lostBelow       int          // bytes below, which the receiver has not reported, are lost
	duplicateAcks   int          // acknowledgements of the same position that report something new
	skipNextHalving bool         // this acknowledgement lets the window shrink, the next does not
	sacked          []span       // what the receiver has behind a gap, in order
	resentSpans     []resentSpan // what was sent again, in order
	lastSend        unit.Time    // when data was sent last
}

// lossPhase is what a sender does about a loss.
type lossPhase uint8

const (
	noLoss     lossPhase = iota
	recovering           // lost segments are sent again at once
	restarting           // after a timeout: all that was not reported is lost, and slow start begins anew
)

// span is bytes of a stream.
type span struct{ from, to int }

// resentSpan is a span that was sent again. If the receiver reports data that was sent after it, it
// was lost again.
type resentSpan struct {
	span
	sentBefore int // what had been sent then
}

// maxSackBlocks are the spans that a selective acknowledgement has room for, beside time stamps.
const maxSackBlocks = 3

// maxBurstSegments is how many segments a window that is not full lets through at once (Linux 2.4:
// tcp_max_burst).
const maxBurstSegments = 3

// initCongestion is the beginning of a connection.
func (s *socket) initCongestion() {
	if c := s.host.network.TCP.Congestion; c != nil {
		s.congestion = congestion{window: c.InitialWindowSegments * s.host.network.mss, threshold: s.host.network.TCP.ReceiveBuffer}
	}
}

// sendWindowEnd returns the end of what the other side has room for, and the network.
func (s *socket) sendWindowEnd() int {
	if s.host.network.TCP.Congestion == nil {
		return s.sendLimit
	}
	return min(s.sendLimit, s.sent+max(s.window-s.bytesInFlight(), 0))
}

// bytesInFlight returns the bytes in flight.
func (s *socket) bytesInFlight() int {
	c := &s.congestion
	n := s.sent - s.acked
	if len(c.sacked) == 0 && c.lostBelow <= s.acked {
		return n
	}
	at := s.acked
	for _, x := range c.sacked {
		n -= x.to - x.from + max(min(x.from, c.lostBelow)-at, 0)
		at = x.to
	}
	n -= max(min(s.sent, c.lostBelow)-at, 0)
	for _, x := range c.resentSpans {
		n += x.to - x.from
	}
	return n
}

// restartIdleWindow notes that data is sent. Of a connection that was idle the window is half after
// each timeout, as the network may have changed (RFC 2861; Linux 2.4).
func (s *socket) restartIdleWindow() {
	c := s.host.network.TCP.Congestion
	if c == nil {
		return
	}
	x, now := &s.congestion, s.host.Kernel.Now()
	if s.sent == s.acked {
		first := c.InitialWindowSegments * s.host.network.mss
		for idle := now - x.lastSend - s.retryTime; idle > 0 && x.window > first; idle -= s.retryTime {
			x.threshold = max(x.threshold, x.window/4*3)
			x.window = max(x.window/2, first)
		}
	}
	x.lastSend = now
	s.isBidirectional = s.isBidirectional || s.lastArrival > 0 && now-s.lastArrival < s.host.network.TCP.AckDelay
}

// updateWindow is what an acknowledgement does to the window: bytes of them are new, and before it
// so many were in flight.
func (s *socket) updateWindow(x *segment, bytes, before int) {
	c, mss := &s.congestion, s.host.network.mss
	c.forgetBelow(s.acked)
	grows := c.phase != recovering && bytes > 0 && before+mss > c.window // it was full
	news := false
	for _, b := range x.sackBlocks[:x.numSackBlocks] {
		if b.from = max(b.from, s.acked); b.from < b.to && !isCovered(c.sacked, b) {
			c.sacked = insertSpan(c.sacked, b)
			news = true
		}
	}
	if bytes > 0 {
		c.duplicateAcks = 0
	} else if news {
		c.duplicateAcks++
	}
	if c.phase != noLoss && s.acked >= c.recoverPoint {
		if c.phase == recovering {
			c.window = min(c.window, c.threshold)
		}
		c.phase = noLoss
	}
	if grows {
		if c.window < c.threshold {
			c.window += mss
		} else {
			c.window += max(mss*mss/c.window, 1)
		}
		c.window = min(c.window, s.host.network.TCP.SendBuffer+mss)
	}
	if len(c.sacked) == 0 && c.phase == noLoss {
		return
	}
	s.detectLoss()
	if c.phase != recovering {
		c.window = min(c.window, s.bytesInFlight()+maxBurstSegments*mss)
		return
	}
	if c.skipNextHalving = !c.skipNextHalving; c.skipNextHalving {
		c.window = max(c.window-mss, min(c.window, c.threshold/2))
	}
	c.window = min(c.window, s.bytesInFlight()+mss)
}

// detectLoss finds what is lost by what the receiver has reported: what is more segments below the
// highest of it than can have been reordered.
func (s *socket) detectLoss() {
	c, mss := &s.congestion, s.host.network.mss
	if len(c.sacked) == 0 || c.phase == restarting {
		return
	}
	most := s.host.network.TCP.Congestion.ReorderToleranceSegments
	high := c.sacked[len(c.sacked)-1].to
	if c.phase == noLoss {
		if c.duplicateAcks < most && high-s.acked <= most*mss && c.lostBelow <= s.acked {
			return
		}
		c.phase, c.recoverPoint, c.skipNextHalving = recovering, s.sent, false
		c.threshold = max(c.window/2, 2*mss)
	}
	c.lostBelow = max(c.lostBelow, high-most*mss, min(s.acked+mss, c.sacked[0].from))
	c.resentSpans = slices.DeleteFunc(c.resentSpans, func(x resentSpan) bool { return x.sentBefore < high })
}

// forgetBelow drops what is known of data below a position, which is acknowledged.
func (c *congestion) forgetBelow(acked int) {
	for len(c.sacked) > 0 && c.sacked[0].from <= acked {
		if c.sacked[0].to > acked {
			c.sacked[0].from = acked
			break
		}
		c.sacked = slices.Delete(c.sacked, 0, 1)
	}
	for len(c.resentSpans) > 0 && c.resentSpans[0].from < acked {
		if c.resentSpans[0].to > acked {
			c.resentSpans[0].from = acked
			break
		}
		c.resentSpans = slices.Delete(c.resentSpans, 0, 1)
	}
}

// nextLostSpan returns the first lost segment that was not sent again, or none.
func (s *socket) nextLostSpan() (x span, ok bool) {
	c, mss := &s.congestion, s.host.network.mss
	if c.phase == noLoss || s.bytesInFlight() >= c.window {
		return span{}, false
	}
	end := c.lostBelow
	if c.phase == recovering && len(c.sacked) > 0 && s.sendableBytes() == 0 {
		end = c.sacked[len(c.sacked)-1].to // nothing else can be sent
	}
	at, i, j := s.acked, 0, 0
	for at < end {
		switch {
		case i < len(c.sacked) && c.sacked[i].from <= at:
			at = max(at, c.sacked[i].to)
			i++
		case j < len(c.resentSpans) && c.resentSpans[j].from <= at:
			at = max(at, c.resentSpans[j].to)
			j++
		default:
			to := min(at+mss, end, s.sent)
			if i < len(c.sacked) {
				to = min(to, c.sacked[i].from)
			}
			if j < len(c.resentSpans) {
				to = min(to, c.resentSpans[j].from)
			}
			return span{at, to}, at < to
		}
	}
	return span{}, false
}

// resendSpan returns the segment of a hole.
func (s *socket) resendSpan(x span) *frame {
	c := &s.congestion
	i := 0
	for i < len(c.resentSpans) && c.resentSpans[i].from < x.from {
		i++
	}
	c.resentSpans = slices.Insert(c.resentSpans, i, resentSpan{x, s.sent})
	f := s.newSegment()
	n := x.to - x.from
	f.payload += n
	f.segment.offset, f.segment.length = x.from, n
	s.host.network.statistics.TCPBytesRetransmitted += n
	if c.phase == recovering {
		s.host.network.statistics.FastRetransmits++
	}
	if x.from == s.acked {
		s.setTimer(&s.retransmitTimer, retryTimer, s.host.Kernel.Now()+s.retryTime)
	}
	return f
}

// handleTimeout is a timeout: all that is not reported is lost, and slow start begins anew.
func (s *socket) handleTimeout() {
	s.host.network.statistics.TCPTimeouts++
	if s.host.network.TCP.Congestion == nil {
		s.sent = s.acked
		return
	}
	c, mss := &s.congestion, s.host.network.mss
	if c.phase != restarting || s.acked >= c.recoverPoint {
		c.threshold = max(c.window/2, 2*mss)
	}
	c.window, c.phase, c.recoverPoint, c.lostBelow, c.duplicateAcks = mss, restarting, s.sent, s.sent, 0
	c.resentSpans = c.resentSpans[:0]
}

// isCovered reports whether spans cover a span.
func isCovered(all []span, x span) bool {
	return slices.ContainsFunc(all, func(y span) bool { return y.from <= x.from && x.to <= y.to })
}

// insertSpan adds a span to spans that are in order and do not touch each other.
func insertSpan(all []span, x span) []span {
	i := 0
	for i < len(all) && all[i].to < x.from {
		i++
	}
	j := i
	for ; j < len(all) && all[j].from <= x.to; j++ {
		x.from, x.to = min(x.from, all[j].from), max(x.to, all[j].to)
	}
	return slices.Replace(all, i, j, x)
}

// keepOutOfOrder notes a segment that has arrived out of order.
func (s *socket) keepOutOfOrder(x span) {
	s.outOfOrder, s.latestOutOfOrder = insertSpan(s.outOfOrder, x), x.from
}

// fillSackBlocks puts what is there behind the gap into a selective acknowledgement: where the
// latest segment is first, and then the highest.
func (s *socket) fillSackBlocks(x *segment) {
	x.numSackBlocks = 0
	for _, y := range s.outOfOrder {
		if y.from <= s.latestOutOfOrder && s.latestOutOfOrder < y.to {
			x.sackBlocks[0], x.numSackBlocks = y, 1
		}
	}
	for i := len(s.outOfOrder) - 1; i >= 0 && x.numSackBlocks < maxSackBlocks; i-- {
		if y := s.outOfOrder[i]; x.numSackBlocks == 0 || y != x.sackBlocks[0] {
			x.sackBlocks[x.numSackBlocks] = y
			x.numSackBlocks++
		}
	}
}

// mergeOutOfOrder removes the out-of-order segments that continue the stream, whose data is
// complete up to from, and returns its new end.
func (s *socket) mergeOutOfOrder(from int) int {
	for len(s.outOfOrder) > 0 && s.outOfOrder[0].from <= from {
		from = max(from, s.outOfOrder[0].to)
		s.outOfOrder = s.outOfOrder[:copy(s.outOfOrder, s.outOfOrder[1:])]
		s.acknowledgeNow = true // so that the sender hears of it
	}
	return from
}
