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
	port   *port
	wireup *wireup

	datagrams *datagrams      // nil: there are none
	context   context.Context // of it
	cancel    func()

	mu sync.Mutex // guards what Stop needs and Start makes
}

func (n *node) Port() device.Port {
	if n.datagrams != nil {
		return n.datagrams
	}
	return n.port
}

func (n *node) Failure() error {
	if problem := n.port.failed.Load(); problem != nil {
		return *problem
	}
	return nil
}

// Start connects the rank to all others, and waits until all ranks are connected.
func (n *node) Start() {
	p := n.port
	if n.datagrams != nil {
		n.wireup.also = n.datagrams.meet
	}
	err := n.wireup.connect(n.context)
	defer func() {
		for _, c := range n.wireup.conns {
			if c != nil {
				c.Close()
			}
		}
	}()
	if err == nil {
		err = n.connect(n.wireup.conns)
	}
	if err != nil {
		p.AwaitStop() // with the connections open, so that the others do not fail because of them
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

// link makes the link to a rank. It has a descriptor of its own, so that the connection can be
// closed.
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

// End tells all ranks that this one has ended, and waits until they have.
func (n *node) End() {
	over := make(chan struct{})
	go func() { // which ends if the job is stopped
		defer close(over)
		n.port.end()
	}()
	<-over
}

// end drops what arrives until all ranks have ended.
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
		if !p.drain() && !p.allEnded() { // what had arrived before may say so
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
	n.wireup.close()
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
	if n.datagrams != nil {
		n.datagrams.sockets.close()
	}
}
