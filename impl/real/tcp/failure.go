package tcp

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
)

// lost is called when a connection has ended before the rank at the other end said that it has.
func (p *port) lost(l *link, err error) {
	if p.ended {
		p.giveUp(l)
		return
	}
	p.AwaitStop()
	if err == io.EOF {
		p.fail(fmt.Errorf("tcp: rank %d has closed its connection to rank %d before its program ended", l.peer, p.Rank()))
	}
	p.fail(fmt.Errorf("tcp: the connection of rank %d to rank %d: %w", p.Rank(), l.peer, err))
}

// malformed is called when something has arrived that no rank sends.
func (p *port) malformed(l *link, err error) {
	if p.ended {
		p.giveUp(l)
		return
	}
	p.fail(fmt.Errorf("tcp: rank %d cannot read what came from rank %d: %w", p.Rank(), l.peer, err))
}

// fail ends the calling goroutine, and the job with an error.
func (p *port) fail(err error) {
	p.failed.CompareAndSwap(nil, &err)
	p.Stop.Store(true)
	runtime.Goexit()
}

// giveUp neither sends nor receives over a connection any more.
func (p *port) giveUp(l *link) {
	l.cut = true
	p.ignore(l)
}

// ignore stops reading from a connection.
func (p *port) ignore(l *link) {
	if l.over {
		return
	}
	l.over = true
	if p.poller != nil {
		p.poller.remove(l.fd)
	}
	if p.sleeper != nil {
		p.sleeper.remove(l.peer)
	}
}

// maxSilence is how long a connection over which an answer is due may be silent.
var maxSilence = 10 * time.Second

// checkPeers looks whether the hosts of the other ranks still answer. It is called now and then
// while a rank waits.
//
// Note: TCP_USER_TIMEOUT would also close a connection whose other side answers, but computes and
// has no room for more.
func (p *port) checkPeers() {
	now := time.Duration(host.Now())
	for _, l := range p.links {
		switch {
		case l == nil || l.over:
		case launch.Silence(l.fd) < maxSilence:
			l.silentSince = 0
		case l.silentSince == 0:
			l.silentSince = now // there may have been nothing to send before
		case now-l.silentSince > maxSilence:
			p.lost(l, fmt.Errorf("no answer from its machine for %v", maxSilence))
		}
	}
}
