package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// Waits between attempts grow from the minimum to the maximum.
const (
	minRetryWait = 2 * time.Millisecond
	maxRetryWait = 100 * time.Millisecond
)

// Dial connects to a listener. Until the context is done it tries again if nothing listens there
// yet or the listener is overloaded. A wrong token and an ID that is unknown or taken are final
// errors.
func Dial(ctx context.Context, address string, token Token, id ID) (*Conn, error) {
	conf, err := tlsConfig(token)
	if err != nil {
		return nil, err
	}
	var problem error // of the last attempt that the context did not cut short
	for wait := minRetryWait; ; wait = min(2*wait, maxRetryWait) {
		c, err := dialOnce(ctx, address, conf, id)
		if err == nil {
			return c, nil
		}
		if problem == nil || !isOver(ctx) {
			problem = netErrorCause(err)
		}
		if isFinal(err) {
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

// isOver reports whether a context is done or its deadline has passed: connections that have it as
// their deadline may see that first.
func isOver(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// dialOnce dials once.
func dialOnce(ctx context.Context, address string, conf *tls.Config, id ID) (*Conn, error) {
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
	c := &Conn{tls.Client(&recordReader{TCPConn: tcp}, conf), tcp}
	err = requestConnection(c.Conn, id)
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

// isFinal reports whether another try would fail too.
func isFinal(err error) bool {
	var name *net.DNSError
	var address *net.AddrError
	return errors.Is(err, errWrongToken) || errors.Is(err, errUnknownConnection) || errors.Is(err, errConnectionTaken) || errors.Is(err, errWrongProtocol) ||
		errors.As(err, &address) || errors.As(err, &name) && name.IsNotFound
}
