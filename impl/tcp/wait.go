package tcp

import (
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/machine"
)

// Looks that find nothing, after which a rank that spins
const (
	glances = 1 << 4 // sees whether the job has failed,
	patient = 1 << 8 // gives way to others on its processor, some tens of microseconds after it last did: too seldom to be seen in times.
)

const (
	ponder = 10 * time.Millisecond // how long a rank has to wait until it says so
	beat   = time.Second           // how often it looks meanwhile whether others can be reached
)

// pause is what goes on in a rank between looks that find nothing.
type pause struct {
	looks int
	said  bool
	began time.Duration // when the clock was read first: a wait that is over sooner need not know
	seen  time.Duration // when the rank looked after its connections last
	now   time.Duration // when the clock was read last; 0: it was not
}

// wait waits for a packet.
func (p *port) wait() *device.Packet {
	for w := (pause{}); ; {
		if q := p.next(); q != nil {
			return q
		}
		w.rest(p)
		if !w.said && w.now-w.began > ponder {
			w.said = true
			p.say()
		}
	}
}

// rest lets time pass until something may have changed: little, where the rank spins.
func (w *pause) rest(p *port) {
	w.looks++
	switch {
	case p.blocks:
		p.leave()
		w.clock(p)
		p.sleeper.sleep(w.until())
		w.now = time.Duration(machine.Now())
	case w.looks%patient == 0:
		p.leave()
		yield()
		w.clock(p)
	case w.looks%glances == 0:
		p.leave()
	}
}

// clock reads the clock, and looks after the connections where the time has come for that.
func (w *pause) clock(p *port) {
	w.now = time.Duration(machine.Now())
	switch {
	case w.began == 0:
		w.began, w.seen = w.now, w.now
	case w.now-w.seen > beat:
		w.seen = w.now
		p.inspect()
	}
}

// until returns how long a rank may sleep.
func (w *pause) until() time.Duration {
	if rest := ponder - (w.now - w.began); rest >= 0 && !w.said {
		return rest + time.Millisecond
	}
	return beat
}

// idle lets others run where that is what the rank waits for.
func (p *port) idle() {
	p.looks++
	if p.blocks || p.looks%patient == 0 {
		yield()
	}
}
