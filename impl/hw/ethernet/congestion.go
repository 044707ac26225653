package ethernet

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// congestion is the congestion control of a stream's sender, as in Linux 2.4: slow start and
// congestion avoidance (RFC 2581); selective acknowledgements (RFC 2018), from which the sender
// infers losses (FACK: Mathis and Mahdavi, SIGCOMM 1996); and rate halving, in which the window
// shrinks by a segment with every second acknowledgement until it is half. It is used if the model
// has a model.Congestion.
//
// The window limits the bytes in flight: those sent and neither acknowledged, nor reported as
// received, nor lost.
type congestion struct {
	window          int          // limit on the bytes in flight
	threshold       int          // up to this window, each acknowledgement adds a segment (slow start)
	phase           lossPhase    // after a loss
	recoverPoint    int          // end of the data sent before the loss: its acknowledgement ends the phase
	lostBelow       int          // unreported bytes below this position are lost
	duplicateAcks   int          // acknowledgements of one position that report something new
	skipNextHalving bool         // of two acknowledgements in a row only this one shrinks the window
	sacked          []byteSpan   // reported as received after a gap, in order
	resentSpans     []resentSpan // retransmitted data, in order
	lastSend        unit.Time    // time of the last transmission of data
}

// lossPhase is the state of a sender's recovery from loss.
type lossPhase uint8

const (
	noLoss                 lossPhase = iota
	recoveringLoss                   // retransmits lost segments
	restartingAfterTimeout           // after a timeout: all unreported data is lost, and slow start begins again
)

// byteSpan is bytes of a stream.
type byteSpan struct{ from, to int }

// resentSpan is a retransmitted span. It was lost again if the receiver reports data that was sent
// after it.
type resentSpan struct {
	byteSpan
	sentBefore int // end of the data sent before the retransmission
}

// maxSackBlocks is the number of spans that fit into a selective acknowledgement, in addition to
// time stamps.
const maxSackBlocks = 3

// maxBurstSegments is the number of segments sent at once into a window that is not full (Linux
// 2.4: tcp_max_burst).
const maxBurstSegments = 3

// initCongestion sets the state of a new connection.
func (s *socket) initCongestion() {
	if c := s.host.network.TCP.Congestion; c != nil {
		s.congestion = congestion{window: c.InitialWindowSegments * s.host.network.mss, threshold: s.host.network.TCP.ReceiveBuffer}
	}
}

// sendWindowEnd returns the position up to which both the receiver's buffer and the congestion
// window allow sending.
func (s *socket) sendWindowEnd() int {
	if s.host.network.TCP.Congestion == nil {
		return s.sendLimit
	}
	return min(s.sendLimit, s.sentEnd+max(s.window-s.bytesInFlight(), 0))
}

// bytesInFlight returns the bytes in flight.
func (s *socket) bytesInFlight() int {
	c := &s.congestion
	n := s.sentEnd - s.ackedEnd
	if len(c.sacked) == 0 && c.lostBelow <= s.ackedEnd {
		return n
	}
	at := s.ackedEnd
	for _, x := range c.sacked {
		n -= x.to - x.from + max(min(x.from, c.lostBelow)-at, 0)
		at = x.to
	}
	n -= max(min(s.sentEnd, c.lostBelow)-at, 0)
	for _, x := range c.resentSpans {
		n += x.to - x.from
	}
	return n
}

// restartIdleWindow is called when data is sent. It halves the window for each timeout for which
// the connection was idle, because the network may have changed (RFC 2861; Linux 2.4).
func (s *socket) restartIdleWindow() {
	c := s.host.network.TCP.Congestion
	if c == nil {
		return
	}
	x, now := &s.congestion, s.host.Kernel.Now()
	if s.sentEnd == s.ackedEnd {
		first := c.InitialWindowSegments * s.host.network.mss
		for idle := now - x.lastSend - s.retryTime; idle > 0 && x.window > first; idle -= s.retryTime {
			x.threshold = max(x.threshold, x.window/4*3)
			x.window = max(x.window/2, first)
		}
	}
	x.lastSend = now
	s.isBidirectional = s.isBidirectional || s.lastArrival > 0 && now-s.lastArrival < s.host.network.TCP.AckDelay
}

