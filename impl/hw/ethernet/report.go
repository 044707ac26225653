package ethernet

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Report gives names to the medium and its stations. On the medium is what all carry, on a station
// its own frames.
func (e *medium) Report(uint64) {
	e.probe.NameServer(&e.name, "%sEthernet", e.prefix)
	for i := range e.stations {
		e.probe.NameServer(&e.stations[i].name, "%sstation %d", e.prefix, i)
	}
}

// Report gives names to all links.
func (s *switched) Report(uint64) {
	for i := range s.links {
		if l := &s.links[i]; l.shared != nil {
			l.shared.Report(0)
		} else {
			l.in.report()
			l.out.report()
		}
	}
	for i := range s.toFirst[1:] {
		s.toFirst[1+i].report()
		s.fromFirst[1+i].report()
	}
}

func (l *line) report() { l.s.j.Probe.NameServer(&l.server, "%s%s", l.s.prefix, l.name) }

// passed reports the frame that has just left a line.
type passed line

// Report says what it was.
func (x *passed) Report(uint64) {
	l := (*line)(x)
	f := l.last
	if f.hop == 0 {
		f.departed(l.began)
	}
	l.s.j.Probe.ServerTaken(&l.server, f.content(), model.Carrying, l.began, l.s.j.Kernel.Now()-l.began, f.payload)
}

// signal reports what a station has sent until now.
type signal station

// report has how many stations sent: with the last of them the burst ends.
func (x *signal) Report(sending uint64) {
	s := (*station)(x)
	now, f := s.kernel.Now(), s.queue[0]
	what, a := f.content(), model.Carrying
	if s.crash {
		what, a = "collision", model.Colliding
	} else {
		f.departed(s.began)
	}
	s.probe.ServerTaken(&s.name, what, a, s.began, now-s.began, f.payload)
	if sending == 1 {
		if s.medium.crash {
			what, a = "collision", model.Colliding
		}
		s.probe.ServerTaken(&s.medium.name, what, a, s.since, now-s.since, f.payload)
	}
}

// content says what a frame carries: bytes of a stream, beginning with the first packet that has
// not been read, or none.
func (f *frame) content() any {
	switch {
	case f.datagram != nil:
		return "datagram"
	case f.mbcf.circuit != nil:
		return f.mbcf.content()
	}
	x := &f.segment
	if x.n == 0 {
		return "ack"
	}
	p := core.StreamPart{FromByte: x.at, ToByte: x.at + x.n}
	if x.to != nil {
		for pk := x.to.peer.out.Head; pk != nil && p.First == nil; pk = pk.Next {
			if pk.Transit.Position > x.at {
				p.First = pk
			}
		}
	}
	return p
}

// departed says when the packets departed whose first bytes have just been sent for the first time.
func (f *frame) departed(began unit.Time) {
	x := &f.segment
	if f.mbcf.circuit != nil {
		f.mbcf.departed(began)
	}
	if f.datagram != nil || x.n == 0 || x.to == nil {
		return
	}
	const gone = 1
	for pk := x.to.peer.out.Head; pk != nil; pk = pk.Next {
		first := pk.Transit.Position - x.to.h.net.TCP.Record - len(pk.Data)
		if pk.Transit.Step != gone && first >= x.at && first < x.at+x.n {
			pk.Transit.Step = gone
			x.to.h.Probe.Departs(pk, began)
		}
	}
}

// landing reports the packets that have arrived with the last segment.
type landing socket

// report has how many bytes of the stream came with it.
func (l *landing) Report(fresh uint64) {
	s := (*socket)(l)
	for pk := s.peer.out.Head; pk != nil && pk.Transit.Position <= s.arrived; pk = pk.Next {
		if pk.Transit.Position > s.arrived-int(fresh) {
			s.h.Probe.Arrives(pk, s.came)
		}
	}
}
