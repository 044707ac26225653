package door

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// patience is how long a handshake may take: two ways there and back.
var patience = 3 * time.Second

// crowd is how many may be in a handshake at once. The oldest must go if there come more.
const crowd = 128

// accept lets connections in to their handshakes.
func (d *Door) accept() {
	for {
		c, err := d.listener.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files: it will pass, or the job ends
			select {
			case <-d.done:
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		if d.enter(c) {
			d.busy.Go(func() { d.receive(c) })
		}
	}
}

// enter takes a connection into the crowd, and drops the oldest for it if there is no room. If the door is closed it closes it.
func (d *Door) enter(c *net.TCPConn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		c.Close()
		return false
	}
	if len(d.crowd) == crowd {
		d.crowd[0].Close() // its handshake fails
		d.crowd = slices.Delete(d.crowd, 0, 1)
	}
	d.crowd = append(d.crowd, c)
	return true
}

// receive has the handshake with a connection, and gives it its place or closes it.
func (d *Door) receive(c *net.TCPConn) {
	c.SetDeadline(time.Now().Add(patience))
	known, err := d.handshake(c)
	d.leave(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.places[known.who]
	switch {
	case err != nil:
		c.Close()
		d.refuse(c, err)
	case p == nil: // forgotten meanwhile
		c.Close()
	default:
		c.SetDeadline(time.Time{})
		p.hold(&admitted{c, known})
	}
}

// leave takes a connection out of the crowd.
func (d *Door) leave(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.crowd, c); i >= 0 {
		d.crowd = slices.Delete(d.crowd, i, i+1)
	}
}

// refuse counts a connection that was sent away; but not those that know the token and come too early.
func (d *Door) refuse(c *net.TCPConn, err error) {
	if errors.Is(err, errEarly) || d.closed {
		return
	}
	if errors.Is(err, net.ErrClosed) {
		err = errCrowded
	}
	if d.refused++; d.refused == 1 {
		d.first = fmt.Errorf("from %v: %w", c.RemoteAddr(), cause(err))
	}
}
