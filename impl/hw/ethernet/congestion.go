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
	window    int        // bytes that may be in flight
	threshold int        // up to which the window grows by a segment with each acknowledgement
	phase     phase      // after a loss
	recover   int        // what had been sent at the loss: its acknowledgement ends the phase
	lost      int        // bytes below, which the receiver has not reported, are lost
	repeats   int        // acknowledgements of the same position that report something new
	halving   bool       // this acknowledgement lets the window shrink, the next does not
	reported  []span     // what the receiver has behind a gap, in order
	resent    []repeated // what was sent again, in order
	used      unit.Time  // when data was sent last
}

// phase is what a sender does about a loss.
type phase uint8

const (
	normal     phase = iota
	recovering       // lost segments are sent again at once
	restarting       // after a timeout: all that was not reported is lost, and slow start begins anew
)

// span is bytes of a stream.
type span struct{ from, to int }

// repeated is a span that was sent again. If the receiver reports data that was sent after it, it
// was lost again.
type repeated struct {
	span
	after int // what had been sent then
}

// blocks are the spans that a selective acknowledgement has room for, beside time stamps.
const blocks = 3

// burst is how many segments a window that is not full lets through at once (Linux 2.4:
// tcp_max_burst).
const burst = 3

// fresh is the beginning of a connection.
func (s *socket) fresh() {
	if c := s.h.net.TCP.Congestion; c != nil {
		s.congestion = congestion{window: c.Initial * s.h.net.mss, threshold: s.h.net.TCP.ReceiveBuffer}
	}
}

// allowed returns the end of what the other side has room for, and the network.
func (s *socket) allowed() int {
	if s.h.net.TCP.Congestion == nil {
		return s.limit
	}
	return min(s.limit, s.sent+max(s.window-s.flying(), 0))
}

// flying returns the bytes in flight.
func (s *socket) flying() int {
	c := &s.congestion
	n := s.sent - s.acked
	if len(c.reported) == 0 && c.lost <= s.acked {
		return n
	}
	at := s.acked
	for _, x := range c.reported {
		n -= x.to - x.from + max(min(x.from, c.lost)-at, 0)
		at = x.to
	}
	n -= max(min(s.sent, c.lost)-at, 0)
	for _, x := range c.resent {
		n += x.to - x.from
	}
	return n
}

// uses notes that data is sent. Of a connection that was idle the window is half after each
// timeout, as the network may have changed (RFC 2861; Linux 2.4).
func (s *socket) uses() {
	c := s.h.net.TCP.Congestion
	if c == nil {
		return
	}
	x, now := &s.congestion, s.h.Kernel.Now()
	if s.sent == s.acked {
		first := c.Initial * s.h.net.mss
		for idle := now - x.used - s.wait; idle > 0 && x.window > first; idle -= s.wait {
			x.threshold = max(x.threshold, x.window/4*3)
			x.window = max(x.window/2, first)
		}
	}
	x.used = now
	s.both = s.both || s.came > 0 && now-s.came < s.h.net.TCP.AckDelay
}

// acknowledged is what an acknowledgement does to the window: bytes of them are new, and before it
// so many were in flight.
func (s *socket) acknowledged(x *segment, bytes, before int) {
	c, mss := &s.congestion, s.h.net.mss
	c.forget(s.acked)
	grows := c.phase != recovering && bytes > 0 && before+mss > c.window // it was full
	news := false
	for _, b := range x.blocks[:x.has] {
		if b.from = max(b.from, s.acked); b.from < b.to && !covers(c.reported, b) {
			c.reported = insert(c.reported, b)
			news = true
		}
	}
	if bytes > 0 {
		c.repeats = 0
	} else if news {
		c.repeats++
	}
	if c.phase != normal && s.acked >= c.recover {
		if c.phase == recovering {
			c.window = min(c.window, c.threshold)
		}
		c.phase = normal
	}
	if grows {
		if c.window < c.threshold {
			c.window += mss
		} else {
			c.window += max(mss*mss/c.window, 1)
		}
		c.window = min(c.window, s.h.net.TCP.SendBuffer+mss)
	}
	if len(c.reported) == 0 && c.phase == normal {
		return
	}
	s.judge()
	if c.phase != recovering {
		c.window = min(c.window, s.flying()+burst*mss)
		return
	}
	if c.halving = !c.halving; c.halving {
		c.window = max(c.window-mss, min(c.window, c.threshold/2))
	}
	c.window = min(c.window, s.flying()+mss)
}

