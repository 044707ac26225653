package auth

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Limits of the number of connections in their handshakes. If more arrive one of them is evicted.
// If this process runs out of file descriptors the limit shrinks.
const (
	maxBacklog = 128
	minBacklog = 4
)

// Listener accepts the connections of a job until it is closed. Methods may be called concurrently.
type Listener struct {
	tcp        *net.TCPListener
	config     *tls.Config
	goroutines sync.WaitGroup // accepting, and handshakes
	closing    chan struct{}  // closed by Close
	slots      map[ID]*connectionSlot

	mu           sync.Mutex
	isClosed     bool
	backlog      []*recordReader // in their handshakes, the oldest first
	backlogLimit int             // for that many of them
	refusedCount int
	firstRefusal error // why the first of them was
}

// connectionSlot holds one connection of a job.
type connectionSlot struct {
	isTaken bool
	conn    chan *Conn // with room for one
}

// Listen listens at an address for the connections that are named. The address may lack the port,
// for a free one, or the host, for loopback.
func Listen(address string, token Token, ids ...ID) (*Listener, error) {
	conf, err := tlsConfig(token)
	if err != nil {
		return nil, err
	}
	at := completeAddress(address)
	tcp, err := net.Listen("tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another program has this port: name one that is free, or none, for any", at)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("listen on %s: this host does not have this address", at)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", at, netErrorCause(err))
	}
	l := &Listener{tcp: tcp.(*net.TCPListener), config: conf, closing: make(chan struct{}), slots: make(map[ID]*connectionSlot), backlogLimit: maxBacklog}
	for _, id := range ids {
		l.slots[id] = &connectionSlot{conn: make(chan *Conn, 1)}
	}
	l.goroutines.Go(l.acceptConnections)
	return l, nil
}

// completeAddress adds a missing host or port to an address.
func completeAddress(address string) string {
	at, port, err := net.SplitHostPort(address)
	if err != nil {
		at, port = strings.Trim(address, "[]"), "0"
	}
	if at == "" {
		at = "127.0.0.1"
	}
	return net.JoinHostPort(at, port)
}

// Addr returns the address at which it listens.
func (l *Listener) Addr() *net.TCPAddr { return l.tcp.Addr().(*net.TCPAddr) }

// Accept waits for a connection and returns it. The caller has to close it. Each connection is
// accepted once.
func (l *Listener) Accept(ctx context.Context, id ID) (*Conn, error) {
	s := l.slots[id]
	if s == nil {
		panic(fmt.Sprintf("auth: Accept: the listener has no %v", id))
	}
	var err error
	select {
	case c, open := <-s.conn:
		if open {
			return c, nil
		}
		err = net.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	err = fmt.Errorf("no %v came to %v: %w", id, l.Addr(), err)
	if refused := l.Refused(); refused != "" {
		err = fmt.Errorf("%w (%s)", err, refused)
	}
	return nil, err
}

// Refused describes in a line the connections that were refused, or returns "" if there were none.
func (l *Listener) Refused() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.refusedCount {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("one other connection was refused: %v", l.firstRefusal)
	}
	return fmt.Sprintf("%d other connections were refused, the first: %v", l.refusedCount, l.firstRefusal)
}

// Close stops listening and closes connections that were not accepted by the caller. When it
// returns no goroutine and no connection of the listener is left.
func (l *Listener) Close() {
	l.mu.Lock()
	if !l.isClosed {
		l.isClosed = true
		close(l.closing)
		l.tcp.Close()
		for _, c := range l.backlog {
			c.TCPConn.Close()
		}
		for _, s := range l.slots {
			close(s.conn)
			if c := <-s.conn; c != nil {
				c.TCP.Close()
			}
		}
	}
	l.mu.Unlock()
	l.goroutines.Wait()
}

// acceptConnections starts a handshake with each arriving connection.
func (l *Listener) acceptConnections() {
	for {
		tcp, err := l.tcp.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil:
			if c := (&recordReader{TCPConn: tcp}); l.addToBacklog(c) {
				l.goroutines.Go(func() { l.handshake(c) })
			}
		case errors.Is(err, syscall.EMFILE) && l.shrinkBacklog():
		default: // it will pass, or the job ends
			select {
			case <-l.closing:
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

// addToBacklog adds a connection to the backlog, and evicts another if there is no room. It closes
// it if the listener is closed.
func (l *Listener) addToBacklog(c *recordReader) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed {
		c.TCPConn.Close()
		return false
	}
	for len(l.backlog) >= l.backlogLimit {
		l.evictConnection()
	}
	l.backlog = append(l.backlog, c)
	return true
}

// shrinkBacklog halves the backlog when its connections have used up the file descriptors of this
// process. It reports whether there was a backlog.
func (l *Listener) shrinkBacklog() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.backlog) == 0 {
		return false
	}
	l.backlogLimit = max(minBacklog, len(l.backlog)/2)
	l.evictConnection()
	for len(l.backlog) >= l.backlogLimit {
		l.evictConnection()
	}
	return true
}

// evictConnection closes the oldest connection of the backlog that has sent nothing, or else the
// oldest one.
func (l *Listener) evictConnection() {
	i := max(0, slices.IndexFunc(l.backlog, func(c *recordReader) bool { return !c.hasReceived.Load() }))
	l.backlog[i].TCPConn.Close() // its handshake fails
	l.backlog = slices.Delete(l.backlog, i, i+1)
}

// handshake authenticates a connection and keeps it for Accept, or closes it.
func (l *Listener) handshake(r *recordReader) {
	r.SetDeadline(time.Now().Add(handshakeTimeout))
	c := &Conn{tls.Server(r, l.config), r.TCPConn}
	var id ID
	err := c.Handshake()
	if err == nil {
		err = binary.Read(c, binary.BigEndian, &id)
	}
	if err != nil {
		err = handshakeError(err)
		if !l.removeFromBacklog(r) {
			err = errEvicted
		}
		l.countRefusal(r, err)
		r.TCPConn.Close()
		return
	}
	l.removeFromBacklog(r) // it has authenticated itself and must not be evicted
	s, reply := l.takeSlot(id)
	if reply != replyAccepted {
		l.countRefusal(r, reply.toError())
	}
	_, err = c.Write([]byte{byte(reply)})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && reply == replyAccepted {
		s.isTaken = false // the dialer did not get it, and may come again
	}
	if err != nil || reply != replyAccepted || l.isClosed {
		r.TCPConn.Close()
		return
	}
	r.SetDeadline(time.Time{})
	s.conn <- c
}

// takeSlot takes the slot of an ID, if there is one and it is free.
func (l *Listener) takeSlot(id ID) (*connectionSlot, reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slots[id]
	switch {
	case s == nil:
		return nil, replyUnknown
	case s.isTaken:
		return s, replyTaken
	}
	s.isTaken = true
	return s, replyAccepted
}

// removeFromBacklog removes a connection from the backlog, and reports whether it was there.
func (l *Listener) removeFromBacklog(c *recordReader) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.backlog, c)
	if i >= 0 {
		l.backlog = slices.Delete(l.backlog, i, i+1)
	}
	return i >= 0
}

// countRefusal counts a refused connection.
func (l *Listener) countRefusal(c *recordReader, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed {
		return
	}
	if l.refusedCount++; l.refusedCount == 1 {
		l.firstRefusal = fmt.Errorf("from %v: %w", c.RemoteAddr(), netErrorCause(err))
	}
}
