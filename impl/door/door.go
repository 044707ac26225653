// Package door admits connections of those who know a job's token.
//
// A Door listens; who dials it says which place in the job is his, and both prove to each other that they know the token, without
// sending it: each draws a nonce, and returns a MAC of both nonces, the place and his own role, with the token as key. So what somebody has
// recorded or sends back opens nothing. A place is given once. Strangers are counted and sent away, and those that stall are dropped before
// they keep anybody waiting.
//
// This is authentication, and nothing more: what is sent afterwards is plain text, and who can change packets on their way between two
// hosts can take over a connection that was admitted. All who know the token are trusted alike. Where that matters, the network
// has to be encrypted itself; and control goes over a Channel, which is.
package door

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
)

// Door is open until it is closed. Methods may be called at any time by anybody.
type Door struct {
	token    Token
	listener *net.TCPListener
	busy     sync.WaitGroup // accepting, and handshakes

	mu      sync.Mutex
	closed  bool
	done    chan struct{} // closed with it
	crowd   []net.Conn    // in a handshake, the oldest first
	places  map[Who]*place
	refused int
	first   error // why the first of them was
}

// admitted is a connection with what both sides know of it.
type admitted struct {
	*net.TCPConn
	secret
}

// Listen opens a door at an address, which may lack the port, for any that is free, or the host, for loopback. These places are there to be
// given.
func Listen(address string, token Token, places ...Who) (*Door, error) {
	at := complete(address)
	l, err := net.Listen("tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another program has this port: name one that is free, or none, for any", at)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("listen on %s: this host does not have this address", at)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", at, cause(err))
	}
	d := &Door{token: token, listener: l.(*net.TCPListener), done: make(chan struct{}), places: make(map[Who]*place)}
	d.Expect(places...)
	d.busy.Go(d.accept)
	return d, nil
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

// Addr returns where it listens.
func (d *Door) Addr() *net.TCPAddr { return d.listener.Addr().(*net.TCPAddr) }

// Expect adds places. Each is added once.
func (d *Door) Expect(places ...Who) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range places {
		if d.places[w] != nil {
			panic(fmt.Sprintf("door: %v is expected twice", w))
		}
		d.places[w] = &place{conn: make(chan *admitted, 1)}
	}
}

// Admit waits for who takes a place, and returns the connection, which is the caller's. Each place is waited for once.
func (d *Door) Admit(ctx context.Context, who Who) (*net.TCPConn, error) {
	a, err := d.admit(ctx, who)
	if err != nil {
		return nil, err
	}
	return a.TCPConn, nil
}

func (d *Door) admit(ctx context.Context, who Who) (*admitted, error) {
	d.mu.Lock()
	p, closed := d.places[who], d.closed
	d.mu.Unlock()
	if p == nil && closed {
		return nil, fmt.Errorf("%v: %w", who, net.ErrClosed)
	}
	if p == nil {
		panic(fmt.Sprintf("door: %v is not expected", who))
	}
	var err error
	select {
	case a, open := <-p.conn:
		if open {
			return a, nil
		}
		err = net.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	err = fmt.Errorf("%v did not come to %v: %w", who, d.Addr(), err)
	if note := d.Note(); note != "" {
		err = fmt.Errorf("%w (%s)", err, note)
	}
	return nil, err
}

// Forget closes places: those who come for them are late, and connections for which nobody has asked are closed.
func (d *Door) Forget(places ...Who) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range places {
		d.forget(w)
	}
}

func (d *Door) forget(w Who) {
	p := d.places[w]
	if p == nil {
		return
	}
	delete(d.places, w)
	close(p.conn)
	if a := <-p.conn; a != nil {
		a.Close()
	}
}

// Note says in a line who was sent away, or returns "" if nobody was.
func (d *Door) Note() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.refused {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("one other connection was refused: %v", d.first)
	}
	return fmt.Sprintf("%d other connections were refused, the first: %v", d.refused, d.first)
}

// Close closes it, and the connections that nobody has asked for. When it returns nothing of the door is left.
func (d *Door) Close() {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.done)
		d.listener.Close()
		for _, c := range d.crowd {
			c.Close()
		}
		for w := range d.places {
			d.forget(w)
		}
	}
	d.mu.Unlock()
	d.busy.Wait()
}

// cause returns what is left of an error of package net without the addresses, which the caller has.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var sys syscall.Errno
	if errors.As(err, &sys) {
		return sys
	}
	return err
}
