package tcp

import (
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/transport"
)

// pace is that of a rank that spins. A look is a system call.
var pace = transport.Pace{Check: 1 << 4, Yield: 1 << 8}

const (
	longWait  = 10 * time.Millisecond // how long a rank waits until it reports that
	checkTime = time.Second           // how often it looks meanwhile whether others can be reached
)

// backoff is what a rank does between looks that find nothing.
type backoff struct {
	looks    uint
	reported bool
	began    time.Duration // when the clock was read first: a wait that is over sooner need not know
	checked  time.Duration // when the rank looked after its connections last
	now      time.Duration // when the clock was read last; 0: it was not
}

// wait waits for a packet.
func (p *port) wait() *device.Packet {
	for w := (backoff{}); ; {
		if q := p.next(); q != nil {
			return q
		}
		w.rest(p)
		if !w.reported && w.now-w.began > longWait {
			w.reported = true
			p.report(waits, p.links[0])
		}
	}
}

// rest lets time pass until something may have changed: little, if the rank spins.
func (w *backoff) rest(p *port) {
	if p.Blocks {
		p.Leave()
		w.clock(p)
		limit := checkTime
		if rest := longWait - (w.now - w.began); rest >= 0 && !w.reported {
			limit = rest + time.Millisecond
		}
		p.sleeper.sleep(limit)
		w.now = time.Duration(host.Now())
		return
	}
	w.looks++
	if p.Spin(w.looks) && w.looks%pace.Yield == 0 {
		w.clock(p)
	}
}

// clock reads the clock, and looks after the connections if it is time for that.
func (w *backoff) clock(p *port) {
	w.now = time.Duration(host.Now())
	switch {
	case w.began == 0:
		w.began, w.checked = w.now, w.now
	case w.now-w.checked > checkTime:
		w.checked = w.now
		p.checkPeers()
	}
}
