package tcp

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// node is a process's place in a job. It implements launch.Node.
type node struct {
	port    *port
	meeting *meeting
	context context.Context // of the meeting
	cancel  func()

	mu sync.Mutex // guards what Stop needs and Start makes
}

func (n *node) Port() device.Port { return n.port }

func (n *node) Failure() error {
	if problem := n.port.failed.Load(); problem != nil {
		return *problem
	}
	return nil
}

// Start connects the rank to all others, and waits until they are as far.
func (n *node) Start() {
	p := n.port
	connections, err := n.meeting.meet(n.context, p.Rank(), p.Size())
	defer func() {
		for _, c := range connections {
			if c != nil {
				c.Close()
			}
		}
	}()
	if err == nil {
		err = n.connect(connections)
	}
	if err != nil {
		p.AwaitStop() // with the connections open, so that others do not stumble over them
		p.fail(fmt.Errorf("tcp: rank %d: %w", p.Rank(), err))
	}
}

// connect makes the links of the connections.
func (n *node) connect(connections []*net.TCPConn) error {
	p := n.port
	n.mu.Lock()
	defer n.mu.Unlock()
	var err error
	if p.sleeper, err = newSleeper(p.Size()); err != nil {
		return err
	}
	if len(p.links) > 2 {
		if p.poller, err = newPoller(); err != nil {
			return err
		}
	}
	for r, c := range connections {
		if c == nil {
			continue
		}
		if err := p.link(r, c); err != nil {
			return fmt.Errorf("the connection to rank %d: %w", r, err)
		}
	}
	return nil
}

// link makes the link of a connection, which is not needed any more then.
func (p *port) link(r int, c *net.TCPConn) error {
	fd, err := own(c)
	if err != nil {
		return err
	}
	l := &link{fd: fd, peer: r, in: make([]byte, bufferSize)}
	p.links[r], p.hot = l, l
	p.sleeper.add(r, fd)
	if err := tune(fd, maxSilence); err != nil || p.poller == nil {
		return err
	}
	return p.poller.add(r, fd)
}

// End tells all that the rank has ended, and waits until they have.
func (n *node) End() {
	over := make(chan struct{})
	go func() { // which ends where the job is stopped
		defer close(over)
		n.port.end()
	}()
	<-over
}

// end drops what comes until all have ended.
func (p *port) end() {
	p.ended = true
	p.Blocks = true
	p.releaseLast()
	if p.Rank() == 0 {
		p.report(ends, nil)
	}
	for _, l := range p.links {
		if l != nil {
			p.report(ends, l)
		}
	}
	for w := (backoff{reported: true}); !p.allEnded(); {
		if !p.drain() && !p.allEnded() { // it may be what was there already that says so
			w.rest(p)
		}
	}
}

// allEnded reports whether all others have ended.
func (p *port) allEnded() bool {
	for _, l := range p.links {
		if l != nil && !l.over {
			return false
		}
	}
	return true
}

func (n *node) Stop() {
	n.port.Stop.Store(true)
	n.cancel()
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.port.sleeper; s != nil {
		s.wake()
	}
}

func (n *node) Stuck() []int { return n.port.table.deadlock() }

func (n *node) Close() {
	n.cancel()
	n.meeting.close()
	p := n.port
	for _, l := range p.links {
		if l != nil {
			closeFile(l.fd)
		}
	}
	if p.poller != nil {
		p.poller.close()
	}
	if p.sleeper != nil {
		p.sleeper.close()
	}
}
