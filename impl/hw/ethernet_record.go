package hw

import "github.com/loggp/loggp/model"

// names gives names to the medium and its stations. On the medium is what all carry, on a station its own frames.
func (n *lan) names() {
	n.probe.names(&n.medium, "Ethernet")
	for i := range n.stations {
		n.probe.names(&n.stations[i].name, "station %d", i)
	}
}

// signal reports what a station has sent until now.
type signal station

// report has how many stations sent: with the last of them the burst ends.
func (x *signal) report(sending uint64) {
	s := (*station)(x)
	now, f := s.kernel.Now(), s.queue[0]
	what, a := f.content(), model.Carrying
	if s.crash {
		what, a = "collision", model.Colliding
	} else {
		f.departed(s)
	}
	s.probe.takes(&s.name, what, a, s.began, now-s.began, f.payload)
	if sending == 1 {
		if s.ethernet.crash {
			what, a = "collision", model.Colliding
		}
		s.probe.takes(&s.medium, what, a, s.since, now-s.since, f.payload)
	}
}

// content says what a frame carries: bytes of a stream, beginning with the first packet that has not been read, or none.
func (f *frame) content() any {
	x := &f.segment
	if x.n == 0 {
		return "ack"
	}
	p := part{from: x.at, to: x.at + x.n}
	if x.to != nil {
		for pk := x.to.peer.out.head; pk != nil && p.of == nil; pk = pk.next {
			if pk.wire.pos > x.at {
				p.of = pk
			}
		}
	}
	return p
}

// departed says when the packets departed whose first bytes have just been sent for the first time.
func (f *frame) departed(s *station) {
	x := &f.segment
	if x.n == 0 || x.to == nil {
		return
	}
	const gone = 1
	for pk := x.to.peer.out.head; pk != nil; pk = pk.next {
		first := pk.wire.pos - s.TCP.Record - len(pk.Data)
		if pk.wire.step != gone && first >= x.at && first < x.at+x.n {
			pk.wire.step = gone
			s.probe.departs(pk, s.began)
		}
	}
}

// landing reports the packets that have arrived with the last segment.
type landing socket

// report has how many bytes of the stream came with it.
func (l *landing) report(fresh uint64) {
	s := (*socket)(l)
	for pk := s.peer.out.head; pk != nil && pk.wire.pos <= s.arrived; pk = pk.next {
		if pk.wire.pos > s.arrived-int(fresh) {
			s.h.probe.lands(pk, s.came)
		}
	}
}
