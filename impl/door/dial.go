package door

import (
	"context"
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

// Dial takes a place at a door. Until the context is done it tries again if nobody listens, the door is crowded, or does not know of the
// place yet; a token that is another's, and a place that is taken, end it at once.
func Dial(ctx context.Context, address string, token Token, who Who) (*net.TCPConn, error) {
	a, err := dial(ctx, address, token, who)
	if err != nil {
		return nil, err
	}
	return a.TCPConn, nil
}

func dial(ctx context.Context, address string, token Token, who Who) (*admitted, error) {
	var problem error // of the last try that was not cut short
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		a, err := try(ctx, address, token, who)
		if err == nil {
			return a, nil
		}
		if problem == nil || ctx.Err() == nil {
			problem = cause(err)
		}
		if !passes(err) {
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
func try(ctx context.Context, address string, token Token, who Who) (*admitted, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	c.SetDeadline(deadline)
	hangUp := context.AfterFunc(ctx, func() { c.Close() })
	known, err := knock(c, token, who)
	if !hangUp() && err == nil { // it has hung up
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.SetDeadline(time.Time{})
	return &admitted{c.(*net.TCPConn), known}, nil
}

// passes says whether another try may do better.
func passes(err error) bool {
	var name *net.DNSError
	var wrong *net.AddrError
	switch {
	case errors.Is(err, errStranger) || errors.Is(err, errTaken) || errors.As(err, &wrong):
		return false
	case errors.As(err, &name):
		return !name.IsNotFound
	}
	return true
}
