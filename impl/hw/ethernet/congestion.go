package ethernet

import "github.com/loggp/loggp/model/unit"

// congestion is the congestion control of a stream's sender: slow start, congestion avoidance, fast
// retransmission and fast recovery (RFC 2581), which goes on at a partial acknowledgement (NewReno,
// RFC 2582). It is used where the model has a model.Congestion.
type congestion struct {
	window     int       // bytes that may be under way
	threshold  int       // up to which the window grows by a segment with each acknowledgement
	repeats    int       // acknowledgements of the same position, of segments behind a gap
	recovering bool      // a segment was sent again, as it was taken for lost
	recover    int       // what had been sent then, or when the last timeout was
	used       unit.Time // when data was sent last
}

// span is bytes of a stream.
type span struct{ from, to int }

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
	return min(s.limit, s.acked+s.congestion.window)
}

// uses notes that data is sent. Of a connection that was idle the window is half after each timeout, as
// the network may have changed (RFC 2861; Linux 2.4).
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
}

// half sets the threshold to half of the bytes in flight.
func (s *socket) half() { s.congestion.threshold = max((s.sent-s.acked)/2, 2*s.h.net.mss) }

// opens lets the window grow when bytes are acknowledged, if they filled it.
func (s *socket) opens(bytes int) {
	if s.h.net.TCP.Congestion == nil {
		return
	}
	c, mss := &s.congestion, s.h.net.mss
	c.repeats = 0
	switch {
	case c.recovering && s.acked >= c.recover:
		c.recovering, c.window = false, c.threshold
	case c.recovering: // what follows is lost, too
		c.window = max(c.window-bytes, 0) + mss
		s.resend()
	case s.sent-s.acked+bytes+mss <= c.window: // it was not full
	case c.window < c.threshold:
		c.window += mss
	default:
		c.window += max(mss*mss/c.window, 1)
	}
	c.window = min(c.window, s.h.net.TCP.SendBuffer+mss)
}

// repeated handles a duplicate acknowledgement. The first few indicate that a segment is lost, each
// further one that a segment has left the network.
func (s *socket) repeated() {
	c, mss := &s.congestion, s.h.net.mss
	c.repeats++
	switch most := s.h.net.TCP.Congestion.Duplicates; {
	case c.recovering:
		c.window += mss
	case c.repeats == most && s.acked >= c.recover:
		s.half()
		c.recovering, c.recover, c.window = true, s.sent, c.threshold+most*mss
		s.resend()
	}
}

// resend sends the first segment that is not acknowledged once more.
func (s *socket) resend() {
	f := s.frame()
	n := min(s.sent-s.acked, s.h.net.mss)
	f.payload += n
	f.segment.at, f.segment.n = s.acked, n
	s.h.net.count.Again += n
	s.h.net.count.Fast++
	s.h.later(f)
	s.set(&s.retry, retryAlarm, s.h.Kernel.Now()+s.wait)
}

// collapse is a timeout: slow start begins anew.
func (s *socket) collapse() {
	s.h.net.count.Timeouts++
	if s.h.net.TCP.Congestion == nil {
		return
	}
	c := &s.congestion
	s.half()
	c.window, c.recovering, c.recover, c.repeats = s.h.net.mss, false, s.most, 0
}

// keep notes a segment that has arrived out of order.
func (s *socket) keep(x span) {
	i := 0
	for i < len(s.early) && s.early[i].to < x.from {
		i++
	}
	j := i
	for ; j < len(s.early) && s.early[j].from <= x.to; j++ {
		x.from, x.to = min(x.from, s.early[j].from), max(x.to, s.early[j].to)
	}
	if i == j {
		s.early = append(s.early, span{})
		copy(s.early[i+1:], s.early[i:])
		j = i + 1
	}
	s.early[i] = x
	s.early = append(s.early[:i+1], s.early[j:]...)
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
