package tcp

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
)

// handleLostLink is called when a connection has ended before the rank at the other end reported
// its exit.
func (p *port) handleLostLink(l *link, err error) {
	if p.hasEnded {
		p.abandonLink(l)
		return
	}
	p.AwaitJobFailure()
	if err == io.EOF {
		p.failJob(fmt.Errorf("tcp: rank %d has closed its connection to rank %d before its program ended", l.peer, p.Rank()))
	}
	p.failJob(fmt.Errorf("tcp: the connection of rank %d to rank %d: %w", p.Rank(), l.peer, err))
}

// handleMalformedFrame is called when data has arrived that no rank sends.
func (p *port) handleMalformedFrame(l *link, err error) {
	if p.hasEnded {
		p.abandonLink(l)
		return
	}
	p.failJob(fmt.Errorf("tcp: rank %d cannot read what came from rank %d: %w", p.Rank(), l.peer, err))
}

// failJob ends the calling goroutine, and the job with an error.
func (p *port) failJob(err error) {
	p.failure.CompareAndSwap(nil, &err)
	p.JobFailed.Store(true)
	runtime.Goexit()
}

// abandonLink stops sending and receiving over a connection.
func (p *port) abandonLink(l *link) {
	l.isAbandoned = true
	p.stopReading(l)
}

// stopReading stops reading from a connection.
func (p *port) stopReading(l *link) {
	if l.peerEnded {
		return
	}
	l.peerEnded = true
	if p.poller != nil {
		p.poller.remove(l.fd)
	}
	if p.sleeper != nil {
		p.sleeper.unwatch(l.peer)
	}
}

// maxSilence is how long a connection may be silent while an acknowledgement is due.
var maxSilence = 10 * time.Second

// checkPeers checks that the hosts of the other ranks still answer. A waiting rank calls it about
// once a second.
//
// Note: TCP_USER_TIMEOUT would also close a connection whose other side answers, but computes and
// has no room for more.
func (p *port) checkPeers() {
	now := time.Duration(host.Now())
	for _, l := range p.links {
		switch {
		case l == nil || l.peerEnded:
		case launch.UnacknowledgedTime(l.fd) < maxSilence:
			l.silentSince = 0
		case l.silentSince == 0:
			l.silentSince = now // there may have been nothing to acknowledge before
		case now-l.silentSince > maxSilence:
			p.handleLostLink(l, fmt.Errorf("no answer from its machine for %v", maxSilence))
		}
	}
}
