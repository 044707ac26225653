package hw

import (
	"fmt"

	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// bursts writes down what is on an Ethernet: on the medium, and what each station does for its own frames. Its servers stand for these.
type bursts struct {
	*Recorder
	medium   sim.Server
	stations []sim.Server
}

// names gives names to the medium and its stations.
func (n *lan) names(r *Recorder) {
	b := &bursts{Recorder: r, stations: make([]sim.Server, len(n.stations))}
	r.names(&b.medium, "Ethernet")
	for i := range b.stations {
		r.names(&b.stations[i], "station %d", i)
	}
	n.record = b
}

// stopped says that a station has sent what it sent until now, and whether nobody sends any more.
func (b *bursts) stopped(s *station, last bool) {
	now, f := s.kernel.Now(), s.queue[0]
	a := model.Carrying
	b.carried = b.frameName(f)
	if s.crash {
		a, b.carried = model.Colliding, "collision"
	}
	b.use(&b.stations[s.id], a, s.began, now-s.began, f.payload)
	if !s.crash {
		b.depart(f, s.began)
	}
	if last {
		if b.carried = b.frameName(f); s.ethernet.crash {
			a, b.carried = model.Colliding, "collision"
		}
		b.use(&b.medium, a, s.since, now-s.since, f.payload)
	}
}

// backsOff says that a station begins to wait after a collision.
func (b *bursts) backsOff(s *station, long unit.Time) {
	b.carried = "back-off"
	b.use(&b.stations[s.id], model.Silent, s.kernel.Now(), long, 0)
}

// frameName says what a frame carries: a part of the first packet that has not been read, or none.
func (r *Recorder) frameName(f *frame) string {
	x := &f.segment
	if x.n == 0 {
		return "ack"
	}
	name := "data"
	if x.to != nil {
		for pk := x.to.peer.out.head; pk != nil; pk = pk.next {
			if i, ok := r.under[pk]; ok && pk.wire.pos > x.at {
				name = r.flights[i].Name
				break
			}
		}
	}
	return fmt.Sprintf("%s %d-%d", name, x.at, x.at+x.n)
}

// works says what a rank has done in a system call until its clock.
func (l *lane) works(clock unit.Time, name string) {
	a := model.Sending
	switch name {
	case "ethernet.tcp.poll", "ethernet.tcp.read.start", "ethernet.tcp.read.bandwidth":
		a = model.Receiving
	}
	l.until(clock, name, a, 0)
}

// interrupted says that the system takes the processor at a time for so long: from a rank that waits, or before what it does.
func (l *lane) interrupted(at, long unit.Time, name string) {
	if l.clock <= at {
		l.until(at, "", model.Waiting, 0)
		l.until(at+long, name, model.Interrupt, 0)
	} else if l.fits() {
		l.pushed = append(l.pushed, push{span{name, model.Interrupt, 0, long}, anywhere, at})
		l.clock += long
	}
}

// depart says when the packets departed whose first bytes have just been sent for the first time.
func (r *Recorder) depart(f *frame, began unit.Time) {
	x := &f.segment
	if x.n == 0 || x.to == nil {
		return
	}
	lan := x.to.h.lan
	for pk := x.to.peer.out.head; pk != nil; pk = pk.next {
		first := pk.wire.pos - lan.TCP.Record - len(pk.Data)
		if i, ok := r.under[pk]; ok && !r.flights[i].gone && first >= x.at && first < x.at+x.n {
			r.flights[i].Depart, r.flights[i].gone = began, true
		}
	}
}

// came says that a frame is at its host, which takes one in after the other, and tookIn that it has taken in the first of them.
func (l *lane) came() { l.frames = append(l.frames, l.kernel.Now()) }

func (l *lane) tookIn() { l.frame, l.frames = l.frames[0], l.frames[1:] }

// reached says that so many bytes of the stream to a socket have arrived with the last frame, and the packets that end with them.
func (l *lane) reached(s *socket, fresh int) {
	for pk := s.peer.out.head; pk != nil && pk.wire.pos <= s.arrived; pk = pk.next {
		if pk.wire.pos > s.arrived-fresh {
			l.lands(pk, l.frame)
		}
	}
}
