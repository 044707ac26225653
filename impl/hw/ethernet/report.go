package ethernet

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Report names the medium and its stations. The medium shows all transmissions, a station its own
// frames.
func (e *medium) Report(uint64) {
	e.probe.SetServerName(&e.mediumTrack, "%sEthernet", e.namePrefix)
	for i := range e.stations {
		e.probe.SetServerName(&e.stations[i].stationTrack, "%sstation %d", e.namePrefix, i)
	}
}

// Report names all links.
func (s *switchedEthernet) Report(uint64) {
	for i := range s.links {
		if l := &s.links[i]; l.shared != nil {
			l.shared.Report(0)
		} else {
			l.toSwitch.nameTrack()
			l.fromSwitch.nameTrack()
		}
	}
	for i := range s.uplinks[1:] {
		s.uplinks[1+i].nameTrack()
		s.downlinks[1+i].nameTrack()
	}
}

func (l *line) nameTrack() {
	l.ethernet.job.Probe.SetServerName(&l.server, "%s%s", l.ethernet.namePrefix, l.name)
}

// lineReport reports the frame that has just left a line.
type lineReport line

// Report reports the content of that frame.
func (x *lineReport) Report(uint64) {
	l := (*line)(x)
	f := l.lastFrame
	if f.switchHops == 0 {
		f.noteDeparture(l.frameStart)
	}
	l.ethernet.job.Probe.ServerOccupied(&l.server, f.content(), model.CarryActivity, l.frameStart, l.ethernet.job.Kernel.Now()-l.frameStart, f.payload)
}

// stationReport reports what a station has sent up to now.
type stationReport station

// Report gets the number of stations that are sending. The last one to stop ends the burst.
func (x *stationReport) Report(sending uint64) {
	s := (*station)(x)
	now, f := s.kernel.Now(), s.queue[0]
	what, a := f.content(), model.CarryActivity
	if s.isColliding {
		what, a = "collision", model.CollisionActivity
	} else {
		f.noteDeparture(s.sendStart)
	}
	s.probe.ServerOccupied(&s.stationTrack, what, a, s.sendStart, now-s.sendStart, f.payload)
	if sending == 1 {
		if s.medium.isCollision {
			what, a = "collision", model.CollisionActivity
		}
		s.probe.ServerOccupied(&s.medium.mediumTrack, what, a, s.burstStart, now-s.burstStart, f.payload)
	}
}

// content returns what a frame carries: a range of stream bytes, starting with the first packet
// that has not been read, or nothing.
func (f *frame) content() any {
	switch {
	case f.datagram != nil:
		return "datagram"
	case f.mbcf.circuit != nil:
		return f.mbcf.content()
	}
	x := &f.segment
	if x.length == 0 {
		return "ack"
	}
	p := core.StreamByteRange{FromByte: x.offset, ToByte: x.offset + x.length}
	if x.receiver != nil {
		for pk := x.receiver.peer.outPackets.Head; pk != nil && p.FirstPacket == nil; pk = pk.Next {
			if pk.Transit.Position > x.offset {
				p.FirstPacket = pk
			}
		}
	}
	return p
}

// noteDeparture reports the departure of packets whose first bytes have just been sent for the
// first time.
func (f *frame) noteDeparture(began unit.Time) {
	x := &f.segment
	if f.mbcf.circuit != nil {
		f.mbcf.noteDeparture(began)
	}
	if f.datagram != nil || x.length == 0 || x.receiver == nil {
		return
	}
	const gone = 1
	for pk := x.receiver.peer.outPackets.Head; pk != nil; pk = pk.Next {
		first := pk.Transit.Position - x.receiver.host.network.TCP.Record - len(pk.Data)
		if pk.Transit.Step != gone && first >= x.offset && first < x.offset+x.length {
			pk.Transit.Step = gone
			x.receiver.host.Probe.FirstByteDeparted(pk, began)
		}
	}
}

// arrivalReport reports the packets that are complete with the last segment.
type arrivalReport socket

// Report gets the number of stream bytes in that segment.
func (l *arrivalReport) Report(fresh uint64) {
	s := (*socket)(l)
	for pk := s.peer.outPackets.Head; pk != nil && pk.Transit.Position <= s.arrivedEnd; pk = pk.Next {
		if pk.Transit.Position > s.arrivedEnd-int(fresh) {
			s.host.Probe.LastByteArrived(pk, s.lastArrival)
		}
	}
}
