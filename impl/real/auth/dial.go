package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// Waits between tries grow from the first to the last.
const (
	firstWait = 2 * time.Millisecond
	lastWait  = 100 * time.Millisecond
)

// Dial connects to a listener. Until the context is done it tries again if nothing listens there
// yet or the listener is overloaded. Another token, and an ID that the job does not have or has
// already, are final.
func Dial(ctx context.Context, address string, token Token, id ID) (*Conn, error) {
	conf, err := config(token)
	if err != nil {
		return nil, err
	}
	var problem error // of the last try that was not cut short
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		c, err := try(ctx, address, conf, id)
		if err == nil {
			return c, nil
		}
		if problem == nil || ctx.Err() == nil {
			problem = cause(err)
		}
		if final(err) {
			break
		}
		select {
		case <-time.After(wait):
			continue
		case <-ctx.Done():
		}
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			problem = context.Cause(ctx)
		}
		break
	}
	return nil, fmt.Errorf("connect to %s: %w", address, problem)
}

// try dials once.
func try(ctx context.Context, address string, conf *tls.Config, id ID) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	tcp := raw.(*net.TCPConn)
	deadline, _ := ctx.Deadline()
	tcp.SetDeadline(deadline)
	hangUp := context.AfterFunc(ctx, func() { tcp.Close() })
	c := &Conn{tls.Client(&records{TCPConn: tcp}, conf), tcp}
	err = request(c.Conn, id)
	if !hangUp() { // it has hung up
		err = errStalled
	}
	if err != nil {
		tcp.Close()
		return nil, err
	}
	tcp.SetDeadline(time.Time{})
	return c, nil
}

// final reports whether another try would fail too.
func final(err error) bool {
	var name *net.DNSError
	var address *net.AddrError
	return errors.Is(err, errToken) || errors.Is(err, errUnknown) || errors.Is(err, errTaken) || errors.Is(err, errProtocol) ||
		errors.As(err, &address) || errors.As(err, &name) && name.IsNotFound
}
