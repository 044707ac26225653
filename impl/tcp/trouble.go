package tcp

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/machine"
)

// mourning is how long a rank waits to be told that the one is dead with which it has lost its connection.
const mourning = 2 * time.Second

// lost is called when a connection has ended before the rank at the other end said that it has. Most likely that rank is dead, and the job is about to
// end for that. A rank that has ended itself does not care.
func (p *port) lost(l *link, err error) {
	if p.ended {
		p.giveUp(l)
		return
	}
	p.mourn()
	if err == io.EOF {
		p.fail(fmt.Errorf("tcp: rank %d has closed its connection to rank %d before its program ended", l.peer, p.rank))
	}
	p.fail(fmt.Errorf("tcp: the connection of rank %d to rank %d: %w", p.rank, l.peer, err))
}

// mourn waits to be told what has happened.
func (p *port) mourn() {
	for end := time.Now().Add(mourning); time.Now().Before(end); time.Sleep(time.Millisecond) {
		p.leave()
	}
}

// nonsense is called when something has come that no rank sends.
func (p *port) nonsense(l *link, err error) {
	if p.ended {
		p.giveUp(l)
		return
	}
	p.fail(fmt.Errorf("tcp: rank %d cannot read what came from rank %d: %w", p.rank, l.peer, err))
}

// fail ends the calling goroutine, and the job with an error.
func (p *port) fail(err error) {
	p.failed.CompareAndSwap(nil, &err)
	p.stop.Store(true)
	runtime.Goexit()
}

// giveUp leaves a connection alone.
func (p *port) giveUp(l *link) {
	l.cut = true
	p.leaveOut(l)
}

// leaveOut stops looking at a connection.
func (p *port) leaveOut(l *link) {
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

// patience is how long a connection over which an answer is due may be silent.
var patience = 10 * time.Second

// inspect looks whether the machines of those ranks can still be reached that this one is connected to. It is called now and then while a rank waits.
//
// Note: the kernel would do that by itself (TCP_USER_TIMEOUT), but it also gives up where the other side answers and computes, with no room for more.
func (p *port) inspect() {
	now := time.Duration(machine.Now())
	for _, l := range p.links {
		switch {
		case l == nil || l.over:
		case launch.Silence(l.fd) < patience:
			l.doubt = 0
		case l.doubt == 0:
			l.doubt = now // the silence may have been because there was nothing to say
		case now-l.doubt > patience:
			p.lost(l, fmt.Errorf("no answer from its machine for %v", patience))
		}
	}
}
