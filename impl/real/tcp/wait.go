package tcp

import (
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/transport"
)

// pollIntervals are those of a spinning rank. A poll is a system call.
var pollIntervals = transport.PollIntervals{CheckJob: 1 << 4, YieldProcessor: 1 << 8}

const (
	longWaitTime      = 10 * time.Millisecond // how long a rank waits before it reports that it waits
	peerCheckInterval = time.Second           // how often a waiting rank checks that others can be reached
)

// backoff is the state of a rank between polls that find nothing.
type backoff struct {
	polls         uint
	isReported    bool
	beginTime     time.Duration // when the clock was first read; a short wait does not read it
	lastPeerCheck time.Duration // when the rank last checked its connections
	clockTime     time.Duration // when the clock was last read; 0: not yet
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

// pause lets time pass until something may have changed; a spinning rank pauses only briefly.
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

// readClock reads the clock, and checks the connections if that is due.
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