// updateWindow updates the window for an acknowledgement. bytes are newly acknowledged, and before
// it the given number were in flight.
func (s *socket) updateWindow(x *segment, bytes, before int) {
	c, mss := &s.congestion, s.host.network.mss
	c.forgetBelow(s.ackedEnd)
	grows := c.phase != recoveringLoss && bytes > 0 && before+mss > c.window // grow only if the window was full
	news := false
	for _, b := range x.sackBlocks[:x.numSackBlocks] {
		if b.from = max(b.from, s.ackedEnd); b.from < b.to && !isCovered(c.sacked, b) {
			c.sacked = insertSpan(c.sacked, b)
			news = true
		}
	}
	if bytes > 0 {
		c.duplicateAcks = 0
	} else if news {
		c.duplicateAcks++
	}
	if c.phase != noLoss && s.ackedEnd >= c.recoverPoint {
		if c.phase == recoveringLoss {
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
	if c.phase != recoveringLoss {
		c.window = min(c.window, s.bytesInFlight()+maxBurstSegments*mss)
		return
	}
	if c.skipNextHalving = !c.skipNextHalving; c.skipNextHalving {
		c.window = max(c.window-mss, min(c.window, c.threshold/2))
	}
	c.window = min(c.window, s.bytesInFlight()+mss)
}

// detectLoss marks data as lost if it is further below the highest reported position than
// reordering explains.
func (s *socket) detectLoss() {
	c, mss := &s.congestion, s.host.network.mss
	if len(c.sacked) == 0 || c.phase == restartingAfterTimeout {
		return
	}
	most := s.host.network.TCP.Congestion.ReorderToleranceSegments
	high := c.sacked[len(c.sacked)-1].to
	if c.phase == noLoss {
		if c.duplicateAcks < most && high-s.ackedEnd <= most*mss && c.lostBelow <= s.ackedEnd {
			return
		}
		c.phase, c.recoverPoint, c.skipNextHalving = recoveringLoss, s.sentEnd, false
		c.threshold = max(c.window/2, 2*mss)
	}
	c.lostBelow = max(c.lostBelow, high-most*mss, min(s.ackedEnd+mss, c.sacked[0].from))
	c.resentSpans = slices.DeleteFunc(c.resentSpans, func(x resentSpan) bool { return x.sentBefore < high })
}

// forgetBelow drops the state of data below a position, which is acknowledged.
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

// nextLostSpan returns the first lost segment that was not retransmitted, or none.
func (s *socket) nextLostSpan() (x byteSpan, ok bool) {
	c, mss := &s.congestion, s.host.network.mss
	if c.phase == noLoss || s.bytesInFlight() >= c.window {
		return byteSpan{}, false
	}
	end := c.lostBelow
	if c.phase == recoveringLoss && len(c.sacked) > 0 && s.sendableBytes() == 0 {
		end = c.sacked[len(c.sacked)-1].to // nothing else can be sent
	}
	at, i, j := s.ackedEnd, 0, 0
	for at < end {
		switch {
		case i < len(c.sacked) && c.sacked[i].from <= at:
			at = max(at, c.sacked[i].to)
			i++
		case j < len(c.resentSpans) && c.resentSpans[j].from <= at:
			at = max(at, c.resentSpans[j].to)
			j++
		default:
			to := min(at+mss, end, s.sentEnd)
			if i < len(c.sacked) {
				to = min(to, c.sacked[i].from)
			}
			if j < len(c.resentSpans) {
				to = min(to, c.resentSpans[j].from)
			}
			return byteSpan{at, to}, at < to
		}
	}
	return byteSpan{}, false
}

// resendSpan returns a segment that retransmits lost data.
func (s *socket) resendSpan(x byteSpan) *frame {
	c := &s.congestion
	i := 0
	for i < len(c.resentSpans) && c.resentSpans[i].from < x.from {
		i++
	}
	c.resentSpans = slices.Insert(c.resentSpans, i, resentSpan{x, s.sentEnd})
	f := s.newSegment()
	n := x.to - x.from
	f.payload += n
	f.segment.offset, f.segment.length = x.from, n
	s.host.network.statistics.TCPBytesRetransmitted += n
	if c.phase == recoveringLoss {
		s.host.network.statistics.FastRetransmits++
	}
	if x.from == s.ackedEnd {
		s.setTimer(&s.retransmitTimer, retryTimer, s.host.Kernel.Now()+s.retryTime)
	}
	return f
}

// handleTimeout handles a retransmission timeout: all unreported data is lost, and slow start
// begins again.
func (s *socket) handleTimeout() {
	s.host.network.statistics.TCPTimeouts++
	if s.host.network.TCP.Congestion == nil {
		s.sentEnd = s.ackedEnd
		return
	}
	c, mss := &s.congestion, s.host.network.mss
	if c.phase != restartingAfterTimeout || s.ackedEnd >= c.recoverPoint {
		c.threshold = max(c.window/2, 2*mss)
	}
	c.window, c.phase, c.recoverPoint, c.lostBelow, c.duplicateAcks = mss, restartingAfterTimeout, s.sentEnd, s.sentEnd, 0
	c.resentSpans = c.resentSpans[:0]
}

// isCovered reports whether x is part of a span of a list.
func isCovered(all []byteSpan, x byteSpan) bool {
	return slices.ContainsFunc(all, func(y byteSpan) bool { return y.from <= x.from && x.to <= y.to })
}

// insertSpan adds a span to a list of disjoint spans in order.
func insertSpan(all []byteSpan, x byteSpan) []byteSpan {
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

// keepOutOfOrder records a segment that has arrived out of order.
func (s *socket) keepOutOfOrder(x byteSpan) {
	s.outOfOrder, s.latestOutOfOrder = insertSpan(s.outOfOrder, x), x.from
}

// fillSackBlocks stores the received spans after the gap in a selective acknowledgement: first the
// one with the latest segment, then the highest ones.
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

// mergeOutOfOrder removes the out-of-order segments that continue the stream, which is complete up
// to from. It returns the new end of the complete stream.
func (s *socket) mergeOutOfOrder(from int) int {
	for len(s.outOfOrder) > 0 && s.outOfOrder[0].from <= from {
		from = max(from, s.outOfOrder[0].to)
		s.outOfOrder = s.outOfOrder[:copy(s.outOfOrder, s.outOfOrder[1:])]
		s.acknowledgeNow = true // the gap has changed
	}
	return from
}
