package tcp

import (
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/transport"
)

// pollIntervals is that of a rank that spins. A look is a system call.
var pollIntervals = transport.PollIntervals{CheckJob: 1 << 4, YieldProcessor: 1 << 8}

const (
	longWaitTime      = 10 * time.Millisecond // how long a rank waits until it reports that
	peerCheckInterval = time.Second           // how often it looks meanwhile whether others can be reached
)

// backoff is what a rank does between looks that find nothing.
type backoff struct {
	polls         uint
	isReported    bool
	beginTime     time.Duration // when the clock was read first: a wait that is over sooner need not know
	lastPeerCheck time.Duration // when the rank looked after its connections last
	clockTime     time.Duration // when the clock was read last; 0: it was not
}

// waitForPacket waits for a packet.
func (p *port) waitForPacket() *device.Packet {
	for w := (backoff{}); ; {
		if q := p.nextPacket(); q != nil {
			return q
		}
		w.pause(p)
		if !w.isReported && w.clockTime-w.beginTime > longWaitTime {
			w.isReported = true
			p.sendReport(waitFrame, p.links[0])
		}
	}
}

// pause lets time pass until something may have changed: little, if the rank spins.
func (w *backoff) pause(p *port) {
	if p.IsBlocking {
		p.ExitIfJobFailed()
		w.readClock(p)
		limit := peerCheckInterval
		if rest := longWaitTime - (w.clockTime - w.beginTime); rest >= 0 && !w.isReported {
			limit = rest + time.Millisecond
		}
		p.sleeper.sleep(limit)
		w.clockTime = time.Duration(host.Now())
		return
	}
	w.polls++
	if p.AfterEmptyPoll(w.polls) && w.polls%pollIntervals.YieldProcessor == 0 {
		w.readClock(p)
	}
}

// readClock reads the clock, and looks after the connections if it is time for that.
func (w *backoff) readClock(p *port) {
	w.clockTime = time.Duration(host.Now())
	switch {
	case w.beginTime == 0:
		w.beginTime, w.lastPeerCheck = w.clockTime, w.clockTime
	case w.clockTime-w.lastPeerCheck > peerCheckInterval:
		w.lastPeerCheck = w.clockTime
		p.checkPeers()
	}
}
