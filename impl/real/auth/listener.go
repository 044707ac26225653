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

// How many connections may be in their handshakes at once. If more come one of them is evicted.
// Where the files run out that this process may open there may be fewer.
const (
	maxBacklog = 128
	minBacklog = 4
)

// Listener accepts the connections of a job until it is closed. Methods may be called concurrently.
type Listener struct {
	tcp    *net.TCPListener
	config *tls.Config
	busy   sync.WaitGroup // accepting, and handshakes
	done   chan struct{}  // closed by Close
	slots  map[ID]*slot

	mu      sync.Mutex
	closed  bool
	backlog []*records // in their handshakes, the oldest first
	room    int        // for that many of them
	refused int
	first   error // why the first of them was
}

// slot is for one connection of a job.
type slot struct {
	taken bool
	conn  chan *Conn // has room for it
}

// Listen listens at an address for the connections that are named. The address may lack the port,
// for a free one, or the host, for loopback.
func Listen(address string, token Token, ids ...ID) (*Listener, error) {
	conf, err := config(token)
	if err != nil {
		return nil, err
	}
	at := complete(address)
	tcp, err := net.Listen("tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another program has this port: name one that is free, or none, for any", at)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("listen on %s: this host does not have this address", at)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", at, cause(err))
	}
	l := &Listener{tcp: tcp.(*net.TCPListener), config: conf, done: make(chan struct{}), slots: make(map[ID]*slot), room: maxBacklog}
	for _, id := range ids {
		l.slots[id] = &slot{conn: make(chan *Conn, 1)}
	}
	l.busy.Go(l.serve)
	return l, nil
}

// complete adds to an address what it lacks.
func complete(address string) string {
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
	switch l.refused {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("one other connection was refused: %v", l.first)
	}
	return fmt.Sprintf("%d other connections were refused, the first: %v", l.refused, l.first)
}

// Close stops listening and closes connections that were not accepted by the caller. When it
// returns nothing of the listener is left.
func (l *Listener) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
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
	l.busy.Wait()
}

// serve starts a handshake with each connection that comes.
func (l *Listener) serve() {
	for {
		tcp, err := l.tcp.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil:
			if c := (&records{TCPConn: tcp}); l.enter(c) {
				l.busy.Go(func() { l.handshake(c) })
			}
		case errors.Is(err, syscall.EMFILE) && l.shrink():
		default: // it will pass, or the job ends
			select {
			case <-l.done:
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

// enter adds a connection to the backlog, and evicts another if there is no room. It closes it if
// the listener is closed.
func (l *Listener) enter(c *records) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		c.TCPConn.Close()
		return false
	}
	for len(l.backlog) >= l.room {
		l.evict()
	}
	l.backlog = append(l.backlog, c)
	return true
}

// shrink makes the backlog smaller where its connections have used up the files that this process
// may open, and leaves as many for other uses. It reports whether it has.
func (l *Listener) shrink() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.backlog) == 0 {
		return false
	}
	l.room = max(minBacklog, len(l.backlog)/2)
	l.evict()
	for len(l.backlog) >= l.room {
		l.evict()
	}
	return true
}

// evict closes the oldest connection of the backlog that has sent nothing, or the oldest of all.
func (l *Listener) evict() {
	i := max(0, slices.IndexFunc(l.backlog, func(c *records) bool { return !c.heard.Load() }))
	l.backlog[i].TCPConn.Close() // its handshake fails
	l.backlog = slices.Delete(l.backlog, i, i+1)
}

// handshake authenticates a connection and keeps it for Accept, or closes it.
func (l *Listener) handshake(r *records) {
	r.SetDeadline(time.Now().Add(handshakeTimeout))
	c := &Conn{tls.Server(r, l.config), r.TCPConn}
	var id ID
	err := c.Handshake()
	if err == nil {
		err = binary.Read(c, binary.BigEndian, &id)
	}
	if err != nil {
		err = explain(err)
		if !l.leave(r) {
			err = errEvicted
		}
		l.count(r, err)
		r.TCPConn.Close()
		return
	}
	l.leave(r) // it has authenticated itself, and is not evicted
	s, reply := l.take(id)
	if reply != accepted {
		l.count(r, reply.err())
	}
	_, err = c.Write([]byte{byte(reply)})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && reply == accepted {
		s.taken = false // the dialer did not get it, and may come again
	}
	if err != nil || reply != accepted || l.closed {
		r.TCPConn.Close()
		return
	}
	r.SetDeadline(time.Time{})
	s.conn <- c
}

// take takes the slot of an ID, if there is one and it is free.
func (l *Listener) take(id ID) (*slot, reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slots[id]
	switch {
	case s == nil:
		return nil, unknown
	case s.taken:
		return s, taken
	}
	s.taken = true
	return s, accepted
}

// leave removes a connection from the backlog, and reports whether it was there.
func (l *Listener) leave(c *records) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.backlog, c)
	if i >= 0 {
		l.backlog = slices.Delete(l.backlog, i, i+1)
	}
	return i >= 0
}

// count counts a refused connection.
func (l *Listener) count(c *records, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if l.refused++; l.refused == 1 {
		l.first = fmt.Errorf("from %v: %w", c.RemoteAddr(), cause(err))
	}
}