// judge finds what is lost by what the receiver has reported: what is more segments below the
// highest of it than can have been reordered.
func (s *socket) judge() {
	c, mss := &s.congestion, s.h.net.mss
	if len(c.reported) == 0 || c.phase == restarting {
		return
	}
	most := s.h.net.TCP.Congestion.Duplicates
	high := c.reported[len(c.reported)-1].to
	if c.phase == normal {
		if c.repeats < most && high-s.acked <= most*mss && c.lost <= s.acked {
			return
		}
		c.phase, c.recover, c.halving = recovering, s.sent, false
		c.threshold = max(c.window/2, 2*mss)
	}
	c.lost = max(c.lost, high-most*mss, min(s.acked+mss, c.reported[0].from))
	c.resent = slices.DeleteFunc(c.resent, func(x repeated) bool { return x.after < high })
}

// forget drops what is known of data below a position, which is acknowledged.
func (c *congestion) forget(acked int) {
	for len(c.reported) > 0 && c.reported[0].from <= acked {
		if c.reported[0].to > acked {
			c.reported[0].from = acked
			break
		}
		c.reported = slices.Delete(c.reported, 0, 1)
	}
	for len(c.resent) > 0 && c.resent[0].from < acked {
		if c.resent[0].to > acked {
			c.resent[0].from = acked
			break
		}
		c.resent = slices.Delete(c.resent, 0, 1)
	}
}

// hole returns the first lost segment that was not sent again, or none.
func (s *socket) hole() (x span, ok bool) {
	c, mss := &s.congestion, s.h.net.mss
	if c.phase == normal || s.flying() >= c.window {
		return span{}, false
	}
	end := c.lost
	if c.phase == recovering && len(c.reported) > 0 && s.due() == 0 {
		end = c.reported[len(c.reported)-1].to // nothing else can be sent
	}
	at, i, j := s.acked, 0, 0
	for at < end {
		switch {
		case i < len(c.reported) && c.reported[i].from <= at:
			at = max(at, c.reported[i].to)
			i++
		case j < len(c.resent) && c.resent[j].from <= at:
			at = max(at, c.resent[j].to)
			j++
		default:
			to := min(at+mss, end, s.sent)
			if i < len(c.reported) {
				to = min(to, c.reported[i].from)
			}
			if j < len(c.resent) {
				to = min(to, c.resent[j].from)
			}
			return span{at, to}, at < to
		}
	}
	return span{}, false
}

// resend returns the segment of a hole.
func (s *socket) resend(x span) *frame {
	c := &s.congestion
	i := 0
	for i < len(c.resent) && c.resent[i].from < x.from {
		i++
	}
	c.resent = slices.Insert(c.resent, i, repeated{x, s.sent})
	f := s.frame()
	n := x.to - x.from
	f.payload += n
	f.segment.at, f.segment.n = x.from, n
	s.h.net.count.Again += n
	if c.phase == recovering {
		s.h.net.count.Fast++
	}
	if x.from == s.acked {
		s.set(&s.retry, retryAlarm, s.h.Kernel.Now()+s.wait)
	}
	return f
}

// collapse is a timeout: all that is not reported is lost, and slow start begins anew.
func (s *socket) collapse() {
	s.h.net.count.Timeouts++
	if s.h.net.TCP.Congestion == nil {
		s.sent = s.acked
		return
	}
	c, mss := &s.congestion, s.h.net.mss
	if c.phase != restarting || s.acked >= c.recover {
		c.threshold = max(c.window/2, 2*mss)
	}
	c.window, c.phase, c.recover, c.lost, c.repeats = mss, restarting, s.sent, s.sent, 0
	c.resent = c.resent[:0]
}

// covers reports whether spans cover a span.
func covers(all []span, x span) bool {
	return slices.ContainsFunc(all, func(y span) bool { return y.from <= x.from && x.to <= y.to })
}

// insert adds a span to spans that are in order and do not touch each other.
func insert(all []span, x span) []span {
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

// keep notes a segment that has arrived out of order.
func (s *socket) keep(x span) {
	s.early, s.latest = insert(s.early, x), x.from
}

// report puts what is there behind the gap into a selective acknowledgement: where the latest
// segment is first, and then the highest.
func (s *socket) report(x *segment) {
	x.has = 0
	for _, y := range s.early {
		if y.from <= s.latest && s.latest < y.to {
			x.blocks[0], x.has = y, 1
		}
	}
	for i := len(s.early) - 1; i >= 0 && x.has < blocks; i-- {
		if y := s.early[i]; x.has == 0 || y != x.blocks[0] {
			x.blocks[x.has] = y
			x.has++
		}
	}
}

// joined removes the out-of-order segments that continue the stream, whose data is complete up to
// from, and returns its new end.
func (s *socket) joined(from int) int {
	for len(s.early) > 0 && s.early[0].from <= from {
		from = max(from, s.early[0].to)
		s.early = s.early[:copy(s.early, s.early[1:])]
		s.must = true // so that the sender hears of it
	}
	return from
}
