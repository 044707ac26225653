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

	datagramPort   *datagramPort   // nil: there are none
	connectContext context.Context // of it
	cancelConnect  func()

	linksMutex sync.Mutex // guards what Connect makes and Stop uses
}

func (n *node) Port() device.Port {
	if n.datagramPort != nil {
		return n.datagramPort
	}
	return n.port
}

func (n *node) Failure() error {
	if problem := n.port.failure.Load(); problem != nil {
		return *problem
	}
	return nil
}

// Connect connects the rank to all others, and waits until all ranks are connected.
func (n *node) Connect() {
	p := n.port
	if n.datagramPort != nil {
		n.wireup.afterConnect = n.datagramPort.exchangeAddresses
	}
	err := n.wireup.connect(n.connectContext)
	defer func() {
		for _, c := range n.wireup.conns {
			if c != nil {
				c.Close()
			}
		}
	}()
	if err == nil {
		err = n.makeLinks(n.wireup.conns)
	}
	if err != nil {
		p.AwaitJobFailure() // with open connections, so that the others do not fail because of closed ones
		p.failJob(fmt.Errorf("tcp: rank %d: %w", p.Rank(), err))
	}
}

// makeLinks makes the links of the connections.
func (n *node) makeLinks(connections []*net.TCPConn) error {
	p := n.port
	n.linksMutex.Lock()
	defer n.linksMutex.Unlock()
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
		if err := p.addLink(r, c); err != nil {
			return fmt.Errorf("the connection to rank %d: %w", r, err)
		}
	}
	return nil
}

// addLink makes the link to a rank. The link has a descriptor of its own, so that the connection
// can be closed.
func (p *port) addLink(r int, c *net.TCPConn) error {
	fd, err := duplicateSocket(c)
	if err != nil {
		return err
	}
	l := &link{fd: fd, peer: r, buffer: make([]byte, bufferSize)}
	p.links[r], p.recentLink = l, l
	p.sleeper.watch(r, fd)
	if err := setSocketOptions(fd, maxSilence); err != nil || p.poller == nil {
		return err
	}
	return p.poller.add(r, fd)
}

// Finish tells all ranks that this one has ended, and waits until they have.
func (n *node) Finish() {
	over := make(chan struct{})
	go func() { // which ends if the job is stopped
		defer close(over)
		n.port.finish()
	}()
	<-over
}

// finish drops what arrives until all ranks have ended.
func (p *port) finish() {
	p.hasEnded = true
	p.IsBlocking = true
	p.releaseLast()
	if p.Rank() == 0 {
		p.sendReport(endFrame, nil)
	}
	for _, l := range p.links {
		if l != nil {
			p.sendReport(endFrame, l)
		}
	}
	for w := (backoff{isReported: true}); !p.haveAllEnded(); {
		if !p.drainLinks() && !p.haveAllEnded() { // frames that had arrived may be reports of exits
			w.pause(p)
		}
	}
}

// haveAllEnded reports whether all others have ended.
func (p *port) haveAllEnded() bool {
	for _, l := range p.links {
		if l != nil && !l.peerEnded {
			return false
		}
	}
	return true
}

func (n *node) Stop() {
	n.port.JobFailed.Store(true)
	n.cancelConnect()
	n.linksMutex.Lock()
	defer n.linksMutex.Unlock()
	if s := n.port.sleeper; s != nil {
		s.wake()
	}
}

func (n *node) DeadlockedRanks() []int { return n.port.progressTable.deadlockedRanks() }

func (n *node) Close() {
	n.cancelConnect()
	n.wireup.close()
	p := n.port
	for _, l := range p.links {
		if l != nil {
			closeDescriptor(l.fd)
		}
	}
	if p.poller != nil {
		p.poller.close()
	}
	if p.sleeper != nil {
		p.sleeper.close()
	}
	if n.datagramPort != nil {
		n.datagramPort.sockets.close()
	}
}
